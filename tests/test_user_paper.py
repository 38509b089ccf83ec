# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper in a folder of the user's: it runs, is judged, and says where its mistakes are."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.papers.claim import RULES
from sojourn.papers.experiment import PaperFiles


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
        (
            "paper.toml",
            '"codel"',
            '"codle"',
            "mypaper/paper.toml:21: algorithms[1].algorithm: unknown",
        ),
        ("1/experiment.toml", 'window = "full"', "", "window is missing; write it here or in"),
        ("1/experiment.toml", '"full"', '"ful"', "1/experiment.toml:7: window: the scenario has"),
        ("1/experiment.toml", '"drop_pct"', '"drop"', "unknown metric 'drop'"),
        (
            "1/experiment.toml",
            '"20 ms", "80 ms"',
            "20, 80",
            "1/experiment.toml:18: axes[0]: mypaper/1, drop, 20, Drop-tail: dumbbell.rtt: 20 has",
        ),
        ("paper.toml", "limit = 500", "limit = -1", "sojourn: mypaper/1, drop, 20 ms, Drop-tail:"),
        (
            "1/published.toml",
            "20 ms",
            "21 ms",
            "1/published.toml:5: no cell is 'drop, 21 ms'. Did you mean 'drop, 20 ms'? "
            "The axes have signal: drop; rtt: 20 ms, 80 ms",
        ),
        (
            "1/published.toml",
            "CoDel",
            "PIE",
            "1/published.toml:9: no algorithm 'PIE'; there are Drop-tail, CoDel",
        ),
        (
            "1/published.toml",
            "utilisation_pct = 97",
            "jain = 97",
            "1/published.toml:10: 'jain' is not measured in cell 'drop, 20 ms'; add it to",
        ),
        (
            "1/claims.toml",
            'left = "CoDel"',
            'left = "PIE"',
            "1/claims.toml:4: claim 1/tenth: no algorithm 'PIE'; there are Drop-tail, CoDel",
        ),
        (
            "1/claims.toml",
            '"utilisation_pct"',
            '"jain"',
            "1/claims.toml:14: claim 1/utilisation: 'jain' is not measured in cell 'drop, 20 ms'",
        ),
        (
            "1/claims.toml",
            'id = "1/utilisation"',
            'id = "1/tenth"',
            "1/claims.toml:15: claims[1].id: '1/tenth' is another claim's already",
        ),
        (
            "1/published.toml",
            "utilisation_pct = 97.0",
            'utilisation_pct = "97 %"',
            "1/published.toml:10: drop, 20 ms.CoDel.utilisation_pct: '97 %': write the number",
        ),
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


@pytest.mark.parametrize(
    "line",
    [
        'factor = "10%"',
        "factor = 0",
        "factor = -0.1",
        "factor = nan",
        "factor = inf",
        "factor = true",
        "factor = []",
        "factor = [0.1]",
        "factor = [0.1, 0.2, 0.3]",
        "factor = [0.2, 0.1]",
        "factor = [0, 0.1]",
        f"factor = 1{'0' * 400}",
        'margin = "-5 %"',
        "margin = nan",
        "margin = [-5]",
    ],
)
def test_a_factor_or_margin_that_decides_nothing_is_told_with_its_line(
    paper: Path, line: str
) -> None:
    path = paper / "1" / "claims.toml"
    path.write_text(path.read_text().replace("factor = 0.1", line))
    (experiment,) = PaperFiles(paper).experiments
    key = line.partition(" ")[0]
    rule = {"factor": "a factor is a number above 0", "margin": "a margin is a number in the"}
    with pytest.raises(InputError, match=rf"claims.toml:10: claims\[0\].{key}: .*{rule[key]}"):
        experiment.check()


@pytest.mark.parametrize("line", ['factor = "10%"', "factor = 0", "factor = [1]", "margin = [1]"])
def test_an_editor_knows_a_wrong_factor_or_margin_by_the_schema(paper: Path, line: str) -> None:
    text = (paper / "1" / "claims.toml").read_text()
    schema = json.loads((paper / "claims.schema.json").read_text())
    jsonschema.validate(tomllib.loads(text), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text.replace("factor = 0.1", line)), schema)


def test_a_folder_that_is_no_paper_is_refused_with_what_one_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["reproduce", str(tmp_path)]) == 2
    assert "a paper has paper.toml" in capsys.readouterr().err
