# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""20,000 browsers: how many times faster than real time, from outside, and in how much memory.

CPU is the user time of the whole command. A run of no time costs the start of Python, the check of
the scenario and the building of its network. Memory is measured at two lengths, because it shall
not grow with them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sojourn.bench.command import FOLDER, Timed, command, run

SCENARIO = FOLDER / "web.toml"
# LQD's buffer is large enough that no packet is lost at its end, as in its paper.
QUEUES = ("fifo:limit=240", "lqd:qref=24,limit=5000")
_SECONDS, _QUICK_SECONDS = 660, 90
MOMENT = {
    "duration": "1 ms",
    "record.windows.steady.from": "0 s",
    "record.windows.steady.to": "1 ms",
}

Step = Callable[[Timed], Timed]


def steps(repetitions: int) -> int:
    """Count the runs of the command that `measure` makes."""
    return len(QUEUES) * repetitions + 2


def measure(repetitions: int, out: Path, step: Step, *, quick: bool) -> dict[str, Any]:
    """Measure everything. The repetitions go in turns, and the fastest counts."""
    seconds = _QUICK_SECONDS if quick else _SECONDS
    best: dict[str, Timed] = {}
    for _ in range(repetitions):
        for queue in QUEUES:
            timed = step(run(queue, out, _length(seconds), SCENARIO))
            best[queue] = min(timed, best.get(queue, timed), key=lambda of: of.cpu_s)
    # A run must be longer than the warm-up, else its window has no packets.
    shorter = 61 + (seconds - 60) // 10
    short = step(run(QUEUES[0], out, _length(shorter), SCENARIO))
    moment = step(run(QUEUES[0], out, MOMENT, SCENARIO))
    return {
        "results": [_result(queue, seconds, timed) for queue, timed in best.items()],
        "setup_cpu_seconds": moment.cpu_s,
        "memory": [
            {"simulated_s": shorter, "peak_rss_mb": short.peak_rss_mb},
            {"simulated_s": seconds, "peak_rss_mb": best[QUEUES[0]].peak_rss_mb},
        ],
    }


def _length(seconds: int) -> dict[str, str]:
    return {"duration": f"{seconds} s", "record.windows.steady.to": f"{seconds} s"}


def _result(queue: str, seconds: int, timed: Timed) -> dict[str, Any]:
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
        "command": command(queue, SCENARIO, _length(seconds)),
    }


def print_measured(measured: dict[str, Any]) -> None:
    """Print the table, and the commands to time by hand."""
    from sojourn.core.text import Column, Table
    from sojourn.show.tables import console, print_table

    out = console()
    results = measured["results"]
    columns = [Column(heading, [of(result) for result in results]) for heading, of in _COLUMNS]
    print_table(out, Table("20,000 browsers, user CPU", columns[:1], columns[1:]))
    out.print(f"start, check and building: {measured['setup_cpu_seconds']:.2f} s of CPU")
    for entry in measured["memory"]:
        out.print(f"{entry['simulated_s']} s simulated: {entry['peak_rss_mb']:.0f} MB at most")
    for result in results:
        out.print(f"\n{result['command']}", soft_wrap=True, highlight=False)


_COLUMNS: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("queue", lambda result: str(result["queue"])),
    ("simulated,\ns", lambda result: f"{result['simulated_s']:,}"),
    ("packets", lambda result: f"{result['packets']:,}"),
    ("CPU s,\ncommand", lambda result: f"{result['cpu_seconds']:.2f}"),
    ("times\nreal time", lambda result: f"{result['times_real_time']:.1f}"),
    ("engine\nalone", lambda result: f"{result['engine_times_real_time']:.1f}"),
    ("MB", lambda result: f"{result['peak_rss_mb']:.0f}"),
)
