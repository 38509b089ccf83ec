# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs: the same each time, kept when stopped, made again when damaged."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
import sojourn
from sojourn import _native
from sojourn.core.errors import RunError, StoreError
from sojourn.result.metrics import METRICS
from sojourn.runs import executor
from sojourn.runs.elsewhere import Parcel
from sojourn.runs.executor import Runner
from sojourn.runs.job import Job, Stopped, unpack, work
from sojourn.scenario import Scenario
from sojourn.store.store import Entry, Store

from tests.conftest import SMALL


def engine(scenario: Scenario) -> str:
    return json.dumps(scenario.to_engine())


def jobs(count: int, duration: str = "2 s") -> list[Job]:
    text = engine(sojourn.loads(SMALL.replace("2 s", duration)))
    return [Job(text, seed, f"seed {seed}") for seed in range(1, count + 1)]


def entries(count: int, store: Store, duration: str = "2 s", **how: Any) -> list[Entry]:
    """So many runs."""
    return [run.entry for run in Runner(store, **how).run(jobs(count, duration), "running")]


def fingerprint(run: sojourn.Run) -> str:
    return str(run.report["fingerprint"])


def test_one_seed_gives_the_same_bytes_and_two_differ(small: Path) -> None:
    text = engine(sojourn.load(small))
    runs = [_native.run(text, seed) for seed in (1, 1, 2)]
    first, again, other = (run for run in runs if run)
    assert first == again
    assert json.loads(first[0])["fingerprint"] != json.loads(other[0])["fingerprint"]


def test_several_workers_give_what_one_gives(small: Path, tmp_path: Path) -> None:
    scenario = sojourn.load(small)
    alone = sojourn.run(scenario, seeds=3, workers=1, out=tmp_path / "1")
    many = sojourn.run(scenario, seeds=3, workers=2, out=tmp_path / "2")
    assert [fingerprint(r) for r in many] == [fingerprint(r) for r in alone]


class Counted:
    """A client that notes how many runs it has at most."""

    def __init__(self, workers: int) -> None:
        self.pool, self.now, self.most = ThreadPoolExecutor(workers), 0, 0

    def submit(self, work: Any, job: Job) -> Future[bytes]:
        self.now += 1
        self.most = max(self.most, self.now)
        future = self.pool.submit(work, job)
        future.add_done_callback(self.done)
        return future

    def done(self, _: object) -> None:
        self.now -= 1


def test_few_runs_are_submitted_ahead_however_many_there_are(small: Path) -> None:
    """Those that are done would pile up, and those that are not could not be taken back."""
    client = Counted(2)
    result = sojourn.run(small, changes={"duration": "3 ms"}, seeds=60, workers=2, client=client)
    assert len(result) == 60
    assert 2 < client.most <= 16


def test_an_executor_of_the_standard_library_is_a_client_and_stays_open(small: Path) -> None:
    here = sojourn.run(small, seeds=3, out=small.parent / "here")
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as client:
        there = sojourn.run(small, seeds=3, out=small.parent / "there", client=client)
        assert client.submit(abs, -1).result() == 1
    assert [fingerprint(run) for run in there] == [fingerprint(run) for run in here]


class Broken:
    """A client whose workers are lost."""

    def submit(self, work: Any, parcel: Parcel) -> Future[bytes]:
        future: Future[bytes] = Future()
        if parcel.job.seed == 1:
            future.set_result(work(parcel))
        else:
            future.set_exception(BrokenExecutor("lost"))
        return future


class Lost:
    """A client whose scheduler went away: its futures never come back."""

    status = "running"

    def submit(self, *_: Any) -> Future[bytes]:
        self.status = "closed"
        return Future()


class Closed:
    """A client that takes no more."""

    def submit(self, *_: Any) -> Future[bytes]:
        raise RuntimeError("the client is closed")


def test_a_client_that_loses_its_workers_is_a_sentence_and_what_came_back_is_kept(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path)
    with pytest.raises(RunError, match=r"2 of 3 runs failed; the other 1 are kept.*\n.*are gone"):
        entries(3, store, client=Broken())
    assert [store.has(job.key) for job in jobs(3)] == [True, False, False]
    with pytest.raises(RunError, match=r"2 of 3 runs failed; the other 1 are kept.*\n.*are gone"):
        entries(3, store, client=Lost())
    with pytest.raises(RunError, match="the workers take no run: the client is closed"):
        entries(3, store, client=Closed())


def test_a_run_is_one_piece_that_says_all() -> None:
    """It may be made where there is no store."""
    (job,) = jobs(1)
    files = unpack(work(job))
    run = files["run.json"]
    assert isinstance(run, bytes) and json.loads(run)["seed"] == 1
    tables = {"series.parquet", "group_series.parquet", "statistics.parquet"}
    assert files.keys() == {"run.json", "distributions.parquet", *tables}
    with pytest.raises(Stopped):
        work(jobs(1, "100000 s")[0], lambda share: False)


def test_a_second_time_nothing_is_run(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = sojourn.load(small)
    before = sojourn.run(scenario, seeds=2, workers=1)
    monkeypatch.setattr(executor, "work", None)
    after = sojourn.run(scenario, seeds=2, workers=1)
    assert [fingerprint(r) for r in before] == [fingerprint(r) for r in after]


def test_a_truncated_run_is_made_again(small: Path, tmp_path: Path) -> None:
    scenario = sojourn.load(small)
    before = sojourn.run(scenario, out=tmp_path / "out")
    path = before.runs[0].entry.folder / "series.parquet"
    path.write_bytes(path.read_bytes()[:100])
    after = sojourn.run(scenario, out=tmp_path / "out")
    assert fingerprint(after.runs[0]) == fingerprint(before.runs[0])
    assert path.stat().st_size > 100


def test_a_run_answers_within_a_tenth_of_a_second() -> None:
    stop_at = time.monotonic() + 0.3

    def go_on(_: float) -> bool:
        return time.monotonic() < stop_at

    assert _native.run(jobs(1, "100000 s")[0].scenario, 1, go_on) is None
    assert time.monotonic() - stop_at < 0.1


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(small: Path, tmp_path: Path) -> None:
    small.write_text(SMALL.replace('"2 s"', '"60 s"'))
    words = ["run", str(small), "--seeds", "10000", "--workers", "2", "--out", str(tmp_path / "o")]
    command = [sys.executable, "-m", "sojourn", *words]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell starts what it puts into the background with Ctrl-C switched off.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            runs = tmp_path / "o" / "runs"
            deadline = time.monotonic() + 60
            while not list(runs.glob("??/*/complete.json")) and time.monotonic() < deadline:
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGINT)
            _, message = process.communicate(timeout=30)
        finally:
            process.kill()
    assert process.returncode == 130
    kept = len(list(runs.glob("??/*/complete.json")))
    assert kept > 0
    assert f"{kept} of 10000 runs are finished and kept" in message
    assert "the same command goes on from there" in message
    assert "Traceback" not in message
    with pytest.raises(StoreError, match="not whole"):
        sojourn.Result.load(tmp_path / "o")


def test_a_result_is_a_folder_that_explains_itself(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = sojourn.run(sojourn.load(small), aqms=["codel", "fifo"], seeds=2, workers=1, out=out)
    again = sojourn.Result.load(out)
    assert again.to_json() == json.loads(json.dumps(result.to_json()))
    pd.testing.assert_frame_equal(again.series().to_pandas(), result.series().to_pandas())
    head = json.loads((out / "result.json").read_text())
    assert {"format", "core", "host", "seeds", "made"} <= head.keys()
    assert sojourn.load(out / "scenario.toml").duration == 2_000_000_000
    windows = pd.read_parquet(out / "windows.parquet")
    assert list(windows["aqm"]) == ["codel", "codel", "fifo", "fifo"]
    series = pl.read_parquet(out / "series.parquet")
    assert set(series.columns) >= {"aqm", "seed", "queue", "t_s", "queue_delay_ms"}


@pytest.mark.parametrize("name", ["series.parquet", "result.json", "scenario.toml"])
def test_a_half_written_result_does_not_pass_for_whole(
    small: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    sojourn.run(sojourn.load(small), out=out)
    (out / name).write_bytes((out / name).read_bytes()[:-10])
    with pytest.raises(StoreError, match=r"not whole.*Run the same command again"):
        sojourn.Result.load(out)


def test_every_packet_is_kept_where_asked_for(small: Path) -> None:
    small.write_text(SMALL + "\n[record]\nevents = true\n")
    run = sojourn.run(sojourn.load(small)).runs[0]
    events = run.events()
    window = run.report["queues"][0]["windows"][0]
    assert events is not None
    assert len(events) == window["departed_pkts"] + window["dropped_pkts"]


TWO_WINDOWS = (
    SMALL
    + """
[record]
windows = [
    { name = "first", from = "0 s", to = "1 s" },
    { name = "second", from = "1 s", to = "2 s" },
]
"""
)


def test_each_window_has_its_own_goodput_and_fairness() -> None:
    report = sojourn.run(sojourn.loads(TWO_WINDOWS)).runs[0].report
    goodput, jain = METRICS["goodput_mbps"], METRICS["jain"]
    first, second = (goodput.measure(report, "bottleneck", name) for name in ("first", "second"))
    assert second > first + 1, "in the first second the flows start"
    for name in ("first", "second"):
        assert 0.5 < jain.measure(report, "bottleneck", name) <= 1
    whole = sum(flow["delivered_bytes"] for flow in report["flows"]) * 8 / 1e6
    assert abs(first + second - whole) < 1e-6


def test_the_columns_of_flows_say_whether_they_are_of_a_window(tmp_path: Path) -> None:
    result = sojourn.run(sojourn.loads(TWO_WINDOWS), out=tmp_path / "out")
    flows = pd.read_parquet(tmp_path / "out" / "flows.parquet")
    assert list(flows["window"]) == ["first", "second"] * 2
    of_flow = [f["goodput_mbps_of_windows"] for f in result.runs[0].report["flows"]]
    assert list(flows["goodput_mbps"]) == [*of_flow[0], *of_flow[1]]
    labels = {"aqm", "seed", "host", "flow", "index", "window", "goodput_mbps"}
    assert all(key.endswith("_whole_run") for key in set(flows.columns) - labels)
