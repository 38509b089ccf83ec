# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CHOKe: Pan, Prabhakar and Psounis, "CHOKe: a stateless AQM scheme", INFOCOM 2000, figure 1.

RED with one comparison before it: a packet of the flow of a randomly drawn waiting packet is
dropped together with that packet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.queue import Act, Packet, Why
from models.red import RedQueue


class Choke(RedQueue):
    """`draw` names one of the waiting packets by its place from the head.

    Above the upper threshold everything is dropped and nothing marked, as the figure says.
    """

    def __init__(
        self,
        *,
        draw: Callable[[list[Packet]], int],
        **red: Any,
    ) -> None:
        super().__init__(**red)
        self.draw = draw
        self.matched = 0
        self.slope = 0.0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """Figure 1 from top to bottom; `red.py` is its "probability p"."""
        average = self.average.update(now_s, len(self.waiting))
        self.slope = 0.0
        if not self.judge.below("min", self.red.min_th, average):
            self.red.count = -1
            return Act.PASS
        if self.waiting:
            position = self.draw(self.waiting)
            if self.waiting[position].flow == packet.flow:
                self.matched += 1
                self.remove(now_s, position, Why.MATCH)
                return self.refuse(Why.MATCH)
        if self.judge.below("max", self.red.max_th, average):
            self.red.count = 0
            return self.refuse(Why.THRESHOLD)
        self.slope = self.red.slope(average)
        return self.between(packet, self.slope)

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """The figure has no limit. All of it comes first, and who may join finds no room
        (choke_enqueue)."""
        self.reason = self.signals_for
        if self.on_arrival(now_s, packet) is not Act.DROP:
            self.reason = Why.LIMIT
