# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims of a paper on several experiments: over which cells, and judged only when all ran."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from rich.console import Console
from sojourn.papers import paper as of_papers
from sojourn.papers import report
from sojourn.papers.experiment import ROOT, PaperFiles, find
from sojourn.papers.page import html
from sojourn.papers.paper import Paper, judge_papers, papers
from sojourn.papers.reproduce import Reproduction

PAPERS = papers()
TWO = """
[[claims]]
id = "duk/lowest"
text = "lowest delay in every experiment"
source = "a test"
metrics = ["system_delay_mean_ms"]
relation = "less"
left = "DUK"
right = ["CoDel", "PIE"]
where = { experiment = ["1", "2"], signal = "drop" }
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paper:
    """A paper of two experiments with one claim on both."""
    folder = tmp_path / "duk"
    folder.mkdir()
    (folder / "claims.toml").write_text(TWO)
    for name in ("paper.toml", "search.toml", "1", "2"):
        (folder / name).symlink_to(ROOT / "duk" / name)
    paper = Paper("duk", PaperFiles(folder).experiments)
    monkeypatch.setattr(of_papers, "papers_of", lambda _: [paper])
    return paper


def as_second(short: Reproduction, slower: str = "") -> Reproduction:
    """The same runs as experiment 2, in which the delay of one algorithm is ten times as long."""

    cells = tuple(
        replace(cell, values=tuple(10 * value for value in cell.values))
        if (cell.algorithm, cell.metric) == (slower, "system_delay_mean_ms")
        else cell
        for cell in short.cells
    )
    experiment = replace(short.experiment, folder=short.experiment.folder.with_name("2"))
    experiment.__dict__["scenario"] = short.experiment.scenario
    return replace(short, experiment=experiment, cells=cells)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_claim_of_a_paper_is_on_cells_that_its_experiments_measure(paper: Paper) -> None:
    measured = {
        (f"{experiment.name}: {signal.name}", contender.name, metric)
        for experiment in paper.experiments
        for signal in experiment.signals()
        for contender in experiment.contenders(signal)
        for metric in (*signal.metrics, *signal.beside)
    }
    for claim in paper.claims():
        assert set(claim.cells()) <= measured, claim.id
        assert claim.theory or len(paper.needed(claim)) > 1, f"{claim.id} belongs to one experiment"


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_an_algorithm_has_one_setting_in_all_experiments_of_a_paper(paper: Paper) -> None:
    first, *others = [experiment.data["algorithms"] for experiment in paper.experiments]
    assert all(other == first for other in others)


def test_duks_fairness_is_of_all_algorithms_beside_each_other() -> None:
    (duk,) = [paper for paper in PAPERS if paper.name == "duk"]
    (claim,) = [claim for claim in duk.claims() if claim.id == "duk/fairness"]
    cells = {pair.signal for pair in claim.pairs}
    assert cells == {"3: drop", "3: ecn", "4: drop", "4: ecn"}
    for cell in cells:
        beside = [{pair.left, pair.right} for pair in claim.pairs if pair.signal == cell]
        assert len(beside) == 3
        assert all({*two} in beside for two in combinations(["DUK", "CoDel", "PIE"], 2))


def test_duks_calls_have_the_papers_packets() -> None:
    (experiment,) = find(["duk/5"])
    flows = experiment.scenario.to_engine()["flows"]
    assert {flow["app"]["payload"] for flow in flows} == {1448}


def test_a_claim_on_two_experiments_waits_for_both(two: Paper, short: Reproduction) -> None:
    ((alone,),) = [found.judged["sim"] for found in judge_papers([short])]
    assert alone.decision is None
    assert alone.missing == ("duk/2",)
    assert alone.to_json()["verdict"] == "not run"


def test_a_claim_on_two_experiments_counts_the_cells_of_both(
    two: Paper, short: Reproduction
) -> None:
    checks = {}
    for slower in ("", "DUK"):
        ((found,),) = [f.judged["sim"] for f in judge_papers([short, as_second(short, slower)])]
        assert found.decision
        checks[slower] = {
            (check.pair.signal, check.pair.right): check.estimate.mean
            for check in found.decision.checks
        }
    labels = [(f"{n}: drop", other) for n in (1, 2) for other in ("CoDel", "PIE")]
    assert list(checks["DUK"]) == labels
    for label in labels:
        tenfold = 10 if label[0] == "2: drop" else 1
        assert checks["DUK"][label] == pytest.approx(tenfold * checks[""][label])


def test_what_settled_a_setting_in_one_experiment_is_calibrated_in_the_papers_claim(
    two: Paper, short: Reproduction
) -> None:
    settled = ("drop", "DUK", "system_delay_mean_ms")
    for experiment in two.experiments:
        found, _ = experiment.claims()
        cells = {settled} if experiment.name == "1" else set()
        experiment.__dict__["claims"] = lambda found=found, cells=cells: (found, cells)
    ((judged,),) = [f.judged["sim"] for f in judge_papers([short, as_second(short)])]
    assert judged.verdict == "calibrated"


def test_a_report_has_the_papers_claims_before_its_experiments_unless_none_is_decided(
    two: Paper, short: Reproduction, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [short, as_second(short)]
    found = judge_papers(both)
    page = html(both, found)
    title = short.experiment.title + "</h2>"
    assert page.index("lowest delay in every experiment") < page.index(title)
    assert page.count("lowest delay in every experiment") == 1
    one = html([short], judge_papers([short]))
    assert (
        one.index(title)
        < one.index("lowest delay in every experiment")
        < one.index("needs duk/2 too")
    )
    report.print_paper(judge_papers([short])[0], Console(width=100))
    assert "needs duk/2 too" in capsys.readouterr().out
