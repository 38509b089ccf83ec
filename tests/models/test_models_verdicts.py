# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""C and model give the same verdicts on the same events."""

from __future__ import annotations

import pytest

from tests.models.algorithms import ALGORITHMS
from tests.models.beside import compare
from tests.models.cases import cases
from tests.models.library import Case, core

ALL = [case for algorithm in ALGORITHMS for case in cases(algorithm)]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_same_verdicts(case: Case) -> None:
    how = ALGORITHMS[case.algorithm]
    found = compare(how, case, core().replay(case))
    assert found.sent > 100
    assert found.ties <= 2 + how.tie_share * found.signals, found
