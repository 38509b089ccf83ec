# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The sources of a program: the files of this repository that it includes or imports,
directly or not."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from os.path import normpath
from pathlib import Path

from tests.models.library import ROOT

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include "([^"]+)"', re.M)


def reached(first: Iterable[Path], neighbours: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """All that can be reached from these."""
    found: set[Path] = set()
    waiting = list(first)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += neighbours(path)
    return found


def c_files(first: Iterable[Path], folders: Iterable[Path]) -> set[Path]:
    """With what they include from beside them or from these folders; the rest is left out."""

    def included(path: Path) -> Iterable[Path]:
        for name in INCLUDE.findall(path.read_text()):
            places = (Path(normpath(folder / name)) for folder in (path.parent, *folders))
            yield from (place for place in places if place.is_file())

    return reached(first, included)


def python_files(*first: Path) -> set[Path]:
    """With what they import of this repository."""

    def imported(path: Path) -> Iterable[Path]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from modules(name.name for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from modules([node.module])
                yield from modules(f"{node.module}.{name.name}" for name in node.names)

    return reached(first, imported)


def modules(names: Iterable[str]) -> Iterable[Path]:
    """The files of those that are modules here."""
    for name in names:
        path = ROOT.joinpath(*name.split("."))
        yield from (p for p in (path.with_suffix(".py"), path / "__init__.py") if p.is_file())
