# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Measures a simulated second of the laboratory of LQD's paper, beside `sojourn bench`'s browsers.

    python -m bench.lqd [--turns N] [--seconds N]

20,000 browsers at 105 % of a link whose bytes are mostly in the body of the distribution of sizes,
between two nodes and between 20 hosts a side with cards of 100 Mbit/s. All take turns, so that a
busy machine is busy for all. CPU is the user time of the engine, its report included.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from sojourn.bench.command import FOLDER, run

from bench.machine import processor

QUEUE = "fifo:limit=240"
USERS = 10_000
HOSTS = 20
# What a simulated second with hosts may cost.
GOAL_MS = 31
WEB = "`web` of `sojourn bench`"


def laboratory(hosts: int) -> str:
    """Write the laboratory with so many hosts a side; none: one node a side without a card."""
    sides = "".join(
        f'[[dumbbell.{side}]]\nname = "{name}"\ncount = {hosts}\nrate = "100 Mbit/s"\n'
        'queue = { algorithm = "fifo", limit = 1000 }\n'
        for side, name in (("senders", "A"), ("receivers", "B"))
        if hosts
    )
    flows = "".join(
        f'[[dumbbell.flows]]\nname = "users at {name}"\ncount = {USERS}\nfrom = "{source}"\n'
        'start_spread = "30 s"\n'
        'rtt = { distribution = "uniform", from = "10 ms", to = "150 ms" }\n'
        'transport = { tcp = "freebsd_4_5" }\n'
        'app = { kind = "web", think = "33 s", response = "2550 B", response_sigma = 1.4, '
        "tail = 0.0005 }\n"
        for source, name in (("senders", "B"), ("receivers", "A"))
    )
    back = "bottleneck back" if hosts else "back"
    queue = 'queue = { algorithm = "fifo", limit = 240 }'
    return (
        'format = 2\nname = "laboratory"\nduration = "60 s"\n'
        '[dumbbell]\nrate = "100 Mbit/s"\nrtt = "10 ms"\nheader = "38 B"\n'
        'aqm = { algorithm = "fifo", limit = 240 }\n'
        f'back = {{ rate = "100 Mbit/s", {queue} }}\n{sides}{flows}'
        f'[record]\nqueues = ["bottleneck", "{back}"]\n'
    )


def main() -> None:
    """Print a row for each network."""
    parser = argparse.ArgumentParser(description="What a second of 20,000 browsers costs.")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        web = folder / "web.toml"
        kept = (FOLDER / "web.toml").read_text().split("windows =")[0]
        web.write_text(kept)
        networks = {WEB: web}
        for name, hosts in (("two nodes", 0), (f"{2 * HOSTS} hosts", HOSTS)):
            networks[name] = folder / f"{hosts}.toml"
            networks[name].write_text(laboratory(hosts))
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
