# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kind "cdf" of figures: the distribution of a quantity of which a window has many values.
There is a figure for each signal and quantity, and a panel for each algorithm. Its [figure]:

kind = "cdf"
of = ["rtt", "bandwidth of user *"]   quantities (sojourn.result.samples), with their places
axis = "RTT"                          its values are the curves; without it there is one
algorithms = […]                      those that are drawn; the default is all
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import seeds_text
from sojourn.result.metrics import METRICS, SampleMetric
from sojourn.result.samples import SAMPLES
from sojourn.show.chart import Chart, Curve, Layout, Panel, and_last, file_name
from sojourn.show.page import number

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction
    from sojourn.sweeps.axes import Cell

# The shares at which a distribution is drawn, as fine as a page shows it, and those in words.
SHARES = np.linspace(0, 1, 201)
_QUOTED = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Line:
    """One algorithm in one cell, the values of all seeds together."""

    text: str  # the value of the axis
    values: Any

    def quantiles(self, shares: Sequence[float]) -> Any:
        """Return the least value with at least each share at or below it; NaN without values."""
        if not len(self.values):
            return np.full(len(shares), np.nan)
        return np.quantile(self.values, shares, method="inverted_cdf")


# By algorithm, a line for each value of the axis.
Lines = Mapping[str, Sequence[Line]]


def quantity(experiment: Experiment, of: str) -> SampleMetric:
    """Find a quantity with its place; InputError where there is none."""
    name, _, place = of.partition(" of ")
    if name not in SAMPLES:
        path = experiment.folder / "experiment.toml"
        near = nearest(name, SAMPLES)
        raise InputError(f"{path}: figure.of: '{name}': there is no such quantity.{near}")
    metric = METRICS[SAMPLES[name].metric("p50") + (f" of {place}" if place else "")]
    assert isinstance(metric, SampleMetric)
    return metric


def rows_of(experiment: Experiment) -> list[list[Cell]]:
    """Group the cells that differ only in the figure's axis; InputError where it is no axis."""
    axis = experiment.data["figure"].get("axis")
    rows: dict[tuple[str, ...], list[Cell]] = {}
    for cell in experiment.cells():
        if axis and axis not in cell.texts:
            path = experiment.folder / "experiment.toml"
            near = nearest(axis, cell.texts)
            raise InputError(f"{path}: figure.axis = '{axis}': there is no such axis.{near}")
        rest = tuple(text for name, text in cell.texts.items() if name != axis)
        rows.setdefault(rest, []).append(cell)
    return list(rows.values())


def names(experiment: Experiment) -> Iterator[str]:
    """Name the figure of each signal and quantity."""
    for along in rows_of(experiment):
        for of in experiment.data["figure"]["of"]:
            yield f"{_signal(experiment, along)} {quantity(experiment, of).sample.name}"


def _signal(experiment: Experiment, along: Sequence[Cell]) -> str:
    """Name what cells along the axis have in common."""
    axis = experiment.data["figure"].get("axis")
    return ", ".join(text for name, text in along[0].texts.items() if name != axis)


def charts(reproduction: Reproduction) -> Iterator[Chart]:
    """Chart each signal, quantity and host. Every value of the other axes has charts of its own."""
    experiment = reproduction.experiment
    for along in rows_of(experiment):
        for of in experiment.data["figure"]["of"]:
            metric = quantity(experiment, of)
            for host in reproduction.hosts:
                lines = _lines(reproduction, along, metric, host)
                if lines:
                    yield _chart(reproduction, along, metric, host, lines)


def _lines(
    reproduction: Reproduction, along: Sequence[Cell], metric: SampleMetric, host: str
) -> Lines:
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    place = str(experiment.data["queue"]), str(experiment.data["window"])
    lines: dict[str, list[Line]] = {}
    for contender in experiment.contenders():
        if contender.name not in wanted.get("algorithms", (contender.name,)):
            continue
        for cell in along:
            runs = reproduction.runs(host, cell.label, contender.name)
            if runs:
                values = np.concatenate([metric.values(run, *place) for run in runs])
                text = cell.texts.get(wanted.get("axis", ""), contender.name)
                lines.setdefault(contender.name, []).append(Line(text, values))
    return lines


def _chart(
    reproduction: Reproduction,
    along: Sequence[Cell],
    metric: SampleMetric,
    host: str,
    lines: Lines,
) -> Chart:
    experiment = reproduction.experiment
    axis = experiment.data["figure"].get("axis")
    sample = metric.sample
    label = f"{sample.label} ({sample.unit})"
    rest = _signal(experiment, along)
    first = next(s for s in experiment.signals() if s.name == along[0].label)
    panels, rows = [], []
    looks = {cell.texts.get(axis, ""): look for look, cell in enumerate(along)}
    for algorithm, of_cells in lines.items():
        curves = []
        for line in of_cells:
            quantiles = line.quantiles(SHARES.tolist())
            name = line.text if axis else ""
            curves.append(Curve(name, quantiles, SHARES, looks.get(line.text, 0)))
            rows += [
                (algorithm, line.text, share, value)
                for share, value in zip(SHARES, quantiles, strict=True)
            ]
        panels.append(
            Panel(algorithm, label, "share at or below", curves, y_top=1.03, is_step=True)
        )
    where = f" of {metric.place}" if metric.place else ""
    return Chart(
        file_name(experiment.id, rest, sample.name, host),
        "",
        f"{first.table}: {sample.label}{where}, {sample.meaning}; "
        f"{f'a curve for each {axis}; ' if axis else ''}"
        f"{seeds_text(*reproduction.seeds_of(host))} together.",
        panels,
        words(rest, metric, lines),
        Layout(2, is_shared=True, panel_in=2.2, legend_columns=(len(along), 3) if axis else (0, 0)),
        along[0].label,
        host,
        ("algorithm", axis or "cell", "share", sample.key),
        rows,
    )


def words(signal: str, metric: SampleMetric, lines: Lines) -> str:
    """Write the percentiles of each curve as a sentence."""
    sample = metric.sample
    return (
        f"Distributions, {signal}: {sample.label} in {sample.unit}, {sample.meaning}. "
        f"5th percentile, median and 95th percentile: "
        + "; ".join(
            f"{algorithm} "
            + ", ".join(
                f"at {line.text} {and_last([number(v) for v in line.quantiles(_QUOTED)])}"
                for line in of_cells
            )
            for algorithm, of_cells in lines.items()
        )
        + "."
    )
