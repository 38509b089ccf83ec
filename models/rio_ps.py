# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""RIO-PS: Guo and Matta, "The War Between Mice and Elephants", ICNP 2001. RIO: Clark and Fang,
"Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM ToN 6(4), 1998.

An edge router calls the first packets of each flow short; RIO gives these a RED of their own.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from models.queue import Act, Discipline, Packet, Why, reached
from models.red import RedAverage, RedProbability

PLACES = 4


@dataclass
class Edge:
    """Counts each flow's packets until it is silent for T_u, or until other flows of its set, which
    `place` names, were seen since and take its place."""

    threshold: int
    expiry_s: float
    place: Callable[[int], int]
    sets: defaultdict[int, OrderedDict[int, tuple[int, float]]] = field(
        default_factory=lambda: defaultdict(OrderedDict)
    )

    def is_short(self, now_s: float, flow: int) -> bool:
        """One more packet: is it among the flow's first L_t?"""
        flows = self.sets[self.place(flow)]
        count, seen_s = flows.pop(flow, (0, now_s))
        if reached(now_s, seen_s + self.expiry_s):
            count = 0
        flows[flow] = count + 1, now_s
        if len(flows) > PLACES:
            flows.popitem(last=False)
        return count < self.threshold


@dataclass
class Class:
    """The part of RED that a class has for itself; `average` is what it goes by."""

    average: RedAverage
    red: RedProbability


class RioPs(Discipline):
    """`short` and `long` are each min_th, max_th, max_p."""

    def __init__(
        self,
        *,
        edge: Edge,
        short: tuple[float, float, float] = (15, 30, 0.02),
        long: tuple[float, float, float] = (5, 15, 0.1),
        weight: float = 0.002,
        packet_time_s: float = 0.001,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.edge = edge
        self.classes = {
            short_one: Class(
                RedAverage(weight, packet_time_s, idle_since_s=start_s), RedProbability(*curve)
            )
            for short_one, curve in ((True, short), (False, long))
        }
        # Numbers of waiting packets of short flows.
        self.short: set[int] = set()
        self.p_b = 0.0
        self.last = self.classes[False]
        self.short_arrivals = 0
        self.short_signals = 0

    def classify(self, now_s: float, packet: Packet) -> bool:
        """The edge counts every arrival, and both averages move."""
        short = self.edge.is_short(now_s, packet.flow)
        self.short_arrivals += short
        self.classes[False].average.update(now_s, len(self.waiting))
        self.classes[True].average.update(now_s, len(self.short))
        self.p_b = 0.0
        self.last = self.classes[short]
        return short

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """In by the average of In packets, Out by that of all."""
        short = self.classify(now_s, packet)
        act = self.decide(packet, self.last)
        self.short_signals += short and act is not Act.PASS
        if short and act is not Act.DROP:
            self.short.add(packet.number)
        return act

    def decide(self, packet: Packet, of: Class) -> Act:
        """RED of 1993, figure 2."""
        average, red = of.average.average, of.red
        if average < red.min_th:
            red.count = -1
            return Act.PASS
        if not self.judge.below("max", average, red.max_th):
            red.count = 0
            self.signals_for = self.reason = Why.THRESHOLD
            return self.signal(packet)
        self.signals_for = self.reason = Why.EARLY
        self.p_b = red.slope(average)
        p_a, drawn = red.early(self.p_b), self.uniform()
        if p_a < 1 and not self.judge.below("signal", drawn, p_a):
            return Act.PASS
        red.count = 0
        return self.signal(packet)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """One more forced drop."""
        self.short_signals += self.classify(now_s, packet)
        self.last.red.count = 0

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if packet is not None:
            self.leaves(now_s, packet)
        return packet

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        self.leaves(now_s, packet)

    def leaves(self, now_s: float, packet: Packet) -> None:
        """From here on one of the two queues may be empty."""
        if not self.waiting:
            self.classes[False].average.empties(now_s)
        if packet.number in self.short:
            self.short.remove(packet.number)
            if not self.short:
                self.classes[True].average.empties(now_s)
