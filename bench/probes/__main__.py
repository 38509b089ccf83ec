# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What probes cost where nobody else can run: a send that becomes 7,500 packets, each of which
asks for a probe, by the number of the machine's addresses; and a stranger's echo reply, by the
number of queues that listen.

    python -m bench.probes

The kernel is the one of linux/uml, in real time. A send holds the root lock of its device for
nearly all of its time. The worst of five is told.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import BuildError, Built, build
from sojourn.linux.uml.module import module

from bench.machine import machine

ROOT = Path(__file__).resolve().parents[2]
ADDRESSES = (1, 1000, 30_000)
QUEUES = (0, 1, 1000, 10_000)
# Ten thousand queues with 4,096 probes each.
MEMORY_MB = 3072


def measured(built: Built, ours: Path, what: str, number: int) -> float:
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        job = Path(scratch) / "job"
        setting = f"PYTHONPATH={ROOT} TC_LIB_DIR={ours.parent}"
        job.write_text(
            f"#!/bin/sh -e\ninsmod {ours}\n"
            f"{setting} exec {sys.executable} -S -B -m bench.probes.guest {what} {number}\n"
        )
        job.chmod(0o755)
        outcome = boot(built, Path(scratch), limit_s=600, real_time=True, memory_mb=MEMORY_MB)
    [found] = re.findall(r"^FOUND (.*)$", outcome.console, re.M)
    return float(found)


def main() -> int:
    try:
        built = build()
        ours = module(built)
        print(f"{machine(built)}\n")
        print("| a send of 60 kB in 7,500 packets, worst of 5 | addresses | ms |")
        print("| --- | --: | --: |")
        for what, family in (("segment4", "IPv4"), ("segment6", "IPv6")):
            for number in ADDRESSES:
                ms = measured(built, ours, what, number)
                print(f"| {family} | {number:,} | {ms:.2f} |", flush=True)
        print("\n| a stranger's echo reply | queues that probe | us |")
        print("| --- | --: | --: |")
        for number in QUEUES:
            us = measured(built, ours, "replies", number)
            print(f"| sent and received | {number:,} | {us:.2f} |", flush=True)
    except (BuildError, BootError) as error:
        print(f"bench.probes: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
