# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The figure that sets our algorithms, simulated and on Linux, beside the kernel's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from sojourn.papers.figure import steps, window_s
from sojourn.show.drawing import WIDE_IN, averaged, axis_of, changes, plain, raw
from sojourn.show.theme import CURVES, INK, SHADE

if TYPE_CHECKING:
    from sojourn.papers.reproduce import Reproduction
    from sojourn.result.result import Run


@dataclass(frozen=True)
class _Look:
    """Curves that agree lie on each other: the broad one below is seen left and right of the next,
    and that one through the gaps of the last."""

    label: str
    colour: str
    width: float
    style: str


_LOOKS = {
    ("sim", True): _Look("ours, simulated", CURVES[5].light, 5.0, "-"),
    ("linux", True): _Look("ours, on Linux", CURVES[1].light, 2.0, "-"),
    ("linux", False): _Look("the kernel's own, on Linux", INK.light, 1.1, "--"),
}


# Of a distribution as it is drawn: as fine as a page shows it.
SHARES = np.linspace(0, 1, 201)


@dataclass(frozen=True)
class Line:
    """One algorithm on one host, all seeds together."""

    algorithm: str
    look: _Look
    time_s: Any
    delay: Any
    within: Any  # the delays within the window

    def quantiles(self) -> Any:
        """The delays that these shares of them are at or below."""
        if not len(self.within):
            return np.full(len(SHARES), np.nan)
        return np.quantile(self.within, SHARES, method="inverted_cdf")


def lines(reproduction: Reproduction, signal: str) -> list[list[Line]]:
    """What the figure draws, for each of our algorithms that has a peer."""
    return [
        [
            _line(reproduction, signal, host, algorithm, algorithm == columns[0][1])
            for host, algorithm in columns
            if reproduction.runs(host, signal, algorithm)
        ]
        for columns in reproduction.beside_kernel()
    ]


def _line(
    reproduction: Reproduction, signal: str, host: str, algorithm: str, is_ours: bool
) -> Line:
    series = _series(reproduction, reproduction.runs(host, signal, algorithm))
    look = _LOOKS[host, is_ours]
    return Line(algorithm, look, *series, _within(reproduction, *series))


def delay_beside_kernel(
    reproduction: Reproduction,
    signal: str,
    width_in: float = WIDE_IN,
    pairs: list[list[Line]] | None = None,
) -> Figure:
    """For each algorithm delay over time, and its distribution within the window: side by side, or
    one above the other where the figure is narrow."""
    pairs = pairs or lines(reproduction, signal)
    narrow = width_in < WIDE_IN
    average_s = reproduction.experiment.data["figure"]["average_s"]
    rows, columns = (2 * len(pairs), 1) if narrow else (len(pairs), 2)
    figure = Figure(figsize=(width_in, 2.6 * rows + 0.4), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, width_ratios=(2, 1)[:columns])
    for (over_time, within), pair in zip(grid.reshape(-1, 2), pairs, strict=True):
        names = f"{pair[0].algorithm} and {pair[-1].algorithm}, {signal}"
        over_time.set_title(names, loc="left", fontsize=10)
        within.set_title("in the shaded window", loc="left", fontsize=10)
        for line in pair:
            look = line.look
            style = {"color": look.colour, "linewidth": look.width, "linestyle": look.style}
            time_s, delay = averaged(line.time_s, line.delay, average_s)
            over_time.plot(time_s, delay, label=look.label, **style)
            within.step(line.quantiles(), SHARES, where="post", **style)
        _finish(over_time, within, reproduction, narrow)
    figure.legend(
        *grid[0][0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=1 if narrow else len(pairs[0]),
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


def _finish(over_time: Any, within: Any, reproduction: Reproduction, narrow: bool) -> None:
    experiment = reproduction.experiment
    over_time.axvspan(*window_s(experiment), color=SHADE.light, zorder=0)
    changes(over_time, steps(reproduction), short=narrow)
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
