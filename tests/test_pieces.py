# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A long run in pieces that take the place of seeds, and the part that --quick runs of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sojourn.core.errors import InputError
from sojourn.papers import ledger
from sojourn.papers.experiment import find
from sojourn.papers.paper import write_sample
from sojourn.papers.reproduce import Reproduction, reproduce

PIECES = """pieces = true
seeds = 1
quick_seeds = 1
title ="""
WINDOWS = 'windows = [{ name = "full", from = "5 s", to = "20 s", pieces = 2 }]'
QUICK = """
[quick]
where = { rtt = ["80 ms"] }

[quick.set]
duration = "6 s"
"record.windows.full.from" = "2 s"
"record.windows.full.to" = "6 s"
"""


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    folder = write_sample(tmp_path / "mine")
    path = folder / "1" / "experiment.toml"
    path.write_text(path.read_text().replace("title =", PIECES, 1) + QUICK)
    path = folder / "1" / "scenario.toml"
    text = path.read_text()
    path.write_text(text[: text.index("windows")] + WINDOWS)
    return folder


def measured(found: Reproduction, signal: str) -> tuple[float, ...]:
    return found.cell("sim", signal, "CoDel", "queue_delay_mean_ms").values


def test_each_piece_of_one_run_is_a_measurement_of_its_own(paper: Path) -> None:
    (experiment,) = find([str(paper)])
    found = reproduce(experiment, out=paper / "out")
    values = measured(found, "drop, 20 ms")
    (run,) = found.runs("sim", "drop, 20 ms", "CoDel")
    windows = next(q for q in run.report["queues"] if q["name"] == "bottleneck")["windows"]
    ends = [(window["name"], window["from_s"], window["to_s"]) for window in windows]
    assert ends == [("full", 5, 20), ("full 1 of 2", 5, 12.5), ("full 2 of 2", 12.5, 20)]
    means = [window["queue_delay_ms"]["mean"] for window in windows]
    assert list(values) == means[1:]
    assert len(set(means)) == 3
    assert "1 seed, each run in 2 pieces" in found.describe_seeds()
    assert found.decisions[0].seeds == 2


def test_an_experiment_may_measure_one_piece(paper: Path) -> None:
    path = paper / "1" / "experiment.toml"
    text = path.read_text().replace("pieces = true\n", "")
    path.write_text(text.replace('window = "full"', 'window = "full 2 of 2"'))
    (experiment,) = find([str(paper)])
    experiment.check()
    assert experiment.pieces == ("full 2 of 2",)
    assert (str(experiment.window.from_), str(experiment.window.to)) == ("12.5 s", "20 s")


def test_quick_runs_some_cells_for_a_shorter_time_and_judges_no_other(paper: Path) -> None:
    (experiment,) = find([str(paper)])
    found = reproduce(experiment, quick=True, out=paper / "out")
    assert measured(found, "drop, 20 ms") == ()
    assert len(measured(found, "drop, 80 ms")) == 2
    (run,) = found.runs("sim", "drop, 80 ms", "CoDel")
    assert [w["to_s"] for w in run.report["queues"][0]["windows"]] == [6, 4, 6]
    assert {judged.verdict for judged in found.judged["sim"]} == {"not run"}


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("scenario", ", pieces = 2", "", "toml:5: pieces: window 'full' is whole; write"),
        ("experiment", '["80 ms"]', '["80 s"]', "quick.where.rtt: no cell has '80 s'"),
    ],
)
def test_a_window_without_pieces_and_a_quick_cell_that_is_not_there_are_named(
    paper: Path, file: str, old: str, new: str, sentence: str
) -> None:
    path = paper / "1" / f"{file}.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    (experiment,) = find([str(paper)])
    with pytest.raises(InputError) as refused:
        experiment.check()
    assert sentence in str(refused.value)


def test_a_metric_of_two_queues_is_their_mean(paper: Path) -> None:
    path = paper / "1" / "experiment.toml"
    both = "utilisation_pct of bottleneck + back"
    path.write_text(path.read_text().replace('"drop_pct"', f'"{both}", "utilisation_pct of back"'))
    path = paper / "1" / "scenario.toml"
    text = path.read_text().replace('aqm = "fifo"', 'aqm = "fifo"\nback = { rate = "20 Mbit/s" }')
    path.write_text(text.replace("[record]", '[record]\nqueues = ["bottleneck", "back"]'))
    (experiment,) = find([str(paper)])
    experiment.check()
    found = reproduce(experiment, quick=True, out=paper / "out")
    there, back, mean = (
        found.cell("sim", "drop, 80 ms", "CoDel", metric).values[0]
        for metric in ("utilisation_pct", "utilisation_pct of back", both)
    )
    assert there > 2 * back > 0
    assert mean == pytest.approx((there + back) / 2)


@pytest.mark.parametrize("metric", ["handover_delay_mean_ms", "step_settled_pct"])
def test_a_metric_of_two_queues_that_no_report_has_is_refused_when_its_paper_is_read(
    paper: Path, metric: str
) -> None:
    path = paper / "1" / "experiment.toml"
    path.write_text(path.read_text().replace('"drop_pct"', f'"{metric} of bottleneck + back"'))
    said = rf"signals\[0\]: metric '{metric}' is of one queue; name one of 'bottleneck \+ back'"
    with pytest.raises(InputError, match=said):
        find([str(paper)])


def test_an_experiment_may_run_the_scenario_of_another_one_beside_it(paper: Path) -> None:
    other = paper / "2"
    other.mkdir()
    for name in ("experiment.toml", "published.toml", "claims.toml"):
        (other / name).write_text((paper / "1" / name).read_text())
    path = other / "experiment.toml"
    path.write_text(path.read_text().replace("title =", 'scenario = "1"\ntitle =', 1))
    (first, second) = find([str(paper)])
    assert [c.scenario for c in second.cases()] == [c.scenario for c in first.cases()]
    before = ledger.definition(second)
    place = paper / "1" / "scenario.toml"
    place.write_text(place.read_text().replace('"20 Mbit/s"', '"21 Mbit/s"', 1))
    assert ledger.definition(find([str(other)])[0]) != before, "its runs are others now"
    path.write_text(path.read_text().replace('scenario = "1"', 'scenario = "11"'))
    with pytest.raises(InputError, match=r"2/experiment.toml:\d+: scenario: .*no experiment '11'"):
        find([str(other)])[0].check()


def test_a_scenario_is_named_by_an_experiment_that_has_none_and_no_other_way(paper: Path) -> None:
    def naming(name: str, scenario: str) -> None:
        path = paper / name / "experiment.toml"
        lines = [line for line in path.read_text().splitlines() if "scenario =" not in line]
        path.write_text("\n".join([f'scenario = "{scenario}"', *lines]))

    for name in ("2", "3"):
        shutil.copytree(paper / "1", paper / name)

    def refused(name: str) -> str:
        with pytest.raises(InputError) as error:
            find([str(paper / name)])[0].check()
        return str(error.value).partition("experiment.toml:1: ")[2]

    naming("1", "1")
    remedy = "leave the key out, and it runs its own scenario.toml"
    assert refused("1") == f"scenario: it names itself; {remedy}"
    naming("1", "2")
    naming("2", "1")
    said = "itself; name one with a scenario.toml of its own. Valid names: 3."
    assert refused("1") == f"scenario: '2' runs that of '1' {said}"
    assert refused("2") == f"scenario: '1' runs that of '2' {said}"
    # Of all experiments of a paper one may be the one that they share.
    for name in ("1", "2", "3"):
        path = paper / name / "experiment.toml"
        path.write_text(path.read_text().replace(f'scenario = "{3 - int(name)}"', ""))
    path = paper / "paper.toml"
    path.write_text('scenario = "3"\n' + path.read_text())
    places = {experiment.scenario_path for experiment in find([str(paper)])}
    assert places == {paper / "3" / "scenario.toml"}
