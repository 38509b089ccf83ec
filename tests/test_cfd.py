# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CFD's experiments: what the paper says of them is what runs."""

from __future__ import annotations

from typing import Any

import pytest
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.paper import papers

EXPERIMENTS = {experiment.name: experiment for experiment in find(["cfd"])}
MBIT = 1_000_000


def engines(name: str) -> dict[str, dict[str, Any]]:
    """The scenario of each cell, no ablation, of CFD."""
    experiment = EXPERIMENTS[name]
    ablations = {signal.name for signal in experiment.signals() if signal.ablates}
    return {
        str(case.labels["signal"]): case.scenario.to_engine()
        for case in experiment.cases()
        if case.labels["algorithm"] == "CFD" and case.labels["signal"] not in ablations
    }


def groups(engine: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {flow["name"]: flow for flow in engine["flows"]}


def wire_rate(flow: dict[str, Any]) -> float:
    """Of datagrams with their 28 bytes of IP and UDP, in Mbit/s."""
    app = flow["app"]
    payload = app["payload"]
    return float(app["rate"] * (payload + 28) / payload / MBIT)


def test_the_rate_of_udp_goes_from_a_tenth_to_one_beside_50_tcp() -> None:
    cells = engines("udp-rate")
    rates = [wire_rate(groups(engine)["udp"]) for engine in cells.values()]
    assert rates == pytest.approx([tenth / 10 for tenth in range(1, 11)])
    assert [label.split()[1] for label in cells] == [f"{rate:.1f}" for rate in rates]
    for engine in cells.values():
        flows = groups(engine)
        assert (flows["tcp"]["count"], flows["udp"]["count"]) == (50, 1)


def test_the_number_of_tcp_goes_from_5_to_50_beside_half_a_megabit_of_udp() -> None:
    cells = [groups(engine) for engine in engines("tcp-count").values()]
    assert [flows["tcp"]["count"] for flows in cells] == list(range(5, 51, 5))
    assert all(wire_rate(flows["udp"]) == pytest.approx(0.5) for flows in cells)


@pytest.mark.parametrize("name", ["udp-rate", "tcp-count"])
def test_fairness_is_measured_from_1_to_200_s(name: str) -> None:
    for engine in engines(name).values():
        (window,) = engine["record"]["windows"]
        assert (window["from"], window["to"]) == (10**9, 200 * 10**9)
        assert engine["duration"] == 200 * 10**9


@pytest.mark.parametrize("place", ["fct", "parking-lot"])
def test_short_flows_go_from_100_to_1000_and_from_10_to_100_packets(place: str) -> None:
    counts = [groups(engine)["short"] for engine in engines(f"{place}-count").values()]
    sizes = [groups(engine)["short"] for engine in engines(f"{place}-size").values()]
    assert [flow["count"] for flow in counts] == list(range(100, 1001, 100))
    packets = [flow["app"]["size"] / flow["transport"]["options"]["mss_bytes"] for flow in sizes]
    assert packets == list(range(10, 101, 10))
    for flow in (*counts, *sizes):
        assert flow["app"]["kind"] == "drawn"
        assert (flow["start"], flow["start_spread"]) == (0, 0)


# Two experiments are of sentences that have no figure, and set what they are about.
OF_FIGURES = [of for name, of in EXPERIMENTS.items() if name not in ("marks", "space")]


@pytest.mark.parametrize("experiment", OF_FIGURES, ids=lambda e: e.name)
def test_packets_have_1000_and_500_bytes_and_bottlenecks_1_mbit_and_100_packets(
    experiment: Experiment,
) -> None:
    for engine in engines(experiment.name).values():
        tested = engine["record"]["queues"]
        for link in engine["links"]:
            if link["rate"] is not None:
                assert link["header"] == 0
            if link["name"] in tested:
                assert link["rate"] == MBIT
                assert link["queue"]["limit"] == 100
                assert link["queue"]["algorithm"] == "cfd"
            else:
                assert link["queue"]["algorithm"] == "fifo"
        for flow in engine["flows"]:
            transport = flow["transport"]
            if transport["kind"] == "udp":
                assert flow["app"]["payload"] + 28 == 500
            else:
                assert transport["options"]["mss_bytes"] + 40 == 1000
                assert not transport["options"]["sack"] and not transport["ecn"]


def test_the_parking_lot_has_three_bottlenecks_with_a_udp_flow_over_each() -> None:
    for name in ("parking-lot-count", "parking-lot-size"):
        for engine in engines(name).values():
            links = {link["name"]: link for link in engine["links"]}
            hops = ["hop 1", "hop 2", "hop 3"]
            assert engine["record"]["queues"] == hops
            assert all(links[hop]["delay"] == 20_000_000 for hop in hops)
            flows = groups(engine)
            assert [hop for hop in flows["short"]["path"] if hop in hops] == hops
            for number, hop in enumerate(hops, start=1):
                crossing = flows[f"udp {number}"]
                assert [link for link in crossing["path"] if link in hops] == [hop]
                assert wire_rate(crossing) == pytest.approx(0.5)


def test_each_claim_is_decided_for_both_readings_of_eq_1_and_all_thresholds() -> None:
    (paper,) = (paper for paper in papers() if paper.name == "cfd")
    others, cells = 4, 2 * 10  # algorithms beside CFD, cells of two figures
    claims = {claim.id: claim for claim in paper.claims()}
    for name in ("cfd/fairness", "cfd/completion-times", "cfd/parking-lot"):
        turns = claims[name].turns
        assert turns and len(turns.pairs) == 2 * 3
        for value, pairs in turns.pairs.items():
            ours, theirs = value.split(" beside ")
            assert len(pairs) == others * cells
            assert {pair.left for pair in pairs} == {ours}
            assert {pair.right for pair in pairs} == {"RED", theirs, "CoDel", "PIE"}
    assert len(claims["cfd/delay-held"].pairs) == cells


def test_tcp_understands_marks_in_one_signal_alone() -> None:
    for cell, engine in engines("marks").items():
        flows = groups(engine)
        (queue,) = (link["queue"] for link in engine["links"] if link["name"] == "bottleneck")
        assert flows["tcp"]["transport"]["ecn"] == bool(queue["ecn"]) == cell.startswith("ecn")


def test_ever_more_flows_bring_as_much_together() -> None:
    for engine in engines("space").values():
        flow = groups(engine)["short"]
        assert flow["count"] * flow["app"]["size"] == 960_000_000


def test_a_variant_of_ours_differs_from_the_papers_algorithm_by_one_quantity() -> None:
    for experiment in EXPERIMENTS.values():
        rows = {contender.name: contender.rows for contender in experiment.contenders()}
        assert rows["CFD, Eq. 1 to the letter"]["eq1"] == "letter"
        assert rows["CFD, 400 ms"] == {"target": "400 ms"}
        assert [rows[name] for name in rows if name.startswith("gCHOKe")] == [
            {"min": 33, "max": 67},
            {"min": 5, "max": 15},
            {"min": 100, "max": 200},
        ]


def test_an_ablation_of_a_row_replaces_the_papers_row() -> None:
    cases = {
        (str(case.labels["signal"]), str(case.labels["algorithm"])): case.scenario.to_engine()
        for case in EXPERIMENTS["udp-rate"].cases()
    }

    def rows(signal: str) -> dict[str, Any]:
        links = cases[signal, "RED"]["links"]
        (queue,) = (link["queue"] for link in links if link["name"] == "bottleneck")
        return dict(queue)

    at = "drop, 0.5 Mbit/s"
    other = rows(f"{at}, RED in packets")
    assert (rows(at)["avpkt"], other["avpkt"]) == (500, 1000)
    kept = rows(at).keys() - {"mode", "avpkt"}
    assert {key: other[key] for key in kept} == {key: rows(at)[key] for key in kept}
