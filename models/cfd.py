# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CFD: Jiang and Jin, "CFD: an efficient active queue management algorithm with controlling
fairness and delay", Electronics Letters 52(23), 2016. `docs/reference/algorithms/cfd.md` says how
its Eq. 1 is read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from models.pie_2013 import Pie2013
from models.queue import Act, Packet, Why


class LandmarkLru:
    """Hits of flows. The most recent of each part is its last; a new flow enters the bottom."""

    def __init__(self, records: int, age: float) -> None:
        self.records = records
        self.age = age
        self.in_top = records - records // 4
        self.top: OrderedDict[int, int] = OrderedDict()
        self.bottom: OrderedDict[int, int] = OrderedDict()

    def counts(self) -> list[int]:
        """Of all flows in the cache."""
        return [*self.top.values(), *self.bottom.values()]

    def hits(self, flow: int) -> int:
        """Of one flow."""
        return self.top.get(flow) or self.bottom.get(flow, 0)

    def hit(self, flow: int) -> None:
        """A flow that is met again goes to the top, and may push its last one below."""
        if flow in self.top or flow in self.bottom:
            part = self.top if flow in self.top else self.bottom
            self.top[flow] = part.pop(flow) + 1
            if len(self.top) > self.in_top:
                last, count = self.top.popitem(last=False)
                self.bottom[last] = count
        else:
            if len(self.top) + len(self.bottom) == self.records:
                (self.bottom or self.top).popitem(last=False)
            self.bottom[flow] = 1
        if sum(self.counts()) >= self.age:
            for part in self.top, self.bottom:
                for other in part:
                    part[other] //= 2


class Cfd(Pie2013):
    """`draw` names one of the waiting packets by its place from the head. Without the guards
    (`when` "always", `alone_too`) it is Eq. 1 alone. With `letter` p_k is the law's own number,
    and begins at 1."""

    def __init__(
        self,
        *,
        draw: Callable[[list[Packet]], int],
        samples: int = 1,
        records: int = 1000,
        age: float = 2**31,
        when: str = "congested",
        alone_too: bool = False,
        letter: bool = False,
        **delay: Any,
    ) -> None:
        super().__init__(max_burst_s=0.0, **delay)
        self.letter = letter
        self.p = float(letter)
        self.draw = draw
        self.samples = samples
        self.cache = LandmarkLru(records, age)
        self.when = when
        self.alone_too = alone_too
        self.matched = 0
        self.weight = 0.0

    def detect(self, packet: Packet) -> None:
        """ "It draws n (>= 1) packets from a queue randomly and compares them with the arriving
        packet. If they belong to the same flow, the hit counter ... increases"."""
        for _ in range(self.samples):
            if self.waiting and self.waiting[self.draw(self.waiting)].flow == packet.flow:
                self.matched += 1
                self.cache.hit(packet.flow)

    def weight_of(self, flow: int) -> float:
        """f_i / sum f_j, 0 where f_i is."""
        counts = self.cache.counts()
        if not self.cache.hits(flow):
            return 0.0
        weight = self.cache.hits(flow) / sum(counts)
        flows = sum(count > 0 for count in counts)
        return weight if self.alone_too else min(weight, 1 - 1 / flows)

    def counts(self) -> bool:
        """Does the weight lead to drops? The guard is not in the text."""
        if self.when == "delayed":
            return self.delay_old_s > self.target_s
        return self.when == "always" or self.p > 0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """Eq. 1 with p_k as the probability to keep: (1 - PDP) (1 - weight)."""
        self.detect(packet)
        self.weight = self.weight_of(packet.flow)
        weight = self.weight if self.counts() else 0.0
        if self.letter:
            return self.to_the_letter(packet, self.p * (1 - weight))
        if not self.p and not weight:
            return Act.PASS
        if self.judge.below("signal", self.uniform(), self.p):
            return self.signal(packet)
        if self.judge.below("share", self.uniform(), weight):
            return self.refuse(Why.MATCH)
        return Act.PASS

    def to_the_letter(self, packet: Packet, d_pdp: float) -> Act:
        """ "If u > p_i^d, the packet of the i th flow is dropped or marked". Behind fewer than two
        packets it is kept, which is not in the text."""
        if len(self.waiting) < 2 or self.judge.below("kept", self.uniform(), d_pdp):
            return Act.PASS
        return self.signal(packet)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """A full queue compares too."""
        self.reason = self.signals_for
        if self.on_arrival(now_s, packet) is not Act.DROP:
            self.reason = Why.LIMIT
