# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a figure shows, in words and with its numbers, for whoever does not see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.papers.figure import steps, window_s
from sojourn.papers.figure_peers import Line
from sojourn.show.drawing import Curve, axis_of

if TYPE_CHECKING:
    from sojourn.papers.reproduce import Reproduction


def delay_over_time(reproduction: Reproduction, signal: str, drawn: list[Curve]) -> str:
    """Of each algorithm's curve the mean in the window and the highest value."""
    experiment = reproduction.experiment
    begin_s, end_s = window_s(experiment)
    return (
        f"Line chart, {signal}: {axis_of(experiment.data['figure']['series'])} of "
        f"{_and([curve.name for curve in drawn])} over {_network(reproduction)}. "
        f"Mean from {begin_s:g} to {end_s:g} s, and highest of all: "
        + "; ".join(_curve(curve, begin_s, end_s) for curve in drawn)
        + "."
    )


def _curve(curve: Curve, begin_s: float, end_s: float) -> str:
    inside = curve.y[(curve.x >= begin_s) & (curve.x < end_s)]
    if np.isnan(inside).all():
        return f"{curve.name} has none"
    top = int(np.nanargmax(curve.y))
    return (
        f"{curve.name} {_number(np.nanmean(inside))}, {_number(curve.y[top])} at {curve.x[top]:g} s"
    )


def delay_beside_kernel(reproduction: Reproduction, signal: str, pairs: list[list[Line]]) -> str:
    """Of each curve the median in the window, and what 95 % are at or below."""
    experiment = reproduction.experiment
    begin_s, end_s = window_s(experiment)
    return (
        f"Line charts, {signal}, two for each algorithm: "
        f"{axis_of(experiment.data['figure']['series'])} over {_network(reproduction)}, and "
        f"its distribution from {begin_s:g} to {end_s:g} s. "
        "Median and 95th percentile there: "
        + "; ".join(
            f"{line.algorithm} ({line.look.label}) {_quantiles(line)}"
            for of_algorithm in pairs
            for line in of_algorithm
        )
        + "."
    )


def _quantiles(line: Line) -> str:
    if not len(line.within):
        return "none"
    return " and ".join(_number(value) for value in np.quantile(line.within, (0.5, 0.95)))


def _network(reproduction: Reproduction) -> str:
    duration_s = reproduction.experiment.scenario.duration / 1e9
    (_, first), *rest = steps(reproduction)
    changes = "".join(f", from {at_s:g} s {rate}" for at_s, rate in rest)
    return f"{duration_s:g} s, on a link of {first}{changes}"


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _number(value: Any) -> str:
    return f"{float(value):.1f}"
