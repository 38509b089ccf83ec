# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CHOKe: Pan, Prabhakar and Psounis, "CHOKe: a stateless AQM scheme", INFOCOM 2000, figure 1.

RED with one comparison before it: a packet of the flow of a randomly drawn waiting packet is
dropped together with that packet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.queue import Act, Discipline, Packet
from models.red import RedAverage, RedProbability


class Choke(Discipline):
    """`draw(n)` names one of n waiting packets, counted from the head."""

    def __init__(
        self,
        *,
        min_th: float,
        max_th: float,
        max_p: float,
        weight: float,
        packet_time_s: float,
        draw: Callable[[int], int],
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.average = RedAverage(weight, packet_time_s)
        self.red = RedProbability(min_th, max_th, max_p)
        self.draw = draw

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        average = self.average.update(now_s, len(self.waiting))
        if self.judge.below("min", average, self.red.min_th):
            self.red.count = -1
            return Act.PASS
        if self.waiting:
            position = self.draw(len(self.waiting))
            if self.waiting[position].flow == packet.flow:
                self.remove(now_s, position)
                return Act.DROP
        if not self.judge.below("max", average, self.red.max_th):
            self.red.count = 0
            return self.signal(packet)
        if self.chance(self.red.early(average)):
            self.red.count = 0
            return self.signal(packet)
        return Act.PASS

    def on_request(self, now_s: float) -> Packet | None:
        packet = self.take()
        if not self.waiting and self.average.idle_since_s is None:
            self.average.idle_since_s = now_s
        return packet
