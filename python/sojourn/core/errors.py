# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The exceptions of Sojourn, and the exit status of a command that ends with each.

SojournError            3
├── InputError          2   a scenario, a parameter or a command line that cannot be used
├── RunError            3   runs failed; the finished ones are kept
├── StoreError          3   results could not be written or read
└── Interrupted       130   Ctrl-C; the finished runs are kept
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from datetime import date, time
from itertools import islice


class SojournError(Exception):
    """The base of all exceptions that Sojourn raises on purpose."""

    exit_status = 3


class InputError(SojournError):
    """Input that cannot be used. The sentence names its place, the value and the remedy."""

    exit_status = 2


class RunError(SojournError):
    """At least one run failed."""


class StoreError(SojournError):
    """A result could not be written or read."""


class Interrupted(SojournError):
    """A stop that the user asked for."""

    exit_status = 130


def written(value: object) -> str:
    """Write a value as TOML has it, for a sentence."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {written(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    return str(value) if isinstance(value, date | time) else repr(value)


# Names less alike than this share letters by chance: 'cake' is no misspelt 'choke'.
_ALIKE = 0.7
# Shorter names than this have more neighbours by chance than by a slip.
_SHORT = 3


# Comparison is slow: above this number only names of similar shape are compared.
_MANY = 1_000
# Nobody reads a longer list.
_LISTED = 100


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest a name: ' Did you mean …?', or the list of valid names when none is near."""
    names = sorted(known)
    if meant := closest(name, names):
        return f" Did you mean '{meant}'?"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f" Valid names: {', '.join(names[:_LISTED])}{more}." if names else ""


def closest(name: str, known: Iterable[str]) -> str | None:
    """Find the name that was probably meant."""
    import difflib  # of use to the few commands that fail

    by_lower = {n.lower(): n for n in sorted(known)}
    wanted = name.lower()
    close = difflib.get_close_matches(wanted, _alike(wanted, by_lower), n=1, cutoff=_ALIKE)
    slips = close or [n for n in by_lower if _is_slip(wanted, n)]
    return by_lower[slips[0]] if slips else None


def _is_slip(wanted: str, name: str) -> bool:
    """Tell whether a short name has one other letter, or two neighbours swapped. Of so few letters
    too few are alike; in a longer name they are enough."""
    if len(wanted) != len(name) or len(name) < _SHORT:
        return False
    odd = [i for i, (a, b) in enumerate(zip(wanted, name, strict=True)) if a != b]
    if len(odd) == 2:
        first, second = odd
        return wanted[first : second + 1] == name[second] + name[first]
    return len(odd) == 1


def _alike(wanted: str, names: Collection[str]) -> Collection[str]:
    """Reduce thousands of names to those of similar length with the same first or last letter."""
    if len(names) <= _MANY or not wanted:
        return names
    first, last, length = wanted[0], wanted[-1], len(wanted)
    near = (n for n in names if abs(len(n) - length) <= 1 and (n[0] == first or n[-1] == last))
    return list(islice(near, _MANY))
