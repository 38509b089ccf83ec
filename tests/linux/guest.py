# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""guest.py: one case, in a guest of its own.

python -m tests.linux.guest CASE MODULE
"""

from __future__ import annotations

import sys

from tests.linux import cases, cases_tc
from tests.linux.net import CASES, complaints, do

__all__ = ["CASES", "cases", "cases_tc"]


def main() -> None:
    name, module = sys.argv[1:]
    do(f"insmod {module}")
    CASES[name]()
    heard = complaints()
    if name == "parents_count_right_when_a_dequeue_empties_the_queue":
        heard = [line for line in heard if "non-work-conserving" not in line]
    assert not heard, heard


if __name__ == "__main__":
    main()
