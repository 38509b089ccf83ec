# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What `--aqm` chooses: an algorithm and the parameters that it shall have, 'pie:target=5ms' or
'./my_aqm.c:target=5ms'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sojourn import algorithms, units
from sojourn.errors import InputError
from sojourn.own import library
from sojourn.scenario.changes import read_value


@dataclass(frozen=True)
class Variant:
    """An algorithm with some of its parameters set."""

    algorithm: str
    rows: Mapping[str, object] = field(default_factory=dict)
    # The parameters as they were written, without spaces.
    settings: str = ""

    def __str__(self) -> str:
        return self.called(self.algorithm)

    def called(self, name: str) -> str:
        """What tables call it where they have this name for the algorithm."""
        return f"{name}:{self.settings}" if self.settings else name


# The name of a file may hold anything.
_FILE = re.compile(r"\s*(.*?\.c)\s*(:|$)(.*)")


def _parts(text: str) -> tuple[str, str, str]:
    """Algorithm, colon, parameters. A name that only one host has begins with 'HOST:'."""
    file = _FILE.fullmatch(text)
    if file and library.is_file(file[1]):
        return file[1], file[2], file[3]
    known = (name.rpartition(":") for name in algorithms.every())
    heads = {head + colon for head, colon, _ in known}
    head = max((head for head in heads if text.startswith(head)), key=len)
    name, colon, rest = text.removeprefix(head).partition(":")
    return head + name.strip(), colon, rest


def read(text: str) -> Variant:
    """'NAME' or 'NAME:key=value,key=value'; for NAME also the path of a file."""
    name, colon, rest = _parts(text)
    if "," in name and not library.is_file(name):
        parts = re.split(r",(?![^,:]*=)", text)
        each = " ".join(f"--aqm {part.strip()}" for part in parts)
        raise InputError(f"--aqm {text}: give each algorithm an --aqm of its own: {each}")
    name = algorithms.find(name).name
    rows: dict[str, object] = {}
    for assignment in rest.split(",") if colon else ():
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not (equals and key and value):
            raise InputError(f"--aqm {text}: write it as {name}:key=value,key=value")
        if key in rows:
            raise InputError(f"--aqm {text}: '{key}' is there twice")
        rows[key] = read_value(value)
    try:
        algorithms.read_rows(name, rows)
    except units.UnitError as error:
        raise InputError(f"--aqm {text}: {error}") from error
    return Variant(name, rows, "".join(rest.split()))


def read_all(texts: Iterable[str]) -> list[Variant]:
    """Each once, in the order given: the same parameters written otherwise are the same."""
    variants: dict[object, Variant] = {}
    for text in texts:
        variant = read(text)
        numbers = algorithms.read_rows(variant.algorithm, variant.rows)
        variants.setdefault((variant.algorithm, frozenset(numbers.items())), variant)
    return list(variants.values())
