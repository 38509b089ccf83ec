# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Run all cases of the kernel's test driver: python -m tests.linux.tdc [--renew].

Two tables come out: the cases by group and result, and the options that our qdisc reads unlike the
kernel's own. --renew writes both into docs/evidence/parity.md.
"""

from __future__ import annotations

import argparse
import sys

from sojourn.linux.uml.build import BuildError, build

from tests.linux.tdc import differences, page
from tests.linux.tdc.groups import THEIRS, Outcome, run_all
from tests.linux.tdc.run import Result, counts


def tell(group: str, results: list[Result]) -> None:
    print(f"{group}: {dict(counts(results))}", file=sys.stderr, flush=True)


def wrong(found: Outcome) -> list[Result]:
    """List the cases that should pass and do not: ours, and the kernel's own as they are. Those
    that are rewritten for ours may fail, and show an option that ours reads otherwise."""
    groups = [*found.ours, THEIRS]
    return [result for group in groups for result in found.results[group] if result.status != "ok"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Run tdc.py on the qdisc in virtual time.")
    parser.add_argument(
        "--renew", action="store_true", help="write the tables into docs/evidence/parity.md"
    )
    options = parser.parse_args()
    try:
        built = build()
    except BuildError as error:
        print(f"tdc: {error}", file=sys.stderr)
        return 1
    found = run_all(built, tell)
    for result in wrong(found):
        print(f"{result.status} {result.name}\n    {result.why}", file=sys.stderr)
    print(page.counted(found))
    print(differences.table(found.lines), end="")
    if options.renew and not wrong(found):
        page.renew(page.COUNTS, page.counted(found))
        page.renew(page.DIFFERENCES, page.differing(built, found))
    return bool(wrong(found))


if __name__ == "__main__":
    sys.exit(main())
