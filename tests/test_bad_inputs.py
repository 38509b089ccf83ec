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


def test_the_list_is_long() -> None:
    assert len(LIST["commands"]) >= 100
