# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Measures a simulated second of the laboratory of LQD's paper, beside `sojourn bench`'s browsers.

    python -m bench.lqd [--turns N] [--seconds N]

20,000 browsers of `papers/lqd/web`, between two nodes and between 20 hosts a side with cards of 100
Mbit/s. Users begin within the first minute. All take turns, so that a busy machine is busy for all.
CPU is the user time of the engine, its report included.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

from sojourn.bench.command import FOLDER, run
from sojourn.papers.experiment import ROOT
from sojourn.scenario import load

from bench.machine import processor

QUEUE = "fifo:limit=240"
# A side, as the paper has them for this load.
USERS = 10_000
# What a simulated second with hosts may cost.
GOAL_MS = 31
WEB = "`web` of `sojourn bench`"


def laboratory(with_hosts: bool) -> str:
    """Write the scenario of the paper's web traffic at 105 %; without hosts, between one node a
    side that has no card."""

    def change(data: dict[str, Any]) -> None:
        data["duration"] = "60 s"
        del data["record"]["windows"]
        network = data["dumbbell"]
        for flows in network["flows"]:
            flows["count"] = USERS
        if not with_hosts:
            del network["senders"], network["receivers"]
            data["record"]["queues"] = ["bottleneck", "back"]

    return load(ROOT / "lqd/web/scenario.toml").replace(change).to_toml()


def main() -> None:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(description="What a second of 20,000 browsers costs.")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=180)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        web = folder / "web.toml"
        kept = (FOLDER / "web.toml").read_text().split("windows =")[0]
        web.write_text(kept)
        networks = {WEB: web}
        for name, with_hosts in (("two nodes", False), ("40 hosts", True)):
            networks[name] = folder / f"{name}.toml"
            networks[name].write_text(laboratory(with_hosts))
        spent_ms: dict[str, list[float]] = {name: [] for name in networks}
        peaks_mb = dict.fromkeys(networks, 0.0)
        for _ in range(options.turns):
            for name, path in networks.items():
                timed = run(QUEUE, folder, {"duration": f"{options.seconds} s"}, scenario=path)
                spent_ms[name].append(1000 * timed.engine_cpu_s / options.seconds)
                peaks_mb[name] = max(peaks_mb[name], timed.peak_rss_mb)
    print(f"{processor()}; {options.turns} turns of {options.seconds} s\n")
    print(
        "| 20,000 browsers | CPU of a second, least, ms | median | times `web`, least | peak, MB |"
    )
    print("|---|--:|--:|--:|--:|")
    for name, costs_ms in spent_ms.items():
        ratio = min(costs_ms) / min(spent_ms[WEB])
        print(
            f"| {name} | {min(costs_ms):.1f} | {statistics.median(costs_ms):.1f} | {ratio:.2f} | "
            f"{peaks_mb[name]:.0f} |"
        )
    verdict = "met" if min(costs_ms) <= GOAL_MS else "missed"
    print(f"\nThe goal with hosts, {GOAL_MS} ms on a calm machine, is {verdict}.")


if __name__ == "__main__":
    main()
