# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""compare.py: the engine beside Linux, cell by cell, into docs/validation.md.

With --check nothing is written: it fails when the page is not what the engine and the
kept results give now, and names each window that was inside and is no longer.

    python -m validation.compare [--check]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from validation import page, recorded
from validation.cells import WINDOWS, Cell, cells
from validation.engine import LINUX_ROWS, measure
from validation.figures import AIMED, FAIR, Figure, Verdict, judge

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "validation.md"
CAUSES = HERE / "causes.toml"

# Cell and form, or cell and "kernel", to a record for each seed.
Windows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Compared:
    """One window of one cell: Linux, the engine with Linux's forms, and with ours."""

    cell: Cell
    window: str
    linux: Windows
    engine: Windows
    ours: Windows | None

    @property
    def key(self) -> str:
        return f"{self.cell.name} {self.window}"

    def values(self, side: str, figure: Figure) -> list[float]:
        """A figure of each seed."""
        windows = getattr(self, side)
        if figure in FAIR:
            windows = [window for window in windows if "goodputs_mbps" in window]
        return [float(figure.of(window)) for window in windows]

    def mean(self, side: str, figure: Figure) -> float:
        return statistics.fmean(self.values(side, figure))

    def verdicts_of(self, side: str) -> dict[Figure, Verdict]:
        """Of each figure with an aim. One flow has nothing to share."""
        figures = AIMED + (FAIR if self.cell.flows > 1 else ())
        return {f: judge(f, self.values("linux", f), self.values(side, f)) for f in figures}

    @cached_property
    def verdicts(self) -> dict[Figure, Verdict]:
        return self.verdicts_of("engine")

    @property
    def verdict(self) -> Verdict:
        """The worst of queue and link; fairness counts by itself."""
        return max(self.verdicts[figure] for figure in AIMED)

    @property
    def missed(self) -> list[Figure]:
        """What misses its aim, fairness too."""
        return [figure for figure, verdict in self.verdicts.items() if verdict != Verdict.AIM]


def measured(options: argparse.Namespace) -> tuple[list[Compared], dict[str, Any]]:
    """Every recorded cell, on the engine with as many seeds beside it."""
    head, linux = recorded.read()
    known = [cell for cell in cells() if cell.name in linux and options.cells in cell.name]
    jobs = [
        (cell, seed, form)
        for cell in known
        for form in (("linux", "ours") if cell.queue in LINUX_ROWS else ("linux",))
        for seed in range(1, len(linux[cell.name]) + 1)
    ]
    engine: dict[tuple[str, str], list[dict[str, Any]]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for (cell, _, form), record in zip(
            jobs, pool.map(measure, *zip(*jobs, strict=True)), strict=True
        ):
            engine.setdefault((cell.name, form), []).append(record["windows"])
    return [
        Compared(
            cell,
            window,
            [windows[window] for windows in linux[cell.name]],
            [windows[window] for windows in engine[cell.name, "linux"]],
            [windows[window] for windows in engine[cell.name, "ours"]]
            if cell.queue in LINUX_ROWS
            else None,
        )
        for cell in known
        for window in WINDOWS
    ], head


def check(text: str, compared: list[Compared]) -> int:
    """Say what is not as the page has it."""
    kept = PAGE.read_text() if PAGE.exists() else ""
    if text == kept:
        print(f"docs/validation.md is fresh ({len(compared)} windows)")
        return 0
    for row in compared:
        if row.missed and page.listed(row.key) not in kept:
            titles = ", ".join(figure.title for figure in row.missed)
            print(f"misses its aims, and did not: {row.key}: {titles}")
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
    compared, head = measured(options)
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
