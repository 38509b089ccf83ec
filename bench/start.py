# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a short run costs: CPU of the whole command, beside an interpreter that does nothing.

    python -m bench.start [--turns N]

All take turns, so that a busy machine is busy for all. The cache folder is one of its own.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.machine import processor

SCENARIO = """\
format = 2
name = "a second"
duration = "1 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "50 ms"
aqm = "codel"
"""
# The goal, for what was checked before.
MOST_MS = 60
KNOWN = "checked before; run again"
COMMAND = str(Path(sysconfig.get_path("scripts")) / "sojourn")


@dataclass(frozen=True)
class Part:
    """One thing to time."""

    name: str
    words: Sequence[str]
    new: bool = False  # nothing is known of any command
    terminal: bool = False  # tables have colours


# What a run that was checked before takes from Python's own library, and from its only other one.
MODULES = "contextlib, dataclasses, hashlib, json, pathlib, platformdirs, re, typing"
RUN = (COMMAND, "run", "second.toml")
PARTS = (
    Part("`python -c pass`", (sys.executable, "-c", "pass")),
    Part("the modules that it needs", (sys.executable, "-c", f"import {MODULES}")),
    Part("the first time", RUN, new=True),
    Part("checked before; its run is there", RUN),
    Part(KNOWN, (*RUN, "--again")),
    Part("the same, with `--json`", (*RUN, "--again", "--json")),
    Part("the same, in colours as for a terminal", (*RUN, "--again"), terminal=True),
)


def cpu_ms(part: Part, folder: Path) -> float:
    """User and system time of the command."""
    cache = folder / ("new" if part.new else "cache")
    if part.new:
        shutil.rmtree(cache, ignore_errors=True)
    surroundings = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    surroundings.pop("COLUMNS", None)
    # What is installed has its bytecode.
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    if part.terminal:
        surroundings["FORCE_COLOR"] = "1"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(part.words, cwd=folder, env=surroundings, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * spent_s


def main() -> None:
    """A line for each."""
    parser = argparse.ArgumentParser(description="What a short run costs.")
    parser.add_argument("--turns", type=int, default=9)
    turns = parser.parse_args().turns
    found: dict[str, list[float]] = {part.name: [] for part in PARTS}
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        (folder / "second.toml").write_text(SCENARIO)
        # The first turn fills the caches, of the package's bytecode too.
        for turn in range(turns + 1):
            for part in PARTS:
                spent_ms = cpu_ms(part, folder)
                if turn:
                    found[part.name].append(spent_ms)
    print(f"{processor()}; {turns} turns, a run of one simulated second\n")
    print("| `sojourn run` | CPU, least, ms | median, ms | more than `pass`, ms |")
    print("|---|--:|--:|--:|")
    floor_ms = statistics.median(found[PARTS[0].name])
    for name, times_ms in found.items():
        median_ms = statistics.median(times_ms)
        print(f"| {name} | {min(times_ms):.0f} | {median_ms:.0f} | {median_ms - floor_ms:.0f} |")
    known_ms = statistics.median(found[KNOWN])
    print(f"\nThe goal of {MOST_MS} ms is {'met' if known_ms <= MOST_MS else 'missed'}.")


main()
