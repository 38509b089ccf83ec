# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The command where little is as it should be: other libraries, no home, a narrow terminal."""

from __future__ import annotations

import atexit
import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn.cli import status
from sojourn.core import commit
from sojourn.runs.executor import Runner
from sojourn.store import store

from tests.conftest import SMALL

PACKAGE = Path(sojourn.__file__).parents[1]


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from sojourn.__main__ import main; main()", *words],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(PACKAGE)} | environment,
        check=False,
    )


@pytest.fixture(autouse=True)
def an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SMALL)


def other_library(name: str, text: str) -> str:
    """Make a library of this name, and a PYTHONPATH on which it comes first."""
    package = Path("others") / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(text)
    return os.pathsep.join([str(Path("others").absolute()), str(PACKAGE)])


def test_other_libraries_on_pythonpath_are_not_taken_for_ours() -> None:
    path = other_library("pydantic", 'VERSION = "1.10"\n')
    other_library_too = Path("others") / "pyarrow.py"
    other_library_too.write_text("raise ImportError('libarrow.so.4: no such file')\n")
    done = command("run", "small.toml", "--out", "here", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_library_that_cannot_be_loaded_is_named_in_a_sentence_and_by_doctor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("sojourn.store.arrow", "pyarrow.parquet"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert status(["run", "small.toml", "--out", "here"]) == 3
    said = capsys.readouterr().err
    assert "pyarrow" in said and "'sojourn doctor'" in said and "Traceback" not in said
    assert status(["doctor", "--json"]) == 3
    assert "pyarrow.parquet: " in capsys.readouterr().out


def test_without_a_cache_folder_runs_are_made_and_the_remedy_is_named() -> None:
    done = command("run", "small.toml", XDG_CACHE_HOME="/dev/null", MPLCONFIGDIR="")
    assert done.returncode == 0 and "queue delay" in done.stdout
    (line,) = done.stderr.splitlines()
    assert "/dev/null/sojourn" in line and "set XDG_CACHE_HOME" in line


def test_doctor_says_that_nothing_is_kept_without_a_cache_folder() -> None:
    done = command("doctor", "--json", XDG_CACHE_HOME="/dev/null")
    (store,) = (c for c in json.loads(done.stdout)["checks"] if c["name"] == "store")
    assert done.returncode == 3 and not store["ok"]
    assert "/dev/null/sojourn: cannot be written" in store["found"]


def test_a_picture_without_a_home_is_drawn_in_silence() -> None:
    assert status(["run", "small.toml", "--out", "here"]) == 0
    surroundings = {"HOME": "/dev/null", "XDG_CONFIG_HOME": "", "MPLCONFIGDIR": ""}
    done = command("plot", "here", "--out", "x.svg", "--figure", "delay", **surroundings)
    assert (done.returncode, done.stderr) == (0, "")
    assert (Path(os.environ["XDG_CACHE_HOME"]) / "sojourn/matplotlib").is_dir()


def test_a_cache_folder_that_is_read_only_is_replaced_for_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "read only"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(atexit, "register", lambda *_, **__: None)
    monkeypatch.setattr(store, "replaced", [])  # `doctor` tells of it for the rest of the process
    root = store.default_root()
    assert not root.is_relative_to(tmp_path) and os.environ["XDG_CACHE_HOME"] in str(root)
    assert "Permission denied" in capsys.readouterr().err
    root.parent.parent.rmdir()


def test_on_a_narrow_dumb_terminal_every_word_is_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "dumb")
    assert status(["list", "scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40 and "home" in lines
    assert "the network of `sojourn demo`" in " ".join(" ".join(lines).split())
    assert status(["run", "small.toml"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 41 and "\x1b" not in shown


@pytest.mark.parametrize("columns", ["0", "00", "wide", ""])
def test_a_width_that_is_none_hides_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert status(["list", "scenarios"]) == 0
    assert "the network of `sojourn demo`" in capsys.readouterr().out


def test_a_folder_that_holds_no_result_names_those_below_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("all").mkdir()
    assert status(["run", "small.toml", "--out", "all/one"]) == 0
    capsys.readouterr()
    assert status(["plot", "all"]) == 2
    assert capsys.readouterr().err == "sojourn: all: holds no result; these do: all/one\n"


def test_a_folder_may_have_a_name_that_is_no_text() -> None:
    """Where the locale is C, and Python is told so, each name beyond ASCII is of this kind."""
    odd = os.fsdecode(b"o\xfct")
    keep = ["--set", "record.events=true", "--set", "record.transfers=true"]
    for aqm in ("codel", "pie"):
        assert status(["run", "small.toml", *keep, "--aqm", aqm, "--out", odd]) == 0
    assert status(["verify", odd]) == 0
    assert status(["plot", odd, "--out", f"{odd}.html"]) == 0
    assert status(["export", odd, "--format", "pcapng", "--out", f"{odd} pcapng"]) == 0
    text = 'scenario = "small.toml"\n[[axes]]\nkey = "dumbbell.rate"\nvalues = ["9 Mbit/s"]\n'
    Path("sweep.toml").write_text(text)
    for _ in range(2):
        assert status(["sweep", "sweep.toml", "--out", f"{odd} sweep"]) == 0
    assert status(["verify", f"{odd} sweep"]) == 0


def test_a_result_of_nothing_but_brackets_is_one_sentence_for_every_verb(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status(["run", "small.toml", "--out", "here"]) == 0
    Path("here/result.json").write_text("[" * 100_000)
    for words in ("plot here", "compare here", "verify here", "export here --format flent --out x"):
        capsys.readouterr()
        assert status(words.split()) in (2, 3)
        assert len(capsys.readouterr().err.splitlines()) == 1
    assert status(["run", "small.toml", "--out", "here"]) == 0
    assert status(["compare", "here"]) == 0


@pytest.mark.parametrize(
    "words",
    [
        "new mine.c",
        "new --scenario cellular",
        "new --sweep small.toml",
        "linux metrics --out m.prom",
        "advise --up 1mbit --down 1mbit --out line.toml",
    ],
)
def test_a_full_disk_leaves_no_part_of_a_new_file_and_keeps_nothing_else(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sojourn.linux.device.ask", lambda _: "[]")
    monkeypatch.setattr(os, "fsync", full)
    assert status(words.split()) == 3
    assert capsys.readouterr().err.endswith(
        ": the disk is full; make room, and run the same command again\n"
    )
    assert [path.name for path in Path().iterdir()] == ["small.toml"]


def test_a_new_paper_is_a_whole_folder_or_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write = Path.write_text

    def until_the_disk_is_full(path: Path, text: str, encoding: str) -> int:
        if path.name == "claims.toml":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, text, encoding)

    with monkeypatch.context() as context:
        context.setattr(Path, "write_text", until_the_disk_is_full)
        assert status(["new", "--paper", "mine"]) == 3
    assert capsys.readouterr().err == (
        "sojourn: mine: the disk is full; make room, and run the same command again\n"
    )
    assert [path.name for path in Path().iterdir()] == ["small.toml"]
    assert status(["new", "--paper", "small.toml/mine"]) == 3
    assert "small.toml is a file; name another place" in capsys.readouterr().err
    assert status(["new", "--paper", "mine"]) == 0
    assert len(list(Path("mine").rglob("*.toml"))) >= 3


@pytest.mark.parametrize("thing", [None, 5, b"small.toml"])
def test_what_is_no_scenario_is_told_so(thing: Any) -> None:
    with pytest.raises(sojourn.InputError, match="is no scenario; give its file"):
        sojourn.run(thing)


def test_a_title_may_have_any_printable_signs() -> None:
    title = "web, video call: Überlast 測試"
    Path("titled.toml").write_text(SMALL.replace('"small"', f'"{title}"'))
    assert status(["run", "titled.toml", "--out", "titled"]) == 0
    assert sojourn.load("titled/scenario.toml").name == title


def test_a_result_names_its_commit_in_a_checkout_and_in_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert status(["run", "small.toml", "--out", "here"]) == 0
    of_result = json.loads(Path("here/result.json").read_text())["commit"]
    assert of_result == commit.commit()
    package = tmp_path / "lib" / "sojourn"
    package.mkdir(parents=True)
    monkeypatch.setattr(commit, "_PACKAGE", package)
    monkeypatch.setattr(commit, "_IN_WHEEL", package / "commit")
    commit.commit.cache_clear()
    assert commit.commit() is None
    (package / "commit").write_text("v0.1.0-3-gabcdef0\n")
    commit.commit.cache_clear()
    assert commit.commit() == "v0.1.0-3-gabcdef0"
    commit.commit.cache_clear()


_LATE = (
    ("run small.toml --plot", "no/p.svg", "there is no folder no; make it, or name another place"),
    ("run small.toml --plot", "file/p.svg", "file is a file; name another place"),
    ("run small.toml --plot", "folder.svg", "Is a directory"),
    ("run small.toml --out", "file", "is a file; name a folder, or another name"),
    ("run small.toml --out", "file/new", "file is a file; name another place"),
    ("sweep sweep.toml --out", "file", "is a file; name a folder, or another name"),
    ("demo --out", "file", "is a file; name a folder, or another name"),
    ("demo --out", "file/new", "file is a file; name another place"),
    ("plot kept --out", "no/p.html", "there is no folder no; make it, or name another place"),
    ("export kept --format flent --out", "file", "is a file; name a folder, or another name"),
    ("show --network home --out", "no/p.svg", "there is no folder no; make it, or name another"),
    ("advise --up 5mbit --down 50mbit --out", "no/l.toml", "there is no folder no; make it, or"),
    (
        "stability pi --flows 60 --capacity 15mbit --rtt 200ms --out",
        "file",
        "is a file; name a folder, or another name",
    ),
    ("reproduce duk/1 --quick --out", "file", "is a file; name a folder, or another name"),
)


@pytest.mark.parametrize(("words", "place", "remedy"), _LATE)
def test_a_place_that_cannot_be_written_is_told_before_any_run(
    words: str,
    place: str,
    remedy: str,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(small.parent)
    Path("file").touch()
    Path("folder.svg").mkdir()
    assert status(["new", "--sweep", "small.toml"]) == 0
    sojourn.run(small, out="kept")
    capsys.readouterr()
    before = sorted(Path().iterdir())

    def refuse(*_: object) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr(Runner, "run", refuse)
    assert status([*words.split(), place]) == 3
    said = capsys.readouterr()
    assert said.err.startswith(f"sojourn: {place}: ") and remedy in said.err
    assert said.out == "" and sorted(Path().iterdir()) == before
