# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""PIE: RFC 8033, section 4 and appendix A, with ECN, de-randomisation and the capped step of
sections 5.1, 5.4 and 5.5. Delay is measured with time stamps.
"""

from __future__ import annotations

from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet

# Section 4.2: below each probability the step is divided.
TUNING = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
DECAY = 1 - 1 / 64  # section 4.2: 0.98, for which this is sufficient
CAP = 0.02  # section 5.5
CAP_FROM = 0.1
MARK_BELOW = 0.1  # section 5.1: mark_ecnth
SAFE_BELOW = 0.2  # section 4.1
NO_DROP_BELOW = 0.85  # section 5.4
DROP_FROM = 8.5


class Pie(Discipline):
    """The PI controller of RFC 8033."""

    def __init__(
        self,
        *,
        target_s: float = 0.015,
        tupdate_s: float = 0.015,
        alpha_hz: float = 0.125,
        beta_hz: float = 1.25,
        max_burst_s: float = 0.150,
        mean_packet: int = 1514,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.target_s = target_s
        self.tupdate_s = tupdate_s
        self.alpha_hz = alpha_hz
        self.beta_hz = beta_hz
        self.max_burst_s = max_burst_s
        self.mean_packet = mean_packet
        self.next_s = start_s + tupdate_s
        self.p = 0.0
        self.p_sum = 0.0
        self.delay_s = 0.0
        self.delay_old_s = 0.0
        self.burst_s = max_burst_s

    def step(self, delay_s: float) -> float:
        """Section 4.2 and 5.5: the change of p."""
        change = self.alpha_hz * (delay_s - self.target_s)
        change += self.beta_hz * (delay_s - self.delay_old_s)
        for below, divisor in TUNING:
            if self.p < below:
                return change / divisor
        return min(change, CAP) if self.p >= CAP_FROM else change

    def quiet(self) -> bool:
        """Section 4.4: congestion has gone away."""
        half_s = self.target_s / 2
        return self.p == 0 and self.delay_s < half_s and self.delay_old_s < half_s

    def drop_early(self) -> bool:
        """Appendix B, drop_early."""
        if self.delay_old_s < self.target_s / 2 and self.p < SAFE_BELOW:
            return False
        if self.bytes <= 2 * self.mean_packet:
            return False
        if self.p == 0:
            self.p_sum = 0.0
        self.p_sum += self.p
        if self.judge.below("sum-low", self.p_sum, NO_DROP_BELOW):
            return False
        if not self.judge.below("sum-high", self.p_sum, DROP_FROM):
            return True
        return self.judge.below("signal", self.uniform(), self.p)

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        if self.quiet():
            self.burst_s = self.max_burst_s
        if self.burst_s > SAME_INSTANT_S or not self.drop_early():
            return Act.PASS
        self.p_sum = 0.0
        return self.signal(packet) if self.p < MARK_BELOW else Act.DROP

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.p_sum = 0.0

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is None or not self.waiting:
            self.delay_s = 0.0
        else:
            self.delay_s = now_s - packet.arrived_s
        return packet

    def wake_at(self) -> float:
        return self.next_s

    def on_wake(self, now_s: float) -> None:
        self.p += self.step(self.delay_s)
        if self.delay_s == 0 and self.delay_old_s == 0:
            self.p *= DECAY
        self.p = min(1.0, max(0.0, self.p))
        self.delay_old_s = self.delay_s
        self.burst_s = max(0.0, self.burst_s - self.tupdate_s)
        self.next_s = now_s + self.tupdate_s
