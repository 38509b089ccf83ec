# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Presets: rows of an algorithm under a name, 'red@ns2', as data in presets/ALGORITHM@NAME.toml:

about      one sentence
source     where the values are from; each row has a comment with its line, variable or derivation
differs    properties of the source that rows cannot express
[rows]     as in a scenario

A preset is read where it is named, and is replaced by its rows. Scenarios and results hold these
rows; a later change of the file does not reach them.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest
from sojourn.core.rows import Value
from sojourn.user_aqm import library

ROOT = Path(__file__).parent / "presets"
_COMMENTED = re.compile(r"^(\w+) = [^#\n]*# (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Preset:
    """Rows under a name."""

    algorithm: str
    name: str
    about: str
    source: str
    differs: tuple[str, ...]
    rows: Mapping[str, Value]
    file: Path

    @property
    def spec(self) -> str:
        """Return the text that chooses it: red@ns2."""
        return f"{self.algorithm}@{self.name}"

    def sources(self) -> dict[str, str]:
        """Read the comment of each row."""
        return comments(self.file)


def comments(file: Path) -> dict[str, str]:
    """Read the comment behind each key in a file of data."""
    return dict(_COMMENTED.findall(file.read_text(encoding="utf-8")))


@functools.cache
def presets() -> dict[str, Preset]:
    """Return every preset, by the text that chooses it."""
    found = (_read(path) for path in sorted(ROOT.glob("*@*.toml")))
    return {preset.spec: preset for preset in found}


def _read(path: Path) -> Preset:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    algorithm, _, name = path.stem.partition("@")
    differs = tuple(data.get("differs", ()))
    return Preset(algorithm, name, data["about"], data["source"], differs, data["rows"], path)


def of(algorithm: str) -> list[Preset]:
    """List the presets of one algorithm."""
    return [preset for preset in presets().values() if preset.algorithm == algorithm]


def find(text: str) -> tuple[str, Preset | None]:
    """Find the algorithm of 'red' or 'red@ns2', and the preset if one is named. Raise InputError
    for an unknown one."""
    if "@" not in text or library.is_file(text):
        return algorithms.find(text).name, None
    algorithm, _, name = text.partition("@")
    algorithm = algorithms.find(algorithm.strip()).name
    name = name.strip()
    known = presets().get(f"{algorithm}@{name}")
    if not known:
        raise InputError(_unknown(algorithm, name))
    return algorithm, known


def _unknown(algorithm: str, name: str) -> str:
    known = [preset.name for preset in of(algorithm)]
    if not known:
        having = ", ".join(dict.fromkeys(preset.algorithm for preset in presets().values()))
        return f"'{algorithm}' has no presets; these have some: {having}"
    meant = nearest(name, known)
    names = "" if "Valid names" in meant else f" Presets of '{algorithm}': {', '.join(known)}."
    return f"'{algorithm}' has no preset '{name}'.{meant}{names}"
