# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Each wrong input of bad_inputs.toml is answered by one sentence."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
from sojourn.cli import status

from tests.conftest import SMALL

LIST = tomllib.loads(Path(__file__).with_suffix("").with_name("bad_inputs.toml").read_text())


@pytest.mark.parametrize(("command", "sentence"), LIST["commands"].items())
def test_a_wrong_input_is_one_sentence_and_status_2(
    command: str,
    sentence: str,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = {"small": str(small), "folder": str(tmp_path)}
    for name, content in LIST["files"].items():
        places[name] = str(tmp_path / f"{name}.toml")
        Path(places[name]).write_text(content)
    places["binary"] = str(tmp_path / "binary")
    Path(places["binary"]).write_bytes(b"\xff\xd0")
    empty = tmp_path / "empty folder"
    empty.mkdir()
    monkeypatch.chdir(empty)
    words = shlex.split(command)
    for name, place in places.items():
        words = [word.replace(f"{{{name}}}", place) for word in words]
    assert status(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert not re.search(r"at line \d+ column", said.err)
    assert sentence in " ".join(said.err.replace("│", " ").split())
    assert not list(empty.iterdir())


NINES = "9" * 5_000
DEEP = "a." * 3_000 + "b"


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        (
            SMALL.replace("count = 2", f"count = {NINES}"),
            "run",
            ":12:9: not TOML: A number has too",
        ),
        (f"{SMALL}{DEEP} = 1", "run", "keys or brackets are nested too deeply"),
        (f"seeds = {NINES}", "sweep", ":1:9: not TOML: A number has too many digits"),
        (f"{DEEP} = 1", "sweep", "keys or brackets are nested too deeply"),
        (
            f'scenario = "small.toml"\n[[axes]]\nkey = "{DEEP}"\nvalues = [1]',
            "sweep",
            "has 3001 parts; allowed: 100",
        ),
        (SMALL.replace("count = 2", "count = true"), "run", "count: true is not a whole number"),
        (SMALL.replace('"2 s"', "1979-05-27"), "run", "duration: 1979-05-27 has no unit"),
        (SMALL.replace('"2 s"', "true"), "run", "duration: true has no unit"),
        (SMALL.replace('"2 s"', "inf"), "run", "duration: inf has no unit"),
        (SMALL.replace('"2 s"', '{ of = ["s"] }'), "run", "duration: {of = ['s']} has no unit"),
        (SMALL.replace('"10 M', '"١٠ M'), "run", "rate: '١٠ Mbit/s' is not a number with a unit"),
        (SMALL, f"run --set {DEEP}=1", "has 3001 parts; allowed: 100"),
        (SMALL, f"run --set flows.bulk.count={NINES}", "is not a whole number"),
        (SMALL, f"run --set flows.{NINES}.count=1", "Valid names: bulk"),
        (SMALL, f"run --seeds {NINES}", "a number N is wanted"),
        (SMALL, "run --aqm duk:flows=١٠", "flows: '١٠' is not a whole number, such as 10"),
        (SMALL, f"sweep --dask tcp://127.0.0.1:{NINES}", "write tcp://HOST:PORT"),
        (SMALL, "sweep --dask tcp://127.0.0.1:٨٠", "write tcp://HOST:PORT"),
        (SMALL, f"run --set name={'[' * 5_000}", "is too long; allowed: 200 characters"),
        (SMALL, f"run --aqm codel:target={NINES}ms", "is more than the engine can hold"),
        (SMALL, f"run --aqm {'x' * 100_000}", "unknown algorithm 'xxx"),
        (SMALL, "run --aqm x\x1b[31m", r"unknown algorithm 'x\x1b[31m'"),
        (
            SMALL.replace("[dumbbell]", '"\\u001b[31m\\n" = 1\n[dumbbell]'),
            "run",
            r": \x1b[31m\n: unk",
        ),
    ],
    ids=map(str, range(23)),
)
def test_what_a_file_may_hold_is_answered_by_a_short_sentence_in_its_words(
    text: str,
    words: str,
    sentence: str,
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(small.parent)
    Path("wrong.toml").write_text(text)
    verb, *rest = words.split()
    assert status([verb, "wrong.toml", *rest]) == 2
    said = capsys.readouterr().err
    assert sentence in said and len(said) < 2_000 and said.rstrip("\n").isprintable()


def test_the_list_is_long() -> None:
    assert len(LIST["commands"]) >= 100
