# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Figures in which each algorithm has axes of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sojourn.papers.reproduce import Reproduction
from sojourn.papers.time_figure import charts, curves, over_time
from sojourn.show.chart import NARROW_IN, WIDE_IN
from sojourn.show.drawing import draw

from tests.reproductions import names_of_charts


def with_panels(short: Reproduction, *algorithms: str) -> Reproduction:
    """The queue's length of these algorithms, each 0.1 s."""
    figure = {
        "series": "queue_pkts",
        "average_s": 0.1,
        "seed": 1,
        "panels": True,
        "top": 90,
        "algorithms": algorithms,
    }
    experiment = replace(short.experiment, data={**short.experiment.data, "figure": figure})
    return replace(short, experiment=experiment)


@pytest.mark.parametrize(("width_in", "columns"), [(WIDE_IN, 2), (NARROW_IN, 1)])
def test_each_algorithm_has_axes_of_its_own_and_all_are_alike(
    short: Reproduction, width_in: float, columns: int
) -> None:
    names = ["DUK", "CoDel", "PIE"]
    found = with_panels(short, *names)
    figure = draw(over_time(found, "drop", "sim", curves(found, "drop", "sim")), width_in)
    drawn = [axes for axes in figure.axes if axes.get_lines()]
    assert [axes.get_title(loc="left") for axes in drawn] == names
    assert {tuple(axes.get_ylim()) for axes in drawn} == {(0, 90)}
    assert {tuple(axes.get_xlim()) for axes in drawn} == {(0, 90)}  # s
    assert len({axes.get_position().x0 for axes in drawn}) == columns
    of_run = found.runs("sim", "drop", "CoDel")[0].series()
    queue = np.array(of_run["queue"].to_pylist()) == "bottleneck"
    expected = of_run["queue_pkts"].to_numpy()[queue]
    ((line),) = drawn[1].get_lines()
    assert np.allclose(line.get_ydata(), expected)


def test_what_is_not_asked_for_is_not_drawn(short: Reproduction) -> None:
    found = with_panels(short, "PIE")
    assert [curve.name for curve in curves(found, "drop", "sim")] == ["PIE"]
    assert {chart.name for chart in charts(found)} < set(names_of_charts(found))
    figure = draw(over_time(found, "drop", "sim", curves(found, "drop", "sim")))
    assert len([axes for axes in figure.axes if axes.get_lines()]) == 1
    assert figure.get_supylabel() == "queue (packets)"
