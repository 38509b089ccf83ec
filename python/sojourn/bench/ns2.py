# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The same network in ns-2, where it is installed, by our own script beside the scenario."""

from __future__ import annotations

import functools
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from sojourn.bench.command import FOLDER, timed_process
from sojourn.core.errors import RunError

SCRIPT = FOLDER / "dumbbell.tcl"
# Debian's ns-2.35 has no CoDel; DUK exists nowhere else. DropTail is its cheapest queue.
_QUEUES = {"codel": "CoDel", "red": "RED"}
_FLOWS, _LIMIT = 10, 1000


@dataclass(frozen=True)
class Timed:
    """One run of ns-2."""

    queue: str
    cpu_s: float
    packets: int
    command: str

    @property
    def us_per_packet(self) -> float:
        """Return the user CPU for each packet through the bottleneck, in µs."""
        return self.cpu_s * 1e6 / self.packets


def run(queue: str, seconds: int, out: Path) -> Timed | None:
    """Run and time ns-2; None where there is no ns-2."""
    if not shutil.which("ns"):
        return None
    name = _QUEUES.get(queue, "DropTail")
    if name != "DropTail" and not _has(name, out):
        name = "DropTail"
    words = _words(name, seconds)
    output, cpu_s, _ = timed_process(words, out)
    return Timed(name, cpu_s, _packets(output, words), "time " + shlex.join(words))


def _words(queue: str, seconds: float) -> list[str]:
    return ["ns", str(SCRIPT), str(seconds), str(_FLOWS), queue, str(_LIMIT)]


@functools.cache
def _has(queue: str, out: Path) -> bool:
    try:
        words = _words(queue, 1)
        return _packets(timed_process(words, out)[0], words) > 0
    except RunError:
        return False


def _packets(output: str, words: list[str]) -> int:
    match = re.search(r"^packets (\d+)$", output, re.MULTILINE)
    if not match:
        raise RunError(f"{shlex.join(words)} said nothing of packets: {output[-200:]}")
    return int(match[1])
