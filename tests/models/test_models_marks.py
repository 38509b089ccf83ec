# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What marks alone do to senders that ignore them: each page says it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.algorithms import ALGORITHMS
from tests.models.inputs import MS, SECOND, answered
from tests.models.library import ARRIVE, DROPPED, EVENT, MARKED, REQUEST, Case, Events, core

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference/algorithms"
HEADING = "## Marks in an overload\n"
SECONDS = 60
ECT0 = 2


def overload() -> Events:
    """Each millisecond the link takes a packet, and two come: three of four may be marked."""
    rows = []
    for ms in range(SECONDS * 1000):
        rows.append((ms * MS, ARRIVE, 1 << 28, 1250, ECT0))
        rows.append((ms * MS, ARRIVE, 2 << 28, 1250, ms % 2 * ECT0))
        rows.append((ms * MS, REQUEST, 0, 0, 0))
    return np.array(rows, EVENT)


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "fifo"])
def test_the_page_says_it_where_marks_alone_do_not_hold_an_overload(name: str) -> None:
    events = answered(overload(), 1) if ALGORITHMS[name].probes else overload()
    replay = core().replay(Case(name, name, {"limit": 1000, "ecn": 1}, events))
    late = replay.out[events["now_ns"][replay.out["event"]] > (SECONDS - 20) * SECOND]
    dropped = late["why"][late["what"] == DROPPED]
    at_the_limit = sum(replay.reasons[why] in ("limit", "fat") for why in dropped)
    marks_alone = (late["what"] == MARKED).any() and at_the_limit > 0.4 * len(dropped)
    assert (HEADING in (PAGES / f"{name}.md").read_text()) == marks_alone
