# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What `--aqm` chooses: an algorithm and the parameters that it shall have, 'pie:target=5ms',
'./my_aqm.c:target=5ms', or 'red@ns2:limit=100' with those of a preset before its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sojourn import algorithms, preset
from sojourn.core import units
from sojourn.core.errors import InputError
from sojourn.preset import Preset
from sojourn.scenario.assignments import read_value, write_value
from sojourn.user_aqm import library


@dataclass(frozen=True)
class Variant:
    """An algorithm with some of its parameters set."""

    algorithm: str
    rows: Mapping[str, object] = field(default_factory=dict)
    # The parameters as they were written, without spaces.
    settings: str = ""
    preset: Preset | None = None

    @property
    def all_rows(self) -> dict[str, object]:
        """The preset's, and over them those that were written."""
        return {**(self.preset.rows if self.preset else {}), **self.rows}

    def without_preset(self) -> str:
        """What says the same, whatever becomes of the preset's file. Behind a preset no row of the
        algorithm is the scenario's: those that it does not name are there too."""
        params = algorithms.find(self.algorithm).params
        rows = {**self.all_rows}
        for row in params:
            rows.setdefault(row.name, row.write(row.default))
        texts = (f"{key}={write_value(value)}" for key, value in rows.items())
        return f"{self.algorithm}:{','.join(texts)}"

    def __str__(self) -> str:
        return self.called(self.algorithm)

    @property
    def spec(self) -> str:
        """The algorithm, with the preset: 'red@ns2'."""
        return self.preset.spec if self.preset else self.algorithm

    def called(self, name: str) -> str:
        """What tables call it where they have this name for the algorithm."""
        name += _at(self.preset)
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


def _at(chosen: Preset | None) -> str:
    return f"@{chosen.name}" if chosen else ""


def read(text: str, by: str = "--aqm") -> Variant:
    """'NAME', 'NAME@PRESET' or either with ':key=value,key=value'; for NAME also a file's path."""
    name, colon, rest = _parts(text)
    if "," in name and not library.is_file(name):
        parts = re.split(r",(?![^,:]*=)", text)
        each = " ".join(f"--aqm {part.strip()}" for part in parts)
        raise InputError(f"{by} {text}: give each algorithm an --aqm of its own: {each}")
    name, chosen = preset.find(name)
    rows: dict[str, object] = {}
    for assignment in rest.split(",") if colon else ():
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not (equals and key and value):
            raise InputError(f"{by} {text}: write it as {name}{_at(chosen)}:key=value,key=value")
        if key in rows:
            raise InputError(f"{by} {text}: '{key}' is there twice")
        rows[key] = read_value(value)
    variant = Variant(name, rows, "".join(rest.split()), chosen)
    try:
        algorithms.read_rows(name, variant.all_rows)
    except units.UnitError as error:
        raise InputError(f"{by} {text}: {error}{_of_links(variant)}") from error
    return variant


def _of_links(variant: Variant) -> str:
    """Name the option for what is no parameter of an algorithm but a key of its link."""
    from sojourn.scenario.links import Direction  # which reads variants of its own
    from sojourn.scenario.networks import Dumbbell

    known = algorithms.rows_of(variant.algorithm)
    wrong = next((key for key in variant.rows if key not in known), "")
    if wrong not in Direction.model_fields:
        return ""
    value = write_value(variant.rows[wrong])
    kind = "link or dumbbell" if wrong in Dumbbell.model_fields else "link"
    first = (
        "" if wrong in Dumbbell.model_fields else "; show --expand writes a shorthand's links out"
    )
    return f" It is a key of a {kind}: --set links.NAME.{wrong}={value}{first}"


def read_all(texts: Iterable[str]) -> list[Variant]:
    """Each once, in the order given: the same parameters written otherwise are the same."""
    variants: dict[object, Variant] = {}
    for text in texts:
        variant = read(text)
        numbers = algorithms.read_rows(variant.algorithm, variant.all_rows)
        same = variant.algorithm, variant.preset is None, frozenset(numbers.items())
        variants.setdefault(same, variant)
    return list(variants.values())
