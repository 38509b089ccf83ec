# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A row's value as people write it in a command of tc, exactly and both ways.

The units are tc's, which are not those of scenarios: `kb` is 1024 bytes there, and `Mb` as much as
`mb`. The same stands
in linux/tc/value.c for the plugin, and a test holds the two together.
"""

from __future__ import annotations

import ipaddress
import math
import re
import socket

from sojourn.core.rows import SCALES, Row

_U32_MAX = 2**32 - 1
_U64_MAX = 2**64 - 1
_U64_DIGITS = len(str(_U64_MAX))
# Beyond it a double is no longer exact; no such value needs a larger unit.
_EXACT = 2**53

# As multiples of the base that the core names for a unit. A rate has no bare `bps`: tc's users
# read it as bytes, everyone else as bits.
_BASES: dict[str, tuple[dict[str, float], str]] = {
    "time": (
        {
            **dict.fromkeys(("ns", "nsec", "nsecs"), 1),
            **dict.fromkeys(("us", "usec", "usecs"), 1e3),
            **dict.fromkeys(("ms", "msec", "msecs"), 1e6),
            **dict.fromkeys(("s", "sec", "secs"), 1e9),
            "min": 60e9,
        },
        "a time, as in 5ms",
    ),
    "packets": ({"p": 1, "": 1}, "a number of packets, as in 1000p"),
    "size": (
        {
            "b": 1,
            **dict.fromkeys(("k", "kb"), 2**10),
            **dict.fromkeys(("m", "mb"), 2**20),
            **dict.fromkeys(("g", "gb"), 2**30),
            "kbit": 2**10 // 8,
            "mbit": 2**20 // 8,
            "gbit": 2**30 // 8,
        },
        "a size, as in 1514b",
    ),
    "rate": (
        {
            "bit": 1,
            "kbit": 1e3,
            "mbit": 1e6,
            "gbit": 1e9,
            "tbit": 1e12,
            "kibit": 2**10,
            "mibit": 2**20,
            "gibit": 2**30,
            "tibit": 2**40,
            "B/s": 8,
            "kB/s": 8e3,
            "MB/s": 8e6,
            "GB/s": 8e9,
        },
        "a rate, as in 10mbit or 1.25MB/s",
    ),
    "share": ({"": 1, "%": 0.01}, "a probability, as in 0.02 or 2%"),
}
_ADDRESS = "an address, as in 192.0.2.1 or 2001:db8::1"
_PLAIN = {"": 1.0}
_SUFFIX = {"packets": "p", "size": "b", "rate": "B/s"}
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
    if _base(row) == "address":
        return _of_address(text)
    units, wanted = _units(row)
    whole = _whole(row, text, units)
    if whole is not None:
        return whole
    match = _NUMBER.fullmatch(text)
    number = float(match[1]) if match else -1.0
    size = units.get(_unit(match[2])) if match else None
    if size is None or not math.isfinite(number) or number < 0:
        raise Wanted(wanted)
    number *= size
    if _base(row) == "share":
        return _of_share(number)
    if number > _EXACT:
        raise Wanted(wanted)
    return round(number)


def _of_address(text: str) -> int:
    try:
        return int(ipaddress.IPv4Address(text))
    except ValueError:
        raise Wanted(_ADDRESS) from None


def read_address6(text: str) -> bytes:
    """An IPv6 address as on a wire; Wanted if it is none."""
    try:
        if "%" not in text:
            return ipaddress.IPv6Address(text).packed
    except ValueError:
        pass
    raise Wanted(_ADDRESS)


def write_address6(packed: bytes) -> str:
    """As the C library writes it."""
    return socket.inet_ntop(socket.AF_INET6, packed)


def _base(row: Row) -> str:
    return SCALES[row.unit].base


def _units(row: Row) -> tuple[dict[str, float], str]:
    """Units that a value of the row may have, in canonical numbers; and what is wanted."""
    scale = SCALES[row.unit]
    note = f" ({scale.note})" if scale.note else ""
    if scale.base not in _BASES:
        # Anything else is written as it is stored.
        return _PLAIN, f"a whole number{note}"
    sizes, wanted = _BASES[scale.base]
    one = scale.multiply / scale.divide
    return {unit: size * one for unit, size in sizes.items()}, f"{wanted}{note}"


def _unit(word: str) -> str:
    """tc does not tell `Kbit` from `kbit`; of bytes a second, which it has not, the case counts."""
    return word if "/" in word or not word.isascii() else word.lower()


def _whole(row: Row, text: str, units: dict[str, float]) -> int | None:
    """Whole numbers of the canonical unit are read without a detour through floats."""
    match = _WHOLE.fullmatch(text)
    # Python refuses to convert thousands of digits.
    if not match or _base(row) == "share" or len(match[1].lstrip("0")) > _U64_DIGITS:
        return None
    number = int(match[1][-_U64_DIGITS:])
    if number > _U64_MAX:
        return None
    # A size may stand without its unit.
    if units.get(_unit(match[2])) == 1 or (_base(row) == "size" and not match[2]):
        return number
    return None


def _of_share(number: float) -> int:
    if not 0 <= number <= 2**32:
        raise Wanted("a probability from 0 to 1")
    # The largest number is "always".
    return min(round(number), _U32_MAX)


def write(row: Row, value: int) -> str:
    """In the largest unit that is exact, so that reading it gives the value back."""
    if row.kind == "choice" and value < len(row.choices):
        return row.choices[value]
    base = _base(row)
    if base == "time":
        return _largest(value, _TIMES)
    if base == "rate" and value < 1 << 60:
        return _largest(value * 8, _RATES)
    if base == "share":
        return _write_share(value)
    if base == "address":
        # Beyond 32 bits it is no address: as it stands, for a refusal.
        return str(ipaddress.IPv4Address(value)) if value <= _U32_MAX else str(value)
    return f"{value}{_SUFFIX.get(base, '')}"


def _largest(value: int, units: tuple[tuple[int, str], ...]) -> str:
    fits = (pair for pair in units if pair[0] == 1 or (value and value % pair[0] == 0))
    size, unit = next(fits)
    return f"{value // size}{unit}"


def _write_share(value: int) -> str:
    """As few digits as name this very value; ten are always enough for 32 bits."""
    texts = [f"{share(value):.{digits}g}" for digits in range(1, 11)]
    return next((text for text in texts if _of_share(float(text) * 2**32) == value), texts[-1])


def share(value: int) -> float:
    """Of a probability's Q0.32."""
    return 1.0 if value == _U32_MAX else value / 2**32


def as_json(row: Row, value: int) -> bool | int | float | str:
    """As `tc -j` has it: six digits of a share, and whole numbers without a point."""
    if row.kind == "bool":
        return bool(value)
    if row.kind == "choice":
        return write(row, value)
    if _base(row) == "share":
        written = float(f"{share(value):g}")
        return int(written) if written.is_integer() else written
    return value
