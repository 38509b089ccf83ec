# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Flow queueing beside its model: the same packets leave, are marked and dropped, in the same
order, whatever runs in the flows."""

from __future__ import annotations

import pytest

from tests.algorithms import ALGORITHMS
from tests.models.beside import compare
from tests.models.flows import BesideFlows, cases
from tests.models.library import Case, core

EVERY = [case for algorithm in ALGORITHMS for case in cases(algorithm)]


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_the_same_packets_leave_in_the_same_order(case: Case) -> None:
    how = BesideFlows(ALGORITHMS[case.algorithm])
    found = compare(how, case, core().replay(case))
    assert found.sent > 100
    assert found.ties <= 2 + how.tie_share * found.signals, found
