# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""run.py: the stability paper's network (network.tcl) in ns-2, with ns-2's own queues."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from sojourn.papers.experiment import find
from sojourn.papers.reproduce import reproduce

KEPT = Path(__file__).with_name("figures.json")
SCRIPT = Path(__file__).with_name("network.tcl")
SEEDS = 3
METRICS = ("queue_pkts_mean", "queue_pkts_sd", "utilisation_pct", "drop_pct", "through")
# As experiment.toml has the counts: FTP, files, their first path, gap in s, small, reverse.
LOADS = {
    "uncongested": (7, 2, 8, 0.08, 1, 1),
    "mild": (68, 22, 6, 0.8, 10, 10),
    "heavy": (675, 225, 1, 8.0, 100, 100),
}
# The paper's names, and the queue of ns-2.
QUEUES = {"DT": "DropTail", "RED": "RED", "REM": "REM", "PI": "PI", "AVQ": "Vq"}
# The experiment, its buffer and the loads in it.
TABLES = (("90", 90, ("uncongested", "mild", "heavy")), ("900", 900, ("uncongested",)))

NS2, OURS = "ns-2", "ours"

Figures = dict[str, dict[str, dict[str, list[float]]]]


def once(kind: str, limit: int, load: str, seed: int) -> dict[str, float]:
    """One run of ns-2. Its link carries 100 Mbit/s, so its throughput is its utilisation."""
    words = ["ns", SCRIPT, kind, limit, *LOADS[load], seed]
    done = subprocess.run([*map(str, words)], check=True, capture_output=True, text=True)
    return dict(zip(METRICS, map(float, done.stdout.split()), strict=True))


def everything(seeds: int = SEEDS) -> Figures:
    """Of each cell and algorithm each metric, in the order of the seeds."""
    found: Figures = {}
    for experiment, limit, loads in TABLES:
        for load in loads:
            cell = found.setdefault(f"{experiment}: {load}", {})
            for name, kind in QUEUES.items():
                runs = [once(kind, limit, load, seed) for seed in range(1, seeds + 1)]
                cell[name] = {of: [round(run[of], 4) for run in runs] for of in METRICS}
    return found


def ours() -> Figures:
    """What `sojourn reproduce stability` measured here with the same queues, from the store."""
    found: Figures = {}
    for experiment, _, loads in TABLES:
        done = reproduce(*find([f"stability/{experiment}"]), looked_up=("sim",))
        for load in loads:
            found[f"{experiment}: {load}"] = {
                name: {
                    of: list(done.cell("sim", f"drop, {load}", name, of).values)
                    for of in METRICS[:-1]
                }
                for name in QUEUES
            }
    return found


def keep(found: dict[str, Figures]) -> None:
    """For the page."""
    KEPT.write_text(json.dumps(found, indent=1) + "\n")


def load() -> Any:
    """What was kept."""
    return json.loads(KEPT.read_text())
