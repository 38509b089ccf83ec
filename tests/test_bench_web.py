# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The bench's 20,000 browsers: the scenario, what it takes to begin, and what is made of runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import sojourn
from sojourn import bench
from sojourn.bench.command import Timed, arguments, run
from sojourn.runs.run import changed
from sojourn.scenario import variant


def test_half_of_20000_users_sit_at_each_side_of_two_queues_under_test() -> None:
    lqd = variant.read(bench.WEB_QUEUES[1], by="bench")
    graph = changed(sojourn.load(bench.WEB_SCENARIO), lqd, {}, "bench").expand()
    assert {(flow.from_, flow.to, flow.count) for flow in graph.flows} == {
        ("A", "B", 10_000),
        ("B", "A", 10_000),
    }
    tested = [link.queue for link in graph.links if link.name in graph.record.queues]
    assert [queue.algorithm for queue in tested] == ["lqd", "lqd"]
    assert [queue.rows["limit"] for queue in tested] == [5000, 5000]


def test_20000_users_are_checked_and_built_in_two_seconds_of_processor_time() -> None:
    begin = time.process_time()
    scenario = sojourn.load(bench.WEB_SCENARIO)
    (result,) = sojourn.run(scenario, changes=bench.MOMENT, workers=1, again=True).runs
    assert len(result.report["flows"]) == 20_000
    assert time.process_time() - begin < 2


def test_a_moment_of_it_runs_as_a_process_of_its_own(tmp_path: Path) -> None:
    timed = run(bench.WEB_QUEUES[0], tmp_path, bench.MOMENT, bench.WEB_SCENARIO)
    assert 0 < timed.engine_cpu_s < timed.cpu_s
    assert timed.peak_rss_mb < 500


def test_the_fastest_of_the_turns_counts_and_all_steps_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpu_s = iter([20.0, 44.0, 16.5, 33.0, 5.0, 0.5])
    ran: list[list[str]] = []

    def pretended(queue: str, out: Path, changes: Mapping[str, str], scenario: Path) -> Timed:
        ran.append(arguments(queue, scenario, changes))
        return Timed(next(cpu_s), 15.0, 1000, 100.0 + len(ran), "fingerprint")

    told: list[Timed] = []
    monkeypatch.setattr(bench, "run", pretended)

    def step(timed: Timed) -> Timed:
        told.append(timed)
        return timed

    found = bench.measure_web(2, tmp_path, step, quick=False)
    assert len(told) == len(ran) == bench.web_steps(2)
    fifo, lqd = found["results"]
    assert (fifo["queue"], fifo["cpu_seconds"], fifo["times_real_time"]) == (
        bench.WEB_QUEUES[0],
        16.5,
        40,
    )
    assert (lqd["queue"], lqd["cpu_seconds"], lqd["times_real_time"]) == (
        bench.WEB_QUEUES[1],
        33.0,
        20,
    )
    assert fifo["engine_times_real_time"] == 44
    assert found["setup_cpu_seconds"] == 0.5
    assert [entry["peak_rss_mb"] for entry in found["memory"]] == [105, 103]
    assert found["memory"][0]["simulated_s"] < found["memory"][1]["simulated_s"] == 660
    assert [words[3] for words in ran[:4]] == [*bench.WEB_QUEUES, *bench.WEB_QUEUES]
