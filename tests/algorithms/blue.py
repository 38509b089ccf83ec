# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""blue: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import ClassVar

import pytest

from models.blue import Blue
from models.queue import Discipline, Judge, Packet
from tests.models.beside import NS, Q32_UNIT, Beside, common, compare, probability
from tests.models.generator import Draws
from tests.models.inputs import MS, Phase, Stream
from tests.models.library import Case, core


class BesideBlue(Beside):
    """p moves by whole numbers of 2^-32; the largest number is 1."""

    algorithm = "blue"
    defaults: ClassVar = {
        "increment": round(0.0025 * 2**32),
        "decrement": round(0.00025 * 2**32),
        "freeze": 100 * MS,
        "threshold": 0,
    }
    settings: ClassVar = (
        {"increment": 2**28, "decrement": 2**26, "freeze": 10 * MS, "threshold": 30},
        {"increment": 2**32 - 1, "decrement": 1, "freeze": 50 * MS, "limit": 40},
        {"increment": 2**26, "decrement": 2**27, "freeze": MS, "threshold": 5},
    )
    signalling: ClassVar = (
        {"increment": 2**27, "decrement": 2**24, "freeze": 10 * MS, "threshold": 10},
        {"increment": 2**28, "decrement": 2**28, "freeze": 20 * MS, "threshold": 20},
    )
    in_flows: ClassVar = {}
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability}
    lacks: ClassVar = frozenset({"pause", "forget"})

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Blue(
            d1=rows["increment"] * Q32_UNIT,
            d2=rows["decrement"] * Q32_UNIT,
            freeze_s=rows["freeze"] * NS,
            threshold=rows["threshold"] or None,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Blue) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def state(self, model: Blue, wakes: int) -> list[tuple[float, float]]:
        return [(model.p, 2 * Q32_UNIT)]


BESIDE = BesideBlue()


def test_blue_takes_down_an_idle_link_when_a_packet_comes() -> None:
    """A packet that is larger than the queue changes nothing."""
    model = Blue(d1=0.1, d2=0.01, freeze_s=1.0, limit_bytes=1000, uniform=lambda: 1.0)
    model.p = 0.5
    model.request(2.0)
    model.arrive(22.0, Packet(0, 1001))
    assert model.p == pytest.approx(0.49)
    model.arrive(22.0, Packet(1, 1000))
    assert model.p == pytest.approx(0.29)


def test_blue_meets_packets_that_are_too_large_on_an_idle_link() -> None:
    """p grows in an overload of smaller ones, and comes down while the link idles."""
    s = Stream(1).add(Phase(1.0, 3.0, sizes=(590,))).add(Phase(5.0, 0.05, sizes=(1514,)))
    case = Case(
        "blue",
        "blue",
        {"limit_bytes": 1500, "freeze": 10 * MS, "increment": 2**28, "decrement": 2**22},
        s.events(),
    )
    assert compare(BESIDE, case, core().replay(case)).sent > 50


def test_blue_rises_and_falls_once_in_a_freeze_time() -> None:
    """By hand: d1 0.1, d2 0.01, 1 s."""
    model = Blue(d1=0.1, d2=0.01, freeze_s=1.0, threshold=0, uniform=lambda: 1.0)
    found = []
    for now_s in (0.9, 1.1, 1.5, 2.2):
        model.arrive(now_s, Packet(0, 1000))
        model.rise(now_s)
        found.append(model.p)
    assert found == pytest.approx([0, 0.1, 0.1, 0.2])
    while model.waiting:
        model.request(2.3)
    found = []
    for now_s in (2.4, 2.9, 3.4, 3.9, 5.0, 6.3, 6.5):
        model.request(now_s)
        found.append(model.p)
    # Idle from 2.4 on, changed at 2.2: at 3.4, and then each second.
    assert found == pytest.approx([0.2, 0.2, 0.19, 0.19, 0.18, 0.17, 0.16], abs=1e-9)
