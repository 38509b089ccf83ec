# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A check that lies cannot pass: with PI under LQD's name verdicts of LQD's paper flip. Each runs
one cell of an experiment, shorter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sojourn.papers.claims import decide
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.reproduce import reproduce


def short(
    name: str, signal: int, cell: str, only: list[str], window: Mapping[str, Any]
) -> Experiment:
    """One cell of an experiment with these algorithms; the run ends with its window."""
    (experiment,) = find([name])
    (axis,) = experiment.data["axes"]
    values = [value for value in axis["values"] if value["name"] == cell]
    signals = [{**experiment.data["signals"][signal], "only": only}]
    data = {**experiment.data, "axes": [{**axis, "values": values}], "signals": signals}
    found = replace(experiment, data=data)

    def change(scenario: dict[str, Any]) -> None:
        scenario["duration"] = window["to"]
        scenario["record"]["windows"] = [{"name": "measured", **window}]

    found.__dict__["scenario"] = experiment.scenario.replace(change)
    found.__dict__["claims"] = lambda: ([], set())
    return found


def with_pi_for_lqd(experiment: Experiment) -> Experiment:
    """The same with PI under LQD's name."""
    lies = [
        {**entry, "algorithm": "pi"} if entry["name"].startswith("LQD") else entry
        for entry in experiment.data["algorithms"]
    ]
    lie = replace(experiment, data={**experiment.data, "algorithms": lies})
    lie.__dict__.update(scenario=experiment.scenario, claims=lambda: ([], set()))
    return lie


def verdict(experiment: Experiment, claim: str, seeds: int, out: Path) -> str:
    """The rule's verdict on a claim, in the pairs that ran."""
    made = reproduce(experiment, seeds={"sim": seeds}, out=out, workers=1)
    values = {(c.signal, c.algorithm, c.metric): c.values for c in made.cells}
    (found,) = (c for c in find([experiment.id])[0].claims()[0] if c.id == claim)
    ran = {(signal, algorithm) for signal, algorithm, _ in values}
    pairs = [p for p in found.pairs if {(p.signal, p.left), (p.signal, p.right)} <= ran]
    return decide(replace(found, pairs=tuple(pairs)), values.__getitem__, set()).rule


BURSTS = ("lqd/overload", 0, "temporary", ["PI 24", "LQD 24", "REM 24"])
# A hundred seconds of 18,620 browsers: in the last thirty PI's queue is empty.
WEB = ("lqd/web", 1, "98 %", ["PI 24", "LQD 24"])


@pytest.mark.parametrize(
    ("cell", "window", "claim", "seeds", "true", "lie"),
    [
        # PI cannot lose more than itself, and loses less than REM.
        (
            BURSTS,
            {"from": "20 s", "to": "40 s"},
            "lqd/overload/absorbs",
            4,
            "not found here",
            "undecided",
        ),
        # Nor can it carry more than itself.
        (
            WEB,
            {"from": "70 s", "to": "100 s", "pieces": 10},
            "lqd/highest-utilisation",
            1,
            "holds",
            "undecided",
        ),
    ],
)
def test_pi_under_lqds_name_flips_a_verdict(
    cell: tuple[str, int, str, list[str]],
    window: Mapping[str, Any],
    claim: str,
    seeds: int,
    true: str,
    lie: str,
    tmp_path: Path,
) -> None:
    experiment = short(*cell, window)
    assert verdict(experiment, claim, seeds, tmp_path) == true
    # PI's runs are there.
    assert verdict(with_pi_for_lqd(experiment), claim, seeds, tmp_path) == lie
