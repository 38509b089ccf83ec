# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""LQD: Le, Jeffay and Smith, "A Loss and Queuing-Delay Controller for Router Buffer Management",
ICDCS 2006, section 3.1.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Packet, Ticking, Why


class Lqd(Ticking):
    """p(kT) = p((k - 1)T) + a (q(kT) - q_ref) - b (l(kT) - p_ref), a probability."""

    def __init__(
        self,
        *,
        q_ref: float = 24,
        p_ref: float = 0.0,
        a: float = 0.0001,
        b: float = 0.1,
        interval_s: float = 0.001,
        **common: Any,
    ) -> None:
        super().__init__(tupdate_s=interval_s, **common)
        self.q_ref = q_ref
        self.p_ref = p_ref
        self.a = a
        self.b = b
        self.p = 0.0
        self.loss = 0.0
        self.arrivals = 0
        self.lost = 0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """ "Used to decide whether the arriving packet is to be dropped or forwarded"."""
        self.arrivals += 1
        if not self.judge.below("signal", self.uniform(), self.p):
            return Act.PASS
        self.lost += 1
        return self.signal(packet)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """Lost too."""
        self.arrivals += 1
        self.lost += 1

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        """In flows another packet may be lost for one that arrives."""
        self.lost += why is Why.FAT

    def update(self, now_s: float) -> None:
        """Without arrivals there is no l. Else it is "the ratio of the number of dropped packets to
        the number of arriving packets"."""
        change = self.a * (len(self.waiting) - self.q_ref)
        if self.arrivals:
            self.loss = min(1.0, self.lost / self.arrivals)
            change -= self.b * (self.loss - self.p_ref)
        self.arrivals = self.lost = 0
        self.p = min(max(self.p + change, 0.0), 1.0)

    def advance(self, now_s: float) -> None:
        """In silence p moves to 0 or 1 and stays: the updates that change nothing are counted."""
        before = None
        while self.next_s <= now_s + SAME_INSTANT_S:
            if before == self.p and self.p in (0.0, 1.0):
                left = math.floor((now_s + SAME_INSTANT_S - self.next_s) / self.tupdate_s)
                self.wakes += left
                self.next_s += left * self.tupdate_s
            before = self.p if not self.arrivals else None
            self.wakes += 1
            self.wakes_in_silence += 1
            self.on_wake(self.next_s)
