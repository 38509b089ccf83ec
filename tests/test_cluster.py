# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs on a real Dask scheduler with workers of its own, each in a process with a cache of its own;
and on executors of submitit. Both are on this machine."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn import _native
from sojourn.cli import status
from sojourn.core.errors import RunError
from sojourn.runs import dask, elsewhere
from sojourn.runs.job import Job
from sojourn.user_aqm import library

from tests.conftest import SMALL

SWEEP = """\
scenario = "s.toml"
aqms = ["./mine.c", "codel"]
seeds = 3
[[axes]]
key = "dumbbell.rtt"
values = ["10 ms", "20 ms", "40 ms", "80 ms"]
"""


def needs(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: make setup installs it with what the tests need")


class Cluster:
    """A scheduler, and workers that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        file = folder / "scheduler.json"
        while not file.exists():
            assert self.scheduler.poll() is None, (folder / "log").read_text()
            time.sleep(0.1)
        self.address = str(json.loads(file.read_text())["address"])

    def _start(self, kind: str, *words: str, **env: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file"]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [*command, str(self.folder / "scheduler.json"), "--no-dashboard", *words],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **env},
            )

    def add(self, count: int) -> None:
        """Start workers; each has a cache of its own, as on a machine of its own."""
        for _ in range(count):
            cache = self.folder / f"cache-{len(self.workers)}"
            words = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny")
            self.workers.append(self._start("worker", *words, XDG_CACHE_HOME=str(cache)))
        client_of = importlib.import_module("distributed").Client
        with client_of(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=200)

    def kill(self, *which: int) -> None:
        for number in which:
            self.workers[number].kill()
            self.workers[number].wait()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()


@pytest.fixture
def cluster(own_store: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    needs("distributed")
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("s.toml").write_text(SMALL + 'start_spread = "0 s"\n')
    Path("mine.c").write_text(library.template_text("mine"))
    Path("sweep.toml").write_text(SWEEP)


def when_finished(runs: int, out: str, then: Any) -> threading.Thread:
    """Do something as soon as so many runs are there."""

    def wait() -> None:
        while len(list(Path(out).glob("runs/??/*/complete.json"))) < runs:
            time.sleep(0.02)
        then()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.mark.deep
def test_a_sweep_loses_a_worker_and_ends_as_the_local_one(cluster: Cluster) -> None:
    """The C file travels: the workers' caches and ours are not the same."""
    cluster.add(2)
    killed = when_finished(3, "far", lambda: cluster.kill(0))
    assert status(["sweep", "sweep.toml", "--dask", cluster.address, "--out", "far"]) == 0
    killed.join()
    assert status(["sweep", "sweep.toml", "--out", "near", "--again"]) == 0
    for name in ("cells.parquet", "means.parquet"):
        assert Path("far", name).read_bytes() == Path("near", name).read_bytes()
    caches = list(cluster.folder.glob("cache-*/sojourn/own-*/library.so"))
    assert len(caches) == 2


@pytest.mark.deep
def test_when_all_workers_are_gone_the_command_says_so_and_goes_on_with_new_ones(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask, "_PATIENCE_S", 1.0)
    Path("sweep.toml").write_text(SWEEP.replace('"./mine.c", ', ""))
    cluster.add(1)
    said: list[str] = []

    def lose() -> None:
        cluster.kill(0)
        until = time.monotonic() + 100
        while time.monotonic() < until and "no worker" not in "".join(said):
            time.sleep(0.2)
            said.append(capsys.readouterr().err)
        cluster.add(1)

    lost = when_finished(2, "far", lose)
    assert status(["sweep", "sweep.toml", "--dask", cluster.address, "--out", "far"]) == 0
    lost.join()
    assert "".join(said).count("no worker is left; waiting for one to come") == 1
    assert len(list(Path("far/runs").glob("??/*/complete.json"))) == 12


@pytest.mark.deep
def test_a_paper_runs_on_the_cluster(cluster: Cluster) -> None:
    cluster.add(1)
    assert status(["new", "--paper", "mypaper"]) == 0
    words = ["reproduce", "./mypaper", "--seeds", "1", "--dask", cluster.address, "--out", "far"]
    assert status(words) == 0
    assert list(Path("far").glob("**/runs/??/*/complete.json"))


def test_a_worker_with_another_version_makes_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(json.dumps(sojourn.load("s.toml").to_engine()), 1, "one")
    sent = elsewhere.parcel(job)
    assert elsewhere.make(sent)
    monkeypatch.setattr(_native, "core_version", lambda: "0.0.1+other")
    with pytest.raises(RunError, match=r"has Sojourn 0\.0\.1\+other, wanted is .*the same on all"):
        elsewhere.make(sent)


@pytest.mark.deep
def test_workers_of_submitit_make_the_runs() -> None:
    needs("submitit")
    less = SWEEP.replace(', "40 ms", "80 ms"', "").replace("seeds = 3", "seeds = 1")
    Path("sweep.toml").write_text(less)
    executor = importlib.import_module("submitit").LocalExecutor(folder="jobs")
    executor.update_parameters(timeout_min=5)
    far = sojourn.sweep("sweep.toml", out="far", client=executor, workers=2)
    assert far.made == 4
    near = sojourn.sweep("sweep.toml", out="near", again=True)
    assert far.cells_table().equals(near.cells_table())
