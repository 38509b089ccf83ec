# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The page of a paper and the ledger of all: what they say is what was measured, and no more."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
import shutil
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from matplotlib.lines import Line2D
from sojourn.cli import status
from sojourn.core import progress
from sojourn.core.errors import InputError, Interrupted
from sojourn.papers import ledger, ledger_run, papers_page, report
from sojourn.papers.claim import VERDICTS
from sojourn.papers.experiment import Experiment, experiments, find
from sojourn.papers.figures import KINDS, figures, kind_of
from sojourn.papers.page import describe, window
from sojourn.papers.paper import figures_in_print, papers
from sojourn.papers.reasons import Cell, Change, Measured
from sojourn.papers.reproduce import make_runs, reproduce
from sojourn.papers.time_figure import window_s
from sojourn.runs.executor import Runner
from sojourn.runs.run import count_stored, is_ready, open_store, run_cases, seconds_stored
from sojourn.show.drawing import draw
from sojourn.store.folder import claim

from tests import toy_paper
from tests.pages import parse
from tests.test_sweeps import Scheduler
from tests.toy_paper import toy

__all__ = ["toy"]


def made(out: Path, *more: str) -> dict[str, Any]:
    """The ledger that the command writes."""
    assert status(["reproduce", "--quick", "--out", str(out), "--workers", "1", *more]) == 0
    return ledger.read(out / "ledger.json")


def cells_of(data: dict[str, Any]) -> list[tuple[str, Any]]:
    """Each with its experiment."""
    return [(e["experiment"], c) for e in data["papers"][0]["experiments"] for c in e["cells"]]


def test_the_index_has_every_experiment_of_the_folder_and_a_page_for_each_paper(
    toy: Path, tmp_path: Path
) -> None:
    made(tmp_path / "out")
    index = (tmp_path / "out" / "index.html").read_text()
    for experiment in experiments():
        assert experiment.title in index
        words = ("sojourn", "reproduce", experiment.id, "--quick", "--host", "sim")
        assert " ".join(f'<span class="word">{word}</span>' for word in words) in index
    page = parse(index)
    links = [e.attributes["href"] for e in page.named("a")]
    pages = [link for link in links if not link.startswith("#")]
    assert {link.partition("#")[0] for link in pages} == {f"{p.name}.html" for p in papers()}
    for link in pages:
        name, _, anchor = link.partition("#")
        text = (tmp_path / "out" / name).read_text()
        assert not anchor or f'id="{anchor}"' in text
    assert "http" not in index and "<script" not in index


def test_the_index_counts_one_figure_and_several(toy: Path, tmp_path: Path) -> None:
    data = made(tmp_path / "out")
    first, second = data["papers"][0]["experiments"]
    first["figures"], second["figures"] = first["figures"][:1], second["figures"][:2]
    assert len(second["figures"]) == 2
    counted = re.findall(r"2 seeds, (.*?)<", ledger.index(data))
    assert counted == ["1 figure", "2 figures"]


def test_verdicts_of_page_index_and_terminal_are_those_of_the_ledger(
    toy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # nine columns of counts in one row
    data = made(tmp_path / "out")
    (paper,) = data["papers"]
    claims = [*paper["claims"], *(c for e in paper["experiments"] for c in e["claims"])]
    for host in ("sim", "linux"):
        said = [claim["verdicts"][host] for claim in claims]
        counted = {verdict: said.count(verdict) for verdict in VERDICTS}
        assert paper["verdicts"][host] == counted
        chips = [f"{count} {verdict}" for verdict, count in counted.items() if count]
        for name in ("toy.html", "index.html"):
            rows = re.findall(
                r'rowheader">all</th>(.*?)</tr>', (tmp_path / "out" / name).read_text()
            )
            cell = rows[0].split("</td>")[("sim", "linux").index(host)]
            assert re.findall(r'class="chip.*?>(.*?)<', cell) == chips
    numbers = " | ".join(str(paper["verdicts"]["sim"][verdict]) for verdict in VERDICTS)
    printed = re.sub(r"\s*│\s*", " | ", capsys.readouterr().out)
    assert f"Toy | simulated | {numbers}" in printed


def test_a_ledger_with_the_words_of_an_older_one_is_read(toy: Path, tmp_path: Path) -> None:
    data = made(tmp_path / "out")
    for claim_ in [*data["papers"][0]["claims"], data["papers"][0]["experiments"][0]["claims"][0]]:
        claim_["verdicts"]["sim"] = "fails"
        for key in ("quote", "cause", "why", "contradicts"):
            del claim_[key]
    for counts in data["papers"][0]["verdicts"].values():
        for word in set(counts) - {"holds", "undecided", "calibrated", "not run"}:
            del counts[word]
        counts["fails"] = 2
    path = tmp_path / "older.json"
    path.write_text(json.dumps(data))
    again = ledger.read(path)
    assert again["papers"][0]["claims"][0]["verdicts"]["sim"] == "not found here"
    assert ledger.total(again)["sim"]["not found here"] == 2
    assert "2 not found here" in ledger.index(again)
    assert "| not found here (2 seeds) |" in papers_page.text(path)


def test_a_claim_that_is_not_found_has_its_cause_on_each_page_and_in_the_counts(
    toy: Path, tmp_path: Path
) -> None:
    path = toy / "paper.toml"
    path.write_text(path.read_text().replace("quick_seeds = 2", "quick_seeds = 4"))
    missed = 'relation = "greater"\nquote = true\ncause = "our stand-in"\nwhy = "it is a toy"'
    for name, more in (("a", missed), ("b", 'relation = "greater"')):
        path = toy / name / "claims.toml"
        path.write_text(path.read_text().replace('relation = "less"', more))
        (toy / name / "published.toml").write_text("")
    data = made(tmp_path / "out")
    (paper,) = data["papers"]
    assert paper["causes"] == {"sim": {"our stand-in": 1, "unexplained": 1}, "linux": {}}
    by_cause = "not found here: 1 our stand-in, 1 unexplained"
    for name in ("toy.html", "index.html"):
        text = (tmp_path / "out" / name).read_text()
        assert by_cause in text and "our stand-in: it is a toy" in text
        # The paper's words, and a paraphrase.
        assert text.count("“CoDel's delay is") + text.count("“CoDel&#39;s delay is") == 1
    page = papers_page.text(tmp_path / "out" / "ledger.json")
    assert "Not found here, simulator: 1 our stand-in, 1 unexplained." in page
    assert "| “CoDel's delay is less than that of tail drop” | Table a |" in page
    assert "| our stand-in: it is a toy. drop: system delay, mean, CoDel / Tail" in page


def test_a_full_link_and_a_quotient_of_printed_cells_are_counted_apart(
    toy: Path, tmp_path: Path
) -> None:
    path = toy / "a" / "published.toml"
    path.write_text(path.read_text().replace("99.5", "99.9"))
    path = toy / "b" / "experiment.toml"
    path.write_text('derived = ["utilisation_pct"]\n' + path.read_text())
    a, b = made(tmp_path / "out")["papers"][0]["experiments"]
    counts = [
        sum(of["hosts"]["sim"][key].values()) for of in (a, b) for key in ("cells", "can_miss")
    ]
    assert counts == [3, 2, 2, 2]
    page = papers_page.text(tmp_path / "out" / "ledger.json")
    assert page.count("; of those that can miss ") == 1
    for name in ("toy.html", "index.html"):
        assert (tmp_path / "out" / name).read_text().count("of those that can miss ") == 2
    path.write_text(path.read_text().replace('["utilisation_pct"]', '["utilization"]', 1))
    with pytest.raises(InputError, match=r"derived: .*Did you mean 'utilisation_pct'"):
        find(["toy/b"])


def test_a_host_that_did_not_run_says_so_cell_by_cell(toy: Path, tmp_path: Path) -> None:
    data = made(tmp_path / "out")
    cells = [cell for _, cell in cells_of(data)]
    assert len(cells) == 2 * 2 * 2
    assert {cell["linux"] for cell in cells} == {"not run"}
    assert all(len(cell["sim"]) == 3 for cell in cells)
    page = (tmp_path / "out" / "toy.html").read_text()
    # With those that have no number in print.
    assert page.count('<span class="not-run">not run</span>') == len(cells) + 2 * 2


def test_the_index_says_of_each_experiment_that_a_host_did_not_run_it(
    toy: Path, tmp_path: Path
) -> None:
    made(tmp_path / "out")
    index = (tmp_path / "out" / "index.html").read_text()
    missing = r"<br>not run: \d+ of \d+ runs are missing</p></td>"
    assert len(re.findall(rf"Linux: </span>[^S]*?{missing}", index)) == 2
    assert not re.findall(rf"simulated: </span>[^L]*?{missing}", index)


def test_a_missing_ablation_alone_is_no_gap_of_the_ledger(toy: Path, tmp_path: Path) -> None:
    reproductions = [reproduce(experiment, quick=True, workers=1) for experiment in find(["toy"])]
    gaps = {("toy/a", host): "2 of 8 runs are missing" for host in ("sim", "linux")}
    part = ledger.paper_part(reproductions, None, [(), ()], gaps=gaps)
    words = {host: of["why"] for host, of in part["experiments"][0]["hosts"].items()}
    assert words == {"sim": "", "linux": "2 of 8 runs are missing"}


def test_what_is_not_in_the_store_is_said_and_nothing_runs(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a run was made")

    reproduce(find(["toy/a"])[0], quick=True, workers=1)
    monkeypatch.setattr("sojourn.papers.reproduce.run_cases", refuse)
    data = made(tmp_path / "out", "--stored")
    first, second = data["papers"][0]["experiments"]
    assert first["hosts"]["sim"]["core"] and not second["hosts"]["sim"]["core"]
    assert first["claims"][0]["verdicts"]["sim"] != "not run"
    assert second["claims"][0]["verdicts"]["sim"] == "not run"
    (several,) = data["papers"][0]["claims"]
    assert several["verdicts"]["sim"] == "not run"
    assert several["measured"]["sim"] == "needs toy/b too"
    assert "toy/b on sim: 4 of 4 cells not run" in capsys.readouterr().out
    assert "| not run: 8 of 8 runs are missing |" in papers_page.text(tmp_path / "out/ledger.json")


@pytest.mark.parametrize("words", [[], ["toy/a", "toy/b"]], ids=["all", "named"])
def test_reading_the_store_shows_its_progress(
    toy: Path,
    tmp_path: Path,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for experiment in find(["toy/a", "toy/b"]):
        reproduce(experiment, quick=True, workers=1)
    monkeypatch.setattr(progress, "_QUIET_S", 0)
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0)
    out = str(tmp_path / "out")
    assert status(["reproduce", *words, "--quick", "--stored", "--out", out]) == 0
    said = re.findall(r"reading experiments from the store: (\d) of 2", capsys.readouterr().err)
    assert said[0] == "0" and said[-1] == "2" and said == sorted(said)


SEARCHED = {
    "definition": "0",
    "counts": "3 of 4",
    "cells": {"searched": 1, "other": 2},
    "judged": [{"which": "best", "label": "slow", "searched": 1, "other": 2}],
}


def test_a_ledger_takes_what_ran_in_another_and_keeps_its_own_rest(
    toy: Path, tmp_path: Path
) -> None:
    """The newer one has one experiment of two, and no claim that needs both."""
    reproduce(find(["toy/a"])[0], quick=True, workers=1)
    newer = made(tmp_path / "newer", "--stored")
    whole = made(tmp_path / "whole")
    newer["machine"]["processor"] = "another"
    for cell in newer["papers"][0]["experiments"][0]["cells"]:
        cell["sim"] = [1.0, 0.5, 1.5]
    both = ledger.joined(whole, newer)
    first, second = both["papers"][0]["experiments"]
    assert first == newer["papers"][0]["experiments"][0]
    assert second == whole["papers"][0]["experiments"][1]
    assert both["papers"][0]["claims"] == whole["papers"][0]["claims"]
    counts = both["papers"][0]["verdicts"]["sim"]
    assert list(counts) == list(VERDICTS) and sum(counts.values()) == 3
    assert counts["not run"] == 0
    assert both["machine"]["processor"] == f"{whole['machine']['processor']} and another"
    # A search that was made stays.
    searched = copy.deepcopy(whole)
    searched["papers"][0]["search"] = SEARCHED
    assert ledger.joined(searched, newer)["papers"][0]["search"] == SEARCHED
    # A paper that another ledger lacks stays.
    assert ledger.joined(whole, {**newer, "papers": []})["papers"] == whole["papers"]
    # Cells and claims that did not run there come from the other, and are counted.
    hole = copy.deepcopy(whole)
    part = hole["papers"][0]["experiments"][0]
    for cell in part["cells"]:
        cell["sim"] = "not run"
    for counts in (part["hosts"]["sim"]["cells"], part["hosts"]["sim"]["can_miss"]):
        counts |= {**dict.fromkeys(counts, 0), "not run": sum(counts.values())}
    for judged in part["claims"]:
        judged["verdicts"]["sim"], judged["seeds"]["sim"] = "not run", 0
    core, part["hosts"]["sim"]["core"] = part["hosts"]["sim"]["core"], "another"
    filled = ledger.joined(whole, hole)["papers"][0]["experiments"][0]
    assert filled["hosts"]["sim"]["core"] == f"another and {core}"
    part["hosts"]["sim"]["core"] = f"another and {core}"
    again = ledger.joined(whole, hole)["papers"][0]["experiments"][0]
    assert again["hosts"]["sim"]["core"] == f"another and {core}"
    filled["hosts"]["sim"]["core"] = core
    assert filled == whole["papers"][0]["experiments"][0]
    assert part["hosts"]["sim"]["cells"]["not run"] > 0
    # Of each host the one with more seeds.
    first = newer["papers"][0]["experiments"][0]
    first["hosts"]["sim"]["seeds"] = [1, 1]
    first["hosts"]["linux"] |= {"core": "another", "seeds": [3, 3]}
    first["cells"][0]["linux"] = [2.0, 1.5, 2.5]
    mixed = ledger.joined(whole, newer)["papers"][0]["experiments"][0]
    assert mixed["cells"][0]["sim"] == whole["papers"][0]["experiments"][0]["cells"][0]["sim"]
    assert mixed["cells"][0]["linux"] == [2.0, 1.5, 2.5]
    assert mixed["hosts"]["linux"]["core"] == "another"
    assert mixed["hosts"]["sim"]["core"] != "another"
    # The command makes the runs of both hosts, not those of one of the two ledgers.
    words = mixed["command"].removeprefix("sojourn reproduce toy/a ").split()
    assert words[words.index("--host") :][:4] == ["--host", "sim", "--host", "linux"]
    assert "linux=3" in words and mixed["seeds"] == 3
    # Files that changed since then did not run.
    whole["papers"][0]["experiments"][1]["definition"] = "of other files"
    changed = ledger.joined(whole, newer)["papers"][0]["experiments"][1]
    assert changed == newer["papers"][0]["experiments"][1]


def test_a_claim_on_several_experiments_is_not_taken_from_a_ledger_of_other_files(
    toy: Path, tmp_path: Path
) -> None:
    older = made(tmp_path / "older")
    newer = copy.deepcopy(older)
    (of_several,) = older["papers"][0]["claims"]
    of_several["verdicts"]["sim"], of_several["seeds"]["sim"] = "not found here", 99

    def verdict() -> str:
        return str(ledger.joined(older, newer)["papers"][0]["claims"][0]["verdicts"]["sim"])

    assert verdict() == "not found here"
    definition, of_several["definition"] = of_several["definition"], "another"
    assert verdict() == newer["papers"][0]["claims"][0]["verdicts"]["sim"] != "not found here"
    of_several["definition"] = definition
    older["papers"][0]["experiments"][1]["definition"] = "of other files"
    assert verdict() != "not found here"


def test_the_stored_runs_of_an_experiment_are_told_with_those_that_are_missing(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reproduce(find(["toy/a"])[0], workers=1, seeds={"sim": 2})
    capsys.readouterr()
    words = ["reproduce", "toy/a", "toy/b", "--stored", "--out", str(tmp_path / "out")]
    assert status(words) == 0
    said = capsys.readouterr().out
    assert re.search(r"toy/a on sim: 4 of 12 runs are missing, about .* of processor time", said)
    assert "toy/b on sim: 12 of 12 runs are missing" in said


def test_a_ledger_of_quick_joins_no_other_and_what_is_no_more_is_left_out(
    toy: Path, tmp_path: Path
) -> None:
    whole = made(tmp_path / "whole")
    with pytest.raises(InputError, match="one of the two ledgers is of --quick"):
        ledger.joined(whole, {**whole, "quick": not whole["quick"]})
    gone = copy.deepcopy(whole)
    gone["papers"].append({**copy.deepcopy(whole["papers"][0]), "paper": "gone"})
    gone["papers"][1]["experiments"] = gone["papers"][1]["experiments"][:1]
    gone["papers"][1]["experiments"][0]["experiment"] = "gone/a"
    assert ledger.joined(gone, gone)["papers"] == whole["papers"]


def test_a_cell_that_is_filled_from_another_ledger_is_counted_once_with_its_seeds(
    toy: Path, tmp_path: Path
) -> None:
    """The other ledger is of a form without the counts of cells that can miss."""
    whole = made(tmp_path / "whole")
    hole = copy.deepcopy(whole)
    part, host = (one["papers"][0]["experiments"][0] for one in (hole, whole))
    del part["hosts"]["sim"]["can_miss"]
    cell = next(cell for cell in part["cells"] if cell["published"] is not None)
    cell["sim"] = "not run"
    counts = part["hosts"]["sim"]["cells"]
    word = next(word for word, count in counts.items() if count and word != "not run")
    counts[word] -= 1
    counts["not run"] += 1
    part["hosts"]["sim"]["seeds"] = [9, 9]
    filled = ledger.joined(whole, hole)["papers"][0]["experiments"][0]["hosts"]["sim"]
    assert filled["cells"]["not run"] == 0 == filled["can_miss"]["not run"]
    assert sum(filled["cells"].values()) == sum(host["hosts"]["sim"]["cells"].values())
    assert filled["seeds"] == [host["hosts"]["sim"]["seeds"][0], 9]


def test_a_cell_of_which_a_seed_is_missing_did_not_run(toy: Path) -> None:
    (experiment,) = find(["toy/a"])
    whole = reproduce(experiment, quick=True, workers=1)
    gone = whole.runs("sim", "drop", "CoDel")[0].entry.folder
    (gone / "run.json").write_bytes(b"{")
    looked = reproduce(experiment, quick=True, looked_up=("sim",))
    assert not looked.cell("sim", "drop", "CoDel", "utilisation_pct").ran
    assert looked.cell("sim", "drop", "Tail <drop>", "utilisation_pct").ran
    (waiting,) = looked.judged["sim"]
    assert waiting.verdict == "not run"
    assert waiting.missing == ("toy/a (drop, CoDel)",)
    # It is moved aside, and the same command makes it again.
    again = reproduce(experiment, quick=True, workers=1)
    assert [c.estimate for c in again.cells] == [c.estimate for c in whole.cells]


def test_a_host_has_as_many_seeds_as_the_store_has_of_it(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of one experiment two of three, of one cell of the other a single one."""
    first, second = find(["toy/a", "toy/b"])
    reproduce(first, workers=1, seeds={"sim": 2})
    whole = reproduce(second, workers=1)
    gone = whole.runs("sim", "drop", "CoDel")[1].entry.folder
    shutil.rmtree(gone)
    out = tmp_path / "out"
    assert status(["reproduce", "--stored", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "toy/a on sim: 2 seeds of 3" in said and "toy/b on sim: 1 to 3 seeds of 3" in said
    data = ledger.read(out / "ledger.json")
    a, b = data["papers"][0]["experiments"]
    assert (a["hosts"]["sim"]["seeds"], b["hosts"]["sim"]["seeds"]) == ([2, 2], [1, 3])
    assert all(cell["sim"] != "not run" for e in (a, b) for cell in e["cells"])
    assert a["command"] == "sojourn reproduce toy/a --host sim --seeds sim=2"
    assert b["command"] == "sojourn reproduce toy/b --host sim"
    # A claim has the seeds that all its cells have, over several experiments too; of one seed
    # there is no interval.
    (of_a,), (of_b,), (several,) = a["claims"], b["claims"], data["papers"][0]["claims"]
    assert [claim["seeds"]["sim"] for claim in (of_a, of_b, several)] == [2, 1, 1]
    assert of_b["verdicts"]["sim"] == several["verdicts"]["sim"] == "undecided"
    page = papers_page.text(out / "ledger.json")
    assert "`sojourn reproduce`, 1 to 3 seeds, by" in page
    assert re.search(r"is less than that of tail drop \| Table b \| undecided \(1 seed\)", page)
    for name in ("toy.html", "index.html"):
        text = (out / name).read_text()
        assert "1 to 3 seeds" in text and '<span class="small">1&nbsp;seed</span>' in text
    assert status(["reproduce", "--seeds", "1", "--out", str(out)]) == 2
    assert "holds a ledger of more seeds on sim, which --seeds would" in capsys.readouterr().err
    # What is asked for anew is what is missing, and no more.
    assert status(["reproduce", "--seeds", "3", "--out", str(out), "--workers", "1"]) == 0
    captured = capsys.readouterr()
    assert "toy/a on sim: 4 of 12 runs are missing" in captured.err
    assert "seeds of 3" not in captured.out
    again = ledger.read(out / "ledger.json")["papers"][0]
    assert [e["hosts"]["sim"]["seeds"] for e in again["experiments"]] == [[3, 3], [3, 3]]


def test_linux_with_fewer_seeds_stands_beside_the_simulator(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a Linux that is the simulator, one packet time slower."""

    def run_pretended(cases: Any, *args: Any, hosts: Any, **rest: Any) -> Any:
        runs = run_cases(cases, *args, **rest)
        return [replace(run, labels={**run.labels, "host": hosts[0]}) for run in runs]

    path = toy / "a" / "experiment.toml"
    path.write_text(path.read_text() + LARGE)
    out = tmp_path / "out"
    words = ["reproduce", "--out", str(out), "--workers", "1"]
    assert status(words) == 0
    monkeypatch.setattr("sojourn.papers.reproduce.run_cases", run_pretended)
    monkeypatch.setattr(ledger_run, "make_runs", lambda *args, **options: set())
    assert status([*words, "--host", "linux", "--seeds", "2"]) == 0
    data = ledger.read(out / "ledger.json")["papers"][0]
    for entry in data["experiments"]:
        assert {host: of["seeds"] for host, of in entry["hosts"].items()} == {
            "sim": [3, 3],
            "linux": [2, 2],
        }
        assert entry["seeds"] == 3
        words_of = f"sojourn reproduce {entry['experiment']} --host sim --host linux"
        assert entry["command"] == f"{words_of} --seeds linux=2"
    (several,) = data["claims"]
    assert several["seeds"] == {"sim": 3, "linux": 2}
    assert "not run" not in several["verdicts"].values()
    text = (out / "toy.html").read_text()
    assert "3 seeds simulated, 2 seeds on Linux, 95 % t-intervals; with fewer than" in text
    assert "drop, large segments: what they do (Linux)" in text
    page = papers_page.text(out / "ledger.json")
    assert "`sojourn reproduce`, 3 seeds simulated, 2 seeds on Linux, by" in page
    assert re.search(r"\| (holds|undecided|not found here) \(3 seeds\) \| \w+ \(2 seeds\) \|", page)
    assert re.search(r"\| 3 \| \d[^|]* \| \d[^|]* \(2 seeds\) \|", page)


LARGE = """
[[ablations]]
of = "drop"
name = "large segments"
why = "what they do"
host = "linux"
set = { "linux.offloads" = true }
"""


def test_an_ablation_that_is_about_a_host_runs_there_alone(toy: Path) -> None:
    path = toy / "a" / "experiment.toml"
    path.write_text(path.read_text() + LARGE)
    (experiment,) = find(["toy/a"])
    both = ("sim", "linux")
    named = {host: [s.name for s in experiment.runs_on(host, both)] for host in both}
    assert named == {"sim": ["drop", "drop, five flows"], "linux": ["drop", "drop, large segments"]}
    alone = [s.name for s in experiment.runs_on("linux", ("linux",))]
    assert alone == ["drop", "drop, five flows", "drop, large segments"]
    assert not reproduce(experiment, quick=True, workers=1).runs(
        "sim", "drop, large segments", "CoDel"
    )
    path.write_text(path.read_text().replace('"linux"\n', '"linus"\n'))
    with pytest.raises(InputError, match=r"ablations\[1\].host: 'linus'.*Did you mean 'linux'"):
        find(["toy/a"])[0].signals()


def test_an_interrupted_ledger_names_what_is_missing_and_goes_on(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_at_second(experiments: Sequence[Experiment], *args: Any, **options: Any) -> None:
        monkeypatch.setattr(ledger_run, "make_runs", make_runs)
        make_runs(experiments[:1], *args, **options)
        raise Interrupted("interrupted: some runs are kept")

    monkeypatch.setattr(ledger_run, "make_runs", stop_at_second)
    options: Any = {"quick": True, "hosts": ("sim",), "looked_up": (), "workers": 1}
    said: list[str] = []
    with pytest.raises(Interrupted, match=r"--stored`.*\s+toy/b on sim: 8 of 8 runs"):
        ledger_run.run(tmp_path / "out", say=said.append, **options)
    assert said == [f"toy/{name} on sim: 8 of 8 runs are missing" for name in ("a", "b")]
    said.clear()
    data = ledger_run.run(tmp_path / "out", say=said.append, **options)
    assert said == ["toy/b on sim: 8 of 8 runs are missing"]
    assert ledger_run.not_there({**data, "papers": []}) == []
    assert all(
        cell["sim"] != "not run" for e in data["papers"][0]["experiments"] for cell in e["cells"]
    )


def test_a_paper_that_linux_cannot_run_has_the_reason_and_its_other_runs(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(scenario: Any) -> None:
        raise InputError("there is no such card")

    monkeypatch.setattr("sojourn.linux.refusals.check", refuse)
    monkeypatch.setattr("sojourn.runs.run.is_ready", lambda *host: True)
    words = ["reproduce", "--quick", "--out", str(tmp_path / "out"), "--workers", "2"]
    assert status([*words, "--host", "sim", "--host", "linux"]) == 0
    for entry in ledger.read(tmp_path / "out" / "ledger.json")["papers"][0]["experiments"]:
        assert entry["hosts"]["sim"]["seeds"] == [2, 2]
        assert entry["hosts"]["linux"]["why"] == "there is no such card"


def test_the_runs_of_a_paper_share_one_pool_of_workers(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[int] = []
    make = Runner._make

    def counted(self: Runner, jobs: Sequence[Any], *args: Any) -> Any:
        pools.append(len(jobs))
        return make(self, jobs, *args)

    monkeypatch.setattr(Runner, "_make", counted)
    options: Any = {"quick": True, "hosts": ("sim",), "looked_up": (), "workers": 2}
    for _ in range(2):
        ledger_run.run(tmp_path / "out", say=lambda line: None, **options)
    assert pools == [16]  # of both experiments, and none when the store has them


def test_a_cluster_makes_the_runs_of_a_ledger_and_what_is_missing_has_its_hours(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = types.ModuleType("distributed")
    asked: list[Any] = []

    class Counted(Scheduler):
        def submit(self, *words: Any, **named: Any) -> Any:
            asked.append(words)
            return super().submit(*words, **named)

    module.Client = Counted  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "distributed", module)
    reproduce(find(["toy/a"])[0], workers=1, seeds={"sim": 2})
    words = ["reproduce", "--out", str(tmp_path / "out"), "--dask", "tcp://127.0.0.1:8786"]
    assert status(words) == 0
    said = r"toy/a on sim: 4 of 12 runs are missing, about [\d.e-]+ hours of processor time\n"
    assert re.search(said, capsys.readouterr().err)
    assert asked
    data = ledger.read(tmp_path / "out" / "ledger.json")["papers"][0]
    assert [e["hosts"]["sim"]["seeds"] for e in data["experiments"]] == [[3, 3], [3, 3]]
    asked.clear()
    assert status(["reproduce", "toy/a", "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "--dask tcp://127.0.0.1:9: no scheduler answers there" in capsys.readouterr().err


def test_an_experiment_that_never_ran_on_a_host_has_the_hours_that_others_lead_one_to_expect(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ran in the simulator; one has a case on a Linux that takes six times as long."""
    hosts = ("sim", "linux")
    begun = find(["toy/a"])[0].cases_on("linux", hosts, True)[:1]

    def count(cases: Any, seeds: Any, store: Any, host: str) -> int:
        if host == "sim":
            return count_stored(cases, seeds, store, host)
        return len(seeds) * sum(case in begun for case in cases)

    def seconds(cases: Any, seeds: Any, store: Any, host: str) -> float:
        if host == "sim":
            return seconds_stored(cases, seeds, store, host) or 0
        return 6 * (seconds_stored(begun, seeds, store, "sim") or 0)

    for experiment in find(["toy/a", "toy/b"]):
        reproduce(experiment, quick=True, workers=1)
    monkeypatch.setattr(ledger_run, "count_stored", count)
    monkeypatch.setattr(ledger_run, "seconds_stored", seconds)
    first, second = ledger_run.missing(find(["toy/a", "toy/b"]), True, hosts, hosts, {})
    said = r"\d of 4 runs are missing, about \S+ hours of processor time"
    assert re.fullmatch(said, first.words())
    by_others = " at 6 times the simulator's, as other experiments take"
    assert re.fullmatch(said + by_others, second.words())
    assert second.cpu_s and second.simulated_s
    assert second.cpu_s == pytest.approx(6 * second.simulated_s)
    many = ledger_run.Missing("toy/a", "linux", 0, 1000, cpu_s=1476, others_ratio=123.4)
    assert "about 410 hours of processor time at 120 times the" in many.words()
    # Without a ratio there are no hours.
    begun.clear()
    (gap,) = ledger_run.missing(find(["toy/a"]), True, hosts, ("linux",), {})
    assert gap.words() == "4 of 4 runs are missing"


def test_with_one_published_number_changed_only_its_row_moves(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made(tmp_path / "before")
    lies = tmp_path / "lies"
    shutil.copytree(toy.parent, lies)
    path = lies / "toy" / "b" / "published.toml"
    path.write_text(path.read_text().replace("5.0", "0.5"))
    toy_paper.use(lies, monkeypatch)
    after = made(tmp_path / "after")

    moved = [
        (experiment, was["algorithm"], was["metric"], was["published"], now["published"])
        for (experiment, was), (_, now) in zip(cells_of(before), cells_of(after), strict=True)
        if was != now
    ]
    assert moved == [("toy/b", "CoDel", "system_delay_mean_ms", 5.0, 0.5)]
    assert before["papers"][0]["verdicts"] == after["papers"][0]["verdicts"]
    pages = [
        (tmp_path / name / "toy.html").read_text().splitlines() for name in ("before", "after")
    ]
    differ = [line for pair in zip(*pages, strict=True) if len(set(pair)) > 1 for line in pair[1:]]
    # In its table, among what is off, and beside its ablation.
    assert differ and all(
        "CoDel" in line or "Printed cells" in line or "off" in line for line in differ
    )
    assert not any("Tail" in line for line in differ)


def test_each_figure_has_words_and_a_csv_whose_numbers_are_those_drawn(
    toy: Path, tmp_path: Path
) -> None:
    made(tmp_path / "out")
    text = (tmp_path / "out" / "toy.html").read_text()
    page = parse(text)
    links = [e for e in page.named("a") if "download" in e.attributes]
    # Each of the two experiments has a picture of its network too.
    assert len(links) == len(page.named("figure")) - 2 == 4
    for link in links:
        head, _, held = link.attributes["href"].partition(",")
        assert head == "data:text/csv;charset=utf-8"
        file = tmp_path / "out" / "figures" / link.attributes["download"]
        assert file.read_text() == unquote(held)
    assert all(len(e.attributes["aria-label"]) > 40 for e in page.named("svg"))
    (experiment,) = find(["toy/a"])
    for chart in figures(reproduce(experiment, quick=True, workers=1)):
        rows = list(csv.DictReader(io.StringIO(chart.csv())))
        by_name: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            point = float(row["time_s"]), float(row["system_delay_ms"] or "nan")
            by_name.setdefault(row["algorithm"], []).append(point)
        (axes,) = draw(chart).axes
        for line in (line for line in axes.get_lines() if line.get_label() in by_name):
            drawn = np.column_stack([Line2D.get_xdata(line), Line2D.get_ydata(line)])
            held_ = np.array(by_name.pop(str(line.get_label())))
            assert np.allclose(held_, drawn, rtol=1e-5, equal_nan=True)
        assert not by_name, "a curve is in the numbers and not in the figure"


def test_a_figure_of_an_experiment_that_the_paper_does_not_draw_says_so(toy: Path) -> None:
    path, line = toy / "figures.toml", 'experiments = ["a", "b"]'
    assert path.read_text().count(line) == 1
    path.write_text(path.read_text().replace(line, 'experiments = ["a"]'))
    for experiment in find(["toy/a", "toy/b"]):
        charts = figures(reproduce(experiment, quick=True, workers=1))
        begins = ["Not a figure of the paper. One run" in chart.caption for chart in charts]
        # A table and a drawing of the network are no figures of it.
        assert begins == [experiment.name == "b"] * len(charts) and charts
    path.unlink()
    (first, *_) = figures(reproduce(find(["toy/b"])[0], quick=True, workers=1))
    assert first.caption.startswith("One run"), "no figure of the paper is known"


def test_a_reason_is_one_thing_changed_and_else_unexplained(toy: Path, tmp_path: Path) -> None:
    made(tmp_path / "out")
    page = (tmp_path / "out" / "toy.html").read_text()
    assert "drop, five flows: what more flows do" in page
    assert page.count("<strong>unexplained</strong>") > 0


def test_a_kind_of_figure_that_is_not_there_is_named(toy: Path) -> None:
    path = toy / "a" / "experiment.toml"
    path.write_text(path.read_text().replace("[figure]", '[figure]\nkind = "dely"'))
    with pytest.raises(InputError, match=r"figure.kind = 'dely'.*Did you mean 'delay'"):
        kind_of(find(["toy/a"])[0])
    assert all(kind_of(experiment) in KINDS for experiment in find(["toy/b"]))


@pytest.mark.parametrize("rest", ['"machine": [], "papers": []', '"machine": 5, "papers": {}'])
def test_a_ledger_with_a_value_of_another_kind_is_damaged_in_plain_words(
    tmp_path: Path, rest: str
) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(f'{{"format": 1, "quick": true, {rest}}}')
    with pytest.raises(InputError, match=r"is damaged \(machine: .*\); `sojourn rep"):
        ledger.read(path)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a JSON value: what holds it, and its key; of a list the first."""
    keys = list(value) if isinstance(value, dict) else [0] if value else []
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def test_whatever_stands_in_a_ledger_the_page_of_papers_is_made_or_refused_in_a_sentence(
    toy: Path, tmp_path: Path
) -> None:
    whole = made(tmp_path / "out")
    whole["papers"][0]["search"] = SEARCHED
    path = tmp_path / "ledger.json"
    foreigners: list[Any] = [None, [], {}, "x", -3, 1.5, True, [1]]
    refused = 0
    for holder, key in places(whole):
        kept = holder[key]
        for foreign in foreigners:
            holder[key] = foreign
            path.write_text(json.dumps(whole))
            try:
                papers_page.text(path)
            except InputError as error:
                refused += 1
                assert "ledger.json: is " in str(error), (key, foreign)
        holder[key] = kept
    assert refused > 300


def test_what_brings_a_number_inside_is_a_reason_as_is_what_brings_it_half_of_the_way() -> None:
    cell = Cell("a", "drop", "CoDel", "system_delay_mean_ms")

    def explains(before: Sequence[float], after: Sequence[float]) -> bool:
        base, changed = (Measured(cell, 10.0, tuple(values)) for values in (before, after))
        return Change("five flows", base, changed).explains

    assert explains([11.2] * 3, [10.9] * 3), "a quarter of the way, and inside"
    assert explains([30.0] * 3, [18.0] * 3), "more than half of the way"
    assert not explains([30.0] * 3, [22.0] * 3) and not explains([30.0] * 3, [31.0] * 3)
    assert not explains([30.0] * 3, [-15.0] * 3), "overshoot counts against it"
    # Without the difference seed by seed the two could not be told apart.
    assert explains([25.0, 30.0, 35.0], [5.0, 10.0, 15.0])
    assert not explains([30.0, 10.0, 50.0], [10.0, 30.0, 5.0])
    assert not explains([30.0], [10.0]), "one seed shows nothing"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 1, "papers": [{}]}', "\0"])
def test_a_damaged_ledger_is_refused_with_a_sentence_and_made_again(
    toy: Path, tmp_path: Path, text: str
) -> None:
    out = tmp_path / "out"
    whole = made(out)
    (out / "ledger.json").write_text(text)
    with pytest.raises(InputError, match=r"ledger.json: .*`sojourn reproduce` writes it anew"):
        ledger.read(out / "ledger.json")
    assert made(out) == whole
    assert (out / "aside" / "ledger.json-0").read_text() == text


def test_a_ledger_of_all_seeds_is_not_replaced_by_a_provisional_one(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    data = made(out)
    (out / "ledger.json").write_text(json.dumps({**data, "quick": False}))
    assert status(["reproduce", "--quick", "--stored", "--out", str(out)]) == 2
    assert "a ledger without --quick" in capsys.readouterr().err


@pytest.mark.parametrize("of_sim", [{"seeds": [10, 10]}, {}], ids=["as written now", "older"])
def test_a_ledger_of_more_seeds_is_not_replaced(tmp_path: Path, of_sim: dict[str, Any]) -> None:
    hosts = {"sim": {"core": "Sojourn", **of_sim}, "linux": {"core": None}}
    had = {"quick": False, "papers": [{"experiments": [{"seeds": 10, "hosts": hosts}]}]}
    (tmp_path / "ledger.json").write_text(json.dumps(had))
    ledger_run.check_folder(tmp_path, False, {"sim": 10, "linux": 1})
    with pytest.raises(InputError, match="a ledger of more seeds on sim"):
        ledger_run.check_folder(tmp_path, False, {"sim": 1})


@pytest.mark.parametrize("seeds", [[], [1], None, "x", {}, ["a", "b"]])
def test_a_damaged_number_of_seeds_keeps_no_ledger_from_being_written(
    tmp_path: Path, seeds: Any
) -> None:
    hosts = {"sim": {"core": "Sojourn", "seeds": seeds}}
    had = {"quick": False, "papers": [{"experiments": [{"seeds": 10, "hosts": hosts}]}]}
    (tmp_path / "ledger.json").write_text(json.dumps(had))
    ledger_run.check_folder(tmp_path, False, {"sim": 1})


@pytest.mark.parametrize("of", [{"seeds_of": []}, {"seeds_of": {"sim": []}}, {"hosts": 3}])
def test_a_damaged_report_keeps_none_from_being_written(tmp_path: Path, of: dict[str, Any]) -> None:
    entry = {"paper": "toy", "experiment": "a", "quick": False, "hosts": ["sim"], **of}
    text = json.dumps({"experiments": [entry]})
    claim(tmp_path / "out").write("reproduction.json", text.encode())
    report.check_folder(tmp_path / "out", [], True, ("sim",))


def test_a_command_with_fewer_seeds_than_quick_is_one_that_the_command_takes(
    toy: Path, tmp_path: Path
) -> None:
    experiment = find(["toy/a"])[0]
    run_cases(experiment.cases(), [1], Runner(open_store(None), workers=1))
    found = reproduce(experiment, quick=True, looked_up=("sim",))
    command = found.result.meta["command"]
    assert command == "sojourn reproduce toy/a --host sim --seeds sim=1"
    words = command.split()[1:]
    assert status([*words, "--stored", "--out", str(tmp_path / "out")]) == 0


def test_the_page_of_papers_is_what_is_generated() -> None:
    root = Path(__file__).parent.parent
    page = (root / papers_page.DEFAULT).read_text()
    assert page == papers_page.text(root / papers_page.LEDGER), "run `make generate`"
    for target in re.findall(r"\]\(([\w./-]+)", page):
        assert (root / papers_page.DEFAULT.parent / target).exists(), target


def test_the_page_of_papers_has_a_row_for_each_figure_and_table(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "out")
    page = papers_page.text(tmp_path / "out" / "ledger.json")
    assert (
        "| Table a | Delays of the first | table “drop” of toy/a | `sojourn reproduce toy/a` |"
        in page
    )
    assert "| Figure 2 | The testbed | not here: a photograph |  |" in page
    drawn = "picture of the network of toy/a | `sojourn show --network toy/a` |"
    assert f"| Figure 3 | The network | {drawn}" in page
    assert "\n| not run | 0 |" in page
    assert "Tail &lt;drop>" in page
    # What was measured under other files says nothing about these.
    path = toy / "b" / "scenario.toml"
    path.write_text(path.read_text().replace('"30 ms"', '"40 ms"'))
    changed = papers_page.text(tmp_path / "out" / "ledger.json")
    assert "\n| not run | 2 |" in changed
    assert "figures of toy/a, toy/b; not run: toy/b" in changed


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ('experiments = ["c"]', "there is no experiment 'c'"),
        ('experiments = ["a"]\ncell = "ecn"', "experiment 'a' has no cell 'ecn'"),
        ("experiments = []", "it is a list of names"),
        ('experiments = "a"', "it is a list of names"),
        ("", "needs one of experiments"),
        ('experiments = ["a"]\nnot = "x"', "needs one of experiments"),
        ('not = " "', "not is a text"),
        ('command = "sojourn show red"\ncell = "drop"', "goes with no cell"),
        ('experiments = ["a"]\nsignal = "drop"', "there is no key 'signal'"),
        ('experiments = ["a"]\nnetwork = "a"', "network = true goes with"),
    ],
)
def test_a_figure_that_names_what_is_not_there_is_refused(
    toy: Path, entry: str, sentence: str
) -> None:
    (paper,) = papers()
    text = f'[[figures]]\nnumber = "Figure 9"\ncaption = "x"\n{entry}\n'
    (toy / "figures.toml").write_text(text)
    with pytest.raises(InputError, match=rf"figures.toml: Figure 9: .*{re.escape(sentence)}"):
        figures_in_print(paper)


def test_every_paper_that_is_shipped_lists_its_figures_and_tables() -> None:
    for paper in papers():
        found = figures_in_print(paper)
        assert found, paper.name
        answered = {name for one in found for name in one.experiments}
        assert answered <= {experiment.id for experiment in paper.experiments}


@pytest.mark.parametrize("experiment", experiments(), ids=lambda e: e.id)
def test_every_experiment_that_is_shipped_is_described(experiment: Experiment) -> None:
    assert str(experiment.scenario.duration) in window(experiment)
    for table in describe(experiment):
        assert table.rows and all(len(row) == len(table.headings) for row in table.rows)


def test_without_windows_tables_and_figures_are_of_the_whole_run() -> None:
    (experiment,) = find(["cfd/fct-count"])
    assert not experiment.scenario.record.windows
    assert window_s(experiment) == (0, experiment.scenario.duration / 1e9)
    assert window(experiment).startswith("begin to end, ")


def test_a_kernel_is_not_built_only_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.linux.kernel.examine", lambda hz: [("linux: kernel", False, "")])
    assert is_ready("sim") and not is_ready("linux")
