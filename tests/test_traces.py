# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Links that follow a recorded trace, packet by packet and as a schedule of rates."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest
from sojourn import run
from sojourn.differences import differences
from sojourn.errors import InputError
from sojourn.result import read_request
from sojourn.scenario import load, loads
from sojourn.scenario.trace import BIN_MS, NS_PER_MS, OPPORTUNITY_BYTES, binned, mean_rate_bps, read

SCENARIO = """
format = 1
name = "a recorded link"
duration = "4 s"

[dumbbell]
trace = "some.down"
rtt = "20 ms"

[[dumbbell.flows]]
count = 2
"""
# About 12 Mbit/s, and nothing for half a second of each two.
TIMES = [ms for ms in range(2_000) if not 700 <= ms < 1_200]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "some.down").write_text("".join(f"{ms}\n" for ms in TIMES))
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return tmp_path / "scenario.toml"


def counts_by_hand(times: list[int], bins: int) -> list[int]:
    """How many opportunities fall into each bin, one cycle after the other."""
    found: Counter[int] = Counter()
    cycle = 0
    while cycle * times[-1] <= bins * BIN_MS:
        found.update((ms + cycle * times[-1]) // BIN_MS for ms in times)
        cycle += 1
    return [found[i] for i in range(bins)]


@pytest.mark.parametrize("seed", range(40))
def test_bins_hold_every_opportunity_once(seed: int) -> None:
    draw = random.Random(seed)
    times = sorted(draw.randrange(draw.choice([3, 90, 1_000])) for _ in range(draw.randint(1, 50)))
    times += [times[-1] + draw.choice([0, 0, 7, 100])] if times[-1] else [draw.choice([1, 100])]
    bins = draw.randint(1, 30)
    rates = {step["at_ns"]: step["rate_bps"] for step in binned(tuple(times), bins * 10**8)}
    expected = counts_by_hand(times, bins)
    rate_bps = 0
    for i, count in enumerate(expected):
        rate_bps = rates.get(i * BIN_MS * NS_PER_MS, rate_bps)
        # An empty bin lets one packet pass: at a rate of zero it would never leave.
        assert rate_bps == max(count, 1) * OPPORTUNITY_BYTES * 8 * 10


def test_the_mean_rate_is_that_of_a_whole_cycle() -> None:
    assert mean_rate_bps((500, 1_000)) == 2 * 1514 * 8


def test_a_trace_runs_packet_by_packet_and_in_bins(scenario: Path) -> None:
    result = run(load(scenario), aqms=["codel", "fifo"], seeds=2)
    hosts = Counter((run.labels["aqm"], run.labels["host"]) for run in result)
    assert hosts == {(a, h): 2 for a in ("codel", "fifo") for h in ("sim", "sim, binned")}
    of_bins = [d for d in differences(result) if d.host != d.to_host]
    assert {(d.aqm, d.to, d.host, d.to_host) for d in of_bins} == {
        (aqm, aqm, "sim, binned", "sim") for aqm in ("codel", "fifo")
    }
    # A packet of the binned form may be under way while the rate is that of one packet.
    for run_ in result:
        (window,) = run_.report["queues"][0]["windows"]
        assert 60 < window["utilisation_pct"] <= 101


def test_one_seed_has_a_difference_of_the_bins(scenario: Path) -> None:
    found = differences(run(load(scenario), aqms=["codel", "fifo"]))
    assert {d.host for d in found} == {"sim, binned"}
    assert {d.pairs for d in found} == {1}


def test_a_result_holds_the_times_and_not_the_name_of_the_file(
    scenario: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = run(load(scenario), out=out)
    (tmp_path / "some.down").unlink()
    again = run(load(out / "scenario.toml"), out=out)
    assert [r.entry.key for r in again] == [r.entry.key for r in first]
    assert loads((out / "scenario.toml").read_text()) == load(out / "scenario.toml")


def test_the_engine_gets_what_falls_into_the_run_and_the_cycle(scenario: Path) -> None:
    text = scenario.read_text().replace("4 s", "10 ms")
    scenario.write_text(text)
    [link] = [x for x in load(scenario).to_engine()["links"] if "opportunities" in x]
    assert link["opportunities"] == {"at_ms": list(range(11)), "cycle_ms": TIMES[-1]}
    assert json.dumps(link["schedule"]) == '[{"at_ns": 0, "rate_bps": 12112000}]'


GRAPH = """
format = 1
name = "a recorded link between two nodes"
duration = "1 s"
nodes = ["a", "b"]
links = [
    { name = "there", from = "a", to = "b", trace = [1, 2, 3] },
    { name = "back", from = "b", to = "a", delay = "10 ms" },
]
flows = [{ from = "a", to = "b" }]
"""


def test_the_queue_of_a_recorded_link_is_under_test() -> None:
    result = run(loads(GRAPH), aqms=["codel", "fifo"], changes={"limit": 20})
    exact = [r for r in result if r.labels["host"] == "sim"]
    codel, fifo = (r.report["queues"][0]["windows"][0]["drops"] for r in exact)
    assert (codel.keys(), fifo.keys()) == ({"delay", "limit"}, {"limit"})


def test_a_trace_given_on_the_command_line_is_found_again_from_the_result(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.down").write_text("1\n2\n3\n")
    monkeypatch.chdir(tmp_path)
    first = run(load(scenario), changes={"dumbbell.trace": "other.down"}, out="out")
    monkeypatch.chdir("out")
    request = read_request(Path())
    assert request
    again = run(load("scenario.toml"), changes=request.changes, out=".")
    assert [r.entry.key for r in again] == [r.entry.key for r in first]


def test_a_long_trace_is_written_and_read_in_time(tmp_path: Path) -> None:
    """tomlkit takes the square of a list's length: hours for this one."""
    times = list(range(1, 200_001))
    text = GRAPH.replace("[1, 2, 3]", str(times))
    whole = loads(text)
    assert loads(whole.to_toml()) == whole


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf1\n2\n", b"1\r\n2\r\n", b"1\n2"])
def test_files_of_other_machines_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert read(tmp_path / "x") == (1, 2)


def test_a_pipe_is_no_trace(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="no plain file"):
        read(tmp_path / "pipe")


def test_a_bare_key_of_a_recorded_link_is_named_in_full() -> None:
    with pytest.raises(InputError, match=r"Did you mean 'links\.there\.delay'"):
        run(loads(GRAPH), changes={"delay": "5 ms"})
