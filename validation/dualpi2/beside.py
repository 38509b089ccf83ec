# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""beside.py: the kernel's own dualpi2 and ours on the same traffic, in one newer kernel.

    python -m validation.dualpi2.beside            the table of dualpi2's page, as kept
    python -m validation.dualpi2.beside --record   runs everything anew, keeps it, renews the page

Each cell has the kernel's queue, ours, ours with one thing changed to what the kernel has, and
with all of them. The figures are kept in beside.json with the kernel's version; no test needs that
kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import sojourn
from sojourn.core.text import markdown
from sojourn.linux.kernel import Kernel, ready
from sojourn.linux.uml import module

from validation.dualpi2 import newer
from validation.dualpi2.page import cell, put
from validation.dualpi2.run import Figures, know_the_kernels_own, play
from validation.dualpi2.scalable import Cell
from validation.dualpi2.variants import KERNEL, VARIANTS, Variant

KEPT = Path(__file__).with_name("beside.json")
MARKS = ("newer: made by `python -m validation.dualpi2.beside --record`", "end of newer")
FROM_NS = 20 * 10**9
# And how many seeds: at 50 ms three tell little.
CELLS = {Cell(): 3, Cell(rtt_ms=50): 8, Cell(rate_mbps=4): 3, Cell(rate_mbps=120, each=4): 3}
# The kernel's own defaults, said all the same: they are set by our netlink and read back.
OPTIONS = ["limit=10000", "target_us=15000", "tupdate_us=16000", "alpha=41", "beta=819"]
OPTIONS += ["coupling=2", "step_thresh_us=1000", "c_protection_pct=10", "split_gso=1"]
HEADS = ["queue", "L4S delay: mean, 99 %", "Classic delay: mean, 99 %", "p', at 0", "L4S marked"]
HEADS += ["Classic dropped", "L4S, Classic: Mbit/s a flow", "ratio"]


def record() -> dict[str, Any]:
    """Run all cells."""
    know_the_kernels_own()
    built = newer.kernel()
    os.environ["SOJOURN_KERNEL_SOURCE"] = str(newer.archive())
    kept: dict[str, Any] = {"release": built.release, "package": newer.version(), "cells": {}}
    with tempfile.TemporaryDirectory(prefix="sojourn-") as folder:
        module.QDISC = newer.lay_module(Path(folder) / "module")
        kernel = ready()
        for of, seeds in CELLS.items():
            found: dict[str, list[dict[str, Any]]] = {}
            kept["cells"][name(of)] = found
            for variant in VARIANTS:
                found[variant.title] = []
                for seed in range(1, seeds + 1):
                    figures, told = run(of, variant, kernel, seed, Path(folder))
                    found[variant.title].append(asdict(figures))
                    kept["options"] = told or kept.get("options")
                print(*row(variant.title, found[variant.title]), sep=" | ", flush=True)
    return kept


def run(
    of: Cell, variant: Variant, kernel: Kernel, seed: int, folder: Path
) -> tuple[Figures, dict[str, int]]:
    """One seed."""
    text = of.text.replace('{ algorithm = "dualpi2", spared = 0 }', variant.queue(folder))
    options = OPTIONS if variant.algorithm == KERNEL else []
    return play(kernel, sojourn.loads(text).to_engine(), seed, options, FROM_NS)


def name(of: Cell) -> str:
    """Of a cell, in words."""
    return f"{of.rate_mbps} Mbit/s, {of.rtt_ms} ms, {of.flows}, {CELLS[of]} seeds"


def row(title: str, runs: list[dict[str, Any]]) -> tuple[str, ...]:
    """One row of the table: means over the seeds."""

    def mean(key: str, index: int | None = None) -> str:
        return cell(fmean(r[key] if index is None else r[key][index] for r in runs))

    ratios = [r["mbps"][0] / r["mbps"][1] for r in runs]
    return (
        title,
        *(f"{mean('mean_ms', i)}, {mean('p99_ms', i)} ms" for i in range(2)),
        f"{mean('prob_pct')} %, {mean('zero_pct')} %",
        f"{mean('mark_pct')} %",
        f"{fmean(r['drop_pct'] for r in runs):.3f} %",
        f"{mean('mbps', 0)}, {mean('mbps', 1)}",
        f"{fmean(ratios):.2f} ± {stdev(ratios):.2f}",
    )


def lines(kept: dict[str, Any]) -> Iterator[str]:
    """The tables of all cells."""
    yield f"Linux {kept['release']} (Debian's {newer.PACKAGE} {kept['package']})."
    for title, found in kept["cells"].items():
        yield from ("", f"{title}:", "")
        rows = (row(variant, runs) for variant, runs in found.items())
        yield from markdown(HEADS, rows).splitlines()


def main() -> None:
    """Print what is kept, or record and keep."""
    parser = argparse.ArgumentParser(description="The kernel's own dualpi2 and ours.")
    parser.add_argument("--record", action="store_true", help="run everything anew")
    if parser.parse_args().record:
        KEPT.write_text(json.dumps(record(), indent=1) + "\n")
        put(*MARKS, lines(json.loads(KEPT.read_text())))
    print("\n".join(lines(json.loads(KEPT.read_text()))))


if __name__ == "__main__":
    main()
