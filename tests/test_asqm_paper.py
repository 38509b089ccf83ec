# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""ASQM's experiments: what the paper says of them is what runs, and lies do not pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sojourn.papers.claims import decide
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.paper import Paper
from sojourn.papers.reproduce import Reproduction, reproduce
from sojourn.scenario.ends import named, queues_of

EXPERIMENTS = {experiment.name: experiment for experiment in find(["asqm"])}
MBIT = 1_000_000


def engines(name: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The scenario of each cell and algorithm, no ablation."""
    experiment = EXPERIMENTS[name]
    ablations = {signal.name for signal in experiment.signals() if signal.ablates}
    return {
        (signal, str(case.labels["algorithm"])): case.scenario.to_engine()
        for case in experiment.cases()
        for signal in [str(case.labels["signal"])]
        if signal not in ablations
    }


def rates(engine: dict[str, Any], link: str) -> dict[str, tuple[int, int]]:
    """Rate and ceiling of every class of a link, in Mbit/s."""
    (found,) = (entry for entry in engine["links"] if entry["name"] == link)
    return {
        name.removeprefix(f"{link}/"): (table["rate"] // MBIT, table["ceil"] // MBIT)
        for name, _, table in named(found)
        if "ceil" in table
    }


@pytest.mark.parametrize(("signal", "cable"), [("non-peak", 48), ("peak", 21)])
def test_each_modem_has_8_of_16_and_a_mac_queue_of_its_own(signal: str, cable: int) -> None:
    for (cell, _), engine in engines("up").items():
        if cell.startswith(signal):
            assert rates(engine, "up 2") == {"modem": (16, 16), "af": (8, 16)}
            mac = rates(engine, "cable up")
            assert mac.pop("cable") == (cable, cable)
            assert len(mac) == 3 and len(set(mac.values())) == 1
    for (cell, _), engine in engines("down").items():
        if cell.startswith(signal):
            classes = rates(engine, "cable down")
            assert [classes[f"ip/af {i}"] for i in (1, 2, 3)] == [(8, 16)] * 3
            assert classes["mac/cable"] == (cable, cable)


@pytest.mark.parametrize("way", ["up", "down"])
def test_the_traffic_is_that_of_the_text_and_the_round_trip_that_of_the_cell(way: str) -> None:
    for (cell, _), engine in engines(way).items():
        counts = {flow["name"]: flow["count"] for flow in engine["flows"]}
        assert {counts[f"{kind} 3"] for kind in ("bulk", "ping")} == {1}
        assert (counts["files 3"], counts["web 3"]) == (5, 4)
        sizes = {flow["name"]: flow["app"].get("size") for flow in engine["flows"]}
        assert (sizes["files 1"], sizes["web 1"]) == (5 * MBIT, 700_000)
        rtt_ms = int(cell.split(", ")[1].split()[0])
        assert sum(link["delay"] for link in engine["links"]) == rtt_ms * MBIT
        assert engine["duration"] == 120 * 10**9


def test_the_algorithms_are_those_of_linux_3_15_and_the_printed_asqm() -> None:
    found = {
        algorithm: queues_of(engine["links"])["up 1/af"]
        for (cell, algorithm), engine in engines("up").items()
        if cell == "peak, 50 ms"
    }
    asqm, both = found["ASQM"], found["ASQM, both"]
    assert (asqm["target"], asqm["ratio"], asqm["entry"], both["entry"]) == (10**8, 4, 1, 0)
    assert (found["CoDel"]["form"], found["PIE"]["target"]) == (1, 20 * MBIT)
    assert all(queue["limit"] == 1000 for queue in found.values())


def test_at_the_cpe_the_modem_has_no_aqm() -> None:
    cells = {cell: queues_of(engine["links"]) for (cell, _), engine in engines("place").items()}
    at_modem, at_cpe = cells["peak, modem"], cells["peak, CPE"]
    assert (at_modem["up/af"]["algorithm"], at_modem["cpe up"]["algorithm"]) == ("asqm", "fifo")
    assert (at_cpe["up/af"]["algorithm"], at_cpe["cpe up"]["algorithm"]) == ("fifo", "asqm")


# A twelfth of the length is enough to tell what displacement does.
SEEDS = {"sim": 4}


def short(**changes: Any) -> Experiment:
    experiment = EXPERIMENTS["up"]
    (axis,) = experiment.data["axes"]
    data = {
        **experiment.data,
        "axes": [{**axis, "values": axis["values"][:1]}],
        "ablations": [],
        "also": [],
        **changes,
    }
    found = replace(experiment, data=data)

    def change(scenario: dict[str, Any]) -> None:
        scenario["duration"] = "20 s"
        scenario["record"]["windows"] = [{"name": "whole run", "from": "5 s", "to": "20 s"}]

    found.__dict__["scenario"] = experiment.scenario.replace(change)
    return found


def verdicts(made: Reproduction) -> dict[str, str]:
    """The paper's claims on the cells that ran, of uploads at 50 ms alone."""
    values = {(c.signal, c.algorithm, c.metric): c.values for c in made.cells}
    found: dict[str, str] = {}
    for claim in Paper("asqm", tuple(EXPERIMENTS.values())).claims():
        pairs = [
            replace(
                pair,
                signal=pair.signal.removeprefix("up: "),
                right_signal=pair.right_signal and pair.right_signal.removeprefix("up: "),
            )
            for pair in claim.pairs
            if all(cell.startswith("up: ") and "50 ms" in cell for cell, _ in pair.sides)
        ]
        if pairs:
            decision = decide(replace(claim, pairs=tuple(pairs)), values.__getitem__, set())
            found[claim.id.removeprefix("asqm/")] = decision.rule
    return found


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(short(), seeds=SEEDS, out=tmp_path_factory.mktemp("true"))


def test_codel_under_asqms_name_flips_the_verdicts(true: Reproduction, tmp_path: Path) -> None:
    lies = [
        {**entry, "algorithm": "codel", "rows": {}} if entry["name"] == "ASQM" else entry
        for entry in EXPERIMENTS["up"].data["algorithms"]
    ]
    lie = reproduce(short(algorithms=lies), seeds=SEEDS, out=tmp_path)
    was, now = verdicts(true), verdicts(lie)
    for claim in ("removes-bufferbloat", "only-asqm", "unaffected"):
        assert (was[claim], now[claim]) == ("holds", "not found here"), claim
    assert was["unmanaged"] == now["unmanaged"] == "holds"


def test_without_borrowing_no_modem_has_its_peak_rate(true: Reproduction, tmp_path: Path) -> None:
    experiment = short()

    def change(scenario: dict[str, Any]) -> None:
        for link in scenario["links"]:
            for stage in link.get("end", ()):
                for entry in stage["classes"]:
                    if entry["name"] == "af":
                        entry["ceil"] = "8 Mbit/s"

    experiment.__dict__["scenario"] = experiment.scenario.replace(change)
    lie = reproduce(experiment, seeds=SEEDS, out=tmp_path)
    was, now = verdicts(true), verdicts(lie)
    assert (was["full-bandwidth"], now["full-bandwidth"]) == ("holds", "not found here")


def test_the_overhead_of_a_probe_for_each_packet_is_four_times_that_of_each_fourth(
    tmp_path: Path,
) -> None:
    experiment = EXPERIMENTS["probes"]
    (axis,) = experiment.data["axes"]
    kept = [value for value in axis["values"] if value["name"] in ("1:1", "1:4", "10 ms")]
    made = reproduce(
        replace(experiment, data={**experiment.data, "axes": [{**axis, "values": kept}]}),
        seeds={"sim": 2},
        out=tmp_path,
    ).cells_on("sim")
    pct = {cell[0]: m.estimate.mean for cell, m in made.items() if cell[2] == "probes_ip_pct"}
    assert pct["peak, 1:1"] == pytest.approx(4 * pct["peak, 1:4"], rel=0.1)
    # Up to a hundred probes of 28 bytes in a second, beside 7 Mbit/s: a probe waits for a packet.
    most = 100 * 100 * 28 * 8 / (7 * MBIT)
    assert 0.7 * most < pct["peak, 10 ms"] < 1.05 * most
