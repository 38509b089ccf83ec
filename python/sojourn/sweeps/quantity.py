# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Values on an axis as numbers: values between two ends, and the name and values of a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from sojourn import algorithms
from sojourn.core import units
from sojourn.core.errors import written
from sojourn.core.rows import SCALES, Value
from sojourn.scenario.variant import write_value

# For each kind of quantity: the end of its column's name and the unit of the column (as in other
# results: delays in ms, rates in Mbit/s).
_COLUMNS = {
    "time": ("_ms", "1 ms"),
    "data/time": ("_mbps", "1 Mbit/s"),
    "data": ("_bytes", "1 B"),
    "packets": ("_pkts", "1 packet"),
    "share": ("_pct", "1 percent"),
    "frequency": ("_hz", "1 Hz"),
}
# Kinds for which only whole numbers make sense: the base unit, and the spelling of a number.
_WHOLE: dict[str, tuple[str, Callable[[int], str]]] = {
    "time": (units.NS, lambda number: str(units.Duration(number))),
    "data/time": (units.BITS_PER_S, lambda number: str(units.Rate(number))),
    "data": (units.BYTES, lambda number: str(units.Size(number))),
    "packets": (units.PKTS, lambda number: f"{number} packets"),
}

End = str | int | float


@dataclass(frozen=True)
class Column:
    """The values of one key, as a table of numbers has them."""

    suffix: str
    values: tuple[Value, ...]


def column(key: str, values: Sequence[object]) -> Column:
    """Convert values to one unit where all are of one kind; otherwise keep numbers, or
    write text."""
    kinds = {kind for value in values if value != 0 and (kind := _kind(key, value))}
    if len(kinds) == 1 and all(value == 0 or _kind(key, value) for value in values):
        (kind,) = kinds
        suffix, unit = _COLUMNS[kind]
        whole = kind in ("data", "packets")
        return Column(suffix, tuple(_number(value, unit, whole) for value in values))
    if all(isinstance(value, bool) for value in values):
        return Column("", tuple(bool(value) for value in values))
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) == len(values):
        whole = all(isinstance(v, int) for v in numbers)
        return Column("", tuple(v if whole else float(v) for v in numbers))
    return Column("", tuple(map(write_value, values)))


def _kind(key: str, value: object) -> str:
    """Name the kind of quantity of a value; empty where it has no unit."""
    if isinstance(value, str):
        try:
            kind = units.measure(value)[0]
        except units.UnitError:
            return ""
        is_rate = kind == "data" and key.split(".")[-1] in ("rate", "ceil", "bandwidth")
        return "data/time" if is_rate else kind if kind in _COLUMNS else ""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return "packets" if is_whole and _counts_packets(key) else ""


def _counts_packets(key: str) -> bool:
    """Tell whether the key is a row of a queue where a number alone means packets."""
    *path, name = key.split(".")
    if path and not {"queue", "aqm"} & set(path):
        return False
    rows = [a.rows[name] for a in algorithms.algorithms().values() if name in a.rows]
    return bool(rows) and all(SCALES[row.unit].base == "packets" for row in rows)


def _number(value: object, unit: str, whole: bool) -> int | float:
    # A number without a unit counts packets, or is 0.
    amount = _amount(value, unit) if isinstance(value, str) else Fraction(str(value))
    return round(amount) if whole else float(amount)


def _amount(text: str, unit: str) -> Fraction:
    """Divide a quantity by `one`. An amount of data for a rate is a rate, as in tc's 100mbit."""
    if unit.endswith("/s") and "/" not in text:
        text += "/s"
    return units.measure(text)[1] / units.measure(unit)[1]


def same(value: object) -> object:
    """Return equal objects for values that differ in spelling only."""
    if isinstance(value, str):
        try:
            return units.measure(value)
        except units.UnitError:
            return value
    return write_value(value)


_MOST = 10**18
# The most digits beyond three: more would distinguish values that equal one whole number of a unit.
_MOST_MORE = 6


@dataclass(frozen=True)
class Span:
    """All values between two ends, evenly or by their logarithm."""

    ends: tuple[End, End]  # as they are written
    low: Decimal
    high: Decimal
    unit: str
    kind: str
    whole: bool
    log: bool

    @classmethod
    def read(cls, first: End, last: End, scale: Literal["even", "log"]) -> Span:
        """Read two ends from the file. UnitError: they are no ends of one axis."""
        (low, unit), (high, last_unit) = _split(first), _split(last)
        if bool(unit) != bool(last_unit):
            raise units.UnitError(
                f"{written(first)} and {written(last)}: give both a unit, or none"
            )
        kind = ""
        if unit:
            kind, size = units.measure(f"1 {unit}")
            other, last_size = units.measure(f"1 {last_unit}")
            if kind != other or kind not in _COLUMNS:
                raise units.UnitError(f"{written(first)} and {written(last)} are not of one kind")
            # The unit of the last end is used for both.
            ratio = size / last_size
            low = low * ratio.numerator / ratio.denominator
        if low == high:
            raise units.UnitError(f"{written(first)} and {written(last)} are the same value")
        if scale == "log" and min(low, high) <= 0:
            raise units.UnitError(
                f"{written(first)} to {written(last)}: a logarithmic axis begins above 0"
            )
        whole = isinstance(first, int) and isinstance(last, int)
        return cls((first, last), low, high, last_unit, kind, whole, scale == "log")

    def value(self, share: float, parts: int) -> Value:
        """Return the value at this share of the way.

        With so many parts, it has three digits of its distance to the next value.
        """
        return self._written(self._at(share, parts, 0), share)

    def drawn(self, share: float, parts: int) -> Value:
        """Return the value for a random share, with more digits where three would move it to
        another part."""
        within = math.floor(share * parts)
        for more in range(_MOST_MORE):
            value = self._at(share, parts, more)
            if math.floor(self._share(value) * parts) == within:
                break
        return self._written(value, share)

    def _at(self, share: float, parts: int, more: int) -> Decimal:
        if self.log:
            value = float(self.low) * float(self.high / self.low) ** share
            step = abs(value * math.expm1(math.log(float(self.high / self.low)) / parts))
            return _rounded(Decimal(value), step, more)
        width = self.high - self.low
        return _rounded(self.low + width * Decimal(share), abs(float(width)) / parts, more)

    def _share(self, value: Decimal) -> float:
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return float((value - self.low) / (self.high - self.low))

    def _written(self, exact: Decimal, share: float) -> Value:
        if share in (0, 1):
            return self.ends[int(share)]
        if self.whole:
            return round(exact)
        return self._spell(exact) if self.unit else float(exact)

    def _spell(self, number: Decimal) -> str:
        """Write a number as people do: in the largest unit in which it has few digits."""
        text = f"{_plain(number)} {self.unit}".replace("percent", "%")
        if self.kind not in _WHOLE:
            return text
        base, spell = _WHOLE[self.kind]
        return spell(round(_amount(text, f"1 {base}")))


def _split(value: End) -> tuple[Decimal, str]:
    number, unit = units.split(value) if isinstance(value, str) else (Decimal(str(value)), "")
    if not number.is_finite() or abs(number) >= _MOST:
        raise units.UnitError(f"{written(value)} is no end of an axis; allowed: below {_MOST:g}")
    return number, unit


def _rounded(number: Decimal, step: float, more: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(math.floor(math.log10(step)) - 2 - more))


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
