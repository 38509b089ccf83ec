# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The cache folder: shown, and cleared of what was asked for."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn.cli import status
from sojourn.store.store import default_root

from tests.conftest import SMALL


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert status(["cache", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def build() -> Path:
    sojourn.run(sojourn.loads(SMALL), seeds=2, workers=1)
    folder = default_root().parent / "kernel-1"
    folder.mkdir()
    (folder / "linux").write_bytes(bytes(2_000_000))
    return folder


def test_it_says_what_is_there(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(capsys)
    assert shown["folder"] == str(build.parent)
    runs, builds = shown["parts"]
    assert (runs["part"], runs["count"]) == ("runs", 2)
    assert (builds["part"], builds["count"]) == ("builds", 1)
    assert builds["mb"] == pytest.approx(2, rel=0.1)
    assert status(["cache"]) == 0
    assert " MB " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("part", "left"),
    [
        ("runs", [0, 1]),
        ("builds", [2, 0]),
        ("all", [0, 0]),
    ],
)
def test_it_clears_what_was_asked_for(
    part: str, left: list[int], build: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "--clear", part)["removed"] == 3 - sum(left)
    assert [entry["count"] for entry in said(capsys)["parts"]] == left


def test_it_clears_only_what_is_old(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old_s = time.time() - 10 * 86_400
    for path in (build / "linux", build):
        os.utime(path, (old_s, old_s))
    assert said(capsys, "--clear", "all", "--older-than", "9")["removed"] == 1
    assert not build.exists()


def test_a_build_under_way_stays(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with build.with_name("kernel-1.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert said(capsys, "--clear", "builds")["removed"] == 0
    assert build.exists()
