# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""One rule, for ablations and for the search: when a measured number is as the printed one, and
what is a reason where it is not.

A mean within the aim of the printed number is inside. The aim is a tenth of the printed number, and
at least the step that papers with tables of two digits can show. That step is half a millisecond (a
clock of whole milliseconds loses as much), a tenth of a second, half a packet, or 0.01 of Jain's
index. For packets dropped or marked it is half a point. For utilisation a tenth would pass almost
anything: there the aim is two points, as in the validation against Linux. A mean that misses its
aim is inside too where its 95 % interval holds the printed number. An interval wider than three
times the aim does not count, for it says nothing. Else a wide interval alone would win a search.

Counts are given twice: of all printed cells, and of those that can miss. A link that print has as
full is full here too. A printed quotient of two other cells, `derived` in an experiment's file, is
counted in neither.

A number that is not inside is off. A run with something changed is a reason for it under two
conditions. It changes the number: the 95 % interval of the difference, seed by seed, lies wholly on
one side of zero. And the changed number is inside, or less than half as far from print. No number
is excused by words: without a reason it is "unexplained".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate, estimate
from sojourn.show.page import spread

if TYPE_CHECKING:
    from sojourn.papers.reproduce import Reproduction

SHARE = 0.1
_AT_LEAST = {"ms": 0.5, "s": 0.1, "%": 0.5, "packets": 0.5, "Mbit/s": 0.1, "": 0.01}
_WHOLE = {"utilisation_pct": 2.0}
# A link that print has at this or more is full here too: such a cell says little.
_FULL_PCT = 99.9
# The widest interval that counts, in aims.
_WIDEST = 3.0
# 22.0 is a tenth away from 20.0, though not in binary.
_ROUNDING = 1e-9
# The share of the way to print that a reason has to make.
ENOUGH = 0.5

RULE = (
    "inside: the mean is within a tenth of the printed number (at least 0.5 ms, 0.5 points, 0.1 s, "
    "half a packet; of utilisation 2 points), or its 95 % interval holds the number and is no "
    "wider than three times that"
)
APART = (
    "utilisation printed as 99.9 % or more hardly can miss, and is left out of the second count; a "
    "printed quotient of two other cells is in no count"
)


def aim(metric: str, published: float) -> float:
    """Return the greatest distance of a mean from a printed number, in the metric's unit."""
    kind = METRICS[metric].kind
    if kind in _WHOLE:
        return _WHOLE[kind]
    return max(SHARE * abs(published), _AT_LEAST.get(METRICS[metric].unit, 0.0))


def is_inside(metric: str, published: float, measured: Estimate) -> bool:
    """Tell whether a measured number is as the printed one."""
    if abs(measured.mean - published) <= (1 + _ROUNDING) * aim(metric, published):
        return True
    is_narrow = 2 * measured.half <= _WIDEST * aim(metric, published)
    return is_narrow and measured.low <= published <= measured.high


def standing(metric: str, published: float | None, measured: Estimate) -> str:
    """Return the word under which a cell that ran is counted."""
    if math.isnan(measured.mean):
        return "not measured"
    return "inside" if published is not None and is_inside(metric, published, measured) else "off"


def can_miss(metric: str, published: float) -> bool:
    """Tell whether a run could well differ from print: print has no full link here."""
    return published < _FULL_PCT or METRICS[metric].kind != "utilisation_pct"


class Cell(NamedTuple):
    """The place of a number in a paper."""

    experiment: str
    signal: str
    algorithm: str
    metric: str

    @property
    def label(self) -> str:
        """Name the cell as tables do."""
        metric = METRICS[self.metric].label
        return f"{self.experiment}: {self.signal}, {self.algorithm}, {metric}"


@dataclass(frozen=True)
class Measured:
    """One cell: published (None where the paper prints nothing) and measured."""

    cell: Cell
    published: float | None
    values: tuple[float, ...] = ()  # by seed; none where nothing ran
    host: str = "sim"

    @property
    def signal(self) -> str:
        """Name its signal and values of further axes."""
        return self.cell.signal

    @property
    def algorithm(self) -> str:
        """Name its algorithm as the paper does."""
        return self.cell.algorithm

    @property
    def metric(self) -> str:
        """Name its metric."""
        return self.cell.metric

    @property
    def ran(self) -> bool:
        """Tell whether anything ran."""
        return bool(self.values)

    @cached_property
    def estimate(self) -> Estimate:
        """Estimate the mean over the seeds; NaN where nothing ran, or a seed measured nothing."""
        return estimate(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """Return the ends of the interval, within the range of the metric."""
        return METRICS[self.metric].interval(self.estimate)

    @property
    def inside(self) -> bool:
        """Tell whether it is as printed."""
        return self.published is not None and is_inside(self.metric, self.published, self.estimate)

    @property
    def can_miss(self) -> bool:
        """Tell whether a run could well differ."""
        return self.published is None or can_miss(self.metric, self.published)

    @property
    def off(self) -> float:
        """Return its distance from print, in aims; infinite where nothing was measured."""
        if self.published is None or math.isnan(self.estimate.mean):
            return math.inf
        return abs(self.estimate.mean - self.published) / aim(self.metric, self.published)

    def to_json(self) -> dict[str, object]:
        """Return the keys of `sojourn reproduce --json`."""
        return {
            "host": self.host,
            "signal": self.signal,
            "algorithm": self.algorithm,
            "metric": self.metric,
            "label": METRICS[self.metric].label,
            "unit": METRICS[self.metric].unit,
            "published": self.published,
            "measured": self.estimate.mean,
            "ci95": [*self.interval],
            "ran": self.ran,
            "seeds": len(self.values),
        }


Kind = Literal["one thing", "several things", "outside the text"]
_KINDS: tuple[Kind, ...] = ("one thing", "several things", "outside the text")


@dataclass(frozen=True)
class Change:
    """A run with something changed: a number before and after."""

    name: str
    before: Measured
    after: Measured
    kind: Kind = "one thing"
    things: int = 1  # that are changed
    setup: int | None = None  # of a search

    @property
    def difference(self) -> Estimate:
        """Estimate the difference seed by seed. Either may have fewer seeds, from 1 on."""
        pairs = zip(self.before.values, self.after.values, strict=False)
        return estimate([after - before for before, after in pairs])

    @property
    def shown(self) -> bool:
        """Tell whether the 95 % interval of the difference lies wholly on one side of zero."""
        return self.difference.low > 0 or self.difference.high < 0

    @property
    def closed(self) -> float:
        """Return the closed share of the way to print; overshoot counts against it. NaN where there
        is no way."""
        before, after, published = (
            self.before.estimate.mean,
            self.after.estimate.mean,
            self.before.published,
        )
        if published is None or before == published:
            return math.nan
        return 1 - abs(published - after) / abs(published - before)

    @property
    def explains(self) -> bool:
        """Tell whether the change is a reason for a number that is off."""
        return self.shown and (self.closed > ENOUGH or (self.after.inside and self.closed > 0))

    @property
    def text(self) -> str:
        """Write the change, the number after it, and how near to print that is."""
        share = "inside" if self.after.inside else f"{100 * self.closed:.0f} % of the way"
        return f"{self.name}: {spread(self.after.estimate)} ({share})"


@dataclass(frozen=True)
class Off:
    """A printed number that was measured as another, and every change that was tried on it."""

    base: Measured
    changes: tuple[Change, ...]

    @cached_property
    def reasons(self) -> list[Change]:
        """List the changes that explain it: one thing first, what the text excludes last. Among
        several things fewer lead, and then what comes nearest to print."""
        reasons = [change for change in self.changes if change.explains]
        return sorted(reasons, key=lambda c: (_KINDS.index(c.kind), c.things, -c.closed))

    @property
    def kind(self) -> str:
        """Name the kind of its reason."""
        return self.reasons[0].kind if self.reasons else "unexplained"

    @property
    def nearest(self) -> Change | None:
        """Return the one thing changed that comes nearest to print, or None."""
        tried = [c for c in self.changes if c.things == 1 and c.shown and c.closed > 0]
        return max(tried, key=lambda change: change.closed, default=None)

    @property
    def by(self) -> Change | None:
        """Return the first reason; without one the change that comes nearest."""
        return self.reasons[0] if self.reasons else self.nearest

    def text(self, most: int = 1) -> list[str]:
        """Write the first reasons, or "unexplained" with the nearest change."""
        if self.reasons:
            head = "only together: " if self.kind == "several things" else ""
            return [head + change.text for change in self.reasons[:most]]
        near = f"; nearest: {self.nearest.text}" if self.nearest else ""
        return [f"unexplained{near}{'' if self.changes else '; nothing was tried on it'}"]


def printed(reproduction: Reproduction, host: str) -> list[Measured]:
    """List each printed cell of a host that was to run."""
    cells = [reproduction.cell(host, *cell) for cell in reproduction.experiment.table_cells()]
    return [cell for cell in cells if cell.published is not None]


def counted(reproduction: Reproduction, host: str) -> list[Measured]:
    """List the printed cells that counts have: those that are no quotient of others."""
    derived = reproduction.experiment.data.get("derived", ())
    return [cell for cell in printed(reproduction, host) if cell.metric not in derived]


def off(reproduction: Reproduction) -> list[Off]:
    """List every printed cell of the first host that is off, with the ablations of it. Of other
    hosts list those with an ablation of that host."""
    return [
        Off(base, changes)
        for host in reproduction.hosts
        for base in printed(reproduction, host)
        if not base.inside and not math.isnan(base.estimate.mean)
        for changes in [tuple(_ablations(reproduction, base))]
        if changes or host == reproduction.hosts[0]
    ]


def _ablations(reproduction: Reproduction, base: Measured) -> Iterable[Change]:
    for signal in reproduction.experiment.signals():
        if (
            signal.ablates
            and signal.base == base.signal
            and base.host in reproduction.hosts_of(signal)
        ):
            after = reproduction.cell(base.host, signal.name, base.algorithm, base.metric)
            if not math.isnan(after.estimate.mean):
                yield Change(signal.short, base, after)


def counts(cells: Sequence[Measured]) -> dict[str, int]:
    """Count the printed cells that are inside, off, run but not measured, and not run."""
    words = [
        standing(cell.metric, cell.published, cell.estimate) if cell.ran else "not run"
        for cell in cells
    ]
    return {word: words.count(word) for word in ("inside", "off", "not measured", "not run")}
