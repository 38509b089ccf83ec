# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sentences before a run about HTB that does not do what its ceilings seem to say."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from sojourn.runs.job import Job
from sojourn.runs.rules import unheld
from sojourn.scenario import load

ENDS = Path(__file__).with_name("data") / "ends"


def notices(*classes: dict[str, Any]) -> list[str]:
    """Of these classes at the end of a link, in two runs of a scenario."""
    scenario = load(ENDS / "cpe.toml").to_engine()
    scenario["links"][0]["end"][0]["classes"] = classes
    job = cast(Job, SimpleNamespace(scenario=json.dumps(scenario)))
    return unheld([job, job])


def test_the_files_of_stages_need_no_notice() -> None:
    for path in ENDS.iterdir():
        job = cast(Job, SimpleNamespace(scenario=json.dumps(load(path).to_engine())))
        assert unheld([job]) == []


def test_children_above_their_parent_are_told() -> None:
    leaves = [
        {"name": f"m{i}", "parent": "cable", "rate": 8_000_000, "ceil": 16_000_000} for i in "123"
    ]
    slow = {"name": "cable", "rate": 21_000_000, "ceil": 21_000_000}
    assert notices(slow, *leaves) == [
        "link 'cpe up', stage 'ip', class 'cable': HTB does not hold a class below its own rate: "
        "its children send 24 Mbit/s through 21 Mbit/s; a slower link below is a stage of its own"
    ]
    assert notices({**slow, "ceil": 24_000_000}, *leaves) == []
    later = {"at": 5_000_000_000, "rate": 20_000_000, "ceil": 20_000_000}
    [notice] = notices({**slow, "ceil": 24_000_000, "schedule": [later]}, *leaves)
    assert "children send 24 Mbit/s through 20 Mbit/s from 5 s on;" in notice


def test_a_leaf_without_a_parent_is_told_that_it_borrows_nothing() -> None:
    alone = {"name": "af", "rate": 8_000_000, "ceil": 16_000_000}
    assert notices(alone) == [
        "link 'cpe up', stage 'ip', class 'af': it has no parent, and nothing to borrow from: it "
        "sends 8 Mbit/s, not 16 Mbit/s"
    ]
    assert notices({**alone, "ceil": 8_000_000}) == []
