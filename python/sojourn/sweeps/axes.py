# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Axes, as a file has them, and cells.

A cell has one point of each axis, and a point is changes of a scenario. User sweeps and experiments
of papers share them. In a file an axis has one key, several keys that move together, or named
values that set keys. Its values are a list, or lie between two ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType

from sojourn.core import units
from sojourn.core.errors import InputError, written
from sojourn.core.rows import Value
from sojourn.result.metrics import Metric
from sojourn.scenario.toml import Keys
from sojourn.scenario.variant import write_value
from sojourn.sweeps import quantity
from sojourn.sweeps.model import MAX_CELLS, AxisTable, SweepTable
from sojourn.sweeps.quantity import Span

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


# Makes the error of a wrong value at a path.
Wrong = Callable[[Keys, str], InputError]


@dataclass(frozen=True)
class Source:
    """One axis as the file writes it: points, values, or a span between two ends."""

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]  # without units; several keys with one value have one
    named: tuple[Point, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()  # a value for each column
    span: Span | None = None
    steps: int | None = None

    def points(self) -> tuple[Point, ...]:
        """Make all points of the axis."""
        if self.span and self.steps:
            parts = self.steps - 1
            return self._of([(self.span.value(i / parts, parts),) for i in range(self.steps)])
        return self.named or self._of(self.rows)

    def drawn(self, shares: Sequence[float]) -> list[Point]:
        """Make the points at these shares of the way."""
        if self.span:
            return list(self._of([(self.span.drawn(u, len(shares)),) for u in shares]))
        every = self.points()
        return [every[int(u * len(every))] for u in shares]

    def _of(self, rows: Sequence[tuple[object, ...]]) -> tuple[Point, ...]:
        columns = [
            quantity.column(self.keys[i], [row[i] for row in rows])
            for i in range(len(self.columns))
        ]
        return tuple(
            Point(
                ", ".join(map(write_value, row)),
                dict(zip(self.keys, row if len(row) > 1 else row * len(self.keys), strict=True)),
                {
                    f"{name}{column.suffix}": column.values[n]
                    for name, column in zip(self.columns, columns, strict=True)
                },
            )
            for n, row in enumerate(rows)
        )


def axes(tables: Sequence[AxisTable], wrong: Wrong) -> list[Source]:
    """Read each axis, and check it by itself and against the others."""
    sources: list[Source] = []
    for i, table in enumerate(tables):
        path: Keys = ("axes", i)
        source = _source(table, path, wrong)
        for other in sources:
            if both := set(map(same_key, source.keys)) & set(map(same_key, other.keys)):
                raise wrong(path, f"'{both.pop()}' is varied by two axes; leave one of them out")
            if both := {source.name, *source.columns} & {other.name, *other.columns}:
                raise wrong(path, f"two axes are called '{both.pop()}'; give one a `name`")
        sources.append(source)
    return sources


def _source(table: AxisTable, path: Keys, wrong: Wrong) -> Source:
    keys = table.keys if table.keys is not None else (table.key,) if table.key is not None else ()
    if table.key is not None and table.keys is not None:
        raise wrong(path, "has key and keys; leave one out")
    for key in keys:
        if not key.strip() or key != key.strip():
            raise wrong(path, f"{key!r} is no key, such as 'dumbbell.rate' is one")
    if len(set(map(same_key, keys))) != len(keys):
        raise wrong((*path, "keys"), "has a key twice")
    ends = (table.from_, table.to, table.steps)
    is_span = any(end is not None for end in ends)
    if is_span and table.values is not None:
        raise wrong(path, "has values and from, to or steps; leave the one or the other out")
    if is_span:
        return _span(table, keys, path, wrong)
    if not table.values:
        raise wrong(path, 'has no values; write values = ["10 ms", "20 ms"], or from, to and steps')
    if not keys:
        return _named(table, path, wrong)
    rows, single = _rows(table, keys, path, wrong)
    names = (table.name or column_of(keys[0]),) if single else tuple(map(column_of, keys))
    return Source(table.name or "_".join(names), keys, names, rows=rows)


def _rows(
    table: AxisTable, keys: tuple[str, ...], path: Keys, wrong: Wrong
) -> tuple[tuple[tuple[object, ...], ...], bool]:
    """Return each value as a tuple, and whether one value is for all keys."""
    values = table.values or ()
    if len(keys) == 1 or not any(isinstance(value, list | tuple) for value in values):
        rows = tuple((value,) for value in values)
    else:
        for i, value in enumerate(values):
            if not isinstance(value, list | tuple) or len(value) != len(keys):
                raise wrong(
                    (*path, "values"),
                    f"value {i + 1}, {written(value)}, is not a list of {len(keys)}, "
                    "one for each key",
                )
        rows = tuple(tuple(value) for value in values)
    seen: set[object] = set()
    for row in rows:
        same = tuple(map(quantity.same, row))
        if same in seen:
            raise wrong(
                (*path, "values"), f"has {', '.join(map(write_value, row))} twice; leave one out"
            )
        seen.add(same)
    return rows, len(rows[0]) == 1


def _span(table: AxisTable, keys: tuple[str, ...], path: Keys, wrong: Wrong) -> Source:
    if table.from_ is None or table.to is None:
        missing = "from" if table.from_ is None else "to"
        raise wrong(path, f"{missing} is missing beside {'to' if missing == 'from' else 'from'}")
    if not keys:
        raise wrong(path, "key is missing")
    try:
        span = Span.read(table.from_, table.to, table.scale)
    except units.UnitError as error:
        raise wrong((*path, "from"), str(error)) from error
    names = (table.name or column_of(keys[0]),)
    source = Source(names[0], keys, names, span=span, steps=table.steps)
    if table.steps:
        points = source.points()
        if len({point.text for point in points}) != len(points):
            raise wrong((*path, "steps"), f"{table.steps} steps give a value twice; ask for fewer")
    return source


def _named(table: AxisTable, path: Keys, wrong: Wrong) -> Source:
    """Read values that have names and set keys."""
    points = []
    for i, value in enumerate(table.values or ()):
        if not isinstance(value, Mapping):
            raise wrong(path, "has no key; what do its values set?")
        name, changes = value.get("name"), value.get("set")
        if not isinstance(name, str) or not isinstance(changes, Mapping) or len(value) != 2:
            raise wrong(
                (*path, "values"),
                f"value {i + 1}: without a key write each as "
                '{ name = "short", set = { "KEY" = VALUE } }',
            )
        points.append(Point(name, dict(changes), {table.name or "": name}))
    if not table.name:
        raise wrong(path, "name is missing: what do its named values have in common?")
    if len({point.text for point in points}) != len(points):
        raise wrong((*path, "values"), "has a name twice")
    keys = tuple(dict.fromkeys(key for point in points for key in point.changes))
    return Source(table.name, keys, (table.name,), named=tuple(points))


def same_key(key: str) -> str:
    """Return the same text for two spellings of one key."""
    for head, rest in (("queue.", ""), ("dumbbell.aqm.", ""), ("dumbbell.flows.", "flows.")):
        if key.startswith(head):
            return rest + key.removeprefix(head)
    return key


def column_of(key: str) -> str:
    """Name the column of a key: the keys of a dumbbell and of a queue lose their first word."""
    for head in ("dumbbell.", "queue."):
        key = key.removeprefix(head)
    return re.sub(r"\W+", "_", key).strip("_")


# Columns of the tables of every sweep, beside the metrics.
TAKEN = (
    "cell",
    "aqm",
    "host",
    "tested",
    "queue",
    "group",
    "flow",
    "index",
    "window",
    "seed",
    "seeds",
)


def make_cells(table: SweepTable, metrics: Sequence[Metric], wrong: Wrong) -> tuple[Cell, ...]:
    """Make every cell of the plan, each once."""
    kind = table.plan.kind
    if kind == "list":
        cells = _listed(table, wrong)
    else:
        sources = axes(table.axes, wrong)
        if not sources:
            raise wrong(("axes",), "is missing: what is varied? write [[axes]] with key and values")
        if kind == "grid":
            if table.plan.cells is not None:
                raise wrong(("plan", "cells"), "a grid has the cells that its axes make")
            for i, source in enumerate(sources):
                if source.span and not source.steps:
                    raise wrong(("axes", i), "steps is missing: how many values are there?")
            _check_count(math.prod(_length(source) for source in sources), ("axes",), wrong)
            cells = list(grid([Axis(source.name, source.points()) for source in sources]))
        else:
            cells = _latin_hypercube(table, sources, wrong)
    taken = {*TAKEN, *(metric.name for metric in metrics)}
    for column in cells[0].columns:
        if column in taken:
            raise wrong(
                ("axes",), f"there is a column '{column}' already; give the axis another name"
            )
    if kind != "grid":  # a grid's axes have each value once
        few = "ask for fewer cells, or for plan = 'grid'"
        remedy = "leave one of them out" if kind == "list" else few
        _check_distinct(cells, ("plan", "cells"), remedy, wrong)
    return tuple(cells)


def _length(source: Source) -> int:
    return source.steps or len(source.named) or len(source.rows)


def _check_count(count: int, path: Keys, wrong: Wrong) -> None:
    if not 1 <= count <= MAX_CELLS:
        raise wrong(
            path,
            f"{count} cells; allowed: 1 to {MAX_CELLS}. Fewer values, or "
            'plan = { kind = "latin_hypercube", cells = N }, make fewer',
        )


def _check_distinct(cells: Sequence[Cell], path: Keys, remedy: str, wrong: Wrong) -> None:
    """Check that no two cells have the same meaning: such a cell would count twice."""
    seen: dict[object, int] = {}
    for number, cell in enumerate(cells, start=1):
        same = tuple((key, quantity.same(value)) for key, value in sorted(cell.changes.items()))
        first = seen.setdefault(same, number)
        if first != number:
            raise wrong(path, f"cell {number} is cell {first} again ({cell.label}); {remedy}")


def check_quoted(row: Mapping[str, object], path: Keys, wrong: Wrong) -> None:
    """Check that the keys of a scenario are quoted: without quotes such a key is a table of
    TOML."""
    for key, value in row.items():
        if "." not in key and isinstance(value, Mapping):
            first = f"{key}.{next(iter(value), 'KEY')}"
            raise wrong(path, f'write the key in quotes, "{first}" = VALUE')


def _listed(table: SweepTable, wrong: Wrong) -> list[Cell]:
    path: Keys = ("plan", "cells")
    rows = table.plan.cells
    if table.axes:
        raise wrong(("axes",), "a list of cells has its keys in each cell; leave the axes out")
    if not isinstance(rows, tuple) or not rows:
        raise wrong(path, 'write each as [[plan.cells]] with "KEY" = VALUE lines')
    _check_count(len(rows), path, wrong)
    keys = tuple(rows[0])
    for i, row in enumerate(rows):
        check_quoted(row, (*path, i), wrong)
        if set(row) != set(keys) or not keys:
            odd = sorted(set(row) ^ set(keys)) or ["a key"]
            raise wrong(
                (*path, i), f"every cell has a value of every key; {odd[0]} is not in all of them"
            )
    columns = [
        Source(name, (key,), (name,), rows=tuple((row[key],) for row in rows)).points()
        for key, name in zip(keys, map(column_of, keys), strict=True)
    ]
    if len(set(map(column_of, keys))) != len(keys):
        raise wrong(path, f"two keys have one column: {', '.join(keys)}")
    names = [column_of(key) for key in keys]
    return [Cell(dict(zip(names, points, strict=True))) for points in zip(*columns, strict=True)]


def _latin_hypercube(table: SweepTable, sources: Sequence[Source], wrong: Wrong) -> list[Cell]:
    from scipy.stats import qmc

    count = table.plan.cells
    if not isinstance(count, int):
        raise wrong(("plan", "cells"), "is missing: how many? write cells = 50")
    _check_count(count, ("plan", "cells"), wrong)
    sample = qmc.LatinHypercube(len(sources), rng=table.plan.seed).random(count)
    drawn = [source.drawn(sample[:, i].tolist()) for i, source in enumerate(sources)]
    names = [source.name for source in sources]
    return [Cell(dict(zip(names, points, strict=True))) for points in zip(*drawn, strict=True)]
