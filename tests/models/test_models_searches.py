# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DUK's search in C and in the model choose the same intervals in worlds made for it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.library import core
from tests.models.searches import WORLDS, World, explore


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_same_intervals(world: World) -> None:
    model = explore(world)
    found = core().duk_search(model.intervals)
    differs = np.flatnonzero(found != model.answers)
    at = int(differs[0]) if len(differs) else 0
    assert not len(differs), f"interval {at}: model {model.answers[at]}, core {found[at]}"


def test_worlds_lead_to_the_longest_interval_and_back() -> None:
    there = back = 0
    for world in WORLDS:
        ticks = explore(world).answers["ticks"]
        longest = np.flatnonzero(ticks == 1024)
        there += len(longest) > 0
        back += len(longest) > 0 and bool((ticks[longest[0] :] == 1).any())
    assert there >= 20
    assert back >= 10
