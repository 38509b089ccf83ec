# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Commands as processes of their own, timed from outside: `sojourn run` on a bench scenario, the
same network in ns-2 where it is installed, and the instructions for each packet."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.core.errors import RunError

FOLDER = Path(__file__).parent
SCENARIO = FOLDER / "dumbbell.toml"


@dataclass(frozen=True)
class Timed:
    """One run of a command."""

    cpu_s: float
    engine_cpu_s: float
    packets: int
    peak_rss_mb: float
    fingerprint: str = ""
    queue: str = ""  # of ns-2

    @property
    def us_per_packet(self) -> float:
        """Return the command's user CPU for each packet through the bottleneck, in µs."""
        return self.cpu_s * 1e6 / self.packets

    @property
    def engine_us_per_packet(self) -> float:
        """Return the engine's user CPU for each of these packets, in µs."""
        return self.engine_cpu_s * 1e6 / self.packets


def arguments(queue: str, scenario: Path, changes: Mapping[str, str]) -> list[str]:
    """List the words after `sojourn` on the command line."""
    sets = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    return ["run", str(scenario), "--aqm", queue, *sets, "--again"]


def command(words: Sequence[str]) -> str:
    """Write a command for people to time."""
    return "time " + shlex.join(words)


def run(queue: str, out: Path, changes: Mapping[str, str], scenario: Path = SCENARIO) -> Timed:
    """Run and time the command. Packets are those of all queues under test, within the first
    window."""
    words = [*arguments(queue, scenario, changes), "--json"]
    output, cpu_s, peak_rss_mb = timed_process([sys.executable, "-m", "sojourn", *words], out)
    report = json.loads(output)["runs"][0]
    packets = sum(queue["windows"][0]["departed_pkts"] for queue in report["queues"])
    return Timed(cpu_s, report["cpu_s"], packets, peak_rss_mb, report["fingerprint"])


def timed_process(words: Sequence[str], cache: Path) -> tuple[str, float, float]:
    """Return output, user CPU in seconds and peak resident memory in MB of a process.

    Its cache is the folder `cache`, which leaves the user's store alone. RunError where it fails.
    """
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout and process.stderr
        output = process.stdout.read()
        complaint = process.stderr.read().decode(errors="replace")
        _, wait_status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(wait_status)
    if process.returncode != 0:
        raise RunError(f"{shlex.join(words)} ended with {process.returncode}: {complaint.strip()}")
    # ru_maxrss is in KiB on Linux, in bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return output.decode(), usage.ru_utime, usage.ru_maxrss * unit / 1e6


# Debian's ns-2.35 has no CoDel; DUK exists nowhere else. DropTail is its cheapest queue.
_NS2_QUEUES = {"codel": "CoDel", "red": "RED"}
_NS2_FLOWS, _NS2_LIMIT = 10, 1000


def ns2_words(queue: str, seconds: int) -> list[str]:
    """List the words of ns-2's command, by our own script beside the scenario."""
    script = FOLDER / "dumbbell.tcl"
    return ["ns", str(script), str(seconds), str(_NS2_FLOWS), queue, str(_NS2_LIMIT)]


def run_ns2(queue: str, seconds: int, out: Path) -> Timed | None:
    """Run and time ns-2; None where there is no ns-2."""
    if not shutil.which("ns"):
        return None
    name = _NS2_QUEUES.get(queue, "DropTail")
    if name != "DropTail" and not _has_ns2_queue(name, out):
        name = "DropTail"
    return _time_ns2(name, seconds, out)


@functools.cache
def _has_ns2_queue(name: str, out: Path) -> bool:
    try:
        return _time_ns2(name, 1, out).packets > 0
    except RunError:
        return False


def _time_ns2(name: str, seconds: int, out: Path) -> Timed:
    words = ns2_words(name, seconds)
    output, cpu_s, peak_rss_mb = timed_process(words, out)
    match = re.search(r"^packets (\d+)$", output, re.MULTILINE)
    if not match:
        raise RunError(f"{shlex.join(words)} said nothing of packets: {output[-200:]}")
    return Timed(cpu_s, cpu_s, int(match[1]), peak_rss_mb, queue=name)


# In the first ten seconds slow start and its losses cost more than a packet does later. Under
# valgrind a packet takes fifty times as long.
_SHORT_S, _LONG_S = 10, 30


def instructions_per_packet(queue: str, out: Path) -> float | None:
    """Count the user instructions for each packet, by the processor's counter, else by valgrind.
    None where neither counts them.

    It takes the difference of two lengths of one scenario: the start is in both.
    """
    # callgrind counts the engine alone, by the name of its entry in the native module.
    perf = ["perf", "stat", "-x", ",", "-e", "instructions:u"]
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out / 'callgrind.out'}"]
    valgrind += ["--toggle-collect=*simulate_scenario*"]
    for tool, pattern in (
        (perf, r"^(\d+),,instructions:u"),
        (valgrind, r"Collected : (\d+)"),
    ):
        counts = []
        for seconds in (_SHORT_S, _LONG_S):
            count = _count(tool, pattern, seconds, queue, out)
            if count is None:
                break
            counts.append(count)
        else:
            packets = [run(queue, out, {"duration": f"{s} s"}).packets for s in (_SHORT_S, _LONG_S)]
            return (counts[1] - counts[0]) / (packets[1] - packets[0])
    return None


def _count(tool: list[str], pattern: str, seconds: int, queue: str, out: Path) -> int | None:
    """Find by `pattern` the number in the output of a counting tool; None where it fails."""
    if not shutil.which(tool[0]):
        return None
    words = arguments(queue, SCENARIO, {"duration": f"{seconds} s"})
    done = subprocess.run(
        [*tool, sys.executable, "-m", "sojourn", *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(out)},
    )
    match = re.search(pattern, done.stderr, re.MULTILINE)
    return int(match[1]) if match and done.returncode == 0 and int(match[1]) > 0 else None
