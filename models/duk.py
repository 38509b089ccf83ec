# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DUK: Novak and Kasera, "Auto-tuning active queue management", COMSNETS 2017.

Equation 9 with its hidden unit written out: delays and the interval are in ticks, because the
equation adds a number to a time. The paper leaves out the capacity estimator; the one here sums
the time between departures while the queue was never empty. Algorithm 2 is read from print, line
by line; `IntervalSearch` is of this project and in no paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from models.queue import Act, Discipline, Packet, Why, reached

# The correction term has a pole; near it, this is as large as it is let grow.
TERM_MAX = 16.0

# The paper's U = beta / C has no bound, and an estimate of C may be much too low.
UTILISATION_MAX = 4.0

# Quotients that are whole numbers on paper may come out a little less.
ROUNDING = 1e-6
LEVEL_ROUNDING = 1e-9


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


def utilisation(sent: float, could: float) -> float:
    """U = beta / C (section IV), of bytes of one interval. It may be more than 1."""
    return min(UTILISATION_MAX, sent / could) if could else 0.0


def probability(arrived: float, left: float, capacity: float, term: float) -> float:
    """Eq. 9, clamped as Algorithm 1 says. Bytes of one interval."""
    p = 1 - (left + capacity * term) / arrived
    return min(1.0, max(0.0, p))


@dataclass(frozen=True)
class Equation:
    """The inputs of Eq. 9 at the end of one interval."""

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
    known: a shaper's saved-up credit goes at line rate. A link that lets nothing pass for longer
    than `stopped_s` stands; that time is no service, and a busy period begins behind it.
    """

    def __init__(self, stopped_s: float) -> None:
        self.stopped_s = stopped_s
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
        stood = not reached(self.last_s + self.stopped_s, now_s)
        if self.busy and not stood:
            sums = self.first if self.began_now else self.sums
            sums.size += self.last_size
            sums.time_s += now_s - self.last_s
            sums.gaps += 1
        else:
            self.began_now = True
        self.busy = more_wait
        self.last_s, self.last_size = now_s, size

    def emptied(self) -> None:
        """The backlog is gone without a departure."""
        self.busy = False

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


TICKS_MAX = 1024


@dataclass(frozen=True)
class Interval:
    """The inputs of a rule for the next interval, from the one that has ended."""

    took_s: float
    arrived: int
    sent: int
    could: float
    signals: int
    rate: float  # C in bytes per second; 0: not known
    packet_ticks: float
    mtu: int


class Rule(Protocol):
    """How long to measure."""

    level: int

    @property
    def ticks(self) -> int:
        """The interval in use."""

    def ended(self, interval: Interval) -> int:
        """An interval has ended. The ticks of the next one."""

    def forget(self) -> None:
        """The link has been unused for long."""


def percent_of_congestion(ingress: float, egress: float) -> int:
    """Eq. 10, P = 100 (M - C) / M, in whole percent; M is no less than C."""
    if ingress <= egress:
        return 0
    return min(99, math.floor(100 * (ingress - egress) / ingress + LEVEL_ROUNDING))


def curve_fit(points: Mapping[int, int]) -> tuple[Fraction, Fraction]:
    """m and c of Eq. 11, dt = m P + c, by least squares over intervals known by level."""
    n = len(points)
    mean_p = Fraction(sum(points), n)
    mean_t = Fraction(sum(points.values()), n)
    over = sum(((p - mean_p) * (t - mean_t) for p, t in points.items()), Fraction(0))
    m = over / sum(((p - mean_p) ** 2 for p in points), Fraction(0))
    return m, mean_t - m * mean_p


class Algorithm2:
    """Algorithm 2 as printed; its lines are quoted where they are done.

    Print does not say: the first interval (section II measures by "the resolution of the system
    clock": one tick); what `old` is at a level never met (no sample that could be greater or
    shorter: both comparisons hold); the line through fewer than two points (the interval stays).
    """

    def __init__(self, first: int = 1) -> None:
        self.ticks = first
        self.level = 0
        self.p_last: int | None = None
        self.beta_old: dict[int, Fraction] = {}
        self.dt_old: dict[int, int] = {}
        self.m_c: tuple[Fraction, Fraction] | None = None
        self.ingress = 0.0  # M, "the estimate of the ingress link capacity"

    def ended(self, interval: Interval) -> int:
        self.ingress = max(self.ingress, interval.arrived / interval.took_s)
        if interval.rate:
            self.level = percent_of_congestion(self.ingress, interval.rate)
            self.step(self.level, Fraction(interval.sent, self.ticks))
        return self.ticks

    def step(self, p_cur: int, beta_cur: Fraction) -> None:
        """The printed lines."""
        # "if (P_cur != P_last) {"
        if p_cur == self.p_last:
            return
        self.p_last = p_cur
        # "if (beta_cur >= beta_old at P_cur and dt_cur < dt_old at P_cur) {"
        as_much = beta_cur >= self.beta_old.get(p_cur, beta_cur)
        shorter = self.ticks < self.dt_old.get(p_cur, math.inf)
        if as_much and shorter:
            # "beta_new at P_cur = beta_cur", "dt_new at P_cur = dt_cur"
            self.beta_old[p_cur] = beta_cur
            self.dt_old[p_cur] = self.ticks
            # "Set m and c from curve fit of Equation 11}"
            if len(self.dt_old) >= 2:
                self.m_c = curve_fit(self.dt_old)
        # "dt_new = m P_cur + c"
        if self.m_c is not None:
            m, c = self.m_c
            self.ticks = min(TICKS_MAX, max(1, math.floor(m * p_cur + c + Fraction(1, 2))))

    def forget(self) -> None:
        pass


class OneTick:
    """Always the resolution of the clock, or the time of a packet if that is longer."""

    def __init__(self) -> None:
        self.ticks = 1
        self.level = 0

    def ended(self, interval: Interval) -> int:
        self.ticks = shortest(interval.packet_ticks)
        return self.ticks

    def forget(self) -> None:
        pass


class Fixed:
    """The interval that the user has set."""

    def __init__(self, ticks: int) -> None:
        self.ticks = ticks
        self.level = 0

    def ended(self, interval: Interval) -> int:
        return self.ticks

    def forget(self) -> None:
        pass


def shortest(packet_ticks: float) -> int:
    """Whole ticks in which a packet can be served."""
    return min(TICKS_MAX, max(1, math.ceil(packet_ticks - ROUNDING)))


EPOCH = 32
RUNGS = 11
BOOT_RUNG = 4


@dataclass
class Level:
    """Knowledge of one level of congestion: for each rung, utilisations in percent."""

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

    What the prose beside Algorithm 2 wants, by the rule of docs/reference/algorithms/duk.md, and
    not by the paper's: intervals are the shortest one times a power of two, the rung.
    """

    def __init__(self) -> None:
        self.shortest = 1
        self.rung = BOOT_RUNG
        self.level = 0
        self.levels: dict[int, Level] = {}
        self.fresh = False
        self.most_in = 0.0
        self.packet_ticks = 0.0
        self.forget()

    def forget(self) -> None:
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
        return percent_of_congestion(self.most_in, self.could / self.time_s)

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
        self.forget()

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

    def ended(self, interval: Interval) -> int:
        """Add one interval to the epoch, which may end by it."""
        self.packet_ticks = interval.packet_ticks
        self.shortest = shortest(interval.packet_ticks)
        self.most_in = max(self.most_in, interval.arrived / interval.took_s)
        self.sent += interval.sent
        self.could += interval.could
        self.time_s += interval.took_s
        self.signals += interval.signals
        self.intervals += 1
        if self.signals >= EPOCH and self.intervals >= 2 and self.could >= 100 * interval.mtu:
            self.epoch_ends()
        return self.ticks


class Duk(Discipline):
    """Algorithm 1, once per interval, whose length a rule finds.

    Without an event for so many intervals an empty queue, or one before a stopped link, tells
    nothing of the interval: the rule forgets and only the delay at the head still moves.
    """

    def __init__(
        self,
        *,
        tick_s: float = 0.001,
        rule: Rule | None = None,
        mtu: int = 1514,
        start_s: float = 0.0,
        empty_after: float = math.inf,
        stuck_after: float = math.inf,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.tick_s = tick_s
        self.mtu = mtu
        self.rule = rule or Algorithm2()
        self.ticks = self.rule.ticks
        self.interval_s = self.ticks * tick_s
        self.empty_after, self.stuck_after = empty_after, stuck_after
        self.next_s = start_s + self.interval_s
        self.p = 0.0
        self.capacity = Capacity(TICKS_MAX * tick_s)
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

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        if not self.waiting:
            self.capacity.emptied()

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
            self.rule.forget()
            self.delay_s = self.delay_now_s(now_s)
        else:
            self.capacity.interval_ends(self.interval_s, self.sent)
            self.update(now_s)
            self.choose_interval()
        self.next_s = now_s + self.interval_s

    def update(self, now_s: float) -> None:
        """Algorithm 1. The history moves on whichever way it ends."""
        could = self.capacity.could(self.interval_s)
        used = utilisation(self.sent, could)
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
        """The rule finds the next one."""
        self.ticks = self.rule.ended(
            Interval(
                took_s=self.interval_s,
                arrived=self.arrived,
                sent=self.sent,
                could=self.capacity.could(self.interval_s),
                signals=self.signals,
                rate=self.capacity.rate,
                packet_ticks=self.capacity.packet_time_s() / self.tick_s,
                mtu=self.mtu,
            )
        )
        self.interval_s = self.ticks * self.tick_s
        self.arrived, self.sent, self.signals, self.sojourn_s = 0, 0, 0, None
