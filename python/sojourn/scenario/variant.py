# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The choice of `--aqm`: an algorithm and values of its parameters, 'pie:target=5ms' or
'./my_aqm.c:target=5ms'. In 'red@ns2:limit=100' those of a preset come before its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sojourn import algorithms
from sojourn.algorithms import Preset
from sojourn.core import units
from sojourn.core.errors import InputError
from sojourn.user_aqm import library


@dataclass(frozen=True)
class Variant:
    """An algorithm with some of its parameters set."""

    algorithm: str
    rows: Mapping[str, object] = field(default_factory=dict)
    # The text of the parameters, without spaces.
    settings: str = ""
    preset: Preset | None = None

    @property
    def all_rows(self) -> dict[str, object]:
        """Return the preset's rows, overridden by those that were given."""
        return {**(self.preset.rows if self.preset else {}), **self.rows}

    def without_preset(self) -> str:
        """Write the same choice without the preset, whose file may change. A preset leaves no row
        of the algorithm to the scenario; therefore rows that it does not name are written too."""
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
        """Return the algorithm, with the preset: 'red@ns2'."""
        return self.preset.spec if self.preset else self.algorithm

    def called(self, name: str) -> str:
        """Write its name for tables that have this name for the algorithm."""
        name += f"@{self.preset.name}" if self.preset else ""
        return f"{name}:{self.settings}" if self.settings else name


# The name of a file may hold anything.
_FILE = re.compile(r"\s*(.*?\.c)\s*(:|$)(.*)")

# Another sign than the comma in front of a further parameter.
_NO_COMMA = re.compile(r"\s*[\s:;&+]\s*(?=\w+\s*=)")


def _parts(text: str) -> tuple[str, str, str]:
    """Split a text into algorithm, colon and parameters. A name that only one host has begins with
    'HOST:'."""
    file = _FILE.fullmatch(text)
    if file and library.is_file(file[1]):
        return file[1], file[2], file[3]
    names = (name.rpartition(":") for name in algorithms.every())
    heads = (head + colon for head, colon, _ in names if text.startswith(head + colon))
    head = max(heads, key=len)
    name, colon, rest = text.removeprefix(head).partition(":")
    return head + name.strip(), colon, rest


def read(text: str, by: str = "--aqm") -> Variant:
    """Read 'NAME', 'NAME@PRESET' or either with ':key=value,key=value'; NAME may be a file's path.
    Raise InputError for an unknown name or a wrong value."""
    name, colon, rest = _parts(text)
    if "," in name and not library.is_file(name):
        parts = re.split(r",(?![^,:]*=)", text)
        each = " ".join(f"--aqm {part.strip()}" for part in parts)
        raise InputError(f"{by} {text}: name each algorithm by itself: {each}")
    name, chosen = algorithms.find_preset(name)
    rows: dict[str, object] = {}
    for assignment in rest.split(",") if colon else ():
        key, equals, value = (part.strip() for part in assignment.partition("="))
        if not (equals and key and value):
            spec = chosen.spec if chosen else name
            raise InputError(f"{by} {text}: write it as {spec}:key=value,key=value")
        if _NO_COMMA.search(value):
            parted = f"{chosen.spec if chosen else name}:{_NO_COMMA.sub(',', rest)}"
            raise InputError(f"{by} {text}: a comma stands between parameters: {parted}")
        if key in rows:
            raise InputError(f"{by} {text}: '{key}' is there twice")
        rows[key] = read_value(value)
    variant = Variant(name, rows, "".join(rest.split()), chosen)
    try:
        algorithms.read_rows(name, variant.all_rows)
    except units.UnitError as error:
        raise InputError(f"{by} {text}: {error}{_link_remedy(variant)}") from error
    return variant


def _link_remedy(variant: Variant) -> str:
    """Name the option for a word that is no parameter of an algorithm but a key of its link."""
    from sojourn.scenario.links import Direction  # slow to import
    from sojourn.scenario.networks.dumbbell import Dumbbell

    rows = algorithms.rows_of(variant.algorithm)
    key = next((key for key in variant.rows if key not in rows), "")
    if key not in Direction.model_fields:
        return ""
    kind, remedy = "link", "; show --expand writes a shorthand's links out"
    if key in Dumbbell.model_fields:
        kind, remedy = "link or dumbbell", ""
    value = write_value(variant.rows[key])
    return f" It is a key of a {kind}: --set links.NAME.{key}={value}{remedy}"


def read_all(texts: str | Iterable[str]) -> list[Variant]:
    """Read each variant once, in the order given; the same parameters in other words are the same
    variant. A text is one of them."""
    variants: dict[object, Variant] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        variant = read(text)
        numbers = algorithms.read_rows(variant.algorithm, variant.all_rows)
        same = variant.algorithm, variant.preset is None, frozenset(numbers.items())
        variants.setdefault(same, variant)
    return list(variants.values())


# `key=value` of the command line: how it is read, and written as text that reads back.
def read_assignment(text: str) -> tuple[str, object]:
    """Split 'key=value' of the command line; a value that is not TOML is text. Raise InputError if
    there is no key or no value."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set {text}: write it as key=value")
    return key.strip(), read_value(value.strip())


def read_assignments(texts: Iterable[str]) -> dict[str, object]:
    """Read several assignments; raise InputError for a key that is set twice."""
    changes: dict[str, object] = {}
    for text in texts:
        key, value = read_assignment(text)
        if key in changes:
            raise InputError(f"--set {text}: '{key}' is set twice")
        changes[key] = value
    return changes


def read_value(text: str) -> object:
    """Read a TOML value, or return the text itself."""
    import tomllib  # slow to import

    from sojourn.core import toml

    try:
        return toml.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def write_value(value: object) -> str:
    """Write the text that `--set key=TEXT` reads as this value."""
    if isinstance(value, str) and read_value(value) == value:
        return value
    return _toml(value)


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    import tomlkit  # slow to import

    return tomlkit.item(value).as_string()
