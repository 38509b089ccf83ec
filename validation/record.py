# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""record.py: run cells of the comparison on the package's Linux host and keep their windows.

Each finished run is in the package's store at once; a second start goes on where the first one
ended. When all are there, they join what validation/linux/RELEASE/host.json holds.

    python -m validation.record --cells '^10M-.*-codel'
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from sojourn.core.errors import SojournError
from sojourn.linux.kernel import ready
from sojourn.runs.run import open_store

from validation import recorded
from validation.experiment import each, planned, run

# Of what is kept: a tenth of a microsecond, a ten-thousandth of a per cent or of an index.
DECIMALS = 4


def rounded(found: Any) -> Any:
    """All numbers in it with so many decimals."""
    if isinstance(found, Mapping):
        return {key: rounded(value) for key, value in found.items()}
    return round(found, DECIMALS) if isinstance(found, float) else found


def main() -> int:
    parser = argparse.ArgumentParser(description="Record the Linux side of the comparison.")
    parser.add_argument("--cells", default="", help="regular expression on cell names")
    parser.add_argument("--anew", action="store_true", help="also what a file holds")
    parser.add_argument("--jobs", type=int, default=None, help="kernels side by side")
    options = parser.parse_args()
    try:
        wanted = re.compile(options.cells)
    except re.error as error:
        parser.error(f"--cells {options.cells}: no regular expression: {error}")
    cells = planned()
    chosen = [one for one in cells if wanted.search(one.cell.name)]
    if not chosen:
        parser.error(
            f"--cells {options.cells}: no cell, such as {cells[0].cell.name}, is like that"
        )
    os.nice(5)
    release = ready().built.release
    if release != recorded.RELEASE:
        raise SystemExit(
            f"this kernel is {release}, and validation/recorded.py reads {recorded.RELEASE}:"
            " change it there first"
        )
    if not options.anew:
        known = recorded.read()
        chosen = [one for one in chosen if len(known.reference(one.cell.name)) < one.seeds]
    found = run(each(chosen, "linux"), open_store(None), options.jobs)
    records = (
        {"cell": cell, "seed": seed, **rounded(answer)} for (cell, _, seed), answer in found.items()
    )
    recorded.add(records, {one.cell.name: i for i, one in enumerate(cells)})
    print(f"{recorded.folder()}/host.json: {len(found)} runs of {len(chosen)} cells")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SojournError as error:
        sys.exit(str(error))
