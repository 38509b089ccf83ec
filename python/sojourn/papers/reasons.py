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

Why a number differs from print: a run with one thing changed, and its figure beside the base's;
else "unexplained".

A printed cell is off where it is not inside (sojourn.papers.reasons). An ablation is a reason
for a cell that is off under two conditions. It changes the figure: the 95 % interval of the
difference, seed by seed, lies wholly on one side of zero. And the changed figure is inside, or less
than half as far from print. No cell is excused by words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate, estimate

if TYPE_CHECKING:
    from sojourn.papers.experiment import Signal
    from sojourn.papers.reproduce import Measured, Reproduction


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


def distance(metric: str, published: float, mean: float) -> float:
    """Return the distance of a mean from the printed number, in aims; infinite where nothing was
    measured."""
    return math.inf if math.isnan(mean) else abs(mean - published) / aim(metric, published)


def is_inside(metric: str, published: float, found: Estimate) -> bool:
    """Tell whether a measured number is as the printed one."""
    aims = distance(metric, published, found.mean)
    if aims <= 1 + _ROUNDING:
        return True
    is_narrow = 2 * found.half <= _WIDEST * aim(metric, published)
    return is_narrow and found.low <= published <= found.high


# 22.0 is a tenth away from 20.0, though not in binary.
_ROUNDING = 1e-9


ENOUGH = 0.5


@dataclass(frozen=True)
class Change:
    """One thing changed, and the figure of a cell under it."""

    signal: Signal  # the ablation
    changed: Measured
    difference: Estimate  # seed by seed
    closed: float  # share of the way to the printed number; NaN where there is no way
    inside: bool

    @property
    def shown(self) -> bool:
        """Tell whether the 95 % interval of the difference lies wholly on one side of zero."""
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def explains(self) -> bool:
        """Tell whether the change is a reason for a cell that is off."""
        return self.shown and (self.closed > ENOUGH or (self.inside and self.closed > 0))

    @property
    def name(self) -> str:
        """Name the ablation, without its cell."""
        return self.signal.name.removeprefix(f"{self.signal.of}, ")


@dataclass(frozen=True)
class Off:
    """A printed cell that was measured as another number, and every change that was tried on it."""

    base: Measured
    changes: tuple[Change, ...]

    @property
    def reasons(self) -> list[Change]:
        """List the changes that explain it, the nearest to print first."""
        found = [change for change in self.changes if change.explains]
        return sorted(found, key=lambda change: -change.closed)

    @property
    def nearest(self) -> Change | None:
        """Return the change that comes nearest to print, or None."""
        tried = [c for c in self.changes if c.shown and c.closed > 0]
        return max(tried, key=lambda change: change.closed, default=None)


def printed(reproduction: Reproduction, host: str) -> list[tuple[Measured, bool]]:
    """List each printed cell of a host that was to run, and whether it is inside."""
    experiment = reproduction.experiment
    found = []
    for signal in experiment.signals():
        if signal.ablates:
            continue
        for algorithm in experiment.contenders(signal):
            for metric in signal.metrics:
                cell = reproduction.cell(host, signal.name, algorithm.name, metric)
                if cell.published is not None:
                    found.append((cell, is_inside(metric, cell.published, cell.found)))
    return found


def off(reproduction: Reproduction) -> list[Off]:
    """List every printed cell of the first host that is off, with the changes tried. Of other hosts
    list those with an ablation of that host."""
    first, *others = reproduction.hosts
    of_others = (one for host in others for one in _off(reproduction, host) if one.changes)
    return [*_off(reproduction, first), *of_others]


def _off(reproduction: Reproduction, host: str) -> list[Off]:
    from sojourn.papers.reproduce import values_of

    values = values_of(reproduction, host)
    ablations = [
        signal
        for signal in reproduction.experiment.signals()
        if signal.ablates and host in reproduction.hosts_of(signal)
    ]

    def change(signal: Signal, base: Measured) -> Change | None:
        changed = reproduction.cell(host, signal.name, base.algorithm, base.metric)
        if not changed.ran or math.isnan(changed.found.mean):
            return None
        before = values((base.signal, base.algorithm, base.metric))
        after = values((signal.name, base.algorithm, base.metric))
        # Either may have fewer seeds, from 1 on.
        difference = estimate([b - a for a, b in zip(before, after, strict=False)])
        published = base.published or 0.0
        inside = is_inside(base.metric, published, changed.found)
        return Change(signal, changed, difference, _closed(base, changed), inside)

    found = []
    for base, inside in printed(reproduction, host):
        if inside or not base.ran or math.isnan(base.found.mean):
            continue
        tried = [change(signal, base) for signal in ablations if signal.of == base.signal]
        found.append(Off(base, tuple(one for one in tried if one)))
    return found


def _closed(base: Measured, changed: Measured) -> float:
    """Return the closed share of the way from the base's figure to print; overshoot counts against
    it."""
    if base.published is None or base.found.mean == base.published:
        return math.nan
    gap = abs(base.published - base.found.mean)
    return 1 - abs(base.published - changed.found.mean) / gap


def counts(cells: Sequence[tuple[Measured, bool]]) -> dict[str, int]:
    """Count the printed cells that are inside, off, run but not measured, and not run."""
    found = {"inside": 0, "off": 0, "not measured": 0, "not run": 0}
    for cell, inside in cells:
        if not cell.ran:
            found["not run"] += 1
        elif math.isnan(cell.found.mean):
            found["not measured"] += 1
        else:
            found["inside" if inside else "off"] += 1
    return found
