# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The package's files can be read one after the other: no import runs in a circle, and none runs up
the ladder of rooms.

Imports inside a function count. Those of types alone close no circle, since nothing runs by them;
the ladder holds for them too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import sojourn

PACKAGE = Path(sojourn.__file__).parent
# From the lowest rung up, as the map in the package's docstring has them. A room, or a file beside
# the rooms, imports no higher one.
LADDER = [
    *re.findall(r"^(\w+) +[a-z`].*$", (sojourn.__doc__ or "").split("\n\n")[3], re.M),
    "__main__",
]
MAP = PACKAGE.parents[1] / "docs" / "inside" / "map.md"


def _imports(tree: ast.AST, types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import below, with or without those of types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                yield from _imports(ast.Module([other], []), types)
        else:
            yield from _imports(node, types)


def _named(node: ast.Import | ast.ImportFrom, files: dict[str, Path], own: str) -> Iterator[str]:
    """The files of the package that an import names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in files)
        return
    assert not node.level, f"{own}: write the import's whole name"
    for alias in node.names:
        inner = f"{node.module}.{alias.name}"
        if inner in files:
            yield inner
        elif node.module in files:
            yield node.module


def imports_by_file(package: Path, types: bool = False) -> dict[str, set[str]]:
    """Of each file of a package, the others that it imports."""
    files = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in package.rglob("*.py")
    }
    return {
        name: {
            other
            for node in _imports(ast.parse(path.read_text()), types)
            for other in _named(node, files, name)
            if other != name
        }
        for name, path in files.items()
    }


def circle(imports: dict[str, set[str]]) -> list[str]:
    """One circle, its first file once more at its end; empty, where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def climbs(imports: dict[str, set[str]], ladder: list[str]) -> list[str]:
    """Imports of a rung above; the package's own file stands beside the ladder."""
    rungs = {name: name.split(".")[1] for name in imports if "." in name}
    assert set(rungs.values()) <= {*ladder}, "a room that the ladder does not have"
    return [
        f"{name} imports {other}"
        for name, rung in rungs.items()
        for other in sorted(imports[name] & rungs.keys())
        if ladder.index(rung) < ladder.index(rungs[other])
    ]


def test_the_map_names_each_room_once_and_the_docs_have_the_same_ladder() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    rooms |= {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert sorted(LADDER) == sorted(rooms)
    ladder = next(line for line in MAP.read_text().splitlines() if line.startswith("core → "))
    assert [*ladder.split(" → "), "__main__"] == LADDER


def test_no_room_imports_one_above_it() -> None:
    assert climbs(imports_by_file(PACKAGE, types=True), LADDER) == []


def test_a_late_import_and_one_of_types_climb_too(tmp_path: Path) -> None:
    package = tmp_path / "house"
    for room in ("cellar", "attic"):
        (package / room).mkdir(parents=True)
        (package / room / "__init__.py").write_text("")
    (package / "attic" / "box.py").write_text("from house import cellar\n")
    types = "if TYPE_CHECKING:\n    from house.attic import box\n"
    for text in (types, "def f():\n    from house.attic import box\n"):
        (package / "cellar" / "wine.py").write_text(text)
        found = climbs(imports_by_file(package, types=True), ["cellar", "attic"])
        assert found == ["house.cellar.wine imports house.attic.box"]


def test_no_import_of_the_package_runs_in_a_circle() -> None:
    imports = imports_by_file(PACKAGE)
    assert len(imports) > 100
    found = circle(imports)
    assert not found, " imports ".join(found)


def test_a_late_import_closes_a_circle_and_one_of_types_does_not(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "roof.py").write_text("from house import wall\n")
    types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house.roof import Roof\n"
    (package / "wall.py").write_text(types)
    assert circle(imports_by_file(package)) == []

    (package / "wall.py").write_text(f"{types}def f():\n    import house.roof\n")
    assert circle(imports_by_file(package)) in (
        ["house.roof", "house.wall", "house.roof"],
        ["house.wall", "house.roof", "house.wall"],
    )
