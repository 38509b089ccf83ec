# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""lqd: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import ClassVar

import pytest

from models.lqd import Lqd
from models.queue import Discipline, Judge, Packet, Why
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, probability, within
from tests.models.generator import Draws
from tests.models.inputs import MS, SECOND
from tests.models.library import Case


class BesideLqd(Beside):
    """p is kept in Q8.56 and read in Q0.32, the loss rate is cut to Q0.32."""

    algorithm = "lqd"
    defaults: ClassVar = {
        "qref": 24,
        "pref": 0,
        "a": round(0.0001 * 2**32),
        "b": round(0.1 * 2**32),
        "interval": MS,
    }
    settings: ClassVar = (
        {"qref": 5, "pref": 2**26, "a": 2**22, "b": 2**30, "interval": 10 * MS},
        {"qref": 240},
        {"qref": 1, "a": 2**32 - 1, "b": 2**32 - 1, "pref": 2**31, "interval": 30 * MS},
        {"qref": 40, "pref": 2**32 - 1, "a": 2**20, "b": 0, "interval": SECOND},
    )
    signalling: ClassVar = (
        {"qref": 2, "a": 2**21},
        {"qref": 10, "pref": 2**25, "interval": 5 * MS, "a": 2**22},
    )
    # Several arrivals of a flow come in an interval, and some make room for others.
    in_flows: ClassVar = {"interval": 50 * MS, "qref": 4}
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "loss": probability}

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return rows.get("interval", MS), 0

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Lqd(
            q_ref=rows["qref"],
            p_ref=rows["pref"] * Q32_UNIT,
            a=rows["a"] * Q32_UNIT,
            b=rows["b"] * Q32_UNIT,
            interval_s=rows["interval"] * NS,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Lqd) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def state(self, model: Lqd, wakes: int) -> list[tuple[float, float]]:
        # A step loses a cut of the loss rate, times b, and 2^-56.
        return [
            (model.p, (2 + min(wakes, 2) * model.b) * Q32_UNIT + wakes * 2**-56 + 1e-9),
            (model.loss, Q32_UNIT),
        ]

    def resync(self, model: Lqd, core: list[float]) -> None:
        model.p = within(model.p, core[0])


BESIDE = BesideLqd()


@pytest.mark.parametrize(
    ("p", "queue", "loss", "after"),
    [
        (0, 74, 0, 0.005),
        (0.05, 74, 0.05, 0.05),
        (0.05, 24, 0.08, 0.042),
        (0.001, 0, 0, 0),
        (0.999, 200, 0, 1),
    ],
)
def test_lqd_step(p: float, queue: int, loss: float, after: float) -> None:
    """By hand: a 0.0001, b 0.1, q_ref 24, p_ref 0."""
    model = Lqd(uniform=lambda: 1.0)
    for number in range(queue):
        model.join(Packet(number, 1000))
    model.p, model.arrivals, model.lost = p, 100, round(100 * loss)
    model.update(0.001)
    assert model.p == pytest.approx(after, abs=1e-12)


def test_lqd_s_probability_falls_in_silence_whatever_p_ref() -> None:
    model = Lqd(uniform=lambda: 1.0, p_ref=0.1)
    model.p = 1.0
    for _ in range(417):
        model.update(0)
    assert model.p == 0


def test_lqd_counts_what_made_room_as_lost() -> None:
    model = Lqd(uniform=lambda: 1.0, q_ref=1)
    model.arrive(0.0, Packet(0, 1000))
    model.arrive(0.0, Packet(1, 1000))
    model.remove(0.0, 0, Why.FAT)
    model.update(0.001)
    assert model.loss == 0.5


def test_lqd_rests_where_both_terms_are_equal() -> None:
    """q = q_ref + b / a (l - p_ref): 4.9 % of loss let the queue stand at 73 packets."""
    model = Lqd(uniform=lambda: 1.0)
    for number in range(73):
        model.join(Packet(number, 1000))
    for _ in range(1000):
        model.arrivals, model.lost = 1_000_000, round(model.p * 1_000_000)
        model.update(0)
    assert model.p == pytest.approx(0.049, abs=1e-6)
