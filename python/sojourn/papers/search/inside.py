# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""When a measured number is as the printed one: the same rule for all papers.

A mean within the aim of the printed number is inside. The aim is a tenth of the printed number, and
at least the step that papers with tables of two digits can show. That step is half a millisecond (a
clock of whole milliseconds loses as much), a tenth of a second, half a packet, or 0.01 of Jain's
index. For packets dropped or marked it is half a point. For utilisation a tenth would pass almost
anything: there the aim is two points, as in the validation against Linux. A mean that misses its
aim is inside too where its 95 % interval holds the printed number. An interval wider than three
times the aim does not count, for it says nothing. Else a wide interval alone would win a search.
"""

from __future__ import annotations

import math

from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate

SHARE = 0.1
_AT_LEAST = {"ms": 0.5, "s": 0.1, "%": 0.5, "packets": 0.5, "Mbit/s": 0.1, "": 0.01}
_WHOLE = {"utilisation_pct": 2.0}
# The widest interval that counts, in aims.
_WIDEST = 3.0

RULE = (
    "inside: the mean is within a tenth of the printed number (at least 0.5 ms, 0.5 points, 0.1 s, "
    "half a packet; of utilisation 2 points), or its 95 % interval holds the number and is no "
    "wider than three times that"
)


def aim(metric: str, published: float) -> float:
    """Return the greatest distance of a mean from a printed number, in the metric's unit."""
    if metric in _WHOLE:
        return _WHOLE[metric]
    return max(SHARE * abs(published), _AT_LEAST.get(METRICS[metric].unit, 0.0))


def off(metric: str, published: float, mean: float) -> float:
    """Return the distance of a mean from the printed number, in aims; infinite where nothing was
    measured."""
    return math.inf if math.isnan(mean) else abs(mean - published) / aim(metric, published)


def is_inside(metric: str, published: float, found: Estimate) -> bool:
    """Tell whether a measured number is as the printed one."""
    distance = off(metric, published, found.mean)
    if distance <= 1 + _ROUNDING:
        return True
    is_narrow = 2 * found.half <= _WIDEST * aim(metric, published)
    return is_narrow and found.low <= published <= found.high


# 22.0 is a tenth away from 20.0, though not in binary.
_ROUNDING = 1e-9
