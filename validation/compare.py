# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""compare.py: the engine beside Linux, cell by cell, into docs/validation.md.

With --check nothing is written: it fails when the page is not what the engine and the
kept results give now, and names each cell that was inside the aims and is no longer.

    python -m validation.compare [--check]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation import page
from validation.cells import WINDOWS, Cell, cells
from validation.engine import measure

HERE = Path(__file__).resolve().parent
LINUX = HERE / "linux" / "6.12.117.json"
PAGE = HERE.parent / "docs" / "validation.md"
CAUSES = HERE / "causes.toml"
# The aims. Nothing widens them; what lies outside is listed.
UTILISATION_POINTS = 2.0
DELAY_SHARE, DELAY_MS = 0.10, 1.0
LOSS_SHARE = 0.20


@dataclass(frozen=True)
class Figures:
    """One window of one cell on one side: each figure for each seed."""

    utilisation_pct: list[float]
    mean_ms: list[float]
    p95_ms: list[float]
    loss_pct: list[float]
    retransmitted_pkts: list[float]
    timeouts: list[float]

    @classmethod
    def of(cls, windows: list[dict[str, Any]]) -> Figures:
        return cls(
            [window["utilisation_pct"] for window in windows],
            [window["queue_delay_ms"]["mean"] for window in windows],
            [window["queue_delay_ms"]["p95"] for window in windows],
            [100 * w["dropped_pkts"] / max(w["arrived_pkts"], 1) for w in windows],
            [window["retransmitted_pkts"] for window in windows],
            [window["timeouts"] for window in windows],
        )

    def mean(self, name: str) -> float:
        return statistics.fmean(getattr(self, name))


@dataclass(frozen=True)
class Compared:
    """One window of one cell, both sides."""

    cell: Cell
    window: str
    linux: Figures
    engine: Figures

    @property
    def key(self) -> str:
        return f"{self.cell.name} {self.window}"

    def outside(self) -> list[str]:
        """Names of the figures that miss their aim."""
        missed = []
        for name, aim in (
            ("utilisation_pct", lambda _: UTILISATION_POINTS),
            ("mean_ms", lambda linux: max(DELAY_SHARE * linux, DELAY_MS)),
            ("loss_pct", lambda linux: LOSS_SHARE * linux),
        ):
            linux, engine = self.linux.mean(name), self.engine.mean(name)
            if abs(engine - linux) > aim(linux):
                missed.append(name)
        return missed

    def overlaps(self, name: str) -> bool:
        """Whether the two sides' seeds reach into each other's range."""
        linux, engine = getattr(self.linux, name), getattr(self.engine, name)
        return bool(min(linux) <= max(engine) and min(engine) <= max(linux))


def measured(options: argparse.Namespace) -> list[Compared]:
    """Every recorded cell, on the engine with as many seeds beside it."""
    linux: dict[str, list[dict[str, Any]]] = {}
    for record in json.loads(LINUX.read_text())["records"]:
        linux.setdefault(record["cell"], []).append(record["windows"])
    known = [cell for cell in cells() if cell.name in linux and options.cells in cell.name]
    jobs = [(cell, seed) for cell in known for seed in range(1, len(linux[cell.name]) + 1)]
    engine: dict[str, list[dict[str, Any]]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for record in pool.map(measure, *zip(*jobs, strict=True)):
            engine.setdefault(record["cell"], []).append(record["windows"])
    return [
        Compared(
            cell,
            window,
            Figures.of([windows[window] for windows in linux[cell.name]]),
            Figures.of([windows[window] for windows in engine[cell.name]]),
        )
        for cell in known
        for window in WINDOWS
    ]


def check(text: str, compared: list[Compared]) -> int:
    """Say what is not as the page has it."""
    kept = PAGE.read_text() if PAGE.exists() else ""
    if text == kept:
        print(f"docs/validation.md is fresh ({len(compared)} windows)")
        return 0
    for row in compared:
        if row.outside() and page.listed(row.key) not in kept:
            print(f"outside its aims, and was not: {row.key}: {', '.join(row.outside())}")
    print(
        "docs/validation.md is stale; "
        "renew it with `python -m validation.compare` and read its diff"
    )
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Set the engine beside Linux.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stale")
    parser.add_argument("--cells", default="", help="part of cell names; prints instead of writing")
    options = parser.parse_args()
    compared = measured(options)
    head = json.loads(LINUX.read_text())
    causes = tomllib.loads(CAUSES.read_text()) if CAUSES.exists() else {}
    text = page.write(compared, head["kernel"], head["command"], causes)
    if options.check:
        return check(text, compared)
    if options.cells:
        print(text)
    else:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
