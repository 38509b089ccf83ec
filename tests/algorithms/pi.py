# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""pi: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.pi import Pi
from models.queue import Discipline, Judge, Packet
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, plain, probability, within
from tests.models.generator import Draws
from tests.models.inputs import MS, SECOND
from tests.models.library import Case
from tests.models.witnessed import ARRIVED, ASKED, NS2, AsRecorded, Child, Row, Witnessed


class BesidePi(Beside):
    """p is kept in Q0.56, without a loss, and read in Q0.32."""

    algorithm = "pi"
    defaults: ClassVar = {"qref": 50, "a": 78254, "b": 77997, "interval": 5_882_353}
    settings: ClassVar = (
        {"qref": 5, "a": 2**22, "b": 2**22 - 2**17, "interval": 2 * MS},
        {"qref": 1, "a": 2**32 - 1, "b": 2**32 - 1, "interval": 30 * MS},
        {"qref": 40, "a": 2**20, "b": 0, "interval": SECOND},
    )
    refused: ClassVar = ({"a": 78253, "b": 78254},)
    signalling: ClassVar = (
        {"qref": 3, "a": 2**21, "b": 2**21 - 2**17},
        {"qref": 10, "a": 2**23, "b": 2**23 - 2**18, "interval": 20 * MS},
    )
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {"prob": probability, "queue": plain}
    lacks: ClassVar = frozenset({"pause", "forget", "changes"})

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return rows.get("interval", self.defaults["interval"]), 0

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Pi(
            q_ref=rows["qref"],
            a=rows["a"] * Q32_UNIT,
            b=rows["b"] * Q32_UNIT,
            interval_s=rows["interval"] * NS,
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def slack(self, model: Pi) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def state(self, model: Pi, wakes: int) -> list[tuple[float, float]]:
        return [(model.p, 2 * Q32_UNIT + 1e-9), (model.q_old, 0)]

    def resync(self, model: Pi, core: list[float]) -> None:
        model.p = within(model.p, core[0])


BESIDE = BesidePi()


class WitnessedPi(Witnessed):
    """Every draw of ns-2's queue, at the probability that it traces."""

    of = NS2
    children: ClassVar = {"pi": Child({}), "pi-ecn": Child({}, ecn=True)}
    changes: ClassVar = (("packet", ASKED, 1), ("drops", ASKED, 1), ("ns", ARRIVED, 5 * MS))

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        # As in tests/models/ns2_pi.tcl.
        return Pi(
            q_ref=20,
            a=0.0005,
            b=0.00048,
            interval_s=1 / 200,
            limit_pkts=60,
            ecn=child.ecn,
            judge=judge,
            uniform=lambda: 0.5,
        )

    def check(self, model: Any, row: Row) -> None:
        assert model.p == pytest.approx(row["prob_e12"] * 1e-12, rel=5e-6, abs=1e-12)


WITNESSED = WitnessedPi


@pytest.mark.parametrize(
    ("p", "queue", "old", "after"),
    [(0, 100, 50, 9.11e-4), (0.01, 60, 60, 0.0100006), (0.001, 0, 90, 0)],
)
def test_pi_step(p: float, queue: int, old: int, after: float) -> None:
    """By hand, with ns-2's gains: 1.822e-5, 1.816e-5, q_ref 50."""
    model = Pi(uniform=lambda: 1.0)
    for number in range(queue):
        model.join(Packet(number, 1000))
    model.p, model.q_old = p, old
    model.update(0)
    assert model.p == pytest.approx(after, abs=1e-12)
