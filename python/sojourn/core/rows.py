# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Rows of algorithms: parameters and statistics, and the meaning of their numbers.

A row holds a whole number in its canonical unit; people write '5 ms', '2 %' or true. Units and
their scales are read from the compiled core; none is written here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from sojourn import _native
from sojourn.core import units
from sojourn.core.errors import nearest, written

Value = bool | int | float | str


@dataclass(frozen=True)
class Unit:
    """The functions that read and write numbers of a canonical unit of the core."""

    label: str
    read: Callable[[str], int]
    write: Callable[[int], Value]
    of_float: Callable[[float], int] | None = None
    base: str = ""  # where a number means nothing without a unit


@dataclass(frozen=True)
class Scale:
    """The meaning of a canonical number, from the core's table: a number of the base is kept as
    number * multiply / divide."""

    name: str
    base: str
    multiply: int
    divide: int
    note: str


_Q32 = 2**32 - 1


def _exponent(text: str) -> int:
    """Read the exponent of one half: `9`, or `2^-9` as pages print it."""
    return units.count(text.strip().removeprefix("2^-"))


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
    """Make a function that reads a quantity of the base as a whole number of canonical units."""

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
    """Find the share with the fewest digits that reads back to the number."""
    if number == _Q32:
        return 1.0
    digits = (float(f"{number / 2**32:.{n}g}") for n in range(1, 12))
    return next((share for share in digits if _share_of(share) == number), number / 2**32)


def _unit(scale: Scale) -> Unit:
    """Choose how to read and write numbers of this scale: by its base, and for bare numbers by its
    name."""
    if scale.base == "time":
        return Unit("time", units.Duration, lambda v: str(units.Duration(v)), base=units.NS)
    if scale.base == "packets":
        return Unit("packets", _packets, int)
    if scale.base == "size":
        return Unit("bytes", units.Size, lambda v: str(units.Size(v)), base=units.BYTES)
    if scale.base == "rate":
        bits = scale.divide // scale.multiply

        def rate(value: int) -> str:
            return str(units.Rate(value * bits))

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
    return Unit("" if scale.name == "count" else scale.name, units.count, int)


SCALES = {scale[0]: Scale(*scale) for scale in _native.units()}
UNITS = {name: _unit(scale) for name, scale in SCALES.items()}


@dataclass(frozen=True)
class Row:
    """One parameter or statistic: its name, its values and its meaning."""

    name: str
    help: str
    unit: str
    kind: str
    default: int
    min: int
    max: int
    choices: tuple[str, ...] = ()
    fixed: bool = False
    attr: int = 0

    def read(self, value: object) -> int:
        """Convert a user's value to the canonical number; raise UnitError if it is not allowed."""
        number = self._number(value)
        if not self.min <= number <= self.max:
            raise units.UnitError(f"{written(value)} is out of range; allowed: {self.range()}")
        return number

    def _number(self, value: object) -> int:
        if self.kind == "choice":
            if value not in self.choices:
                raise units.UnitError(
                    f"{written(value)} is not a choice.{nearest(str(value), self.choices)}"
                )
            return self.choices.index(str(value))
        if self.kind == "bool":
            if not isinstance(value, bool):
                raise units.UnitError(f"{written(value)} is not true or false")
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
        raise units.UnitError(f"{written(value)} is not a value for {self.name}")

    def write(self, number: int) -> Value:
        """Convert a canonical number to the value that a user would write."""
        if self.kind == "choice":
            return self.choices[number]
        if self.kind == "bool":
            return bool(number)
        return UNITS[self.unit].write(number)

    def range(self) -> str:
        """Describe the allowed values."""
        if self.kind == "choice":
            return ", ".join(self.choices)
        if self.kind == "bool":
            return "true or false"
        return f"{self.write(self.min)} to {self.write(self.max)}"
