# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The figures of an experiment, redrawn by the kind that its [figure] names. A kind names and makes
charts, and lists in its own file the keys that it needs in [figure].

[figure]
kind = "delay"     over time, a curve for each algorithm; the default (sojourn.papers.time_figure)
kind = "axis"      a metric over an axis, a line for each algorithm (sojourn.papers.axis_figure)
kind = "curve"     a metric over another, a point for each value of an axis
                   (sojourn.papers.curve_figure)
kind = "cdf"       distributions of round trips or of a node's bandwidth (sojourn.papers.cdf_figure)
kind = "times"     completion or page load times: the body and the tail, a curve for each algorithm
                   (sojourn.papers.times_figure)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from sojourn.core.errors import InputError, nearest
from sojourn.papers import axis_figure, cdf_figure, curve_figure, time_figure, times_figure
from sojourn.papers.axis_figure import NOT_OF_PAPER
from sojourn.papers.experiment import Experiment
from sojourn.papers.paper import Paper, figures_in_print
from sojourn.papers.reproduce import Reproduction
from sojourn.show.chart import Chart, file_name


class Kind(Protocol):
    """The module of a kind."""

    def names(self, experiment: Experiment) -> Iterable[str]:
        """Name the figures that each host has. A chart's name has experiment and host too."""

    def charts(self, reproduction: Reproduction) -> Iterable[Chart]:
        """Chart what ran."""


KINDS: dict[str, Kind] = {
    "delay": time_figure,
    "axis": axis_figure,
    "curve": curve_figure,
    "cdf": cdf_figure,
    "times": times_figure,
}


def kind_of(experiment: Experiment) -> str:
    """Name the kind of the experiment's figures; InputError where no kind has this name."""
    kind = str(experiment.data.get("figure", {}).get("kind", "delay"))
    if kind not in KINDS:
        place = experiment.folder / "experiment.toml"
        raise InputError(
            f"{place}: figure.kind = '{kind}': there is no such kind.{nearest(kind, KINDS)}"
        )
    return kind


def names(experiment: Experiment) -> list[str]:
    """Name every figure as its files do, without experiment and host; none where the experiment has
    no [figure]."""
    if "figure" not in experiment.data:
        return []
    return [file_name(name) for name in KINDS[kind_of(experiment)].names(experiment)]


def figures(reproduction: Reproduction) -> list[Chart]:
    """Chart every figure of an experiment and of its ablations; none where it has no [figure]. The
    caption tells where the paper lists its figures and has none of this experiment."""
    experiment = reproduction.experiment
    if "figure" not in experiment.data:
        return []
    charts = KINDS[kind_of(experiment)].charts(reproduction)
    if _has_figure(experiment):
        return list(charts)
    return [
        chart
        if chart.caption.startswith(NOT_OF_PAPER)
        else replace(chart, caption=f"{NOT_OF_PAPER}. {chart.caption}")
        for chart in charts
    ]


def _has_figure(experiment: Experiment) -> bool:
    """Tell whether the paper has a figure of an experiment, or lists none at all."""
    listed = figures_in_print(Paper(experiment.paper, experiment.home.experiments))
    return not listed or any(
        experiment.id in figure.experiments and not figure.is_network
        for figure in listed
        if figure.number.startswith("Figure")
    )
