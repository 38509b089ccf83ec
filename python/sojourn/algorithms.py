# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The registry of algorithms.

The algorithms of the C core, the kernel's own and users' files enter by it alike. An entry has its
hosts and its rows; therefore no other code asks for its origin. Names, ranges and sentences are
read from the compiled core; none is written here.

A preset is rows of an algorithm under a name, 'red@ns2', as data in presets/ALGORITHM@NAME.toml:

about      one sentence
source     where the values are from; each row has a comment with its line, variable or derivation
differs    properties of the source that rows cannot express
[rows]     as in a scenario

It is read where it is named, and is replaced by its rows. Scenarios and results hold these rows; a
later change of the file does not reach them.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn import _native
from sojourn.core import units
from sojourn.core.algorithm import STOCK, Algorithm, Library
from sojourn.core.errors import InputError, nearest
from sojourn.core.rows import Row, Value
from sojourn.user_aqm import library

__all__ = [
    "Algorithm",
    "Preset",
    "Row",
    "adopt",
    "algorithms",
    "comments",
    "every",
    "find",
    "find_preset",
    "flows_possible",
    "presets",
    "presets_of",
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
        meant = _without_preset(name) or _fair(name) or _kernels(name) or nearest(name, known)
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


def _kernels(name: str) -> str:
    """Suggest the algorithm that only Linux has."""
    linux = f"kernel:{name}"
    return f" Linux has it: '{linux}', with --host linux." if linux in STOCK else ""


def _remember(file: Library) -> Algorithm:
    if file.engine not in _own or _own[file.engine].file != file:
        _own[file.engine] = _entry(str(file.file), file.raw, file)
    return _own[file.engine]


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
    rows = algorithm.rows
    numbers: dict[str, int] = {}
    for key, value in values.items():
        if key not in rows:
            raise units.UnitError(f"{key}: '{name}' has no such parameter.{nearest(key, rows)}")
        try:
            numbers[key] = rows[key].read(value)
        except units.UnitError as error:
            by_bytes = f"{key}_bytes"
            also = f"; '{by_bytes}' counts bytes" if by_bytes in rows else ""
            raise units.UnitError(f"{key}: {error}{also}") from error
    if refusal := algorithm.refusal(numbers):
        raise units.UnitError(refusal)
    return numbers


_PRESETS = Path(__file__).parent / "presets"
_COMMENTED = re.compile(r"^(\w+) = [^#\n]*# (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Preset:
    """Rows under a name."""

    algorithm: str
    name: str
    about: str
    source: str
    rows: Mapping[str, Value]
    file: Path
    differs: Sequence[str] = ()

    @property
    def spec(self) -> str:
        """Return the text that chooses it: red@ns2."""
        return f"{self.algorithm}@{self.name}"

    def sources(self) -> dict[str, str]:
        """Read the comment of each row."""
        return comments(self.file)


def comments(file: Path) -> dict[str, str]:
    """Read the comment behind each key in a file of data."""
    return dict(_COMMENTED.findall(file.read_text(encoding="utf-8")))


@functools.cache
def presets() -> dict[str, Preset]:
    """Return every preset, by the text that chooses it."""
    listed = {}
    for file in sorted(_PRESETS.glob("*@*.toml")):
        algorithm, _, name = file.stem.partition("@")
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        listed[file.stem] = Preset(algorithm, name, file=file, **data)
    return listed


def presets_of(algorithm: str) -> list[Preset]:
    """List the presets of one algorithm."""
    return [preset for preset in presets().values() if preset.algorithm == algorithm]


def find_preset(text: str) -> tuple[str, Preset | None]:
    """Find the algorithm of 'red' or 'red@ns2', and the preset if one is named. Raise InputError
    for an unknown one."""
    if "@" not in text or library.is_file(text):
        return find(text).name, None
    algorithm, _, name = (part.strip() for part in text.partition("@"))
    algorithm = find(algorithm).name
    if preset := presets().get(f"{algorithm}@{name}"):
        return algorithm, preset
    names = [preset.name for preset in presets_of(algorithm)]
    if not names:
        having = ", ".join(dict.fromkeys(preset.algorithm for preset in presets().values()))
        raise InputError(f"'{algorithm}' has no presets; these have some: {having}")
    meant = nearest(name, names)
    valid = "" if "Valid names" in meant else f" Presets of '{algorithm}': {', '.join(names)}."
    raise InputError(f"'{algorithm}' has no preset '{name}'.{meant}{valid}")
