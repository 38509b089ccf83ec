# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How long `sojourn reproduce` takes from an empty store, the whole command, on all cores.

    python -m bench.reproduce [PART ...] [--keep DIR] [--workers N]

A part is a command in a cache folder of its own, which is empty at first. So what a user's first
run makes is counted: checked scenarios, compiled C files of ablations, matplotlib's list of fonts,
tables and pages. What `make setup` makes is not: the native module, and the compiler's profile.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn import _native

from bench.machine import processor

AFTERWARDS = """\
With --keep DIR the runs stay in DIR/PART/sojourn/runs, and the page beside them. To have them in
your own store, copy what it lacks while no other command writes there:

    cp -rn DIR/*/sojourn/runs/* "${XDG_CACHE_HOME:-$HOME/.cache}/sojourn/runs"
"""


@dataclass(frozen=True)
class Part:
    """What to time, and in how many minutes it is to be done on two cores."""

    name: str
    about: str
    words: Sequence[str]
    goal_min: float


PARTS = (
    Part("tables", "stability, Tables I to V", ("stability/90", "stability/900"), 5),
    Part("duk", "DUK, whole", ("duk",), 10),
    Part("quick", "the ledger of all papers, `--quick`", ("--quick",), 20),
    Part("cfd", "CFD, whole", ("cfd",), 45),
    Part("lqd-2", "LQD, Table 2 at full length", ("lqd/web",), 45),
    Part("lqd-3", "LQD, Table 3 at full length", ("lqd/tmix",), 25),
)


@dataclass(frozen=True)
class Timed:
    """What a command took."""

    wall_s: float
    cpu_s: float  # user and system, of all its processes
    runs: int
    load: float  # of the machine, when it began
    status: int


def timed(part: Part, folder: Path, workers: int | None) -> Timed:
    """Run it with an empty cache in the folder, which has its page afterwards."""
    words = [sys.executable, "-m", "sojourn", "reproduce", *part.words]
    words += ["--workers", str(workers)] if workers else []
    folder.mkdir(parents=True)
    surroundings = {**os.environ, "XDG_CACHE_HOME": str(folder)}
    load = os.getloadavg()[0]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun_s = time.monotonic()
    with (folder / "printed.txt").open("wb") as printed:
        done = subprocess.run(words, cwd=folder, env=surroundings, stdout=printed, check=False)
    wall_s = time.monotonic() - begun_s
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    runs = len([*folder.glob("sojourn/runs/??/*/complete.json")])
    return Timed(wall_s, cpu_s, runs, load, done.returncode)


def row(part: Part, found: Timed) -> str:
    """A line of the table."""
    met = "met" if found.wall_s <= 60 * part.goal_min else "missed"
    verdict = met if found.status == 0 else f"ended with status {found.status}"
    return (
        f"| {part.about} | {found.runs} | {found.wall_s:.0f} | {found.cpu_s:.0f} "
        f"| {60 * part.goal_min:.0f} | {verdict} | {found.load:.2f} |"
    )


def checked(options: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Part]:
    """The parts that are meant; those that --keep has already are refused before any is timed."""
    known = {part.name: part for part in PARTS}
    for name in options.parts:
        if name not in known:
            parser.error(f"there is no part '{name}'; there are {', '.join(known)}")
    chosen = [known[name] for name in dict.fromkeys(options.parts or known)]
    for part in chosen:
        if options.keep and (options.keep / part.name).exists():
            parser.error(f"{options.keep / part.name} is there, and a part begins empty")
    if options.workers is not None and options.workers < 1:
        parser.error(f"{options.workers} workers; allowed: 1 and more")
    return chosen


def main(words: Sequence[str] | None = None) -> int:
    """A line for each part, as soon as it is done; 1 where a command failed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.reproduce",
        description="How long `sojourn reproduce` takes from an empty store.",
        epilog=AFTERWARDS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    about = "; ".join(f"{part.name}: {part.about}" for part in PARTS)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"all unless named; {about}")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep runs and pages there")
    parser.add_argument("--workers", type=int, metavar="N", help="runs at once; else one a core")
    options = parser.parse_args(words)
    chosen = checked(options, parser)
    folder = (options.keep or Path(tempfile.mkdtemp(prefix="sojourn-bench-"))).absolute()
    cores = options.workers or len(os.sched_getaffinity(0))
    print(f"{processor()}; core {_native.core_version()}, {cores} runs at once\n")
    print("| `sojourn reproduce` | runs | wall clock, s | CPU, s | goal, s | | load before |")
    print("|---|--:|--:|--:|--:|---|--:|", flush=True)
    failed = False
    try:
        for part in chosen:
            found = timed(part, folder / part.name, options.workers)
            failed = failed or found.status != 0
            print(row(part, found), flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
