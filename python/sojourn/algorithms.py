# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The registry of algorithms.

The algorithms of the C core, the kernel's own and users' files enter by it alike. An entry has its
hosts and its rows; therefore no other code asks for its origin. Names, ranges and sentences are
read from the compiled core; none is written here.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sojourn import _native
from sojourn.core import units
from sojourn.core.algorithm import Algorithm, Library
from sojourn.core.errors import InputError, nearest
from sojourn.core.kernel_qdiscs import STOCK
from sojourn.core.rows import Row
from sojourn.user_aqm import library

__all__ = [
    "Algorithm",
    "Row",
    "adopt",
    "algorithms",
    "every",
    "find",
    "flows_possible",
    "libraries",
    "queue_rows",
    "read_rows",
    "rows_of",
    "shown_names",
]


def _row(raw: _native.Row) -> Row:
    return Row(**{**raw, "choices": tuple(raw["choices"])})  # type: ignore[arg-type]


@functools.cache
def algorithms() -> dict[str, Algorithm]:
    """Return every algorithm of the core, by name."""
    return {raw["name"]: _entry(raw["name"], raw) for raw in _native.algorithms()}


def _entry(name: str, raw: _native.Algorithm, file: Library | None = None) -> Algorithm:
    return Algorithm(
        name=name,
        brief=raw["brief"],
        source=raw["source"],
        ecn=raw["marks"],
        acts=tuple(raw["acts"]),
        samples=raw["samples"],
        probes=raw["probes"],
        needs_rate=raw["needs_rate"],
        params=tuple(map(_row, raw["params"])),
        stats=tuple(map(_row, raw["stats"])),
        queue=tuple(
            replace(row, default=raw["defaults"][key]) for key, row in queue_rows().items()
        ),
        file=file,
    )


@functools.cache
def queue_rows() -> dict[str, Row]:
    """Return the rows that every queue has, with any algorithm."""
    return {raw["name"]: _row(raw) for raw in _native.queue_rows()}


def every() -> dict[str, Algorithm]:
    """Return the algorithms of the core, and then the kernel's own, by name."""
    return {**algorithms(), **STOCK}


# Users' files, by their names in scenarios of the engine.
_own: dict[str, Algorithm] = {}


def find(name: str) -> Algorithm:
    """Find the algorithm of this name or in this file; raise InputError with the nearest name."""
    if name in _own:
        return _own[name]
    if library.is_file(name):
        return _remember(library.find(name))
    known = every()
    if name not in known:
        meant = _without_preset(name) or _fair(name) or nearest(name, known)
        raise InputError(f"unknown algorithm '{name}'.{meant}")
    return known[name]


def flows_possible(name: str) -> bool:
    """Tell whether this algorithm of the core may run in many flows."""
    return not _native.check(name, {"flows": 2, "bandwidth": 1})


def _without_preset(name: str) -> str:
    """Suggest a name without its preset. A preset is rows of a queue; where only an algorithm is
    wanted it has no meaning."""
    head = name.partition("@")[0]
    return f" Without a preset it is '{head}'." if "@" in name and head in every() else ""


def _fair(name: str) -> str:
    """Suggest flows for a name such as fq_red, after Linux's names for an algorithm in each of many
    flows."""
    match = re.fullmatch(r"fq[_ -]?(\w+)", name)
    if not match or match[1] not in algorithms() or f"fq_{match[1]}" in algorithms():
        return ""
    if not flows_possible(match[1]):
        return ""
    return f" It is '{match[1]}' with flows = 1024, after --aqm '{match[1]}:flows=1024'."


def _remember(file: Library) -> Algorithm:
    if file.engine not in _own or _own[file.engine].file != file:
        _own[file.engine] = _entry(str(file.file), file.raw, file)
    return _own[file.engine]


def libraries(scenario: Mapping[str, Any]) -> tuple[Library, ...]:
    """List the users' files in a scenario of the engine."""
    found = (find(link["queue"]["algorithm"]).file for link in scenario["links"])
    return tuple(dict.fromkeys(file for file in found if file))


def adopt(files: Iterable[Library]) -> None:
    """Load, in a worker, the libraries that another process has compiled."""
    for file in files:
        library.adopt(file)
        _remember(file)


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """Name these algorithms for tables. A user's file has its stem, or its path where another
    algorithm has that name too."""
    entries = {name: find(name) for name in names}
    files = {entry.file.file for entry in entries.values() if entry.file}
    stems = Counter(file.stem for file in files)
    shown = {}
    for name, entry in entries.items():
        stem = entry.file.file.stem if entry.file else ""
        alone = stems[stem] == 1 and stem not in algorithms()
        shown[name] = name if not entry.file else stem if alone else library.shown(entry.file.file)
    return shown


def rows_of(name: str) -> dict[str, Row]:
    """Return all rows that a queue of this algorithm takes: its own and the queue's."""
    return find(name).rows


def read_rows(name: str, values: Mapping[str, object]) -> dict[str, int]:
    """Read a queue's parameters as canonical numbers; the text of a UnitError begins with the row's
    name."""
    algorithm = find(name)
    known = algorithm.rows
    rows: dict[str, int] = {}
    for key, value in values.items():
        if key not in known:
            raise units.UnitError(f"{key}: '{name}' has no such parameter.{nearest(key, known)}")
        try:
            rows[key] = known[key].read(value)
        except units.UnitError as error:
            raise units.UnitError(f"{key}: {error}") from error
    if refusal := algorithm.refusal(rows):
        raise units.UnitError(refusal)
    return rows
