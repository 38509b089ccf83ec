# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The figure that sets our algorithms, simulated and on Linux, beside the kernel's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from sojourn.figure import averaged, axis_of, plain, rates, raw, window_s

if TYPE_CHECKING:
    from sojourn.reproduce import Reproduction
    from sojourn.result import Run


@dataclass(frozen=True)
class _Look:
    """Curves that agree lie on each other: the broad one below is seen left and right of the next,
    and that one through the gaps of the last."""

    label: str
    colour: str
    width: float
    style: str


_LOOKS = {
    ("sim", True): _Look("ours, simulated", "#56B4E9", 5.0, "-"),
    ("linux", True): _Look("ours, on Linux", "#D55E00", 2.0, "-"),
    ("linux", False): _Look("the kernel's own, on Linux", "#000000", 1.1, "--"),
}


def delay_beside_kernel(reproduction: Reproduction, signal: str) -> Figure:
    """A row for each algorithm: delay over time, and its distribution within the window."""
    pairs = reproduction.beside_kernel()
    average_s = reproduction.experiment.data["figure"]["average_s"]
    figure = Figure(figsize=(7.2, 2.6 * len(pairs) + 0.4), layout="constrained")
    grid = figure.subplots(len(pairs), 2, squeeze=False, width_ratios=(2, 1))
    for (over_time, within), columns in zip(grid, pairs, strict=True):
        ours, theirs = columns[0][1], columns[-1][1]
        over_time.set_title(f"{ours} and {theirs}, {signal}", loc="left", fontsize=10)
        within.set_title("in the shaded window", loc="left", fontsize=10)
        for host, algorithm in columns:
            look = _LOOKS[host, algorithm == ours]
            style = {"color": look.colour, "linewidth": look.width, "linestyle": look.style}
            series = _series(reproduction, reproduction.runs(host, signal, algorithm))
            over_time.plot(*averaged(*series, average_s), label=look.label, **style)
            within.ecdf(_within(reproduction, *series), **style)
        _finish(over_time, within, reproduction)
    figure.legend(
        *grid[0][0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=len(pairs[0]),
        frameon=False,
    )
    return figure


def _series(reproduction: Reproduction, runs: list[Run]) -> tuple[Any, Any]:
    """Time and delay in the raw series of all seeds."""
    data = reproduction.experiment.data
    series = [raw(run, data["queue"], data["figure"]["series"]) for run in runs]
    return np.concatenate([time for time, _ in series]), np.concatenate([d for _, d in series])


def _within(reproduction: Reproduction, end_of_step_s: Any, delay: Any) -> Any:
    """What was measured within the window."""
    begin_s, end_s = window_s(reproduction.experiment)
    inside = (end_of_step_s > begin_s) & (end_of_step_s <= end_s)
    return delay[inside & ~np.isnan(delay)]


def _finish(over_time: Any, within: Any, reproduction: Reproduction) -> None:
    experiment = reproduction.experiment
    over_time.axvspan(*window_s(experiment), color="#f0f0f0", zorder=0)
    rates(over_time, reproduction)
    over_time.set_xlim(0, experiment.scenario.duration / 1e9)
    over_time.set_ylim(0, over_time.get_ylim()[1] * 1.2)
    over_time.set_xlabel("time (s)")
    delay = axis_of(experiment.data["figure"]["series"])
    over_time.set_ylabel(delay)
    within.set_xlim(left=0)
    within.set_ylim(0, 1.03)
    within.set_xlabel(delay)
    within.set_ylabel("share at or below")
    for axes in (over_time, within):
        plain(axes)
