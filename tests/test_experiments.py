# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The experiments that are shipped: complete, consistent, and their tables transcribed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.lines import Line2D
from sojourn import report
from sojourn.claims import SEEDS
from sojourn.experiment import Experiment, experiments, find
from sojourn.figure_peers import delay_beside_kernel
from sojourn.reproduce import Reproduction, reproduce
from sojourn.result import Run
from sojourn.runs import Case, run_cases
from sojourn.scenario.changes import use_algorithm

EXPERIMENTS = experiments()


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
    assert claims
    for claim in claims:
        assert set(claim.cells()) <= measured, claim.id
    assert calibrated <= measured
    assert experiment.data["seeds"] >= SEEDS


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_every_case_is_a_valid_scenario(experiment: Experiment) -> None:
    for case in [*experiment.cases(), *experiment.peer_cases("linux")]:
        engine = case.scenario.to_engine()
        queue = next(
            link["queue"] for link in engine["links"] if link["name"] == experiment.data["queue"]
        )
        assert queue["algorithm"] == case.labels["aqm"]
        ecn = "ecn" in str(case.labels["signal"])
        assert queue["rows"]["ecn"] == ecn
        assert all(flow["transport"]["ecn"] == ecn for flow in engine["flows"])


def test_duk_1_has_all_cells_of_its_two_rows() -> None:
    (experiment,) = find(["duk/1"])
    assert len(experiment.published) == 3 * 5 + 3 * 6
    assert experiment.published["drop", "DUK", "drop_pct"] == 16.96
    assert experiment.published["ecn", "PIE", "fct_p75_s"] == 7.43


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
    assert ours.rows == theirs.rows == {"target": "5 ms", "interval": "100 ms"}


def short_experiment() -> Experiment:
    """DUK experiment 1 with two flows on slow links, the bottleneck the slowest."""
    (experiment,) = find(["duk/1"])

    def change(data: dict) -> None:  # type: ignore[type-arg]
        data["flows"][0]["count"] = 2
        for link in data["links"]:
            for place in (link, *link.get("schedule", ())):
                if "rate" in place:
                    place["rate"] = "2 Mbit/s" if link["name"] == "bottleneck" else "3 Mbit/s"

    experiment.__dict__["scenario"] = experiment.scenario.replace(change)
    return experiment


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """To see the report made."""
    return reproduce(short_experiment(), quick=True, out=tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reproduction]:
    """The same with a Linux that is the simulator, where the kernel's own are drop-tail queues."""

    def run_simulated(cases: Sequence[Case], *args: Any, hosts: Any, **rest: Any) -> list[Run]:
        def plain(data: dict[str, Any]) -> None:
            use_algorithm(data, "fifo")

        runnable = [
            replace(case, scenario=case.scenario.replace(plain))
            if str(case.labels["aqm"]).startswith("kernel:")
            else case
            for case in cases
        ]
        runs = run_cases(runnable, *args, **rest)
        return [replace(run, labels={**run.labels, "host": hosts[0]}) for run in runs]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sojourn.reproduce.run_cases", run_simulated)
        out = tmp_path_factory.mktemp("beside")
        yield reproduce(short_experiment(), quick=True, out=out, hosts=("sim", "linux"))


def test_a_reproduction_has_every_cell_and_claim(short: Reproduction) -> None:
    data = short.to_json()
    cells, claims = data["cells"], data["claims"]
    assert {"algorithm", "metric", "published", "measured", "ci95"} <= cells[0].keys()
    assert {"id", "text", "source", "verdict", "measured"} <= claims[0].keys()
    assert all(c["measured"] == c["measured"] for c in cells if c["metric"] == "utilisation_pct")
    assert {c["verdict"] for c in claims} <= {"holds", "fails", "undecided", "calibrated"}
    assert data["quick"] and "provisional" in report.seeds_note(short)


def test_without_linux_no_peer_runs(short: Reproduction) -> None:
    assert {run.labels["algorithm"] for run in short.result} == {"DUK", "CoDel", "PIE"}


def test_with_linux_the_report_has_the_kernels_own_beside_ours(
    beside: Reproduction, tmp_path: Path
) -> None:
    path = report.write_all([beside], {"experiments": [beside.to_json()]}, tmp_path)
    page = path.read_text()
    signals = beside.experiment.signals()
    judged = sum(not signal.ablates for signal in signals)
    # Each signal on the simulator; those that are judged also on Linux and beside the kernel's own.
    assert page.count("<svg") == len(signals) + 2 * judged
    assert page.count("kernel:pie</th>") == judged
    assert beside.cell("linux", "ecn", "kernel:codel", "mark_pct").published is None


def test_each_curve_beside_the_kernel_is_of_its_own_runs(beside: Reproduction) -> None:
    figure = delay_beside_kernel(beside, "drop")
    for over_time, within in zip(figure.axes[::2], figure.axes[1::2], strict=True):
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
    for axes in delay_beside_kernel(ordered, "drop").axes:
        lines = [line for line in axes.get_lines() if len(np.asarray(line.get_xdata())) > 2]
        widths = [line.get_linewidth() for line in lines]
        assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
        assert [line.is_dashed() for line in lines] == [False, False, True]


def test_the_report_is_one_file_with_a_figure_for_each_signal(
    short: Reproduction, tmp_path: Path
) -> None:
    path = report.write_all([short], {"experiments": [short.to_json()]}, tmp_path)
    page = path.read_text()
    assert page.count("<svg") == len(short.experiment.signals())
    assert "http" not in page.replace("http://www.w3.org", ""), "nothing is loaded from elsewhere"
    assert all(decision.claim.id in page for decision in short.decisions)
    calibrated = [d for d in short.decisions if d.verdict == "calibrated"]
    assert page.count("otherwise: <span") == len(calibrated) > 0
