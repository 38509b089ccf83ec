# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""shrink.py: the fewest steps of a seed that still fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

# Does this choice of steps fail, and in the same way?
Fails = Callable[[Sequence[int]], bool]


def ranges(steps: Sequence[int]) -> str:
    """As the storm reads them: 0,7,30-35."""
    parts: list[list[int]] = []
    for step in sorted(steps):
        if parts and step == parts[-1][1] + 1:
            parts[-1][1] = step
        else:
            parts.append([step, step])
    return ",".join(f"{a}-{b}" if a != b else f"{a}" for a, b in parts)


def prefix(steps: Sequence[int], fails: Fails) -> list[int]:
    """The shortest beginning that fails, where a longer one fails whenever a shorter does."""
    low, high = 0, len(steps)
    while high - low > 1:
        middle = (low + high) // 2
        if fails(steps[:middle]):
            high = middle
        else:
            low = middle
    return list(steps[:high])


def without_needless(steps: Sequence[int], fails: Fails, limit_s: float) -> list[int]:
    """Leave out halves, quarters, ... single steps, as long as what is left fails."""
    left, end_s = list(steps), time.monotonic() + limit_s
    size = max(1, len(left) // 2)
    while True:
        at = 0
        while at < len(left) and time.monotonic() < end_s:
            fewer = left[:at] + left[at + size :]
            if fewer and fails(fewer):
                left = fewer
            else:
                at += size
        if size == 1 or time.monotonic() > end_s:
            return left
        size = max(1, size // 2)
