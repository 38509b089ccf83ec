# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A series over time with axes of its own for each algorithm, all alike: curves that swing from
nothing to a full buffer many times hide each other on one. An experiment's [figure] asks for it:

panels = true
top = 90           of every upright axis
algorithms = […]   those that are drawn; unless given, all
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from sojourn.show.drawing import WIDE_IN, Curve, axis_of, colour, plain, written
from sojourn.show.theme import SHADE

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment


def panels(
    experiment: Experiment,
    curves: Sequence[Curve],
    window_s: tuple[float, float],
    width_in: float = WIDE_IN,
) -> Figure:
    """The curves, each with its name above it; the measured window is shaded."""
    columns = 2 if width_in >= WIDE_IN and len(curves) > 1 else 1
    rows = max(-(-len(curves) // columns), 1)
    figure = Figure(figsize=(width_in, 1.35 * rows + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    places = grid.flatten()
    for axes, curve in zip(places, curves, strict=False):
        axes.axvspan(*window_s, color=SHADE.light, zorder=0)
        axes.plot(curve.x, curve.y, color=colour(0), linewidth=0.7)
        axes.set_title(written(curve.name), loc="left", fontsize=10)
        axes.set_xlim(0, experiment.scenario.duration / 1e9)
        axes.set_ylim(0, experiment.data["figure"]["top"])
        plain(axes)
    for axes in places[len(curves) :]:
        axes.set_axis_off()
    # The lowest that is drawn in each column.
    for column in range(min(columns, len(curves))):
        axes = places[[n for n in range(len(curves)) if n % columns == column][-1]]
        axes.tick_params(labelbottom=True)
    figure.supxlabel("time (s)", fontsize="medium")
    figure.supylabel(axis_of(experiment.data["figure"]["series"]), fontsize="medium")
    return figure
