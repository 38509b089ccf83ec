# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""red: model and C side by side, and worked examples."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from models.queue import Act, Discipline, Judge, Packet, Why
from models.red import AdaptiveRed, Red, RedAverage, RedProbability, RedQueue
from tests.models.beside import NS, Q32_UNIT, Beside, Rows, common, plain, probability
from tests.models.generator import Draws
from tests.models.inputs import MS
from tests.models.library import Case
from tests.models.witnessed import (
    ARRIVED,
    ASKED,
    BEGAN,
    CLOCK_NS,
    NS2,
    RED,
    RED_WORDS,
    XSTATS,
    AsRecorded,
    Child,
    Row,
    Witnessed,
    Words,
)

CLASSIC, GENTLE, ADAPTIVE = range(3)
# tc's red takes 10 Mbit/s without a known rate.
_TC_BYTES_S = 1_250_000


def packet_time_s(rows: Mapping[str, int]) -> float:
    """Return the time in which a mean packet is sent, as RED's average ages over an idle link."""
    return rows["avpkt"] / rows.get("bandwidth", _TC_BYTES_S)


def average_off(average: RedAverage) -> float:
    """How far the core's average may be from the model's. An update rounds by less than 2^-36 and
    forgets `weight` of what was rounded before. To age by m packets, with an error of m 2^-32, is
    to forget all but (1 - weight)^m; by a part of one, which has 28 bits, that part of `weight`.
    With weight 1 both are the queue."""
    if average.weight == 1:
        return 0.0
    return (2**-36 + average.average * 2**-32) / average.weight + average.average * 2**-24


class Counting(Red):
    """Knows how many of what is counted make a packet."""

    def __init__(self, *, packet: int, **rest: Any) -> None:
        super().__init__(**rest)
        self.packet = packet


class BesideRed(Beside):
    """p inherits the error of the average."""

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
        # Over a minute of a link that stops the average is too long in every update.
        {"form": ADAPTIVE, "min": 1, "max": 3, "weight": 1, "tupdate": 20 * MS},
        # DCTCP's step, by the queue of the moment.
        {"min": 20, "max": 20, "weight": 0},
        {"form": GENTLE, "min": 7, "max": 7, "weight": 0, "probability": 2**31, "mode": 1},
        {"form": ADAPTIVE, "min": 9, "max": 9, "weight": 3, "tupdate": 40 * MS},
    )
    signalling: ClassVar = (
        {"min": 5, "max": 30, "probability": 1 << 29, "weight": 4, "form": 2, "tupdate": 10 * MS},
        {"min": 2, "max": 60, "weight": 2, "harddrop": 1, "mode": 1},
    )
    refused: ClassVar = (
        {"min": 11, "max": 10},
        {"mode": 1, "max": 1025, "avpkt": 65535},
        # one packet more than 64 MiB
        {"mode": 1, "max": 65537, "avpkt": 1024},
    )
    accepted: ClassVar = (
        {"min": 10, "max": 10},
        {"mode": 1, "max": 1024, "avpkt": 65535},
        {"mode": 1, "max": 65536, "avpkt": 1024},
        {"max": 1 << 17, "avpkt": 65535},
    )
    signal_if_below: ClassVar = {"signal": True, "top": False}
    reason_of_signal: ClassVar = {"top": Why.THRESHOLD}
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
            packet_time_s=packet_time_s(rows),
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
        # An exact average is no tie, even at its bound.
        return {"top": average_off(model.average) or -1.0, "signal": signal + Q32_UNIT}

    def slope_error(self, model: Red) -> float:
        """An error of the average, along the slope; max_p may have moved since."""
        red = model.red
        # With equal thresholds there is no slope between them.
        span = red.max_th - red.min_th or math.inf
        steep = (0.51 if model.adaptive else red.max_p) / span
        if model.gentle and model.average.average >= red.max_th:
            steep = (1 - red.max_p) / red.max_th
        return 4 * Q32_UNIT + average_off(model.average) * steep

    def state(self, model: Counting, wakes: int) -> list[tuple[float, float]]:
        # The statistic is cut to whole packets.
        average = model.average.average
        return [
            (average / model.packet - 0.5, 0.5 + average_off(model.average)),
            (model.p_b, self.slope_error(model)),
            (model.red.max_p, 2 * (1 + wakes) * Q32_UNIT),
        ]

    def resync(self, model: Red, core: list[float]) -> None:
        if model.adaptive:
            model.red.max_p = core[2]


BESIDE = BesideRed()


class LinuxAverage(RedAverage):
    """red.h of the kernel. Of an idle queue the average falls by a power of two from a table of
    256 cells of time, and along a straight line in the first of them. What its integers lose in a
    step is at most a unit of their last place; behind that the kernel's number is taken over."""

    ONE_CELL_US = 4096

    def __init__(self, wlog: int, packet_time_s: float) -> None:
        super().__init__(2.0**-wlog, packet_time_s, idle_since_s=None)
        halving_us = packet_time_s * 1e6 / -math.log2(1 - self.weight)
        self.shifts = [min(31, int(n * self.ONE_CELL_US / halving_us)) for n in range(255)] + [31]
        self.exact = RedAverage(self.weight, packet_time_s)
        self.kernel = 0.0
        # Of each idle time: seconds, the average before it, ours behind it, the kernel's.
        self.idled: list[tuple[float, float, float, float]] = []

    def begin(self, row: Row) -> None:
        """What the kernel's average is behind this arrival."""
        self.kernel = row["average"] * self.weight

    def update(self, now_s: float, length: float) -> float:
        was, since = self.average, self.idle_since_s
        own = super().update(now_s, length)
        self.idle_since_s = None
        assert abs(own - self.kernel) <= 1.01 * self.weight, f"avg {own}, kernel {self.kernel}"
        if since is not None and was:
            self.exact.before, self.exact.idle_since_s = was, since
            self.idled.append((now_s - since, was, self.exact.at(now_s), self.kernel))
        self.average = self.kernel
        return self.average

    def at(self, now_s: float) -> float:
        if self.idle_since_s is None:
            return self.average
        us = min(round((now_s - self.idle_since_s) / NS) // 1000, 255 * self.ONE_CELL_US)
        shift = self.shifts[us // self.ONE_CELL_US]
        if shift:
            return self.average * 2.0**-shift
        return self.average * max(0.5, 1 - us / self.ONE_CELL_US)

    def figures(self) -> str:
        """What idle times leave of an average of which there was something."""
        left = [(s, own / was, kernel / was) for s, was, own, kernel in self.idled if was >= 1]
        own, kernel = (sum(column) / len(left) for column in list(zip(*left, strict=True))[1:])
        most = max(left, key=lambda each: abs(each[1] - each[2]))
        return (
            f"{len(left)} idle times leave {own:.3f} of the average, kernel {kernel:.3f}; "
            f"furthest, {most[0] * 1e3:.2f} ms: {most[1]:.3f}, {most[2]:.3f}"
        )


class LinuxProbability(RedProbability):
    """The form without a division of 1993, figure 17: R is drawn once and a packet is signalled
    when count p_b has come to R. The kernel's R is what it drew; count begins one later than in
    figure 2, and the average counts in whole packets or bytes."""

    def __init__(self, min_th: float, max_th: float, max_p: float) -> None:
        super().__init__(min_th, max_th, max_p)
        self.drawn = 0.0
        # What figure 2 gives this packet, and whether it was signalled.
        self.draws: list[tuple[float, bool]] = []

    def slope(self, average: float) -> float:
        return self.max_p * math.floor(average - self.min_th) / (self.max_th - self.min_th)

    def early(self, p_b: float) -> float:
        self.count += 1
        if self.count == 0 or p_b == 0:
            hit = self.count > 0 >= self.drawn
        else:
            bound = self.drawn * self.max_p / (self.max_th - self.min_th)
            hit = self.count * p_b >= bound * (1 - 1e-9)
            self.draws.append((min(1.0, p_b / max(p_b, 1 - (self.count - 1) * p_b)), hit))
        return float(hit)


class Drawn(AsRecorded):
    """Chance has been recorded: nothing is left to decide."""

    def below(self, what: str, value: float, bound: float) -> bool:
        return value < bound


def check_red(model: Any, row: Row, wlog: int) -> None:
    """count, average and since when the queue is idle."""
    since = model.average.idle_since_s
    have = model.red.count, model.average.average * 2**wlog, since and round(since / NS)
    want = row["count"], row["average"], row["idle_since_ns"] or None
    assert have == want, f"count, average, idle since {have}, kernel {want}"


class IdleWhenAsked(RedQueue):
    """The kernel's link is idle from a dequeue request that finds nothing."""

    average: LinuxAverage
    red: LinuxProbability

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is None and self.average.idle_since_s is None:
            self.average.idle_since_s = now_s
        return packet

    def note_empty(self, now_s: float) -> None:
        return


class LinuxRed(IdleWhenAsked, Red):
    """sch_red.c: bytes, whatever a packet's size; count is -1 behind a forced signal; the limit
    comes last."""

    def __init__(self, average: LinuxAverage, **rest: Any) -> None:
        super().__init__(uniform=lambda: 0.0, **rest)
        red = self.red
        self.average = average
        self.red = LinuxProbability(red.min_th, red.max_th, red.max_p)
        self.gentle = False

    def measure(self, now_s: float) -> float:
        return self.average.update(now_s, self.bytes)

    def decide(self, packet: Packet, average: float) -> Act:
        act = super().decide(packet, average)
        if average >= self.red.max_th:
            self.red.count = -1
        return act

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.decide(packet, self.measure(now_s))


class WitnessedAverage(Witnessed):
    """What the kernel's red and choke have in common, under the names of RED's paper."""

    WLOG: ClassVar[int]
    MIN: ClassVar[int]
    MAX: ClassVar[int]
    MAX_P: ClassVar[float]
    PACKET_TIME_S = 1000 / _TC_BYTES_S

    @classmethod
    def average(cls) -> LinuxAverage:
        return LinuxAverage(cls.WLOG, cls.PACKET_TIME_S)

    @classmethod
    def child(cls, limit: int, flags: int, ecn: bool) -> Child:
        average = cls.average()
        cell_log = average.ONE_CELL_US.bit_length() - 1
        qopt = struct.pack("=IIIBBBB", limit, cls.MIN, cls.MAX, cls.WLOG, 0, cell_log, flags)
        max_p = round(cls.MAX_P * 2**32)
        return Child({1: qopt, 2: bytes(average.shifts), 3: max_p}, ecn=ecn, each=4)

    def judge(self) -> AsRecorded:
        return Drawn()


class WitnessedRed(WitnessedAverage):
    """Packet by packet, with the whole state. The second one is adaptive: a timer of 500 ms fires
    each 504th jiffy (kernel/time/timer.c)."""

    WLOG, MIN, MAX, MAX_P = 5, 15_000, 45_000, 0.1
    LIMITS: ClassVar = {False: 60_000, True: 400_000}
    shows: ClassVar = XSTATS | RED
    words: ClassVar[Words] = RED_WORDS
    changes: ClassVar = (
        ("ns", ARRIVED, 2_000_000),
        ("average", ARRIVED, 64),
        ("drawn", ARRIVED, 50_000),
        ("packet", ASKED, 1),
        ("drops", ASKED, 1),
    )

    def __init__(self) -> None:
        self.before: Row = {}
        self.wakes = 0

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        [began] = [row for row in rows if row["kind"] == BEGAN]
        average = self.average()
        average.idle_since_s = began["idle_since_ns"] * NS
        model = LinuxRed(
            average,
            min_th=self.MIN,
            max_th=self.MAX,
            max_p=self.MAX_P,
            adaptive=AdaptiveRed(interval_s=0.504) if child.ecn else None,
            limit_bytes=self.LIMITS[child.ecn],
            ecn=child.ecn,
            judge=judge,
        )
        if child.ecn:
            first = (began["jiffies"] + 500 + 8) // 8 * 8 - began["jiffies"]
            model.next_s = (began["ns"] // 1_000_000 + first) / 1000
        judge.draws = model.red.draws
        self.before, self.wakes = began, 0
        model.red.max_p = began["max_p"] * Q32_UNIT
        return model

    def now_ns(self, row: Row) -> int:
        """A qdisc's second reading of the clock is the same while bottom halves are off."""
        return row["ns"] - CLOCK_NS

    def begin(self, model: LinuxRed, row: Row) -> None:
        model.average.begin(row)
        model.red.drawn = self.before["drawn"]
        if model.adaptive:
            model.next_s = round(model.next_s, 3)
            at_once = 0 <= self.now_ns(row) * NS - model.next_s < 2 * CLOCK_NS * NS
            if at_once and row["max_p"] == self.before["max_p"]:
                model.next_s += 2 * CLOCK_NS * NS

    def check(self, model: LinuxRed, row: Row) -> None:
        check_red(model, row, self.WLOG)
        kernel = row["max_p"] * Q32_UNIT
        # Its integers lose up to 10 in a step down.
        off = 10 * (model.wakes - self.wakes) * Q32_UNIT
        assert abs(model.red.max_p - kernel) <= off, f"max_p {model.red.max_p}, kernel {kernel}"
        model.red.max_p, self.wakes = kernel, model.wakes
        self.before = row

    def figures(self, model: LinuxRed) -> str:
        return model.average.figures()


WitnessedRed.children = {
    "red": WitnessedRed.child(WitnessedRed.LIMITS[False], flags=0, ecn=False),
    # ECN and adaptation
    "red-ecn": WitnessedRed.child(WitnessedRed.LIMITS[True], flags=1 | 4, ecn=True),
}
WITNESSED = WitnessedRed


class Ns2Red(Red):
    """ns-2.35, queue/red.cc: enque, estimator, drop_early, modify_p. The count is one ahead of
    figure 2's at first; there is no signal at the first packet above min_th, nor where no more than
    one waits."""

    RATE_BYTES_S = 10e6 / 8

    def __init__(self, *, wait: bool, **each: Any) -> None:
        super().__init__(**each)
        self.wait = wait
        self.above = False

    def measure(self, now_s: float) -> float:
        """The link idles from the end of the last packet on; one step more than in figure 2."""
        idle = self.average.idle_since_s
        if self.waiting or idle is None or now_s < idle - 1e-9:
            self.average.idle_since_s = None
            self.average.average += self.average.weight * (len(self.waiting) - self.average.average)
        else:
            self.average.average = self.whole_packets(now_s) * (1 - self.average.weight)
            self.average.idle_since_s = None
        return self.average.average

    def whole_packets(self, now_s: float) -> float:
        """m is cut to a whole number."""
        average = self.average
        assert average.idle_since_s is not None
        m = math.floor((now_s - average.idle_since_s) / average.packet_time_s + 1e-9)
        return float(average.before * (1 - average.weight) ** m)

    def decide(self, packet: Packet, average: float) -> Act:
        red = self.red
        red.count += 1
        if average < red.min_th or len(self.waiting) <= 1:
            self.above = False
            return Act.PASS
        if average >= red.max_th:
            red.count = 0
            self.signals_for = self.reason = Why.THRESHOLD
            return self.refuse(Why.THRESHOLD)
        if not self.above:
            self.above, red.count = True, 1
            return Act.PASS
        self.signals_for = self.reason = Why.EARLY
        p_b = red.slope(average)
        p = (waited if self.wait else spread)(p_b, red.count * p_b)
        if p < 1 and not (p and self.judge.below("signal", self.uniform(), p)):
            return Act.PASS
        red.count = 0
        return self.signal(packet)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """A drop for want of room overrules a draw."""
        average = self.measure(now_s)
        self.above = average >= self.red.min_th
        self.red.count = 0

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None and not self.waiting:
            self.average.empties(now_s + packet.size / self.RATE_BYTES_S)
        return packet


def spread(p_b: float, sum_p_b: float) -> float:
    """wait_ false: the distance between signals is drawn from 1 to 1 / p_b."""
    return min(p_b / (1 - sum_p_b), 1.0) if sum_p_b < 1 else 1.0


def waited(p_b: float, sum_p_b: float) -> float:
    """wait_ true: from 1 / p_b to 2 / p_b."""
    if sum_p_b < 1:
        return 0.0
    return min(p_b / (2 - sum_p_b), 1.0) if sum_p_b < 2 else 1.0


class WitnessedNs2Red(Witnessed):
    """Every decision of ns-2's queue, and how often it draws a signal."""

    of = NS2
    children: ClassVar = {"red-wait": Child({}), "red-nowait": Child({})}
    changes: ClassVar = (("packet", ASKED, 1), ("drops", ASKED, 1))

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        # As in tests/models/ns2_red.tcl.
        return Ns2Red(
            wait=child is self.children["red-wait"],
            min_th=5,
            max_th=15,
            max_p=0.1,
            weight=2**-9,
            packet_time_s=1000 / Ns2Red.RATE_BYTES_S,
            limit_pkts=60,
            judge=judge,
            uniform=lambda: 0.5,
        )


WITNESSED_NS2 = WitnessedNs2Red


def signals(draws: float, **rows: Any) -> list[int]:
    """Of 12 packets in a stopped queue, with every drawn number the same."""
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
