# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""dualpi2: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import ClassVar

import pytest

from models.dualpi2 import DualPi2
from models.queue import Discipline, Judge, Packet
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, probability, seconds
from tests.models.inputs import MS
from tests.models.library import Case

WRR, TS_FIFO = range(2)
NOT_ECT, ECT1, ECT0, CE = range(4)


class BesideDualPi2(Beside):
    """p' and the counts are kept in Q0.48; credits and times are exact."""

    algorithm = "dualpi2"
    defaults: ClassVar = {
        "target": 15 * MS,
        "tupdate": 16 * MS,
        "alpha": 41,
        "beta": 819,
        "coupling": 2,
        "min_th": 800_000,
        "range": 400_000,
        "th_len": 1,
        "spared": 2,
        "scheduler": WRR,
        "classic_share": 2**28,
        "tshift": 50 * MS,
        "limit": 10_000,
        "ecn": 1,
    }
    settings: ClassVar = (
        {
            "target": 2 * MS,
            "tupdate": MS,
            "alpha": 0,
            "beta": 401,
            "min_th": MS,
            "range": 0,
            "spared": 0,
        },
        {"scheduler": TS_FIFO, "tshift": 7 * MS, "target": 60 * MS, "min_th": 20 * MS, "th_len": 5},
        {"coupling": 1, "classic_share": 2**31, "alpha": 2000, "beta": 1, "range": 30 * MS},
        {
            "coupling": 7,
            "classic_share": 429496730,
            "th_len": 0,
            "limit": 80,
            "alpha": 300,
            "spared": 7,
        },
    )
    signalling: ClassVar = (
        {"target": 2 * MS, "tupdate": 5 * MS, "alpha": 400, "beta": 4000},
        {"target": 8 * MS, "scheduler": TS_FIFO, "tshift": 3 * MS, "range": 0, "coupling": 3},
    )
    signal_if_below: ClassVar = {"count": True}
    columns: ClassVar = {
        "prob": probability,
        "prob_classic": probability,
        "prob_coupled": probability,
        "delay": seconds,
    }
    resets_in_order = False
    # Times of whole milliseconds: a count that meets 1 meets it again and again.
    tie_share = 0.005

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return DualPi2(
            k=rows["coupling"],
            target_s=rows["target"] * NS,
            tupdate_s=rows["tupdate"] * NS,
            alpha_hz=rows["alpha"] / 256,
            beta_hz=rows["beta"] / 256,
            min_th_s=rows["min_th"] * NS,
            range_s=rows["range"] * NS,
            th_len=rows["th_len"],
            spared=rows["spared"],
            classic_share=rows["classic_share"] * Q32_UNIT,
            tshift_s=rows["tshift"] * NS if rows["scheduler"] == TS_FIFO else None,
            mtu=case.mtu,
            # Longer ones count as this: 2^32 ns.
            longest_s=2**32 * NS,
            start_s=case.start_ns * NS,
            **common(case, judge),
        )

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return rows.get("tupdate", self.defaults["tupdate"]), 0

    # Thousands of updates, of each of which the float's times know 2^-53 of a minute.
    error = 1e-9

    def slack(self, model: DualPi2) -> dict[str, float]:
        # A count takes such an error with each of tens of thousands of packets.
        return {"count": 1e-6}

    def state(self, model: DualPi2, wakes: int) -> list[tuple[float, float]]:
        error = self.error + Q32_UNIT
        coupled = min(model.p_cl, 1.0)
        return [
            (model.base, error),
            (model.p_c, 2 * error),
            (coupled, model.k * error),
            (model.prev_s, NS / 2),
        ]


BESIDE = BesideDualPi2()


def test_dualpi2_updates_its_base_probability() -> None:
    """Figure 8 by hand: alpha 0.16, beta 3.2, target 15 ms, updates of 16 ms."""
    model = DualPi2(ecn=True)
    model.arrive(0.0, Packet(0, 1500))
    model.arrive(0.010, Packet(1, 1500, ect=True, ecn=ECT1))
    expected = [
        # 0.16 (16 - 15) ms + 3.2 * 16 ms; the same at 32 ms: 0.16 * 17 ms + 3.2 * 16 ms
        0.05136,
        0.05136 + 0.05392,
    ]
    for number, p in enumerate(expected, 1):
        model.advance(0.016 * number)
        assert model.base == pytest.approx(p)
        assert model.p_cl == pytest.approx(2 * p)
        assert model.p_c == pytest.approx(p * p)
    # Empty: -0.16 * 15 ms - 3.2 * 32 ms, and then -0.16 * 15 ms each time.
    model.request(0.040)
    model.request(0.040)
    model.advance(0.048)
    assert model.base == pytest.approx(0.10528 - 0.0024 - 0.1024)
    model.advance(0.064)
    assert model.base == 0


@pytest.mark.parametrize(
    ("delay_us", "p"), [(700, 0), (800, 0), (900, 0.25), (1100, 0.75), (1200, 1), (5000, 1)]
)
def test_dualpi2_marks_along_a_ramp(delay_us: float, p: float) -> None:
    assert DualPi2().laqm(delay_us * 1e-6) == pytest.approx(p)


def test_dualpi2_s_ramp_may_be_a_step() -> None:
    model = DualPi2(range_s=0)
    assert [model.laqm(us * 1e-6) for us in (799, 800, 801)] == [0, 1, 1]


def test_dualpi2_spreads_signals_without_chance() -> None:
    """Figure 4: at 0.3 the sum goes beyond 1 at packets 4, 7, 11: 1.2, 1.1, 1.3."""
    model = DualPi2()
    assert [n for n in range(1, 12) if model.recur(model.cq, 0.3)] == [4, 7, 11]


def filled(ecn: int, count: int) -> DualPi2:
    model = DualPi2(ecn=True)
    model.start_s = 1e9
    for number in range(count):
        model.arrive(0.0, Packet(number, 1000, ect=ecn != NOT_ECT, ecn=ecn))
    return model


@pytest.mark.parametrize(
    ("ecn", "base", "marked", "dropped"),
    [
        # p_C = 0.16.
        (NOT_ECT, 0.4, 0, 16),
        (ECT0, 0.4, 16, 0),
        # p_CL = 0.8.
        (ECT1, 0.4, 80, 0),
        # Overload, p_C = 0.36: drops whatever it carries; what is left of L4S is marked.
        (NOT_ECT, 0.6, 0, 36),
        (ECT0, 0.6, 0, 36),
        (ECT1, 0.6, 64, 36),
        (CE, 0.6, 64, 36),
    ],
)
def test_dualpi2_couples_its_queues(ecn: int, base: float, marked: int, dropped: int) -> None:
    model = filled(ecn, 100)
    model.base, model.p_cl, model.p_c = base, 2 * base, base**2
    marks, drops = [], []
    while model.waiting:
        found = model.request(0.0)
        marks += found.marked
        drops += found.dropped
    # The last one is due when the sum is exactly whole.
    assert len(marks) == pytest.approx(marked, abs=1)
    assert len(drops) == pytest.approx(dropped, abs=1)


def test_dualpi2_does_not_mark_a_packet_that_is_alone() -> None:
    for count, marks in ((1, 0), (2, 1)):
        model = filled(ECT1, count)
        model.lq.count = 0.5
        assert len(model.request(0.002).marked) == marks


def both(tshift_s: float | None = None) -> DualPi2:
    """Packets 0, 2, 4 ... are Classic, the others L4S."""
    model = DualPi2(ecn=True, mtu=1000, tshift_s=tshift_s)
    model.start_s = 1e9
    for number in range(200):
        ecn = number % 2
        model.arrive(number * 1e-6, Packet(number, 1000, ect=ecn == 1, ecn=ecn))
    return model


def test_dualpi2_gives_classic_a_sixteenth() -> None:
    """The credit of a packet is 15/16 of 1000 bytes: earned with 15 packets of L4S."""
    model = both()
    sent = [model.request(0.0).sent for _ in range(64)]
    assert [n for n, number in enumerate(sent) if number is not None and number % 2 == 0] == [
        15,
        31,
        47,
        63,
    ]


def test_dualpi2_time_shifts_its_fifo() -> None:
    """Classic goes when it waits for 10 us more than L4S: packet 0 before packet 11."""
    model = both(tshift_s=10e-6)
    sent = [model.request(0.001).sent for _ in range(8)]
    assert sent == [1, 3, 5, 7, 9, 0, 11, 2]
