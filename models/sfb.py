# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""SFB, stochastic fair BLUE: Feng, Kandlur, Saha and Shin, INFOCOM 2001.

Each flow falls into one bin per level; a bin's probability follows its own length as in BLUE. The
least of a flow's probabilities is its own: only a flow whose every bin is bad is held down.
Where the paper leaves a choice it is Linux's (net/sched/sch_sfb.c): the upper bound of a bin, drops
among the marks above one half, what a change of the hash keeps. "Algorithm" below is the figure
of the paper's section on SFB, "moving hash" its section of that name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, Why, reached


@dataclass
class Bin:
    """State of one bin: packets waiting, probability."""

    length: int = 0
    p: float = 0.0


@dataclass
class Penalty:
    """Algorithm, ratelimit: what all flows that do not respond may send together, by a token
    bucket. A rate or a burst of none lets nothing pass."""

    rate_pps: float
    burst: float
    tokens: float
    counted_s: float

    def allows(self, now_s: float) -> bool:
        """Take one packet's worth if there is one."""
        earned = (now_s - self.counted_s) * self.rate_pps
        self.tokens = min(self.burst, self.tokens + earned)
        self.counted_s = now_s
        if not self.rate_pps or self.tokens < 1 - SAME_INSTANT_S * self.rate_pps:
            return False
        self.tokens -= 1
        return True


class Sfb(Discipline):
    """`place(era, flow)`: the flow's bin on each level, by the hash of that era. Eras count from 1.

    Two sets of bins take turns: one decides, the other learns under the hash of the next era.
    """

    def __init__(
        self,
        *,
        place: Callable[[int, int], list[int]],
        levels: int = 8,
        bins: int = 16,
        increment: float = 66 / 65536,
        decrement: float = 11 / 65536,
        bin_target: int = 20,
        bin_max: int = 25,
        penalty_pps: float = 10,
        penalty_burst: int = 20,
        rehash_s: float = 600,
        warmup_s: float = 60,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.place = place
        self.increment, self.decrement = increment, decrement
        self.bin_target, self.bin_max = bin_target, bin_max
        self.penalty = Penalty(penalty_pps, penalty_burst, penalty_burst, start_s)
        self.rehash_s, self.warmup_s = rehash_s, warmup_s
        self.next_s = start_s + rehash_s
        self.era = 1
        self.sets = [[[Bin() for _ in range(bins)] for _ in range(levels)] for _ in range(2)]
        self.counted: dict[int, list[Bin]] = {}
        self.p = 0.0
        self.penalised = 0

    def bins_of(self, era: int, flow: int) -> list[Bin]:
        """Algorithm, its hash functions: one bin per level."""
        table = self.sets[era % 2]
        return [row[n] for row, n in zip(table, self.place(era, flow), strict=True)]

    def change_hash(self, now_s: float) -> None:
        """Moving hash: at each point of a grid the learner takes over, and
        the set that decided learns next. Nothing is forgotten (sfb_swap_slot)."""
        while reached(now_s, self.next_s):
            self.next_s += self.rehash_s
            self.era += 1

    def adapt(self, bins: list[Bin]) -> None:
        """Algorithm, first loop: BLUE, once per bin."""
        for b in bins:
            if b.length == 0:
                b.p = max(0.0, b.p - self.decrement)
            elif b.length >= self.bin_target:
                b.p = min(1.0, b.p + self.increment)

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """Algorithm, enqueue: p_min decides; at one the packet goes to the penalty box."""
        self.change_hash(now_s)
        bins = self.bins_of(self.era, packet.flow)
        self.adapt(bins)
        self.p = min(b.p for b in bins)
        if min(b.length for b in bins) >= self.bin_max:
            return self.refuse(Why.THRESHOLD)
        if not self.judge.below("one", self.p, 1.0):
            taught = self.teach(now_s, packet.flow)
            self.penalised += 1
            if not self.penalty.allows(now_s):
                return self.refuse(Why.RATE)
            return self.enters(packet, bins + taught)
        act = self.decide(packet)
        return act if act is Act.DROP else self.enters(packet, bins, act)

    def teach(self, now_s: float, flow: int) -> list[Bin]:
        """Moving hash: in the warm-up a flow that does not respond is hashed a second time."""
        if not reached(now_s + self.warmup_s, self.next_s):
            return []
        bins = self.bins_of(self.era + 1, flow)
        self.adapt(bins)
        return bins

    def decide(self, packet: Packet) -> Act:
        """Algorithm, last lines: a signal with p_min; its upper part is a loss (sfb_enqueue)."""
        u = self.uniform()
        if not self.judge.below("signal", u, self.p):
            return Act.PASS
        if self.judge.below("policing", u, 2 * (self.p - 0.5)):
            return Act.DROP
        return self.signal(packet)

    def enters(self, packet: Packet, bins: list[Bin], act: Act = Act.PASS) -> Act:
        """The packet joins the queue, and is counted in these bins."""
        self.counted[packet.number] = bins
        for b in bins:
            b.length += 1
        return act

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None:
            self.leaves(packet)
        return packet

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        self.leaves(packet)

    def leaves(self, packet: Packet) -> None:
        """It is uncounted where it was counted."""
        for b in self.counted.pop(packet.number):
            b.length -= 1
