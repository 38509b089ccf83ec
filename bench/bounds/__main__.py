# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How long one operation holds a device's root lock, in our queues and in the kernel's own.

    python -m bench.bounds [PART ...] [--beside REVISION] [--quick]

Without a PART all are measured. REVISION is measured in the same run, boots in turn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from sojourn.linux.uml.boot import BootError
from sojourn.linux.uml.build import BuildError, build
from sojourn.linux.uml.module import module

from bench.bounds.measure import Module, cycles_per_second, measure, module_of
from bench.bounds.plan import PARTS, QUICK, Sizes
from bench.bounds.tables import table
from bench.machine import machine


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time what happens under the root lock.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--beside", metavar="REVISION", help="another revision's qdisc as well")
    parser.add_argument("--quick", action="store_true", help="small queues and few tries")
    parser.add_argument("--boots", type=int, metavar="N", help="each try is the least of N")
    parser.add_argument("--tries", type=int, metavar="N", help="at most so many of each operation")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    return options


def sizes_of(options: argparse.Namespace) -> Sizes:
    sizes = QUICK if options.quick else Sizes()
    tries = options.tries or sizes.short_tries
    return replace(
        sizes,
        boots=options.boots or sizes.boots,
        packet_boots=options.boots or sizes.packet_boots,
        short_tries=min(tries, sizes.short_tries),
        long_tries=min(tries, sizes.long_tries),
        looks=min(tries, sizes.looks),
    )


def main() -> int:
    options = arguments()
    sizes = sizes_of(options)
    try:
        built = build()
        modules = [Module("", module(built))]
        if options.beside:
            modules.append(module_of(options.beside, built))
        with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
            hz = cycles_per_second(Path(scratch))
        boots = f"{sizes.boots} boots, of packets {sizes.packet_boots}"
        print(f"{machine(built)}; each try the least of {boots}\n")
        for part in PARTS:
            if not options.parts or part in options.parts:
                print(table(measure(built, modules, part, sizes), hz), flush=True)
    except (BootError, BuildError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
