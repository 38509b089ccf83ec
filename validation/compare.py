# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""compare.py: the engine beside Linux, cell by cell, into docs/evidence/validation.md.

With --check nothing is written: it fails when the page is not what the engine and the
kept results give now, and names each window that was inside and is no longer. With --one-of 5
every fifth cell runs, and its lines must be in the page; the sums over all cells are not made. A
number that shares a factor with the axes' lengths (2 and 3) leaves out some of their values.

    python -m validation.compare [--check [--one-of N]]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.core.errors import SojournError
from sojourn.store.store import Store

from validation import page, recorded
from validation.cell import WINDOWS, Cell
from validation.experiment import Planned, each, planned, run
from validation.figures import AIMED, FAIR, Figure, Verdict, judge
from validation.recorded import Recorded

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "evidence/validation.md"
CAUSES = HERE / "causes.toml"

# One for each seed.
Windows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Compared:
    """One window of one cell: Linux, the engine with Linux's forms, and with ours; and Linux once
    more, where both harnesses recorded it."""

    cell: Cell
    window: str
    linux: Windows
    engine: Windows
    ours: Windows | None
    host: Windows | None = None
    edges_s: tuple[int, ...] = ()
    """Seconds of traffic at the windows' edges."""

    @property
    def key(self) -> str:
        return f"{self.cell.name} {self.window}"

    def values(self, side: str, figure: Figure) -> list[float]:
        """A figure of each seed."""
        return [float(figure.of(window)) for window in getattr(self, side)]

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


def measured(cells: Sequence[Planned], linux: Recorded) -> list[Compared]:
    """These cells on the engine, with the same seeds, beside what was recorded."""
    wanted = each(cells, "engine") | each(cells, "ours")
    with tempfile.TemporaryDirectory(prefix="sojourn-validation-") as folder:
        found = run(wanted, Store(Path(folder)))

    def windows(one: Planned, side: str, window: str) -> Windows | None:
        runs = [found.get((one.cell.name, side, n)) for n in range(1, one.seeds + 1)]
        return [run["windows"][window] for run in runs if run] or None

    def of(runs: list[dict[str, Any]], window: str) -> Windows:
        return [run[window] for run in runs]

    return [
        Compared(
            one.cell,
            window,
            of(linux.reference(one.cell.name), window),
            windows(one, "engine", window) or (),
            windows(one, "ours", window),
            of(linux.both(one.cell.name), window) or None,
            one.edges_s,
        )
        for one in cells
        for window in WINDOWS
    ]


def check(text: str, compared: list[Compared]) -> int:
    """Say what is not as the page has it."""
    kept = PAGE.read_text() if PAGE.exists() else ""
    if text == kept:
        print(f"docs/evidence/validation.md is fresh ({len(compared)} windows)")
        return 0
    for row in compared:
        if row.missed and page.listed(row.key) not in kept:
            titles = ", ".join(figure.title for figure in row.missed)
            print(f"misses its aims, and did not: {row.key}: {titles}")
    print(
        "docs/evidence/validation.md is stale; "
        "renew it with `python -m validation.compare` and read its diff"
    )
    return 1


def check_lines(compared: list[Compared], causes: dict[str, str]) -> int:
    """Whether the page has the lines of these cells: of each table, and of what misses an aim."""
    kept = PAGE.read_text() if PAGE.exists() else ""
    known = page.headed(kept)
    wrong = [
        f"no longer gives its line under '{heading}': {line}"
        for text in page.tables(compared)
        for heading, line in page.headed(text)
        if (heading, line) not in known
    ]
    for row in compared:
        begin = page.listed(row.key)
        was = [line for line in kept.splitlines() if line.startswith(begin)]
        if was != ([page.outsider(row, causes)] if row.missed else []):
            wrong.append(f"misses its aims otherwise than the page says: {row.key}")
    for sentence in wrong:
        print(sentence)
    print(f"docs/evidence/validation.md: {len(compared)} windows run, {len(wrong)} lines differ")
    return int(bool(wrong))


def main() -> int:
    parser = argparse.ArgumentParser(description="Set the engine beside Linux.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stale")
    parser.add_argument("--cells", default="", help="part of cell names; prints instead of writing")
    parser.add_argument(
        "--one-of", type=int, default=1, metavar="N", help="with --check: every Nth cell alone"
    )
    options = parser.parse_args()
    if options.one_of < 1 or (options.one_of > 1 and not options.check):
        parser.error("--one-of takes 1 or more, and goes with --check")
    linux = recorded.read()
    known = [one for one in planned() if linux.reference(one.cell.name)]
    chosen = [one for one in known if options.cells in one.cell.name][:: options.one_of]
    if not chosen:
        raise SystemExit(
            f"{recorded.folder()} has no such cell; "
            "`python -m validation.record` records those that it has not"
        )
    compared = measured(chosen, linux)
    causes = tomllib.loads(CAUSES.read_text()) if CAUSES.exists() else {}
    if options.one_of > 1:
        return check_lines(compared, causes)
    text = page.write(compared, linux, causes)
    if options.check:
        return check(text, compared)
    if options.cells:
        print(text)
    else:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SojournError as error:
        sys.exit(str(error))
