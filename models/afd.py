# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""AFD: Pan, Breslau, Prabhakar and Shenker, "Approximate Fairness through Differential Dropping",
CCR 33(2), 2003.

One arrival of s joins a shadow buffer of b packets, in place of a random one. A flow with m_i there
is dropped with probability 1 - m_fair / m_i, and m_fair holds the queue. All counts are bytes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Packet, Ticking, Why


class Afd(Ticking):
    """`draw(n)` is one of 0 to n - 1. Its first use for an arrival decides whether that is sampled,
    the next one which sample it replaces."""

    signals_for = Why.RATE

    def __init__(
        self,
        *,
        draw: Callable[[int], int],
        q_target: float = 50_000,
        alpha: float = 1.7,
        beta: float = 1.8,
        rate_hz: float = 160,
        s: int = 5,
        b: int = 1000,
        mtu: int = 1514,
        **common: Any,
    ) -> None:
        super().__init__(tupdate_s=1 / rate_hz, **common)
        self.draw = draw
        self.q_target = q_target
        self.alpha = alpha
        self.beta = beta
        self.s = s
        self.shadow: list[tuple[int, int] | None] = [None] * b
        self.m: Counter[int] = Counter()
        self.m_most = float(b * mtu)
        self.m_fair = self.m_most
        self.q_before = 0.0
        self.m_i = 0
        self.d_i = 0.0

    def consider(self, packet: Packet) -> None:
        """The history has arrivals, dropped or not."""
        if self.draw(self.s) == 0:
            place = self.draw(len(self.shadow))
            old = self.shadow[place]
            if old is not None:
                self.m[old[0]] -= old[1]
            self.shadow[place] = (packet.flow, packet.size)
            self.m[packet.flow] += packet.size
            unlimited = self.m_fair == self.m_most
            # No flow can have more than b samples of the mean size.
            sizes = [sample[1] for sample in self.shadow if sample is not None]
            self.m_most = max(len(self.shadow) * sum(sizes) / len(sizes), 1.0)
            self.m_fair = self.m_most if unlimited else min(self.m_fair, self.m_most)
        self.m_i = self.m[packet.flow]
        self.d_i = max(0.0, 1 - self.m_fair / self.m_i) if self.m_i else 0.0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.consider(packet)
        if not self.judge.below("signal", self.uniform(), self.d_i):
            return Act.PASS
        # Not the paper's: what exceeds its share by much is never only marked.
        return self.signal(packet) if self.d_i <= 0.1 else self.refuse(Why.RATE)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.consider(packet)

    def update(self, now_s: float) -> None:
        """m_fair += alpha (q_old - q_target) - beta (q - q_target)"""
        q = self.bytes
        change = self.alpha * (self.q_before - self.q_target) - self.beta * (q - self.q_target)
        self.m_fair = min(max(self.m_fair + change, 1.0), self.m_most)
        self.q_before = q

    def advance(self, now_s: float) -> None:
        """In silence m_fair moves to an end and stays: these updates are counted only."""
        before = None
        while self.next_s <= now_s + SAME_INSTANT_S:
            if before == (self.m_fair, self.q_before):
                left = math.floor((now_s + SAME_INSTANT_S - self.next_s) / self.tupdate_s)
                self.wakes += left
                self.next_s += left * self.tupdate_s
            before = self.m_fair, self.q_before
            self.wakes += 1
            self.wakes_in_silence += 1
            self.on_wake(self.next_s)
