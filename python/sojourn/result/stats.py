# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Means over seeds, and 95 % t-intervals of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True)
class Estimate:
    """A mean and the half width of its 95 % interval (infinite for a single seed)."""

    mean: float
    half: float

    @property
    def low(self) -> float:
        """Return the lower end of the interval."""
        return self.mean - self.half

    @property
    def is_off_zero(self) -> bool:
        """Tell whether the interval is wholly on one side of zero."""
        return self.low > 0 or self.high < 0

    @property
    def high(self) -> float:
        """Return the upper end of the interval."""
        return self.mean + self.half


def estimate(values: Sequence[float]) -> Estimate:
    """Estimate the mean over independent seeds, with Student's t."""
    n = len(values)
    if n == 0 or any(math.isnan(v) for v in values):
        return Estimate(math.nan, math.nan)
    if n == 1:
        return Estimate(values[0], math.inf)
    return Estimate(fmean(values), _t975(n - 1) * stdev(values) / math.sqrt(n))


def _t975(freedom: int) -> float:
    from scipy.special import (
        stdtrit,  # takes a quarter of the time that scipy.stats takes to import
    )

    return float(stdtrit(freedom, 0.975))
