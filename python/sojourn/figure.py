# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Figures of a reproduction, as SVG: delay over time for each signal, as the papers draw it."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from sojourn.theme import CURVES, INK, LINE, SHADE, SOFT, follow

if TYPE_CHECKING:
    from sojourn.experiment import Experiment
    from sojourn.reproduce import Reproduction
    from sojourn.result import Run

_STYLES = ("-", "--", ":", "-.")
# A figure is drawn twice, for a page and for a telephone, so that its letters keep their size.
WIDE_IN = 7.2
NARROW_IN = 3.9


@dataclass(frozen=True)
class Curve:
    """Delay of one algorithm, averaged."""

    name: str
    time_s: Any
    delay: Any


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


def curves(reproduction: Reproduction, signal: str, host: str) -> list[Curve]:
    """What the figure of a signal on a host draws."""
    data = reproduction.experiment.data
    wanted = data["figure"]
    found = []
    (of,) = (found for found in reproduction.experiment.signals() if found.name == signal)
    for contender in reproduction.experiment.contenders(of):
        runs = reproduction.runs(host, signal, contender.name)
        run = next(run for run in runs if run.seed == wanted["seed"])
        series = raw(run, data["queue"], wanted["series"])
        found.append(Curve(contender.name, *averaged(*series, wanted["average_s"])))
    return found


def delay_over_time(
    reproduction: Reproduction, signal: str, host: str, width_in: float = WIDE_IN
) -> Figure:
    """Delay of each algorithm over one run, with the measured window shaded."""
    experiment = reproduction.experiment
    figure = Figure(figsize=(width_in, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(*window_s(experiment), color=SHADE.light, zorder=0)
    for number, curve in enumerate(curves(reproduction, signal, host)):
        axes.plot(
            curve.time_s,
            curve.delay,
            label=curve.name,
            color=CURVES[number % len(CURVES)].light,
            linestyle=_STYLES[number % len(_STYLES)],
            linewidth=1.6,
        )
    axes.set_xlim(0, experiment.scenario.duration / 1e9)
    axes.set_ylim(0, axes.get_ylim()[1] * 1.12)  # room for the rates above the curves
    axes.set_xlabel("time (s)")
    axes.set_ylabel(axis_of(experiment.data["figure"]["series"]))
    rates(axes, reproduction, short=width_in < WIDE_IN)
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
    axes.grid(axis="y", color=LINE.light, linewidth=0.6)


def steps(reproduction: Reproduction) -> list[tuple[float, str]]:
    """From which second the link has which rate."""
    scenario = reproduction.experiment.scenario.expand()
    queue = reproduction.experiment.data["queue"]
    link = next(link for link in scenario.links if link.name == queue)
    changes = [(step.at, step.rate) for step in link.schedule]
    return [(at / 1e9, str(rate)) for at, rate in [(0, link.rate), *changes]]


def rates(axes: Any, reproduction: Reproduction, *, short: bool = False) -> None:
    """The link's rate, written where it changes; `short`: the unit under the number."""
    for number, (at_s, rate) in enumerate(steps(reproduction)):
        if number:
            axes.axvline(at_s, color=SOFT.light, linewidth=0.6, linestyle=(0, (2, 3)))
        axes.annotate(
            rate.replace(" ", "\n") if short else rate,
            (at_s, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=SOFT.light,
        )


def svg(figure: Figure, name: str, words: str) -> str:
    """The figure as an <svg> element, the same bytes each time. `name` keeps its ids apart from
    those of other figures of the page, `words` is for whoever does not see it."""
    import matplotlib

    sink = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "sojourn"}):
        figure.savefig(sink, format="svg", metadata={"Date": None}, transparent=True)
    text = sink.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\1{name}-", text)
    # The page decides how wide it is; text has the colour of the page's.
    text = re.sub(
        r' width="[^"]*" height="[^"]*"',
        f' role="img" aria-label="{escape(words)}" style="fill: {INK.css}"',
        text,
        count=1,
    )
    return follow(text)
