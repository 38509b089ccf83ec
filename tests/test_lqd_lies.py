# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A check that lies cannot pass: with PI under LQD's name a verdict of LQD's paper flips. Bursts on
a part-full link, a third of the experiment's length."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.papers.claims import decide
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.reproduce import reproduce

SEEDS = {"sim": 4}
CELL = "temporary"


def short(**changes: Any) -> Experiment:
    """The cell of temporary congestion, with these keys in place of the paper's."""
    (experiment,) = find(["lqd/overload"])
    (axis,) = experiment.data["axes"]
    values = [value for value in axis["values"] if value["name"] == CELL]
    signals = [{**experiment.data["signals"][0], "only": ["PI 24", "LQD 24", "REM 24"]}]
    data = {**experiment.data, "axes": [{**axis, "values": values}], "signals": signals, **changes}
    found = replace(experiment, data=data)

    def change(scenario: dict[str, Any]) -> None:
        scenario["duration"] = "40 s"
        scenario["record"]["windows"] = [{"name": "measured", "from": "20 s", "to": "40 s"}]

    found.__dict__["scenario"] = experiment.scenario.replace(change)
    found.__dict__["claims"] = lambda: ([], set())
    return found


def verdict(experiment: Experiment, out: Path) -> str:
    """The rule's verdict on the paper's claim of this cell."""
    made = reproduce(experiment, seeds=SEEDS, out=out, workers=1)
    values = {(c.signal, c.algorithm, c.metric): c.values for c in made.cells}
    (claim,) = (c for c in find(["lqd/overload"])[0].claims()[0] if c.id.endswith("/absorbs"))
    return decide(claim, values.__getitem__, set()).rule


def test_pi_under_lqds_name_flips_the_verdict(tmp_path: Path) -> None:
    lies = [
        {**entry, "algorithm": "pi"} if entry["name"].startswith("LQD") else entry
        for entry in short().data["algorithms"]
    ]
    assert verdict(short(), tmp_path / "true") == "not found here"
    # PI cannot lose more than itself, and loses less than REM.
    assert verdict(short(algorithms=lies), tmp_path / "lie") == "undecided"
