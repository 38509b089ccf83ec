# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The registry of algorithms, and the meaning of their rows.

Those of the C core, the kernel's own and users' files enter by it alike: an entry says on which
hosts it runs and which rows it has, so that nobody asks where it is from. Names, units, ranges and
sentences are read from the compiled core; none is written here. A row holds a whole number in its
canonical unit; people write '5 ms', '2 %' or true.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sojourn import _native, units
from sojourn.errors import InputError, nearest
from sojourn.hosts import HOSTS
from sojourn.own import library

Value = bool | int | float | str


@dataclass(frozen=True)
class Unit:
    """How a canonical unit of the core is read and written."""

    label: str
    read: Callable[[str], int]
    write: Callable[[int], Value]
    of_float: Callable[[float], int] | None = None
    base: str = ""  # of a number that means nothing without a unit


@dataclass(frozen=True)
class Scale:
    """What a canonical number stands for, as the core's table has it: a number of the base is
    kept as number * multiply / divide."""

    name: str
    base: str
    multiply: int
    divide: int
    note: str


_Q32 = 2**32 - 1


def _count(text: str) -> int:
    number, unit = units.split(text)
    if unit or number != number.to_integral_value():
        raise units.UnitError(f"{text!r} is not a whole number")
    return int(number)


def _exponent(text: str) -> int:
    """Of a half: `9`, or `2^-9` as the pages have it."""
    return _count(text.strip().removeprefix("2^-"))


def _address(text: str) -> int:
    try:
        return int(ipaddress.IPv4Address(text))
    except ValueError as error:
        raise units.UnitError(f"{text!r} is no IPv4 address, as 192.0.2.1 is") from error


def _packets(text: str) -> int:
    return units.whole(text, units.PKTS, "1000 packets")


def _scaled(
    scale: Scale, base: str, example: str, whole: str, show: Callable[[int], str]
) -> Callable[[str], int]:
    """Reads a quantity of the base that must be a whole number of canonical units."""

    def read(text: str) -> int:
        value = units.convert(text, base, example) * scale.multiply / scale.divide
        if value != value.to_integral_value():
            near = show(round(value))
            raise units.UnitError(f"{text!r} is not a whole number of {whole}; {near} is near")
        return int(value)

    return read


def _share_of(value: float) -> int:
    return min(round(units.Share(value) * 2**32), _Q32)


def _shortest_share(number: int) -> float:
    """With as few digits as read back to the number."""
    if number == _Q32:
        return 1.0
    digits = (float(f"{number / 2**32:.{n}g}") for n in range(1, 12))
    return next((share for share in digits if _share_of(share) == number), number / 2**32)


def _unit(scale: Scale) -> Unit:
    """How numbers of this scale are read and written; by its base alone."""
    if scale.base == "time":
        return Unit("time", units.Duration, lambda v: str(units.Duration(v)), base=units.NS)
    if scale.base == "packets":
        return Unit("packets", _packets, int)
    if scale.base == "size":
        return Unit("bytes", units.Size, lambda v: str(units.Size(v)), base=units.BYTES)
    if scale.base == "rate":
        one = scale.divide // scale.multiply

        def rate(value: int) -> str:
            return str(units.Rate(value * one))

        read = _scaled(scale, units.BITS_PER_S, units.Rate.example, "bytes per second", rate)
        return Unit("rate", read, lambda v: rate(v) if v else 0, base=units.BITS_PER_S)
    if scale.base == "share":
        return Unit("share", lambda t: _share_of(units.Share(t)), _shortest_share, _share_of)
    if scale.base == "frequency":

        def frequency(value: int) -> str:
            return f"{Decimal(value) * scale.divide / scale.multiply:f} Hz"

        read = _scaled(scale, units.HZ, "0.125 Hz", scale.note, frequency)
        return Unit("Hz", read, frequency, base=units.HZ)
    if scale.base == "address":
        return Unit("address", _address, lambda v: str(ipaddress.IPv4Address(v)))
    if scale.name == "log2":
        return Unit("log2", _exponent, int)
    return Unit("" if scale.name == "count" else scale.name, _count, int)


SCALES = {scale[0]: Scale(*scale) for scale in _native.units()}
UNITS = {name: _unit(scale) for name, scale in SCALES.items()}


@dataclass(frozen=True)
class Row:
    """One parameter: what it is called, what it may be, what it means."""

    name: str
    help: str
    unit: str
    kind: str
    default: int
    min: int
    max: int
    choices: tuple[str, ...]
    fixed: bool
    attr: int

    def read(self, value: object) -> int:
        """The canonical number for what a user wrote; UnitError says why there is none."""
        number = self._number(value)
        if not self.min <= number <= self.max:
            raise units.UnitError(f"{value!r} is out of range; allowed: {self.range()}")
        return number

    def _number(self, value: object) -> int:
        if self.kind == "choice":
            if value not in self.choices:
                raise units.UnitError(
                    f"{value!r} is not a choice.{nearest(str(value), self.choices)}"
                )
            return self.choices.index(str(value))
        if self.kind == "bool":
            if not isinstance(value, bool):
                raise units.UnitError(f"{value!r} is not true or false")
            return int(value)
        unit = UNITS[self.unit]
        if isinstance(value, str):
            return unit.read(value)
        if isinstance(value, float) and unit.of_float:
            return unit.of_float(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if SCALES[self.unit].base in ("number", "packets") or value == 0:
                return value
            if unit.of_float:
                return unit.of_float(value)
        if unit.base and isinstance(value, int | float) and not isinstance(value, bool):
            raise units.no_unit(value, unit.base, str(self.write(self.default)))
        raise units.UnitError(f"{value!r} is not a value for {self.name}")

    def write(self, number: int) -> Value:
        """What a user would write for this canonical number."""
        if self.kind == "choice":
            return self.choices[number]
        if self.kind == "bool":
            return bool(number)
        return UNITS[self.unit].write(number)

    def range(self) -> str:
        """The allowed values, as text."""
        if self.kind == "choice":
            return ", ".join(self.choices)
        if self.kind == "bool":
            return "true or false"
        return f"{self.write(self.min)} to {self.write(self.max)}"


@dataclass(frozen=True)
class Algorithm:
    """One entry of the registry."""

    name: str  # in a scenario; of a user's file its path
    brief: str
    source: str
    ecn: bool
    acts: tuple[str, ...]
    samples: bool
    params: tuple[Row, ...]
    stats: tuple[Row, ...]
    queue: tuple[Row, ...] = ()  # the queue's rows with this algorithm's defaults
    probes: bool = False  # it asks for probes, which a node beyond the link must answer
    needs_rate: bool = False  # refused while the row bandwidth is 0
    hosts: tuple[str, ...] = HOSTS
    alone: bool = False  # a queue by itself: without the rows that the queue has around others
    like: str = ""  # the algorithm of the core that this is another form of
    file: library.Library | None = None

    @property
    def rows(self) -> dict[str, Row]:
        """All rows that a queue of it takes: its own and the queue's."""
        return {row.name: row for row in (*self.queue, *self.params)}

    @property
    def engine(self) -> str:
        """What scenarios of the engine call it: content and all."""
        return self.file.engine if self.file else self.name

    @property
    def inside(self) -> str:
        """What it calls itself, in C and in a kernel."""
        return self.file.name if self.file else self.name

    def refusal(self, rows: Mapping[str, int]) -> str:
        """Why no queue can be made of these; empty where one can."""
        # Whether the link's rate is known is the host's to say.
        rate = {"bandwidth": 1} if self.needs_rate else {}
        found = None if self.alone else _native.check(self.engine, {**rate, **rows})
        return f"{found[0]}: {found[1]}" if found and found[0] else found[1] if found else ""


def _row(raw: _native.Row) -> Row:
    return Row(**{**raw, "choices": tuple(raw["choices"])})  # type: ignore[arg-type]


@functools.cache
def algorithms() -> dict[str, Algorithm]:
    """Every algorithm, by name."""
    return {raw["name"]: _entry(raw["name"], raw) for raw in _native.algorithms()}


def _entry(name: str, raw: _native.Algorithm, file: library.Library | None = None) -> Algorithm:
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
    """The rows every queue has, whatever its algorithm."""
    return {raw["name"]: _row(raw) for raw in _native.queue_rows()}


def every() -> dict[str, Algorithm]:
    """Those of the core, and then the kernel's own."""
    from sojourn.linux.stock import STOCK

    return {**algorithms(), **STOCK}


# Users' files, under what the engine's scenarios call them.
_own: dict[str, Algorithm] = {}


def find(name: str) -> Algorithm:
    """The algorithm of this name or in this file, or an InputError that names the nearest one."""
    if name in _own:
        return _own[name]
    if library.is_file(name):
        return _remember(library.build(library.absolute(name)))
    known = every()
    if name not in known:
        meant = _without_preset(name) or _fair(name) or nearest(name, known)
        raise InputError(f"unknown algorithm '{name}'.{meant}")
    return known[name]


def flows_possible(name: str) -> bool:
    """Whether this algorithm of the core may run in many flows."""
    return not _native.check(name, {"flows": 2, "bandwidth": 1})


def _without_preset(name: str) -> str:
    """A preset is rows of a queue; where only an algorithm is wanted it says nothing."""
    head = name.partition("@")[0]
    return f" Without a preset it is '{head}'." if "@" in name and head in every() else ""


def _fair(name: str) -> str:
    """A name such as fq_red, after Linux's names for an algorithm in each of many flows."""
    match = re.fullmatch(r"fq[_ -]?(\w+)", name)
    if not match or match[1] not in algorithms() or f"fq_{match[1]}" in algorithms():
        return ""
    if not flows_possible(match[1]):
        return ""
    return f" It is '{match[1]}' with flows = 1024, after --aqm '{match[1]}:flows=1024'."


def _remember(file: library.Library) -> Algorithm:
    if file.engine not in _own or _own[file.engine].file != file:
        _own[file.engine] = _entry(str(file.file), file.raw, file)
    return _own[file.engine]


def libraries(scenario: Mapping[str, Any]) -> tuple[library.Library, ...]:
    """Users' files in a scenario of the engine."""
    found = (find(link["queue"]["algorithm"]).file for link in scenario["links"])
    return tuple(dict.fromkeys(file for file in found if file))


def adopt(files: Iterable[library.Library]) -> None:
    """Have, in a worker, what another process has compiled."""
    for file in files:
        library.adopt(file)
        _remember(file)


def shown_names(names: Iterable[str]) -> dict[str, str]:
    """What tables call these algorithms: of a user's file its stem, unless that is the name of
    another one too; then its path."""
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
    """All rows that a queue of this algorithm takes: its own and the queue's."""
    return find(name).rows


def read_rows(name: str, values: Mapping[str, object]) -> dict[str, int]:
    """Canonical numbers for a queue's parameters; UnitError begins with the row's name."""
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
