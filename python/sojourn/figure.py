# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Figures of a reproduction, as SVG: delay over time for each signal, as the papers draw it."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from sojourn.experiment import Experiment
    from sojourn.reproduce import Reproduction
    from sojourn.result import Run

# Colours that stay apart in print and for the colour-blind (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_STYLES = ("-", "--", ":", "-.")
_GREY = "#666666"


def raw(run: Run, queue: str, column: str) -> tuple[Any, Any]:
    """Time (the ends of the steps) and values of a series."""
    table = run.series()
    rows = np.array(table["queue"].to_pylist()) == queue
    return table["t_s"].to_numpy()[rows], table[column].to_numpy()[rows]


def averaged(time: Any, values: Any, average_s: float) -> tuple[Any, Any]:
    """Time and mean over bins of `average_s`; empty cells do not count."""
    bins = np.ceil(time / average_s - 1e-9).astype(int) - 1
    bins = np.clip(bins, 0, None)
    good = ~np.isnan(values)
    count = np.bincount(bins[good], minlength=bins.max() + 1)
    total = np.bincount(bins[good], weights=values[good], minlength=bins.max() + 1)
    with np.errstate(invalid="ignore"):
        return (np.arange(len(count)) + 0.5) * average_s, total / count


def delay_over_time(reproduction: Reproduction, signal: str, host: str) -> Figure:
    """Delay of each algorithm over one run, with the measured window shaded."""
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(*window_s(experiment), color="#f0f0f0", zorder=0)
    for number, contender in enumerate(experiment.contenders()):
        runs = reproduction.runs(host, signal, contender.name)
        run = next(run for run in runs if run.seed == wanted["seed"])
        series = raw(run, experiment.data["queue"], wanted["series"])
        time, delay = averaged(*series, wanted["average_s"])
        axes.plot(
            time,
            delay,
            label=contender.name,
            color=COLOURS[number % len(COLOURS)],
            linestyle=_STYLES[number % len(_STYLES)],
            linewidth=1.6,
        )
    rates(axes, reproduction)
    axes.set_xlim(0, experiment.scenario.duration / 1e9)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.12)  # room for the rates above the curves
    axes.set_xlabel("time (s)")
    axes.set_ylabel(axis_of(wanted["series"]))
    plain(axes)
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def axis_of(column: str) -> str:
    """What stands beside the axis of a series, such as system_delay_ms."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')} ({unit})"


def window_s(experiment: Experiment) -> tuple[float, float]:
    """From when to when the tables measure."""
    windows = experiment.scenario.record.windows
    window = next(w for w in windows if w.name == experiment.data["window"])
    return window.from_ / 1e9, window.to / 1e9


def plain(axes: Any) -> None:
    """No frame, and lines to read values by."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def rates(axes: Any, reproduction: Reproduction) -> None:
    """The link's rate, written where it changes."""
    scenario = reproduction.experiment.scenario.expand()
    queue = reproduction.experiment.data["queue"]
    link = next(link for link in scenario.links if link.name == queue)
    steps = [(0, link.rate), *((step.at, step.rate) for step in link.schedule)]
    for number, (at, rate) in enumerate(steps):
        if number:
            axes.axvline(at / 1e9, color=_GREY, linewidth=0.6, linestyle=(0, (2, 3)))
        axes.annotate(
            str(rate),
            (at / 1e9, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=_GREY,
        )


def svg(figure: Figure) -> str:
    """The figure as an <svg> element, the same bytes each time."""
    import matplotlib

    sink = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "sojourn"}):
        figure.savefig(sink, format="svg", metadata={"Date": None})
    text = sink.getvalue()
    return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
