# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""BLUE: Feng, Shin, Kandlur and Saha, "The BLUE Active Queue Management Algorithms", IEEE/ACM
Transactions on Networking 10(4), 2002.

"Upon packet loss (or Q_len > L) event: if ((now - last_update) > freeze_time) p_m = p_m + d1,
last_update = now. Upon link idle event: likewise p_m = p_m - d2."
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, Why


class Blue(Discipline):
    """`threshold` is L; None: only losses count."""

    def __init__(
        self,
        *,
        d1: float = 0.0025,
        d2: float = 0.00025,
        freeze_s: float = 0.1,
        threshold: int | None = None,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.d1 = d1
        self.d2 = d2
        self.freeze_s = freeze_s
        self.threshold = threshold
        self.p = 0.0
        self.last_s = start_s
        self.idle_since_s: float | None = None

    def thawed(self, now_s: float) -> bool:
        """Is the last change longer ago than the freeze time?"""
        return now_s - self.last_s > self.freeze_s + SAME_INSTANT_S

    def rise(self, now_s: float) -> None:
        """A loss, or a queue above L."""
        if self.thawed(now_s):
            self.p = min(self.p + self.d1, 1.0)
            self.last_s = now_s

    def stay_idle(self, now_s: float) -> None:
        """An idle link is an event in each freeze time."""
        assert self.idle_since_s is not None
        begin_s = max(self.last_s, self.idle_since_s)
        times = math.floor((now_s - begin_s + SAME_INSTANT_S) / self.freeze_s)
        if times:
            self.p = max(self.p - times * self.d2, 0.0)
            self.last_s = begin_s + times * self.freeze_s

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """Signalled with probability p_m."""
        if self.idle_since_s is not None:
            self.stay_idle(now_s)
        if self.threshold is not None and len(self.waiting) > self.threshold:
            self.rise(now_s)
        signals = self.judge.below("signal", self.uniform(), self.p)
        act = self.signal(packet) if signals else Act.PASS
        if act is not Act.DROP:
            self.idle_since_s = None
        return act

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """A packet loss. The queue holds packets, and so the link does not idle."""
        self.rise(now_s)

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        """In flows a loss is a packet of the fattest, which makes room."""
        if why is Why.FAT:
            self.on_overflow(now_s, packet)

    def on_request(self, now_s: float) -> Packet | None:
        """A request that finds nothing is where the link begins to idle."""
        packet = self.take()
        if packet is not None:
            return packet
        if self.idle_since_s is not None:
            self.stay_idle(now_s)
            return None
        self.idle_since_s = now_s
        if self.thawed(now_s):
            self.p = max(self.p - self.d2, 0.0)
            self.last_s = now_s
        return None
