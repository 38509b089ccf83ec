# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""red: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.queue import Discipline, Judge, Packet
from models.red import AdaptiveRed, Red, RedProbability
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, plain, probability
from tests.models.generator import Draws
from tests.models.inputs import MS
from tests.models.library import Case

CLASSIC, GENTLE, ADAPTIVE = range(3)


class Counting(Red):
    """Knows how many of what is counted make a packet."""

    def __init__(self, *, packet: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.packet = packet


class BesideRed(Beside):
    """The average is kept to 2^-16 of what is counted; p inherits that."""

    algorithm = "red"
    defaults: ClassVar = {
        "min": 5,
        "max": 15,
        "probability": round(0.02 * 2**32),
        "weight": 9,
        "avpkt": 1000,
        "mode": 0,
        "form": CLASSIC,
        "harddrop": 0,
        "tupdate": 500 * MS,
    }
    settings: ClassVar = (
        {"form": GENTLE, "min": 5, "max": 15, "weight": 4, "probability": 2**29, "harddrop": 1},
        {"mode": 1, "form": GENTLE, "min": 8, "max": 30, "weight": 5, "probability": 2**28},
        {
            "mode": 1,
            "min": 20,
            "max": 60,
            "weight": 1,
            "probability": 2**32 - 1,
            "bandwidth": 125_000,
            "limit_bytes": 60_000,
            "avpkt": 500,
            "harddrop": 1,
        },
        {
            "form": ADAPTIVE,
            "min": 10,
            "max": 30,
            "weight": 6,
            "probability": 2**24,
            "tupdate": 100 * MS,
        },
        {
            "form": ADAPTIVE,
            "mode": 1,
            "min": 3,
            "max": 400,
            "weight": 16,
            "probability": 2**32 - 1,
            "tupdate": 3 * MS,
            "limit": 1024,
        },
        {"limit": 60, "min": 1, "max": 2, "weight": 20, "probability": 1},
    )
    signalling: ClassVar = (
        {"min": 5, "max": 30, "probability": 1 << 29, "weight": 4, "form": 2, "tupdate": 10 * MS},
        {"min": 2, "max": 60, "weight": 2, "harddrop": 1, "mode": 1},
    )
    refused: ClassVar = (
        {"min": 10, "max": 10},
        {"mode": 1, "max": 1025, "avpkt": 65535},
    )
    accepted: ClassVar = (
        {"min": 10, "max": 11},
        {"mode": 1, "max": 1024, "avpkt": 65535},
        {"max": 1 << 17, "avpkt": 65535},
    )
    signal_if_below: ClassVar = {"signal": True, "top": False}
    columns: ClassVar = {"average": plain, "prob": probability, "max_prob": probability}

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        one = rows["avpkt"] if rows["mode"] else 1
        adaptive = AdaptiveRed(interval_s=rows["tupdate"] * NS)
        return Counting(
            packet=one,
            min_th=rows["min"] * one,
            max_th=rows["max"] * one,
            max_p=rows["probability"] * Q32_UNIT,
            weight=2.0 ** -rows["weight"],
            # tc's red: 10 Mbit/s where nobody knows the rate.
            packet_time_s=rows["avpkt"] / rows.get("bandwidth", 1_250_000),
            gentle=rows["form"] == GENTLE,
            adaptive=adaptive if rows["form"] == ADAPTIVE else None,
            by_bytes=bool(rows["mode"]),
            largest_packet=case.mtu,
            hard_drop=bool(rows["harddrop"]),
            start_s=case.start_ns * NS,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return (rows["tupdate"], 0) if rows.get("form") == ADAPTIVE else None

    def slack(self, model: Red) -> dict[str, float]:
        # Figure 2: p_a is below 1 only where 1 - count p_b is above p_b.
        p = model.p_packet
        spread = max(p, 1 - model.red.count * p, 1e-3) ** 2
        signal = self.slope_error(model) / spread
        return {"top": self.average_error(model), "signal": signal + Q32_UNIT}

    def average_error(self, model: Red) -> float:
        """What is counted is kept to 2^-16; to age by m packets, with an error of m 2^-32, is to
        forget all but (1 - weight)^m of it."""
        average = model.average
        return 2**-16 + average.average * 2**-32 / average.weight

    def slope_error(self, model: Red) -> float:
        """An error of the average, along the slope; max_p may have moved since."""
        red = model.red
        steep = (0.51 if model.adaptive else red.max_p) / (red.max_th - red.min_th)
        if model.gentle and model.average.average >= red.max_th:
            steep = (1 - red.max_p) / red.max_th
        return 4 * Q32_UNIT + self.average_error(model) * steep

    def state(self, model: Counting, wakes: int) -> list[tuple[float, float]]:
        # The statistic is cut to whole packets.
        average = model.average.average
        return [
            (average / model.packet - 0.5, 0.5 + self.average_error(model)),
            (model.p_b, self.slope_error(model)),
            (model.red.max_p, 2 * (1 + wakes) * Q32_UNIT),
        ]

    def resync(self, model: Red, core: list[float]) -> None:
        if model.adaptive:
            model.red.max_p = core[2]


BESIDE = BesideRed()


def signals(draws: float, **rows: Any) -> list[int]:
    """Of 12 packets that find nobody served, with every drawn number the same."""
    model = Red(min_th=2, max_th=6, max_p=0.5, weight=1.0, uniform=lambda: draws, **rows)
    found = [model.arrive(0.0, Packet(n, 1000, ect=True)) for n in range(12)]
    return [n for n, outcome in enumerate(found) if outcome.dropped or outcome.marked]


def test_red_signals_as_figure_2_says() -> None:
    """Weight 1: avg is the queue. It is 2, 3, 4 at packets 2, 3, 4: p_b 0, 1/8, 1/4 and p_a 0,
    1/7, 1/2. Packet 4 is dropped, count is 0: the next find avg 4, and p_a 1/3."""
    assert signals(0.3) == [4, 5, 6, 7, 8, 9, 10, 11]
    # Packet 5 is let in. Avg 5, p_b 3/8: at count 2 p_a is 1, at count 1 it is 3/5.
    assert signals(0.4) == [4, 6, 7, 8, 9, 10, 11]
    # Packet 4 is let in too; 5 comes at avg 5 and count 3, 6 at count 1, and then avg is 6.
    assert signals(0.7) == [5, 7, 8, 9, 10, 11]


def test_red_marks_are_let_in_and_avg_reaches_max() -> None:
    """With marks the queue grows: from avg 6 on each packet gets the signal."""
    assert signals(0.99, ecn=True) == [5, 6, 7, 8, 9, 10, 11]
    model = Red(min_th=2, max_th=6, max_p=0.5, weight=1.0, uniform=lambda: 0.99, ecn=True)
    model.hard_drop = True
    found = [model.arrive(0.0, Packet(n, 1000, ect=True)) for n in range(12)]
    assert [o.marked for o in found[5:7]] == [[5], []]
    assert [o.dropped for o in found[6:]] == [[n] for n in range(6, 12)]


@pytest.mark.parametrize(("average", "p_b"), [(5, 0), (10, 0.05), (15, 0.1), (22.5, 0.55), (30, 1)])
def test_red_goes_gently_from_max_to_twice_max(average: float, p_b: float) -> None:
    assert RedProbability(5, 15, 0.1).gently(average) == pytest.approx(p_b)


def test_red_spares_small_packets_where_it_counts_bytes() -> None:
    """avg is 4,000 bytes, p_b 1/4: of 300 of 1,500 bytes 1/20."""
    for size, p_a in ((1500, 0.25), (300, 0.05)):
        draws: list[float] = []
        model = Red(min_th=2000, max_th=6000, max_p=0.5, weight=1.0, by_bytes=True)
        model.bytes, model.average.idle_since_s = 4000, None
        for u in (p_a - 1e-9, p_a + 1e-9):
            model.uniform = lambda u=u: u  # type: ignore[misc]
            model.red.count = -1
            draws.append(len(model.arrive(0.0, Packet(0, size)).dropped))
            model.bytes = 4000
        assert draws == [1, 0]


@pytest.mark.parametrize(
    ("max_p", "average", "after"),
    [
        (0.1, 12, 0.11),
        (0.02, 12, 0.025),
        (0.1, 8, 0.09),
        (0.1, 10, 0.1),
        (0.5, 12, 0.51),
        (0.51, 12, 0.51),
        (0.01, 8, 0.009),
        (0.009, 8, 0.009),
    ],
)
def test_adaptive_red_moves_max_p(max_p: float, average: float, after: float) -> None:
    """Thresholds 5 and 15: the average is aimed at 9 to 11."""
    assert AdaptiveRed().next(max_p, average, 5, 15) == pytest.approx(after)
