# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Measures the start of a command: CPU of a short run, beside an interpreter that does nothing.

    python -m bench.start [--turns N]

All take turns, so that a busy machine is busy for all. The cache folder is one of its own.
"""

from __future__ import annotations

import argparse
import os
import resource
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

[[dumbbell.flows]]
"""
COMMAND = str(Path(sysconfig.get_path("scripts")) / "sojourn")
RUN = (COMMAND, "run", "second.toml", "--again")
# The libraries that read a command line and check a file, with one model.
LIBRARIES = "import typer, pydantic; pydantic.create_model('Model', key=int)"


@dataclass(frozen=True)
class Part:
    """One command to time."""

    name: str
    words: Sequence[str]
    terminal: bool = False  # tables have colours


PARTS = (
    Part("`python -c pass`", (sys.executable, "-c", "pass")),
    Part("typer and pydantic, with one model", (sys.executable, "-c", LIBRARIES)),
    Part("`sojourn run`", RUN),
    Part("the same, with `--json`", (*RUN, "--json")),
    Part("the same, in colours as for a terminal", RUN, terminal=True),
    Part("the same, with two algorithms", (*RUN, "--aqm", "codel", "--aqm", "pie")),
    Part("`sojourn --version`", (COMMAND, "--version")),
)


def cpu_ms(part: Part, folder: Path) -> float:
    """Measure user and system time of the command."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    environment.pop("COLUMNS", None)
    # An installed package has its bytecode.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if part.terminal:
        environment["FORCE_COLOR"] = "1"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(part.words, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * spent_s


def main() -> None:
    """Print a row for each part."""
    parser = argparse.ArgumentParser(description="What a short run costs.")
    parser.add_argument("--turns", type=int, default=15)
    turns = parser.parse_args().turns
    spent_ms: dict[str, list[float]] = {part.name: [] for part in PARTS}
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        (folder / "second.toml").write_text(SCENARIO)
        # The first turn fills the caches, of the package's bytecode too.
        for turn in range(turns + 1):
            for part in PARTS:
                part_ms = cpu_ms(part, folder)
                if turn:
                    spent_ms[part.name].append(part_ms)
    print(f"{processor()}; {turns} turns, a run of one simulated second\n")
    print("| command | CPU, least, ms | median, ms | times `pass`, least | median |")
    print("|---|--:|--:|--:|--:|")
    floor_ms = spent_ms[PARTS[0].name]
    for name, times_ms in spent_ms.items():
        least_ms, median_ms = min(times_ms), statistics.median(times_ms)
        print(
            f"| {name} | {least_ms:.0f} | {median_ms:.0f} | {least_ms / min(floor_ms):.1f} | "
            f"{median_ms / statistics.median(floor_ms):.1f} |"
        )


if __name__ == "__main__":
    main()
