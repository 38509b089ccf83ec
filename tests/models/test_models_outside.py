# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Our core decides as other people's code did, but for the differences that its page declares."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.models.outside import HEAD, NAMES, head, load, otherwise


@pytest.mark.parametrize("name", NAMES)
def test_each_decision_is_the_other_code_s_where_the_declared_differences_are_mapped(
    name: str,
) -> None:
    for of in load(name):
        assert len(of.mapped) > 300
        assert otherwise(of.ours(), of.mapped) == 0, of.case.rows


@pytest.mark.parametrize("name", NAMES)
def test_the_declared_differences_decide_something(name: str) -> None:
    assert sum(otherwise(of.ours(), of.unmapped) for of in load(name)) > 300


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("column", "by"), [("seed", 1), ("now_ns", 2)])
def test_other_draws_and_slower_arrivals_are_noticed(name: str, column: str, by: int) -> None:
    differ = 0
    for of in load(name):
        slow = of.case.events.copy()
        slow["now_ns"] *= by
        changed = {"seed": of.case.seed + by} if column == "seed" else {"events": slow}
        differ += otherwise(replace(of, case=replace(of.case, **changed)).ours(), of.mapped)
    assert differ > 100


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_says_where_it_is_from(name: str) -> None:
    assert all(len(head(name)[key]) > 40 for key in HEAD)
