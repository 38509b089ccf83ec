# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn bench`: the cost of a packet, timed from outside on the commands that users type.

Each repetition runs every queue and, right after it, ns-2 on the same network: both meet the same
state of the machine. For each the fastest repetition counts, because other programs only ever make
it slower. `us_per_packet` is the user CPU of the whole command, start of Python included;
`engine_us_per_packet` is that of the engine alone. Browsers, 20,000 of them, are timed the
same way, beside real time and in two lengths, with which memory shall not grow. A run of no time
costs the start of Python, the check of the scenario and the building of its network.

Only the command uses this room. Begin with `measure` below.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sojourn import algorithms
from sojourn.bench.command import (
    FOLDER,
    SCENARIO,
    Timed,
    TimedNs2,
    command,
    instructions_per_packet,
    run,
    run_ns2,
)
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
    steps = Steps(ours + web_steps(repetitions))
    with steps.progress, tempfile.TemporaryDirectory(prefix="sojourn-bench-") as folder:
        out = Path(folder)
        best = _interleaved(queues, seconds, repetitions, out, steps)
        return {
            "results": [
                {
                    **_result(queue, seconds, *best[queue]),
                    "instructions_per_packet": steps.after(
                        None if quick else instructions_per_packet(queue, out)
                    ),
                }
                for queue in queues
            ],
            "flows": [_flows(count, out, steps) for count in _FLOWS],
            "memory": [_memory(length, out, steps) for length in (seconds // 10, seconds)],
            "web": measure_web(repetitions, out, steps.after, quick=quick),
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


Best = tuple[Timed, TimedNs2 | None]


def _interleaved(
    queues: list[str], seconds: int, repetitions: int, out: Path, steps: Steps
) -> dict[str, Best]:
    best: dict[str, Best] = {}
    for _ in range(repetitions):
        for queue in queues:
            ours = steps.after(run(queue, out, {"duration": f"{seconds} s"}))
            theirs = steps.after(run_ns2(queue, seconds, out))
            if queue in best:
                ours = min(ours, best[queue][0], key=lambda timed: timed.cpu_s)
                before = best[queue][1]
                if theirs and before:
                    theirs = min(theirs, before, key=lambda timed: timed.cpu_s)
            best[queue] = ours, theirs
    return best


def _result(queue: str, seconds: int, ours: Timed, theirs: TimedNs2 | None) -> dict[str, Any]:
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
    from sojourn.core.table import Column, Table
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
    _print_web(measured["web"])


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


WEB_SCENARIO = FOLDER / "web.toml"
# LQD's buffer is large enough that no packet is lost at its end, as in its paper.
WEB_QUEUES = ("fifo:limit=240", "lqd:qref=24,limit=5000")
_SECONDS, _QUICK_SECONDS = 660, 90
MOMENT = {
    "duration": "1 ms",
    "record.windows.steady.from": "0 s",
    "record.windows.steady.to": "1 ms",
}

Step = Callable[[Timed], Timed]


def web_steps(repetitions: int) -> int:
    """Count the runs of the command that `measure` makes."""
    return len(WEB_QUEUES) * repetitions + 2


def measure_web(repetitions: int, out: Path, step: Step, *, quick: bool) -> dict[str, Any]:
    """Measure everything. The repetitions go in turns, and the fastest counts."""
    seconds = _QUICK_SECONDS if quick else _SECONDS
    best: dict[str, Timed] = {}
    for _ in range(repetitions):
        for queue in WEB_QUEUES:
            timed = step(run(queue, out, _length(seconds), WEB_SCENARIO))
            best[queue] = min(timed, best.get(queue, timed), key=lambda of: of.cpu_s)
    # A run must be longer than the warm-up, else its window has no packets.
    shorter = 61 + (seconds - 60) // 10
    short = step(run(WEB_QUEUES[0], out, _length(shorter), WEB_SCENARIO))
    moment = step(run(WEB_QUEUES[0], out, MOMENT, WEB_SCENARIO))
    return {
        "results": [_web_result(queue, seconds, timed) for queue, timed in best.items()],
        "setup_cpu_seconds": moment.cpu_s,
        "memory": [
            {"simulated_s": shorter, "peak_rss_mb": short.peak_rss_mb},
            {"simulated_s": seconds, "peak_rss_mb": best[WEB_QUEUES[0]].peak_rss_mb},
        ],
    }


def _length(seconds: int) -> dict[str, str]:
    return {"duration": f"{seconds} s", "record.windows.steady.to": f"{seconds} s"}


def _web_result(queue: str, seconds: int, timed: Timed) -> dict[str, Any]:
    return {
        "queue": queue,
        "simulated_s": seconds,
        "packets": timed.packets,
        "cpu_seconds": timed.cpu_s,
        "times_real_time": seconds / timed.cpu_s,
        "engine_cpu_seconds": timed.engine_cpu_s,
        "engine_times_real_time": seconds / timed.engine_cpu_s,
        "peak_rss_mb": timed.peak_rss_mb,
        "fingerprint": timed.fingerprint,
        "command": command(queue, WEB_SCENARIO, _length(seconds)),
    }


def _print_web(measured: dict[str, Any]) -> None:
    """Print the table, and the commands to time by hand."""
    from sojourn.core.table import Column, Table
    from sojourn.show.tables import console, print_table

    out = console()
    results = measured["results"]
    columns = [Column(heading, [of(result) for result in results]) for heading, of in _WEB_COLUMNS]
    print_table(out, Table("20,000 browsers, user CPU", columns[:1], columns[1:]))
    out.print(f"start, check and building: {measured['setup_cpu_seconds']:.2f} s of CPU")
    for entry in measured["memory"]:
        out.print(f"{entry['simulated_s']} s simulated: {entry['peak_rss_mb']:.0f} MB at most")
    for result in results:
        out.print(f"\n{result['command']}", soft_wrap=True, highlight=False)


_WEB_COLUMNS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("queue", lambda result: str(result["queue"])),
    ("simulated,\ns", lambda result: f"{result['simulated_s']:,}"),
    ("packets", lambda result: f"{result['packets']:,}"),
    ("CPU s,\ncommand", lambda result: f"{result['cpu_seconds']:.2f}"),
    ("times\nreal time", lambda result: f"{result['times_real_time']:.1f}"),
    ("engine\nalone", lambda result: f"{result['engine_times_real_time']:.1f}"),
    ("MB", lambda result: f"{result['peak_rss_mb']:.0f}"),
)
