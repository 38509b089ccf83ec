# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What pictures have in common: an axis, a caption, and what is said where one cannot be drawn."""

from __future__ import annotations

from collections.abc import Iterable

from sojourn.core.errors import InputError
from sojourn.result.cases import Case
from sojourn.show.measured import Measured

# Where the largest is that many times the least, an axis is logarithmic.
WIDE_RANGE = 20
DELAY = "queue delay (ms)"


class Missing(InputError):
    """The results lack what a picture shows; says which key of the scenario records it."""


class Absent(Missing):
    """The run itself has nothing of the kind, whatever it records."""


def is_wide(values: Iterable[float]) -> bool:
    """An axis with these values is logarithmic."""
    found = [value for value in values if value > 0]
    return bool(found) and max(found) > WIDE_RANGE * min(found)


def seeds(measured: Measured, cases: Iterable[Case]) -> str:
    """How a caption begins."""
    counts = sorted({len(measured.by_case[case]) for case in cases})
    return "One seed" if counts == [1] else f"Mean over {' or '.join(map(str, counts))} seeds"


def together(measured: Measured, cases: Iterable[Case]) -> str:
    """Whose packets are in a distribution."""
    counts = sorted({len(measured.by_case[case]) for case in cases})
    return "one seed" if counts == [1] else f"{' or '.join(map(str, counts))} seeds together"
