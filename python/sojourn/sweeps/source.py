# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""An axis as a file has it: its keys, and its values.

It has one key, several keys that move together, or named values that set keys. Its values are a
list, or lie between two ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sojourn.core import units
from sojourn.core.errors import InputError
from sojourn.scenario.toml import Keys
from sojourn.scenario.variant import write_value
from sojourn.sweeps import quantity
from sojourn.sweeps.axis import Point
from sojourn.sweeps.model import AxisTable
from sojourn.sweeps.quantity import Span

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
        found = [
            quantity.column(self.keys[i], [row[i] for row in rows])
            for i in range(len(self.columns))
        ]
        return tuple(
            Point(
                ", ".join(map(write_value, row)),
                dict(zip(self.keys, row if len(row) > 1 else row * len(self.keys), strict=True)),
                {
                    f"{name}{column.suffix}": column.values[n]
                    for name, column in zip(self.columns, found, strict=True)
                },
            )
            for n, row in enumerate(rows)
        )


def axes(tables: Sequence[AxisTable], wrong: Wrong) -> list[Source]:
    """Read each axis, and check it by itself and against the others."""
    found: list[Source] = []
    for i, table in enumerate(tables):
        path: Keys = ("axes", i)
        source = _source(table, path, wrong)
        for other in found:
            if both := set(map(same_key, source.keys)) & set(map(same_key, other.keys)):
                raise wrong(path, f"'{both.pop()}' is varied by two axes; leave one of them out")
            if both := {source.name, *source.columns} & {other.name, *other.columns}:
                raise wrong(path, f"two axes are called '{both.pop()}'; give one a `name`")
        found.append(source)
    return found


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
                    f"value {i + 1}, {value!r}, is not a list of {len(keys)}, one for each key",
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
