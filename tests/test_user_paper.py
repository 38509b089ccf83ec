# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper in a folder of the user's: it runs, is judged, and says where its mistakes are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sojourn.cli import status
from sojourn.papers.claim import RULES


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert status(["new", "--paper", "mypaper"]) == 0
    return tmp_path / "mypaper"


def test_a_paper_of_a_folder_runs_and_its_claims_are_judged(
    paper: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "./mypaper", "--quick", "--json", "--out", "out"]
    capsys.readouterr()
    assert status(words) == 0
    data = json.loads(capsys.readouterr().out)
    (experiment,) = data["experiments"]
    assert {claim["verdict"] for claim in experiment["claims"]} <= {*RULES}
    assert len(experiment["claims"]) == 2
    assert (paper.parent / "out" / "report.html").exists()
    capsys.readouterr()
    assert status(["reproduce", "mypaper/1", "--quick", "--stored"]) == 0
    assert "mypaper/1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "right", "wrong", "sentence"),
    [
        ("paper.toml", "title", "tilte", "mypaper/paper.toml:5: tilte: unknown key"),
        ("paper.toml", "seeds = 10", "seeds = 0", "mypaper/paper.toml:8: seeds: 0 is too small"),
        ("paper.toml", '"codel"', '"codle"', "algorithms[1].algorithm: unknown algorithm 'codle'"),
        ("1/experiment.toml", 'window = "full"', "", "window is missing; write it here or in"),
        ("1/experiment.toml", '"full"', '"ful"', "window: the scenario has no 'ful'"),
        ("1/experiment.toml", '"drop_pct"', '"drop"', "unknown metric 'drop'"),
        ("1/published.toml", "20 ms", "21 ms", "no cell is 'drop, 21 ms, Drop-tail"),
        ("1/claims.toml", '"CoDel"', '"Codel"', "1/claims.toml: no cell is 'drop, 20 ms, Codel"),
        ("1/claims.toml", '"less"', '"lesser"', "1/claims.toml:9: claims[0].relation: 'lesser'"),
        ("1/claims.toml", "source =", "sauce =", "1/claims.toml:7: claims[0].sauce: unknown key"),
        ("1/scenario.toml", "rate", "rat", "1/scenario.toml:9: dumbbell.rat: unknown key"),
    ],
)
def test_a_mistake_of_a_file_is_told_before_the_first_run(
    paper: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    right: str,
    wrong: str,
    sentence: str,
) -> None:
    text = (paper / file).read_text()
    assert right in text
    (paper / file).write_text(text.replace(right, wrong, 1))
    capsys.readouterr()
    assert status(["reproduce", "./mypaper", "--quick", "--out", "out"]) == 2
    assert sentence in capsys.readouterr().err
    assert not (paper.parent / "out" / "report.html").exists()


def test_a_folder_that_is_no_paper_is_refused_with_what_one_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["reproduce", str(tmp_path)]) == 2
    assert "a paper has paper.toml" in capsys.readouterr().err
