# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Measures the cost of a packet at a link with classes of HTB, by the number of classes.

    python -m bench.trees [--turns N]

All take turns in one process. A packet's cost is the difference of two runs, one twice as long as
the other, so that the start is not in it. The load is
1.2 times the link's rate, from 1,000 flows however many classes there are.
"""

from __future__ import annotations

import argparse
import statistics

import sojourn

from bench.machine import processor

CLASSES = (1, 10, 100, 1_000)
FLOWS = 1_000
SECONDS = 20
RATE_KBPS = 100_000


def text(classes: int, seconds: int) -> str:
    """Write a link of 100 Mbit/s with so many leaves; none: one queue and no stages."""
    name = "leaf {}".format

    def groups(leaf: int) -> list[str]:
        return [f"flow {i}" for i in range(leaf, FLOWS, classes)]

    if classes:
        rate_kbps = RATE_KBPS // classes
        leaves = "".join(
            f'    {{ name = "{name(i)}", parent = "root", rate = "{rate_kbps} kbit/s", '
            f'ceil = "{RATE_KBPS} kbit/s", quantum = "1514 B", '
            f"match = [{{ flows = {groups(i)} }}], "
            'queue = { algorithm = "fifo", limit = 100 } },\n'
            for i in range(classes)
        )
        root = f'    {{ name = "root", rate = "{RATE_KBPS} kbit/s" }},\n'
        end = f'[[links.end]]\nname = "htb"\nkind = "htb"\nclasses = [\n{root}{leaves}]\n'
    else:
        end = f'rate = "{RATE_KBPS} kbit/s"\nqueue = {{ algorithm = "fifo", limit = 100 }}\n'
    load = "".join(
        f'[[flows]]\nname = "flow {i}"\nfrom = "a"\nto = "b"\ntransport = "udp"\n'
        f'app = {{ kind = "cbr", rate = "{RATE_KBPS * 12 // 10 // FLOWS} kbit/s", '
        'payload = "1472 B" }\n'
        for i in range(FLOWS)
    )
    return (
        f'format = 2\nname = "trees"\nduration = "{seconds} s"\nnodes = ["a", "b"]\n'
        f'[[links]]\nname = "link"\nfrom = "a"\nto = "b"\n{end}{load}'
        f'[record]\nseries = "100 s"\nqueues = ["link{"/leaf 0" if classes else ""}"]\n'
    )


def run_s(classes: int, seconds: int, turn: int) -> float:
    """Measure the processor time of a run."""
    scenario = sojourn.loads(text(classes, seconds))
    # A run that is known is not made again.
    run = sojourn.run(scenario.model_copy(update={"name": f"turn {turn}"})).runs[0]
    return float(run.report["cpu_s"])


def main() -> None:
    """Print a row for each number of classes."""
    parser = argparse.ArgumentParser(description="What a packet costs by the number of classes.")
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    costs: dict[int, list[float]] = {classes: [] for classes in (0, *CLASSES)}
    packets = SECONDS * RATE_KBPS * 1_200 / 8 / 1_514
    for turn in range(turns):
        for classes, seen in costs.items():
            more_s = run_s(classes, 2 * SECONDS, turn) - run_s(classes, SECONDS, turn)
            seen.append(more_s / packets * 1e9)
    print(f"{processor()}; {turns} turns\n")
    print("| classes | ns for a packet, least | median | times that of ten, median |")
    print("|--:|--:|--:|--:|")
    ten = statistics.median(costs[10])
    for classes, seen in costs.items():
        median = statistics.median(seen)
        label = f"{classes:,}" if classes else "no stages"
        print(f"| {label} | {min(seen):.0f} | {median:.0f} | {median / ten:.2f} |")


if __name__ == "__main__":
    main()
