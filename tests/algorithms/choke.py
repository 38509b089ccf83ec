# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""choke: model and C side by side, and worked examples of RED's laws."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.choke import Choke
from models.queue import Act, Discipline, Judge, Packet, Why
from models.red import RedAverage, RedProbability
from tests.algorithms.red import (
    IdleWhenAsked,
    LinuxAverage,
    LinuxProbability,
    WitnessedAverage,
    average_off,
    check_red,
    packet_time_s,
)
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, plain, probability
from tests.models.generator import Draws
from tests.models.library import Case
from tests.models.ring import OnRing, cells
from tests.models.witnessed import (
    ARRIVED,
    ASKED,
    BEGAN,
    CHOKE_WORDS,
    CLOCK_NS,
    FLOW_KEYS,
    RED,
    RED_WORDS,
    XSTATS,
    AsRecorded,
    Child,
    Row,
    Words,
)


class ChokeOnRing(OnRing, Choke):
    """Draws as the core does."""


class BesideChoke(Beside):
    """p inherits the error of the average."""

    algorithm = "choke"
    defaults: ClassVar = {
        "min": 100,
        "max": 200,
        "probability": round(0.02 * 2**32),
        "weight": 9,
        "avpkt": 1000,
    }
    settings: ClassVar[tuple[Rows, ...]] = (
        {"min": 5, "max": 15, "weight": 4, "probability": 2**29},
        {
            "min": 20,
            "max": 60,
            "weight": 1,
            "probability": 2**32 - 1,
            "bandwidth": 125_000,
            "limit_bytes": 30_000,
        },
        {"limit": 1024, "min": 400, "max": 900, "weight": 7},
    )
    signalling: ClassVar = (
        {"min": 5, "max": 60, "probability": 1 << 29, "weight": 4},
        {"min": 2, "max": 30, "weight": 2},
    )
    refused: ClassVar = ({"min": 10, "max": 10},)
    signal_if_below: ClassVar = {"signal": True, "max": True}
    columns: ClassVar = {"average": plain, "prob": probability, "matched": plain}

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return ChokeOnRing(
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

    def slack(self, model: Choke) -> dict[str, float]:
        p = self.slope_error(model)
        spread = max(1e-3, 1 - (model.red.count + 1) * model.slope) ** 2
        off = average_off(model.average)
        return {"min": off, "max": off, "signal": 2 * p / spread}

    def slope_error(self, model: Choke) -> float:
        """An error of the average, along RED's slope."""
        red = model.red
        return 2 * Q32_UNIT + red.max_p * average_off(model.average) / (red.max_th - red.min_th)

    def state(self, model: Choke, wakes: int) -> list[tuple[float, float]]:
        # the statistic is cut to whole packets
        return [
            (model.average.average - 0.5, 0.5 + average_off(model.average)),
            (model.slope, self.slope_error(model)),
            (model.matched, 0),
        ]


BESIDE = BesideChoke()


class LinuxChoke(IdleWhenAsked, ChokeOnRing):
    """sch_choke.c: as LinuxRed (red.py) where it is RED. Which packet was drawn is known where it
    matched; else it was one of another flow, and how often that was to be expected is counted."""

    def __init__(self, average: LinuxAverage, **rest: Any) -> None:
        super().__init__(draws=Draws(1), cells=1 << 20, packet_time_s=1.0, weight=0.5, **rest)
        red = self.red
        self.uniform = lambda: 0.0
        self.average = average
        self.red = LinuxProbability(red.min_th, red.max_th, red.max_p)
        self.flow = self.victim = 0
        # The chance of a match, and whether there was one.
        self.matches: list[tuple[float, bool]] = []

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.flow = packet.flow
        act = super().on_arrival(now_s, packet)
        if self.reason is Why.THRESHOLD:
            self.red.count = -1
        return act

    def drawn(self, waiting: list[Packet]) -> int:
        cells = len(self.slots)
        holes = self.slots.count(None) / cells
        alike = sum(p is not None and p.flow == self.flow for p in self.slots) / cells
        p = alike * (1 + holes + holes**2) + holes**3 * (waiting[0].flow == self.flow)
        self.matches.append((p, self.victim != 0))
        if self.victim:
            return next(n for n, packet in enumerate(waiting) if packet.number == self.victim)
        others = (n for n, packet in enumerate(waiting) if packet.flow != self.flow)
        other = next(others, None)
        assert other is not None, "whatever is drawn matches, kernel has no match"
        return other


class WitnessedChoke(WitnessedAverage):
    """Packet by packet, with the whole state. A flow is what its headers say: skb_get_hash() names
    a socket, and anew after a timeout. With `harddrop`, since ours never marks above `max`."""

    WLOG, MIN, MAX, MAX_P, LIMIT = 4, 10, 30, 0.1, 1000

    shows: ClassVar = XSTATS | RED | FLOW_KEYS
    words: ClassVar[Words] = (("matched", 16, "u4"), *RED_WORDS, *CHOKE_WORDS)
    changes: ClassVar = (
        ("ns", ARRIVED, 2_000_000),
        ("average", ARRIVED, 1),
        ("drawn", ARRIVED, 100),
        ("matched", ARRIVED, 1),
        ("keys", ARRIVED, 1),
        ("packet", ASKED, 1),
        ("drops", ASKED, 1),
    )

    def __init__(self) -> None:
        self.before: Row = {}

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        [self.before] = [row for row in rows if row["kind"] == BEGAN]
        model = LinuxChoke(
            self.average(),
            min_th=self.MIN,
            max_th=self.MAX,
            max_p=self.MAX_P,
            limit_pkts=self.LIMIT,
            ecn=child.ecn,
            judge=judge,
        )
        judge.draws = model.matches
        return model

    def flow(self, row: Row) -> int:
        return row["keys"]

    def now_ns(self, row: Row) -> int:
        return row["ns"] - CLOCK_NS

    def begin(self, model: LinuxChoke, row: Row) -> None:
        model.average.begin(row)
        model.red.drawn = self.before["drawn"]
        model.victim = row["victim"]

    def check(self, model: LinuxChoke, row: Row) -> None:
        check_red(model, row, self.WLOG)
        have = model.matched
        assert have == row["matched"], f"matched {have}, kernel {row['matched']}"
        self.before = row

    def figures(self, model: LinuxChoke) -> str:
        return f"{model.matched} matched; {model.average.figures()}"


WitnessedChoke.children = {
    # harddrop, and ECN
    "choke": WitnessedChoke.child(WitnessedChoke.LIMIT, flags=2, ecn=False),
    "choke-ecn": WitnessedChoke.child(WitnessedChoke.LIMIT, flags=2 | 1, ecn=True),
}
WITNESSED = WitnessedChoke


def test_red_average_ages_while_idle() -> None:
    """By the two packets that could have left, and not by the one that comes; figure 2. By half of
    one along a straight line."""
    average = RedAverage(
        weight=0.25, packet_time_s=0.001, average=8.0, idle_since_s=1.0, before=8.0
    )
    assert average.update(1.002, 0) == pytest.approx(8 * 0.75**2)
    assert average.update(1.002, 1) == pytest.approx(8 * 0.75**3 + 0.25)
    average.empties(2.0)
    before = average.average
    assert average.update(2.0005, 0) == pytest.approx(before * 0.875)
    assert average.update(2.0010, 0) == pytest.approx(before * 0.875**2)


def test_red_spreads_signals_evenly() -> None:
    red = RedProbability(5, 15, 0.1)
    found = [red.early(red.slope(10)) for _ in range(21)]
    assert found[0] == pytest.approx(0.05)
    assert found[1] == pytest.approx(0.05 / 0.95)
    assert found[19] == pytest.approx(1.0)
    assert found[20] == 1.0


def test_choke_compares_also_where_the_queue_is_full() -> None:
    """Weight one half: the average is 11 + 2^-12 when twelve wait, and 11.5 at the next arrival."""
    choke = Choke(
        min_th=11.25,
        max_th=200,
        max_p=0.02,
        weight=0.5,
        packet_time_s=1.0,
        draw=lambda waiting: 5,
        uniform=lambda: 0.99,
        limit_pkts=12,
    )
    for number in range(12):
        assert not choke.arrive(0.0, Packet(number, 1000, flow=7)).dropped
    assert choke.arrive(0.0, Packet(12, 1000, flow=7)).dropped == [12]
    assert choke.average.average == 11 + 2**-12
    assert choke.arrive(0.0, Packet(13, 1000, flow=7)).dropped == [5, 13]
    assert choke.matched == 1
