# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The figure of one metric over another (sojourn.papers.over_curve)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from sojourn.core.hosts import seeds_text
from sojourn.papers.over_curve import (
    Drawing,
    Trail,
    csv_columns,
    csv_rows,
    drawings,
    summary,
    words,
)
from sojourn.papers.picture import Picture, named
from sojourn.result.metrics import METRICS
from sojourn.show.drawing import WIDE_IN, colour, marker, plain, written
from sojourn.show.theme import INK, SOFT

if TYPE_CHECKING:
    from sojourn.papers.reproduce import Reproduction

# Of x, in percent.
_STEEP = 95


def pictures(reproduction: Reproduction) -> Iterator[Picture]:
    """One for each host; it shows all cells."""
    for drawing in drawings(reproduction):
        x, y = METRICS[drawing.x], METRICS[drawing.y]
        yield Picture(
            named(reproduction.experiment, "curve", drawing.host),
            "",
            drawing.host,
            f"Means of {seeds_text(*reproduction.seeds_of(drawing.host))}. The knee for D {y.unit} "
            f"is where the slope of the curve is D {y.unit} per 100 % of {x.label}. "
            + " ".join(f"{line.rstrip('.')}." for line in summary(drawing)),
            words(drawing),
            csv_columns(drawing),
            csv_rows(drawing),
            partial(curve, drawing),
        )


def curve(drawing: Drawing, width_in: float = WIDE_IN) -> Figure:
    """The curve as a line with its knees, and each other algorithm as a trail of markers, of which
    the last says at which value of the axis it is. y is logarithmic: a curve that has a knee spans
    decades."""
    figure = Figure(figsize=(width_in, 3.9), layout="constrained")
    axes = figure.subplots()
    narrow = width_in < WIDE_IN
    axes.plot(
        [point.x for point in drawing.curve.points],
        [point.y for point in drawing.curve.points],
        color=INK.light,
        linewidth=1.8,
        label=written(drawing.curve.algorithm),
    )
    for trail in drawing.beside:
        _trail(axes, trail)
    axes.set_yscale("log")
    _knees(axes, drawing)
    x, y = METRICS[drawing.x], METRICS[drawing.y]
    axes.set_xlabel(f"{x.label} ({x.unit})")
    axes.set_ylabel(f"{y.label} ({y.unit})")
    axes.set_xlim(0, 103)
    axes.yaxis.set_major_formatter("{x:g}")
    plain(axes)
    columns = 2 if narrow else len(drawing.beside) + 1
    figure.legend(loc="outside upper center", ncols=columns, frameon=False)
    return figure


def _trail(axes: Any, trail: Trail) -> None:
    look = colour(trail.look)
    points = [point for point in trail.points if point.x == point.x and point.y == point.y]
    axes.plot(
        [point.x for point in points],
        [point.y for point in points],
        color=look,
        linewidth=0.8,
        linestyle=":",
        marker=marker(trail.look),
        markersize=5,
        label=written(trail.algorithm),
    )
    if points:
        last = points[-1]
        # On the steep part there is room to the left of the curve, and to the right elsewhere.
        aside = last.x > _STEEP
        axes.annotate(
            written(last.text),
            (last.x, last.y),
            xytext=(-7 if aside else 7, 0),
            textcoords="offset points",
            ha="right" if aside else "left",
            va="center",
            fontsize=8,
            color=look,
        )


def _knees(axes: Any, drawing: Drawing) -> None:
    """A ring on the curve, with its unit below; those that are not there are said in words."""
    unit = METRICS[drawing.y].unit
    for found in drawing.knees:
        if not found.point:
            continue
        axes.plot(
            found.point.x,
            found.point.y,
            marker="o",
            markersize=11,
            color=INK.light,
            fillstyle="none",
        )
        axes.annotate(
            f"knee for\n{found.unit:g} {unit}",
            (found.point.x, found.point.y),
            xytext=(0, 12),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8,
            color=SOFT.light,
        )
