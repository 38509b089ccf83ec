# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""rem: model and C side by side, and worked examples."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import pytest

from models.queue import Discipline, Judge, Packet
from models.rem import Rem
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, plain, probability
from tests.models.generator import Draws
from tests.models.inputs import MS, SECOND
from tests.models.library import LINK_BYTES_S, Case
from tests.models.witnessed import ARRIVED, ASKED, NS2, AsRecorded, Child, Row, Witnessed

# Above, a price cannot be told from the probability.
SURE = 0.999


class BesideRem(Beside):
    """Packets are cut to 2^-12, so each update may lose gamma times three of these."""

    algorithm = "rem"
    defaults: ClassVar = {
        "qref": 20,
        "gamma": round(0.001 * 2**32),
        "alpha": round(0.1 * 2**32),
        "phi": round(0.001 * 2**32),
        "interval": 2 * MS,
        "avpkt": 1000,
        "bytes": 0,
        "growth": 0,
    }
    settings: ClassVar = (
        {"qref": 5, "gamma": 2**29, "alpha": 2**30, "interval": 10 * MS, "avpkt": 1500},
        {"bytes": 1, "avpkt": 1400, "gamma": 2**27, "interval": 5 * MS},
        {"phi": 2**18, "gamma": 2**32 - 1, "interval": 5 * MS},
        {"phi": 2**31, "gamma": 2**25, "alpha": 2**31, "qref": 0, "interval": 20 * MS},
        {"gamma": 2**32 - 1, "alpha": 2**32 - 1, "qref": 60, "interval": SECOND, "bytes": 1},
        {"growth": 1, "gamma": 2**29, "qref": 5, "interval": 10 * MS},
        {"growth": 1, "bytes": 1, "avpkt": 700, "gamma": 2**28, "alpha": 2**31},
    )
    signalling: ClassVar = (
        {"qref": 3, "gamma": 2**28},
        {"bytes": 1, "qref": 10, "gamma": 2**29, "alpha": 2**31, "interval": 10 * MS},
    )
    changes: ClassVar = (
        {"interval": SECOND, "gamma": 2**31},
        {"interval": 2 * MS, "qref": 5},
        {"interval": 100 * MS, "alpha": 2**31},
        {"interval": 7 * MS, "bandwidth": 900_000},
        {"gamma": 2**22, "interval": 300 * MS, "bandwidth": 1_250_000},
        # A price far above that at which the second one's probability is 1.
        {"phi": 2**20, "gamma": 2**31, "interval": 20 * MS},
        {"phi": 2**31},
        {"phi": round(0.001 * 2**32), "gamma": 2**24},
    )
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"price": plain, "prob": probability}
    lacks: ClassVar = frozenset({"pause", "forget", "changes"})

    def __init__(self) -> None:
        # Updates of a model when it took over the core's price.
        self.taken: dict[int, int] = {}

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return rows.get("interval", 2 * MS), 0

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Rem(
            capacity=rows.get("bandwidth", LINK_BYTES_S),
            q_ref=rows["qref"],
            gamma=rows["gamma"] * Q32_UNIT,
            alpha=rows["alpha"] * Q32_UNIT,
            phi=1 + rows["phi"] * Q32_UNIT,
            interval_s=rows["interval"] * NS,
            mean_packet=rows["avpkt"],
            in_bytes=bool(rows["bytes"]),
            by_growth=bool(rows["growth"]),
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def change(self, model: Rem, now_s: float, row: str, value: int) -> None:
        if row == "interval":
            model.change_tupdate(now_s, value * NS)
        elif row == "bandwidth":
            model.capacity = value
        elif row == "phi":
            model.bound(1 + value * Q32_UNIT)
        elif row == "qref":
            model.q_ref = value
        else:
            setattr(model, row, value * Q32_UNIT)

    def error(self, model: Rem) -> float:
        """Of the price: what the updates since it was taken over may have lost, and 2^-32 of p."""
        updates = model.wakes - self.taken.get(id(model), 0)
        seen = 2 * Q32_UNIT / self.slope(model, model.price) if model.probability() < SURE else 0
        all_of_them = 0 if model.probability() < SURE else model.wakes
        return model.gamma * 3 * 2**-12 * max(updates, all_of_them) + seen + 1e-9

    def slope(self, model: Rem, price: float) -> float:
        """Of the probability over the price."""
        return math.log(model.phi) * math.pow(model.phi, -price)

    def steepness(self, model: Rem) -> float:
        """Of the probability over the price, where it is steepest in reach."""
        least = max(model.price - self.error(model), 0.0)
        return self.slope(model, least)

    def slack(self, model: Rem) -> dict[str, float]:
        size = 2 if model.in_bytes else 1
        return {"signal": size * (2 * Q32_UNIT + self.error(model) * self.steepness(model))}

    def state(self, model: Rem, wakes: int) -> list[tuple[float, float]]:
        error = self.error(model)
        return [
            (model.price - 0.5, 0.5 + error),
            (model.probability(), 2 * Q32_UNIT + error * self.steepness(model)),
        ]

    def resync(self, model: Rem, core: list[float]) -> None:
        if 0 < core[1] < SURE:
            model.price = -math.log1p(-core[1]) / math.log(model.phi)
            self.taken[id(model)] = model.wakes


BESIDE = BesideRem()


class WitnessedRem(Witnessed):
    """Every draw of ns-2's queue, at the probability that it traces; without marks, which it sets
    at the departure."""

    of = NS2
    children: ClassVar = {"rem": Child({}), "rem-bytes": Child({})}
    changes: ClassVar = (("packet", ASKED, 1), ("drops", ASKED, 1), ("ns", ARRIVED, 4 * MS))

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        # As in tests/models/ns2_rem.tcl. A packet that fills its queue is refused.
        in_bytes = child is self.children["rem-bytes"]
        limit: dict[str, Any] = (
            {"limit_bytes": 60 * 1000 - 1} if in_bytes else {"limit_pkts": 60 - 1}
        )
        return Rem(
            capacity=10e6 / 8,
            gamma=0.5,
            interval_s=0.004,
            in_bytes=in_bytes,
            judge=judge,
            uniform=lambda: 0.5,
            **limit,
        )

    def check(self, model: Any, row: Row) -> None:
        assert model.probability() == pytest.approx(row["prob_e12"] * 1e-12, rel=5e-6, abs=1e-12)


WITNESSED = WitnessedRem


@pytest.mark.parametrize(
    ("price", "came", "queue", "after", "p"),
    [
        (0, 30, 40, 0.007, 6.996e-6),
        (100, 30, 40, 100.007, 0.0951237),
        (1000, 25, 20, 1000, 0.6319367),
        (5000, 10, 0, 4999.983, 0.9932451),
    ],
)
def test_rem_step(price: float, came: int, queue: int, after: float, p: float) -> None:
    """By another program: gamma 0.001, alpha 0.1, b* 20, c 25 packets an update."""
    model = Rem(capacity=12.5e6, uniform=lambda: 1.0)
    for number in range(queue):
        model.join(Packet(number, 1000))
    model.price, model.came = price, came
    model.update(0.002)
    assert model.price == pytest.approx(after, abs=1e-9)
    assert model.probability() == pytest.approx(p, rel=2e-4)


@pytest.mark.parametrize(
    ("price", "before", "queue", "after"),
    [(0, 30, 40, 0.011), (100, 40, 40, 100.002), (100, 40, 0, 99.962), (0.01, 20, 9, 0)],
)
def test_rem_step_by_the_growth_of_the_queue(
    price: float, before: int, queue: int, after: float
) -> None:
    """By hand: gamma 0.001, alpha 0.1, b* 20; 10 + 0.1 (30 - 20) = 11."""
    model = Rem(capacity=12.5e6, by_growth=True, uniform=lambda: 1.0)
    for number in range(queue):
        model.join(Packet(number, 1000))
    model.price, model.queue_before, model.came = price, before, 99
    model.update(0.002)
    assert model.price == pytest.approx(after, abs=1e-9)
    assert model.queue_before == queue
