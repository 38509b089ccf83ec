# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""SFB, stochastic fair BLUE: Feng, Kandlur, Saha and Shin, INFOCOM 2001.

Each flow falls into one bin per level; a bin's probability follows its own length as in BLUE. The
least of a flow's probabilities is its own: only a flow whose every bin is bad is held down.
Linux's choices where the paper leaves one: the moving hash, the upper bound of a bin, what a
penalty box allows, and drops among the marks above one half.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, reached


@dataclass
class Bin:
    """What one bin knows: packets waiting, probability."""

    length: int = 0
    p: float = 0.0


class Filter:
    """All bins under one hash; `place(flow)` is a flow's bin on each level."""

    def __init__(self, levels: int, bins: int, place: Callable[[int], list[int]]) -> None:
        self.table = [[Bin() for _ in range(bins)] for _ in range(levels)]
        self.place = place
        self.counted: set[int] = set()

    def bins_of(self, flow: int) -> list[Bin]:
        """One bin per level."""
        return [row[n] for row, n in zip(self.table, self.place(flow), strict=True)]

    def enters(self, packet: Packet) -> None:
        """A packet of a flow joins the queue."""
        self.counted.add(packet.number)
        for b in self.bins_of(packet.flow):
            b.length += 1

    def leaves(self, packet: Packet) -> None:
        """It is taken back where it was counted."""
        if packet.number in self.counted:
            self.counted.remove(packet.number)
            for b in self.bins_of(packet.flow):
                b.length -= 1


@dataclass
class Penalty:
    """What all flows judged unresponsive may send together: a handful, earned anew when used."""

    rate_pps: float
    burst: int
    tokens: int
    earned_s: float

    def allows(self, now_s: float) -> bool:
        """Take one packet's worth if there is one."""
        if not self.tokens:
            earned = math.floor((now_s - self.earned_s + SAME_INSTANT_S) * self.rate_pps)
            if earned:
                self.tokens = min(self.burst, earned)
                self.earned_s = now_s
        if not self.tokens:
            return False
        self.tokens -= 1
        return True


class Sfb(Discipline):
    """`place(era, flow)`: the hash of the era-th filter, counted from 1."""

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
        self.place, self.levels, self.bins = place, levels, bins
        self.increment, self.decrement = increment, decrement
        self.bin_target, self.bin_max = bin_target, bin_max
        self.penalty = Penalty(penalty_pps, penalty_burst, penalty_burst, start_s)
        self.rehash_s, self.warmup_s = rehash_s, warmup_s
        self.next_s = start_s + rehash_s
        self.eras = 0
        self.deciding, self.learning = self.fresh(), self.fresh()
        self.p = 0.0
        self.penalised = 0

    def fresh(self) -> Filter:
        """A filter that knows nothing, under the next hash."""
        self.eras += 1
        era = self.eras
        return Filter(self.levels, self.bins, lambda flow: self.place(era, flow))

    def change_hash(self, now_s: float) -> None:
        """At each point of a grid the learner takes over; unless nobody was there to teach it."""
        passed = 0
        while reached(now_s, self.next_s):
            self.next_s += self.rehash_s
            passed += 1
        if passed:
            self.deciding, self.learning = self.learning, self.fresh()
        if passed > 1:
            self.deciding = self.fresh()

    def adapt(self, bins: list[Bin]) -> None:
        """BLUE, once per bin."""
        for b in bins:
            if b.length == 0:
                b.p = max(0.0, b.p - self.decrement)
            elif b.length >= self.bin_target:
                b.p = min(1.0, b.p + self.increment)

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.change_hash(now_s)
        learns = reached(now_s + self.warmup_s, self.next_s)
        bins = self.deciding.bins_of(packet.flow)
        self.adapt(bins)
        if learns:
            self.adapt(self.learning.bins_of(packet.flow))
        self.p = min(b.p for b in bins)
        act = self.decide(now_s, packet, bins)
        if act is not Act.DROP:
            self.deciding.enters(packet)
            if learns:
                self.learning.enters(packet)
        return act

    def decide(self, now_s: float, packet: Packet, bins: list[Bin]) -> Act:
        """What the bins of a flow mean for its packet."""
        if min(b.length for b in bins) >= self.bin_max:
            return Act.DROP
        if not self.judge.below("one", self.p, 1.0):
            self.penalised += 1
            return Act.PASS if self.penalty.allows(now_s) else Act.DROP
        u = self.uniform()
        if not self.judge.below("signal", u, self.p):
            return Act.PASS
        if self.judge.below("policing", u, 2 * (self.p - 0.5)):
            return Act.DROP
        return self.signal(packet)

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None:
            self.on_removal(now_s, packet)
        return packet

    def on_removal(self, now_s: float, packet: Packet) -> None:
        self.deciding.leaves(packet)
        self.learning.leaves(packet)
