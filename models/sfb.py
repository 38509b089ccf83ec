# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""SFB, stochastic fair BLUE: Feng, Kandlur, Saha and Shin, INFOCOM 2001.

Each flow falls into one bin per level; a bin's probability follows its own length as in BLUE. The
least of a flow's probabilities is its own: only a flow whose every bin is bad is held down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from models.queue import Act, Discipline, Packet


@dataclass
class Bin:
    """What one bin knows: packets waiting, probability."""

    length: int = 0
    p: float = 0.0


@dataclass
class Penalty:
    """The allowance that all flows judged unresponsive share, in packets."""

    rate_pps: float
    burst: float
    tokens: float
    filled_s: float = 0.0

    def allows(self, now_s: float) -> bool:
        """Take one packet's worth if there is one."""
        gained = (now_s - self.filled_s) * self.rate_pps
        self.tokens = min(self.burst, self.tokens + gained)
        self.filled_s = now_s
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Sfb(Discipline):
    """`place(flow, level)` is the bin of a flow at a level."""

    def __init__(
        self,
        *,
        levels: int,
        bins: int,
        increment: float,
        decrement: float,
        bin_size: int,
        max_bin: int,
        penalty: Penalty,
        place: Callable[[int, int], int],
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.table = [[Bin() for _ in range(bins)] for _ in range(levels)]
        self.increment = increment
        self.decrement = decrement
        self.bin_size = bin_size
        self.max_bin = max_bin
        self.penalty = penalty
        self.place = place

    def bins_of(self, flow: int) -> list[Bin]:
        """One bin per level."""
        return [row[self.place(flow, level)] for level, row in enumerate(self.table)]

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        bins = self.bins_of(packet.flow)
        for b in bins:
            if b.length == 0:
                b.p = max(0.0, b.p - self.decrement)
            elif b.length >= self.bin_size:
                b.p = min(1.0, b.p + self.increment)
        if min(b.length for b in bins) >= self.max_bin:
            return Act.DROP
        p = min(b.p for b in bins)
        if p >= 1 and not self.penalty.allows(now_s):
            return Act.DROP
        act = Act.PASS
        if p < 1 and self.chance(p):
            act = self.signal(packet)
        if act is not Act.DROP:
            for b in bins:
                b.length += 1
        return act

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None:
            self.left(packet)
        return packet

    def on_removal(self, now_s: float, packet: Packet) -> None:
        self.left(packet)

    def left(self, packet: Packet) -> None:
        """The bins of a packet lose it."""
        for b in self.bins_of(packet.flow):
            b.length -= 1
