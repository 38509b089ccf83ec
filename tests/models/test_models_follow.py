# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The models do on recorded arrivals what Linux's own qdiscs did; the C core takes no part."""

from __future__ import annotations

import pytest

from models.codel import CoDel
from models.pie import Pie
from tests.models import follow as this
from tests.models.follow import KINDS, follow
from tests.models.witnessed import ARRIVED, ASKED, FOLDER, load

NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))


def test_each_kind_is_recorded_with_and_without_ecn() -> None:
    assert sorted(name for kind in KINDS for name in (kind, f"{kind}-ecn")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_model_does_what_the_kernel_did(name: str) -> None:
    found = follow(name, load(name))
    assert found.events > 10_000
    assert found.drops > 30
    assert (found.marks > 10) == name.endswith("-ecn")
    if found.draws:
        assert abs(found.surprise()) < 4


@pytest.mark.parametrize(("name", "exact"), [("codel", CoDel), ("pie", Pie)])
def test_the_exact_form_is_told_from_linux_s(
    name: str, exact: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(this, f"Linux{'CoDel' if exact is CoDel else 'Pie'}", exact)
    with pytest.raises(AssertionError, match="kernel"):
        follow(name, load(name))


@pytest.mark.parametrize(
    ("column", "kind", "change"),
    [
        ("ns", ASKED, 2_000_000),
        ("ns", ARRIVED, 2_000_000),
        ("packet", ASKED, 1),
        ("drops", ASKED, 1),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_changed_records_are_noticed(name: str, column: str, kind: int, change: int) -> None:
    recorded = load(name)
    late = (recorded["kind"] == kind) & (recorded["drops"] > 5) & (recorded["packet"] > 0)
    changed = recorded[column].copy()
    changed[late] += changed.dtype.type(change)
    recorded[column] = changed
    with pytest.raises(AssertionError):
        follow(name, recorded)
