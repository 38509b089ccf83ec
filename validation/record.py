# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""record.py: run the cells on Linux in virtual time and keep the results as data.

Each finished run is kept in the cache at once; a second start goes on where the first
one ended. When all are there, they join what validation/linux/RELEASE holds.

    python -m validation.record --jobs 2
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
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sojourn.linux.uml.boot import boot
from sojourn.linux.uml.build import Built, build, cache_root, digest

from validation import recorded
from validation.cells import BUFFER_MAX_BYTES, HTB_BURST_BYTES, QUEUES, WINDOWS, Cell, cells

HERE = Path(__file__).resolve().parent
SEEDS = 5
# Of a kept run; another one is another key.
FORMAT = "2"
# What of this folder and of the guest's programs a run depends on.
GUEST = HERE.parent / "linux" / "uml"
MADE_OF = [HERE / "dumbbell.py", *(GUEST / f"{name}.c" for name in ("init", "load", "tap", "seed"))]

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
        "delays_us": ",".join(str(rtt_ms * 1000) for rtt_ms in cell.rtts_ms),
        "burst_bytes": str(HTB_BURST_BYTES),
        "buffer_bytes": str(BUFFER_MAX_BYTES),
        "queue": " ".join((cell.queue, *QUEUES[cell.queue])),
        "control": cell.control,
        "edges_ms": ",".join(map(str, cell.edges_ms)),
        "rcvbuf_bytes": str(cell.rcvbuf_bytes),
        "starts_us": ",".join(map(str, cell.starts_us(seed))),
        "starts_back_us": ",".join(map(str, cell.starts_back_us(seed))),
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


def arrivals(path: Path) -> dict[str, list[int]]:
    """Each flow's payload in order, in bytes a second, as its receiver has written it."""
    lines = [line.split() for line in path.read_text().splitlines()]
    found = {line[0]: [int(word) for word in line[1:]] for line in lines}
    return dict(sorted(found.items(), key=lambda item: int(item[0])))


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
        flows = {"forth": arrivals(folder / "forth")}
        if cell.back:
            flows["back"] = arrivals(folder / "back")
    for way, wanted in (("forth", cell.flows), ("back", cell.back)):
        found = len(flows.get(way, {}))
        if found != wanted:
            raise SystemExit(f"{cell.name}: {found} flows {way}, not {wanted}")
    record: dict[str, Any] = {"cell": cell.name, "seed": seed, **asdict(cell)}
    record["cpu_s"] = round(outcome.cpu_s)
    record["windows"] = dict(windows(outcome.console, cell))
    record["bytes_each_second"] = flows
    return record


def part_of(built: Built, cell: Cell, seed: int) -> Path:
    """Where this run is kept, or will be: by all that it depends on."""
    words = [FORMAT, built.kernel.parent.name, job_text(cell, seed), str(seed)]
    key = digest(MADE_OF, words)
    return cache_root() / "validation" / f"{cell.name}-{seed}-{key}.json"


def keep(built: Built, cell: Cell, seed: int) -> None:
    """Run and keep; written beside and renamed, so that what is there is whole."""
    part = part_of(built, cell, seed)
    part.parent.mkdir(parents=True, exist_ok=True)
    new = part.with_suffix(".new")
    new.write_text(json.dumps(measure(built, cell, seed)))
    new.rename(part)


def pin(numbers: Iterator[int]) -> None:
    """Keep a kernel and its guest on one processor: they take turns, never run at once."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[-1 - next(numbers) % len(processors)]})


def record(built: Built, runs: list[tuple[Cell, int]], jobs: int) -> None:
    """Run what the cache does not hold."""
    todo = [run for run in runs if not part_of(built, *run).exists()]
    began = time.monotonic()
    with ThreadPoolExecutor(jobs, initializer=pin, initargs=(itertools.count(),)) as pool:
        waiting = {pool.submit(keep, built, *run): run for run in todo}
        for n, future in enumerate(as_completed(waiting), 1):
            future.result()
            cell, seed = waiting[future]
            left = (time.monotonic() - began) / n * (len(todo) - n)
            print(f"{n}/{len(todo)} {cell.name} seed {seed}; {left:.0f} s left", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Record the Linux side of the comparison.")
    parser.add_argument("--cells", default="", help="regular expression on cell names")
    parser.add_argument("--anew", action="store_true", help="also what the files hold")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds 1 to N of each cell")
    parser.add_argument("--jobs", type=int, default=1, help="kernels side by side")
    options = parser.parse_args()
    os.nice(5)
    built = build()
    if built.release != recorded.RELEASE:
        raise SystemExit(
            f"this kernel is {built.release}, and validation/recorded.py reads {recorded.RELEASE}:"
            " change it there first"
        )
    chosen = [cell for cell in cells() if re.search(options.cells, cell.name)]
    runs = [(cell, seed) for seed in range(1, options.seeds + 1) for cell in chosen]
    if not options.anew:
        held = recorded.runs()
        runs = [(cell, seed) for cell, seed in runs if (cell.name, seed) not in held]
    # Fast links last: half of all the time is theirs.
    record(built, sorted(runs, key=lambda run: run[0].rate_mbps > 100), options.jobs)
    recorded.add([json.loads(part_of(built, *run).read_text()) for run in runs])
    return 0


if __name__ == "__main__":
    sys.exit(main())
