# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Common parts of all models: a packet, a plain first-in first-out queue, a way to decide.

A model is a subclass of `Discipline`. It says what happens to an arriving packet
(`on_arrival`), serves the queue (`on_request`) and may ask to be woken (`wake_at`). The class
here does the common work: stamp, limit, order, wake in time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

NEVER = math.inf

# Times are floats of seconds. Inputs are whole nanoseconds, so two times nearer than half of one
# are the same instant and differ only by rounding.
SAME_INSTANT_S = 0.5e-9

# Bound of work: packets that one arrival may push out.
MOST_EVICTED = 1024


def reached(now_s: float, when_s: float) -> bool:
    """Has `when_s` come?"""
    return now_s >= when_s - SAME_INSTANT_S


class Act(Enum):
    """The fate of a packet."""

    PASS = "pass"
    MARK = "mark"
    DROP = "drop"


class Why(Enum):
    """For what reason it was lost or marked."""

    EARLY = "early"  # drawn with a probability
    DELAY = "delay"  # its time in the queue
    THRESHOLD = "threshold"  # a fixed bound of the algorithm
    MATCH = "match"  # the same flow as a drawn packet
    RATE = "rate"  # its flow is held to a rate
    LIMIT = "limit"  # the queue is full
    FAT = "fat"  # its flow made room for others
    LOWERED = "lowered"  # the limit went below the backlog
    RESET = "reset"  # all that waits goes


@dataclass(eq=False)
class Packet:
    """A packet as a queue sees it; `number` is its order of arrival."""

    number: int
    size: int
    flow: int = 0
    ect: bool = False
    arrived_s: float = 0.0
    marked: bool = False
    probe: bool = False  # the algorithm's own, which it never decides about
    ecn: int = 0  # the field as it came: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE


@dataclass
class Outcome:
    """The outcome of one arrival or one dequeue request, with the reason of each loss and mark."""

    dropped: list[int] = field(default_factory=list)
    marked: list[int] = field(default_factory=list)
    why: dict[int, Why] = field(default_factory=dict)
    sent: int | None = None


class Judge:
    """Decides the comparisons in which an approximation of the same algorithm may differ.

    A model that stands beside another implementation is given a judge that follows the other
    one where the two sides are nearer than the other's stated precision.
    """

    def below(self, what: str, value: float, bound: float) -> bool:
        """value < bound"""
        return value < bound


Uniform = Callable[[], float]


def no_draws() -> float:
    """The uniform numbers of an algorithm that draws none."""
    raise AssertionError("this algorithm draws no random numbers")


class Discipline:
    """A queue with a limit; the algorithm is in the subclass, `signals_for` the usual reason of
    its signals."""

    signals_for = Why.EARLY

    def __init__(
        self,
        *,
        limit_pkts: float = math.inf,
        limit_bytes: float = math.inf,
        ecn: bool = False,
        judge: Judge | None = None,
        uniform: Uniform = no_draws,
    ) -> None:
        self.limit_pkts = limit_pkts
        self.limit_bytes = limit_bytes
        self.ecn = ecn
        self.judge = judge or Judge()
        self.uniform = uniform
        self.waiting: list[Packet] = []
        self.bytes = 0
        # Bytes that wait for the same link in other queues.
        self.elsewhere: Callable[[], int] = lambda: 0
        self.outcome = Outcome()
        self.reason = self.signals_for
        self.wakes = 0
        self.wakes_in_silence = 0
        # What changes at the next event.
        self.new_rows: list[Callable[[float], None]] = []

    # What a subclass says.

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """A packet that the limit lets in; it is not in the queue yet."""
        return Act.PASS

    def on_request(self, now_s: float) -> Packet | None:
        """A dequeue request of the link."""
        return self.take()

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        """A waiting packet left another way than by `on_request`."""

    def make_room(self, now_s: float, packet: Packet) -> None:
        """The limit is reached: what waits may leave for a packet that arrives, up to
        `MOST_EVICTED`."""

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """The limit refuses a packet for which an empty queue has room."""

    def on_answer(self, now_s: float, rtt_s: float) -> None:
        """A probe has come back."""

    def wake_at(self) -> float:
        """When to call `on_wake` next."""
        return NEVER

    def on_wake(self, now_s: float) -> None:
        """The time asked for has come."""

    # What every queue does.

    def advance(self, now_s: float) -> None:
        """Wake the algorithm at each of its times up to now."""
        while reached(now_s, self.wake_at()):
            self.wakes += 1
            self.wakes_in_silence += 1
            self.on_wake(self.wake_at())

    def change(self, now_s: float, take: Callable[[float], None]) -> None:
        """Rows change: `take` is called at the next event, or with the next change."""
        self.take_rows(now_s)
        self.new_rows.append(take)

    def take_rows(self, now_s: float) -> None:
        for take in self.new_rows:
            take(now_s)
        self.new_rows.clear()

    def event_begins(self, now_s: float) -> None:
        """An event: the algorithm wakes with the old values as often as it should have, and then
        takes the new ones."""
        self.outcome = Outcome()
        self.advance(now_s)
        self.take_rows(now_s)

    def arrive(self, now_s: float, packet: Packet) -> Outcome:
        """A packet comes to the queue."""
        self.event_begins(now_s)
        self.wakes_in_silence = 0
        packet.arrived_s = now_s
        self.reason = self.signals_for
        if packet.size > self.limit_bytes:
            self.drop(packet, Why.LIMIT)
            return self.outcome
        if self.is_full(packet):
            self.make_room(now_s, packet)
        if self.is_full(packet):
            self.reason = Why.LIMIT
            self.on_overflow(now_s, packet)
            self.drop(packet, self.reason)
            return self.outcome
        act = self.on_arrival(now_s, packet)
        if act is Act.DROP:
            self.drop(packet, self.reason)
            return self.outcome
        if act is Act.MARK:
            self.mark(packet)
        self.join(packet)
        return self.outcome

    def is_full(self, packet: Packet) -> bool:
        """The packet does not fit."""
        return len(self.waiting) >= self.limit_pkts or self.bytes + packet.size > self.limit_bytes

    def request(self, now_s: float) -> Outcome:
        """The link requests the next packet."""
        self.event_begins(now_s)
        self.wakes_in_silence = 0
        packet = self.on_request(now_s)
        self.outcome.sent = None if packet is None else packet.number
        return self.outcome

    def lower_limit(self, now_s: float, limit_pkts: float) -> Outcome:
        """A smaller limit takes packets from the head until the rest fits. If it takes none, it is
        no event of the algorithm."""
        self.outcome = Outcome()
        if len(self.waiting) > limit_pkts:
            self.advance(now_s)
        self.limit_pkts = limit_pkts
        while len(self.waiting) > limit_pkts:
            self.remove(now_s, 0, Why.LOWERED)
        return self.outcome

    def answer(self, now_s: float, rtt_s: float) -> Outcome:
        """A probe comes back after so long."""
        self.event_begins(now_s)
        self.wakes_in_silence = 0
        self.on_answer(now_s, rtt_s)
        return self.outcome

    def so_far(self) -> Outcome:
        """The outcome of this event until now."""
        return self.outcome

    def all_waiting(self) -> list[Packet]:
        """The packets that a reset takes."""
        return self.waiting

    def join(self, packet: Packet) -> None:
        """A packet goes to the tail."""
        self.waiting.append(packet)
        self.bytes += packet.size

    def take(self) -> Packet | None:
        """The packet at the head leaves the queue."""
        if not self.waiting:
            return None
        packet = self.waiting.pop(0)
        self.bytes -= packet.size
        return packet

    def remove(self, now_s: float, position: int, why: Why) -> None:
        """Drop a packet from the middle of the queue."""
        packet = self.waiting.pop(position)
        self.bytes -= packet.size
        self.drop(packet, why)
        self.on_removal(now_s, packet, why)

    def drop(self, packet: Packet, why: Why) -> None:
        """Count a loss; the packet is in no queue."""
        self.outcome.dropped.append(packet.number)
        self.outcome.why[packet.number] = why

    def mark(self, packet: Packet) -> None:
        """Set congestion experienced (RFC 3168)."""
        packet.marked = True
        self.outcome.marked.append(packet.number)
        self.outcome.why[packet.number] = self.signals_for

    def refuse(self, why: Why) -> Act:
        """An arrival is lost, and not as a signal."""
        self.reason = why
        return Act.DROP

    def chance(self, p: float) -> bool:
        """True with probability p. Nothing is drawn for what cannot happen."""
        return p > 0 and self.judge.below("signal", self.uniform(), p)

    def signal(self, packet: Packet) -> Act:
        """A mark where one may be set, else a loss."""
        return Act.MARK if self.ecn and packet.ect else Act.DROP


class Ticking(Discipline):
    """A queue whose algorithm computes once per `tupdate_s` (`update`).

    Two bounds are of work, not of a paper. Without an event an empty queue is at rest after
    `rest_after` updates, and one that waits for a stopped link is left as it is from
    `stuck_after` updates on.
    """

    def __init__(
        self,
        *,
        tupdate_s: float,
        start_s: float = 0.0,
        rest_after: float = math.inf,
        stuck_after: float = math.inf,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.tupdate_s = tupdate_s
        self.next_s = start_s + tupdate_s
        # When it last computed, for one that needs to know how long ago.
        self.updated_s = start_s
        self.rest_after = rest_after
        self.stuck_after = stuck_after

    def update(self, now_s: float) -> None:
        """The computation of each update."""
        raise NotImplementedError

    def rest(self) -> None:
        """The state that an empty queue comes to."""
        raise NotImplementedError

    def change_tupdate(self, now_s: float, tupdate_s: float) -> None:
        """No update waits for the end of a time that has become shorter."""
        self.tupdate_s = tupdate_s
        self.next_s = min(self.next_s, now_s + tupdate_s)

    def wake_at(self) -> float:
        return self.next_s

    def on_wake(self, now_s: float) -> None:
        self.next_s = now_s + self.tupdate_s
        if self.waiting and self.wakes_in_silence > self.stuck_after:
            return
        if not self.waiting and self.wakes_in_silence > self.rest_after:
            self.rest()
        self.update(now_s)
