# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The stability paper's network, loads and buffers, as its text has them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sojourn.papers.experiment import ROOT, Experiment, Signal, find
from sojourn.papers.paper import papers
from sojourn.sweeps.file import load as load_sweep

MS = 1_000_000
# One-way delays of §II, in ms.
SENDERS, RECEIVERS, MIDDLE = (0, 12, 25), (2, 37, 75), 65
ROUND_TRIPS_MS = {2 * (a + MIDDLE + b) for a in SENDERS for b in RECEIVERS}
JUDGED = ["DT", "RED", "BLUE", "REM", "PI", "AVQ", "AN-AQM (stand-in)"]


def experiment(name: str) -> Experiment:
    (found,) = find([f"stability/{name}"])
    return found


def engine(of: Experiment, signal: Signal, algorithm: str = "DT") -> dict[str, Any]:
    (contender,) = (found for found in of.contenders() if found.name == algorithm)
    return of._variant(contender, signal).to_engine()


def loads() -> dict[str, dict[str, Any]]:
    of = experiment("90")
    return {
        signal.name.split(", ")[1]: engine(of, signal)
        for signal in of.signals()
        if not signal.ablates
    }


def paths(network: dict[str, Any], *groups: str) -> Counter[tuple[int, int]]:
    """Connections of the groups by their two ends."""
    found: Counter[tuple[int, int]] = Counter()
    for flow in network["flows"]:
        if flow["name"].split()[0] in groups:
            found[int(flow["from"][-1]), int(flow["to"][-1])] += flow["count"]
    return found


def test_the_nine_paths_have_the_round_trips_of_the_paper() -> None:
    assert sorted(ROUND_TRIPS_MS) == [134, 158, 184, 204, 228, 254, 280, 304, 330]
    for name in ("90", "900"):
        of = experiment(name)
        network = engine(of, of.signals()[0])
        links = {link["name"]: link for link in network["links"]}
        round_trips = {
            sum(links[name]["delay"] for name in (*flow["path"], *flow["reverse_path"]))
            for flow in network["flows"]
        }
        assert round_trips == {ms * MS for ms in ROUND_TRIPS_MS}
        assert {link["rate"] for link in links.values()} == {100_000_000}


@pytest.mark.parametrize(
    ("load", "counts", "least"),
    [
        ("uncongested", {"ftp": 7, "files": 2, "small": 1}, 1),
        ("mild", {"ftp": 68, "files": 22, "small": 10}, 11),
        ("heavy", {"ftp": 675, "files": 225, "small": 100}, 111),
    ],
)
def test_connections_are_spread_over_the_paths_as_evenly_as_their_number_allows(
    load: str, counts: dict[str, int], least: int
) -> None:
    network = loads()[load]
    for group, count in counts.items():
        assert paths(network, group).total() == count
    everyone = paths(network, *counts)
    assert sorted(everyone.values()) == [least] * 8 + [least + 1]
    mss = {flow["name"].split()[0]: flow["transport"] for flow in network["flows"]}
    assert mss["ftp"]["options"]["mss_bytes"] + 40 == 1500
    assert mss["files"]["options"]["mss_bytes"] + 40 == 1500
    assert mss["small"]["options"]["mss_bytes"] + 40 == 536


@pytest.mark.parametrize(("load", "flows"), [("uncongested", 1), ("mild", 10), ("heavy", 100)])
def test_traffic_the_other_way_uses_a_tenth_of_the_link(load: str, flows: int) -> None:
    network = loads()[load]
    reverse = [flow for flow in network["flows"] if flow["name"].split()[0] == "reverse"]
    assert paths(network, "reverse").total() == flows
    apps = [flow["app"] for flow in reverse for _ in range(flow["count"])]
    assert {app["payload"] + 28 for app in apps} == {1000}
    # Of 1000 bytes 972 are payload.
    assert sum(app["rate"] for app in apps) * 1000 / 972 == pytest.approx(10_000_000)
    assert all(flow["from"][0] == "M" for flow in reverse)


@pytest.mark.parametrize(
    ("load", "per_s"), [("uncongested", 12.5), ("mild", 1.25), ("heavy", 0.125)]
)
def test_files_come_as_often_as_the_paper_says(load: str, per_s: float) -> None:
    apps = [flow["app"] for flow in loads()[load]["flows"] if flow["name"].split()[0] == "files"]
    assert {1e9 / app["gap"] for app in apps} == {per_s}
    assert {(app["size"], app["shape"]) for app in apps} == {(50_000, 1.3)}


@pytest.mark.parametrize(("name", "buffer"), [("90", 90), ("900", 900)])
def test_a_buffer_counts_what_ns_2_counts_for_each_algorithm(name: str, buffer: int) -> None:
    of = experiment(name)
    rows = {contender.name: contender.rows for contender in of.contenders()}
    assert rows["RED"]["limit_bytes"] == f"{buffer * 500 // 1000} kB"
    assert rows["AVQ"]["limit_bytes"] == rows["AVQ"]["buffer"] == f"{buffer} kB"
    limits = {algorithm: rows[algorithm].get("limit") for algorithm in JUDGED}
    assert limits["DT"] == limits["REM"] == buffer - 1
    assert limits["PI"] == limits["BLUE"] == limits["AN-AQM (stand-in)"] == buffer
    assert rows["AN-AQM (stand-in)"]["qref"] == buffer * 3 // 10
    fair = [found for found in rows if found.endswith(", fair")]
    assert len(fair) == 5 and {rows[found]["limit"] for found in fair} == {buffer}


def test_all_but_the_buffer_is_the_same_in_both() -> None:
    of_buffer = {"limit", "limit_bytes", "buffer", "qref"}
    small, large = (
        {
            found.name: (
                found.algorithm,
                {k: v for k, v in found.rows.items() if k not in of_buffer},
            )
            for found in experiment(name).contenders()
        }
        for name in ("90", "900")
    )
    assert small == large
    of = experiment("an-aqm")
    (own,) = of.contenders(of.signals()[0])
    rest = {key: value for key, value in own.rows.items() if key not in of_buffer}
    assert (own.algorithm, rest) == small["AN-AQM (stand-in)"]


def test_no_claim_is_judged_on_a_fair_preset_or_on_a_stand_in() -> None:
    (paper,) = (found for found in papers() if found.name == "stability")
    claims = [*paper.claims(), *(c for of in paper.experiments for c in of.claims()[0])]
    assert {algorithm for claim in claims for _, algorithm, _ in claim.cells()} == set(JUDGED[:-1])


def test_what_an_aqm_was_tuned_on_is_calibrated_and_nothing_else() -> None:
    sweep = load_sweep(ROOT / "stability" / "tune-an-aqm.toml")
    calibrated = experiment("90").claims()[1]
    metrics = {metric.name for metric in sweep.metrics} | {"queue_pkts_cov_pct"}
    assert calibrated == {("drop, heavy", "AN-AQM (stand-in)", metric) for metric in metrics}
    assert not experiment("900").claims()[1] and not experiment("an-aqm").claims()[1]
