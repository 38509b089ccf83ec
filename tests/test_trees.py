# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The simulator beside the rates that Linux gave the classes of trees."""

from __future__ import annotations

import json

import pytest
from sojourn import _native
from sojourn.scenario.engine import to_engine

from tests.trees import CASES, frames_mbps, recorded


@pytest.mark.parametrize("name", CASES)
def test_the_simulators_classes_get_what_linux_gave_them(name: str) -> None:
    scenario = to_engine(CASES[name].scenario().expand())
    outcome = _native.run(json.dumps(scenario), 1)
    assert outcome
    rates = frames_mbps(json.loads(outcome[0]))
    assert {*rates} == {*recorded()[name]}
    for group, mbps in recorded()[name].items():
        # Two packets at the edges of a window of 3.5 s are 0.007 Mbit/s.
        assert rates[group] == pytest.approx(mbps, rel=0.001, abs=0.007)
