# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""guest.py: one case, in a guest of its own.

python -m tests.linux.guest CASE MODULE
"""

from __future__ import annotations

import sys

from tests.linux import cases, cases_bad, cases_command, cases_tc
from tests.linux.net import CASES, complaints, do

__all__ = ["CASES", "cases", "cases_bad", "cases_command", "cases_tc"]


def main() -> None:
    name, module = sys.argv[1:]
    do(f"insmod {module}")
    CASES[name]()
    heard = complaints()
    if name == "parents_count_right_when_a_dequeue_empties_the_queue":
        # True, and said once; QFQ in 6.1 says it as a warning with a trace.
        own = ("non-work-conserving", "qfq_dequeue", "Call Trace")
        heard = [line for line in heard if not any(word in line for word in own)]
    assert not heard, heard


if __name__ == "__main__":
    main()
