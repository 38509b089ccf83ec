# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The stability paper's numbers beside ns-2's and ours, into docs/evidence/ns-2.md.

    python -m validation.stability_ns2               # the page, from the figures that are kept
    python -m validation.stability_ns2 --renew-ns2   # first measure ns-2's side anew: ten minutes
    python -m validation.stability_ns2 --renew-ours  # first take ours from the store
                                                     # (`sojourn reproduce stability` fills it)
It needs `ns` (Debian: ns2) for the second.
"""

from __future__ import annotations

import argparse
import sys

from validation.stability_ns2 import page, run


def main() -> int:
    """Measure where asked to, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--renew-ns2", action="store_true", help="run ns-2 anew")
    parser.add_argument("--renew-ours", action="store_true", help="take ours from the store")
    options = parser.parse_args()
    if options.renew_ns2:
        run.keep(run.load() | {run.NS2: run.everything()})
    if options.renew_ours:
        run.keep(run.load() | {run.OURS: run.ours()})
    page.PAGE.write_text(page.text(run.load()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
