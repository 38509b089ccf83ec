# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The search for what a paper does not say: it looks at one half and ends before the other runs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.papers import experiment as of_experiments
from sojourn.papers import ledger_run, papers_page
from sojourn.papers.experiment import PaperFiles, experiments, find
from sojourn.papers.page import html
from sojourn.papers.points import Search, Setup, alone, claims_of, count, load, settled, setups
from sojourn.papers.reasons import Cell, Measured, Off, is_inside, off
from sojourn.papers.reproduce import reproduce
from sojourn.papers.search import (
    SEEDS,
    Cells,
    Halves,
    Ranked,
    cases_of,
    changes_of,
    data,
    effect,
    search,
    stored_search,
)
from sojourn.result.stats import Estimate
from sojourn.runs.executor import Runner
from sojourn.runs.run import jobs_of, open_store
from sojourn.store.store import Store

PAPER = """
title = "Toy"
source = "a test"
seeds = 10
quick_seeds = 3
queue = "bottleneck"

[[algorithms]]
name = "Short"
algorithm = "fifo"

[[algorithms]]
name = "CoDel"
algorithm = "codel"

[[algorithms]]
name = "Ours"
algorithm = "pie"
"""
EXPERIMENT = """
format = 1
title = "Toy {name}"
window = "all"

[[signals]]
name = "drop"
table = "Table {name}"
set = {{ "queue.ecn" = false }}
metrics = ["system_delay_mean_ms", "utilisation_pct"]

[[ablations]]
of = "drop"
name = "slow"
why = "to see that it is not searched"
set = {{ "dumbbell.rate" = "1 Mbit/s" }}
"""
SCENARIO = """
format = 2
name = "toy-{name}"
duration = "3 s"

[dumbbell]
rate = "4 Mbit/s"
rtt = "20 ms"
aqm = {{ algorithm = "fifo", limit = 20 }}

[[dumbbell.flows]]
name = "bulk"
count = 2

[record]
windows = [{{ name = "all", from = "1 s", to = "3 s" }}]
"""
# Of a queue of 20 packets on 4 Mbit/s; on 2 it is twice as long.
PUBLISHED = """
[drop.Short]
system_delay_mean_ms = {short}
utilisation_pct = 99.0

[drop.CoDel]
system_delay_mean_ms = 1000.0
"""
CLAIMS = """
[[claims]]
id = "toy/{name}/less"
text = "less delay"
source = "a test"
metrics = ["system_delay_mean_ms"]
relation = "less"
left = "CoDel"
right = "Short"
"""
SEARCH = """
format = 1
searched = ["1"]
setups = 7
seed = 3

[[points]]
name = "rate"
silent = "no section has it"

[[points.values]]
name = "fast"
set.1 = { "dumbbell.rate" = "4 Mbit/s" }
set.2 = { "dumbbell.rate" = "4 Mbit/s" }

[[points.values]]
name = "slow"
set.1 = { "dumbbell.rate" = "2 Mbit/s" }
set.2 = { "dumbbell.rate" = "2 Mbit/s" }

[[points]]
name = "flows"
silent = "nor this"

[[points.values]]
name = "two"
set.1 = { "flows.bulk.count" = 2 }

[[points.values]]
name = "three"
set.1 = { "flows.bulk.count" = 3 }

[[points]]
name = "limit"
silent = "nor this"
only = ["Short"]

[[points.values]]
name = "20"
set.2 = { "queue.limit" = 20 }

[[points.values]]
name = "10"
set.2 = { "queue.limit" = 10 }

[[outside]]
name = "five flows"
against = "two flows"
set."1: drop" = { "flows.bulk.count" = 5 }
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a paper of two experiments; the first prints what a slow link gives."""
    folder = tmp_path / "papers" / "toy"
    for name, short in (("1", 110.0), ("2", 55.0)):
        (folder / name).mkdir(parents=True)
        (folder / name / "experiment.toml").write_text(EXPERIMENT.format(name=name))
        (folder / name / "scenario.toml").write_text(SCENARIO.format(name=name))
        (folder / name / "published.toml").write_text(PUBLISHED.format(short=short))
        (folder / name / "claims.toml").write_text(CLAIMS.format(name=name))
    (folder / "paper.toml").write_text(PAPER)
    (folder / "search.toml").write_text(SEARCH)
    monkeypatch.setattr(of_experiments, "ROOT", folder.parent)
    yield folder


def test_a_search_of_some_rows_has_the_others_in_the_other_half(toy: Path) -> None:
    path = toy / "search.toml"
    every = search(load(toy)).text
    path.write_text(path.read_text().replace("setups = 7", 'setups = 7\nalgorithms = ["Short"]'))
    found = search(load(toy))
    assert {cell.algorithm for cell in found.ranked.half[1]} == {"Short"}
    assert found.text == every
    rest = {(row["experiment"], row["algorithm"]) for row in found.rows() if row["half"] == "other"}
    assert rest == {("1", "CoDel"), ("2", "Short"), ("2", "CoDel")}
    assert "1 (the other algorithms), 2 (" in found.counts()


def test_the_search_of_lqd_looks_at_no_row_with_an_aqm() -> None:
    spec = load(of_experiments.ROOT / "lqd")
    first = setups(spec)[0]
    cases = [case for part in spec.half for case in cases_of(part, first)]
    assert {case.labels["aqm"] for case in cases} == {"fifo"}
    assert {case.labels["experiment"] for case in cases} == {"web"}
    cases = [case for part in spec.other for case in cases_of(part, first)]
    assert {case.labels["experiment"] for case in cases} == {"web", "load", "tmix"}
    rows = {str(c.labels["algorithm"]) for c in cases if c.labels["experiment"] == "web"}
    assert rows == {f"{name} {target}" for name in ("PI", "LQD", "REM") for target in (24, 240)}


def test_an_experiment_is_searched_in_the_run_of_quick(toy: Path) -> None:
    path = toy / "1" / "experiment.toml"
    path.write_text(path.read_text() + '[quick.set]\nduration = "4 s"\n')
    spec = load(toy)
    first = setups(spec)[0]
    lengths = {
        part.label: {c.scenario.duration / 1e9 for c in cases_of(part, first)}
        for part in (*spec.half, *spec.other)
    }
    assert lengths == {"1": {4.0}, "2": {3.0}}


def test_experiments_that_share_a_scenario_have_their_own_windows_and_metrics(toy: Path) -> None:
    alone_in_half = search(load(toy), workers=2).text
    (toy / "3").mkdir()
    late = EXPERIMENT.format(name="3").replace('window = "all"', 'scenario = "1"\nwindow = "late"')
    (toy / "3" / "experiment.toml").write_text(late)
    (toy / "3" / "published.toml").write_text("[drop.Short]\nsystem_delay_mean_ms = 50.0\n")
    path = toy / "1" / "scenario.toml"
    both = 'windows = [{ name = "late", from = "0 s", to = "1 s" }, '
    path.write_text(path.read_text().replace("windows = [", both))
    for keys in ('searched = ["1", "3"]', 'searched = ["1"]'):
        file = toy / "search.toml"
        file.write_text(file.read_text().replace('searched = ["1"]', keys))
        found = search(load(toy), workers=2).text
        assert {c: m for c, m in found.items() if c.experiment == "1"} == {
            c: m for c, m in alone_in_half.items() if c.experiment == "1"
        }
        (third,) = (measured for cell, measured in found.items() if cell.experiment == "3")
        first = found[Cell("1", "drop", "Short", "system_delay_mean_ms")]
        assert third.estimate.mean != first.estimate.mean


def test_the_text_s_value_comes_back_where_it_is_best_and_the_ledger_has_another(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the slow link is in print what the fast one gives."""
    path = toy / "search.toml"
    path.write_text(path.read_text().replace('name = "rate"', 'name = "rate"\ntext = "fast"', 1))
    for name in "12":
        scenario = toy / name / "scenario.toml"
        scenario.write_text(scenario.read_text().replace("4 Mbit/s", "2 Mbit/s"))
        (toy / name / "published.toml").write_text(PUBLISHED.format(short=55.0))
    found = search(load(toy), workers=2)
    assert found.ranked.best.label == "the text's own"
    assert {(entry["point"], entry["value"]) for entry in found.adopt()} == {("rate", "fast")}
    assert status(["reproduce", "toy", "--search", "--out", str(toy / "out")]) == 0
    assert "to have the best set-up in the ledger" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("setups = 7", 'setups = 7\nalgorithms = ["Ours"]', "none has a number in print in 1"),
        (
            'name = "rate"\nsilent',
            'name = "rate"\ntext = "slow"\nsilent',
            "'fast' is not the text's value; write what it sets",
        ),
    ],
)
def test_a_mistake_of_the_search_is_told_before_any_run(
    toy: Path, capsys: pytest.CaptureFixture[str], was: str, now: str, said: str
) -> None:
    path = toy / "search.toml"
    text = path.read_text().replace(was, now)
    # The value that the ledger has, without the keys that it sets.
    path.write_text(
        text.replace('set.1 = { "dumbbell.rate" = "4 Mbit/s" }\n', "", 1).replace(
            'set.2 = { "dumbbell.rate" = "4 Mbit/s" }\n', "", 1
        )
    )
    assert status(["reproduce", "toy", "--seeds", "1", "--out", str(toy / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (toy / "out").exists()


PAPERS = sorted(
    paper
    for paper in {found.paper for found in experiments()}
    if (of_experiments.ROOT / paper / "search.toml").is_file()
)


@pytest.fixture(scope="module")
def duk() -> Search:
    """The search of DUK as it is shipped."""
    return load(of_experiments.ROOT / "duk")


def keys(spec: Search, experiment: str, tried: list[Setup]) -> set[str]:
    """Where the runs of set-ups on an experiment are filed."""
    (found,) = [part for part in (*spec.half, *spec.other) if part.experiment.name == experiment]
    cases = [case for setup in tried for case in cases_of(found, setup)]
    return {job.key for job in jobs_of(cases, SEEDS, ("sim",))}


def filed(store: Store) -> set[str]:
    """All that a store has."""
    return {path.parent.name for path in store.root.glob("*/*/complete.json")}


def test_a_grid_that_is_small_is_tried_whole_and_what_is_outside_comes_last(toy: Path) -> None:
    tried = setups(load(of_experiments.ROOT / "toy"))
    assert [setup.label for setup in tried] == [
        "the text's own",
        "rate: slow",
        "flows: three",
        "rate: slow; flows: three",
        "outside the text: five flows",
    ]


def test_of_a_large_grid_so_many_are_drawn_as_the_file_allows_always_the_same(duk: Search) -> None:
    tried = setups(duk)
    assert len(tried) == duk.setups <= 64 < count(duk)
    assert len({setup.label for setup in tried}) == len(tried)
    assert [setup.label for setup in setups(duk)] == [setup.label for setup in tried]
    singles = {setup.label for setup in tried if len(setup.changed) == 1}
    wanted = {
        f"{point.name}: {value.name}"
        for point in duk.points
        for value in point.values
        if point.touches(duk.searched) and value.name != point.text
    }
    assert singles == wanted


@pytest.mark.parametrize("paper", PAPERS)
def test_every_search_that_is_shipped_has_the_ledgers_values_and_keys_that_can_be_set(
    paper: str,
) -> None:
    spec = load(of_experiments.ROOT / paper)
    if spec.experiments:
        assert spec.other
        assert 1 < len(setups(spec)) <= 64
    assert all(point.ledger == point.text for point in spec.points)


def test_the_search_of_duk_is_of_its_first_two_experiments(duk: Search) -> None:
    assert duk.searched == ("1", "2")
    assert [part.label for part in duk.other] == ["3", "4", "5", "6"]
    assert settled(PaperFiles(duk.path.parent)) == ()


def test_the_other_half_does_not_run_before_the_search_has_ended(toy: Path, tmp_path: Path) -> None:
    spec, store = load(of_experiments.ROOT / "toy"), Store(tmp_path / "runs")
    tried = setups(spec)
    runner = Halves(spec, Runner(store, workers=2))
    ranked = runner.rank(tried)
    searched = keys(spec, "1", tried)
    assert filed(store) == searched
    # Two algorithms of the paper's, three seeds, five set-ups: no form of ours, no ablation.
    assert len(searched) == 2 * 3 * 5
    runner.judge(ranked)
    three = [ranked.text, ranked.best, ranked.median]
    # And what sets something there alone, for reasons.
    reasons = [setup for setup in tried if setup.label == "rate: slow"]
    reasons += alone(spec, start=len(tried) + 1)
    assert filed(store) - searched == keys(spec, "2", three + reasons)


def test_what_was_run_is_not_run_again(toy: Path, tmp_path: Path) -> None:
    first = search(load(of_experiments.ROOT / "toy"), out=tmp_path / "out", workers=2)
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("complete.json")}
    again = search(load(of_experiments.ROOT / "toy"), out=tmp_path / "out", workers=2)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("complete.json")} == made
    assert again.to_json() == first.to_json()


def test_a_papers_page_has_a_search_that_was_made_to_its_end(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = load(of_experiments.ROOT / "toy")
    tried = setups(spec)
    assert stored_search(PaperFiles(toy)) is None
    runner = Halves(spec, Runner(open_store(None), workers=2))
    ranked = runner.rank(tried)
    assert stored_search(PaperFiles(toy)) is None, "only the searched half has run"
    searched = runner.judge(ranked)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a run was made")

    monkeypatch.setattr("sojourn.runs.executor.Runner._make", refuse)
    found = stored_search(PaperFiles(toy))
    assert found and found["judged"] == data(searched)["judged"]
    page = html([reproduce(find(["toy/1"])[0], looked_up=("sim",))], searches={"toy": found})
    assert "What a search of the open points found (toy)" in page
    assert found["judged"][1]["label"] in page


def test_the_page_of_papers_says_what_a_search_found_until_its_points_change(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / "figures.toml").write_text("figures = []")
    search(load(of_experiments.ROOT / "toy"), out=None, workers=2)
    ledger_run.run(
        tmp_path / "out", quick=True, hosts=("sim",), looked_up=(), workers=2, say=lambda _: None
    )
    ledger = tmp_path / "out" / "ledger.json"
    found = stored_search(PaperFiles(toy))
    assert found
    best = next(row for row in found["judged"] if row["which"] == "best")
    line = f"| best | {best['searched']} | {best['other']} | {best['label']} |"
    assert line in papers_page.text(ledger)
    points = toy / "search.toml"
    points.write_text("# A comment changes nothing.\n" + points.read_text())
    assert line in papers_page.text(ledger)
    points.write_text(points.read_text().replace('silent = "', 'silent = "by the way, ', 1))
    assert "--search`: not run with the experiments as they are" in papers_page.text(ledger)


def test_the_best_meets_what_was_searched_and_the_other_half_tells_that_it_is_luck(
    toy: Path, tmp_path: Path
) -> None:
    found = search(load(of_experiments.ROOT / "toy"), out=tmp_path / "out", workers=2)
    counted = {which: (half, other) for which, _, half, other in found.judged()}
    assert found.cells == (3, 3)
    # 1 prints the delay of a slow link, 2 that of a fast one; nothing has CoDel's second.
    assert found.ranked.best.label == "rate: slow"
    assert counted == {"text": (1, 2), "best": (2, 1), "median": (1, 2)}
    assert {entry["key"] for entry in found.adopt()} == {"dumbbell.rate"}
    assert [entry["in"] for entry in found.adopt()] == ["1/scenario.toml", "2/scenario.toml"]


def test_a_reason_is_a_run_with_one_thing_changed_else_it_is_unexplained(
    toy: Path, tmp_path: Path
) -> None:
    found = search(load(of_experiments.ROOT / "toy"), out=tmp_path / "out", workers=2)
    said = {
        (one.base.cell.experiment, one.base.algorithm, one.base.metric): one.kind
        for one in found.reasons
    }
    delay = "system_delay_mean_ms"
    assert said == {
        ("1", "Short", delay): "one thing",
        ("1", "CoDel", delay): "unexplained",
        ("2", "CoDel", delay): "unexplained",
    }
    (slow,) = [e for e in found.effects(half=True) if e.setup.label == "rate: slow"]
    assert (slow.gained, slow.lost) == (1, 0)
    assert slow.most
    assert slow.most[0].cell == Cell("1", "drop", "Short", delay)
    # A point that sets nothing in the searched half is tried on the other one, when it may be.
    assert [e.setup.label for e in found.effects(half=False)] == ["rate: slow", "limit: 10"]


def hand_made(*means: float, published: float = 10.0) -> dict[Cell, Measured]:
    """A cell of each mean, measured without spread."""
    cells = [Cell("1", "drop", f"A{i}", "system_delay_mean_ms") for i in range(len(means))]
    return {
        cell: Measured(cell, published, (mean,) * 3)
        for cell, mean in zip(cells, means, strict=True)
    }


def reasons(before: Cells, *tried: tuple[Setup, Cells]) -> list[Off]:
    """What is off, with what was tried."""
    return [
        Off(base, tuple(changes_of(cell, before, tried)))
        for cell, base in before.items()
        if not base.inside
    ]


def test_cells_inside_are_counted_and_ties_go_to_what_changes_less(toy: Path) -> None:
    text, slow, three, both, outside = setups(load(of_experiments.ROOT / "toy"))
    halves = {
        text.number: hand_made(10.0, 12.0, 30.0),
        slow.number: hand_made(10.9, 9.1, 30.0),
        three.number: hand_made(30.0, 30.0, 30.0),
        both.number: hand_made(10.0, 10.0, 30.0),
        outside.number: hand_made(10.0, 10.0, 10.0),
    }
    ranked = Ranked(load(of_experiments.ROOT / "toy"), (text, slow, three, both, outside), halves)
    assert [ranked.count(setup) for setup in ranked.setups] == [1, 2, 0, 2, 3]
    assert ranked.best == slow
    assert [setup.number for setup in ranked.order] == [2, 4, 1, 3]
    assert ranked.median == text
    assert outside not in ranked.order


def test_what_is_outside_the_text_is_a_reason_only_under_that_label(toy: Path) -> None:
    _, slow, _, both, outside = setups(load(of_experiments.ROOT / "toy"))
    before = hand_made(30.0, 30.0, 30.0, 30.0)
    alone = [
        (slow, hand_made(10.0, 20.0, 30.0, 30.0)),
        (outside, hand_made(10.0, 10.0, 10.0, 30.0)),
    ]
    several = [(both, hand_made(30.0, 10.0, 30.0, 30.0))]
    found = reasons(before, *alone, *several)
    assert [reason.kind for reason in found] == [
        "one thing",
        "several things",
        "outside the text",
        "unexplained",
    ]
    by = [reason.by and reason.by.setup for reason in found]
    assert by == [slow.number, both.number, outside.number, None]
    effect_of = effect(slow, before, alone[0][1])
    assert (effect_of.gained, effect_of.lost, effect_of.cells) == (1, 0, 4)


def test_what_moves_a_number_no_more_than_seeds_do_is_no_reason(toy: Path) -> None:
    _, slow, three, *_ = setups(load(of_experiments.ROOT / "toy"))
    (cell,) = text = hand_made(11.1)
    seeds = {cell: Measured(cell, 10.0, (9.0, 11.5, 12.2))}
    enough = hand_made(10.5)
    assert not text[cell].inside
    assert seeds[cell].inside
    (found,) = reasons(text, (slow, seeds))
    assert (found.kind, found.by) == ("unexplained", None)
    (found,) = reasons(text, (slow, seeds), (three, enough))
    assert found.kind == "one thing"
    assert found.by
    assert found.by.setup == three.number


# One is CoDel's alone, and one is of marks.
_OF_OTHERS = {"CoDel's square root", "ECN of a repeated SYN"}


def test_a_reason_names_no_change_that_does_not_reach_the_number(duk: Search) -> None:
    both = next(
        setup
        for setup in setups(duk)
        if {"burst", "delay box", "DUK's first interval", *_OF_OTHERS} <= setup.changed.keys()
    )
    said = {}
    for cell in (
        Cell("1", "drop", "DUK", "drop_pct"),
        Cell("1", "drop", "PIE", "drop_pct"),
        Cell("2", "drop", "PIE", "drop_pct"),
    ):
        before = {cell: Measured(cell, 10.0, (20.0,) * 3)}
        after = {cell: Measured(cell, 10.0, (10.0,) * 3)}
        (reason,) = reasons(before, (both, after))
        names = reason.by.name.split("; ") if reason.by else []
        said[cell.experiment, cell.algorithm] = {name.split(": ")[0] for name in names}
    reaching = set(both.changed) - _OF_OTHERS
    assert said["1", "DUK"] == reaching
    assert said["1", "PIE"] == reaching - {"DUK's first interval"}
    assert said["2", "PIE"] == (
        left if len(left := said["1", "PIE"] - {"delay box"}) > 1 else set()
    )


@pytest.mark.parametrize(
    ("metric", "published", "mean", "half", "inside"),
    [
        ("system_delay_mean_ms", 20.0, 22.0, 0.0, True),
        ("system_delay_mean_ms", 20.0, 22.1, 0.0, False),
        ("system_delay_mean_ms", 20.0, 22.1, 2.5, True),  # its interval holds the number
        ("system_delay_mean_ms", 20.0, 25.0, 40.0, False),  # and holds all others too
        ("system_delay_mean_ms", 20.0, 21.0, math.inf, True),
        ("system_delay_mean_ms", 0.19, 0.6, 0.0, True),  # half a clock of milliseconds
        ("system_delay_mean_ms", 0.19, 0.8, 0.0, False),
        ("utilisation_pct", 99.0, 97.0, 0.0, True),
        ("utilisation_pct", 99.0, 90.0, 0.0, False),  # though a tenth is more
        ("drop_pct", 0.0, 0.4, 0.0, True),
        ("jain", 0.9, 0.99, 0.0, True),
        ("system_delay_mean_ms", 20.0, math.nan, math.nan, False),
    ],
)
def test_inside_is_near_the_printed_number_or_in_an_interval_that_says_something(
    metric: str, published: float, mean: float, half: float, inside: bool
) -> None:
    assert is_inside(metric, published, Estimate(mean, half)) == inside


def test_a_ledger_that_took_up_what_a_search_found_has_its_half_calibrated(toy: Path) -> None:
    one, two = find(["toy/1", "toy/2"])
    assert claims_of(one)[1] == set()
    text = SEARCH.replace('silent = "no section has it"', 'silent = "no"\ntext = "fast"')
    (toy / "search.toml").write_text(text)
    assert claims_of(one)[1] == set()
    for name in ("1", "2"):
        slow = SCENARIO.format(name=name).replace("4 Mbit/s", "2 Mbit/s")
        (toy / name / "scenario.toml").write_text(slow)
    one, two = find(["toy/1", "toy/2"])
    assert claims_of(one)[1] == set(one.published)
    assert claims_of(two)[1] == set()
    # The text's own stays what it was.
    assert setups(load(of_experiments.ROOT / "toy"))[0].applied[0].name == "fast"


def test_a_search_prints_luck_set_ups_and_reasons_and_keeps_them_in_its_folder(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["reproduce", "toy", "--search", "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert "4 of 4 set-ups, and 1 outside the text, 3 seeds; searched: experiments 1 (3" in said
    for words in ("the text's own", "outside the text: five flows", "unexplained"):
        assert words in said
    assert "1/scenario.toml: dumbbell.rate = 2 Mbit/s" in said
    assert "the printed cells of 1 are calibrated" in said
    assert status(["reproduce", "toy", "--search", "--out", "out", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data == json.loads((tmp_path / "out" / "search.json").read_text())
    assert [row["which"] for row in data["judged"]] == ["text", "best", "median"]
    table = pq.read_table(tmp_path / "out" / "search.parquet").to_pylist()
    met = [row for row in table if row["half"] == "searched" and row["inside"]]
    assert len([row for row in met if row["setup"] == 1]) == data["setups"][0]["inside"]
    page = (tmp_path / "out" / "search.html").read_text()
    assert "five flows" in page
    assert not re.search(r"(src|href)=", page)


WRONG = {
    'searched = ["1"]|searched = ["3"]': "search.toml:3: searched: there is no experiment '3'.",
    'searched = ["1"]|searched = []': "searched: is empty; name the experiments",
    'searched = ["1"]|searched = ["1", "2"]': "has every experiment with numbers in print; leave",
    'searched = ["1"]|serched = ["1"]': "serched: unknown key (its value: ['1']). Did you mean 's",
    "format = 1|format = 2": "format: 2 is not known; this version reads 1",
    "setups = 7|setups = 65": "search.toml:4: setups: 65 is too large; allowed: up to 64",
    "setups = 7|setups = 3": "setups: 3 are too few for the text's own, each other value alone",
    'set.1 = { "dumbbell.rate" = "4 Mbit/s" }|set.3 = { "dumbbell.rate" = "4 Mbit/s" }': (
        "search.toml:13: points[0].values[0].set.3: there is no experiment '3'."
    ),
    'set."1: drop"|set."1: dorp"': "'1' has no cell 'dorp'. Did you mean 'drop'?",
    '"dumbbell.rate" = "2 Mbit/s"|"dumbbell.rat" = "2 Mbit/s"': "Did you mean 'rate'?",
    '"dumbbell.rate" = "2 Mbit/s"|"dumbbell.rate" = "2 ms"': "2 ms",
    '"dumbbell.rate" = "2 Mbit/s"|dumbbell.rate = "2 Mbit/s"': "write the key in quotes",
    '"dumbbell.rate" = "4 Mbit/s"|"dumbbell.rate" = "5 Mbit/s"': (
        "points[0].values: none of them is what scenario.toml and paper.toml have; add the value"
    ),
    '"dumbbell.rate" = "2 Mbit/s"|"dumbbell.rate" = "4000 kbit/s"': (
        "both 'fast' and 'slow' are what scenario.toml and paper.toml have; leave one out"
    ),
    'name = "flows"|name = "rate"': "'rate' is there twice; give it another name",
    'name = "three"|name = "two"': "'two' is there twice; give it another name",
    'only = ["Short"]|only = ["Shirt"]': "has no 'Shirt' of the paper's. Did you mean 'Short'?",
    'only = ["Short"]|only = ["Ours"]': "has no 'Ours' of the paper's.",
    'silent = "nor this"\nonly|silent = "nor this"\ntext = "30"\nonly': "there is no value '30'.",
    '"flows.bulk.count" = 2|"dumbbell.rate" = "4 Mbit/s"': (
        "'dumbbell.rate' of 1 is set by 'flows' too; make one point of the two"
    ),
    '"flows.bulk.count" = 5|"flows.bulk.count" = 2': "is what scenario.toml has; it should set",
    '"flows.bulk.count" = 5 }| }': "is empty; what does it set?",
    'silent = "no section has it"|': "silent: is missing",
    'set."1: drop" = { "flows.bulk.count" = 5 }|set = {}': "is what scenario.toml has; it should",
    'set.1 = { "flows.bulk.count" = 3 }|': (
        "both 'two' and 'three' are what scenario.toml and paper.toml have; leave one out"
    ),
}


@pytest.mark.parametrize(("change", "sentence"), WRONG.items())
def test_a_mistake_in_a_search_is_one_sentence_with_its_place(
    change: str, sentence: str, toy: Path
) -> None:
    old, new = change.split("|")
    assert old in SEARCH
    (toy / "search.toml").write_text(SEARCH.replace(old, new))
    with pytest.raises(InputError) as raised:
        setups(load(of_experiments.ROOT / "toy"))
    assert sentence in str(raised.value)
    assert str(raised.value).startswith(str(toy / "search.toml"))


def test_a_search_that_is_refused_leaves_no_folder_behind(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / "search.toml").write_text(SEARCH.replace('searched = ["1"]', 'searched = ["3"]'))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert status(["reproduce", "toy", "--search"]) == 2
    assert status(["reproduce", "toy", "--search", "--out", "out"]) == 2
    assert not list(Path().iterdir())


def test_a_value_may_be_that_the_scenario_sets_nothing(toy: Path) -> None:
    assert 'set.1 = { "flows.bulk.count" = 2 }\n' in SEARCH
    text = SEARCH.replace('set.1 = { "flows.bulk.count" = 2 }\n', "")
    (toy / "search.toml").write_text(text)
    flows = load(of_experiments.ROOT / "toy").points[1]
    assert (flows.name, flows.ledger) == ("flows", "two")


def test_points_that_set_one_key_for_different_algorithms_are_two_points(toy: Path) -> None:
    of_codel = SEARCH[SEARCH.index('[[points]]\nname = "limit"') : SEARCH.index("[[outside]]")]
    of_codel = of_codel.replace('"limit"', '"limit of CoDel"').replace("Short", "CoDel")
    (toy / "search.toml").write_text(SEARCH + of_codel)
    assert [point.name for point in load(of_experiments.ROOT / "toy").points][
        -1
    ] == "limit of CoDel"
    everywhere = of_codel.replace('only = ["CoDel"]\n', "")
    (toy / "search.toml").write_text(SEARCH + everywhere)
    with pytest.raises(InputError, match=r"'queue.limit' of 2 is set by 'limit of CoDel' too"):
        load(of_experiments.ROOT / "toy")


def test_a_paper_without_open_points_says_where_they_would_stand(toy: Path) -> None:
    (toy / "search.toml").unlink()
    with pytest.raises(InputError, match=r"toy: has no search.toml; its open points would stand"):
        load(of_experiments.ROOT / "toy")


def test_a_point_that_is_declared_once_serves_an_ablation_too(toy: Path) -> None:
    path = toy / "1" / "experiment.toml"
    text = path.read_text()
    own = 'set = { "dumbbell.rate" = "1 Mbit/s" }'
    assert own in text
    path.write_text(text.replace(own, 'point = "rate: slow"'))
    (experiment,) = find(["toy/1"])
    base, slow = experiment.signals()
    assert slow.set == {**base.set, "dumbbell.rate": "2 Mbit/s"} and slow.only == ()
    path.write_text(text.replace(own, 'point = "five flows"'))
    assert find(["toy/1"])[0].signals()[1].set["flows.bulk.count"] == 5
    for point, sentence in {
        'point = "rate: slov"': "search.toml has no 'rate: slov'. Did you mean 'rate: slow'?",
        'point = "limit: 10"': "'limit: 10' sets nothing here",
        f'point = "rate: slow"\n{own}': "stands beside `set`; leave one of them out",
    }.items():
        path.write_text(text.replace(own, point))
        with pytest.raises(InputError) as raised:
            find(["toy/1"])
        assert str(raised.value) == f"{path}: ablations[0].point: {sentence}"


def test_an_ablation_and_a_search_have_one_rule_of_reasons(toy: Path, tmp_path: Path) -> None:
    path = toy / "1" / "experiment.toml"
    own = 'set = { "dumbbell.rate" = "1 Mbit/s" }'
    path.write_text(path.read_text().replace(own, 'point = "rate: slow"'))
    searched = search(load(toy), out=tmp_path / "out", workers=2)
    reproduction = reproduce(find(["toy/1"])[0], quick=True, workers=2)
    by_cell = {one.base.cell: one for one in searched.reasons}
    found = off(reproduction)
    assert found
    for one in found:
        other = by_cell[one.base.cell]
        assert (one.kind, one.base) == (other.kind, other.base)
        assert one.changes[0].after.values == next(
            change.after.values for change in other.changes if change.name == "rate: slow"
        )
