# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cobalt: model and C side by side, and worked examples."""

from __future__ import annotations

import math
from itertools import count
from typing import Any, ClassVar

import pytest

from models.cobalt import Cobalt
from models.flow_queue import FlowQueue
from models.queue import Act, Discipline, Judge, Packet, Why
from tests.models.beside import (
    NS,
    Q32_UNIT,
    Beside,
    Follower,
    common,
    compare,
    plain,
    probability,
)
from tests.models.generator import Draws
from tests.models.inputs import MS, SECOND, Phase, Stream
from tests.models.library import Case, core


class Traced(Cobalt):
    """Knows how far the core's schedule may be from its own: nothing when it is planned anew,
    interval / n * 2^-16 and a nanosecond for each spacing, interval / 14,000 and a nanosecond for
    each of up to 32 parts where many are taken at once."""

    off_s = 0.0
    # Was the count's last step so near to its time that the core's may lack it, or have one more?
    doubtful = False

    def plan(self, when_s: float) -> None:
        super().plan(when_s)
        self.off_s = 0.0

    def add_spacing(self) -> None:
        super().add_spacing()
        # A root of 1 is exact.
        if self.count > 1:
            self.off_s += self.interval_s / self.count * 2**-16 + NS

    def forget(self, now_s: float) -> None:
        if self.count > 64:
            self.off_s += self.interval_s / 14_000 + 32 * NS
        super().forget(now_s)
        ahead_s = self.drop_next_s - now_s
        near_s = min(abs(ahead_s), abs(self.spacing_s() - ahead_s))
        self.doubtful = 0 < self.off_s > near_s

    def queue_empty(self, now_s: float) -> None:
        self.doubtful = 0 < self.off_s > abs(self.drop_next_s - now_s)
        super().queue_empty(now_s)

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.look(now_s)
        return super().on_arrival(now_s, packet)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.look(now_s)
        super().on_overflow(now_s, packet)

    def look(self, now_s: float) -> None:
        """At a step that the empty queue's count may just have taken."""
        if self.empty_since_s is not None:
            self.doubtful = 0 < self.off_s > abs(self.drop_next_s - now_s)


class Apart(Judge):
    """Follows the core, but a tie of CoDel's schedule is no signal where all that the core signals
    to is BLUE's."""

    def __init__(self, core: Follower) -> None:
        self.core = core

    def below(self, what: str, value: float, bound: float) -> bool:
        below = self.core.below(what, value, bound)
        if what != "drop_next" or below or Why.DELAY in self.core.reasons:
            return below
        return abs(value - bound) <= self.core.how.slack(self.core.model)[what]


class BesideCobalt(Beside):
    """CoDel's root is exact to 2^-16, BLUE's probability to 2^-32. In flows the core has no one
    state; what leaves is compared, and in which order."""

    algorithm = "cobalt"
    defaults: ClassVar = {
        "target": 5 * MS,
        "interval": 100 * MS,
        "increment": 2**24,
        "decrement": 2**20,
        "limit": 10240,
        "ecn": 1,
        "flows": 0,
        "bandwidth": 0,
    }
    settings: ClassVar = (
        {"target": MS, "interval": 20 * MS, "limit": 40, "increment": 2**28, "decrement": 2**26},
        {"target": 20 * MS, "interval": SECOND, "limit": 25, "increment": 2**32 - 1},
        {"bandwidth": 125_000, "limit": 60, "decrement": 1},
        # An interval below two targets.
        {"target": 60 * MS, "interval": 70 * MS, "limit": 300},
        {"flows": 3, "quantum": 300, "target": 2 * MS, "interval": 30 * MS, "limit": 30},
        {"flows": 1024, "limit_bytes": 60_000, "increment": 2**30, "decrement": 2**28},
    )
    signalling: ClassVar = (
        {"target": MS, "interval": 20 * MS},
        {"target": 3 * MS, "interval": 50 * MS, "increment": 2**28, "decrement": 2**24},
    )
    changes: ClassVar = (
        {"interval": 10 * SECOND},
        {"interval": 20 * MS},
        {"interval": 2 * SECOND, "target": MS},
        {"interval": 100 * MS},
        {"target": 8 * MS, "interval": 50 * MS},
    )
    signal_if_below: ClassVar = {"drop_next": False, "signal": True}
    columns: ClassVar = {
        "count": plain,
        "dropping": plain,
        "prob": probability,
    }
    # In a long overload nothing plans the schedule anew: ln(count) times 1.5 us of slack, signals a
    # packet time of 1 ms apart.
    tie_share = 0.01
    resets_in_order = False

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        queue = common(case, judge)
        del queue["judge"]
        numbers = count()
        each: dict[str, Any] = {
            "target_s": rows["target"] * NS,
            "interval_s": rows["interval"] * NS,
            "p_inc": rows["increment"] * Q32_UNIT,
            "p_dec": rows["decrement"] * Q32_UNIT,
            "mtu": case.mtu,
            "rate_bytes_s": rows["bandwidth"] or None,
            "start_s": case.start_ns * NS,
            "ecn": queue.pop("ecn"),
            "judge": Apart(judge) if isinstance(judge, Follower) else judge,
        }

        def make(**more: Any) -> Traced:
            return Traced(uniform=Draws(case.seed + next(numbers)).uniform, **each, **more)

        if not rows["flows"]:
            return make(**queue)
        quantum = rows.get("quantum", case.mtu)
        return FlowQueue(make, flows=rows["flows"], quantum=quantum, **queue)

    def change(self, model: Cobalt, now_s: float, row: str, value: int) -> None:
        target_s, interval_s = model.unscaled_s
        if row == "target":
            model.scale(value * NS, interval_s)
        else:
            model.scale(target_s, value * NS)

    def slack(self, model: Any) -> dict[str, float]:
        one = model.busy if isinstance(model, FlowQueue) else model
        return {"drop_next": one.off_s if isinstance(one, Traced) else 0.0, "signal": 2 * Q32_UNIT}

    def state(self, model: Any, wakes: int) -> list[tuple[float, float]]:
        if isinstance(model, FlowQueue):
            return [(0, math.inf)] * 3
        return [(model.count, int(model.doubtful)), (model.dropping, 0), (model.p, 2 * Q32_UNIT)]

    def resync(self, model: Any, core: list[float]) -> None:
        if isinstance(model, FlowQueue):
            return
        model.doubtful = False
        model.p = core[2]
        # The core has taken a step more, or not yet the last one.
        if core[0] < model.count:
            model.count -= 1
            model.drop_next_s += model.spacing_s()
        elif core[0] > model.count:
            model.drop_next_s -= model.spacing_s()
            model.count += 1


BESIDE = BesideCobalt()


def filled(packets: int, **rows: Any) -> Cobalt:
    """It got so many packets of 1000 bytes at 0 s. CoDel's part has had its first quiet packet, so
    that the schedule is an interval ahead."""
    model = Cobalt(**rows)
    model.plan(0.1)
    for number in range(packets):
        model.arrive(0.0, Packet(number, 1000))
    return model


def test_cobalt_signals_an_interval_after_the_delay_is_first_seen() -> None:
    """By hand: seen at 10 ms, first signal due at 110 ms, which makes the count 2; the next after
    100 / sqrt(2) = 70.7 ms more, then 57.7 ms."""
    model = filled(400)
    lost = [step for step in range(10, 260) if model.request(step / 1000).dropped]
    assert lost == [110, 181, 239]
    assert model.count == 4
    assert model.drop_next_s == pytest.approx(0.110 + 0.1 * (2**-0.5 + 3**-0.5 + 4**-0.5))


def test_cobalt_forgets_as_it_counted() -> None:
    """By hand: a count of 4 due at 1 s is 3 until 1 + 0.0577, 2 until 0.0707 s later, 1 until
    0.1 s later, then 0 until 0.1 s later."""
    model = Cobalt()
    model.count, model.drop_next_s = 4, 1.0
    found = []
    for now_s in (0.99, 1.01, 1.06, 1.13, 1.23):
        model.arrive(now_s, Packet(0, 1000))
        model.request(now_s)
        found.append(model.count)
    assert found == [4, 3, 2, 1, 0]


def test_cobalt_blue_rises_when_full_and_falls_when_empty_once_in_a_target() -> None:
    """1/256 and 1/4096, not again within 5 ms; empty from 30 ms to 61 ms: a step at once, and one
    in each target after it."""
    model = Cobalt(limit_pkts=1, uniform=lambda: 1.0)
    model.arrive(0.010, Packet(0, 1000))
    for now_s in (0.010, 0.015, 0.0151, 0.0205):
        model.arrive(now_s, Packet(1, 1000))
    assert model.p == 3 / 256
    assert model.dropping
    model.request(0.029)
    model.request(0.030)
    assert (model.p, model.dropping) == (3 / 256 - 1 / 4096, False)
    model.arrive(0.061, Packet(2, 1000))
    assert model.p == pytest.approx(3 / 256 - 7 / 4096)


def test_cobalt_blue_drops_what_could_be_marked_but_never_the_last() -> None:
    model = Cobalt(ecn=True, uniform=lambda: 0.0)
    for number in range(4):
        model.arrive(0.0, Packet(number, 1000, ect=True))
    model.p = 0.5
    found = model.request(0.001)
    assert (found.dropped, found.sent) == ([0, 1, 2], 3)
    assert set(found.why.values()) == {Why.EARLY}


def test_cobalt_one_request_drops_256_at_most() -> None:
    model = Cobalt(uniform=lambda: 0.0)
    for number in range(300):
        model.arrive(0.0, Packet(number, 1000))
    model.p = 0.5
    found = model.request(0.001)
    assert (len(found.dropped), found.sent) == (256, 256)


def test_cobalt_that_marks_does_not_pile_up_signals() -> None:
    """A second behind at a count of 100: a mark, and the schedule goes on from now. With drops the
    schedule is caught up with: by hand 2 (sqrt(125) - sqrt(100)) = 2.36 intervals, so that the
    number of signals in 10 intervals is about 126."""
    marking, losing = filled(200, ecn=True), filled(400)
    for model in (marking, losing):
        model.count, model.dropping, model.drop_next_s = 100, True, 1.0
    marking.waiting[0].ect = True
    assert marking.request(2.0).marked == [0]
    assert (marking.count, marking.drop_next_s) == (101, 2.0)
    assert len(losing.request(2.0).dropped) == pytest.approx(125, abs=1)


def test_cobalt_on_a_slow_link_takes_its_packets_into_account() -> None:
    """cake_set_rate() at 1 Mbit/s: 12.112 ms per packet; target 18.168 ms, interval 113.168 ms."""
    model = Cobalt(rate_bytes_s=125_000)
    assert model.target_s == pytest.approx(0.018168)
    assert model.interval_s == pytest.approx(0.113168)
    slowest = Cobalt(rate_bytes_s=12_500)
    assert slowest.target_s == pytest.approx(0.18168)
    assert slowest.interval_s == pytest.approx(0.36336)


def test_cobalt_meets_packets_that_are_too_large_on_an_idle_link() -> None:
    """p grows in an overload of smaller ones, and comes down while the link idles."""
    s = Stream(1).add(Phase(1.0, 3.0, sizes=(590,))).add(Phase(5.0, 0.05, sizes=(1514,)))
    case = Case(
        "cobalt",
        "cobalt",
        {"limit_bytes": 1500, "increment": 2**28, "decrement": 2**18},
        s.events(),
    )
    assert compare(BESIDE, case, core().replay(case)).sent > 50


@pytest.mark.parametrize(("packets", "lost"), [(1, 0), (300, 256)])
def test_cobalt_marks_a_packet_that_blue_may_not_drop(packets: int, lost: int) -> None:
    """cobalt_should_drop() sets CE before BLUE draws, and cake_dequeue() spares the last."""
    model = Cobalt(ecn=True, uniform=lambda: 0.0)
    for number in range(packets):
        model.arrive(0.0, Packet(number, 1000, ect=True))
    model.p, model.count, model.dropping = 1.0, 4, True
    found = model.request(60.0)
    assert (len(found.dropped), found.marked) == (lost, [found.sent])


@pytest.mark.parametrize("idle_s", [0.001, 0.01, 0.1, 1.0, 10.0])
def test_cobalt_blue_rises_at_the_first_overflow_after_any_idle_time(idle_s: float) -> None:
    """cobalt_queue_empty() moves the timer only where p is not 0."""
    model = Cobalt(limit_pkts=1)
    model.arrive(0.0, Packet(0, 1000))
    model.request(10.0)
    model.request(10.0)
    for number in (1, 2):
        model.arrive(10 + idle_s, Packet(number, 1000))
    assert model.p == 1 / 256


def test_cobalt_forgets_while_it_is_empty() -> None:
    """By hand: 200 signals are gone in about 2 sqrt(200) intervals."""
    model = Cobalt()
    model.count, model.drop_next_s = 200, 1.0
    model.request(1.0)
    assert model.count == 199
    model.arrive(21.0, Packet(0, 1000))
    assert model.count == 0
