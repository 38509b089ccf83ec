# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The figures of a paper redrawn, by the kind that an experiment's [figure] names. A kind makes
charts of a reproduction, and lists in its own file the keys that it needs in [figure].

[figure]
kind = "delay"     over time, a curve for each algorithm; the default (sojourn.papers.time_figure)
kind = "axis"      a metric over an axis, a line for each algorithm (sojourn.papers.axis_figure)
kind = "curve"     a metric over another, a point for each value of an axis
                   (sojourn.papers.curve_figure)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sojourn.core.errors import InputError, nearest
from sojourn.papers import axis_figure, curve_figure, time_figure
from sojourn.show.chart import Chart

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction

KINDS: dict[str, Callable[[Reproduction], Iterable[Chart]]] = {
    "delay": time_figure.charts,
    "axis": axis_figure.charts,
    "curve": curve_figure.charts,
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


def figures(reproduction: Reproduction) -> list[Chart]:
    """Chart every figure of an experiment and of its ablations; none where it has no [figure]."""
    if "figure" not in reproduction.experiment.data:
        return []
    return list(KINDS[kind_of(reproduction.experiment)](reproduction))
