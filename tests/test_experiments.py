# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The experiments that are shipped: complete, consistent, and their tables transcribed."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from sojourn.core.errors import InputError
from sojourn.papers import report
from sojourn.papers.claims import SEEDS
from sojourn.papers.experiment import Experiment, experiments, find
from sojourn.papers.paper import papers
from sojourn.papers.reproduce import Reproduction
from sojourn.papers.time_figure import charts
from sojourn.scenario.changes import under_test
from sojourn.scenario.ends import queues_of, recorded
from sojourn.show.drawing import draw

from tests import toy_paper

EXPERIMENTS = experiments()
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_every_printed_cell_is_measured_and_every_claim_is_on_a_cell(
    experiment: Experiment,
) -> None:
    measured = {
        (signal.name, contender.name, metric)
        for signal in experiment.signals()
        for contender in experiment.contenders()
        for metric in (*signal.metrics, *signal.beside)
    }
    assert experiment.published.keys() <= measured
    claims, calibrated = experiment.claims()
    of_paper = [
        claim
        for paper in papers()
        for claim in paper.claims()
        if experiment.id in paper.needed(claim)
    ]
    ran = {c.name for signal in experiment.signals() for c in experiment.contenders(signal)}
    says_none = tomllib.loads((experiment.folder / "claims.toml").read_text()).get("claims") == []
    assert claims or of_paper or says_none or ran <= experiment.stand_ins
    for claim in claims:
        assert set(claim.cells()) <= measured, claim.id
    assert calibrated <= measured
    assert says_none or experiment.data["seeds"] * len(experiment.pieces) >= SEEDS


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_every_case_is_a_valid_scenario(experiment: Experiment) -> None:
    for case in [*experiment.cases(), *experiment.peer_cases("linux")]:
        engine = case.scenario.to_engine()
        graph = case.scenario.expand()
        assert experiment.data["queue"] in recorded(graph.links, graph.record.queues)
        queues = queues_of(engine["links"])
        ecn = "ecn" in str(case.labels["signal"])
        for tested in under_test(case.scenario, graph):
            named, ran = (
                str(name).partition("@")[0]
                for name in (case.labels["aqm"], queues[tested]["algorithm"])
            )
            assert ran == Path(named).name
            assert queues[tested].get("ecn", False) == ecn
        transports = [flow["transport"] for flow in engine["flows"]]
        assert all(tcp["ecn"] == ecn for tcp in transports if tcp["kind"] == "tcp")


def test_duk_1_has_all_cells_of_its_two_rows() -> None:
    (experiment,) = find(["duk/1"])
    assert len(experiment.published) == 3 * 5 + 3 * 6
    assert experiment.published["drop", "DUK", "drop_pct"] == 16.96
    assert experiment.published["ecn", "PIE", "fct_p75_s"] == 7.43


def test_every_bucket_of_duk_has_a_burst_of_a_millisecond() -> None:
    for experiment in find(["duk"]):
        for link in experiment.scenario.to_engine()["links"]:
            if link["shaper"] != "wire":
                rates = [link["rate"], *(step["rate"] for step in link["schedule"])]
                assert link["burst"] == max(3028, max(rates) // 8000), experiment.id


def test_all_three_forms_of_duk_stand_in_every_table_of_the_paper() -> None:
    forms = {"DUK": "alg2", "DUK, search": "search", "DUK, tick": "tick"}
    for experiment in find(["duk"]):
        for signal in experiment.signals():
            names = {found.name: found.rows for found in experiment.contenders(signal)}
            assert signal.ablates or names.keys() >= forms.keys()
        rows = {found.name: found.rows for found in experiment.contenders()}
        assert {name: rows[name]["interval_rule"] for name in forms} == forms


def test_an_ablation_of_one_algorithm_runs_only_that() -> None:
    (experiment,) = find(["duk/1"])
    ran = {case.labels["algorithm"] for case in experiment.cases() if "ticks" in str(case.labels)}
    assert ran == {"DUK"}


def test_peers_are_only_what_does_not_run_anyway() -> None:
    (experiment,) = find(["duk/1"])

    def names(host: str) -> list[tuple[str, str]]:
        labels = (case.labels for case in experiment.peer_cases(host))
        return [(str(of["signal"]), str(of["algorithm"])) for of in labels]

    assert names("sim") == [("drop", "pie"), ("ecn", "pie")]
    linux = ("pie", "kernel:codel", "kernel:pie")
    assert names("linux") == [(signal, name) for signal in ("drop", "ecn") for name in linux]


def test_a_peer_has_the_rows_of_ours() -> None:
    (experiment,) = find(["duk/1"])
    (ours, theirs), _ = experiment.peers()
    assert (ours.name, theirs.name) == ("CoDel", "kernel:codel")
    assert theirs.rows == {"target": "5 ms", "interval": "100 ms"}
    # The kernel's own has one form of arithmetic, and no row for it.
    assert ours.rows == {**theirs.rows, "form": "linux"}


RTTS = {"name": "rtt", "key": "links.netem.delay", "values": ["25 ms", "50 ms"]}


def test_an_experiment_has_further_axes_as_a_sweep_has() -> None:
    (duk,) = find(["duk/1"])
    data = {**duk.data, "axes": [RTTS], "ablations": []}
    experiment = replace(duk, data=data)
    names = [signal.name for signal in experiment.signals()]
    assert names == ["drop, 25 ms", "drop, 50 ms", "ecn, 25 ms", "ecn, 50 ms"]
    first = experiment.signals()[0]
    assert first.set == {**duk.signals()[0].set, "links.netem.delay": "25 ms"}
    cases = {str(case.labels["signal"]): case.scenario for case in experiment.cases()}
    delays = [
        next(link.delay for link in cases[name].links if link.name == "netem") for name in names
    ]
    assert list(map(str, delays)) == ["25 ms", "50 ms"] * 2
    claims = {claim.id: claim for claim in experiment.claims()[0]}
    assert len(claims["duk/1/ten-times"].pairs) == 2 * 2
    assert {pair.signal for pair in claims["duk/1/ten-times"].pairs} == set(names[:2])
    wrong = replace(duk, data={**data, "axes": [{**RTTS, "values": []}]})
    with pytest.raises(InputError, match=r"experiment.toml: axes\[0\]: has no values"):
        wrong.signals()


def test_rows_of_an_experiment_are_of_its_algorithms() -> None:
    (duk,) = find(["duk/1"])
    changed = replace(duk, data={**duk.data, "rows": {"PIE": {"limit": 90}}})
    rows = {found.name: found.rows for found in changed.contenders()}
    assert rows["PIE"] == {"limit": 90}
    assert rows["CoDel"] == {"target": "5 ms", "interval": "100 ms", "form": "linux"}
    wrong = replace(duk, data={**duk.data, "rows": {"CoDl": {"limit": 90}}})
    said = r"experiment.toml: rows.CoDl: there is no such algorithm. Did you mean 'CoDel'\?"
    with pytest.raises(InputError, match=said):
        wrong.contenders()


def test_what_an_ablation_changes_stands_in_place_of_the_algorithms_own() -> None:
    (duk,) = find(["duk/1"])
    ablations = [
        {"of": "drop", "name": "n", "why": "w", "only": ["CoDel"], "set": {"queue.target": "9 ms"}}
    ]
    changed = replace(duk, data={**duk.data, "ablations": ablations})
    cases = [case for case in changed.cases() if case.labels["signal"] == "drop, n"]
    (queue,) = [
        link["queue"]
        for case in cases
        for link in case.scenario.to_engine()["links"]
        if link["name"] == "bottleneck"
    ]
    assert (queue["target"], queue["interval"]) == (9_000_000, 100_000_000)


def test_an_ablation_runs_a_c_file_and_is_left_out_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "twice.c").write_text((ROOT / "aqm/algorithms/codel.c").read_text())
    paper = toy_paper.write(tmp_path)
    with (paper / "a/experiment.toml").open("a") as file:
        file.write(
            '[[ablations]]\nof = "drop"\nname = "a file"\nwhy = "its law"\nonly = ["CoDel"]\n'
            'algorithm = "../../twice.c"\nset = { "queue.target" = "9 ms" }\n'
        )
    toy_paper.use(tmp_path, monkeypatch)
    (toy,) = find(["toy/a"])

    def of_files(experiment: Experiment) -> list[str]:
        return [s.name for s in experiment.signals() if s.algorithm]

    (name,) = of_files(toy)
    (case,) = (case for case in toy.cases() if case.labels["signal"] == name)
    queues = {link["name"]: link["queue"] for link in case.scenario.to_engine()["links"]}
    assert queues["bottleneck"]["algorithm"].startswith("twice.c@")
    assert queues["bottleneck"]["target"] == 9_000_000
    every = len(toy.signals())
    monkeypatch.setattr("sojourn.papers.experiment.compiler.is_there", lambda: False)
    assert not of_files(toy) and len(toy.signals()) == every - 1


def test_the_words_of_a_claim_are_its_quorum() -> None:
    words = {"in most": 0.5, "nearly every": 0.9, "in every": 1.0}
    for experiment in EXPERIMENTS:
        for claim in experiment.claims()[0]:
            meant = [quorum for word, quorum in words.items() if word in claim.text]
            assert claim.quorum == (meant[0] if meant else 1.0), claim.id


def test_a_reproduction_has_every_cell_and_claim(short: Reproduction) -> None:
    data = short.to_json()
    cells, claims = data["cells"], data["claims"]
    assert {"algorithm", "metric", "published", "measured", "ci95"} <= cells[0].keys()
    assert {"id", "text", "source", "verdict", "measured"} <= claims[0].keys()
    assert all(c["measured"] == c["measured"] for c in cells if c["metric"] == "utilisation_pct")
    assert {c["verdict"] for c in claims} <= {"holds", "not found here", "undecided", "calibrated"}
    assert data["quick"] and "provisional" in report.seeds_note(short)


def test_without_linux_no_peer_runs(short: Reproduction) -> None:
    ours = {"DUK", "DUK, search", "DUK, tick"}
    assert {run.labels["algorithm"] for run in short.result} == ours | {"CoDel", "PIE"}


def axes_beside_kernel(reproduction: Reproduction) -> list[Axes]:
    """Those of drop, for each algorithm over time and distributed."""
    (chart,) = (c for c in charts(reproduction) if (c.cell, c.host) == ("drop", ""))
    return draw(chart).axes


def test_each_curve_beside_the_kernel_is_of_its_own_runs(beside: Reproduction) -> None:
    every = axes_beside_kernel(beside)
    for over_time, within in zip(every[::2], every[1::2], strict=True):
        for axes, of_delay in ((over_time, Line2D.get_ydata), (within, Line2D.get_xdata)):
            curves = [line for line in axes.get_lines() if len(np.asarray(line.get_xdata())) > 2]
            simulated, linux, kernels_own = (np.asarray(of_delay(line)) for line in curves)
            assert np.array_equal(simulated, linux, equal_nan=True)
            assert np.nanmax(kernels_own) > 2 * np.nanmax(linux)


@pytest.mark.parametrize("hosts", [("sim", "linux"), ("linux", "sim")])
def test_curves_that_agree_are_seen_under_each_other(
    beside: Reproduction, hosts: tuple[str, ...]
) -> None:
    ordered = replace(beside, judged={host: beside.judged[host] for host in hosts})
    for axes in axes_beside_kernel(ordered):
        lines = [line for line in axes.get_lines() if len(np.asarray(line.get_xdata())) > 2]
        widths = [line.get_linewidth() for line in lines]
        assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
        assert [line.is_dashed() for line in lines] == [False, False, True]
