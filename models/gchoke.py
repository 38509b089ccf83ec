# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""gCHOKe: Eshete and Jiang, "Generalizing the CHOKe flow protection", Computer Networks 57, 2013.

CHOKe with a further matching trial upon each success: packets are drawn at random until one is of
another flow, or `maxcomp` have matched. All that matched are lost, and the arrival with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.queue import Act, Packet, Why
from models.red import RedQueue


class GChoke(RedQueue):
    """`draw` names one of the waiting packets by its place from the head, or none."""

    def __init__(
        self,
        *,
        draw: Callable[[list[Packet]], int | None],
        maxcomp: int = 4,
        **red: Any,
    ) -> None:
        super().__init__(**red)
        self.draw = draw
        self.maxcomp = maxcomp
        self.matched = 0
        self.slope = 0.0

    def trial(self, now_s: float, flow: int) -> bool:
        """One draw; the packet is lost if it is of this flow."""
        position = self.draw(self.waiting) if self.waiting else None
        if position is None or self.waiting[position].flow != flow:
            return False
        self.remove(now_s, position, Why.MATCH)
        return True

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        average = self.average.update(now_s, len(self.waiting))
        self.slope = 0.0
        if not self.judge.below("min", self.red.min_th, average):
            self.red.count = -1
            return Act.PASS
        successes = 0
        while successes < self.maxcomp and self.trial(now_s, packet.flow):
            successes += 1
        if successes:
            self.matched += 1
            return self.refuse(Why.MATCH)
        if self.judge.below("max", self.red.max_th, average):
            self.red.count = 0
            return self.refuse(Why.THRESHOLD)
        self.slope = self.red.slope(average)
        return self.between(packet, self.slope)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """The comparison comes before the limit, as in the kernel's CHOKe."""
        self.reason = self.signals_for
        if self.on_arrival(now_s, packet) is not Act.DROP:
            self.reason = Why.LIMIT
