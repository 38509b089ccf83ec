# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Branch coverage of the core's algorithm files by the cases of this folder.

`python -m tests.models.coverage` prints a line for each file and what was never taken.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.algorithms import ALGORITHMS
from tests.models.cases import cases, refused
from tests.models.flows import cases as flow_cases
from tests.models.library import BUILD, CORE, Core, CoreError, build, source_of

AT_LEAST = 0.95
Counts = dict[int, list[int]]


@dataclass(frozen=True)
class FileCoverage:
    """Branches of one file: taken, all, and the lines that hold the rest."""

    name: str
    taken: int
    branches: int
    missed: tuple[int, ...]

    @property
    def share(self) -> float:
        """1 for a file without branches."""
        return self.taken / self.branches if self.branches else 1.0


def algorithm_files() -> list[str]:
    """An algorithm's file bears its name; the laws are shared by several."""
    own = [str(source_of(name).relative_to(CORE)) for name in ALGORITHMS]
    return own + [f"law/{path.name}" for path in sorted((CORE / "law").glob("*.h"))]


def replay_all(instrumented: Core) -> None:
    """Every case once; then the counts are written."""
    for algorithm in ALGORITHMS:
        for case in (*cases(algorithm), *flow_cases(algorithm)):
            instrumented.replay(case)
        for case in refused(algorithm):
            with contextlib.suppress(CoreError):
                instrumented.replay(case)
        for answers_the_same in ALGORITHMS[algorithm].laws.values():
            answers_the_same(instrumented)
    instrumented.dump_coverage()


def measure() -> list[FileCoverage]:
    """Build, replay, read the counts."""
    where = BUILD / "coverage"
    shutil.rmtree(where, ignore_errors=True)
    replay_all(Core(build(where, "-O0", "--coverage", "-DTM_COVERAGE")))
    counts = branch_counts(where)
    return [_file(name, counts.get(name, {})) for name in algorithm_files()]


def branch_counts(where: Path) -> dict[str, Counts]:
    """How often each branch of each line was taken, summed over the files that include a header."""
    found: dict[str, Counts] = {}
    for data in sorted(where.glob("*.gcda")):
        command = ["gcov", "--branch-probabilities", "--json-format", "--stdout", data.name]
        report = subprocess.run(command, cwd=where, check=True, capture_output=True, text=True)
        for file in json.loads(report.stdout)["files"]:
            path = Path(file["file"])
            if not path.is_relative_to(CORE):
                continue
            lines = found.setdefault(str(path.relative_to(CORE)), {})
            for line in file["lines"]:
                taken = [branch["count"] for branch in line["branches"]]
                before = lines.setdefault(line["line_number"], [0] * len(taken))
                lines[line["line_number"]] = [a + b for a, b in zip(before, taken, strict=True)]
    return found


def _file(name: str, lines: Counts) -> FileCoverage:
    branches = [(number, count) for number, counts in lines.items() for count in counts]
    missed = sorted({number for number, count in branches if not count})
    return FileCoverage(name, sum(1 for _, c in branches if c), len(branches), tuple(missed))


def main() -> int:
    """Print the report; 1 when a file is below the bound."""
    found = measure()
    for file in found:
        rest = f"   not both ways: {', '.join(map(str, file.missed))}" if file.missed else ""
        print(f"{file.name:16} {file.taken:4}/{file.branches:<4} {100 * file.share:5.1f} %{rest}")
    return int(any(file.share < AT_LEAST for file in found))


if __name__ == "__main__":
    sys.exit(main())
