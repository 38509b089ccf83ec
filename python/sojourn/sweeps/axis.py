# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Axes and cells.

A cell has one point of each axis, and a point is changes of a scenario. User sweeps and experiments
of papers share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType

from sojourn.core.rows import Value

_NONE: Mapping[str, Value] = MappingProxyType({})


@dataclass(frozen=True)
class Point:
    """One value on an axis."""

    text: str  # as people write it
    changes: Mapping[str, object]  # as --set has them
    columns: Mapping[str, Value] = field(default_factory=lambda: _NONE)  # in a table of numbers


@dataclass(frozen=True)
class Axis:
    """The name of the varied quantity, and its points."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Cell:
    """One point of each axis, by the axis's name."""

    points: Mapping[str, Point]

    @property
    def label(self) -> str:
        """Join its values, in the order of the axes."""
        return ", ".join(point.text for point in self.points.values())

    @property
    def texts(self) -> dict[str, str]:
        """Return the value on each axis, as people write it."""
        return {axis: point.text for axis, point in self.points.items()}

    @property
    def changes(self) -> dict[str, object]:
        """Join the changes of all its points."""
        return {k: v for point in self.points.values() for k, v in point.changes.items()}

    @property
    def columns(self) -> dict[str, Value]:
        """Join the columns of all its points."""
        return {k: v for point in self.points.values() for k, v in point.columns.items()}


def grid(axes: Sequence[Axis]) -> Iterable[Cell]:
    """Combine every point of each axis with every point of the others; the last axis varies
    fastest."""
    names = [axis.name for axis in axes]
    for points in product(*(axis.points for axis in axes)):
        yield Cell(dict(zip(names, points, strict=True)))
