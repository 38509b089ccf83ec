# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""RED: Floyd and Jacobson, "Random early detection gateways for congestion avoidance", 1993.

Figure 2, "Detailed algorithm for RED gateways": avg, p_b and p_a; `RedAverage` and `RedProbability`
are shared by algorithms that build on RED. Section 4, the option to measure the queue in bytes.

Two later forms: gentle RED (Floyd, "Recommendation on using the gentle variant of RED", 2000), and
Adaptive RED (Floyd, Gummadi and Shenker, "Adaptive RED: an algorithm for increasing the robustness
of RED's active queue management", 2001, figure 1), which is gentle too (its section 4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from models.queue import NEVER, Act, Discipline, Packet, Why


@dataclass
class RedAverage:
    """The averaged queue length; while the link is idle it ages by packets that might have left.

    `before` is the average when the queue became empty, at `idle_since_s`, or when a packet last
    came to it.
    """

    weight: float
    packet_time_s: float
    average: float = 0.0
    idle_since_s: float | None = 0.0
    before: float = 0.0

    def empties(self, now_s: float) -> None:
        """Figure 2, "when queue becomes empty": q_time."""
        self.idle_since_s, self.before = now_s, self.average

    def update(self, now_s: float, length: float) -> float:
        """Figure 2, "calculate the new average queue size": a packet finds `length` waiting.

        If it finds none and is then refused, the link goes on idling.
        """
        if self.idle_since_s is not None and not length:
            self.average = self.at(now_s)
            self.empties(now_s)
        else:
            self.idle_since_s = None
            self.average += self.weight * (length - self.average)
        return self.average

    def at(self, now_s: float) -> float:
        """Figure 2, m: of an idle link, aged by the packets that could have left by now.

        f in m = f(time - q_time) is linear. A part of a packet's time counts along a straight line.
        With weight 1 the average is the queue, at any time.
        """
        if self.idle_since_s is None:
            return self.average
        if self.weight == 1:
            return 0.0
        part, whole = math.modf((now_s - self.idle_since_s) / self.packet_time_s)
        return float(self.before * (1 - self.weight) ** whole * (1 - self.weight * part))


@dataclass
class RedProbability:
    """Signals spread evenly between the thresholds: p_a = p_b / (1 - count p_b)."""

    min_th: float
    max_th: float
    max_p: float
    count: int = -1

    def slope(self, average: float) -> float:
        """Figure 2, p_b, between the thresholds."""
        return self.max_p * (average - self.min_th) / (self.max_th - self.min_th)

    def early(self, p_b: float) -> float:
        """Figure 2, p_a, of one more packet that arrives between the thresholds."""
        self.count += 1
        if (self.count + 1) * p_b >= 1:
            return 1.0
        return p_b / (1 - self.count * p_b)

    def gently(self, average: float) -> float:
        """Gentle RED: p_b goes on from max_p at max_th to 1 at twice max_th."""
        if average < self.max_th:
            return self.slope(average)
        return self.max_p + (1 - self.max_p) * (average - self.max_th) / self.max_th


@dataclass
class AdaptiveRed:
    """Adaptive RED, figure 1: max_p follows the average; section 4.1 keeps it in [0.01, 0.5]."""

    interval_s: float = 0.5
    decrease: float = 0.9
    most: float = 0.5
    least: float = 0.01

    def begin(self, max_p: float) -> float:
        """Where max_p starts: in its range."""
        return min(max(max_p, self.least), self.most)

    def next(self, max_p: float, average: float, min_th: float, max_th: float) -> float:
        """max_p behind one more interval."""
        low = min_th + 0.4 * (max_th - min_th)
        high = min_th + 0.6 * (max_th - min_th)
        if average > high and max_p <= self.most:
            return max_p + min(0.01, max_p / 4)
        if average < low and max_p >= self.least:
            return max_p * self.decrease
        return max_p


class RedQueue(Discipline):
    """Common to all algorithms that build on figure 2: the average, the link's idle time, and the
    signal between the thresholds."""

    def __init__(
        self,
        *,
        min_th: float,
        max_th: float,
        max_p: float,
        weight: float,
        packet_time_s: float,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.average = RedAverage(weight, packet_time_s, idle_since_s=start_s)
        self.red = RedProbability(min_th, max_th, max_p)

    def between(self, packet: Packet, p_b: float) -> Act:
        """Figure 2, "with probability p_a"."""
        p_a, drawn = self.red.early(p_b), self.uniform()
        if p_a < 1 and not self.judge.below("signal", drawn, p_a):
            return Act.PASS
        self.red.count = 0
        return self.signal(packet)

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        self.note_empty(now_s)

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None:
            self.note_empty(now_s)
        return packet

    def note_empty(self, now_s: float) -> None:
        """Figure 2, "when queue becomes empty"."""
        if not self.waiting:
            self.average.empties(now_s)


class Red(RedQueue):
    """Thresholds are in packets; or, with `by_bytes`, in bytes, and p_b is then the larger the
    larger the packet (section 4: p_b * PacketSize / MaximumPacketSize).

    Figure 2 says "mark" for the signal of both regions; `hard_drop` makes that of the upper one
    a drop. A packet that finds no room is one more forced drop.
    """

    def __init__(
        self,
        *,
        min_th: float = 5,
        max_th: float = 15,
        max_p: float = 0.02,
        weight: float = 0.002,
        packet_time_s: float = 0.001,
        gentle: bool = False,
        adaptive: AdaptiveRed | None = None,
        by_bytes: bool = False,
        largest_packet: float = 1500,
        hard_drop: bool = False,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(
            min_th=min_th,
            max_th=max_th,
            max_p=max_p,
            weight=weight,
            packet_time_s=packet_time_s,
            start_s=start_s,
            **common,
        )
        self.gentle = gentle or adaptive is not None
        self.adaptive = adaptive
        self.by_bytes = by_bytes
        self.largest_packet = largest_packet
        self.hard_drop = hard_drop
        self.p_b = self.p_packet = 0.0
        self.next_s = NEVER
        if adaptive:
            self.red.max_p = adaptive.begin(max_p)
            self.next_s = start_s + adaptive.interval_s

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        return self.decide(packet, self.measure(now_s))

    def measure(self, now_s: float) -> float:
        """Figure 2, "calculate the new average queue size"."""
        self.p_b = 0.0
        return self.average.update(now_s, self.bytes if self.by_bytes else len(self.waiting))

    def decide(self, packet: Packet, average: float) -> Act:
        """Figure 2, from "if min_th <= avg < max_th" on."""
        if average < self.red.min_th:
            self.red.count = -1
            return Act.PASS
        top = 2 * self.red.max_th if self.gentle else self.red.max_th
        if not self.judge.below("top", average, top):
            self.red.count = 0
            self.signals_for = self.reason = Why.THRESHOLD
            return self.refuse(Why.THRESHOLD) if self.hard_drop else self.signal(packet)
        self.signals_for = self.reason = Why.EARLY
        self.p_b = self.red.gently(average) if self.gentle else self.red.slope(average)
        self.p_packet = self.p_b
        if self.by_bytes:
            self.p_packet = min(1.0, self.p_b * packet.size / self.largest_packet)
        return self.between(packet, self.p_packet)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.measure(now_s)
        self.red.count = 0

    def wake_at(self) -> float:
        return self.next_s

    def on_wake(self, now_s: float) -> None:
        """The average of an idle link is the one that a packet would find."""
        assert self.adaptive
        red = self.red
        average = self.average.average if self.waiting else self.average.at(now_s)
        red.max_p = self.adaptive.next(red.max_p, average, red.min_th, red.max_th)
        self.next_s = now_s + self.adaptive.interval_s
