# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DUK: Novak and Kasera, "Auto-tuning active queue management", COMSNETS 2017.

Equation 9 with its hidden unit written out: delays and the interval are in ticks, because the
equation adds a number to a time. The paper leaves out the capacity estimator; the one here sums
the time between departures while the queue was never empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from models.queue import Act, Discipline, Packet, reached

# The correction term has a pole; near it, this is as large as it is let grow.
TERM_MAX = 16.0

# Quotients that are whole numbers on paper may come out a little less.
ROUNDING = 1e-6


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


@dataclass(frozen=True)
class Equation:
    """What Eq. 9 is given at the end of one interval."""

    arrived: int
    sent: int
    could: int
    known: bool  # else `could` is only a lower bound, which must not enter the correction
    used: float
    was_used: float
    delay_change: float
    interval: float

    def p(self) -> float:
        """The probability for the next interval."""
        term = 0.0
        if self.known:
            term = correction(self.used, self.was_used, self.delay_change, self.interval)
        return probability(self.arrived, self.sent, self.could, term)


@dataclass
class Sums:
    """Bytes, and the time that the link took for them."""

    size: int = 0
    time_s: float = 0.0
    gaps: int = 0

    def tells(self) -> bool:
        """One gap alone may be anything."""
        return self.gaps >= 2 and self.time_s > 0


class Capacity:
    """The rate of the link, from departures that waited for nothing but the link.

    While packets remain queued the time between two departures is the service time of the first.
    What passes in the interval in which a busy period began counts only while nothing better is
    known: a shaper's saved-up credit goes at line rate.
    """

    def __init__(self) -> None:
        self.known: Sums | None = None
        self.sums = Sums()
        self.first = Sums()
        self.busy = False
        self.began_now = False
        self.last_s = 0.0
        self.last_size = 0
        self.most_sent = 0

    def departure(self, now_s: float, size: int, more_wait: bool) -> None:
        """A packet leaves."""
        if self.busy:
            sums = self.first if self.began_now else self.sums
            sums.size += self.last_size
            sums.time_s += now_s - self.last_s
            sums.gaps += 1
        else:
            self.began_now = True
        self.busy = more_wait
        self.last_s, self.last_size = now_s, size

    def interval_ends(self, interval_s: float, sent: int) -> None:
        """Settle; a busy stretch that is too short to tell goes on."""
        self.most_sent = max(self.most_sent, sent)
        short = not reached(self.sums.time_s, interval_s / 2)
        if self.sums.tells() and not (self.busy and short):
            self.known, self.sums = self.sums, Sums()
        elif not self.busy:
            self.sums = Sums()
        if self.known is None and self.first.tells():
            self.known = self.first
        self.first = Sums()
        self.began_now = False

    @property
    def rate(self) -> float:
        """Bytes per second; 0 while nothing is known."""
        return self.known.size / self.known.time_s if self.known else 0.0

    def could(self, interval_s: float) -> int:
        """Whole bytes that could have been sent; while nothing is known, the most that was."""
        return math.floor(self.rate * interval_s + ROUNDING) if self.known else self.most_sent

    def packet_time_s(self) -> float:
        """Service time of a mean packet."""
        return self.known.time_s / self.known.gaps if self.known else 0.0


EPOCH = 32
RUNGS = 11
BOOT_RUNG = 4
TICKS_MAX = 2**26


@dataclass
class Level:
    """What is known of one level of congestion: for each rung, utilisations in percent."""

    rung: int
    mean: dict[int, float] = field(default_factory=dict)
    epochs: dict[int, int] = field(default_factory=dict)
    wait: int = 1  # epochs between trials
    since: int = 0  # epochs since the last

    def learn(self, rung: int, used_pct: float) -> None:
        """One more epoch; the mean forgets what lies more than 32 back."""
        self.epochs[rung] = min(EPOCH, self.epochs.get(rung, 0) + 1)
        mean = self.mean.get(rung, 0.0)
        self.mean[rung] = mean + (used_pct - mean) / self.epochs[rung]


class IntervalSearch:
    """The smallest interval, per level of congestion, for which the transmit rate does not fall.

    Algorithm 2 as its prose wants it, by the rule of docs/algorithms/duk.md: intervals are the
    shortest one times a power of two, the rung.
    """

    def __init__(self) -> None:
        self.shortest = 1
        self.rung = BOOT_RUNG
        self.level = 0
        self.levels: dict[int, Level] = {}
        self.fresh = False
        self.most_in = 0.0
        self.packet_ticks = 0.0
        self.forget_epoch()

    def forget_epoch(self) -> None:
        """Begin a new one."""
        self.sent, self.could, self.time_s = 0, 0.0, 0.0
        self.signals = self.intervals = 0

    @property
    def ticks(self) -> int:
        """The interval in use."""
        return self.length(self.rung)

    def length(self, rung: int) -> int:
        """Ticks of an interval."""
        return min(TICKS_MAX, self.shortest << rung)

    def line(self, level: int) -> int:
        """A rung for a level never met: Eq. 11 by least squares, which must not rise."""
        n = len(self.levels)
        if not n:
            return self.rung
        mean_p = sum(self.levels) / n
        lengths = {p: 2.0**known.rung for p, known in self.levels.items()}
        mean_t = sum(lengths.values()) / n
        over = sum((p - mean_p) * (t - mean_t) for p, t in lengths.items())
        under = sum((p - mean_p) ** 2 for p in lengths)
        slope = min(0.0, over / under) if under > 0 else 0.0
        length = mean_t + slope * (level - mean_p) + ROUNDING
        return min(RUNGS - 1, math.floor(math.log2(length))) if length >= 1 else 0

    def congestion(self) -> int:
        """Eq. 10 in whole percent."""
        capacity = self.could / self.time_s
        if self.most_in <= capacity:
            return 0
        return min(99, math.floor(100 * (self.most_in - capacity) / self.most_in))

    def at_most(self, known: Level, rung: int) -> float:
        """The mean, one packet per interval and one percent: a rate is not known better."""
        return 1 + known.mean.get(rung, 0.0) + 100 * self.packet_ticks / self.length(rung)

    def smallest_good(self, known: Level) -> int:
        """The shortest interval whose rate may be the best one."""
        best = max(known.mean.values())
        for rung in range(RUNGS - 1):
            if rung in known.mean and self.at_most(known, rung) >= best:
                return rung
        return RUNGS - 1

    def longer_could_gain(self, known: Level, rung: int) -> bool:
        """Whether there is a longer one, and the link is not as good as full at this one."""
        return rung < RUNGS - 1 and self.at_most(known, rung) < 100

    def trial(self, known: Level) -> int:
        """The neighbour of which less is known; the longer one only while it could gain."""
        rung = known.rung
        fewer = known.epochs.get(rung + 1, 0) <= known.epochs.get(rung - 1, 0)
        if self.longer_could_gain(known, rung) and (rung == 0 or fewer):
            return rung + 1
        return max(0, rung - 1)

    def epoch_ends(self) -> None:
        """Judge the interval that was in use, unless it was new; choose the next."""
        used_pct = min(100.0, 100 * self.sent / self.could)
        level = self.congestion()
        known = self.levels.get(level)
        if known is None:
            known = self.levels[level] = Level(self.line(level))
            self.rung, self.fresh = known.rung, True
        elif level != self.level:
            self.rung, self.fresh = known.rung, True
        elif self.fresh:
            self.fresh = False
        else:
            known.learn(self.rung, used_pct)
            rung = self.choose(known)
            self.rung, self.fresh = rung, rung != self.rung
        self.level = level
        self.forget_epoch()

    def choose(self, known: Level) -> int:
        """Use what is best; now and then try another one."""
        best = self.smallest_good(known)
        if best != known.rung:
            known.rung, known.wait = best, 1
        elif self.rung > best and self.longer_could_gain(known, self.rung):
            return min(RUNGS - 1, best + 2 * (self.rung - best))
        elif self.rung != best:
            known.wait = min(EPOCH, 2 * known.wait)
        if self.rung == best:
            known.since += 1
            if known.since >= known.wait:
                known.since = 0
                return self.trial(known)
        return best

    def interval_ends(
        self,
        *,
        took_s: float,
        arrived: int,
        sent: int,
        could: float,
        signals: int,
        packet_ticks: float,
        mtu: int,
    ) -> int:
        """Add one interval to the epoch, which may end by it. The ticks of the next one."""
        self.packet_ticks = packet_ticks
        self.shortest = min(TICKS_MAX, max(1, math.ceil(packet_ticks - ROUNDING)))
        self.most_in = max(self.most_in, arrived / took_s)
        self.sent += sent
        self.could += could
        self.time_s += took_s
        self.signals += signals
        self.intervals += 1
        if self.signals >= EPOCH and self.intervals >= 2 and self.could >= 100 * mtu:
            self.epoch_ends()
        return self.ticks


class Duk(Discipline):
    """Algorithm 1, once per interval. `fixed_s` switches the search off.

    Without an event for so many intervals an empty queue, or one before a stopped link, tells
    nothing of the interval: the epoch is dropped and only the delay at the head still moves.
    """

    def __init__(
        self,
        *,
        tick_s: float = 0.001,
        fixed_s: float = 0.0,
        mtu: int = 1514,
        start_s: float = 0.0,
        empty_after: float = math.inf,
        stuck_after: float = math.inf,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.tick_s = tick_s
        self.mtu = mtu
        self.search = IntervalSearch()
        self.fixed = fixed_s > 0
        self.ticks = math.floor(fixed_s / tick_s + ROUNDING) if self.fixed else self.search.ticks
        self.interval_s = self.ticks * tick_s
        self.empty_after, self.stuck_after = empty_after, stuck_after
        self.next_s = start_s + self.interval_s
        self.p = 0.0
        self.capacity = Capacity()
        self.intervals = 0
        self.arrived = 0
        self.sent = 0
        self.signals = 0
        self.sojourn_s: float | None = None
        self.utilisation = 0.0
        self.delay_s = 0.0
        self.equation: Equation | None = None

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.arrived += packet.size
        if self.chance(self.p):
            self.signals += 1
            return self.signal(packet)
        return Act.PASS

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        self.arrived += packet.size

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None:
            self.sent += packet.size
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
        after = self.stuck_after if self.waiting else self.empty_after
        if self.wakes_in_silence > after:
            self.search.forget_epoch()
            self.delay_s = self.delay_now_s(now_s)
        else:
            self.capacity.interval_ends(self.interval_s, self.sent)
            self.update(now_s)
            self.choose_interval()
        self.next_s = now_s + self.interval_s

    def update(self, now_s: float) -> None:
        """Algorithm 1. The history moves on whichever way it ends."""
        could = self.capacity.could(self.interval_s)
        used = min(1.0, self.sent / could) if could else 0.0
        delay_s = self.delay_now_s(now_s)
        self.equation = Equation(
            arrived=self.arrived,
            sent=self.sent,
            could=could,
            known=self.capacity.known is not None,
            used=used,
            was_used=self.utilisation,
            delay_change=(delay_s - self.delay_s) / self.tick_s,
            interval=self.ticks,
        )
        self.intervals += 1
        counts = self.waiting and self.arrived and self.intervals >= 2
        self.p = self.equation.p() if counts else 0.0
        self.utilisation, self.delay_s = used, delay_s

    def choose_interval(self) -> None:
        """The interval search, unless it is switched off."""
        if not self.fixed:
            self.ticks = self.search.interval_ends(
                took_s=self.interval_s,
                arrived=self.arrived,
                sent=self.sent,
                could=self.capacity.could(self.interval_s),
                signals=self.signals,
                packet_ticks=self.capacity.packet_time_s() / self.tick_s,
                mtu=self.mtu,
            )
            self.interval_s = self.ticks * self.tick_s
        self.arrived, self.sent, self.signals, self.sojourn_s = 0, 0, 0, None
