# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The experiments that are shipped: complete, consistent, and their tables transcribed."""

from __future__ import annotations

from pathlib import Path

import pytest
from sojourn import report
from sojourn.claims import SEEDS
from sojourn.experiment import Experiment, experiments, find
from sojourn.reproduce import Reproduction, reproduce

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
    for case in experiment.cases():
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


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """DUK experiment 1 with two flows on a thirtieth of the rates, to see the report made."""
    (experiment,) = find(["duk/1"])

    def change(data: dict) -> None:  # type: ignore[type-arg]
        data["flows"][0]["count"] = 2
        for link in data["links"]:
            for place in (link, *link.get("schedule", ())):
                if "rate" in place:
                    place["rate"] = "3 Mbit/s"

    experiment.__dict__["scenario"] = experiment.scenario.replace(change)
    return reproduce(experiment, quick=True, out=tmp_path_factory.mktemp("short"))


def test_a_reproduction_has_every_cell_and_claim(short: Reproduction) -> None:
    data = short.to_json()
    cells, claims = data["cells"], data["claims"]
    assert {"algorithm", "metric", "published", "measured", "ci95"} <= cells[0].keys()
    assert {"id", "text", "source", "verdict", "measured"} <= claims[0].keys()
    assert all(c["measured"] == c["measured"] for c in cells if c["metric"] == "utilisation_pct")
    assert {c["verdict"] for c in claims} <= {"holds", "fails", "undecided", "calibrated"}
    assert data["quick"] and "provisional" in report.seeds_note(short)


def test_the_report_is_one_file_with_a_figure_for_each_signal(
    short: Reproduction, tmp_path: Path
) -> None:
    path = report.write_all([short], {"experiments": [short.to_json()]}, tmp_path)
    page = path.read_text()
    assert page.count("<svg") == len(short.experiment.signals())
    assert "http" not in page.replace("http://www.w3.org", ""), "nothing is loaded from elsewhere"
    assert all(decision.claim.id in page for decision in short.decisions)
