# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What can go wrong, as exceptions, and the exit status each one ends a command with.

SojournError            3
├── InputError          2   a scenario, a parameter or a command line that cannot be used
├── RunError            3   runs failed; the finished ones are kept
├── StoreError          3   results could not be written or read
└── Interrupted       130   Ctrl-C; the finished runs are kept
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice


class SojournError(Exception):
    """Whatever Sojourn raises on purpose."""

    exit_status = 3


class InputError(SojournError):
    """Input that cannot be used: says where it stands, what it is, and what would be right."""

    exit_status = 2


class RunError(SojournError):
    """At least one run failed."""


class StoreError(SojournError):
    """A result could not be written or read."""


class Interrupted(SojournError):
    """The user asked to stop."""

    exit_status = 130


# Names less alike than this share letters by chance: who writes 'cake' does not mean 'choke'.
_ALIKE = 0.7


# Of more names only those are compared that look alike at first sight; of more nobody reads a list.
_MANY = 1_000
_LISTED = 100


def nearest(name: str, known: Iterable[str]) -> str:
    """' Did you mean …?' for a mistyped name, or the list of valid ones when nothing is near."""
    import difflib  # of use to the few commands that fail

    names = sorted(known)
    by_lower = {n.lower(): n for n in names}
    wanted = name.lower()
    close = difflib.get_close_matches(wanted, _alike(wanted, by_lower), n=1, cutoff=_ALIKE)
    if close:
        return f" Did you mean '{by_lower[close[0]]}'?"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f" Valid names: {', '.join(names[:_LISTED])}{more}." if names else ""


def _alike(wanted: str, names: Collection[str]) -> Collection[str]:
    """Of thousands, those of about the length, with the same beginning or end."""
    if len(names) <= _MANY or not wanted:
        return names
    first, last, length = wanted[0], wanted[-1], len(wanted)
    near = (n for n in names if abs(len(n) - length) <= 1 and (n[0] == first or n[-1] == last))
    return list(islice(near, _MANY))
