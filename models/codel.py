# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CoDel: RFC 8289 section 5, the pseudo-code step by step.

Two rules are not in the pseudo-code: a marked packet is sent, so that a request ends with the first
mark (Linux); and after 256 overdue signals in a row the schedule goes on from now (ours).

`LinuxCoDel` is the arithmetic of include/net/codel_impl.h: whole units of 1.024 us, and a
reciprocal root in 16 bits that takes one step of Newton's method with each signal. There one
request drops 256 packets at most, and the schedule keeps its place. The mark above a threshold of
delay is the kernel's too.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, Why, reached


class CoDel(Discipline):
    """Signals when the least time in the queue has stayed above a target for an interval."""

    signals_for = Why.DELAY

    def __init__(
        self,
        *,
        target_s: float = 0.005,
        interval_s: float = 0.1,
        mtu: int = 1514,
        late_at_most: int = 256,
        ce_threshold_s: float = math.inf,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.target_s = target_s
        self.interval_s = interval_s
        self.mtu = mtu
        self.late_at_most = late_at_most
        self.ce_threshold_s = ce_threshold_s
        self.late = 0
        self.first_above_s: float | None = None
        self.drop_next_s = -math.inf
        self.count = 0
        self.last_count = 0
        self.dropping = False

    def spacing_s(self) -> float:
        """Section 5.6: the control law."""
        return self.interval_s / math.sqrt(self.count)

    def next_packet(self, now_s: float) -> tuple[Packet | None, bool]:
        """Section 5.6, dodequeue: a packet, and whether it may be dropped."""
        packet = self.take()
        if packet is None:
            self.first_above_s = None
            return None, False
        sojourn_s = now_s - self.clock(packet.arrived_s)
        if not reached(sojourn_s, self.target_s) or self.backlog() <= self.mtu:
            self.first_above_s = None
        elif self.first_above_s is None:
            self.first_above_s = now_s + self.interval_s
        else:
            self.first_above_s = self.within(now_s, self.first_above_s)
            return packet, self.is_over(now_s, self.first_above_s)
        return packet, False

    def within(self, now_s: float, when_s: float) -> float:
        """Nothing is due later than an interval from now; the RFC's interval never changes."""
        return min(when_s, now_s + self.interval_s)

    def backlog(self) -> int:
        """Section 4.1: the rest that the link has to send."""
        return self.bytes + self.elsewhere()

    def clock(self, time_s: float) -> float:
        """A time as the law reads it."""
        return time_s

    def is_over(self, now_s: float, when_s: float) -> bool:
        """Section 5.6: has a whole interval above target passed?"""
        return reached(now_s, when_s)

    def counted(self) -> None:
        """The count has changed."""

    def began(self) -> None:
        """The count is 1 again."""

    def due(self, now_s: float) -> bool:
        """Section 5.5: is it time for the next signal?"""
        self.drop_next_s = self.within(now_s, self.drop_next_s)
        if self.judge.below("drop_next", now_s, self.drop_next_s - SAME_INSTANT_S):
            self.late = 0
            return False
        return not self.enough(now_s)

    def enough(self, now_s: float) -> bool:
        """After so many overdue signals the schedule goes on from now; the RFC knows no stop."""
        if self.late < self.late_at_most:
            self.late += 1
            return False
        self.drop_next_s = now_s + self.spacing_s()
        self.late = 0
        return True

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        """fq_codel_drop(): what a fat flow loses to make room counts as signals."""
        self.count += why is Why.FAT

    def on_request(self, now_s: float) -> Packet | None:
        """codel_dequeue(): what leaves may be marked once more, for its delay alone, and
        whether or not the control law marks."""
        now_s = self.clock(now_s)
        packet = self.dequeue(now_s)
        if packet is not None and packet.ect and not packet.marked:
            sojourn_s = now_s - self.clock(packet.arrived_s)
            if sojourn_s > self.ce_threshold_s + SAME_INSTANT_S:
                self.mark(packet)
                self.outcome.why[packet.number] = Why.THRESHOLD
        return packet

    def dequeue(self, now_s: float) -> Packet | None:
        """Section 5.5."""
        packet, above = self.next_packet(now_s)
        if self.dropping:
            self.dropping = above
            while self.dropping and self.due(now_s):
                assert packet is not None
                self.count += 1
                self.counted()
                if self.signal(packet) is Act.MARK:
                    self.mark(packet)
                    self.drop_next_s += self.spacing_s()
                    break
                self.drop(packet, Why.DELAY)
                packet, above = self.next_packet(now_s)
                if above:
                    self.drop_next_s += self.spacing_s()
                else:
                    self.dropping = False
        elif above:
            assert packet is not None
            if self.signal(packet) is Act.MARK:
                self.mark(packet)
            else:
                self.drop(packet, Why.DELAY)
                packet, _ = self.next_packet(now_s)
            self.dropping = True
            self.late = 0
            since_last = self.count - self.last_count
            recent = not reached(now_s - self.drop_next_s, 16 * self.interval_s)
            if since_last > 1 and recent:
                self.count = since_last
                self.counted()
            else:
                self.count = 1
                self.began()
            self.drop_next_s = now_s + self.spacing_s()
            self.last_count = self.count
        return packet


UNIT_NS = 1024


def units(time_s: float) -> int:
    """Linux's clock for CoDel."""
    return round(time_s * 1e9) // UNIT_NS


class LinuxCoDel(CoDel):
    """As include/net/codel_impl.h reckons."""

    def __init__(self, **rest: Any) -> None:
        super().__init__(**rest)
        self.target_s = self.clock(self.target_s)
        self.interval_s = self.clock(self.interval_s)
        if self.ce_threshold_s < math.inf:
            self.ce_threshold_s = self.clock(self.ce_threshold_s)
        self.inverse_root = 0

    def clock(self, time_s: float) -> float:
        """codel_get_time()."""
        return units(time_s) * UNIT_NS * 1e-9

    def is_over(self, now_s: float, when_s: float) -> bool:
        """codel_should_drop(): codel_time_after, not after_eq."""
        return now_s > when_s + SAME_INSTANT_S

    def enough(self, now_s: float) -> bool:
        """One request drops only so many; the kernel has no bound."""
        return len(self.outcome.dropped) >= self.late_at_most

    def began(self) -> None:
        self.inverse_root = 2**16 - 1

    def counted(self) -> None:
        """codel_Newton_step(): x (3 - n x^2) / 2; x has 16 binary places, its square and the
        bracket have 32 and 30."""
        square = (self.inverse_root**2 << 32) >> 32
        bracket = (3 * 2**32 - self.count * square) % 2**64 // 4
        self.inverse_root = bracket * (self.inverse_root << 16) % 2**64 // 2**47 % 2**16

    def spacing_s(self) -> float:
        """codel_control_law()."""
        return units(self.interval_s) * self.inverse_root // 2**16 * UNIT_NS * 1e-9
