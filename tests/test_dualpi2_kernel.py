# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The model of dualpi2, changed where the kernel's is otherwise, does what a newer kernel's did."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.models.witnessed import ARRIVED, ASKED
from validation.dualpi2 import beside, follow
from validation.dualpi2.page import kept
from validation.dualpi2.recording import load


def test_the_changed_model_decides_as_the_kernel_did() -> None:
    recorded = load()
    found = follow.follow(recorded)
    assert found.events == len(recorded["kind"]) - 1 > 20_000
    assert found.drops > 1000
    assert recorded["step_marks"][-1] > 1000
    assert (recorded["prob"] > 2**31).sum() > 1000
    assert len(found.draws) > 10_000
    assert abs(found.surprise()) < 4


@pytest.mark.parametrize("name", follow.RFC_S)
def test_with_the_rfc_s_in_one_place_it_does_not(name: str) -> None:
    with pytest.raises(AssertionError, match="record"):
        follow.follow(load(), follow.without(name))


@pytest.mark.parametrize(
    ("column", "kind", "change"),
    [
        ("ns", ARRIVED, 2_000_000),
        ("ns", ASKED, 2_000_000),
        ("packet", ASKED, 1),
        ("drops", ASKED, 1),
        ("prob", ASKED, 2**16),
        ("credit", ASKED, 1),
        ("step_marks", ASKED, 1),
    ],
)
def test_changed_records_are_noticed(column: str, kind: int, change: int) -> None:
    recorded = load()
    late = (recorded["kind"] == kind) & (np.arange(len(recorded["kind"])) > 10_000)
    changed = recorded[column].copy()
    changed[late] += changed.dtype.type(change)
    recorded[column] = changed
    with pytest.raises(AssertionError, match="record"):
        follow.follow(recorded)


def test_the_page_has_what_was_found() -> None:
    assert kept(*follow.MARKS) == list(follow.lines(load()))
    assert kept(*beside.MARKS) == list(beside.lines(json.loads(beside.KEPT.read_text())))
