# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn run` on a bench scenario, as a process of its own, timed from outside."""

from __future__ import annotations

import json
import os
import shlex
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
    """One run of the command."""

    cpu_s: float
    engine_cpu_s: float
    packets: int
    peak_rss_mb: float
    fingerprint: str

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


def command(queue: str, scenario: Path, changes: Mapping[str, str]) -> str:
    """Write the command for people to time."""
    return "time " + shlex.join(["sojourn", *arguments(queue, scenario, changes)])


def run(queue: str, out: Path, changes: Mapping[str, str], scenario: Path = SCENARIO) -> Timed:
    """Run and time the command. Packets are those of all queues under test, within the first
    window."""
    words = [*arguments(queue, scenario, changes), "--json"]
    output, cpu_s, peak_rss_mb = timed_process([sys.executable, "-m", "sojourn", *words], out)
    report = json.loads(output)["runs"][0]
    return Timed(
        cpu_s=cpu_s,
        engine_cpu_s=report["cpu_s"],
        packets=sum(queue["windows"][0]["departed_pkts"] for queue in report["queues"]),
        peak_rss_mb=peak_rss_mb,
        fingerprint=report["fingerprint"],
    )


def timed_process(words: Sequence[str], cache: Path) -> tuple[str, float, float]:
    """Return output, user CPU in seconds and peak resident memory in MB of a process.

    Its cache is the folder `cache`, which leaves the user's store alone. RunError where it fails.
    """
    surroundings = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings
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
