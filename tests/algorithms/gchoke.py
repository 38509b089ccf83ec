# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""gchoke: model and C side by side, with CHOKe beside it, and worked examples."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.gchoke import GChoke
from models.queue import Act, Discipline, Judge, Packet, Why
from tests.algorithms.choke import BesideChoke
from tests.algorithms.red import packet_time_s
from tests.models.beside import NS, Q32_UNIT, Rows, common
from tests.models.generator import Draws
from tests.models.inputs import gusts, overload, stopped
from tests.models.library import Case, Events, core
from tests.models.ring import OnRing, cells


class GChokeOnRing(OnRing, GChoke):
    """Draws as the core does: what an arrival has matched leaves when all trials are over, so that
    its slots are holes until then; where the head itself has matched, the trials end. The queue
    loses it from the tail on."""

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.at_first = list(self.slots)
        act = super().on_arrival(now_s, packet)
        self.outcome.dropped.sort(reverse=True)
        return act

    def drawn(self, waiting: list[Packet]) -> int | None:  # type: ignore[override]
        for _ in range(3):
            packet = self.at_first[self.draws.below(len(self.at_first))]
            if packet in waiting:
                return waiting.index(packet)
        head = self.at_first[0]
        return waiting.index(head) if head in waiting else None


class BesideGChoke(BesideChoke):
    """As CHOKe's."""

    algorithm = "gchoke"
    defaults: ClassVar = {**BesideChoke.defaults, "maxcomp": 4}
    settings: ClassVar = (
        {"min": 5, "max": 15, "weight": 4, "probability": 2**29, "maxcomp": 5},
        {
            "min": 20,
            "max": 60,
            "weight": 1,
            "probability": 2**32 - 1,
            "bandwidth": 125_000,
            "limit_bytes": 30_000,
            "maxcomp": 2,
        },
        {"limit": 1024, "min": 400, "max": 900, "weight": 7},
        {"min": 3, "max": 9, "weight": 4, "limit": 12, "maxcomp": 5},
    )

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return GChokeOnRing(
            maxcomp=rows["maxcomp"],
            min_th=rows["min"],
            max_th=rows["max"],
            max_p=rows["probability"] * Q32_UNIT,
            weight=2.0 ** -rows["weight"],
            packet_time_s=packet_time_s(rows),
            draws=Draws(case.seed),
            cells=cells(case),
            start_s=case.start_ns * NS,
            **common(case, judge),
        )


BESIDE = BesideGChoke()


@pytest.mark.parametrize("events", [overload(5), gusts(6), stopped(7)])
@pytest.mark.parametrize("rows", [{}, *BesideChoke.settings])
def test_gchoke_with_one_draw_is_choke(events: Events, rows: Rows) -> None:
    """Every decision of the core, with the same numbers drawn."""
    rows = {"limit": 1000, "ecn": 1} | dict(rows)
    choke = core().replay(Case("choke", "choke", rows, events, 5)).out
    ours = core().replay(Case("gchoke", "gchoke", rows | {"maxcomp": 1}, events, 5)).out
    assert ours.tolist() == choke.tolist()


def always(*places: int) -> Any:
    """Draws these places in turn."""
    left = list(places)
    return lambda waiting: left.pop(0)


def queue_of(flows: list[int], *places: int, maxcomp: int = 4) -> GChoke:
    """Packets of these flows wait, and the average is above `min`."""
    queue = GChoke(
        min_th=0.5,
        max_th=100,
        max_p=0.02,
        weight=1.0,
        packet_time_s=1.0,
        draw=always(*places),
        uniform=lambda: 0.99,
        maxcomp=maxcomp,
    )
    for number, flow in enumerate(flows):
        queue.join(Packet(number, 1000, flow=flow))
    return queue


def test_gchoke_draws_until_another_flow_is_met() -> None:
    queue = queue_of([7, 7, 8, 7], 3, 0, 1)
    done = queue.arrive(0.0, Packet(9, 1000, flow=7))
    assert done.dropped == [3, 0, 9]
    assert set(done.why.values()) == {Why.MATCH}
    assert [p.number for p in queue.waiting] == [1, 2]
    assert queue.matched == 1


def test_gchoke_draws_no_more_than_maxcomp() -> None:
    queue = queue_of([7] * 9, 0, 0, 0, 0, 0, maxcomp=3)
    assert queue.arrive(0.0, Packet(9, 1000, flow=7)).dropped == [0, 1, 2, 9]


def test_gchoke_takes_all_that_waits() -> None:
    queue = queue_of([7, 7], 0, 0)
    assert queue.arrive(0.0, Packet(9, 1000, flow=7)).dropped == [0, 1, 9]
    assert not queue.waiting
