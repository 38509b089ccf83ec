# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kind "delay" of figures: a series over time for each signal, as the papers draw it. Where
runs on Linux are there, further charts set our algorithms beside the kernel's own. Its [figure]:

series = "system_delay_ms"   a column of the series
average_s = 1                the span of each average, in seconds
seed = 1                     the seed of the drawn run
panels = true                a panel for each algorithm, all with the same axes: curves that often
                             swing from nothing to a full buffer would hide each other on one
top = 90                     the top of every upright axis, in the unit of the series, with `panels`
algorithms = […]             the algorithms that are drawn; the default is all
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.core.units import Rate
from sojourn.scenario.ends import link_of, queue_rates
from sojourn.show.chart import Chart, Curve, Layout, Panel, and_last, axis_label, file_name
from sojourn.show.measured import averaged, raw
from sojourn.show.theme import CURVES, INK, colour

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment, Signal
    from sojourn.papers.reproduce import Reproduction
    from sojourn.result.result import Run


def names(experiment: Experiment) -> Iterator[str]:
    """Name the figure of each signal."""
    return (signal.name for signal in experiment.signals())


def charts(reproduction: Reproduction) -> Iterator[Chart]:
    """Chart each signal on each host, and ours beside the kernel's own."""
    for signal in reproduction.experiment.signals():
        for host in reproduction.hosts_of(signal):
            drawn = curves(reproduction, signal.name, host)
            if drawn:
                yield over_time(reproduction, signal.name, host, drawn)
        # An ablation is about a setting, not about the kernel.
        pairs = [] if signal.ablates else lines(reproduction, signal.name)
        pairs = [pair for pair in pairs if len(pair) > 1]
        if pairs:
            yield beside_kernel(reproduction, signal, pairs)


def curves(reproduction: Reproduction, signal: str, host: str) -> list[Curve]:
    """Average the series of each algorithm in one run."""
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    (of_signal,) = (entry for entry in experiment.signals() if entry.name == signal)
    drawn = []
    for look, contender in enumerate(experiment.contenders(of_signal)):
        if contender.name not in wanted.get("algorithms", (contender.name,)):
            continue
        runs = reproduction.runs(host, signal, contender.name)
        if runs:
            run = next(run for run in runs if run.seed == wanted["seed"])
            series = raw(run, experiment.data["queue"], wanted["series"])
            drawn.append(Curve(contender.name, *averaged(*series, wanted["average_s"]), look))
    return drawn


def over_time(reproduction: Reproduction, signal: str, host: str, drawn: Sequence[Curve]) -> Chart:
    """Chart the curves over one run, with the measured window shaded."""
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    axes = "time (s)", axis_label(wanted["series"])
    span: dict[str, Any] = {
        "x_right": experiment.scenario.duration / 1e9,
        "shaded": window_s(experiment),
    }
    if wanted.get("panels"):
        style = {"color": colour(0), "linestyle": "-", "linewidth": 0.7}
        alike = [(c.name, Curve("", c.x, c.y, style=style)) for c in drawn]
        panels = [Panel(name, *axes, [c], y_top=wanted["top"], **span) for name, c in alike]
        layout = Layout(2, is_shared=True, head_in=0.5, panel_in=1.35, legend_columns=(0, 0))
    else:
        panels = [Panel("", *axes, drawn, changes=rates(reproduction), **span)]
        layout = Layout(head_in=0, panel_in=3.4, legend_columns=(3, 3))
    return Chart(
        file_name(experiment.id, signal, host),
        "",
        f"One run (seed {wanted['seed']}), averaged over {wanted['average_s']} s; the shaded span "
        "is the window of the table.",
        panels,
        _words_over_time(reproduction, signal, drawn),
        layout,
        signal,
        host,
        ("algorithm", "time_s", wanted["series"]),
        [(c.name, x, y) for c in drawn for x, y in zip(c.x, c.y, strict=True)],
    )


def window_s(experiment: Experiment) -> tuple[float, float]:
    """Return the begin and the end of the window that the tables measure, in seconds."""
    return experiment.window.from_ / 1e9, experiment.window.to / 1e9


def rates(reproduction: Reproduction) -> list[tuple[float, str]]:
    """List the link's rates, each with the time in seconds from which it holds."""
    scenario = reproduction.experiment.scenario.expand()
    queue = reproduction.experiment.data["queue"]
    link = link_of(scenario.links, queue)
    steps = queue_rates(link, queue, scenario.media)
    return [(at_ns / 1e9, str(Rate(rate_bps))) for at_ns, rate_bps in steps]


def _words_over_time(reproduction: Reproduction, signal: str, drawn: Sequence[Curve]) -> str:
    """Write the mean in the window and the highest value of each algorithm's curve."""
    experiment = reproduction.experiment
    begin_s, end_s = window_s(experiment)
    return (
        f"Line chart, {signal}: {axis_label(experiment.data['figure']['series'])} of "
        f"{and_last([curve.name for curve in drawn])} over {_network(reproduction)}. "
        f"Mean from {begin_s:g} to {end_s:g} s, and highest of all: "
        + "; ".join(_mean_and_top(curve, begin_s, end_s) for curve in drawn)
        + "."
    )


def _mean_and_top(curve: Curve, begin_s: float, end_s: float) -> str:
    inside = curve.y[(curve.x >= begin_s) & (curve.x < end_s)]
    if np.isnan(inside).all():
        return f"{curve.name} has none"
    top = int(np.nanargmax(curve.y))
    return f"{curve.name} {np.nanmean(inside):.1f}, {curve.y[top]:.1f} at {curve.x[top]:g} s"


def _network(reproduction: Reproduction) -> str:
    duration_s = reproduction.experiment.scenario.duration / 1e9
    (_, first), *rest = rates(reproduction)
    changes = "".join(f", from {at_s:g} s {rate}" for at_s, rate in rest)
    return f"{duration_s:g} s, on a link of {first}{changes}"


@dataclass(frozen=True)
class _Look:
    """The look of a curve. Curves that agree lie on each other. The broad one below shows on both
    sides of the next, and the next shows through the gaps of the last."""

    label: str
    colour: str
    width: float
    dashes: str

    @property
    def style(self) -> dict[str, Any]:
        """Return the look in matplotlib's words."""
        return {"color": self.colour, "linewidth": self.width, "linestyle": self.dashes}


_LOOKS = {
    ("sim", True): _Look("ours, simulated", CURVES[5].light, 5.0, "-"),
    ("linux", True): _Look("ours, on Linux", CURVES[1].light, 2.0, "-"),
    ("linux", False): _Look("the kernel's own, on Linux", INK.light, 1.1, "--"),
}
# The shares at which a distribution is drawn, as fine as a page shows it.
SHARES = np.linspace(0, 1, 201)


@dataclass(frozen=True)
class Line:
    """One algorithm on one host, all seeds together."""

    algorithm: str
    look: _Look
    time_s: Any
    delay: Any  # in the unit of the series, as `within`
    within: Any  # the delays within the window

    def quantiles(self) -> Any:
        """Return, for each of SHARES, the delay that this share of the delays does not exceed."""
        if not len(self.within):
            return np.full(len(SHARES), np.nan)
        return np.quantile(self.within, SHARES, method="inverted_cdf")

    def median_and_p95(self) -> str:
        """Write the median and the 95th percentile, in the unit of the series."""
        if not len(self.within):
            return "none"
        return " and ".join(f"{value:.1f}" for value in np.quantile(self.within, (0.5, 0.95)))


def lines(reproduction: Reproduction, signal: str) -> list[list[Line]]:
    """Read the lines of each of our algorithms that has a peer."""
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
    end_of_step_s, delay = _series(reproduction, reproduction.runs(host, signal, algorithm))
    begin_s, end_s = window_s(reproduction.experiment)
    inside = (end_of_step_s > begin_s) & (end_of_step_s <= end_s)
    within = delay[inside & ~np.isnan(delay)]
    return Line(algorithm, _LOOKS[host, is_ours], end_of_step_s, delay, within)


def _series(reproduction: Reproduction, runs: Sequence[Run]) -> tuple[Any, Any]:
    """Read the times, in seconds, and the delays, in the unit of the series, of all seeds."""
    data = reproduction.experiment.data
    series = [raw(run, data["queue"], data["figure"]["series"]) for run in runs]
    return np.concatenate([time for time, _ in series]), np.concatenate([d for _, d in series])


def beside_kernel(reproduction: Reproduction, signal: Signal, pairs: list[list[Line]]) -> Chart:
    """Chart the delay over time and its distribution in the window, two panels for each of our
    algorithms. They stand side by side, or one below the other where the chart is narrow."""
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    average_s, label = wanted["average_s"], axis_label(wanted["series"])
    begin_s, end_s = window_s(experiment)
    panels, rows = [], []
    for pair in pairs:
        means = [(line, *averaged(line.time_s, line.delay, average_s)) for line in pair]
        shares = [(line, line.quantiles(), SHARES) for line in pair]
        over, within = (
            [Curve(line.look.label, x, y, style=line.look.style) for line, x, y in values]
            for values in (means, shares)
        )
        panels += [
            Panel(
                f"{pair[0].algorithm} and {pair[-1].algorithm}, {signal.name}",
                "time (s)",
                label,
                over,
                x_right=experiment.scenario.duration / 1e9,
                changes=rates(reproduction),
                shaded=(begin_s, end_s),
            ),
            Panel(
                "in the shaded window",
                label,
                "share at or below",
                within,
                y_top=1.03,
                is_step=True,
            ),
        ]
        for (line, times_s, delays), (_, quantiles, _) in zip(means, shares, strict=True):
            name = line.algorithm, line.look.label
            both = (("over time", times_s, delays), ("distribution", SHARES, quantiles))
            rows += [
                (*name, panel, x, y)
                for panel, places, values in both
                for x, y in zip(places, values, strict=True)
            ]
    words = (
        f"Line charts, {signal.name}, two for each algorithm: {label} over "
        f"{_network(reproduction)}, and its distribution from {begin_s:g} to {end_s:g} s. "
        "Median and 95th percentile there: "
        + "; ".join(
            f"{line.algorithm} ({line.look.label}) {line.median_and_p95()}"
            for pair in pairs
            for line in pair
        )
        + "."
    )
    return Chart(
        file_name(experiment.id, signal.name, "beside"),
        "",
        f"Over time: the mean over all seeds, averaged over {average_s} s; the shaded span is the "
        "window of the table. Distribution: all seeds within that window, in steps of "
        f"{experiment.scenario.record.series}.",
        panels,
        words,
        Layout(2, (2, 1), head_in=0.4, panel_in=2.6, legend_columns=(len(pairs[0]), 1)),
        signal.name,
        "",
        ("algorithm", "curve", "panel", "time_s or share", wanted["series"]),
        rows,
    )
