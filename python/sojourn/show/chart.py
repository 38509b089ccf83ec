# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A chart as data, and how it is drawn, wide or narrow."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from sojourn.show.drawing import WIDE_IN, Curve, changes, colour, lines, marker, plain, written


@dataclass(frozen=True)
class Point:
    """Two means of one algorithm, with their standard deviations over the seeds."""

    name: str
    x: float
    y: float
    x_sd: float
    y_sd: float
    look: int


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve] = ()
    points: Sequence[Point] = ()
    x_right: float | None = None  # where the axis ends
    x_log: bool = False
    y_log: bool = False
    y_top: float | None = None
    is_step: bool = False
    changes: Sequence[tuple[float, str]] = ()  # of the scenario: when, and what is so from then on


@dataclass(frozen=True)
class Chart:
    """What one file or one figure of a page shows, and what it says in words."""

    name: str
    title: str
    caption: str
    panels: Sequence[Panel]
    clauses: Sequence[str] = field(default_factory=tuple)

    @property
    def words(self) -> str:
        """The text alternative."""
        panel = self.panels[0]
        return f"{self.title}: {panel.y} against {panel.x}. " + "; ".join(self.clauses) + "."


# Of a letter of the legend, and of a line of it.
_LETTER_IN, _LINE_IN = 0.085, 0.22


def draw(chart: Chart, width_in: float = WIDE_IN) -> Figure:
    """The panels one below the other, under one legend."""
    panels = chart.panels
    letters = int(width_in / _LETTER_IN) - 6
    legend: dict[str, Any] = {}
    for panel in panels:
        names = [curve.name for curve in panel.curves] + [point.name for point in panel.points]
        legend |= dict.fromkeys(textwrap.fill(written(name), letters) for name in names)
    widest = max((len(line) for name in legend for line in name.split("\n")), default=1)
    columns = max(min(len(legend), letters // (widest + 6)), 1)
    rows = sum(name.count("\n") + 1 for name in legend) / columns + 1
    figure = Figure(
        figsize=(width_in, 0.4 + rows * _LINE_IN + 2.7 * len(panels)), layout="constrained"
    )
    all_axes = figure.subplots(len(panels), 1, squeeze=False).ravel()
    for axes, panel in zip(all_axes, panels, strict=True):
        _panel(axes, panel, narrow=width_in < WIDE_IN)
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            legend[textwrap.fill(name, letters)] = handle
    figure.legend(
        list(legend.values()),
        list(legend),
        loc="outside upper center",
        ncols=columns,
        frameon=False,
    )
    return figure


def _panel(axes: Any, panel: Panel, *, narrow: bool) -> None:
    style = {"drawstyle": "steps-post"} if panel.is_step else {}
    lines(axes, panel.curves, **style)
    for point in panel.points:
        look = colour(point.look)
        spread = {"xerr": point.x_sd, "yerr": point.y_sd, "capsize": 2, "linewidth": 1}
        axes.errorbar(point.x, point.y, color=look, **spread)
        shape = marker(point.look)
        axes.plot(point.x, point.y, shape, color=look, label=written(point.name), markersize=6)
    title = textwrap.fill(written(panel.title), 45 if narrow else 90)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.x_log:
        axes.set_xscale("log")
        _numbered(axes.xaxis, *axes.get_xlim())
    else:
        axes.set_xlim(0, panel.x_right)
    if panel.y_log:
        axes.set_yscale("log")
        _numbered(axes.yaxis, *axes.get_ylim())
    elif not panel.points:
        axes.set_ylim(0, panel.y_top or axes.get_ylim()[1] * 1.12)
    changes(axes, panel.changes, short=narrow)
    plain(axes)


def _numbered(axis: Any, low: float, high: float) -> None:
    """A logarithmic axis; between few powers of ten 2 and 5 have numbers too."""
    axis.set_major_formatter(_written)
    axis.set_tick_params(which="minor", pad=5)  # as far from the axis as behind longer ticks
    axis.set_minor_formatter(_between if high < 100 * low else NullFormatter())


def _between(value: float, position: int) -> str:
    return _written(value, position) if f"{value:e}"[0] in "25" else ""


def _written(value: float, _position: int) -> str:
    """A number of a logarithmic axis, as on another axis."""
    return f"{value:g}"
