# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The set-ups that a search tries: the text's own, and those with one thing changed. Of all others
it tries as many as the file allows, drawn as a Latin hypercube, or every one where there are so
few. Points that set nothing in the searched half keep the text's value, for nothing there can
choose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sojourn.core.errors import InputError
from sojourn.papers.search.file import OpenPoint, Outside, Search, Value
from sojourn.sweeps.axes import Axis, Point, Source, grid

# The text's own set-up, in tables and JSON.
TEXT = 1


@dataclass(frozen=True)
class Setup:
    """A value of each open point; or the text's values, with one thing that the text excludes."""

    number: int  # from 1, the text's own
    values: Mapping[str, Value]  # by point
    changed: Mapping[str, str] = field(default_factory=dict)  # points that differ from the text
    outside: Outside | None = None

    @property
    def label(self) -> str:
        """Name the changes from the text."""
        if self.outside:
            return f"outside the text: {self.outside.value.name}"
        told = "; ".join(f"{point}: {value}" for point, value in self.changed.items())
        return told or "the text's own"

    @property
    def applied(self) -> list[Value]:
        """List the values that it sets, in this order. The scenario has the ledger's own values
        already."""
        points = [value for value in self.values.values() if not value.is_ledger]
        return [*points, *([self.outside.value] if self.outside else [])]


def setups(search: Search) -> list[Setup]:
    """List the set-ups that are tried on the searched half, those outside the text last; InputError
    where `setups` is too small."""
    points = [point for point in search.points if point.touches(search.searched)]
    first = {point.name: point.text for point in search.points}
    singles = [{**first, point.name: name} for point in points for name in _others(point)]
    chosen = [first, *singles]
    fewest = len(chosen) + len(search.outside)
    if fewest > search.setups:
        raise InputError(
            f"{search.path}: setups: {search.setups} are too few for the text's own, each other "
            f"value alone and those outside the text, {fewest}; allow more (up to 64), or leave "
            "values out"
        )
    for choice in _drawn(search, points):
        if len(chosen) + len(search.outside) == search.setups:
            break
        if (whole := {**first, **choice}) not in chosen:
            chosen.append(whole)
    found = [_setup(search, number, choice) for number, choice in enumerate(chosen, start=TEXT)]
    return found + [
        Setup(len(found) + n, found[0].values, outside=outside)
        for n, outside in enumerate(search.outside, start=1)
    ]


def count(search: Search) -> int:
    """Count the set-ups of these values that a search can tell apart."""
    found = 1
    for point in search.points:
        found *= len(point.values) if point.touches(search.searched) else 1
    return found


def alone(search: Search, start: int) -> list[Setup]:
    """List the set-ups with one changed point that sets nothing in the searched half. They are
    reasons, not candidates."""
    points = [point for point in search.points if not point.touches(search.searched)]
    choices = [
        {point.name: point.text for point in search.points} | {of.name: name}
        for of in points
        for name in _others(of)
    ]
    return [_setup(search, number, choice) for number, choice in enumerate(choices, start=start)]


def _others(point: OpenPoint) -> list[str]:
    return [value.name for value in point.values if value.name != point.text]


def _setup(search: Search, number: int, choice: Mapping[str, str]) -> Setup:
    return Setup(
        number,
        {point.name: point.value(choice[point.name]) for point in search.points},
        {p.name: choice[p.name] for p in search.points if choice[p.name] != p.text},
    )


def _drawn(search: Search, points: Sequence[OpenPoint]) -> Iterator[dict[str, str]]:
    """Yield set-ups: a small grid whole and in its order, else one Latin hypercube after the other,
    without end."""
    axes = [
        Axis(point.name, tuple(Point(value.name, {}) for value in point.values)) for point in points
    ]
    if count(search) + len(search.outside) <= search.setups:
        yield from (cell.texts for cell in grid(axes))
        return
    from scipy.stats import qmc

    sources = [Source(axis.name, (), (), named=axis.points) for axis in axes]
    drawing = qmc.LatinHypercube(len(axes), rng=search.seed)
    while True:
        sample = drawing.random(search.setups)
        drawn = [source.drawn(sample[:, i].tolist()) for i, source in enumerate(sources)]
        for row in zip(*drawn, strict=True):
            yield {axis.name: point.text for axis, point in zip(axes, row, strict=True)}
