# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""codel: model and C side by side, and worked examples."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import pytest

from models.codel import CoDel, LinuxCoDel
from models.queue import Discipline, Judge, Packet, Why
from tests.models.beside import NS, Beside, common, plain
from tests.models.inputs import MS, SECOND
from tests.models.library import Case
from tests.models.witnessed import AsRecorded, Child, Row, Witnessed, Words


def schedule_error(interval_s: float, first: int, last: int) -> float:
    """The n-th spacing errs by interval / n * 2^-16 and one nanosecond; from the first count to
    the last this adds up."""
    errors = 1 / first + math.log(last / first)
    return interval_s * 2**-16 * errors + (last - first + 1) * NS


def slack_of(model: CoDel) -> float:
    """How far the next signal may be off, since the state was entered."""
    first, last = max(1, model.last_count), max(1, model.count)
    # The first spacing errs by nothing.
    if last == 1 or isinstance(model, LinuxCoDel):
        return 0.0
    return schedule_error(model.interval_s, first, last)


class BesideCoDel(Beside):
    """The core's 1/sqrt is exact to 2^-16; the schedule adds one such error per signal."""

    algorithm = "codel"
    defaults: ClassVar = {
        "target": 5_000_000,
        "interval": 100_000_000,
        "form": 0,
        "ce_threshold": 0,
    }
    in_flows: ClassVar = {}
    settings: ClassVar = (
        {"target": MS, "interval": 20 * MS},
        {"target": 20 * MS, "interval": SECOND},
        {"form": 1},
        {"form": 1, "target": 2 * MS, "interval": 30 * MS},
        # No signal of the control law, whose ties a mark of another reason would decide.
        {"target": 10 * SECOND, "ce_threshold": 3 * MS},
        {"form": 1, "target": 8 * MS, "ce_threshold": 2 * MS},
    )
    signalling: ClassVar = (
        {"target": MS, "interval": 20 * MS},
        {"target": 3 * MS, "interval": 50 * MS, "form": 1},
    )
    changes: ClassVar = (
        {"interval": 10 * SECOND},
        {"interval": 20 * MS},
        {"interval": 2 * SECOND, "target": MS},
        {"interval": 100 * MS},
        {"target": 8 * MS, "interval": 50 * MS},
    )
    signal_if_below: ClassVar = {"drop_next": False}
    columns: ClassVar = {"count": plain, "dropping": plain}
    # In long overload: 2 * 15 us of slack, signals one or two packet times of 0.6 ms apart.
    tie_share = 0.05

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return (LinuxCoDel if rows["form"] else CoDel)(
            target_s=rows["target"] * NS,
            interval_s=rows["interval"] * NS,
            mtu=case.mtu,
            ce_threshold_s=rows["ce_threshold"] * NS or math.inf,
            **common(case, judge),
        )

    def change(self, model: CoDel, now_s: float, row: str, value: int) -> None:
        setattr(model, f"{row}_s", model.clock(value * NS))

    def slack(self, model: CoDel) -> dict[str, float]:
        return {"drop_next": slack_of(model)}

    def state(self, model: CoDel, wakes: int) -> list[tuple[float, float]]:
        return [(model.count, 0), (model.dropping, 0)]


BESIDE = BesideCoDel()


class WitnessedCoDel(Witnessed):
    """Packet by packet, with the whole state that the kernel shows."""

    children: ClassVar = {
        "codel": Child({2: 200, 4: 0}),
        "codel-ecn": Child({2: 200, 4: 1}, ecn=True),
    }
    words: ClassVar[Words] = (("count", 4, "u4"), ("lastcount", 8, "u4"), ("dropping", 28, "u4"))

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        return LinuxCoDel(limit_pkts=200, ecn=child.ecn, mtu=1514, judge=judge)

    def check(self, model: Any, row: Row) -> None:
        have = model.count, model.last_count, int(model.dropping)
        want = row["count"], row["lastcount"], row["dropping"]
        assert have == want, f"state {have}, kernel {want}"


WITNESSED = WitnessedCoDel


def codel_signals(ect: bool, seconds: float) -> list[float]:
    """A queue that never empties, one packet of 50 ms age each millisecond: when it signals."""
    model = CoDel(ecn=True)
    times = []
    for number in range(200):
        model.arrive(0.0, Packet(number, 1000, ect=ect))
    for step in range(int(seconds * 1000)):
        now_s = step * 1e-3
        for packet in model.waiting:
            packet.arrived_s = now_s - 0.05
        done = model.request(now_s)
        for number in done.dropped + done.marked:
            times.append(now_s)
            model.arrive(now_s, Packet(number, 1000, ect=ect))
        model.arrive(now_s, Packet(step, 1000, ect=ect))
    return times


@pytest.mark.parametrize("ect", [False, True])
def test_codel_spaces_signals_by_the_inverse_square_root(ect: bool) -> None:
    expected, when = [0.1], 0.1
    for count in range(1, 12):
        when += 0.1 / math.sqrt(count)
        expected.append(when)
    found = codel_signals(ect, 0.75)
    assert len(found) >= len(expected)
    for a, b in zip(found, expected, strict=False):
        assert 0 <= a - b < 1.001e-3


def test_codel_spares_the_last_packet_s_worth() -> None:
    model = CoDel(mtu=1000)
    for number in range(400):
        model.arrive(0.0, Packet(number, 1000))
        assert not model.request(number * 0.01 + 1).dropped


def left_at_count_9() -> CoDel:
    """It left the dropping state at 1 s and is about to enter it again."""
    model = CoDel()
    model.dropping, model.count, model.last_count, model.drop_next_s = False, 9, 2, 1.0
    model.first_above_s = 1.0
    for number in range(9):
        model.arrive(0.5, Packet(number, 1500))
    return model


def test_codel_reenters_at_the_last_rate() -> None:
    model = left_at_count_9()
    assert model.request(1.2).dropped == [0]
    assert model.count == 7
    assert model.drop_next_s == pytest.approx(1.2 + 0.1 / math.sqrt(7))


def test_codel_forgets_the_last_rate_after_16_intervals() -> None:
    model = left_at_count_9()
    assert model.request(2.6).dropped == [0]
    assert model.count == 1


@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize(
    ("threshold_s", "marked"), [(0.0099, [0]), (0.01, []), (0.0101, []), (math.inf, [])]
)
def test_codel_marks_above_its_threshold(threshold_s: float, marked: list[int], ecn: bool) -> None:
    """Below target for ever: the control law has no signal."""
    model = CoDel(target_s=1, ecn=ecn, ce_threshold_s=threshold_s)
    for number in range(4):
        model.arrive(0.0, Packet(number, 1500, ect=number % 2 == 0))
    done = model.request(0.01)
    assert (done.marked, done.dropped) == (marked, [])
    assert list(done.why.values()) == [Why.THRESHOLD] * len(marked)
    assert not model.request(0.02).marked  # the second is Not-ECT


@pytest.mark.parametrize("ect", [False, True])
def test_codel_behind_a_stop_goes_on_from_now(ect: bool) -> None:
    """After 256 overdue signals at a count of 9 the next one is due in 100 / sqrt(265) ms."""
    model = CoDel(ecn=True)
    model.dropping, model.count, model.drop_next_s = True, 9, 1.0
    model.first_above_s = 1.0
    for number in range(1000):
        model.arrive(0.5, Packet(number, 1500, ect=ect))
    asked = [model.request(61.0) for _ in range(300 if ect else 40)]
    assert sum(len(done.marked) + len(done.dropped) for done in asked) == 256
    assert model.drop_next_s == pytest.approx(61 + 0.1 / math.sqrt(265))
