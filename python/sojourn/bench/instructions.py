# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Instructions per packet: by the processor's counter, else by valgrind on a shorter run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from sojourn.bench.command import SCENARIO, arguments, run

# In the first ten seconds slow start and its losses cost more than a packet does later. Under
# valgrind a packet takes fifty times as long.
_SHORT_S, _LONG_S = 10, 30


def per_packet(queue: str, out: Path) -> float | None:
    """Count the user instructions for each packet; None where nothing can count them.

    It takes the difference of two lengths of one scenario: the start is in both.
    """
    for counter in (_perf, _callgrind):
        first = counter(_SHORT_S, queue, out)
        second = None if first is None else counter(_LONG_S, queue, out)
        if first is not None and second is not None:
            packets = [run(queue, out, {"duration": f"{s} s"}).packets for s in (_SHORT_S, _LONG_S)]
            return (second - first) / (packets[1] - packets[0])
    return None


def _words(seconds: int, queue: str) -> list[str]:
    changes = {"duration": f"{seconds} s"}
    return [sys.executable, "-m", "sojourn", *arguments(queue, SCENARIO, changes), "--json"]


def _counted(words: list[str], pattern: str, out: Path) -> int | None:
    """Find by `pattern` the number in the output of a counting tool; None where it fails."""
    surroundings = {**os.environ, "XDG_CACHE_HOME": str(out)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=surroundings)
    match = re.search(pattern, done.stderr, re.MULTILINE)
    return int(match[1]) if match and done.returncode == 0 and int(match[1]) > 0 else None


def _perf(seconds: int, queue: str, out: Path) -> int | None:
    if not shutil.which("perf"):
        return None
    words = ["perf", "stat", "-x", ",", "-e", "instructions:u", *_words(seconds, queue)]
    return _counted(words, r"^(\d+),,instructions:u", out)


def _callgrind(seconds: int, queue: str, out: Path) -> int | None:
    """Count only the instructions of the engine, by the name of its entry in the native module."""
    if not shutil.which("valgrind"):
        return None
    words = [
        "valgrind",
        "--tool=callgrind",
        f"--callgrind-out-file={out / 'callgrind.out'}",
        "--toggle-collect=*simulate_scenario*",
        *_words(seconds, queue),
    ]
    return _counted(words, r"Collected : (\d+)", out)
