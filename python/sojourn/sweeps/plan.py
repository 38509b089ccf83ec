# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The cells of a file, from its axes and its plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sojourn.result.metrics import Metric
from sojourn.scenario.toml import Keys
from sojourn.sweeps import quantity
from sojourn.sweeps.axis import Axis, Cell, grid
from sojourn.sweeps.model import MAX_CELLS, SweepTable
from sojourn.sweeps.source import Source, Wrong, axes, column_of

# Columns of every sweep, beside the metrics.
TAKEN = ("cell", "aqm", "host", "tested", "queue", "window", "seed", "seeds")


def cells(table: SweepTable, metrics: Sequence[Metric], wrong: Wrong) -> tuple[Cell, ...]:
    """Make every cell of the plan, each once."""
    kind = table.plan.kind
    if kind == "list":
        found = _listed(table, wrong)
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
            found = list(grid([Axis(source.name, source.points()) for source in sources]))
        else:
            found = _latin_hypercube(table, sources, wrong)
    taken = {*TAKEN, *(metric.name for metric in metrics)}
    for column in found[0].columns:
        if column in taken:
            raise wrong(
                ("axes",), f"there is a column '{column}' already; give the axis another name"
            )
    if kind != "grid":  # a grid's axes have each value once
        few = "ask for fewer cells, or for plan = 'grid'"
        remedy = "leave one of them out" if kind == "list" else few
        _check_distinct(found, ("plan", "cells"), remedy, wrong)
    return tuple(found)


def _length(source: Source) -> int:
    return source.steps or len(source.named) or len(source.rows)


def _check_count(count: int, path: Keys, wrong: Wrong) -> None:
    if not 1 <= count <= MAX_CELLS:
        raise wrong(
            path,
            f"{count} cells; allowed: 1 to {MAX_CELLS}. Fewer values, or "
            'plan = { kind = "latin_hypercube", cells = N }, make fewer',
        )


def _check_distinct(found: Sequence[Cell], path: Keys, remedy: str, wrong: Wrong) -> None:
    """Check that no two cells have the same meaning: such a cell would count twice."""
    seen: dict[object, int] = {}
    for number, cell in enumerate(found, start=1):
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
    found = [
        Source(name, (key,), (name,), rows=tuple((row[key],) for row in rows)).points()
        for key, name in zip(keys, map(column_of, keys), strict=True)
    ]
    if len(set(map(column_of, keys))) != len(keys):
        raise wrong(path, f"two keys have one column: {', '.join(keys)}")
    names = [column_of(key) for key in keys]
    return [Cell(dict(zip(names, points, strict=True))) for points in zip(*found, strict=True)]


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
