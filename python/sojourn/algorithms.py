# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The algorithms of the C core, and the meaning of their rows.

Names, units, ranges and sentences are read from the compiled core; none is written here.
A row holds a whole number in its canonical unit; people write '5 ms', '2 %' or true.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from sojourn import _native, units
from sojourn.errors import InputError, nearest

Value = bool | int | float | str


@dataclass(frozen=True)
class Unit:
    """How a canonical unit of the core is read and written."""

    label: str
    read: Callable[[str], int]
    write: Callable[[int], Value]
    of_float: Callable[[float], int] | None = None
    base: str = ""  # of a number that means nothing without a unit


_Q32 = 2**32 - 1


def _count(text: str) -> int:
    number, unit = units.split(text)
    if unit or number != number.to_integral_value():
        raise units.UnitError(f"{text!r} is not a whole number")
    return int(number)


def _packets(text: str) -> int:
    return units.whole(text, units.PKTS, "1000 packets")


def _bytes_per_s(text: str) -> int:
    value = units.convert(text, units.BITS_PER_S, units.Rate.example) / 8
    if value != value.to_integral_value():
        raise units.UnitError(f"{text!r} is not a whole number of bytes per second")
    return int(value)


def _share_of(value: float) -> int:
    return round(units.Share(value) * _Q32)


def _shortest_share(number: int) -> float:
    """With as few digits as read back to the number."""
    digits = (float(f"{number / _Q32:.{n}g}") for n in range(1, 12))
    return next((share for share in digits if _share_of(share) == number), number / _Q32)


def _sixteenths(text: str) -> int:
    value = units.convert(text, units.HZ, "0.125 Hz") * 16
    if value != value.to_integral_value():
        raise units.UnitError(f"{text!r} is not a whole number of sixteenths of a hertz")
    return int(value)


UNITS: dict[str, Unit] = {
    "count": Unit("", _count, int),
    "log2": Unit("log2", _count, int),
    "ns": Unit(
        "time", lambda t: units.Duration(t), lambda v: str(units.Duration(v)), base=units.NS
    ),
    "pkts": Unit("packets", _packets, int),
    "bytes": Unit("bytes", lambda t: units.Size(t), lambda v: str(units.Size(v)), base=units.BYTES),
    "bytes/s": Unit(
        "rate",
        _bytes_per_s,
        lambda v: str(units.Rate(v * 8)) if v else 0,
        base=units.BITS_PER_S,
    ),
    "q32": Unit("share", lambda t: _share_of(units.Share(t)), _shortest_share, _share_of),
    "hz/16": Unit("Hz", _sixteenths, lambda v: f"{Decimal(v) / 16:f} Hz", base=units.HZ),
}


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
            if self.unit in ("count", "log2", "pkts") or value == 0:
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
    """One algorithm of the core."""

    name: str
    brief: str
    source: str
    ecn: bool
    acts: tuple[str, ...]
    samples: bool
    params: tuple[Row, ...]
    stats: tuple[Row, ...]


def _row(raw: _native.Row) -> Row:
    return Row(**{**raw, "choices": tuple(raw["choices"])})  # type: ignore[arg-type]


@functools.cache
def algorithms() -> dict[str, Algorithm]:
    """Every algorithm, by name."""
    return {
        raw["name"]: Algorithm(
            name=raw["name"],
            brief=raw["brief"],
            source=raw["source"],
            ecn=raw["marks"],
            acts=tuple(raw["acts"]),
            samples=raw["samples"],
            params=tuple(map(_row, raw["params"])),
            stats=tuple(map(_row, raw["stats"])),
        )
        for raw in _native.algorithms()
    }


@functools.cache
def queue_rows() -> dict[str, Row]:
    """The rows every queue has, whatever its algorithm."""
    return {raw["name"]: _row(raw) for raw in _native.queue_rows()}


def every() -> dict[str, Algorithm]:
    """Those of the core, and then the kernel's own."""
    from sojourn.linux.stock import STOCK

    return {**algorithms(), **STOCK}


def find(name: str) -> Algorithm:
    """The algorithm of this name, or an InputError that names the nearest one."""
    known = every()
    if name not in known:
        raise InputError(f"unknown algorithm '{name}'.{_fair(name) or nearest(name, known)}")
    return known[name]


def _fair(name: str) -> str:
    """Linux has kinds of their own for an algorithm in each of many flows, such as fq_codel."""
    match = re.fullmatch(r"fq[_ -]?(\w+)", name)
    if not match or match[1] not in algorithms() or _native.check(match[1], {"flows": 1024}):
        return ""
    stock = f"kernel:fq_{match[1]}"
    beside = f"; the kernel's own is '{stock}', with --host linux" if stock in every() else ""
    return f" It is '{match[1]}' with flows = 1024, after --aqm '{match[1]}:flows=1024'{beside}."


def rows_of(name: str) -> dict[str, Row]:
    """All rows that a queue of this algorithm takes: its own and the queue's."""
    from sojourn.linux.stock import is_stock

    own = {row.name: row for row in find(name).params}
    return own if is_stock(name) else queue_rows() | own


def read_rows(name: str, values: Mapping[str, object]) -> dict[str, int]:
    """Canonical numbers for a queue's parameters; UnitError begins with the row's name."""
    known = rows_of(name)
    rows: dict[str, int] = {}
    for key, value in values.items():
        if key not in known:
            raise units.UnitError(f"{key}: '{name}' has no such parameter.{nearest(key, known)}")
        try:
            rows[key] = known[key].read(value)
        except units.UnitError as error:
            raise units.UnitError(f"{key}: {error}") from error
    from sojourn.linux.stock import is_stock

    refusal = None if is_stock(name) else _native.check(name, rows)
    if refusal:
        row, sentence, _, _ = refusal
        where = f"{row}: " if row else ""
        raise units.UnitError(f"{where}{sentence}")
    return rows
