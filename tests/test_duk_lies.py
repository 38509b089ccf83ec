# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A check that lies cannot pass: with a drop-tail queue under DUK's name the verdicts flip, and a
published number that is changed moves its row alone. Experiment 1, ten seconds of its 20 Mbit/s."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sojourn.papers.claim import Claim, Pair
from sojourn.papers.experiment import Experiment, find
from sojourn.papers.reproduce import Reproduction, reproduce

# Three, as in a quick reproduction, do not decide which algorithm drops less here.
SEEDS = {"sim": 10}


# What the paper claims of all its experiments, of this one alone.
PAIRS = (Pair("drop", "DUK", "CoDel"), Pair("drop", "DUK", "PIE"))
CLAIMS = (
    Claim("less-than-half", "", "", ("handover_delay_mean_ms",), "less", PAIRS, factor=0.5),
    Claim("drops-most", "", "", ("drop_pct",), "greater", PAIRS),
)


def short(**changes: Any) -> Experiment:
    """With drops and these keys of the paper in place of its own."""
    (experiment,) = find(["duk/1"])
    signals = [signal for signal in experiment.data["signals"] if signal["name"] == "drop"]
    # Of this machine, not of a network.
    beside = [name for name in signals[0]["beside"] if not name.startswith("law_")]
    signals = [{**signals[0], "beside": beside}]
    found = replace(
        experiment, data={**experiment.data, "signals": signals, "ablations": [], **changes}
    )

    def change(data: dict[str, Any]) -> None:
        data["duration"] = "12 s"
        data["record"]["windows"] = [{"name": "20 Mbit/s", "from": "4 s", "to": "12 s"}]
        (bottleneck,) = (link for link in data["links"] if link["name"] == "bottleneck")
        bottleneck |= {"rate": "20 Mbit/s", "schedule": []}

    found.__dict__["scenario"] = experiment.scenario.replace(change)
    found.__dict__["claims"] = lambda: (list(CLAIMS), set())
    return found


@pytest.fixture(scope="module")
def true(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(short(), seeds=SEEDS, out=tmp_path_factory.mktemp("true"))


def verdicts(reproduction: Reproduction) -> dict[str, str]:
    return {decision.claim.id: decision.rule for decision in reproduction.decisions}


def test_a_drop_tail_queue_under_duks_name_flips_the_verdicts(
    true: Reproduction, tmp_path: Path
) -> None:
    (duk,) = find(["duk/1"])
    fifos = [
        {**entry, "algorithm": "fifo", "rows": {}} if entry["algorithm"] == "duk" else entry
        for entry in duk.data["algorithms"]
    ]
    assert sum(entry["algorithm"] == "fifo" for entry in fifos) == 3
    found, held = verdicts(reproduce(short(algorithms=fifos), seeds=SEEDS, out=tmp_path)), []
    for claim, verdict in verdicts(true).items():
        if verdict == "holds":
            held.append(claim)
            assert found[claim] == "not found here", claim
    assert held == [claim.id for claim in CLAIMS]


def test_a_published_number_that_is_changed_moves_its_row_alone(
    true: Reproduction, tmp_path: Path
) -> None:
    experiment = short()
    changed = {**experiment.published, ("drop", "PIE", "drop_pct"): 1.5}
    assert changed != experiment.published
    experiment.__dict__["published"] = changed
    lie = reproduce(experiment, seeds=SEEDS, out=tmp_path)
    rows = list(zip(true.to_json()["cells"], lie.to_json()["cells"], strict=True))
    (moved,) = [(was, now) for was, now in rows if str(was) != str(now)]
    assert (moved[0]["published"], moved[1]["published"]) == (9.86, 1.5)
    assert (moved[0]["algorithm"], moved[0]["metric"]) == ("PIE", "drop_pct")
    assert moved[0]["measured"] == moved[1]["measured"]
    assert verdicts(true) == verdicts(lie)
