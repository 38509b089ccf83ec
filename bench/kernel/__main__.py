# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a packet costs in our queues and in the kernel's own, side by side in one run.

    python -m bench.kernel

The kernel is the one of linux/uml, in real time instead of virtual: its code runs
natively in a process of this machine. Where another program takes the processor, a
turn is slow; so there are many short turns of all queues one after the other, and
the least and the median of them are told.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import BuildError, Built, build, run
from sojourn.linux.uml.module import module

from bench.machine import machine

HERE = Path(__file__).resolve().parent
SOURCES = ("Kbuild", "datapath.c")
# Ours, and what the kernel has in its place.
PAIRS = {
    "codel": ("sojourn codel limit {limit}p", "codel limit {limit}"),
    "fq codel": ("sojourn fq codel limit {limit}p", "fq_codel limit {limit}"),
    "pie": ("sojourn pie limit {limit}p", "pie limit {limit}"),
    "fifo": ("sojourn fifo limit {limit}p", "pfifo limit {limit}"),
}
SETUP = """#!/bin/sh -e
export TC_LIB_DIR={folder}
insmod {module}
{devices}
insmod datapath.ko dev={names} backlog={backlog} packets={packets} rounds={rounds}
dmesg | cat
"""

Turns = dict[str, tuple[float, float]]


def job(ours: Path, backlog: int, packets: int, rounds: int) -> str:
    """A device for each queue: a0 has ours of the first pair, b0 the kernel's."""
    queues = {
        f"{who}{i}": q for i, p in enumerate(PAIRS.values()) for who, q in zip("ab", p, strict=True)
    }
    devices = [
        f"ip link add {name} type dummy\n"
        f"tc qdisc replace dev {name} root {queue.format(limit=2 * backlog)}"
        for name, queue in queues.items()
    ]
    return SETUP.format(
        folder=ours.parent,
        module=ours,
        devices="\n".join(devices),
        names=",".join(queues),
        backlog=backlog,
        packets=packets,
        rounds=rounds,
    )


def measure(built: Built, work: Path, backlog: int, packets: int, rounds: int) -> Turns:
    """Least and median nanoseconds per packet, by the name of the device or the loop."""
    for name in SOURCES:
        shutil.copy(HERE / name, work)
    make: list[str | Path] = ["make", "-C", built.objects, "ARCH=um", f"M={work}", "modules"]
    run(make, work / "build.log")
    script = work / "job"
    script.write_text(job(module(built), backlog, packets, rounds))
    script.chmod(0o755)
    console = boot(built, work, real_time=True).console
    found = re.findall(r"datapath: (\w+) (\d+) (\d+)$", console, re.M)
    return {name: (int(least) / packets, int(median) / packets) for name, least, median in found}


def table(turns: Turns, which: int) -> list[str]:
    """Without the empty loop; in the last column also without two readings of the clock."""
    ns = {name: values[which] for name, values in turns.items()}
    clock = ns["clock"] - ns["list"]
    word = ("Least", "Median")[which]
    lines = [
        f"{word}: empty loop {ns['list']:.1f} ns, reading the clock twice {clock:.1f} ns",
        "",
        "| queue | ours, ns | the kernel's, ns | ratio | more than the clock, ns |",
        "|---|---|---|---|---|",
    ]
    for i, name in enumerate(PAIRS):
        ours, theirs = (ns[f"{who}{i}"] - ns["list"] for who in "ab")
        over = f"{ours - clock:.1f} and {max(theirs - clock, 0):.1f}"
        lines.append(f"| {name} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} | {over} |")
    return [*lines, ""]


def main() -> int:
    parser = argparse.ArgumentParser(description="Time our queues beside the kernel's own.")
    parser.add_argument("--backlog", type=int, default=1000, help="packets in each queue")
    parser.add_argument("--packets", type=int, default=10_000, help="of a turn")
    parser.add_argument("--rounds", type=int, default=1000, help="turns of each queue")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        try:
            built = build()
            turns = measure(built, Path(scratch), options.backlog, options.packets, options.rounds)
        except (BootError, BuildError) as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    total = options.packets * options.rounds
    print(f"{machine(built)}; {total} packets of each, backlog {options.backlog}\n")
    print("\n".join([*table(turns, 0), *table(turns, 1)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
