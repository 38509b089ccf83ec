# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""PIE as published first: Pan et al., "PIE: a lightweight control scheme", HPSR 2013.

Delay is queue length over a measured departure rate; the step of the probability shrinks in two
stages when the probability is small. No cap, no second safeguard, no de-randomisation.
"""

from __future__ import annotations

from typing import Any

from models.queue import SAME_INSTANT_S, Act, Packet, Ticking

# The weight of a new rate sample is in the reference code only.
RATE_WEIGHT = 1 / 8


class Pie2013(Ticking):
    """A PI controller on the estimated delay, woken once per `tupdate_s`."""

    def __init__(
        self,
        *,
        target_s: float = 0.020,
        tupdate_s: float = 0.030,
        alpha_hz: float = 0.125,
        beta_hz: float = 1.25,
        max_burst_s: float = 0.100,
        dq_threshold: int = 10_000,
        **common: Any,
    ) -> None:
        super().__init__(tupdate_s=tupdate_s, **common)
        self.target_s = target_s
        self.alpha_hz = alpha_hz
        self.beta_hz = beta_hz
        self.max_burst_s = max_burst_s
        self.dq_threshold = dq_threshold
        self.p = 0.0
        self.delay_old_s = 0.0
        self.rate: float | None = None
        self.burst_s = max_burst_s
        self.cycle_bytes: int | None = None
        self.cycle_start_s = 0.0

    def step(self, delay_s: float) -> float:
        """Drop probability calculation, with its auto-tuning in two stages."""
        change = self.alpha_hz * (delay_s - self.target_s)
        change += self.beta_hz * (delay_s - self.delay_old_s)
        if self.p < 0.01:
            return change / 8
        if self.p < 0.1:
            return change / 2
        return change

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """Random dropping, unless a burst is tolerated."""
        if self.burst_s > SAME_INSTANT_S:
            return Act.PASS
        if self.chance(self.p):
            return self.signal(packet)
        return Act.PASS

    def on_request(self, now_s: float) -> Packet | None:
        """Departure rate estimation, at each departure."""
        packet = self.take()
        if packet is not None:
            self.measure(now_s, packet.size)
        return packet

    def measure(self, now_s: float, size: int) -> None:
        """A cycle of dq_threshold bytes, begun only while at least so many are waiting.

        In the order of RFC 8033's appendix B: what left after a cycle's start is counted in it.
        """
        if self.cycle_bytes is not None:
            self.cycle_bytes += size
            if self.cycle_bytes >= self.dq_threshold:
                self.sample(self.cycle_bytes, now_s - self.cycle_start_s)
                self.cycle_bytes = None
        if self.cycle_bytes is None and self.bytes >= self.dq_threshold:
            self.cycle_bytes = 0
            self.cycle_start_s = now_s

    def sample(self, size: int, took_s: float) -> None:
        """One measurement of the departure rate."""
        if took_s < SAME_INSTANT_S:
            return
        rate = size / took_s
        self.rate = rate if self.rate is None else self.rate + RATE_WEIGHT * (rate - self.rate)

    def rest(self) -> None:
        """As at the start."""
        self.p, self.burst_s = 0.0, self.max_burst_s
        self.delay_old_s = 0.0

    def update(self, now_s: float) -> None:
        """Queue over rate (Little's law), the new p, and burst tolerance."""
        delay_s = 0.0 if self.rate is None else self.bytes / self.rate
        self.p = min(1.0, max(0.0, self.p + self.step(delay_s)))
        self.burst_s = max(0.0, self.burst_s - self.tupdate_s)
        half_s = self.target_s / 2
        if self.p == 0 and delay_s < half_s and self.delay_old_s < half_s:
            self.burst_s = self.max_burst_s
        self.delay_old_s = delay_s
