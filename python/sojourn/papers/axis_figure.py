# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kind "axis" of figures: a metric over an axis of the experiment, a line for each algorithm
with its 95 % intervals, a figure for each signal and metric. Its [figure]:

kind = "axis"
x = "UDP rate"            the axis
metrics = ["jain"]        the metrics drawn over it
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.core import units
from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import seeds_text
from sojourn.result.metrics import METRICS, Metric
from sojourn.show.chart import Chart, Curve, Layout, Panel, and_last, file_name
from sojourn.show.page import heading, number
from sojourn.show.theme import marker

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reasons import Measured
    from sojourn.papers.reproduce import Reproduction
    from sojourn.sweeps.axes import Cell

_DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
# A caption begins with it.
NOT_OF_PAPER = "Not a figure of the paper"
# By algorithm, the measurement at each value of the axis.
Lines = Mapping[str, Sequence["Measured"]]


@dataclass(frozen=True)
class Scale:
    """The values of an axis: numbers where all are of one unit, and else places in a row."""

    label: str
    texts: tuple[str, ...]
    places: tuple[float, ...]
    is_numeric: bool

    @property
    def values(self) -> Sequence[str | float]:
        """Return the values as a table has them, since its heading has the unit."""
        return self.places if self.is_numeric else self.texts


def scale_of(name: str, texts: Sequence[str]) -> Scale:
    """Read the values of an axis. '0.1 Mbit/s', '0.2 Mbit/s' of the axis 'rate' are numbers from
    0.1 on, 'rate (Mbit/s)'."""
    try:
        parts = [units.split(text) for text in texts]
    except units.UnitError:
        parts = []
    every_unit = {unit for _, unit in parts}
    if len(every_unit) != 1:
        return Scale(name, tuple(texts), tuple(map(float, range(len(texts)))), False)
    (unit,) = every_unit
    unit = "%" if unit == "percent" else unit
    label = f"{name} ({unit})" if unit and not name.endswith(unit) else name
    return Scale(label, tuple(texts), tuple(float(number) for number, _ in parts), True)


def rows_of(experiment: Experiment) -> list[list[Cell]]:
    """Group the cells that differ only in the figures' axis, along it; InputError where it is no
    axis."""
    x = experiment.data["figure"]["x"]
    rows: dict[tuple[str, ...], list[Cell]] = {}
    for cell in experiment.cells():
        if x not in cell.texts:
            raise InputError(
                f"{experiment.folder / 'experiment.toml'}: figure.x = '{x}': there is no such axis."
                + nearest(x, cell.texts)
            )
        rest = tuple(text for axis, text in cell.texts.items() if axis != x)
        rows.setdefault(rest, []).append(cell)
    return list(rows.values())


def names(experiment: Experiment) -> Iterator[str]:
    """Name the figure of each signal and metric."""
    for along in rows_of(experiment):
        for metric in experiment.data["figure"]["metrics"]:
            yield f"{_signal(experiment, along)} {metric}"


def _signal(experiment: Experiment, along: Sequence[Cell]) -> str:
    """Name what cells along the axis have in common."""
    x = experiment.data["figure"]["x"]
    return ", ".join(text for axis, text in along[0].texts.items() if axis != x)


def charts(reproduction: Reproduction) -> Iterator[Chart]:
    """Chart each signal, metric and host. Every value of the other axes has charts of its own."""
    experiment = reproduction.experiment
    for along in rows_of(experiment):
        for metric in experiment.data["figure"]["metrics"]:
            for host in reproduction.hosts:
                lines = {
                    contender.name: [
                        reproduction.cell(host, cell.label, contender.name, metric)
                        for cell in along
                    ]
                    for contender in experiment.contenders(experiment.signal_of[along[0].label])
                }
                if any(cell.ran for line in lines.values() for cell in line):
                    yield _chart(reproduction, along, metric, host, lines)


def _chart(
    reproduction: Reproduction, along: Sequence[Cell], metric: str, host: str, lines: Lines
) -> Chart:
    experiment = reproduction.experiment
    x = experiment.data["figure"]["x"]
    scale = scale_of(x, [cell.texts[x] for cell in along])
    signal = _signal(experiment, along)
    first = next(s for s in experiment.signals() if s.name == along[0].label)
    table = first.table if metric in first.metrics else NOT_OF_PAPER
    # A long legend has a head of its own, and takes nothing of the panel.
    layout = Layout(head_in=0, panel_in=3.6, legend_columns=(len(lines), 3))
    if len(lines) > 5:
        layout = Layout(panel_in=2.6)
    return Chart(
        file_name(experiment.id, signal, metric, host),
        "",
        f"{table}: mean of {seeds_text(*reproduction.seeds_of(host))} with its 95 % interval.",
        [panel(scale, metric, lines)],
        words(signal, scale, metric, lines),
        layout,
        along[0].label,
        host,
        ("algorithm", scale.label, metric, "ci95_low", "ci95_high"),
        rows(scale, lines),
    )


def panel(scale: Scale, metric: str, lines: Lines) -> Panel:
    """Draw the lines: markers and dashes tell them apart without colour."""
    of_metric = METRICS[metric]
    curves = []
    for look, (algorithm, cells) in enumerate(lines.items()):
        style = {
            "linestyle": _DASHES[look % len(_DASHES)],
            "marker": marker(look),
            "markersize": 5,
            "linewidth": 1.4,
        }
        means = [cell.estimate.mean for cell in cells]
        curves.append(Curve(algorithm, scale.places, means, look, _reach(cells), style))
    is_log = _spans_decades(of_metric, lines)
    return Panel(
        "",
        scale.label,
        heading(metric),
        curves,
        y_log=is_log,
        y_top=_top(of_metric, lines),
        ticks=[
            (place, f"{place:g}" if scale.is_numeric else text)
            for place, text in zip(scale.places, scale.texts, strict=True)
        ],
        finish=_number_delays if is_log else None,
    )


def _number_delays(axes: Any, _narrow: bool) -> None:
    from sojourn.show.drawing import number_at_1_2_5

    number_at_1_2_5(axes.yaxis)


def _spans_decades(metric: Metric, lines: Lines) -> bool:
    """Tell whether short delays need a logarithmic axis. Beside one that is ten times as long they
    would lie on each other."""
    means = [cell.estimate.mean for line in lines.values() for cell in line]
    known = [mean for mean in means if mean == mean]
    return metric.unit == "ms" and bool(known) and max(known) > 10 * min(known) > 0


def _reach(cells: Sequence[Measured]) -> tuple[list[float], list[float]]:
    """Return the reach of the intervals below and above the means; those of one seed are not
    drawn."""
    ends = [(cell.estimate.mean, *cell.interval) for cell in cells]
    below = [mean - low if low > -math.inf else 0.0 for mean, low, _ in ends]
    return below, [high - mean if high < math.inf else 0.0 for mean, _, high in ends]


def _top(metric: Metric, lines: Lines) -> float:
    """Return the end of the axis from 0 on, above all intervals. An index ends just above 1, its
    greatest value."""
    ends = [
        high if high < math.inf else cell.estimate.mean
        for line in lines.values()
        for cell in line
        for _, high in [cell.interval]
        if cell.estimate.mean == cell.estimate.mean
    ]
    top = 1.05 * max(ends, default=1.0)
    return 1.02 if metric.most == 1 else top or 1.0


def words(signal: str, scale: Scale, metric: str, lines: Lines) -> str:
    """Write each number of the figure as a sentence."""
    of_metric = METRICS[metric]
    unit = f" in {of_metric.unit}" if of_metric.unit else ""
    return (
        f"Line chart, {signal}: {of_metric.label}{unit} over {scale.label}, "
        f"{and_last(scale.texts)}, a line for each algorithm, with 95 % intervals. "
        + "; ".join(
            f"{algorithm} {', '.join(number(cell.estimate.mean) for cell in cells)}"
            for algorithm, cells in lines.items()
        )
        + "."
    )


def rows(scale: Scale, lines: Lines) -> list[tuple[str, str | float, float, float, float]]:
    """List the numbers: algorithm, value of the axis, mean, and the ends of the interval."""
    return [
        (algorithm, value, cell.estimate.mean, *cell.interval)
        for algorithm, cells in lines.items()
        for value, cell in zip(scale.values, cells, strict=True)
    ]
