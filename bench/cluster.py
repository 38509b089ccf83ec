# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a sweep of short cells costs, part by part, and what a large one would.

    python -m bench.cluster [CELLS]

Times are of processors, so that a busy machine counts little. The client's part is all that is not
the engine's: checks, jobs, files, tables. With Dask installed, a task's cost is that of an empty
one, on a scheduler in this process.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import sojourn
from sojourn.store.store import Store

SCENARIO = """\
format = 2
name = "short"
duration = "100 ms"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = "codel"

[[dumbbell.flows]]
name = "bulk"
count = 2
start_spread = "0 s"
"""
SWEEP = """\
scenario = "s.toml"
[[axes]]
key = "dumbbell.rtt"
from = "1 ms"
to = "500 ms"
steps = {cells}
"""
_TASKS = 500
_FILED = 500
# The sweep that is reckoned, and the time of one of its runs on a core.
_RUNS, _CORES, _RUN_S = 10**6, 1000, 1.0


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _filing_ms(runs: Path, scratch: Path) -> float:
    """Time the filing of one run, by the clock."""
    folders = list(runs.glob("??/*"))[:_FILED]
    filed = [{f.name: f.read_bytes() for f in d.iterdir() if f.name[0] != "c"} for d in folders]
    store = Store(scratch)
    begun_s = time.perf_counter()
    for folder, files in zip(folders, filed, strict=True):
        store.save(folder.name, files)
    return (time.perf_counter() - begun_s) / len(folders) * 1e3


def _task_ms() -> float | None:
    """Time a task that does nothing, through scheduler, worker and client."""
    if importlib.util.find_spec("distributed") is None:
        return None
    distributed = importlib.import_module("distributed")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
    ) as client:
        client.submit(len, "").result()
        begun_s = time.process_time()
        futures = [client.submit(len, "", key=f"task-{number}") for number in range(_TASKS)]
        for future in futures:
            future.result()
        return (time.process_time() - begun_s) / _TASKS * 1e3


def measure(cells: int, folder: Path) -> dict[str, float | None]:
    """Run the sweep in an empty folder, and return the parts of its cost for a run."""
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "sweep.toml").write_text(SWEEP.format(cells=cells))
    before_mb = _memory_mb()
    begun_s, begun_wall_s = time.process_time(), time.perf_counter()
    swept = sojourn.sweep(folder / "sweep.toml", out=folder / "out")
    all_s, wall_s = time.process_time() - begun_s, time.perf_counter() - begun_wall_s
    client_mb = _memory_mb() - before_mb
    runs = folder / "out" / "runs"
    files = [path for path in runs.rglob("*") if path.is_file()]
    entries = (json.loads(path.read_bytes()) for path in files if path.name == "run.json")
    engine_s = sum(entry["report"]["cpu_s"] for entry in entries)
    count = len(swept.rows)
    stats = [path.stat() for path in files]
    return {
        "runs": count,
        "wall time, s": wall_s,
        "engine, ms of CPU for a run": engine_s / count * 1e3,
        "client, ms of CPU for a run": (all_s - engine_s) / count * 1e3,
        "filing, ms by the clock for a run": _filing_ms(runs, folder / "filed"),
        "files for a run": len(files) / count,
        "kB for a run": sum(stat.st_size for stat in stats) / count / 1e3,
        "kB on this disk for a run": sum(stat.st_blocks * 512 for stat in stats) / count / 1e3,
        "client's memory, libraries too, MB": client_mb,
        "Dask, ms of CPU for a task": _task_ms(),
    }


def reckon(parts: dict[str, float | None]) -> str:
    """Say how long each part takes for the large sweep; the longest is its limit."""
    hours = {
        "runs": _RUNS * _RUN_S / _CORES / 3600,
        "client": _RUNS * (parts["client, ms of CPU for a run"] or 0) / 3.6e6,
        "filing": _RUNS * (parts["filing, ms by the clock for a run"] or 0) / 3.6e6,
        "scheduler": _RUNS * (parts["Dask, ms of CPU for a task"] or 0) / 3.6e6,
    }
    words = ", ".join(f"{name} {hour:.2f} h" for name, hour in hours.items())
    disk_gb = _RUNS * (parts["kB on this disk for a run"] or 0) / 1e6
    files = _RUNS * (parts["files for a run"] or 0) / 1e6
    return (
        f"{_RUNS} runs of {_RUN_S:g} s on {_CORES} cores: {words}; "
        f"{disk_gb:.0f} GB in {files:.0f} million files"
    )


def main() -> None:
    """Print each part, and the large sweep."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as folder:
        parts = measure(cells, Path(folder))
    for name, value in parts.items():
        print(f"{name:36} {'not installed' if value is None else f'{value:10.2f}'}")
    print(reckon(parts))


if __name__ == "__main__":
    main()
