# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Every numbered figure and table of a paper, as papers/PAPER/figures.toml lists them:

[[figures]]
number = "Figure 5(a)"       as printed
caption = "…"                its content, in our own words
experiments = ["1"]          those that answer it
cell = "drop"                and their cell: a signal, or one with the values of further axes
not = "…"                    or the reason why none answers it
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, nearest
from sojourn.papers.paper import Paper

FILE = "figures.toml"
_KEYS = {"number", "caption", "experiments", "cell", "not"}


@dataclass(frozen=True)
class InPrint:
    """One figure or table."""

    number: str
    caption: str
    experiments: tuple[str, ...]  # as the command line has them
    cell: str  # empty: all of them
    why_not: str


def read(paper: Paper) -> list[InPrint]:
    """Read the figures and tables of a paper, in its order; InputError for a wrong entry."""
    path = paper.folder / FILE
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["figures"]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError) as error:
        raise InputError(f"{path}: is no list of [[figures]]: {error}") from error
    found = [_read(paper, path, entry) for entry in entries]
    numbers = [one.number for one in found]
    for number in numbers:
        if numbers.count(number) > 1:
            raise InputError(f"{path}: {number} is there twice")
    return found


def _read(paper: Paper, path: Path, entry: Mapping[str, Any]) -> InPrint:
    number = str(entry.get("number", "a figure without number"))
    where = f"{path}: {number}"
    for key in entry.keys() - _KEYS:
        raise InputError(f"{where}: there is no key '{key}'.{nearest(key, _KEYS)}")
    for key in ("number", "caption"):
        if not str(entry.get(key, "")).strip():
            raise InputError(f"{where}: has no {key}")
    if ("experiments" in entry) == ("not" in entry):
        raise InputError(f"{where}: needs either experiments = [NAMES] or not = REASON")
    if "not" in entry and (not str(entry["not"]).strip() or "cell" in entry):
        raise InputError(f"{where}: not = REASON stands alone, and gives a reason")
    known = {experiment.name: experiment for experiment in paper.experiments}
    names = entry.get("experiments", [])
    if not isinstance(names, list) or ("experiments" in entry and not names):
        raise InputError(f"{where}: experiments = {names!r}; it is a list of names")
    cell = str(entry.get("cell", ""))
    for name in names:
        if name not in known:
            raise InputError(f"{where}: there is no experiment '{name}'.{nearest(name, known)}")
        labels = [one.label for one in known[name].cells()]
        if cell and not any(_is_of(label, cell) for label in labels):
            raise InputError(
                f"{where}: experiment '{name}' has no cell '{cell}'.{nearest(cell, labels)}"
            )
    ids = tuple(known[name].id for name in names)
    return InPrint(number, str(entry["caption"]), ids, cell, str(entry.get("not", "")))


def _is_of(label: str, cell: str) -> bool:
    """Tell whether `cell` means the cell of this label: by its whole label, or by some of its
    values."""
    return label == cell or set(cell.split(", ")) <= set(label.split(", "))
