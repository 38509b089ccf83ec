# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The cost of a packet in each algorithm, beside the fifo of the first version (cost.c).

    python -m bench.cost [NAME[:ROW=VALUE,...] ...]

All take turns in one run. Instructions are counted by callgrind, as the difference between a run
and one of twice its length, so that neither the start nor the machine is in them.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sojourn.algorithms import algorithms
from sojourn.linux.uml.module import core_sources

from bench.machine import processor

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FIRST = "07c8c2f"
ROUNDS = 15
TURNS = 200_000
COUNTED_TURNS = 20_000
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")


@dataclass(frozen=True)
class Program:
    """cost.c with one core, and what it runs."""

    name: str
    command: tuple[str, ...]
    rows: tuple[str, ...] = ()

    def run(self, turns: int, *before: str) -> list[int]:
        """Packets offered, ns, packets waiting, lost, marked."""
        command = [*before, *self.command, str(turns), *self.rows]
        found = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
        return [int(word) for word in found.stdout.split()]

    def instructions(self, folder: Path) -> float:
        """For each packet offered."""
        counts, offered = [], []
        for turns in (COUNTED_TURNS, 2 * COUNTED_TURNS):
            out = folder / "callgrind"
            valgrind = ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}")
            offered.append(self.run(turns, *valgrind)[0])
            summary = re.search(r"^summary: (\d+)", out.read_text(), re.M)
            assert summary
            counts.append(int(summary[1]))
        return (counts[1] - counts[0]) / (offered[1] - offered[0])


@dataclass(frozen=True)
class Cost:
    """Of one packet, and what the queue was like."""

    ns: list[float]
    instructions: float
    waiting: float
    lost: float
    marked: float


def built(folder: Path, core: Path, name: str) -> str:
    """cost.c with the core in a folder."""
    sources = [path for path in core_sources(core) if path.suffix == ".c"]
    program = folder / name
    command = [
        "gcc",
        *FLAGS,
        f"-I{core}",
        *map(str, [HERE / "cost.c", *sources]),
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True)
    return str(program)


def programs(folder: Path, specs: Iterable[str]) -> list[Program]:
    """The first fifo, then ours."""
    tree = subprocess.check_output(["git", "-C", ROOT, "archive", FIRST, "aqm"])
    subprocess.run(["tar", "-x", "-C", folder], input=tree, check=True)
    first = built(folder, folder / "aqm", "first")
    ours = built(folder, ROOT / "aqm", "ours")
    found = [Program(f"fifo ({FIRST})", (first, "fifo"))]
    for spec in specs:
        name, _, rows = spec.partition(":")
        found.append(Program(spec, (ours, name), tuple(rows.split(",")) if rows else ()))
    return found


def measured(folder: Path, all_of_them: list[Program]) -> list[Cost]:
    """Each in turn, ROUNDS times."""
    ns: list[list[float]] = [[] for _ in all_of_them]
    for _ in range(ROUNDS):
        for program, kept in zip(all_of_them, ns, strict=True):
            offered, took, *_ = program.run(TURNS)
            kept.append(took / offered)
    found = []
    for program, kept in zip(all_of_them, ns, strict=True):
        offered, _, waiting, lost, marked = program.run(TURNS)
        parts = waiting / TURNS, lost / offered, marked / offered
        found.append(Cost(kept, program.instructions(folder), *parts))
    return found


def main() -> None:
    """A table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("specs", nargs="*", metavar="NAME[:ROW=VALUE,...]", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        all_of_them = programs(folder, options.specs or algorithms())
        costs = measured(folder, all_of_them)
    print(f"{processor()}; {ROUNDS} rounds of {TURNS} turns\n")
    print("| queue | least, ns | median, ns | ratio of least | instructions | ratio |", end="")
    print(" waiting | lost % | marked % |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    first = costs[0]
    for program, cost in zip(all_of_them, costs, strict=True):
        least = min(cost.ns)
        print(
            f"| {program.name} | {least:.1f} | {statistics.median(cost.ns):.1f} "
            f"| {least / min(first.ns):.2f} | {cost.instructions:.0f} "
            f"| {cost.instructions / first.instructions:.2f} | {cost.waiting:.0f} "
            f"| {100 * cost.lost:.1f} | {100 * cost.marked:.1f} |"
        )


if __name__ == "__main__":
    main()
