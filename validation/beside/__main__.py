# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Our algorithms beside other people's implementations, into docs/evidence/beside.md.

    python -m validation.beside              # the page, from the figures that are kept
    python -m validation.beside --check      # only: is the page what they give?
    python -m validation.beside --renew      # first measure anew: half an hour
    python -m validation.beside --renew-ns2  # only what needs no guest: two minutes

The kernel's qdiscs run in the guest (`sojourn linux build`); ns-2's queues are recorded.
"""

from __future__ import annotations

import argparse
import sys

from validation.beside import figures, page


def main() -> int:
    """Measure where asked to, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--renew", action="store_true", help="measure anew")
    parser.add_argument("--renew-ns2", action="store_true", help="of these only ns-2's arrivals")
    options = parser.parse_args()
    if options.renew:
        figures.keep(figures.everything())
    elif options.renew_ns2:
        figures.keep(figures.load() | {"ns-2": figures.alone()})
    text = page.text(figures.load())
    if options.check:
        if page.PAGE.read_text() != text:
            print(f"{page.PAGE.name} is stale: run `python -m validation.beside`")
            return 1
        return 0
    page.PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
