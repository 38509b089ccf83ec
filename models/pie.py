# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""PIE: RFC 8033, section 4 and appendix A, with ECN, de-randomisation and the capped step of
sections 5.1, 5.4 and 5.5. Delay comes from time stamps, or from the departure rate (section 5.2,
in the order of appendix B).

Not in the RFC but in Linux: the probability rises faster while the delay is above 250 ms.

`LinuxPie` has the safeguards of net/sched/sch_pie.c in place of the RFC's.
"""

from __future__ import annotations

from typing import Any

from models.queue import SAME_INSTANT_S, Act, Packet, Ticking

# Section 4.2: below each probability the step is divided.
TUNING = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
DECAY = 1 - 1 / 64  # section 4.2: 0.98, for which this is sufficient
CAP = 0.02  # section 5.5, from a probability of 0.1 on
SAFE_BELOW = 0.2  # section 4.1
FAR_S = 0.250
FAR_STEP = 0.02
DQ_THRESHOLD = 2**14  # section 5.2, bytes
DQ_WEIGHT = DQ_THRESHOLD / 2**16
NO_DROP_BELOW = 0.85  # section 5.4
DROP_FROM = 8.5


class Pie(Ticking):
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
        mark_below: float = 0.1,
        from_rate: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(tupdate_s=tupdate_s, **common)
        self.target_s = target_s
        self.alpha_hz = alpha_hz
        self.beta_hz = beta_hz
        self.max_burst_s = max_burst_s
        self.mean_packet = mean_packet
        self.mark_below = mark_below
        self.from_rate = from_rate
        self.p = 0.0
        self.p_sum = 0.0
        self.delay_s = 0.0
        self.delay_old_s = 0.0
        self.burst_s = max_burst_s
        self.cycle_bytes: int | None = None
        self.cycle_start_s = 0.0
        self.drain_s = 0.0

    def step(self, delay_s: float) -> float:
        """Section 4.2 and 5.5: the change of p."""
        change = self.alpha_hz * (delay_s - self.target_s)
        change += self.beta_hz * (delay_s - self.delay_old_s)
        for below, divisor in TUNING:
            if self.p < below:
                return change / divisor
        return min(change, CAP)

    def quiet(self) -> bool:
        """Section 4.4: congestion has gone away."""
        return self.p == 0 and self.is_short(self.delay_s) and self.is_short(self.delay_old_s)

    def is_short(self, delay_s: float) -> bool:
        """Below half the target."""
        return delay_s < self.target_s / 2 - SAME_INSTANT_S

    def own_p(self) -> float:
        """The probability of the packet that arrives; the same for all."""
        return self.p

    def may_mark(self) -> bool:
        """Section 5.1: is p low enough for marks?"""
        return self.p < self.mark_below

    def drop_early(self) -> bool:
        """Appendix B, drop_early."""
        if self.is_short(self.delay_old_s) and self.p < SAFE_BELOW:
            return False
        if self.bytes <= 2 * self.mean_packet:
            return False
        p = self.own_p()
        if p == 0:
            self.p_sum = 0.0
        self.p_sum += p
        if self.judge.below("sum-low", self.p_sum, NO_DROP_BELOW):
            return False
        if not self.judge.below("sum-high", self.p_sum, DROP_FROM):
            return True
        return self.chance(p)

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """Appendix B, enque, with section 4.4 first and 5.1 last."""
        if self.quiet():
            self.burst_s = self.max_burst_s
        if self.burst_s > SAME_INSTANT_S or not self.drop_early():
            return Act.PASS
        self.p_sum = 0.0
        return self.signal(packet) if self.may_mark() else Act.DROP

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.p_sum = 0.0

    def on_request(self, now_s: float) -> Packet | None:
        """Section 4.3, or 5.2."""
        packet = self.take()
        if packet is not None and self.from_rate:
            self.measure(now_s, packet.size)
        elif packet is not None:
            self.delay_s = now_s - packet.arrived_s
        return packet

    def measure(self, now_s: float, size: int) -> None:
        """Appendix B, deque: how long 16 kB take."""
        if self.cycle_bytes is not None:
            self.cycle_bytes += size
            if self.cycle_bytes >= DQ_THRESHOLD:
                took_s = now_s - self.cycle_start_s
                weight = DQ_WEIGHT if self.drain_s else 1.0
                self.drain_s += weight * (took_s - self.drain_s)
                self.cycle_bytes = None
        if self.cycle_bytes is None and self.bytes >= DQ_THRESHOLD:
            self.cycle_bytes = 0
            self.cycle_start_s = now_s

    def latest_delay_s(self) -> float:
        """Section 4.3. The last packet's delay says nothing of an empty queue."""
        if self.from_rate:
            return self.bytes * self.drain_s / DQ_THRESHOLD
        return self.delay_s if self.waiting else 0.0

    def rest(self) -> None:
        """As long after the last packet; the next one renews the burst allowance."""
        self.p = self.burst_s = 0.0
        self.delay_s = self.delay_old_s = 0.0

    def update(self, now_s: float) -> None:
        """Appendix A, calculate_drop_prob: sections 4.2 and 4.4."""
        self.delay_s = self.latest_delay_s()
        self.p += self.step(self.delay_s)
        if self.delay_s > FAR_S + SAME_INSTANT_S:
            self.p += FAR_STEP
        self.p = min(1.0, max(0.0, self.p))
        if self.delay_s == 0 and self.delay_old_s == 0:
            self.p *= DECAY
        self.delay_old_s = self.delay_s
        self.burst_s = max(0.0, self.burst_s - self.tupdate_s)


FIRST_WAKE_S = 0.5
WRAPS_AT = 256  # 64 bits, 56 of them behind the point


class LinuxPie(Pie):
    """sch_pie.c. It starts late; a short queue shows in the last packet's delay; the burst
    allowance is spent while packets leave and granted by an update; p goes beyond 1."""

    def __init__(self, **rest: Any) -> None:
        super().__init__(**rest)
        self.next_s += FIRST_WAKE_S - self.tupdate_s
        self.left_s: float | None = None

    def drop_early(self) -> bool:
        """pie_drop_early()."""
        if self.is_short(self.delay_s) and self.p < SAFE_BELOW:
            return False
        if self.bytes < 2 * self.mean_packet:
            return False
        p = self.own_p()
        self.p_sum = (self.p_sum + p) % WRAPS_AT if p > 0 else 0.0
        if self.judge.below("sum-low", self.p_sum, NO_DROP_BELOW):
            return False
        if not self.judge.below("sum-high", self.p_sum, DROP_FROM):
            return True
        if not self.chance(min(p, 1.0)):
            return False
        self.p_sum = 0.0
        return True

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """pie_qdisc_enqueue(). Only a drop clears the sum that has grown too large."""
        if self.burst_s > SAME_INSTANT_S or not self.drop_early():
            return Act.PASS
        act = self.signal(packet) if self.may_mark() else Act.DROP
        if act is Act.DROP:
            self.p_sum = 0.0
        return act

    def on_request(self, now_s: float) -> Packet | None:
        """pie_process_dequeue()."""
        packet = super().on_request(now_s)
        if packet is None:
            return None
        if not self.waiting and not self.from_rate:
            self.delay_s = 0.0
        if self.left_s is not None:
            self.burst_s = max(0.0, self.burst_s - (now_s - self.left_s))
        self.left_s = now_s
        return packet

    def update(self, now_s: float) -> None:
        """pie_calculate_probability()."""
        self.delay_s = self.latest_delay_s()
        step = self.step(self.delay_s) + (FAR_STEP if self.delay_s > FAR_S + SAME_INSTANT_S else 0)
        self.p = max(0.0, self.p + step)
        if self.p >= WRAPS_AT:
            self.p = 1.0
        if self.delay_s == self.delay_old_s == 0 and not self.bytes:
            self.p *= DECAY
        if self.quiet():
            self.burst_s = self.max_burst_s
            self.p_sum = 0.0
            self.left_s = None
        self.delay_old_s = self.delay_s
