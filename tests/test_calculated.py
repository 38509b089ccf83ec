# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims that a calculation decides in place of runs."""

from __future__ import annotations

from typing import Any

import pytest
from sojourn.core.errors import InputError
from sojourn.papers import claims_file
from sojourn.papers.claims import Judged
from sojourn.papers.experiment import find
from sojourn.papers.paper import papers_of
from sojourn.papers.reproduce import judge

THEORY = {"flows": 1000, "capacity": "100 Mbit/s", "packet": "1000 B", "rtt": ["114 ms", "200 ms"]}
CLAIM = {
    "id": "stable",
    "text": "the loop is stable",
    "source": "§3",
    "metrics": ["unstable_poles"],
    "relation": "less",
    "value": 1,
    "left": "lqd",
    "theory": THEORY,
}


def judged(**changes: Any) -> Judged:
    (claim,), _ = claims_file.read({"claims": [{**CLAIM, **changes}]})
    return judge("sim", claim, find(["lqd/load"]), {"load": {}}, set())


def test_a_loop_is_stable_where_its_dead_time_is_short_and_not_where_it_is_long() -> None:
    assert judged(theory={**THEORY, "rtt": ["114 ms"]}).verdict == "holds"
    assert judged(theory={**THEORY, "rtt": ["200 ms"]}).verdict == "not found here"
    both = judged(turns={"axis": "round trip", "values": THEORY["rtt"]})
    assert both.verdict == "not in print"
    assert both.decision is not None
    assert both.decision.turns.keys() == {"114 ms", "200 ms"}


def test_another_law_under_the_same_words_gets_another_verdict() -> None:
    at = {**THEORY, "rtt": ["150 ms"]}
    assert judged(theory=at, left="lqd, the paper's, corrected").verdict == "not found here"
    assert judged(theory=at, left="lqd, the paper's, as printed").verdict == "holds"


def test_lqds_algebra_contradicts_itself_and_its_example_turns_with_the_round_trip() -> None:
    (paper,) = papers_of(find(["lqd"]))
    verdicts = {
        claim.id: judge("sim", claim, paper.experiments, {}, set(), is_papers=True).verdict
        for claim in paper.claims()
    }
    assert verdicts["lqd/stable"] == "print contradicts itself"
    assert verdicts["lqd/stable-example"] == "not in print"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"theory": {"flows": 10}}, "these keys: flows, capacity, packet, rtt"),
        ({"theory": {**THEORY, "rtt": "1 s"}}, "theory.rtt = '1 s'; it is a list"),
        ({"theory": {**THEORY, "flows": 10.5}}, "114 ms: '10.5' is not a whole number"),
        ({"theory": {**THEORY, "flows": "١٠"}}, "114 ms: '١٠' is not a whole number"),
        ({"theory": {**THEORY, "capacity": "fast"}}, "theory, 114 ms: "),
        ({"left": "lqd, printed"}, "there is no model 'lqd, printed'"),
        ({"left": "codel"}, "'codel' has no fluid model"),
        ({"metrics": ["drop_pct"]}, "goes with metrics = ['unstable_poles']"),
    ],
)
def test_a_theory_that_cannot_be_calculated_is_refused_with_its_place(
    changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError) as refused:
        judged(**changes)
    assert sentence in str(refused.value)
    assert "claim stable" in str(refused.value)
