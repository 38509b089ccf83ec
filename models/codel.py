# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CoDel: RFC 8289 section 5, the pseudo-code step by step.

Two rules are Linux's and not in the pseudo-code: a marked packet is sent, so that a request ends
with the first mark; and one request drops 256 packets at most.

`LinuxCoDel` is the arithmetic of include/net/codel_impl.h: whole units of 1.024 us, and a
reciprocal root in 16 bits that takes one step of Newton's method with each signal.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, reached


class CoDel(Discipline):
    """Signals when the least time in the queue has stayed above a target for an interval."""

    def __init__(
        self,
        *,
        target_s: float = 0.005,
        interval_s: float = 0.1,
        mtu: int = 1514,
        drops_at_once: int = 256,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.target_s = target_s
        self.interval_s = interval_s
        self.mtu = mtu
        self.drops_at_once = drops_at_once
        self.first_above_s: float | None = None
        self.drop_next_s = 0.0
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
        if not reached(sojourn_s, self.target_s) or self.bytes <= self.mtu:
            self.first_above_s = None
        elif self.first_above_s is None:
            self.first_above_s = now_s + self.interval_s
        elif self.is_over(now_s, self.first_above_s):
            return packet, True
        return packet, False

    def clock(self, time_s: float) -> float:
        """A time as the law reads it."""
        return time_s

    def is_over(self, now_s: float, when_s: float) -> bool:
        """Has a whole interval above target passed?"""
        return reached(now_s, when_s)

    def counted(self) -> None:
        """The count has changed."""

    def began(self) -> None:
        """The count is 1 again."""

    def due(self, now_s: float) -> bool:
        """Is it time for the next signal? One request drops only so many; the RFC has no bound."""
        if len(self.outcome.dropped) >= self.drops_at_once:
            return False
        return not self.judge.below("drop_next", now_s, self.drop_next_s - SAME_INSTANT_S)

    def on_request(self, now_s: float) -> Packet | None:
        now_s = self.clock(now_s)
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
                self.drop(packet)
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
                self.drop(packet)
                packet, _ = self.next_packet(now_s)
            self.dropping = True
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
        self.inverse_root = 0

    def clock(self, time_s: float) -> float:
        return units(time_s) * UNIT_NS * 1e-9

    def is_over(self, now_s: float, when_s: float) -> bool:
        return now_s > when_s + SAME_INSTANT_S

    def began(self) -> None:
        self.inverse_root = 2**16 - 1

    def counted(self) -> None:
        """x (3 - n x^2) / 2; x has 16 binary places, its square and the bracket have 32 and 30."""
        square = (self.inverse_root**2 << 32) >> 32
        bracket = (3 * 2**32 - self.count * square) % 2**64 // 4
        self.inverse_root = bracket * (self.inverse_root << 16) % 2**64 // 2**47 % 2**16

    def spacing_s(self) -> float:
        return units(self.interval_s) * self.inverse_root // 2**16 * UNIT_NS * 1e-9
