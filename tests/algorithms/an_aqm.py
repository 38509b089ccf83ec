# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""an_aqm: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import ClassVar

import pytest

from models.an_aqm import AnAqm
from models.queue import Discipline, Judge, Packet
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, plain, probability, within
from tests.models.generator import Draws
from tests.models.inputs import MS, SECOND
from tests.models.library import LINK_BYTES_S, Case

# aqm.h: 64 ticks of an empty queue, and an_aqm.c runs 384 more; 1024 of a stuck one.
BOUNDS = {"rest_after": 64 + 384, "stuck_after": 1024}


# The core cuts inputs to 2^-36, d e p to 2^-40, weights to 2^-48, and takes p to 2^-56 where the
# model has it to 2^-32. All of this comes into the weights by a learning step, and each division by
# their total divides what they are off too: in all cases together it stays below 2^-28.
WEIGHTS_OFF = 2**-27


class Bounded(AnAqm):
    """Knows how far the core's p may be off since it was taken over."""

    p_off = 0.0

    def update(self, now_s: float) -> None:
        super().update(now_s)
        largest = max(abs(x) for x in self.inputs)
        self.p_off += self.gain * (largest * WEIGHTS_OFF + 4 * 2**-36)


class BesideAnAqm(Beside):
    """p is kept in Q0.56 and read in Q0.32; the rate is read in whole bytes/s."""

    algorithm = "an_aqm"
    defaults: ClassVar = {
        "qref": 50,
        "gain": round(0.01 * 2**32),
        "learning": round(0.0001 * 2**32),
        "interval": 6_250_000,
    }
    settings: ClassVar = (
        {"qref": 5, "gain": 2**26, "learning": 2**26, "interval": 10 * MS},
        {"qref": 300, "gain": 2**22, "learning": 2**22, "interval": MS},
        {"qref": 1, "gain": 2**20, "learning": 2**32 - 1, "interval": 30 * MS},
        {"qref": 20, "gain": 2**32 - 1, "learning": 2**24, "interval": SECOND},
        {"qref": 2, "gain": 2**16, "learning": 0, "interval": MS},
    )
    signalling: ClassVar = (
        {"qref": 3, "gain": 2**27},
        {"qref": 10, "gain": 2**26, "learning": 2**24, "interval": 10 * MS},
    )
    changes: ClassVar = (
        {"interval": SECOND, "gain": 2**26},
        {"interval": 6_250_000, "qref": 5},
        {"interval": 100 * MS, "learning": 2**24},
        {"interval": 7 * MS, "bandwidth": 900_000},
        {"gain": 2**22, "interval": 300 * MS, "bandwidth": 1_250_000},
    )
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "rate": plain, "by_queue": probability}

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return rows.get("interval", 6_250_000), 0

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Bounded(
            capacity=rows.get("bandwidth", LINK_BYTES_S),
            q_ref=rows["qref"],
            gain=rows["gain"] * Q32_UNIT,
            learning=rows["learning"] * Q32_UNIT,
            interval_s=rows["interval"] * NS,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **BOUNDS,
            **common(case, judge),
        )

    def change(self, model: Bounded, now_s: float, row: str, value: int) -> None:
        if row == "interval":
            model.change_tupdate(now_s, value * NS)
        elif row == "bandwidth":
            model.capacity = value
        elif row == "qref":
            model.q_ref = value
        else:
            setattr(model, row, value * Q32_UNIT)

    def slack(self, model: Bounded) -> dict[str, float]:
        return {"signal": Q32_UNIT + model.p_off}

    def state(self, model: Bounded, wakes: int) -> list[tuple[float, float]]:
        return [
            (model.p, Q32_UNIT + model.p_off),
            (model.rate - 0.5, 0.5 + 1e-9 * model.rate),
            (sum(abs(w) for w in model.weights[:3]), Q32_UNIT + WEIGHTS_OFF),
        ]

    def resync(self, model: Bounded, core: list[float]) -> None:
        model.p = within(model.p, core[0])
        model.p_off = Q32_UNIT


BESIDE = BesideAnAqm()


def updated(model: AnAqm, *, queue: int, came: int) -> float:
    """p behind one more update."""
    model.waiting = [Packet(number, 1000) for number in range(queue)]
    model.came = came
    model.update(model.updated_s + model.tupdate_s)
    return model.p


def test_an_aqm_steps() -> None:
    """By hand: Q_ref 50, K 0.01, d 0.0001, 10 kB an interval at the link's rate.

    1. e 1, mismatch 1: all inputs are 1, p is 0.01, and no weight changes beside the others.
    2. e 0.5, mismatch 0: inputs -0.5, 0.5, -1.5, -1, 0, -2, and p falls by 0.01 * 4.5 / 6. Each
    weight gains 1.25e-7 of its input; their sum is then 1 - 5.625e-7.
    3. e -0.5, mismatch 0: inputs -1, -0.5, -0.5, 0, 0, 1; -0.01 / 6 to a part in a million.
    """
    model = AnAqm(capacity=1e6, interval_s=0.01)
    assert updated(model, queue=100, came=20_000) == pytest.approx(0.01, abs=1e-15)
    assert model.weights == pytest.approx([1 / 6] * 6, abs=1e-15)
    assert updated(model, queue=75, came=10_000) == pytest.approx(0.0025, abs=1e-15)
    gained = (-0.5, 0.5, -1.5, -1, 0, -2)
    after = [(1 / 6 + 1.25e-7 * x) / (1 - 5.625e-7) for x in gained]
    assert model.weights == pytest.approx(after, abs=1e-15)
    assert updated(model, queue=25, came=10_000) == pytest.approx(0.0025 - 0.01 / 6, abs=1e-8)


def test_an_aqm_forgets_at_rest_and_learns_nothing_at_0() -> None:
    """An empty queue: e -1, mismatch -1, so p falls by 0.01 / 3 an update from 0.5 on, and less
    than 200 updates later it is 0 for good."""
    model = AnAqm(capacity=1e6, interval_s=0.01)
    model.p = 0.5
    for _ in range(200):
        updated(model, queue=0, came=0)
    weights = list(model.weights)
    assert model.p == 0
    updated(model, queue=0, came=0)
    assert model.p == 0
    assert model.weights == pytest.approx(weights, abs=1e-15)


@pytest.mark.parametrize(
    ("weights", "inputs", "after"),
    [
        # d e p is 1/2: 0.5 + 1, held at 1, and -0.5 - 3, held at -1.
        ([0.5, -0.5, 0, 0, 0, 0], [2, -6, 0, 0, 0, 0], [0.5, -0.5, 0, 0, 0, 0]),
        ([0.5, 0.5, 0, 0, 0, 0], [-1, 0, 1, 0, 0, 0], [0, 0.5, 0.5, 0, 0, 0]),
        # Hardly anything is left: divided by 1/16.
        ([0.5, 0.5, 0, 0, 0, 0], [-1, -0.9375, 0, 0, 0, 0], [0, 0.5, 0, 0, 0, 0]),
    ],
)
def test_an_aqm_holds_its_weights(
    weights: list[float], inputs: list[float], after: list[float]
) -> None:
    model = AnAqm(capacity=1e6, learning=0.5)
    model.p, model.weights, model.inputs = 1.0, weights, inputs
    model.learn(1.0)
    assert model.weights == pytest.approx(after, abs=1e-15)
