# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the kind "axis" of figures shows: a metric over an axis of the experiment, a line for each
algorithm with its 95 % intervals, a figure for each signal and metric. Its [figure]:

kind = "axis"
x = "UDP rate"            the axis
metrics = ["jain"]        what is drawn over it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.core import units
from sojourn.core.errors import InputError, nearest
from sojourn.result.metrics import METRICS
from sojourn.show.page import number

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Measured, Reproduction
    from sojourn.sweeps.axis import Cell


@dataclass(frozen=True)
class Scale:
    """The values of an axis: numbers where all are of one unit, and else places in a row."""

    label: str
    texts: tuple[str, ...]
    places: tuple[float, ...]
    is_numeric: bool


@dataclass(frozen=True)
class Line:
    """One algorithm over the axis: what was measured at each of its values."""

    algorithm: str
    look: int
    cells: tuple[Measured, ...]


@dataclass(frozen=True)
class Drawing:
    """All that a figure has."""

    signal: str  # the value on the first axis, and on others that the figure is not over
    cells: tuple[str, ...]  # by their labels, along the axis
    metric: str
    host: str
    scale: Scale
    lines: tuple[Line, ...]


def scale_of(name: str, texts: Sequence[str]) -> Scale:
    """'0.1 Mbit/s', '0.2 Mbit/s' of the axis 'rate': numbers from 0.1 on, 'rate (Mbit/s)'."""
    try:
        found = [units.split(text) for text in texts]
    except units.UnitError:
        found = []
    told = {unit for _, unit in found}
    if len(told) != 1:
        return Scale(name, tuple(texts), tuple(map(float, range(len(texts)))), False)
    (unit,) = told
    unit = "%" if unit == "percent" else unit
    label = f"{name} ({unit})" if unit and not name.endswith(unit) else name
    return Scale(label, tuple(texts), tuple(float(number) for number, _ in found), True)


def drawings(reproduction: Reproduction) -> Iterator[Drawing]:
    """One for each signal, metric and host; an axis that it is not over has one for each value."""
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    contenders = experiment.contenders()
    for along in rows_of(experiment):
        rest = {axis: text for axis, text in along[0].texts.items() if axis != wanted["x"]}
        labels = tuple(cell.label for cell in along)
        scale = scale_of(wanted["x"], [cell.texts[wanted["x"]] for cell in along])
        for metric in wanted["metrics"]:
            for host in reproduction.hosts:
                lines = tuple(
                    Line(
                        contender.name,
                        look,
                        tuple(
                            reproduction.cell(host, label, contender.name, metric)
                            for label in labels
                        ),
                    )
                    for look, contender in enumerate(contenders)
                )
                yield Drawing(", ".join(rest.values()), labels, metric, host, scale, lines)


def rows_of(experiment: Experiment) -> list[list[Cell]]:
    """Cells that differ in nothing but the axis that figures are over, along it."""
    x = experiment.data["figure"]["x"]
    found: dict[tuple[str, ...], list[Cell]] = {}
    for cell in experiment.cells():
        if x not in cell.texts:
            raise InputError(
                f"{experiment.folder / 'experiment.toml'}: figure.x = '{x}': there is no such axis."
                + nearest(x, cell.texts)
            )
        rest = tuple(text for axis, text in cell.texts.items() if axis != x)
        found.setdefault(rest, []).append(cell)
    return list(found.values())


def words(drawing: Drawing) -> str:
    """What the figure shows, with each of its numbers."""
    scale, metric = drawing.scale, METRICS[drawing.metric]
    unit = f" in {metric.unit}" if metric.unit else ""
    return (
        f"Line chart, {drawing.signal}: {metric.label}{unit} over {scale.label}, "
        f"{_and(scale.texts)}, a line for each algorithm, with 95 % intervals. "
        + "; ".join(
            f"{line.algorithm} {', '.join(number(cell.found.mean) for cell in line.cells)}"
            for line in drawing.lines
        )
        + "."
    )


def _and(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def csv_rows(drawing: Drawing) -> list[tuple[str, str | float, float, float, float]]:
    """Its numbers: algorithm, value of the axis, mean, and the ends of the interval. The value is a
    number where the axis is one, since the heading has its unit."""
    scale = drawing.scale
    values: Sequence[str | float] = scale.places if scale.is_numeric else scale.texts
    return [
        (line.algorithm, value, cell.found.mean, *cell.interval)
        for line in drawing.lines
        for value, cell in zip(values, line.cells, strict=True)
    ]
