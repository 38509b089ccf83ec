# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""C and model give the same verdicts on the same events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.algorithms import ALGORITHMS
from tests.models.beside import Beside, compare
from tests.models.cases import accepted, cases, fast_cases, refused
from tests.models.library import DROPPED, MARKED, Case, CoreError, core

FAST = {case.name for algorithm in ALGORITHMS for case in fast_cases(algorithm)}
REFUSED = [case for algorithm in ALGORITHMS for case in refused(algorithm)]
ACCEPTED = [case for algorithm in ALGORITHMS for case in accepted(algorithm)]


def marked(case: Case) -> Any:
    """All of them take a second each, and each algorithm has some sixty."""
    marks = [] if case.name in FAST else [pytest.mark.deep]
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [marked(c) for name in ALGORITHMS for c in cases(name)])
def test_same_verdicts(case: Case) -> None:
    how = ALGORITHMS[case.algorithm]
    found = compare(how, case, core().replay(case))
    assert found.sent > 100
    assert found.ties <= 2 + how.tie_share * found.signals, found


@pytest.mark.parametrize("what", [DROPPED, MARKED])
def test_a_wrong_reason_is_noticed(what: int) -> None:
    case = next(case for case in cases("codel") if case.name == "codel-0-ecn-overload")
    replay = core().replay(case)
    out = replay.out.copy()
    [first, *_] = np.flatnonzero(out["what"] == what)
    out["why"][first] = replay.reasons.index("early")
    with pytest.raises(AssertionError, match=r"model .*why=.* core "):
        compare(ALGORITHMS["codel"], case, replace(replay, out=out))


@pytest.mark.parametrize("case", REFUSED, ids=lambda c: c.name)
def test_rows_that_contradict_are_refused(case: Case) -> None:
    with pytest.raises(CoreError):
        core().replay(case)


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda c: c.name)
def test_rows_at_the_bound_are_accepted(case: Case) -> None:
    assert len(core().replay(case).out)


@pytest.mark.parametrize("how", ALGORITHMS.values(), ids=ALGORITHMS.keys())
def test_defaults_are_the_published_ones(how: Beside) -> None:
    assert {row: core().default(how.algorithm, row) for row in how.defaults} == how.defaults
