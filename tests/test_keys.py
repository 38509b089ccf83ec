# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Keys of what is built and kept: each changes with every source below its folders."""

from __future__ import annotations

import fnmatch
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sojourn.linux.uml import module
from sojourn.linux.uml.build import BuildError, Built, below
from sojourn.user_aqm import compiler, library, trial

ROOT = Path(__file__).resolve().parents[1]
KEPT = ("aqm", "traffic", "linux/qdisc", "linux/tc", "crates/core", "crates/sim")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of all sources that are compiled in, with a header in a folder that is new."""
    for folder in KEPT:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    for folder in ("aqm/parts", "aqm/law/parts", "linux/qdisc/parts", "crates/sim/src/parts"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "new.h").write_text("/* new */\n")
    return tmp_path


def changed_each(sources: list[Path], key: Callable[[], str]) -> Iterator[Path]:
    """Change a byte of each source in turn; tell of those whose change leaves the key."""
    assert sources
    before = key()
    for path in sources:
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        if key() == before:
            yield path
        path.write_bytes(content)
    assert key() == before


def compiled(core: Path) -> list[Path]:
    return [path for path in core.rglob("*.[ch]") if path.parent.name not in ("check", "test")]


def test_a_module_is_kept_by_every_source_of_it(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CORE", tree / "aqm")
    monkeypatch.setattr(module, "QDISC", tree / "linux/qdisc")
    monkeypatch.setattr(module, "TC", tree / "linux/tc")
    built = cast(Built, SimpleNamespace(kernel=Path("kernel-0/linux")))
    files = [*(tree / "linux").rglob("*"), *compiled(tree / "aqm"), tree / "aqm/all.sh"]
    sources = [path for path in files if path.is_file()]
    assert not list(changed_each(sources, lambda: module.module_key(built)))


def test_the_engine_is_named_by_every_source_of_it(tree: Path, tmp_path: Path) -> None:
    program = tmp_path / "key"
    subprocess.run(["rustc", ROOT / "crates/py/build.rs", "-o", program], check=True)
    (tree / "crates/py").mkdir()

    def key() -> str:
        done = subprocess.run([program], cwd=tree / "crates/py", capture_output=True, check=True)
        (line,) = (line for line in done.stdout.splitlines() if b"SOJOURN_SOURCES" in line)
        return line.decode()

    crates = [path for end in ("rs", "[ch]") for path in tree.glob(f"crates/*/src/**/*.{end}")]
    crates = [path for path in crates if "tests" not in path.parts]
    c_files = [*compiled(tree / "aqm"), *compiled(tree / "traffic")]
    assert not list(changed_each([*crates, *c_files, tree / "Cargo.lock"], key))
    shutil.rmtree(tree / "crates/core")
    with pytest.raises(subprocess.CalledProcessError):
        key()


def test_what_tests_a_users_file_is_kept_by_every_source_of_it(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = tree / "aqm"
    monkeypatch.setattr(trial, "_driver_sources", lambda _: [core / "check/check.c", core / "x.c"])
    key = trial.__dict__["_frame"]
    sources = [path for path in core.rglob("*.[ch]") if path.parent.name != "algorithms"]
    assert not list(changed_each(sources, lambda: key(None)))


def test_a_users_library_is_kept_by_every_source_of_its_frame(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "sources", lambda: tree / "aqm")
    key = library.__dict__["_frame"].__wrapped__
    assert not list(changed_each([*(tree / "aqm/check").glob("*.[ch]")], key))


def test_a_folder_without_sources_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="there is no file"):
        below(tmp_path, "*.c")
    with pytest.raises(BuildError, match="there is no file"):
        below(tmp_path / "absent")


@pytest.mark.parametrize("makefile", ["linux/qdisc", "linux/tc"])
def test_a_build_lays_out_files_of_new_folders(tree: Path, makefile: str) -> None:
    laid = tree / "laid"
    words: list[str | Path] = ["make", "-C", tree / makefile, "layout", f"BUILD={laid}"]
    subprocess.run(words, check=True, capture_output=True)
    names = {path.relative_to(tree / "aqm") for path in compiled(tree / "aqm")}
    assert {path.relative_to(laid / "aqm") for path in (laid / "aqm").rglob("*.[ch]")} == names


def test_a_wheel_has_every_source_that_it_compiles() -> None:
    parts: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = parts["tool"]["maturin"]
    wanted = [*compiled(ROOT / "aqm"), *(ROOT / "aqm/check").glob("*"), ROOT / "aqm/test/host.h"]
    wanted += [path for path in (ROOT / "linux").rglob("*") if path.is_file()]
    wanted += compiled(ROOT / "traffic")

    def is_in(name: str, key: str) -> bool:
        return any(
            fnmatch.fnmatch(name, entry["path"].replace("**/", "*")) for entry in patterns[key]
        )

    for path in wanted:
        name = f"python/sojourn/sources/{path.relative_to(ROOT)}"
        assert is_in(name, "include"), name
        assert not is_in(name, "exclude") or "__pycache__" in name, name
