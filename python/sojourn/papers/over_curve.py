# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the kind "curve" of figures shows: one metric over another, a point for each value of an
axis of the experiment; the knee of one algorithm's curve, where its slope is a unit of y while x, a
share, goes from 0 to 1; and where the others work beside it. Its [figure]:

kind = "curve"
x = "utilisation_pct"          a percentage
y = "system_delay_mean_ms"
axis = "load"                  whose values are the points
of = "no AQM"                  the algorithm whose curve has knees
until = "95 %"                 the last value of the axis that the curve has, and the others not
units = [0.1, 1.0, 10.0]       of y, one knee each
beside = ["DUK", "CoDel"]      the others
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import InputError, nearest
from sojourn.papers.over_axis import Scale, scale_of
from sojourn.result.metrics import METRICS
from sojourn.show.page import number

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction


@dataclass(frozen=True)
class Point:
    """What was measured at a value of the axis: means over the seeds."""

    text: str
    x: float
    y: float


@dataclass(frozen=True)
class Trail:
    """The points of one algorithm, along the axis."""

    algorithm: str
    look: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Knee:
    """Where the curve's slope is `unit`; no point where it is steeper, or flatter, all along."""

    unit: float
    point: Point | None
    steeper: bool = False


@dataclass(frozen=True)
class Drawing:
    """All that a figure has."""

    host: str
    x: str
    y: str
    axis: str
    curve: Trail
    knees: tuple[Knee, ...]
    beside: tuple[Trail, ...]


def drawings(reproduction: Reproduction) -> Iterator[Drawing]:
    """One for each host that ran any of it."""
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    names = [contender.name for contender in experiment.contenders()]
    for name in (wanted["of"], *wanted["beside"]):
        if name not in names:
            raise _wrong(experiment, f"'{name}': there is no such algorithm.{nearest(name, names)}")
    texts = [cell.texts.get(wanted["axis"]) for cell in experiment.cells()]
    if None in texts:
        raise _wrong(experiment, f"axis = '{wanted['axis']}': there is no such axis")
    if wanted["until"] not in texts:
        raise _wrong(experiment, f"until = '{wanted['until']}': the axis has no such value")
    last = texts.index(wanted["until"]) + 1
    for host in reproduction.hosts:
        curve = _trail(reproduction, host, wanted["of"])
        curve = Trail(curve.algorithm, curve.look, curve.points[:last])
        beside = tuple(_trail(reproduction, host, name) for name in wanted["beside"])
        if not any(point.x == point.x for trail in (curve, *beside) for point in trail.points):
            continue
        knees = tuple(knee(curve.points, unit) for unit in wanted["units"])
        yield Drawing(host, wanted["x"], wanted["y"], wanted["axis"], curve, knees, beside)


def _wrong(experiment: Experiment, reason: str) -> InputError:
    return InputError(f"{experiment.folder / 'experiment.toml'}: figure: {reason}")


def _trail(reproduction: Reproduction, host: str, algorithm: str) -> Trail:
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    names = [contender.name for contender in experiment.contenders()]
    return Trail(
        algorithm,
        names.index(algorithm),
        tuple(
            Point(
                cell.texts[wanted["axis"]],
                *(
                    reproduction.cell(host, cell.label, algorithm, metric).found.mean
                    for metric in (wanted["x"], wanted["y"])
                ),
            )
            for cell in experiment.cells()
        ),
    )


def knee(points: Sequence[Point], unit: float) -> Knee:
    """Between two neighbours the slope is that of the line through them, and stands in the middle;
    between two middles its logarithm is taken as straight, for it grows like a power. The knee lies
    on the curve there. What was not measured is left out, and where x does not grow there is no
    slope."""
    known = [p for p in points if p.x == p.x and p.y == p.y]
    slopes = [
        (Point("", (a.x + b.x) / 2, (a.y + b.y) / 2), 100 * (b.y - a.y) / (b.x - a.x))
        for a, b in pairwise(known)
        if b.x > a.x and b.y > a.y
    ]
    if slopes and slopes[0][1] > unit:
        return Knee(unit, None, steeper=True)
    for (a, low), (b, high) in pairwise(slopes):
        if low <= unit <= high:
            share = log(unit / low) / log(high / low) if high > low else 0.0
            x = a.x + share * (b.x - a.x)
            return Knee(unit, Point("", x, _height(known, x)))
    return Knee(unit, None)


def _height(points: Sequence[Point], x: float) -> float:
    """On the curve as it is drawn: straight between neighbours, where y is logarithmic."""
    a, b = next(
        pair for pair in pairwise(points) if min(p.x for p in pair) <= x <= max(p.x for p in pair)
    )
    if b.x == a.x or a.y <= 0 or b.y <= 0:
        return a.y
    return exp(log(a.y) + (x - a.x) / (b.x - a.x) * log(b.y / a.y))


def words(drawing: Drawing) -> str:
    """What the figure shows, with each of its numbers."""
    x, y = METRICS[drawing.x], METRICS[drawing.y]
    return (
        f"Curve: {y.label} ({y.unit}) over {x.label} ({x.unit}), a point for each {drawing.axis}. "
        f"{drawing.curve.algorithm}: {_points(drawing.curve.points)}. "
        + " ".join(_said(found, drawing) for found in drawing.knees)
        + " Beside it "
        + "; ".join(f"{trail.algorithm} {_points(trail.points)}" for trail in drawing.beside)
        + "."
    )


def _points(points: Sequence[Point]) -> str:
    return ", ".join(f"at {p.text} {number(p.y)} with {number(p.x)}" for p in points)


def _said(found: Knee, drawing: Drawing) -> str:
    x, unit = METRICS[drawing.x].unit, METRICS[drawing.y].unit
    if found.point:
        point = found.point
        return (
            f"Knee for {found.unit:g} {unit}: {number(point.x)} {x} with {number(point.y)} {unit}."
        )
    word = "steeper" if found.steeper else "flatter"
    return f"No knee for {found.unit:g} {unit}: the curve is {word} all along."


def summary(drawing: Drawing) -> list[str]:
    """For a terminal: the knees, and where each algorithm works at the last value of the axis."""
    x, y = METRICS[drawing.x], METRICS[drawing.y]
    lines = [f"{_said(found, drawing)}" for found in drawing.knees]
    for trail in drawing.beside:
        last = trail.points[-1]
        lines.append(
            f"{trail.algorithm} at a {drawing.axis} of {last.text}: {x.label} {number(last.x)} "
            f"{x.unit}, {y.label} {number(last.y)} {y.unit}"
        )
    return lines


def csv_columns(drawing: Drawing) -> tuple[str, ...]:
    """The headings of `csv_rows`."""
    return "algorithm", _scale(drawing).label, METRICS[drawing.x].name, METRICS[drawing.y].name


def csv_rows(drawing: Drawing) -> list[tuple[Any, ...]]:
    """Its numbers: whose, at which value of the axis, x and y; and then each knee, which has no
    value of the axis. That is a number where the axis is one, since the heading has its unit."""
    scale = _scale(drawing)
    values: Sequence[str | float] = scale.places if scale.is_numeric else scale.texts
    at = dict(zip(scale.texts, values, strict=True))
    rows: list[tuple[Any, ...]] = [
        (trail.algorithm, at[point.text], point.x, point.y)
        for trail in (drawing.curve, *drawing.beside)
        for point in trail.points
    ]
    nothing = float("nan")
    for found in drawing.knees:
        x, y = (found.point.x, found.point.y) if found.point else (nothing, nothing)
        name = f"knee for {found.unit:g} {METRICS[drawing.y].unit}"
        rows.append((name, nothing if scale.is_numeric else "", x, y))
    return rows


def _scale(drawing: Drawing) -> Scale:
    trails = (drawing.curve, *drawing.beside)
    texts = dict.fromkeys(point.text for trail in trails for point in trail.points)
    return scale_of(drawing.axis, tuple(texts))
