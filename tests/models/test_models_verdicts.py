# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""C and model give the same verdicts on the same events."""

from __future__ import annotations

import pytest

from tests.models.algorithms import ALGORITHMS
from tests.models.beside import Beside, compare
from tests.models.cases import ACCEPTED, REFUSED, cases
from tests.models.library import Case, CoreError, core

ALL = [case for algorithm in ALGORITHMS for case in cases(algorithm)]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_same_verdicts(case: Case) -> None:
    how = ALGORITHMS[case.algorithm]
    found = compare(how, case, core().replay(case))
    assert found.sent > 100
    assert found.ties <= 2 + how.tie_share * found.signals, found


@pytest.mark.parametrize("case", [c for cs in REFUSED.values() for c in cs], ids=lambda c: c.name)
def test_rows_that_contradict_are_refused(case: Case) -> None:
    with pytest.raises(CoreError):
        core().replay(case)


@pytest.mark.parametrize("case", [c for cs in ACCEPTED.values() for c in cs], ids=lambda c: c.name)
def test_rows_at_the_bound_are_accepted(case: Case) -> None:
    assert len(core().replay(case).out)


@pytest.mark.parametrize("how", ALGORITHMS.values(), ids=ALGORITHMS.keys())
def test_defaults_are_the_published_ones(how: Beside) -> None:
    assert {row: core().default(how.algorithm, row) for row in how.defaults} == how.defaults
