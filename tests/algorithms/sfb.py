# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""sfb: model and C side by side."""

from __future__ import annotations

from typing import ClassVar

import pytest

from models.queue import Discipline, Judge, Packet
from models.sfb import Penalty, Sfb
from tests.models.beside import NS, Q32_UNIT, Beside, common, plain, probability
from tests.models.generator import Draws, spread
from tests.models.inputs import MS, SECOND
from tests.models.library import Case


class BesideSfb(Beside):
    """Bins move by the same Q0.32 steps on both sides, so p is exact but for the float's sum."""

    algorithm = "sfb"
    defaults: ClassVar = {
        "increment": 66 * 2**16,
        "decrement": 11 * 2**16,
        "bin_target": 20,
        "bin_max": 25,
        "penalty_rate": 10,
        "penalty_burst": 20,
        "rehash": 600 * 10**9,
        "warmup": 60 * 10**9,
    }
    settings: ClassVar = (
        {
            "bin_target": 3,
            "bin_max": 60,
            "increment": 2**26,
            "decrement": 2**22,
            "rehash": SECOND,
            "warmup": SECOND // 2,
            "penalty_rate": 2,
            "penalty_burst": 7,
        },
        {
            "bin_target": 2,
            "bin_max": 200,
            "increment": 2**30,
            "decrement": 2**29 + 1,
            "rehash": SECOND,
            "warmup": 0,
            "penalty_rate": 0,
        },
    )
    signalling: ClassVar = (
        {"bin_target": 5, "bin_max": 30, "increment": 1 << 26, "rehash": 1000 * MS, "warmup": MS},
        {"bin_target": 3, "bin_max": 9, "penalty_rate": 100, "penalty_burst": 5},
    )
    refused: ClassVar = (
        {"bin_target": 26, "bin_max": 25},
        {"rehash": 2 * SECOND, "warmup": 2 * SECOND},
    )
    accepted: ClassVar = ({"bin_target": 25, "bin_max": 25},)
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "penalised": plain}

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        seed = spread(case.seed)

        def place(era: int, flow: int) -> list[int]:
            word = spread(spread((seed + 2 * era) % 2**64) ^ flow)
            return [word >> 4 * level & 15 for level in range(8)]

        return Sfb(
            place=place,
            increment=rows["increment"] * Q32_UNIT,
            decrement=rows["decrement"] * Q32_UNIT,
            bin_target=rows["bin_target"],
            bin_max=rows["bin_max"],
            penalty_pps=rows["penalty_rate"],
            penalty_burst=rows["penalty_burst"],
            rehash_s=rows["rehash"] * NS,
            warmup_s=rows["warmup"] * NS,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Sfb) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def state(self, model: Sfb, wakes: int) -> list[tuple[float, float]]:
        # one is 1 - 2^-32 there, and steps down from it
        return [(model.p, 2 * Q32_UNIT), (model.penalised, 0)]


BESIDE = BesideSfb()


def bad_flows(sfb: Sfb, now_s: float, arrivals: int, flow: int = 0) -> int:
    """So many packets of a flow at one moment; how many are let in."""
    first = len(sfb.waiting)
    for number in range(arrivals):
        sfb.arrive(now_s, Packet(1000 * flow + first + number, 1000, flow))
    return len(sfb.waiting) - first


def one_level(increment: float = 1.0) -> Sfb:
    """Two bins; in every other era flows 0 and 1 change places. Who may be lucky is."""
    return Sfb(
        place=lambda era, flow: [(flow + era // 2) % 2],
        levels=1,
        bins=2,
        bin_target=1,
        bin_max=10**6,
        rehash_s=10,
        warmup_s=5,
        increment=increment,
        decrement=0.0,
        uniform=lambda: 0.99,
    )


def test_sfb_s_penalty_box_keeps_fractions() -> None:
    """100 arrivals at 0.07 s from each other earn 0.7 packets each, behind two at once."""
    box = Penalty(rate_pps=10, burst=2, tokens=2, counted_s=0.0)
    assert sum(box.allows(0.07 * number) for number in range(101)) == 2 + 70


def test_sfb_learns_only_of_who_does_not_respond() -> None:
    sfb = one_level(increment=0.01)
    bad_flows(sfb, 6.0, 20)
    assert sfb.p == pytest.approx(0.19)
    assert not any(b.p or b.length for b in sfb.sets[0][0])
    sfb = one_level()
    bad_flows(sfb, 6.0, 4)
    assert [(b.p, b.length) for b in sfb.sets[0][0]] == [(0.0, 0), (1.0, 3)]


def test_sfb_keeps_its_bins_when_the_hash_changes() -> None:
    sfb = one_level()
    bad_flows(sfb, 0.0, 2)
    bad_flows(sfb, 10.0, 1)
    assert sfb.p == 0
    bad_flows(sfb, 20.0, 1)
    assert sfb.p == 0, "flow 0 has another bin now"
    bad_flows(sfb, 20.0, 1, flow=1)
    assert sfb.p == 1, "and flow 1 the one that was flow 0's"
