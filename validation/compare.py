# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""compare.py: the engine beside Linux, cell by cell, into docs/evidence/validation.md and .csv.

With --check nothing is written: it fails when the page is not what the engine and the
kept results give now, and names each window that was inside and is no longer. With --one-of 5
every fifth cell runs, and its lines must be in the data; the sums over all cells are not made. A
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

from validation import cells, page, recorded
from validation.cell import WINDOWS, Cell
from validation.experiment import Planned, each, planned, run
from validation.figures import AIMED, FAIR, Figure, Verdict, judge
from validation.recorded import Recorded

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "evidence/validation.md"
DATA = PAGE.with_suffix(".csv")
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


def kept() -> dict[str, list[str]]:
    """Read the lines of the data that are kept, by window."""
    return cells.parts(DATA.read_text()) if DATA.exists() else {}


def check(text: str, data: str) -> int:
    """Say which window is not as page and data have it."""
    if PAGE.exists() and DATA.exists() and (text, data) == (PAGE.read_text(), DATA.read_text()):
        print(f"docs/evidence/validation.md is fresh ({len(cells.parts(data))} windows)")
        return 0
    report(cells.parts(data))
    print(
        "docs/evidence/validation.md or .csv is stale; "
        "renew both with `python -m validation.compare` and read their diff"
    )
    return 1


def report(windows: Mapping[str, list[str]]) -> int:
    """Print each line that the kept data has otherwise, and count them."""
    known, wrong = kept(), 0
    for window, lines in windows.items():
        for line in lines:
            if line not in known.get(window, ()):
                print(f"not in validation.csv: {window}: {line}")
                wrong += 1
    return wrong


def check_lines(data: str) -> int:
    """Say whether the data has the lines of these cells."""
    windows = cells.parts(data)
    wrong = report(windows)
    print(f"docs/evidence/validation.csv: {len(windows)} windows run, {wrong} lines differ")
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
    data = cells.write(compared, causes)
    if options.one_of > 1:
        return check_lines(data)
    text = page.write(compared, linux, causes)
    if options.check:
        return check(text, data)
    if options.cells:
        print(data, end="")
    else:
        PAGE.write_text(text)
        DATA.write_text(data)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SojournError as error:
        sys.exit(str(error))
