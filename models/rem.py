# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""REM: Athuraliya, Low, Li and Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001; the
steps as in ns-2.35, queue/rem.cc, by two of the authors.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Packet, Ticking


class Rem(Ticking):
    """`capacity` in bytes per second; without `in_bytes` packets are counted. `by_growth` takes the
    growth of the queue for what came less what the link could send."""

    def __init__(
        self,
        *,
        capacity: float,
        q_ref: float = 20,
        gamma: float = 0.001,
        alpha: float = 0.1,
        phi: float = 1.001,
        interval_s: float = 0.002,
        mean_packet: int = 1000,
        in_bytes: bool = False,
        by_growth: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(tupdate_s=interval_s, **common)
        self.capacity = capacity
        self.q_ref = q_ref
        self.gamma = gamma
        self.alpha = alpha
        self.mean_packet = mean_packet
        self.in_bytes = in_bytes
        self.by_growth = by_growth
        self.queue_before = 0.0
        self.price = 0.0
        self.bound(phi)
        self.came = 0.0

    def bound(self, phi: float) -> None:
        """Not in the source: above, the probability is 1 to 2^-33 and the price would wind up."""
        self.phi = phi
        self.price_max = 33 * math.log(2) / math.log1p(phi - 1)
        self.price = min(self.price, self.price_max)

    def probability(self) -> float:
        """1 - phi^-price"""
        return -math.expm1(-self.price * math.log1p(self.phi - 1))

    def count(self, packet: Packet) -> None:
        """What arrives, lost or not."""
        self.came += packet.size / self.mean_packet if self.in_bytes else 1

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.count(packet)
        p = self.probability()
        if self.in_bytes:
            p = min(p * packet.size / self.mean_packet, 1.0)
        return self.signal(packet) if self.judge.below("signal", self.uniform(), p) else Act.PASS

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.count(packet)

    def queue(self) -> float:
        """In packets."""
        return self.bytes / self.mean_packet if self.in_bytes else len(self.waiting)

    def update(self, now_s: float) -> None:
        """price = max(0, price + gamma (in + alpha (q - b*) - c)); by growth
        price = max(0, price + gamma (q - (1 - alpha) q before - alpha b*))"""
        queue = self.queue()
        if self.by_growth:
            excess = queue - (1 - self.alpha) * self.queue_before - self.alpha * self.q_ref
        else:
            served = (now_s - self.updated_s) * self.capacity / self.mean_packet
            excess = self.came + self.alpha * (queue - self.q_ref) - served
        self.queue_before = queue
        self.price = min(max(self.price + self.gamma * excess, 0.0), self.price_max)
        self.came = 0.0
        self.updated_s = now_s

    def advance(self, now_s: float) -> None:
        """In silence all updates move the price alike: it is followed until it stands."""
        before = math.nan
        while self.next_s <= now_s + SAME_INSTANT_S:
            if self.price == before:
                left = math.floor((now_s + SAME_INSTANT_S - self.next_s) / self.tupdate_s)
                self.wakes += left
                self.next_s += left * self.tupdate_s
                self.updated_s = self.next_s - self.tupdate_s
            stood = not self.came and self.queue() == self.queue_before
            before = self.price if stood else math.nan
            self.wakes += 1
            self.wakes_in_silence += 1
            self.on_wake(self.next_s)
