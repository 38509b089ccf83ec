# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A row's value as people write it in a command of tc, exactly and both ways.

The units are tc's, which are not those of scenarios: `kb` is 1024 bytes there. The same stands
in linux/tc/value.c for the plugin, and a test holds the two together.
"""

from __future__ import annotations

import math
import re

from sojourn.algorithms import Row

_U32_MAX = 2**32 - 1
_U64_MAX = 2**64 - 1
# Beyond it a double is no longer exact; no such value needs a larger unit.
_EXACT = 2**53

_PLAIN = {"": 1.0}
# The first of each is the canonical one. A rate has no bare `bps`: tc's users read it as bytes,
# everyone else as bits.
_UNITS: dict[str, tuple[dict[str, float], str]] = {
    "count": (_PLAIN, "a whole number"),
    "ns": ({"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}, "a time, as in 5ms"),
    "pkts": ({"p": 1, "": 1}, "a number of packets, as in 1000p"),
    "bytes": ({"b": 1, "kb": 1024, "mb": 1048576}, "a size, as in 1514b"),
    "bytes/s": (
        {
            "bit": 0.125,
            "kbit": 125,
            "mbit": 125e3,
            "gbit": 125e6,
            "B/s": 1,
            "kB/s": 1e3,
            "MB/s": 1e6,
            "GB/s": 1e9,
        },
        "a rate, as in 10mbit or 1.25MB/s",
    ),
    "q32": ({"": 1, "%": 0.01}, "a probability, as in 0.02 or 2%"),
    "hz/16": (_PLAIN, "a whole number (sixteenths of a hertz)"),
    "log2": (_PLAIN, "a whole number (exponent of two)"),
}
_SUFFIX = {"pkts": "p", "bytes": "b", "bytes/s": "B/s"}
_TIMES = ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns"))
_RATES = ((10**9, "gbit"), (10**6, "mbit"), (10**3, "kbit"), (1, "bit"))

_WHOLE = re.compile(r"([0-9]+)(.*)", re.DOTALL)
_NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(.*)", re.DOTALL)


class Wanted(ValueError):
    """What should have been written instead."""


def read(row: Row, text: str) -> int:
    """The number of `text` in the row's own unit, in its range or not; Wanted if there is none."""
    if row.kind == "choice":
        if text not in row.choices:
            raise Wanted(" or ".join(row.choices))
        return row.choices.index(text)
    units, wanted = _UNITS[row.unit]
    whole = _whole(row, text, units)
    if whole is not None:
        return whole
    match = _NUMBER.fullmatch(text)
    number = float(match[1]) if match else -1.0
    if not match or match[2] not in units or not math.isfinite(number) or number < 0:
        raise Wanted(wanted)
    number *= units[match[2]]
    if row.unit == "q32":
        return _of_share(number)
    if number > _EXACT:
        raise Wanted(wanted)
    return round(number)


def _whole(row: Row, text: str, units: dict[str, float]) -> int | None:
    """Whole numbers of the canonical unit are read without a detour through floats."""
    match = _WHOLE.fullmatch(text)
    if not match or row.unit == "q32" or int(match[1]) > _U64_MAX:
        return None
    # A size may stand without its unit.
    if units.get(match[2]) == 1 or (row.unit == "bytes" and not match[2]):
        return int(match[1])
    return None


def _of_share(value: float) -> int:
    if not 0 <= value <= 1:
        raise Wanted("a probability from 0 to 1")
    # The largest number is "always".
    return min(round(value * 2**32), _U32_MAX)


def write(row: Row, value: int) -> str:
    """In the largest unit that is exact, so that reading it gives the value back."""
    if row.kind == "choice" and value < len(row.choices):
        return row.choices[value]
    if row.unit == "ns":
        return _largest(value, _TIMES)
    if row.unit == "bytes/s" and value < 1 << 60:
        return _largest(value * 8, _RATES)
    if row.unit == "q32":
        return _write_share(value)
    return f"{value}{_SUFFIX.get(row.unit, '')}"


def _largest(value: int, units: tuple[tuple[int, str], ...]) -> str:
    fits = (pair for pair in units if pair[0] == 1 or (value and value % pair[0] == 0))
    size, unit = next(fits)
    return f"{value // size}{unit}"


def _write_share(value: int) -> str:
    """As few digits as name this very value; ten are always enough for 32 bits."""
    texts = [f"{share(value):.{digits}g}" for digits in range(1, 11)]
    return next((text for text in texts if _of_share(float(text)) == value), texts[-1])


def share(value: int) -> float:
    """Of a probability's Q0.32."""
    return 1.0 if value == _U32_MAX else value / 2**32


def as_json(row: Row, value: int) -> bool | int | float | str:
    """As `tc -j` has it: six digits of a share, and whole numbers without a point."""
    if row.kind == "bool":
        return bool(value)
    if row.kind == "choice":
        return write(row, value)
    if row.unit == "q32":
        written = float(f"{share(value):g}")
        return int(written) if written.is_integer() else written
    return value
