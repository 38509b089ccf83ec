# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Figures of a reproduction: delay over time for each signal, as the papers draw it. Its [figure]:

series = "system_delay_ms"   a column of the series
average_s = 1                over how long it is averaged
seed = 1                     of which run
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from sojourn.papers.figure_panels import panels
from sojourn.show.drawing import WIDE_IN, Curve, averaged, axis_of, changes, lines, plain, raw
from sojourn.show.theme import SHADE

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction


def curves(reproduction: Reproduction, signal: str, host: str) -> list[Curve]:
    """What the figure of a signal on a host draws."""
    data = reproduction.experiment.data
    wanted = data["figure"]
    found = []
    (of,) = (found for found in reproduction.experiment.signals() if found.name == signal)
    for look, contender in enumerate(reproduction.experiment.contenders(of)):
        if contender.name not in wanted.get("algorithms", (contender.name,)):
            continue
        runs = reproduction.runs(host, signal, contender.name)
        if not runs:
            continue
        run = next(run for run in runs if run.seed == wanted["seed"])
        series = raw(run, data["queue"], wanted["series"])
        found.append(Curve(contender.name, *averaged(*series, wanted["average_s"]), look))
    return found


def delay_over_time(
    reproduction: Reproduction, drawn: list[Curve], width_in: float = WIDE_IN
) -> Figure:
    """Delay of each algorithm over one run, with the measured window shaded."""
    experiment = reproduction.experiment
    if experiment.data["figure"].get("panels"):
        return panels(experiment, drawn, window_s(experiment), width_in)
    figure = Figure(figsize=(width_in, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(*window_s(experiment), color=SHADE.light, zorder=0)
    lines(axes, drawn)
    axes.set_xlim(0, experiment.scenario.duration / 1e9)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.12)  # room for the rates above the curves
    axes.set_xlabel("time (s)")
    axes.set_ylabel(axis_of(experiment.data["figure"]["series"]))
    changes(axes, steps(reproduction), short=width_in < WIDE_IN)
    plain(axes)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def window_s(experiment: Experiment) -> tuple[float, float]:
    """From when to when the tables measure."""
    return experiment.window.from_ / 1e9, experiment.window.to / 1e9


def steps(reproduction: Reproduction) -> list[tuple[float, str]]:
    """From which second the link has which rate."""
    scenario = reproduction.experiment.scenario.expand()
    queue = reproduction.experiment.data["queue"]
    link = next(link for link in scenario.links if link.name == queue)
    later = [(step.at, step.rate) for step in link.schedule]
    return [(at / 1e9, str(rate)) for at, rate in [(0, link.rate), *later]]
