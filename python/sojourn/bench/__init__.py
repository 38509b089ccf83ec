# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn bench`: the cost of a packet, timed from outside on the commands that users type.

Each repetition runs every queue and, right after it, ns-2 on the same network: both meet the same
state of the machine. For each the fastest repetition counts, because other programs only ever make
it slower. `us_per_packet` is the user CPU of the whole command, start of Python included;
`engine_us_per_packet` is that of the engine alone. Browsers are timed the same way, beside real
time (web.py).

Only the command uses this room. Begin with `measure` below.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sojourn import algorithms
from sojourn.bench import instructions, ns2, web
from sojourn.bench.command import SCENARIO, Timed, command, run
from sojourn.core.progress import Progress

_T = TypeVar("_T")

QUEUES = ("fifo", "codel", "duk", "red")
_REPETITIONS = 3
_FLOWS = (10, 100, 1000)


def measure(*, quick: bool = False) -> dict[str, Any]:
    """Measure everything; `quick` measures a short time, once, and counts no instructions."""
    queues = [name for name in QUEUES if name in algorithms.algorithms()]
    seconds, repetitions = (60, 1) if quick else (600, _REPETITIONS)
    ours = len(queues) * (2 * repetitions + 1) + len(_FLOWS) + 2
    steps = Steps(ours + web.steps(repetitions))
    with steps.progress, tempfile.TemporaryDirectory(prefix="sojourn-bench-") as folder:
        out = Path(folder)
        best = _interleaved(queues, seconds, repetitions, out, steps)
        return {
            "results": [
                {
                    **_result(queue, seconds, *best[queue]),
                    "instructions_per_packet": steps.after(
                        None if quick else instructions.per_packet(queue, out)
                    ),
                }
                for queue in queues
            ],
            "flows": [_flows(count, out, steps) for count in _FLOWS],
            "memory": [_memory(length, out, steps) for length in (seconds // 10, seconds)],
            "web": web.measure(repetitions, out, steps.after, quick=quick),
        }


class Steps:
    """A count of finished steps, for the progress bar."""

    def __init__(self, total: int) -> None:
        self.progress = Progress("timing", total)
        self._done = 0

    def after(self, value: _T) -> _T:
        """Count one more step as done and return its value."""
        self._done += 1
        self.progress.update(self._done)
        return value


Best = tuple[Timed, ns2.Timed | None]


def _interleaved(
    queues: list[str], seconds: int, repetitions: int, out: Path, steps: Steps
) -> dict[str, Best]:
    best: dict[str, Best] = {}
    for _ in range(repetitions):
        for queue in queues:
            ours = steps.after(run(queue, out, {"duration": f"{seconds} s"}))
            theirs = steps.after(ns2.run(queue, seconds, out))
            if queue in best:
                ours = min(ours, best[queue][0], key=lambda timed: timed.cpu_s)
                before = best[queue][1]
                if theirs and before:
                    theirs = min(theirs, before, key=lambda timed: timed.cpu_s)
            best[queue] = ours, theirs
    return best


def _result(queue: str, seconds: int, ours: Timed, theirs: ns2.Timed | None) -> dict[str, Any]:
    return {
        "queue": queue,
        "packets": ours.packets,
        "cpu_seconds": ours.cpu_s,
        "us_per_packet": ours.us_per_packet,
        "engine_cpu_seconds": ours.engine_cpu_s,
        "engine_us_per_packet": ours.engine_us_per_packet,
        "peak_rss_mb": ours.peak_rss_mb,
        "fingerprint": ours.fingerprint,
        "ns2_queue": theirs and theirs.queue,
        "ns2_us_per_packet": theirs and theirs.us_per_packet,
        "speedup_over_ns2": theirs and theirs.us_per_packet / ours.us_per_packet,
        "engine_speedup_over_ns2": theirs and theirs.us_per_packet / ours.engine_us_per_packet,
        "command": command(queue, SCENARIO, {"duration": f"{seconds} s"}),
        "ns2_command": theirs and theirs.command,
    }


def _flows(count: int, out: Path, steps: Steps) -> dict[str, Any]:
    timed = run("fifo", out, {"duration": "60 s", "flows.flow.count": str(count)})
    steps.after(None)
    return {"flows": count, "packets": timed.packets, "us_per_packet": timed.engine_us_per_packet}


def _memory(seconds: int, out: Path, steps: Steps) -> dict[str, Any]:
    timed = steps.after(run("fifo", out, {"duration": f"{seconds} s"}))
    return {"simulated_s": seconds, "peak_rss_mb": timed.peak_rss_mb}


def print_measured(measured: dict[str, Any]) -> None:
    """Print the tables, and the commands to time by hand."""
    from sojourn.core.text import Column, Table
    from sojourn.show.tables import console, print_table

    out = console()
    results = measured["results"]
    columns = [Column(heading, [of(result) for result in results]) for heading, of in _COLUMNS]
    title = "user CPU for each packet through the bottleneck"
    print_table(out, Table(title, columns[:1], columns[1:]))
    for entry in measured["flows"]:
        out.print(f"{entry['flows']} flows: {entry['us_per_packet']:.3f} µs a packet (engine)")
    for entry in measured["memory"]:
        out.print(f"{entry['simulated_s']} s simulated: {entry['peak_rss_mb']:.0f} MB at most")
    for result in measured["results"]:
        out.print(f"\n{result['command']}", soft_wrap=True, highlight=False)
        if result["ns2_command"]:
            note = f"  # ns-2 with {result['ns2_queue']}"
            out.print(result["ns2_command"] + note, soft_wrap=True, highlight=False)
    out.print()
    web.print_measured(measured["web"])


def _us(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"


_COLUMNS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("queue", lambda result: str(result["queue"])),
    ("packets", lambda result: f"{result['packets']:,}"),
    ("µs,\ncommand", lambda result: _us(result["us_per_packet"])),
    ("µs,\nengine", lambda result: _us(result["engine_us_per_packet"])),
    ("µs,\nns-2", lambda result: _us(result["ns2_us_per_packet"])),
    ("times\nns-2", lambda result: _times(result["speedup_over_ns2"])),
    ("engine\nalone", lambda result: _times(result["engine_speedup_over_ns2"])),
    ("instructions", lambda result: _count(result["instructions_per_packet"])),
    ("MB", lambda result: f"{result['peak_rss_mb']:.0f}"),
)
