# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kind "curve" of figures: one metric over another, a point for each value of an axis of the
experiment. It shows the knees of one algorithm's curve, and beside them the points of the other
algorithms. At a knee the slope is a unit of y while x, a share, goes from 0 to 1. Its [figure]:

kind = "curve"
x = "utilisation_pct"          a percentage
y = "system_delay_mean_ms"
axis = "load"                  its values are the points
of = "no AQM"                  the algorithm whose curve has knees
until = "95 %"                 the last value of the axis on the curve; the others have all
units = [0.1, 1.0, 10.0]       of y, one knee each
beside = ["DUK", "CoDel"]      the others
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import seeds_text
from sojourn.papers.axis_figure import scale_of
from sojourn.result.metrics import METRICS, Metric
from sojourn.show.chart import Chart, Curve, Layout, Panel, file_name
from sojourn.show.page import heading, number
from sojourn.show.theme import INK, SOFT, colour, marker

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment
    from sojourn.papers.reproduce import Reproduction

# The curve is steep beyond this x, in percent.
_STEEP = 95


@dataclass(frozen=True)
class Point:
    """The means over the seeds at a value of the axis."""

    text: str
    x: float
    y: float

    @property
    def is_known(self) -> bool:
        """Tell whether both were measured."""
        return self.x == self.x and self.y == self.y


@dataclass(frozen=True)
class Trail:
    """The points of one algorithm, along the axis."""

    algorithm: str
    look: int
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Knee:
    """The point at which the curve's slope is `unit`; None where it is steeper, or flatter, all
    along."""

    unit: float
    point: Point | None
    steeper: bool = False


@dataclass(frozen=True)
class Work:
    """The curve of one algorithm on a host, its knees, and the points of the others."""

    host: str
    x: Metric
    y: Metric
    axis: str
    curve: Trail
    knees: tuple[Knee, ...]
    beside: tuple[Trail, ...]

    @property
    def trails(self) -> tuple[Trail, ...]:
        """Return all of them, the curve first."""
        return self.curve, *self.beside


def works(reproduction: Reproduction) -> Iterator[Work]:
    """Read the curve on each host that ran any part of it; InputError for a name that does not
    exist."""
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
        if any(point.x == point.x for trail in (curve, *beside) for point in trail.points):
            knees = tuple(knee(curve.points, unit) for unit in wanted["units"])
            x, y = METRICS[wanted["x"]], METRICS[wanted["y"]]
            yield Work(host, x, y, wanted["axis"], curve, knees, beside)


def _wrong(experiment: Experiment, reason: str) -> InputError:
    return InputError(f"{experiment.folder / 'experiment.toml'}: figure: {reason}")


def _trail(reproduction: Reproduction, host: str, algorithm: str) -> Trail:
    experiment = reproduction.experiment
    wanted = experiment.data["figure"]
    names = [contender.name for contender in experiment.contenders()]
    points = [
        Point(
            cell.texts[wanted["axis"]],
            *(
                reproduction.cell(host, cell.label, algorithm, metric).estimate.mean
                for metric in (wanted["x"], wanted["y"])
            ),
        )
        for cell in experiment.cells()
    ]
    return Trail(algorithm, names.index(algorithm), tuple(points))


def knee(points: Sequence[Point], unit: float) -> Knee:
    """Find the point where the slope is `unit`. The slope between two neighbours is that of the
    line through them, at its middle. Between two middles the logarithm of the slope is taken as
    straight, for it grows like a power. The knee lies on the curve. Points that were not measured
    are left out, and there is no slope where x does not grow."""
    known = [point for point in points if point.is_known]
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
    """Read the curve as it is drawn: straight between neighbours, where y is logarithmic."""
    a, b = next(
        pair for pair in pairwise(points) if min(p.x for p in pair) <= x <= max(p.x for p in pair)
    )
    if b.x == a.x or a.y <= 0 or b.y <= 0:
        return a.y
    return exp(log(a.y) + (x - a.x) / (b.x - a.x) * log(b.y / a.y))


def names(experiment: Experiment) -> list[str]:
    """Name its one figure."""
    return ["curve"]


def charts(reproduction: Reproduction) -> Iterator[Chart]:
    """Chart each host; a chart shows all cells."""
    experiment = reproduction.experiment
    for work in works(reproduction):
        unit = work.y.unit
        yield Chart(
            file_name(experiment.id, "curve", work.host),
            "",
            f"Means of {seeds_text(*reproduction.seeds_of(work.host))}. The knee for D {unit} "
            f"is where the slope of the curve is D {unit} per 100 % of {work.x.label}. "
            + " ".join(f"{line.rstrip('.')}." for line in summary(work)),
            [panel(work)],
            words(work),
            Layout(head_in=0, panel_in=3.9, legend_columns=(len(work.trails), 2)),
            host=work.host,
            columns=("algorithm", _scale(work).label, work.x.name, work.y.name),
            rows=rows(work),
        )


def panel(work: Work) -> Panel:
    """Draw the curve as a line with its knees, and each other algorithm as a trail of markers. y is
    logarithmic: a curve that has a knee spans decades."""
    points = work.curve.points
    style = {"color": INK.light, "linestyle": "-", "linewidth": 1.8}
    curve = Curve(work.curve.algorithm, [p.x for p in points], [p.y for p in points], style=style)
    trails = [_drawn(trail) for trail in work.beside]
    labels = heading(work.x.name), heading(work.y.name)
    finish = partial(_finish, work)
    return Panel("", *labels, [curve, *trails], x_right=103, y_log=True, finish=finish)


def _drawn(trail: Trail) -> Curve:
    points = [point for point in trail.points if point.is_known]
    mark = marker(trail.look)
    style = {"linewidth": 0.8, "linestyle": ":", "marker": mark, "markersize": 5}
    x, y = [point.x for point in points], [point.y for point in points]
    return Curve(trail.algorithm, x, y, trail.look, style=style)


def _finish(work: Work, axes: Any, _narrow: bool) -> None:
    """Write the value of the axis at the last point of each trail, and put a ring on each knee of
    the curve. A knee that does not exist is reported in words only."""
    small: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
    for trail in work.beside:
        for last in [point for point in trail.points if point.is_known][-1:]:
            # The steep part of the curve has room to its left, the rest to its right.
            side, shift = ("right", -7) if last.x > _STEEP else ("left", 7)
            text, place = last.text.replace("$", r"\$"), (last.x, last.y)
            at = {"xytext": (shift, 0), "ha": side, "va": "center", "color": colour(trail.look)}
            axes.annotate(text, place, **at, **small)
    for at_unit in work.knees:
        if at_unit.point:
            place = at_unit.point.x, at_unit.point.y
            axes.plot(*place, "o", markersize=11, color=INK.light, fillstyle="none")
            at = {"xytext": (0, 12), "ha": "center", "va": "bottom", "color": SOFT.light}
            text = f"knee for\n{at_unit.unit:g} {work.y.unit}"
            axes.annotate(text, place, **at, **small)


def words(work: Work) -> str:
    """Write each number of the figure as a sentence."""
    return (
        f"Curve: {heading(work.y.name)} over {heading(work.x.name)}, a point for each {work.axis}. "
        f"{work.curve.algorithm}: {_points(work.curve.points)}. "
        + " ".join(_knee(at_unit, work) for at_unit in work.knees)
        + " Beside it "
        + "; ".join(f"{trail.algorithm} {_points(trail.points)}" for trail in work.beside)
        + "."
    )


def _points(points: Sequence[Point]) -> str:
    return ", ".join(f"at {p.text} {number(p.y)} with {number(p.x)}" for p in points)


def _knee(at_unit: Knee, work: Work) -> str:
    x, y, size = work.x.unit, work.y.unit, f"{at_unit.unit:g}"
    if at_unit.point:
        point = at_unit.point
        return f"Knee for {size} {y}: {number(point.x)} {x} with {number(point.y)} {y}."
    word = "steeper" if at_unit.steeper else "flatter"
    return f"No knee for {size} {y}: the curve is {word} all along."


def summary(work: Work) -> list[str]:
    """Name the knees, and each algorithm's point at the last value of the axis."""
    lines = [_knee(at_unit, work) for at_unit in work.knees]
    for trail in work.beside:
        last = trail.points[-1]
        lines.append(
            f"{trail.algorithm} at a {work.axis} of {last.text}: {work.x.label} {number(last.x)} "
            f"{work.x.unit}, {work.y.label} {number(last.y)} {work.y.unit}"
        )
    return lines


def rows(work: Work) -> list[tuple[Any, ...]]:
    """List the numbers: algorithm, value of the axis, x and y; then each knee, which has no value
    of the axis."""
    scale = _scale(work)
    values = dict(zip(scale.texts, scale.values, strict=True))
    nothing = float("nan")
    points: list[tuple[Any, ...]] = [
        (trail.algorithm, values[point.text], point.x, point.y)
        for trail in work.trails
        for point in trail.points
    ]
    for at_unit in work.knees:
        at = (at_unit.point.x, at_unit.point.y) if at_unit.point else (nothing, nothing)
        name = f"knee for {at_unit.unit:g} {work.y.unit}"
        points.append((name, nothing if scale.is_numeric else "", *at))
    return points


def _scale(work: Work) -> Any:
    texts = dict.fromkeys(point.text for trail in work.trails for point in trail.points)
    return scale_of(work.axis, tuple(texts))
