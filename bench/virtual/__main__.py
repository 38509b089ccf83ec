# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What measuring costs on the Linux host: `sojourn run --host linux` beside the bare run.

    python -m bench.virtual [SCENARIO.toml]

The bare run is the same network and the same traffic with the kernel's own codel, and
nothing that records: no module of ours, no taps, no progress. Where another program takes
the processor, a turn is slow; so all take turns, and the least and the median are told.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, RunError, SojournError
from sojourn.linux.kernel import ready
from sojourn.linux.plan import Plan, plan
from sojourn.linux.samples import read, report_flows
from sojourn.linux.uml.boot import BootError, boot
from sojourn.runs.run import cases_of
from sojourn.scenario import load
from sojourn.scenario.engine import parsed

from bench.machine import machine

STOCK = "kernel:codel"
SEED = 1
TRAFFIC = "t0=$(( $(date +%s) + 2 ))000000000\n$programs/play $t0 < flows > played\n"


@dataclass(frozen=True)
class Turn:
    """CPU of the guest, and of the command around it where there is one; real time; what the
    flows brought to their ends."""

    guest_s: float
    command_s: float
    wall_s: float
    goodput_mbps: float = 0


Part = Callable[[], Turn]


def in_guest(files: Mapping[str, str], script: str) -> tuple[Turn, str]:
    """What a job costs, and its file `played`."""
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        for name, content in {**files, "job": script}.items():
            (folder / name).write_text(content)
        (folder / "job").chmod(0o755)
        begun_s = time.monotonic()
        cpu_s = boot(ready().built, folder, SEED).cpu_s
        wall_s = time.monotonic() - begun_s
        played = folder / "played"
        return Turn(cpu_s, cpu_s, wall_s), played.read_text() if played.exists() else ""


def empty() -> Turn:
    """The kernel boots and halts."""
    return in_guest({}, "#!/bin/sh\n")[0]


def network(job: Plan, then: str = "") -> tuple[Turn, str]:
    """It sets up the network in between, without our module."""
    script = f"#!/bin/sh -e\nprograms={ready().built.programs}\n. ./network\n{then}"
    return in_guest(job.files, script)


def bare(scenario: dict[str, Any], job: Plan) -> Turn:
    turn, played = network(job, TRAFFIC)
    goodput_mbps = report_flows(read(parsed(scenario), played))["goodput_mbps"]
    return Turn(turn.guest_s, turn.command_s, turn.wall_s, goodput_mbps)


def recorded(path: Path, aqm: str) -> Turn:
    """The command as users type it; `--again`, for else the second turn would find the first."""
    words = ["run", str(path), "--host", "linux", "--aqm", aqm, "--again", "--json"]
    command = [sys.executable, "-m", "sojourn", *words]
    begun_s = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        output, complaint = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.monotonic() - begun_s
    if process.returncode:
        raise RunError(f"sojourn {' '.join(words)}: {complaint.decode(errors='replace').strip()}")
    [run] = json.loads(output)["runs"]
    return Turn(run["cpu_s"], usage.ru_utime + usage.ru_stime, wall_s, run["goodput_mbps"])


def take_turns(parts: Mapping[str, Part], turns: int) -> dict[str, list[Turn]]:
    found: dict[str, list[Turn]] = {name: [] for name in parts}
    for _ in range(turns):
        for name, part in parts.items():
            found[name].append(part())
    return found


def least_and_median(turns: list[Turn], key: str) -> tuple[float, float]:
    values = [getattr(turn, key) for turn in turns]
    return min(values), statistics.median(values)


def table(found: Mapping[str, list[Turn]]) -> list[str]:
    """Each beside the first, which is the bare run."""
    first, *_ = found.values()
    bare_s = least_and_median(first, "guest_s")
    lines = [
        "| run | guest, CPU s | ratio | whole command, CPU s | ratio | goodput, Mbit/s |",
        "|---|---|---|---|---|---|",
    ]
    for name, turns in found.items():
        cells = [name]
        for key in ("guest_s", "command_s"):
            pair = least_and_median(turns, key)
            ratios = (spent_s / base_s for spent_s, base_s in zip(pair, bare_s, strict=True))
            cells += [_pair(pair), _pair(ratios)]
        cells.append(f"{turns[0].goodput_mbps:.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def boot_table(found: Mapping[str, list[Turn]]) -> list[str]:
    lines = ["| boot and halt | CPU, s | wall clock, s |", "|---|---|---|"]
    for name, turns in found.items():
        cpu, wall = (_pair(least_and_median(turns, key)) for key in ("guest_s", "wall_s"))
        lines.append(f"| {name} | {cpu} | {wall} |")
    return lines


def _pair(values: Any) -> str:
    return " and ".join(f"{value:.2f}" for value in values)


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the Linux host beside the bare run.")
    default = Path(__file__).with_name("dumbbell.toml")
    parser.add_argument("scenario", nargs="?", type=Path, default=default)
    parser.add_argument("--turns", type=int, default=5, help="of each run")
    parser.add_argument("--boots", type=int, default=20, help="turns of each boot")
    options = parser.parse_args()
    try:
        scenario = load(options.scenario)
        stock = cases_of(scenario, [STOCK])[0].scenario.to_engine()
        if any(link["schedule"] for link in stock["links"]):
            raise InputError(f"{options.scenario}: the bare run would not follow its schedule")
        job = plan(stock, SEED)
        boots: dict[str, Part] = {
            "nothing": empty,
            f"the network of {scenario.name}": lambda: network(job)[0],
        }
        runs: dict[str, Part] = {
            f"bare, {STOCK}": lambda: bare(stock, job),
            "codel": lambda: recorded(options.scenario, "codel"),
            STOCK: lambda: recorded(options.scenario, STOCK),
        }
        print(f"{machine(ready().built)}; {scenario.name}, {scenario.duration}\n", flush=True)
        print("\n".join([*boot_table(take_turns(boots, options.boots)), ""]), flush=True)
        print("\n".join(table(take_turns(runs, options.turns))))
    except (BootError, SojournError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
