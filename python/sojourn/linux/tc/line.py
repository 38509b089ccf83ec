# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The words behind `tc`, up to those that the qdisc itself reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sojourn.core.errors import InputError
from sojourn.linux import rtnetlink as nl
from sojourn.linux.tc import tables
from sojourn.linux.tc.place import read_handle, read_parent

USAGE = """\
Usage: sojourn linux tc [ -s ] [ -j ] [ -p ] qdisc VERB ...
       qdisc add | change | replace dev DEV PLACE [ handle H: ] sojourn ...
       qdisc del dev DEV PLACE
       qdisc show [ dev DEV ] [ PLACE ] [ handle H: ] [ sojourn ]
       qdisc add dev DEV root sojourn [ ALGORITHM ] help
PLACE: root | parent CLASS"""

# The first that begins with the word is meant, as in tc.
_VERBS = {
    "add": (nl.NEW, nl.CREATE | nl.EXCLUSIVE),
    "change": (nl.NEW, 0),
    "replace": (nl.NEW, nl.CREATE | nl.REPLACE),
    "delete": (nl.DELETE, 0),
    "show": (nl.GET, 0),
    "list": (nl.GET, 0),
}
_OPTIONS = {
    "stats": ("-s", "-stats", "-statistics"),
    "json": ("-j", "-json"),
    "pretty": ("-p", "-pretty"),
    "help": ("-h", "-help", "--help"),
}


@dataclass
class Asked:
    """A command line, read."""

    options: set[str] = field(default_factory=set)
    kind: int = nl.GET
    flags: int = 0
    device: str = ""
    parent: int | None = None
    handle: int | None = None
    # None: nothing is said of a qdisc's kind.
    said: list[str] | None = None


def read(line: Sequence[str]) -> Asked:
    """The words up to those that the qdisc itself reads."""
    asked, rest = Asked(), list(line)
    while rest and rest[0].startswith("-"):
        asked.options.add(_option(rest.pop(0)))
    if "help" in asked.options or not rest or rest == ["help"]:
        asked.options.add("help")
        return asked
    if not _begins(rest[0], "qdisc"):
        raise InputError(f'"{rest[0]}" is for tc itself, with or without its plugin; here: qdisc')
    verb = rest[1] if len(rest) > 1 else "show"
    del rest[:2]
    if verb == "help":
        asked.options.add("help")
        return asked
    asked.kind, asked.flags = _verb(verb)
    while rest and asked.said is None:
        _read_word(asked, rest)
    if asked.kind == nl.GET and asked.said:
        raise InputError(f'show: nothing is read behind sojourn, but there is "{asked.said[0]}"')
    return asked


def _begins(word: str, whole: str) -> bool:
    return bool(word) and whole.startswith(word)


def _option(word: str) -> str:
    for option, spellings in _OPTIONS.items():
        if word in spellings:
            return option
    raise InputError(f'there is no option "{word}"; allowed: -s, -j, -p')


def _verb(word: str) -> tuple[int, int]:
    for verb, meant in _VERBS.items():
        if _begins(word, verb):
            return meant
    raise InputError(f'qdisc "{word}": allowed: add, change, replace, del, show')


def _read_word(asked: Asked, rest: list[str]) -> None:
    """A word with what belongs to it is taken from the rest."""
    word = rest.pop(0)
    if word == tables.KIND:
        asked.said = rest
    elif word == "root":
        _place(asked, nl.ROOT)
    elif word in ("dev", "parent", "handle"):
        if not rest:
            raise InputError(f"{word}: something is wanted behind it")
        value = rest.pop(0)
        if word == "dev":
            asked.device = value
        elif word == "parent":
            _place(asked, read_parent(value))
        else:
            asked.handle = read_handle(value)
    else:
        raise InputError(f'"{word}": only for queues of the kind sojourn; for others there is tc')


def _place(asked: Asked, parent: int) -> None:
    if asked.parent is not None:
        raise InputError("a qdisc has one place: root, or one parent")
    asked.parent = parent
