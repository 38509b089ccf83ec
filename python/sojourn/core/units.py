# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Quantities as people write them, held as integers in one base unit.

Duration in ns, Rate in bit/s, Size in bytes, Share (a probability) as a float. The first three
are ints, so they compare and add like numbers; `str()` gives text that reads back to the same.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import ClassVar, Self

from pydantic_core import PydanticCustomError, core_schema

from sojourn.core.errors import nearest, written

# The sizes of units in the first unit of their kind. Prefixes are not generated: tc's "mbit" (10^6)
# and the milli of SI would collide.
_SIZES: dict[str, dict[str, int]] = {
    "time": {
        "ns nsec": 1,
        "us µs usec": 10**3,
        "ms msec": 10**6,
        "s sec second seconds": 10**9,
        "min minute minutes": 60 * 10**9,
        "h hour hours": 3600 * 10**9,
    },
    "data": {
        "bit bits": 1,
        **{"kbit Kbit": 10**3, "Mbit mbit": 10**6, "Gbit gbit": 10**9, "Tbit tbit": 10**12},
        **{"Kibit": 2**10, "Mibit": 2**20, "Gibit": 2**30, "Tibit": 2**40},
        "B byte bytes": 8,
        **{"kB KB": 8 * 10**3, "MB": 8 * 10**6, "GB": 8 * 10**9},
        **{"KiB": 8 * 2**10, "MiB": 8 * 2**20, "GiB": 8 * 2**30},
    },
    "packets": {"pkt pkts packet packets": 1},
    "share": {"percent": 1},
    "frequency": {"Hz": 1},
}
# No rate is given per minute or hour: the letter beside the right one was struck.
_LONG = {unit for units, ns in _SIZES["time"].items() if ns > 10**9 for unit in units.split()}
_UNITS = {
    unit: (kind, size)
    for kind, sizes in _SIZES.items()
    for units, size in sizes.items()
    for unit in units.split()
}
# RFC-minded people write Mbps and mean bits; tc reads the very same word as bytes.
_BPS = re.compile(r"^[kKmMgGtT]?i?[bB]ps$")
# A prefix without a unit.
_PREFIX = re.compile(r"^[kKmMgGtT]i?$")
# tc's sizes are bytes with prefixes of 1024; elsewhere `Mb` means bits.
_TC_SIZE = re.compile(r"^[kKmMgG]?b$")
_QUANTITY = re.compile(
    r"^\s*([+-]?(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*$"
)

# A number that begins a text and has a comma.
DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]")

NS = "ns"
BITS_PER_S = "bit/s"
BYTES = "B"
PKTS = "pkt"
SHARE = "percent"
HZ = "Hz"

# Likely units of a number without one.
_LIKELY = {
    NS: ("s", "ms"),
    BITS_PER_S: ("Mbit/s", "kbit/s"),
    BYTES: ("kB", "B"),
    PKTS: ("packets",),
    SHARE: ("%",),
    HZ: ("Hz",),
}


class UnitError(ValueError):
    """A text that is not a quantity of the expected kind."""


def split(text: str, example: str = "50 ms") -> tuple[Decimal, str]:
    """Split a quantity into number and unit: '50 ms' -> (50, 'ms'). Raise UnitError for other
    text, whose sentence shows `example`."""
    if DECIMAL_COMMA.match(text):
        raise UnitError(
            f"{text!r} has a comma; write a point before decimals, and nothing between thousands"
        )
    # A keyboard's Greek mu is another letter than the sign for micro.
    match = _QUANTITY.match(text.replace("\N{GREEK SMALL LETTER MU}", "\N{MICRO SIGN}"))
    unread = f"{text!r} is not a number with a unit; write it as {example!r}"
    if not match:
        raise UnitError(unread)
    try:
        return Decimal(match[1].replace("_", "")), match[2].replace("%", "percent")
    except InvalidOperation as error:
        raise UnitError(unread) from error


def count(text: str) -> int:
    """Read a whole number without a unit: '10'. Raise UnitError for other text."""
    unread = UnitError(f"{text!r} is not a whole number, such as 10")
    # int() and isdigit() take the digits of every script.
    if not re.search(r"[0-9]\s*$", text):
        raise unread
    number, unit = split(text)
    # An int of a million digits takes long to make.
    if unit or number.adjusted() > 99 or number != number.to_integral_value():
        raise unread
    return int(number)


def convert(text: str, base: str, example: str) -> Decimal:
    """Convert `text` to a number of `base` units; the sentence of a UnitError shows `example`."""
    number, unit = split(text, example)
    if not unit:
        raise no_unit(text, base, example)
    factor = _factor(unit, base, example)
    if isinstance(factor, str):
        raise UnitError(f"{text!r}{factor}")
    exact, most = factor
    if number.copy_abs() >= most:
        raise _too_large(repr(text), base)
    return number * exact.numerator / exact.denominator


def _too_large(said: str, base: str) -> UnitError:
    return UnitError(f"{said} is more than the engine can hold; allowed: below 2^64 {base}")


def _either(prefix: str, base: str) -> str:
    """Name the units with this prefix that may have been meant; empty where there are none. tc
    reads `16k` as 16 KiB."""
    letter = prefix[:1]
    large = "k" if letter in ("k", "K") else letter.upper()
    uses = {
        BITS_PER_S: {f"{large}bit/s": " for bits", f"{large}B/s": " for bytes"},
        BYTES: {f"{large}B": " for 1000s of bytes", f"{large.upper()}iB": " for 1024s"},
        NS: {"ms": "", "min": ""} if prefix == "m" else {},
        PKTS: {"packets": " behind the number in full"},
    }
    units = uses.get(base, {}).items()
    return " or ".join(unit + use for unit, use in units if unit.split("/")[0] in _UNITS)


# A list may have hundreds of thousands of times, but only a unit or two.
@functools.lru_cache(maxsize=256)
def _factor(unit: str, base: str, example: str) -> tuple[Fraction, Fraction] | str:
    """Find how many `base` units a `unit` has, and the least number of it that is too large. Return
    the end of an error's sentence if the unit is wrong."""
    for word in re.split(r"[\s/*]+", unit):
        if _BPS.match(word):
            return (
                f": '{word}' is ambiguous, because tc reads it as bytes per second; "
                "write Mbit/s for bits or MB/s for bytes"
            )
        if _TC_SIZE.match(word):
            prefix = word[:-1]
            if base == BITS_PER_S:
                return f": '{word}' may be bits or bytes; write {_either(prefix, base)}"
            its = f"{prefix.upper()}iB" if prefix else "B"
            return (
                f": '{word}' is ambiguous, because tc reads it as bytes; "
                f"write {its} for its bytes or {prefix}bit for bits"
            )
        if _PREFIX.match(word) and (units := _either(word, base)):
            return f": '{word}' is a prefix without a unit; write {units}"
        if word not in _UNITS:
            kinds = _measure(base)[0].split("/")
            known = [unit for unit, (kind, _) in _UNITS.items() if kind in kinds]
            return f": unknown unit '{word}'.{nearest(word, known)}"
    # tc's word for a rate: 100mbit
    per_second = base == BITS_PER_S and re.fullmatch(r"[kKmMgGtT]?i?bit", unit)
    (kind, size), (wanted, base_size) = (
        _measure(f"{unit}/s" if per_second else unit),
        _measure(base),
    )
    if kind != wanted:
        return f" is in '{unit}'; write it as {example!r}"
    if base == BITS_PER_S and unit.rpartition("/")[2].strip() in _LONG:
        return f": unknown unit '{unit}' of a rate, which is per second; write it as {example!r}"
    exact = size / base_size
    return exact, 2**64 / exact


def measure(text: str) -> tuple[str, Fraction]:
    """Find the kind of a quantity ('time', 'data', 'data/time', 'packets', 'share', 'frequency')
    and its size in the first unit of that kind. Raise UnitError if it has no known unit."""
    number, unit = split(text)
    if re.fullmatch(r"[kKmMgGtT]?i?bit", unit):
        # tc writes a rate as 100mbit; only its use distinguishes it from an amount of data.
        return "data", Fraction(number) * _measure(unit)[1]
    kind, size = _measure(unit)
    if not kind or "" in kind.split("/"):
        raise UnitError(f"{text!r} has no unit that is known")
    return kind, Fraction(number) * size


def no_unit(value: object, base: str, example: str) -> UnitError:
    """Make the error for a value without a unit; for a number it names the likely units."""
    wanted: tuple[str, ...] = (example,)
    if isinstance(value, str):
        wanted = tuple(f"{value.strip()} {unit}" for unit in _LIKELY[base])
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        # So many Mbit/s are those of no link: a number as large is in the base unit.
        is_base = value >= 1e5 and base in (NS, BITS_PER_S, BYTES)
        units = (base,) if is_base else _LIKELY[base]
        wanted = tuple(f"{value} {unit}" for unit in units)
    choices = " or ".join(map(repr, wanted))
    return UnitError(f"{written(value)} has no unit; write it as {choices}")


def _measure(unit: str) -> tuple[str, Fraction]:
    """Find the kind of 'bit' or 'bit/s' and its size; an unknown word has the kind ''."""
    kinds, sizes = zip(
        *(_UNITS.get(word.strip(), ("", 1)) for word in unit.split("/")), strict=True
    )
    if len(sizes) == 1:
        return kinds[0], Fraction(sizes[0])
    if len(sizes) == 2:
        return f"{kinds[0]}/{kinds[1]}", Fraction(*sizes)
    return "", Fraction(1)


def whole(text: str, base: str, example: str) -> int:
    """Convert `text` as `convert` does, but raise UnitError unless the result is whole."""
    value = convert(text, base, example)
    if value != value.to_integral_value():
        raise UnitError(f"{text!r} is not a whole number of {base}; {round(value)} {base} is near")
    return int(value)


class _Written:
    """The base of all quantities: pydantic reads them from text and writes them with `encode`."""

    encode: ClassVar[Callable[[object], object]]

    @classmethod
    def from_value(cls, value: object) -> Self:
        """Make the quantity from a value, or raise UnitError."""
        raise NotImplementedError

    @classmethod
    def _read(cls, value: object) -> Self:
        try:
            return cls.from_value(value)
        except UnitError as error:
            raise PydanticCustomError("unit", "{reason}", {"reason": str(error)}) from error

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: Callable[[object], core_schema.CoreSchema]
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._read,
            serialization=core_schema.plain_serializer_function_ser_schema(cls.encode),
        )


class _Quantity(_Written, int):
    """An integer in a base unit, read from and written as text."""

    encode = str
    base: ClassVar[str]
    example: ClassVar[str]
    zero: ClassVar[str]
    least: ClassVar[str] = "0"
    steps: ClassVar[tuple[tuple[int, str], ...]]

    def __new__(cls, value: str | int) -> Self:
        number = whole(value, cls.base, cls.example) if isinstance(value, str) else value
        if number < 0:
            raise UnitError(f"{written(value)} is negative; allowed: {cls.least} and more")
        if number >= 2**64:
            raise _too_large(written(value), cls.base)
        return super().__new__(cls, number)

    def __str__(self) -> str:
        """Write an exact text: in the largest unit of which it has at least one."""
        value = int(self)
        for size, unit in self.steps:
            if value >= size:
                whole, rest = divmod(value, size)
                decimals = f"{rest:0{len(str(size)) - 1}d}".rstrip("0") if rest else ""
                return f"{whole}{'.' if decimals else ''}{decimals} {unit}"
        return self.zero

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self}')"

    @classmethod
    def from_value(cls, value: object) -> Self:
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, int) and not isinstance(value, bool) and value == 0:
            return cls(0)
        raise no_unit(value, cls.base, cls.example)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: object
    ) -> dict[str, object]:
        return {
            "description": f"a number with a unit, such as '{cls.example}'",
            "anyOf": [{"type": "string", "pattern": r"^\s*[0-9._eE+-]+\s*\S"}, {"const": 0}],
            "examples": [cls.example],
        }


class Duration(_Quantity):
    """A length of time: '50 ms'. An int of nanoseconds."""

    base = NS
    example = "50 ms"
    zero = "0 s"
    steps = ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns"))


class Rate(_Quantity):
    """Bits per second: '100 Mbit/s'. A rate of zero is refused."""

    base = BITS_PER_S
    example = "100 Mbit/s"
    zero = "0 bit/s"
    least = "8 bit/s"
    steps = (
        (10**12, "Tbit/s"),
        (10**9, "Gbit/s"),
        (10**6, "Mbit/s"),
        (10**3, "kbit/s"),
        (1, "bit/s"),
    )

    def __new__(cls, value: str | int) -> Self:
        number = super().__new__(cls, value)
        if number == 0:
            raise UnitError(
                f"{written(value)}: a rate of zero would never send a packet; "
                f"allowed: {cls.least} and more"
            )
        return number


class Size(_Quantity):
    """An amount of data: '250 kB'. An int of bytes."""

    base = BYTES
    example = "250 kB"
    zero = "0 B"
    steps = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "B"))


class Share(_Written, float):
    """A share of one: 0.01 or '1 %'."""

    encode = float

    def __new__(cls, value: str | float) -> Self:
        if isinstance(value, str):
            value = float(convert(value, SHARE, "1 %") / 100)
        if not 0 <= value <= 1:
            raise UnitError(f"{written(value)} is outside 0 to 1 (0 % to 100 %)")
        return super().__new__(cls, value)

    @classmethod
    def from_value(cls, value: object) -> Self:
        if isinstance(value, str | float | int) and not isinstance(value, bool):
            return cls(value)
        raise UnitError(f"{written(value)} is not a share; write it as 0.01 or '1 %'")

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: object
    ) -> dict[str, object]:
        return {
            "description": "a share of one: 0.01 or '1 %'",
            "anyOf": [
                {"type": "number", "minimum": 0, "maximum": 1},
                {"type": "string", "pattern": r"^\s*[0-9._]+\s*%\s*$"},
            ],
            "examples": [0.01, "1 %"],
        }
