# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DUK: Novak and Kasera, "Auto-tuning active queue management", COMSNETS 2017.

Equation 9 with its hidden unit written out: delays and the interval are in ticks, because the
equation adds a number to a time. The paper leaves out the capacity estimator; the one here sums
the time between departures while the queue was never empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from models.queue import Act, Discipline, Packet

# The correction term has a pole; near it, this is as large as it is let grow.
TERM_MAX = 16.0


def correction(utilisation: float, previous: float, delay_change: float, interval: float) -> float:
    """The first summand of Eq. 9's bracket. Delay and interval in ticks.

    (U_i - U_i-1)(1 + dt) / ((1 - dD/dU + (1 + dt)) dt), multiplied out by U_i - U_i-1 so that a
    utilisation that stands still is no division by zero.
    """
    change = utilisation - previous
    if change == 0:
        return 0.0
    above = change * change * (1 + interval) / interval
    below = change * (2 + interval) - delay_change
    if below == 0:
        return TERM_MAX
    return max(-TERM_MAX, min(TERM_MAX, above / below))


def probability(arrived: float, left: float, capacity: float, term: float) -> float:
    """Eq. 9, clamped as Algorithm 1 says. Bytes of one interval."""
    p = 1 - (left + capacity * term) / arrived
    return min(1.0, max(0.0, p))


@dataclass
class Capacity:
    """Bytes over time of departures that waited for nothing but the link.

    A departure counts when the one before it left packets behind: the link was busy in between.
    """

    rate: float | None = None
    sum_bytes: int = 0
    sum_s: float = 0.0
    gaps: int = 0
    last_s: float | None = None  # the previous departure, if it left packets behind
    last_bytes: int = 0
    warm: bool = False  # this busy period began in an earlier interval

    def departure(self, now_s: float, size: int, more_wait: bool) -> None:
        """A packet leaves."""
        if self.last_s is not None and (self.warm or self.rate is None):
            self.sum_bytes += self.last_bytes
            self.sum_s += now_s - self.last_s
            self.gaps += 1
        self.last_s = now_s if more_wait else None
        self.last_bytes = size
        if not more_wait:
            self.warm = False

    def interval_ends(self, interval_s: float) -> None:
        """Settle the rate; a short stretch of a busy period that goes on is carried over."""
        busy = self.last_s is not None
        if not (busy and self.sum_s < interval_s / 2):
            if self.gaps >= 2 and self.sum_s > 0:
                self.rate = self.sum_bytes / self.sum_s
            self.sum_bytes, self.sum_s, self.gaps = 0, 0.0, 0
        self.warm = busy


class Duk(Discipline):
    """Algorithm 1, once per interval."""

    def __init__(self, *, tick_s: float = 0.001, start_s: float = 0.0, **common: Any) -> None:
        super().__init__(**common)
        self.tick_s = tick_s
        self.ticks = 1
        self.next_s = start_s + tick_s
        self.p = 0.0
        self.capacity = Capacity()
        self.intervals = 0
        self.arrived = 0
        self.left = 0
        self.most_left = 0
        self.sojourn_s: float | None = None
        self.utilisation = 0.0
        self.delay_s = 0.0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.arrived += packet.size
        if self.chance(self.p):
            return self.signal(packet)
        return Act.PASS

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None:
            self.left += packet.size
            self.sojourn_s = now_s - packet.arrived_s
            self.capacity.departure(now_s, packet.size, bool(self.waiting))
        return packet

    def delay_now_s(self, now_s: float) -> float:
        """The time in the queue of the last that left, or so far of the one at the head."""
        if not self.waiting:
            return 0.0
        if self.sojourn_s is not None:
            return self.sojourn_s
        return now_s - self.waiting[0].arrived_s

    def wake_at(self) -> float:
        return self.next_s

    def on_wake(self, now_s: float) -> None:
        interval_s = self.ticks * self.tick_s
        self.capacity.interval_ends(interval_s)
        self.most_left = max(self.most_left, self.left)
        known = self.capacity.rate is not None
        capacity = self.capacity.rate * interval_s if self.capacity.rate else self.most_left
        utilisation = min(1.0, self.left / capacity) if capacity else 0.0
        delay_s = self.delay_now_s(now_s)
        self.intervals += 1
        if not self.waiting or not self.arrived or self.intervals < 2:
            self.p = 0.0
        else:
            term = 0.0
            if known:
                change = (delay_s - self.delay_s) / self.tick_s
                term = correction(utilisation, self.utilisation, change, self.ticks)
            self.p = probability(self.arrived, self.left, capacity, term)
        self.utilisation, self.delay_s = utilisation, delay_s
        self.arrived, self.left, self.sojourn_s = 0, 0, None
        self.next_s = now_s + self.ticks * self.tick_s
