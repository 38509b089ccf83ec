# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The figure of a metric over an axis (sojourn.papers.over_axis)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from sojourn.papers.over_axis import Drawing, Scale
from sojourn.result.metrics import METRICS, Metric
from sojourn.show.drawing import WIDE_IN, colour, marker, plain, written

if TYPE_CHECKING:
    from sojourn.papers.reproduce import Measured

_STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))


def over_axis(drawing: Drawing, width_in: float = WIDE_IN) -> Figure:
    """Markers and line styles tell the algorithms apart without colour. Points of one value stand a
    little beside each other, so that no interval hides another."""
    figure = Figure(figsize=(width_in, 3.6), layout="constrained")
    axes = figure.subplots()
    scale, metric = drawing.scale, METRICS[drawing.metric]
    span = max(scale.places) - min(scale.places) or 1.0
    gap = 0.006 * span
    middle = (len(drawing.lines) - 1) / 2
    for line in drawing.lines:
        beside = (line.look - middle) * gap
        means = [cell.found.mean for cell in line.cells]
        axes.errorbar(
            [place + beside for place in scale.places],
            means,
            yerr=_reaches(line.cells),
            label=written(line.algorithm),
            color=colour(line.look),
            linestyle=_STYLES[line.look % len(_STYLES)],
            marker=marker(line.look),
            markersize=5,
            linewidth=1.4,
            elinewidth=1.0,
            capsize=2,
        )
    narrow = width_in < WIDE_IN
    shown = _shown(len(scale.texts), narrow)
    axes.set_xticks([scale.places[i] for i in shown], [_tick(scale, i) for i in shown])
    axes.set_xlabel(written(scale.label))
    axes.set_ylabel(f"{metric.label} ({metric.unit})" if metric.unit else metric.label)
    if _spans_decades(drawing, metric):
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, _top(drawing, metric))
    plain(axes)
    columns = 3 if narrow else len(drawing.lines)
    figure.legend(loc="outside upper center", ncols=min(columns, 5), frameon=False)
    return figure


def _shown(count: int, narrow: bool) -> range:
    """Which values of the axis have their number below it. Where there is no room for all, the last
    has, the first too where even steps allow it."""
    if not narrow or count <= 6:
        return range(count)
    step = next((step for step in (2, 3, 4) if (count - 1) % step == 0), 2)
    return range((count - 1) % step, count, step)


def _spans_decades(drawing: Drawing, metric: Metric) -> bool:
    """Of delays in milliseconds the short ones are what matters, and beside one that is ten times
    as long they would lie on each other."""
    means = [cell.found.mean for line in drawing.lines for cell in line.cells]
    known = [mean for mean in means if mean == mean]
    return metric.unit == "ms" and bool(known) and max(known) > 10 * min(known) > 0


def _tick(scale: Scale, index: int) -> str:
    text = scale.texts[index]
    return f"{scale.places[index]:g}" if scale.is_numeric else written(text)


def _reaches(cells: Sequence[Measured]) -> tuple[list[float], list[float]]:
    """How far intervals reach below and above the means; those of one seed are not drawn."""
    ends = [(cell.found.mean, *cell.interval) for cell in cells]
    below = [mean - low if low > -math.inf else 0.0 for mean, low, _ in ends]
    return below, [high - mean if high < math.inf else 0.0 for mean, _, high in ends]


def _top(drawing: Drawing, metric: Metric) -> float:
    """From 0 on; an index to 1, above which there is none."""
    ends = [
        high if high < math.inf else cell.found.mean
        for line in drawing.lines
        for cell in line.cells
        for _, high in [cell.interval]
        if cell.found.mean == cell.found.mean
    ]
    top = 1.05 * max(ends, default=1.0)
    return 1.02 if metric.most == 1 else top or 1.0
