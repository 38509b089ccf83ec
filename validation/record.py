# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""record.py: run the cells on Linux in virtual time and keep the results as data.

Finished cells are kept in the file as they come; a second start goes on where the
first one ended.

    python -m validation.record --seeds 3
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from linux.uml.boot import boot
from linux.uml.build import Built, build
from validation.cells import BUFFER_MAX_BYTES, HTB_BURST_BYTES, QUEUES, WINDOWS, Cell, cells

HERE = Path(__file__).resolve().parent

COUNTERS = {
    "retransmitted_pkts": "RetransSegs",
    "timeouts": "TCPTimeouts",
    "spurious_timeouts": "TCPSpuriousRTOs",
    "loss_probes": "TCPLossProbes",
    "hystart_train": "TCPHystartTrainDetect",
    "hystart_delay": "TCPHystartDelayDetect",
}


def job_text(cell: Cell, seed: int) -> str:
    """The cell as the guest's script reads it."""
    words = {
        "rate_bps": str(cell.rate_mbps * 1_000_000),
        "delay_us": str(cell.rtt_ms * 1000),
        "burst_bytes": str(HTB_BURST_BYTES),
        "buffer_bytes": str(BUFFER_MAX_BYTES),
        "queue": " ".join((cell.queue, *QUEUES[cell.queue])),
        "control": cell.control,
        "edges_ms": ",".join(map(str, cell.edges_ms)),
        "starts_us": ",".join(map(str, cell.starts_us(seed))),
    }
    return json.dumps(words)


def counters(console: str) -> list[dict[str, int]]:
    """All TCP counters at each mark, from the kernel's pairs of name and value lines."""
    marks: list[dict[str, int]] = []
    lines = re.findall(r"^mark (\d+) (\w+): (.*)$", console, re.M)
    for (mark, _, names), (_, _, values) in zip(lines[::2], lines[1::2], strict=True):
        if int(mark) == len(marks):
            marks.append({})
        marks[-1].update(zip(names.split(), map(int, values.split()), strict=True))
    return marks


def windows(console: str, cell: Cell) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the tap saw in each window, with the counters' growth beside it."""
    seen = [json.loads(line) for line in re.findall(r"^window (.*)$", console, re.M)]
    marks = counters(console)
    for i, (name, window) in enumerate(zip(WINDOWS, seen, strict=True)):
        seconds = (cell.edges_ms[i + 1] - cell.edges_ms[i]) / 1000
        bits = 8 * window.pop("departed_bytes")
        window["utilisation_pct"] = round(bits / seconds / cell.rate_mbps / 1e4, 3)
        for key, counter in COUNTERS.items():
            window[key] = marks[i + 1][counter] - marks[i][counter]
        yield name, window


def measure(built: Built, cell: Cell, seed: int) -> dict[str, Any]:
    """One cell with one seed: boot, run, read."""
    with tempfile.TemporaryDirectory(prefix="sojourn-cell-") as scratch:
        folder = Path(scratch)
        (folder / "cell.json").write_text(job_text(cell, seed))
        job = folder / "job"
        guest = f"exec {sys.executable} -S {HERE / 'dumbbell.py'} {built.programs}"
        job.write_text(f"#!/bin/sh\n{guest}\n")
        job.chmod(0o755)
        outcome = boot(built, folder, seed, limit_s=1800)
    record: dict[str, Any] = {"cell": cell.name, "seed": seed, "cpu_s": round(outcome.cpu_s)}
    record["windows"] = dict(windows(outcome.console, cell))
    return record


def pin(numbers: Iterator[int]) -> None:
    """Keep a kernel and its guest on one processor: they take turns, never run at once."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[-1 - next(numbers) % len(processors)]})


def store(path: Path, built: Built, records: list[dict[str, Any]]) -> None:
    """Written beside and renamed: a killed run leaves the last whole file."""
    order = {cell.name: i for i, cell in enumerate(cells())}
    records.sort(key=lambda r: (order[r["cell"]], r["seed"]))
    lines = ",\n".join(json.dumps(record) for record in records)
    head = {
        "kernel": f"Linux {built.release} (User-Mode Linux, time-travel=inf-cpu, HZ=1000)",
        "command": "python -m validation.record --seeds N",
        "format": 1,
    }
    new = path.with_suffix(".new")
    new.write_text(f'{json.dumps(head)[:-1]}, "records": [\n{lines}\n]}}\n')
    new.rename(path)


def main() -> int:
    parser = argparse.ArgumentParser(description="Record the Linux side of the comparison.")
    parser.add_argument("--cells", default="", help="regular expression on cell names")
    parser.add_argument("--seeds", type=int, default=1, help="seeds 1 to N of each cell")
    parser.add_argument("--jobs", type=int, default=1, help="kernels side by side")
    parser.add_argument("--out", type=Path, help="another file than validation/linux/RELEASE.json")
    options = parser.parse_args()
    os.nice(5)
    built = build()
    path = options.out or HERE / "linux" / f"{built.release}.json"
    records = json.loads(path.read_text())["records"] if path.exists() else []
    done = {(record["cell"], record["seed"]) for record in records}
    todo = [
        (cell, seed)
        for seed in range(1, options.seeds + 1)
        for cell in cells()
        if re.search(options.cells, cell.name) and (cell.name, seed) not in done
    ]
    began = time.monotonic()
    with ThreadPoolExecutor(options.jobs, initializer=pin, initargs=(itertools.count(),)) as pool:
        waiting = [pool.submit(measure, built, cell, seed) for cell, seed in todo]
        for n, future in enumerate(as_completed(waiting), 1):
            record = future.result()
            records.append(record)
            store(path, built, records)
            spent = time.monotonic() - began
            left = spent / n * (len(todo) - n)
            which = f"{record['cell']} seed {record['seed']}"
            print(f"{n}/{len(todo)} {which}; {left:.0f} s left", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
