# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn bench`: the cost of a packet, timed from outside on the commands that users type.

Each repetition runs every queue and, right after it, ns-2 on the same network: both meet the same
state of the machine. For each the fastest repetition counts, because other programs only ever make
it slower. `us_per_packet` is the user CPU of the whole command, start of Python included;
`engine_us_per_packet` is that of the engine alone.

20,000 browsers are timed the same way, beside real time. Their memory is measured at two lengths,
because it shall not grow with them. A run of no time costs the start of Python, the check of the
scenario and the building of its network.

Only the command uses this room. Begin with `measure` below.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from sojourn import algorithms
from sojourn.bench.command import (
    FOLDER,
    SCENARIO,
    Timed,
    arguments,
    command,
    instructions_per_packet,
    ns2_words,
    run,
    run_ns2,
)
from sojourn.core.progress import Progress
from sojourn.core.text import NOTHING, Column, Table
from sojourn.show.tables import console, print_table

_T = TypeVar("_T")

QUEUES = ("fifo", "codel", "duk", "red")
_REPETITIONS = 3
_FLOWS = (10, 100, 1000)

WEB_SCENARIO = FOLDER / "web.toml"
# LQD's buffer is large enough that no packet is lost at its end, as in its paper.
WEB_QUEUES = ("fifo:limit=240", "lqd:qref=24,limit=5000")
_WEB_SECONDS, _QUICK_WEB_SECONDS = 660, 90
MOMENT = {
    "duration": "1 ms",
    "record.windows.steady.from": "0 s",
    "record.windows.steady.to": "1 ms",
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


def measure(*, quick: bool = False) -> dict[str, Any]:
    """Measure everything; `quick` measures a short time, once, and counts no instructions."""
    queues = [name for name in QUEUES if name in algorithms.algorithms()]
    seconds, repetitions = (60, 1) if quick else (600, _REPETITIONS)
    ours = len(queues) * (2 * repetitions + 1) + len(_FLOWS) + 2
    steps = Steps(ours + web_steps(repetitions))
    with steps.progress, tempfile.TemporaryDirectory(prefix="sojourn-bench-") as folder:
        out = Path(folder)
        best: dict[str, tuple[Timed, Timed | None]] = {}
        for _ in range(repetitions):
            for queue in queues:
                timed = steps.after(run(queue, out, {"duration": f"{seconds} s"}))
                ns2 = steps.after(run_ns2(queue, seconds, out))
                earlier, earlier_ns2 = best.get(queue, (timed, ns2))
                best[queue] = (
                    _faster(timed, earlier),
                    _faster(ns2, earlier_ns2) if ns2 and earlier_ns2 else ns2,
                )
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


def _faster(timed: Timed, earlier: Timed) -> Timed:
    return min(timed, earlier, key=lambda timed: timed.cpu_s)


def _result(queue: str, seconds: int, ours: Timed, ns2: Timed | None) -> dict[str, Any]:
    words = ["sojourn", *arguments(queue, SCENARIO, {"duration": f"{seconds} s"})]
    return {
        "queue": queue,
        "packets": ours.packets,
        "cpu_seconds": ours.cpu_s,
        "us_per_packet": ours.us_per_packet,
        "engine_cpu_seconds": ours.engine_cpu_s,
        "engine_us_per_packet": ours.engine_us_per_packet,
        "peak_rss_mb": ours.peak_rss_mb,
        "fingerprint": ours.fingerprint,
        "ns2_queue": ns2 and ns2.queue,
        "ns2_us_per_packet": ns2 and ns2.us_per_packet,
        "speedup_over_ns2": ns2 and ns2.us_per_packet / ours.us_per_packet,
        "engine_speedup_over_ns2": ns2 and ns2.us_per_packet / ours.engine_us_per_packet,
        "command": command(words),
        "ns2_command": ns2 and command(ns2_words(ns2.queue, seconds)),
    }


def _flows(count: int, out: Path, steps: Steps) -> dict[str, Any]:
    timed = steps.after(run("fifo", out, {"duration": "60 s", "flows.flow.count": str(count)}))
    return {"flows": count, "packets": timed.packets, "us_per_packet": timed.engine_us_per_packet}


def _memory(seconds: int, out: Path, steps: Steps) -> dict[str, Any]:
    timed = steps.after(run("fifo", out, {"duration": f"{seconds} s"}))
    return {"simulated_s": seconds, "peak_rss_mb": timed.peak_rss_mb}


def web_steps(repetitions: int) -> int:
    """Count the runs of the command that `measure_web` makes."""
    return len(WEB_QUEUES) * repetitions + 2


def measure_web(
    repetitions: int, out: Path, step: Callable[[Timed], Timed], *, quick: bool
) -> dict[str, Any]:
    """Measure the browsers. The repetitions go in turns, and the fastest counts."""
    seconds = _QUICK_WEB_SECONDS if quick else _WEB_SECONDS
    best: dict[str, Timed] = {}
    for _ in range(repetitions):
        for queue in WEB_QUEUES:
            timed = step(run(queue, out, _length(seconds), WEB_SCENARIO))
            best[queue] = _faster(timed, best.get(queue, timed))
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
        "command": command(["sojourn", *arguments(queue, WEB_SCENARIO, _length(seconds))]),
    }


# Columns of a table: heading, key of a result, format of its value.
_COLUMNS = (
    ("queue", "queue", ""),
    ("packets", "packets", ","),
    ("µs,\ncommand", "us_per_packet", ".3f"),
    ("µs,\nengine", "engine_us_per_packet", ".3f"),
    ("µs,\nns-2", "ns2_us_per_packet", ".3f"),
    ("times\nns-2", "speedup_over_ns2", ".2f"),
    ("engine\nalone", "engine_speedup_over_ns2", ".2f"),
    ("instructions", "instructions_per_packet", ".0f"),
    ("MB", "peak_rss_mb", ".0f"),
)
_WEB_COLUMNS = (
    ("queue", "queue", ""),
    ("simulated,\ns", "simulated_s", ","),
    ("packets", "packets", ","),
    ("CPU s,\ncommand", "cpu_seconds", ".2f"),
    ("times\nreal time", "times_real_time", ".1f"),
    ("engine\nalone", "engine_times_real_time", ".1f"),
    ("MB", "peak_rss_mb", ".0f"),
)


def print_measured(measured: Mapping[str, Any]) -> None:
    """Print the tables, and the commands to time by hand."""
    out = console()
    title = "user CPU for each packet through the bottleneck"
    _print_results(out, title, _COLUMNS, measured["results"])
    for entry in measured["flows"]:
        out.print(f"{entry['flows']} flows: {entry['us_per_packet']:.3f} µs a packet (engine)")
    _print_end(out, measured)
    out.print()
    web = measured["web"]
    _print_results(out, "20,000 browsers, user CPU", _WEB_COLUMNS, web["results"])
    out.print(f"start, check and building: {web['setup_cpu_seconds']:.2f} s of CPU")
    _print_end(out, web)


def _print_results(
    out: Console,
    title: str,
    columns: Sequence[tuple[str, str, str]],
    results: Sequence[Mapping[str, Any]],
) -> None:
    label, *numbers = (
        Column(
            heading,
            [NOTHING if result[key] is None else format(result[key], form) for result in results],
        )
        for heading, key, form in columns
    )
    print_table(out, Table(title, [label], numbers))


def _print_end(out: Console, measured: Mapping[str, Any]) -> None:
    for entry in measured["memory"]:
        out.print(f"{entry['simulated_s']} s simulated: {entry['peak_rss_mb']:.0f} MB at most")
    for result in measured["results"]:
        out.print(f"\n{result['command']}", soft_wrap=True, highlight=False)
        if result.get("ns2_command"):
            note = f"  # ns-2 with {result['ns2_queue']}"
            out.print(result["ns2_command"] + note, soft_wrap=True, highlight=False)
