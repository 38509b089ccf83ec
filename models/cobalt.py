# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""COBALT: CoDel and BLUE in parallel, as in net/sched/sch_cake.c of Linux. Names of functions
below are those of that file.

Not from there: the time that a queue is empty counts for BLUE (there an empty flow is served on, as
long as others send); one request drops 256 packets at most; the first entry of all waits for an
interval as every other; the root is exact; where the interval has become shorter, nothing is due
later than that from now.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, Why, reached


class Cobalt(Discipline):
    """`rate_bytes_s` scales target and interval as cake_set_rate() does; None: an unknown rate."""

    signals_for = Why.DELAY

    def __init__(
        self,
        *,
        target_s: float = 0.005,
        interval_s: float = 0.1,
        p_inc: float = 1 / 256,
        p_dec: float = 1 / 4096,
        mtu: int = 1514,
        rate_bytes_s: float | None = None,
        start_s: float = 0.0,
        drops_at_most: int = 256,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.mtu_s = mtu / rate_bytes_s if rate_bytes_s else 0.0
        self.interval_s = 0.0
        self.shorter = False
        self.scale(target_s, interval_s)
        self.p_inc = p_inc
        self.p_dec = p_dec
        self.drops_at_most = drops_at_most
        self.count = 0
        self.dropping = False
        self.drop_next_s = start_s
        self.p = 0.0
        self.blue_timer_s = start_s
        self.empty_since_s: float | None = None

    def scale(self, target_s: float, interval_s: float) -> None:
        """cake_set_rate()"""
        self.unscaled_s = target_s, interval_s
        self.target_s = max(1.5 * self.mtu_s, target_s)
        before_s = self.interval_s
        self.interval_s = max(interval_s + self.target_s - target_s, 2 * self.target_s)
        self.shorter |= self.interval_s < before_s

    # The schedule.

    def hold(self, now_s: float) -> None:
        """At the first event since the interval has become shorter."""
        if self.shorter and self.drop_next_s > now_s + self.interval_s + SAME_INSTANT_S:
            self.plan(now_s + self.interval_s)
        self.shorter = False

    def spacing_s(self) -> float:
        """cobalt_control(): "both the '0' and '1' entries" of the roots are 1."""
        return self.interval_s / math.sqrt(max(self.count, 1))

    def plan(self, when_s: float) -> None:
        """The next signal is due then."""
        self.drop_next_s = when_s

    def add_spacing(self) -> None:
        """One spacing later, by the count as it is now."""
        self.drop_next_s += self.spacing_s()

    def forget(self, now_s: float) -> None:
        """cobalt_should_drop(), while (next_due)."""
        while self.count and reached(now_s, self.drop_next_s):
            self.count -= 1
            self.add_spacing()

    # BLUE.

    def may_change(self, now_s: float) -> bool:
        """Not again within the target."""
        return now_s - self.blue_timer_s > self.target_s + SAME_INSTANT_S

    def queue_full(self, now_s: float) -> None:
        """cobalt_queue_full()"""
        if self.may_change(now_s):
            self.p = min(1.0, self.p + self.p_inc)
            self.blue_timer_s = now_s
        self.dropping = True
        self.plan(now_s)
        self.count = max(self.count, 1)

    def queue_empty(self, now_s: float) -> None:
        """cobalt_queue_empty()"""
        if self.empty_since_s is not None:
            self.stay_empty(now_s)
        else:
            self.empty_since_s = now_s
            if self.p and self.may_change(now_s):
                self.p = max(0.0, self.p - self.p_dec)
                self.blue_timer_s = now_s
        self.dropping = False
        self.hold(now_s)
        if self.count and reached(now_s, self.drop_next_s):
            self.count -= 1
            self.add_spacing()

    def stay_empty(self, now_s: float) -> None:
        """While it is empty p falls once in each target, until it is 0; then the timer stands."""
        assert self.empty_since_s is not None
        begin_s = max(self.blue_timer_s, self.empty_since_s)
        times = math.floor((now_s - begin_s + SAME_INSTANT_S) / self.target_s)
        if self.p_dec:
            # A multiple of p_dec may have been summed up to a little more.
            times = min(times, math.ceil(self.p / self.p_dec - 1e-6))
        if self.p and times:
            self.p = max(0.0, self.p - times * self.p_dec)
            self.blue_timer_s = begin_s + times * self.target_s

    # The queue's events.

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """All join. Cake has served the empty queue until now, and each time that a signal was due
        it took 1 from the count."""
        self.hold(now_s)
        if self.empty_since_s is not None:
            self.stay_empty(now_s)
            self.forget(now_s)
            self.empty_since_s = None
        return Act.PASS

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """The queue holds packets."""
        self.hold(now_s)
        self.queue_full(now_s)

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        """cake_drop()"""
        self.queue_full(now_s)

    def codel(self, now_s: float, packet: Packet) -> tuple[Act, bool]:
        """The first half of cobalt_should_drop(): CoDel's signal, and whether the schedule is
        behind after it."""
        sojourn_s = now_s - packet.arrived_s
        self.hold(now_s)
        over = sojourn_s > max(self.target_s, 4 * self.mtu_s) + SAME_INSTANT_S
        # next_due and schedule are of the time before an entry moves drop_next.
        had_count = self.count > 0
        behind = now_s > self.drop_next_s + SAME_INSTANT_S
        due = had_count and (
            not self.judge.below("drop_next", now_s, self.drop_next_s - SAME_INSTANT_S)
            if over
            else reached(now_s, self.drop_next_s)
        )
        if over:
            if not self.dropping:
                self.plan(now_s + self.spacing_s())
            self.count = max(self.count, 1)
        self.dropping = over
        act = Act.PASS
        if due and over:
            act = self.signal(packet)
            self.count += 1
            self.add_spacing()
        elif due:
            self.forget(now_s)
        if due:
            behind = now_s > self.drop_next_s + SAME_INSTANT_S
        return act, behind and (due or not had_count)

    def should_drop(self, now_s: float, packet: Packet, dropped: int) -> tuple[Why | None, bool]:
        """cobalt_should_drop(): why it is to be dropped; and has CoDel marked it, which comes first
        there?"""
        act, behind = self.codel(now_s, packet)
        why = Why.DELAY if act is Act.DROP else None
        if self.chance(self.p) and why is None:
            why = Why.EARLY
        if dropped >= self.drops_at_most:
            why = None
        if not self.count:
            self.plan(now_s + self.interval_s)
        elif behind and why is None:
            self.plan(now_s)
        return why, act is Act.MARK

    def on_request(self, now_s: float) -> Packet | None:
        """cake_dequeue(), "retrieve a packet via the AQM"."""
        dropped = 0
        while packet := self.take():
            why, marked = self.should_drop(now_s, packet, dropped)
            if why is not None and self.waiting:
                self.drop(packet, why)
                dropped += 1
                continue
            if marked:
                self.mark(packet)
            return packet
        self.queue_empty(now_s)
        return None
