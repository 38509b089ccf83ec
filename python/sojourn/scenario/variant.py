# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What `--aqm` chooses: an algorithm and the parameters that it shall have, 'pie:target=5ms'."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sojourn import algorithms, units
from sojourn.errors import InputError
from sojourn.linux.stock import PREFIX
from sojourn.scenario.changes import read_value


@dataclass(frozen=True)
class Variant:
    """An algorithm with some of its parameters set."""

    algorithm: str
    rows: Mapping[str, object] = field(default_factory=dict)
    # As it was written, without spaces: what tables and files call it.
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.algorithm


def read(text: str) -> Variant:
    """'NAME' or 'NAME:key=value,key=value'."""
    prefix = PREFIX if text.startswith(PREFIX) else ""
    name, colon, rest = text.removeprefix(prefix).partition(":")
    name = prefix + name.strip()
    if "," in name:
        parts = re.split(r",(?![^,:]*=)", text)
        each = " ".join(f"--aqm {part.strip()}" for part in parts)
        raise InputError(f"--aqm {text}: give each algorithm an --aqm of its own: {each}")
    algorithms.find(name)
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
    return Variant(name, rows, "".join(text.split()))


def read_all(texts: Iterable[str]) -> list[Variant]:
    """Each once, in the order given: the same parameters written otherwise are the same."""
    variants: dict[object, Variant] = {}
    for text in texts:
        variant = read(text)
        numbers = algorithms.read_rows(variant.algorithm, variant.rows)
        variants.setdefault((variant.algorithm, frozenset(numbers.items())), variant)
    return list(variants.values())
