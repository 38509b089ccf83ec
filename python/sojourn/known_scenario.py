# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios that people know by name, as data in scenarios/NAME.toml: `sojourn new --scenario rrul`
writes one to begin with. A file is a scenario, and its first comment says in lines that begin with

source:    where it is described
differs:   what is so there and not here

Its `description` is what `sojourn list scenarios` prints. The file that is written is a user's own,
and follows no later change of these.
"""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import InputError, nearest
from sojourn.own.compiler import shown
from sojourn.own.library import absolute
from sojourn.store import write_errors

ROOT = Path(__file__).parent / "scenarios"
_SOURCE = re.compile(r"^# source: (.*(?:\n# {5}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class KnownScenario:
    """A scenario under its name."""

    name: str
    about: str
    source: str
    text: str


@functools.cache
def known_scenarios() -> dict[str, KnownScenario]:
    """Every one, by its name."""
    return {path.stem: _read(path) for path in sorted(ROOT.glob("*.toml"))}


def _read(path: Path) -> KnownScenario:
    whole = path.read_text(encoding="utf-8")
    # Without a licence: the author of the file that comes of it chooses one.
    text = re.sub(r"\A(?:#.*SPDX-.*\n)+(?:#\n)?", "", whole)
    source = _SOURCE.search(text)
    assert source, path
    about = tomllib.loads(text)["description"]
    return KnownScenario(path.stem, about, " ".join(source[1].replace("\n#", " ").split()), text)


def find(name: str) -> KnownScenario:
    """The scenario of that name, or an InputError with the names that there are."""
    known = known_scenarios()
    if name not in known:
        meant = nearest(name, known)
        names = "" if "Valid names" in meant else f" Valid names: {', '.join(known)}."
        raise InputError(f"--scenario {name}: there is no such scenario.{meant}{names}")
    return known[name]


def write(name: str, path: Path | None) -> Path:
    """Write it, as NAME.toml unless told otherwise. InputError if there is such a file."""
    scenario = find(name)
    file = absolute(path or f"{name}.toml")
    if file.suffix != ".toml":
        raise InputError(f"{path}: a scenario is a TOML file: write FILE.toml")
    with write_errors(file):
        try:
            with file.open("x", encoding="utf-8") as out:
                out.write(scenario.text)
        except FileExistsError:
            raise InputError(f"{shown(file)}: there is such a file; nothing was written") from None
    return file
