# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The bench of `sojourn reproduce`: an empty store of its own, and what it prints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sojourn.papers.experiment import find

from bench import reproduce
from bench.reproduce import PARTS, Part, Timed, row, timed

STORED = Part("stored", "what an empty store has", ("duk/4", "--stored"), 1)


def test_a_part_begins_with_an_empty_store_and_leaves_its_page(tmp_path: Path) -> None:
    found = timed(STORED, tmp_path / "stored", 1)
    assert (found.status, found.runs) == (0, 0)
    assert found.cpu_s > 0
    assert found.wall_s > 0
    assert "not run" in (tmp_path / "stored/printed.txt").read_text()
    assert (tmp_path / "stored/sojourn-duk-4/report.html").exists()


def test_each_part_names_experiments_that_are_there() -> None:
    for part in PARTS:
        assert find([word for word in part.words if not word.startswith("--")])


def test_a_goal_is_met_or_missed_and_a_failed_command_is_neither() -> None:
    part = PARTS[0]
    took = Timed(wall_s=60 * part.goal_min, cpu_s=500.4, runs=1470, load=0.25, status=0)
    assert row(part, took) == ("| stability, Tables I to V | 1470 | 300 | 500 | 300 | met | 0.25 |")
    assert "| missed |" in row(part, replace(took, wall_s=took.wall_s + 1))
    assert "| ended with status 3 |" in row(part, replace(took, status=3))


def test_what_cannot_be_timed_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "duk").mkdir()
    for words, said in (
        (["tabels"], "there is no part 'tabels'; there are tables, duk, quick, cfd, lqd-2, lqd-3"),
        (["tables", "duk", "--keep", str(tmp_path)], "duk is there, and a part begins empty"),
        (["duk", "--workers", "0"], "0 workers; allowed: 1 and more"),
    ):
        with pytest.raises(SystemExit) as stop:
            reproduce.main(words)
        assert stop.value.code == 2
        captured = capsys.readouterr()
        assert said in captured.err
        assert not captured.out


def test_a_command_that_fails_is_told_and_the_status_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "PARTS", (replace(STORED, words=("nothing",)),))
    assert reproduce.main(["--keep", str(tmp_path / "kept")]) == 1
    assert "| ended with status 2 |" in capsys.readouterr().out
