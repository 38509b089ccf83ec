# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""avq: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.avq import Avq
from models.queue import Act, Discipline, Judge, Packet
from tests.models.beside import NS, Q32_UNIT, Beside, common, plain
from tests.models.library import LINK_BYTES_S, Case
from tests.models.witnessed import ARRIVED, ASKED, NS2, AsRecorded, Child, Row, Witnessed


class BesideAvq(Beside):
    """Bytes and bytes per second are kept to 2^-20, which adds up over a virtual busy period."""

    algorithm = "avq"
    defaults: ClassVar = {
        "gamma": round(0.98 * 2**32),
        "alpha": round(0.15 * 2**32),
        "buffer": 0,
        "accepted": 0,
    }
    settings: ClassVar = (
        {"buffer": 200_000, "alpha": 2**30},
        {"limit": 130, "limit_bytes": 250_123, "bandwidth": 1_300_000},
        {"gamma": 2**31, "alpha": 2**32 - 1, "buffer": 180_000, "bandwidth": 900_000},
        {"gamma": 2**32 - 1, "alpha": 1, "buffer": 2100, "bandwidth": 10**9},
        {"buffer": 100_000, "alpha": 2**29, "bandwidth": 1 << 40},
        {"buffer": 60_000, "accepted": 1},
        {"buffer": 20_000, "accepted": 1, "alpha": 2**31, "limit": 40, "bandwidth": 900_000},
    )
    signalling: ClassVar = (
        {"buffer": 15_000},
        {"buffer": 40_000, "alpha": 1 << 31, "accepted": 1},
    )
    changes: ClassVar = (
        {"bandwidth": 125_000, "buffer": 20_000},
        {"bandwidth": 1_250_000},
        {"bandwidth": 1_000_000, "alpha": 2**31},
        {"bandwidth": 1 << 41},
        {"bandwidth": 600_000, "gamma": 2**31, "buffer": 60_000},
    )
    signal_if_below: ClassVar = {"buffer": True}
    columns: ClassVar = {"virtual_rate": plain, "virtual_queue": plain}
    tie_share = 0.005
    lacks: ClassVar = frozenset({"pause", "changes"})

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Avq(
            capacity=rows.get("bandwidth", LINK_BYTES_S),
            gamma=rows["gamma"] * Q32_UNIT,
            alpha=rows["alpha"] * Q32_UNIT,
            buffer=rows["buffer"] or None,
            accepted=bool(rows["accepted"]),
            mtu=case.mtu,
            start_s=case.start_ns * NS,
            **common(case, judge),
        )

    def change(self, model: Avq, now_s: float, row: str, value: int) -> None:
        if row == "bandwidth":
            model.link = value
        elif row == "buffer":
            model.buffer = value
        else:
            setattr(model, row, value * Q32_UNIT)

    # 60,000 arrivals; and floats, whose 2^-53 of a rate of 2^40 is more.
    error = 60_000 * 2**-20

    def slack(self, model: Avq) -> dict[str, float]:
        return {"buffer": self.error}

    def state(self, model: Avq, wakes: int) -> list[tuple[float, float]]:
        # The statistics are cut to whole numbers.
        rate = self.error + model.capacity * 2**-40
        return [
            (model.virtual_rate - 0.5, 0.5 + rate),
            (model.virtual_queue - 0.5, 0.5 + self.error),
        ]


BESIDE = BesideAvq()

# Its `ecnlim_`, of C.
NS2_BEGINS = 0.8
CE = 3


class Ns2Avq(Avq):
    """ns-2.35's, queue/vq.cc, by an author of the paper."""

    def __init__(self, *, marks: bool, **common: Any) -> None:
        super().__init__(accepted=True, **common)
        self.marks = marks
        self.virtual_rate = NS2_BEGINS * self.capacity
        self.begun = False

    def arrived(self, now_s: float, packet: Packet) -> bool:
        """Its clocks begin with the first packet; with marks it drops none."""
        if not self.begun:
            self.begun = True
            self.adapted_s = self.last_s = now_s
        return self.virtual_arrival(now_s, packet.size, self.marks)

    def adapt(self, since_s: float, size: int) -> None:
        """Bounded by C after alpha b is taken, not before."""
        grown = self.alpha * self.gamma * self.capacity * since_s
        moved = self.virtual_rate + grown - self.alpha * size
        self.virtual_rate = max(min(moved, self.capacity), 0.0)

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """With marks, what cannot be marked is let in."""
        act = super().on_arrival(now_s, packet)
        return Act.PASS if self.marks and not packet.ect else act


class WitnessedAvq(Witnessed):
    """Every decision of ns-2's queue. Departures move nothing that AVQ knows."""

    of = NS2
    children: ClassVar = {"avq": Child({}), "avq-ecn": Child({}, ecn=True)}
    changes: ClassVar = (
        ("ns", ARRIVED, 2_000_000),
        ("len", ARRIVED, 40),
        ("packet", ASKED, 1),
        ("drops", ASKED, 1),
    )

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        # As in tests/models/ns2_avq.tcl.
        limit = 30 * 1000
        rate: dict[str, Any] = {"capacity": 10e6 / 8, "buffer": 0.8 * limit}
        self.printed = Avq(**rate)
        self.printed.virtual_rate = NS2_BEGINS * self.printed.capacity
        self.unlike = 0
        return Ns2Avq(marks=child.ecn, limit_bytes=limit, ecn=child.ecn, judge=judge, **rate)

    def begin(self, model: Any, row: Row) -> None:
        if row["kind"] != ARRIVED:
            return
        now_s = self.now_ns(row) * NS
        if not model.begun:
            self.printed.last_s = self.printed.adapted_s = now_s
        signal = self.printed.virtual_arrival(now_s, row["len"])
        self.unlike += signal != (not row["let_in"] or row["ecn_after"] == CE)

    def figures(self, model: Any) -> str:
        """How far the pseudo-code is, on the same arrivals."""
        return f"the pseudo-code, begun at 0.8 C, decides otherwise {self.unlike} times"


WITNESSED = WitnessedAvq


def test_avq_follows_its_pseudo_code() -> None:
    """C 1000, gamma 0.9, alpha 0.5, B 2500; worked by hand, arrival by arrival."""
    model = Avq(capacity=1000, gamma=0.9, alpha=0.5, buffer=2500, ecn=True)
    # t - s, b; then VQ, C~, and whether the packet is marked.
    for since_s, size, queue, rate, marked in (
        (1.0, 1000, 1000, 500, False),  # C~ = 1000 - 500
        (1.0, 1000, 1500, 450, False),  # VQ = 500 + 1000; C~ = min(950, 1000) - 500
        (0.0, 1000, 2500, 0, False),  # exactly B is no overflow; C~ = 450 - 500, at least 0
        (0.5, 100, 2500, 175, True),  # nothing drains; C~ = 225 - 50
        (2.0, 350, 2500, 900 + 175 - 75 - 175, False),  # VQ = 2150 + 350; C~ = 1000 - 175
        (10.0, 300, 300, 850, False),  # C~ = min(5325, 1000) - 150
    ):
        now_s = model.last_s + since_s
        found = model.arrive(now_s, Packet(0, size, ect=True))
        assert bool(found.marked) == marked
        assert model.virtual_queue == pytest.approx(queue)
        assert model.virtual_rate == pytest.approx(rate)


def test_avq_holds_the_load_at_gamma() -> None:
    """The virtual capacity rests where the arrivals are gamma C."""
    model = Avq(capacity=1e6, buffer=30_000)
    for number in range(20_000):
        model.virtual_arrival(number * 1000 / (0.98e6), 1000)
    assert model.virtual_rate == pytest.approx(1e6 - 150, abs=1)
