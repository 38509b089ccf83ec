# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Charts of a window: distributions of delays and times, and throughput against delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sojourn.core.text import BESIDE
from sojourn.result.compare import Case
from sojourn.result.distribution import Distribution
from sojourn.result.stats import estimate
from sojourn.show.chart import Chart, Curve, Panel, Point
from sojourn.show.measured import (
    DELAY,
    FAR_APART,
    MAX_PANELS,
    Absent,
    Measured,
    Missing,
    is_wide,
    seeds,
    together,
)
from sojourn.show.page import number

# In a logarithmic picture, packets that did not wait are drawn at this delay.
_LEAST_MS = 0.01


@dataclass(frozen=True)
class _Figure:
    """The quantity and the words of one figure."""

    name: str
    title: str
    quantity: str
    x: str
    whose: str  # packets, transfers or pages, as an axis names them
    caption: str
    quoted: tuple[float, float]  # shares whose values are in the words
    is_tail: bool = False
    unit: str = "ms"  # the unit of the axis
    per_ms: float = 1.0  # units per millisecond


_CDF = _Figure(
    "cdf",
    "Distribution of the delay",
    "queue_delay",
    DELAY,
    "packets",
    "Every packet that left the queue",
    (0.5, 0.95),
)
_CCDF = replace(_CDF, name="ccdf", title="Tail of the delay", quoted=(0.99, 0.999), is_tail=True)
_FCT = _Figure(
    "fct",
    "Distribution of completion times",
    "fct",
    "completion time (s)",
    "transfers",
    "Every transfer that was complete in the window",
    (0.5, 0.95),
    unit="s",
    per_ms=1e-3,
)
_PAGE = replace(
    _FCT,
    name="page",
    title="Distribution of page load times",
    quantity="page",
    x="page load time (s)",
    whose="pages",
    caption="Every page that was complete in the window",
)

# Below this many a 95th percentile is the largest value.
_FEW = 20

# The distribution of each case that has one.
_ByCase = Mapping[Case, Distribution]


def cdf(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the share of packets at or below each queue delay."""
    return _of_queues(measured, cases, _CDF)


def ccdf(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the share of packets above each queue delay: the tail."""
    return _of_queues(measured, cases, _CCDF)


def fct(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the share of transfers complete within each time."""
    return _of_groups(measured, cases, _FCT)


def page(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the share of pages loaded within each time."""
    return _of_groups(measured, cases, _PAGE)


def _of_queues(measured: Measured, cases: Sequence[Case], figure: _Figure) -> Chart:
    panels, clauses = [], []
    kept: set[Case] = set()
    for queue in measured.queues:
        by_case = _distributions(
            measured, [c for c in measured.shown(queue) if c in cases], figure, queue
        )
        if by_case:
            kept |= by_case.keys()
            panels.append(_panel(measured, cases, figure, measured.where(queue), by_case))
            clauses.append(_clause(measured, figure, queue, by_case))
    if not panels:
        raise Missing(f"{figure.name}: no run has distributions; {_AGAIN}")
    shown = {case for queue in measured.queues for case in measured.shown(queue)}
    lacking = [measured.names[c] for c in cases if c in shown and c not in kept]
    caption = _caption(measured, cases, figure, panels)
    if lacking:
        caption += f" Without distributions, and so not here: {', '.join(lacking)}; {_AGAIN}."
    return Chart.described(figure.name, figure.title, caption, panels, clauses)


_AGAIN = "an older version made them: make the runs again, in another folder"


def _of_groups(measured: Measured, cases: Sequence[Case], figure: _Figure) -> Chart:
    panels, clauses = [], []
    groups = []
    for group in measured.whole_groups():
        by_case = _distributions(measured, [c for c in cases if measured.span(c)], figure, group)
        by_case = {
            case: distribution for case, distribution in by_case.items() if distribution.count
        }
        if by_case:
            groups.append((group, by_case))
    for group, by_case in groups[:MAX_PANELS]:
        title = f"flows '{group}', {measured.spans_of(by_case)}"
        panels.append(_panel(measured, cases, figure, title, by_case))
        clauses.append(_clause(measured, figure, f"flows '{group}'", by_case))
    if not panels:
        raise Absent(f"{figure.name}: none of the {figure.whose} was complete in the window")
    caption = _caption(measured, cases, figure, panels)
    few = [
        f"{of.count} of {measured.names[case]}, flows '{group}'"
        for group, by_case in groups[:MAX_PANELS]
        for case, of in by_case.items()
        if of.count < _FEW
    ]
    if len(groups) > MAX_PANELS:
        caption += f" The first {MAX_PANELS} of {len(groups)} names of flows."
    chart = Chart.described(figure.name, figure.title, caption, panels, clauses)
    return replace(chart, few=f"Few {figure.whose}: {'; '.join(few)}." if few else "")


def _distributions(
    measured: Measured, cases: Sequence[Case], figure: _Figure, name: str
) -> _ByCase:
    by_case = ((case, measured.distribution(case, figure.quantity, name)) for case in cases)
    return {case: distribution for case, distribution in by_case if distribution is not None}


def _panel(
    measured: Measured, cases: Sequence[Case], figure: _Figure, title: str, by_case: _ByCase
) -> Panel:
    log = measured.log
    curves = []
    for case, distribution in by_case.items():
        delays_ms, shares = _curve(distribution, above=figure.is_tail)
        if log:
            delays_ms = np.maximum(delays_ms, _LEAST_MS)
        name, look = measured.names[case], cases.index(case)
        curves.append(Curve(name, delays_ms * figure.per_ms, shares, look))
    # A logarithm of no packets cannot be drawn.
    tail = figure.is_tail and any(len(curve.y) > 0 for curve in curves)
    return Panel(
        title,
        f"{figure.x}, log" if log else figure.x,
        f"share above{', log' if tail else ''}" if figure.is_tail else "share at or below",
        curves,
        x_log=log,
        y_log=tail,
        y_top=1.03,
        is_step=True,
    )


def _clause(measured: Measured, figure: _Figure, head: str, by_case: _ByCase) -> str:
    words = []
    for case, distribution in by_case.items():
        low, high = (
            number(distribution.quantile_ms(share) * figure.per_ms) for share in figure.quoted
        )
        words.append(
            f"{measured.names[case]} " + (f"{low} and {high}" if distribution.count else "none")
        )
    low, high = (f"{100 * share:g}" for share in figure.quoted)
    at = f"{low} % and {high} % of {figure.whose} are at or below"
    return f"{head}, {at}: {', '.join(words)}"


def _caption(
    measured: Measured, cases: Sequence[Case], figure: _Figure, panels: Sequence[Panel]
) -> str:
    caption = f"{figure.caption}, {together(measured, cases)}."
    ends = (
        [end for curve in panel.curves if len(curve.x) for end in (np.median(curve.x), curve.x[-1])]
        for panel in panels
    )
    if not measured.log and any(map(is_wide, ends)):
        caption += FAR_APART.format("axis")
    logs = [curve for panel in panels if panel.x_log for curve in panel.curves if len(curve.x)]
    if any(min(curve.x) <= _LEAST_MS * figure.per_ms for curve in logs):
        least = f"{_LEAST_MS * figure.per_ms:g} {figure.unit}"
        caption += f" What is below {least} stands there."
    return caption


def _curve(distribution: Distribution, *, above: bool) -> tuple[Any, Any]:
    """Return delays from the least one on, and the share at or below each, or above it."""
    delays, shares = distribution.curve()
    delays, shares = np.concatenate((delays[:1], delays)), np.concatenate(([0.0], shares))
    if above:
        # No packet is above the last delay, and a logarithmic axis has no 0.
        return delays[:-1], 1 - shares[: len(delays) - 1]
    return delays, shares[: len(delays)]


def tradeoff(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot throughput against delay."""
    panels, clauses = [], []
    for queue in measured.queues:
        points = [
            _point(measured, case, queue, cases.index(case))
            for case in measured.shown(queue)
            if case in cases
        ]
        points = [point for point in points if np.isfinite([point.x, point.y]).all()]
        if not points:
            continue
        log = measured.log
        panels.append(
            Panel(
                measured.where(queue),
                f"mean {DELAY}, log" if log else f"mean {DELAY}",
                "goodput (Mbit/s)",
                points=points,
                x_log=log,
            )
        )
        means = (
            f"{p.name} {_spread(p.x, p.x_half)} ms and {_spread(p.y, p.y_half)} Mbit/s"
            for p in points
        )
        clauses.append(f"{queue}: {', '.join(means)}")
    if not panels:
        raise Missing(
            "tradeoff: no packet left a queue in the window; name another with --window, or set "
            "record.windows"
        )
    is_single = all(len(measured.by_case[case]) == 1 for case in cases)
    bars = "" if is_single else "; bars are 95 % intervals"
    caption = (
        f"{seeds(measured, cases)}{bars}. Goodput is of all flows. Less delay is to the left, "
        "more throughput above."
    )
    return Chart.described("tradeoff", "Throughput against delay", caption, panels, clauses)


def _point(measured: Measured, case: Case, queue: str, look: int) -> Point:
    delays, rates = (
        measured.values(case, queue, metric) for metric in ("queue_delay_mean_ms", "goodput_mbps")
    )
    (x, x_half), (y, y_half) = _mean(delays), _mean(rates)
    return Point(measured.names[case], x, y, x_half, y_half, look)


def _spread(mean: float, half: float) -> str:
    return f"{number(mean)}{BESIDE}{number(half)}" if half else number(mean)


def _mean(values: Any) -> tuple[float, float]:
    """Estimate the mean of the measured values; a single seed has an interval without width."""
    found = estimate([float(value) for value in values if value == value])
    return found.mean, 0.0 if np.isinf(found.half) else found.half
