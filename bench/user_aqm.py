# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Measures a sweep with a user's C file, beside the same sweep with a built-in algorithm.

    python -m bench.user_aqm [--cells N] [--turns N]

The file is a copy of the built-in one under another name, which makes both runs do the same work.
Both take turns. CPU is that of the command and of all its processes. The store is empty before each
turn; the file is compiled in an unmeasured turn.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from sojourn.user_aqm import compiler

from bench.machine import processor
from bench.start import COMMAND, SCENARIO

BUILT_IN = "codel"
SWEEP = """\
scenario = "second.toml"
aqms = ["{aqm}"]

[[axes]]
key = "dumbbell.rate"
from = "5 Mbit/s"
to = "15 Mbit/s"
steps = {cells}
"""


def cost_s(aqm: str, cells: int, folder: Path) -> tuple[float, float]:
    """Measure CPU seconds and elapsed seconds of a sweep."""
    (folder / "sweep.toml").write_text(SWEEP.format(aqm=aqm, cells=cells))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    # An installed package has its bytecode.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begun_s = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(
        [COMMAND, "sweep", "sweep.toml", "--out", "result"],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
    )
    elapsed_s = time.monotonic() - begun_s
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(folder / "result")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, elapsed_s


def main() -> None:
    """Print a row for each of the two."""
    parser = argparse.ArgumentParser(description="What a user's C file costs in a sweep.")
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    costs: dict[str, list[tuple[float, float]]] = {BUILT_IN: [], "./my.c": []}
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        (folder / "second.toml").write_text(SCENARIO)
        source = (compiler.sources() / "algorithms" / f"{BUILT_IN}.c").read_text()
        source = source.replace(f"aqm_{BUILT_IN}", "aqm_my")
        (folder / "my.c").write_text(source.replace(f'.name = "{BUILT_IN}"', '.name = "my"'))
        for aqm in costs:
            cost_s(aqm, 2, folder)
        for _ in range(options.turns):
            for aqm, turns in costs.items():
                turns.append(cost_s(aqm, options.cells, folder))
    print(f"{processor()}; {options.turns} turns of {options.cells} runs of one simulated second\n")
    print("| algorithm | CPU, least, s | median, s | elapsed, least, s | median, s |")
    print("|---|--:|--:|--:|--:|")
    for aqm, turns in costs.items():
        figures = [f(part) for part in zip(*turns, strict=True) for f in (min, statistics.median)]
        print(f"| `{aqm}` | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    base, own = ([*zip(*costs[aqm], strict=True)] for aqm in costs)
    ratios = [f(o) / f(b) for b, o in zip(base, own, strict=True) for f in (min, statistics.median)]
    print("| ratio | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")


if __name__ == "__main__":
    main()
