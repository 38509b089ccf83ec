# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Links that follow a recorded trace, opportunity by opportunity and as a schedule of rates."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sojourn import run
from sojourn.core.errors import InputError
from sojourn.result.compare import differences
from sojourn.result.result import Result, read_request
from sojourn.runs.executor import Runner
from sojourn.runs.run import cases_of, check, under_seeds
from sojourn.scenario import load, loads
from sojourn.scenario.trace import (
    BIN_MS,
    FRAME_BYTES,
    NS_PER_MS,
    OPPORTUNITY_BYTES,
    binned,
    mean_rate_bps,
    read,
)
from sojourn.store.store import Store

SCENARIO = """
format = 2
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
    each_bytes = draw.choice([OPPORTUNITY_BYTES, FRAME_BYTES])
    steps = binned(tuple(times), bins * 10**8, each_bytes)
    rates = {step["at"]: step["rate"] for step in steps}
    expected = counts_by_hand(times, bins)
    rate_bps = 0
    for i, count in enumerate(expected):
        rate_bps = rates.get(i * BIN_MS * NS_PER_MS, rate_bps)
        # An empty bin lets one packet pass: at a rate of zero it would never leave.
        assert rate_bps == max(count, 1) * each_bytes * 8 * 10


def test_the_mean_rate_is_that_of_a_whole_cycle() -> None:
    assert mean_rate_bps((500, 1_000), 1504) == 2 * 1504 * 8


def simulated(scenario: Path, aqms: list[str], seeds: range, store: Path) -> Result:
    """What `--host linux` has the simulator run."""
    checked = check(cases_of(load(scenario), aqms), ["sim", "linux"])
    jobs = under_seeds([job for job in checked if job.labels["host"] != "linux, binned"], seeds)
    return Result("", Runner(Store(store), workers=1).run(jobs, "simulating"))


def test_rates_in_bins_run_only_beside_linux(scenario: Path) -> None:
    def hosts(*names: str) -> list[str]:
        return [str(job.labels["host"]) for job in check(cases_of(load(scenario), []), names)]

    assert hosts("sim") == ["sim"]
    assert hosts("sim", "linux") == ["sim", "sim, binned", "linux, binned"]
    assert hosts("linux") == ["linux, binned"]
    assert [run.labels["host"] for run in run(load(scenario))] == ["sim"]


def test_a_trace_is_set_beside_its_rates(scenario: Path, tmp_path: Path) -> None:
    result = simulated(scenario, ["codel", "fifo"], range(1, 3), tmp_path / "store")
    hosts = Counter((run.labels["aqm"], run.labels["host"]) for run in result)
    assert hosts == {(a, h): 2 for a in ("codel", "fifo") for h in ("sim", "sim, binned")}
    of_bins = [d for d in differences(result) if d.case.host != d.less.host]
    assert {(d.case.aqm, d.less.aqm, d.case.host, d.less.host) for d in of_bins} == {
        (aqm, aqm, "sim, binned", "sim") for aqm in ("codel", "fifo")
    }
    # A packet of the binned form may be under way while the rate is that of one packet.
    for run_ in result:
        (window,) = run_.report["queues"][0]["windows"]
        assert 60 < window["utilisation_pct"] <= 101


def test_one_seed_has_a_difference_of_the_bins(scenario: Path, tmp_path: Path) -> None:
    found = differences(simulated(scenario, ["codel", "fifo"], range(1, 2), tmp_path / "store"))
    assert {d.case.host for d in found} == {"sim, binned"}
    assert {d.pairs for d in found} == {1}


VOICE = """
format = 2
name = "voice over rare opportunities"
duration = "20 s"

[dumbbell]
trace = [25]
rtt = "40 ms"
aqm = { algorithm = "fifo", limit = 200 }

[[dumbbell.flows]]
name = "voice"
count = 4
transport = "udp"
app = { kind = "cbr", rate = "64 kbit/s", payload = "160 B" }
"""


def window_of(text: str, **changes: object) -> dict[str, Any]:
    (ran,) = run(loads(text), changes=changes)
    window: dict[str, Any] = ran.report["queues"][0]["windows"][0]
    return window


def test_voice_shares_the_bytes_of_an_opportunity_as_in_mahimahi() -> None:
    """Eight datagrams of 192 bytes at most come between two opportunities of 1,504."""
    window = window_of(VOICE)
    assert window["dropped_pkts"] == 0
    # A datagram waits for half the time between two opportunities, more or less by its phase.
    assert 10 < window["queue_delay_ms"]["mean"] < 15
    assert window["queue_delay_ms"]["max"] <= 25
    offered_bytes = 4 * 50 * (160 + 28 + 4)
    assert window["utilisation_pct"] == pytest.approx(offered_bytes / (40 * 1504) * 100, abs=2)


def test_an_opportunity_may_be_one_packets_whatever_its_size() -> None:
    window = window_of(VOICE, **{"dumbbell.opportunity": "packet"})
    assert window["departed_pkts"] == pytest.approx(40 * 20, abs=8)
    assert window["drop_pct"] > 70
    # All are used, if only by small packets.
    assert window["utilisation_pct"] == pytest.approx(100, abs=1.1)


@pytest.mark.parametrize("trace", [[1000], [500] * 8])
@pytest.mark.parametrize("opportunity", ["bytes", "packet"])
def test_a_flood_uses_every_opportunity(trace: list[int], opportunity: str) -> None:
    text = VOICE.replace("[25]", str(trace)).replace("64 kbit/s", "2 Mbit/s")
    changes = {"flows.voice.app.payload": "1472 B", "dumbbell.opportunity": opportunity}
    assert 98 <= window_of(text, **changes)["utilisation_pct"] <= 100.1


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
    [link] = [x for x in load(scenario).to_engine()["links"] if x["trace"]]
    assert link["trace"] == [*range(11), TIMES[-1]] and link["opportunity"] == "bytes"
    assert json.dumps(link["schedule"]) == '[{"at": 0, "rate": 12032000}]'
    assert link["header"] == 4


GRAPH = """
format = 2
name = "a recorded link between two nodes"
duration = "1 s"
nodes = ["a", "b"]
links = [
    { name = "there", from = "a", to = "b", trace = [1, 2, 3], opportunity = "packet" },
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
