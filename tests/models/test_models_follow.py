# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The models do on recorded arrivals what Linux's and ns-2's own queues did; no C takes part."""

from __future__ import annotations

from types import ModuleType

import pytest

from models.codel import CoDel
from models.pie import Pie
from tests.algorithms import codel, pie
from tests.models import ns2
from tests.models.follow import CHILDREN, KINDS, follow
from tests.models.witnessed import FOLDER, load, with_times

NAMES = sorted(CHILDREN)
CHANGES = [
    (name, *change)
    for name, (kind, _) in sorted(CHILDREN.items())
    for change in KINDS[kind].changes
]


def test_what_is_recorded_is_followed() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.npz")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_model_does_what_was_recorded(name: str) -> None:
    found = follow(name, load(name))
    assert found.events > 10_000
    assert found.drops > 30
    assert (found.marks > 10) == CHILDREN[name][1].ecn
    if found.draws:
        assert abs(found.surprise()) < 4


@pytest.mark.parametrize(
    ("module", "form", "exact"), [(codel, "LinuxCoDel", CoDel), (pie, "LinuxPie", Pie)]
)
def test_the_exact_form_is_told_from_linux_s(
    module: ModuleType, form: str, exact: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, form, exact)
    name = module.BESIDE.algorithm
    with pytest.raises(AssertionError, match=r"kernel|recorded"):
        follow(name, load(name))


@pytest.mark.deep
@pytest.mark.parametrize("name", ns2.NAMES)
def test_ns2_does_again_what_is_kept(name: str) -> None:
    kept, anew = load(name), with_times(ns2.record(name))
    assert follow(name, anew).drops > 30
    assert all((kept[column] == values).all() for column, values in anew.items()), ns2.__doc__


@pytest.mark.parametrize(("name", "column", "kind", "change"), CHANGES)
def test_changed_records_are_noticed(name: str, column: str, kind: int, change: int) -> None:
    recorded = load(name)
    late = (recorded["kind"] == kind) & (recorded["drops"] > 5) & (recorded["packet"] > 0)
    changed = recorded[column].copy()
    changed[late] += changed.dtype.type(change)
    recorded[column] = changed
    with pytest.raises(AssertionError):
        follow(name, recorded)
