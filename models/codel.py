# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CoDel: RFC 8289 section 5, the pseudo-code step by step.

Two rules are Linux's and not in the pseudo-code: a marked packet is sent, so that a request ends
with the first mark; and one request drops 256 packets at most.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, reached


class CoDel(Discipline):
    """Signals when the least time in the queue has stayed above a target for an interval."""

    def __init__(
        self,
        *,
        target_s: float = 0.005,
        interval_s: float = 0.1,
        mtu: int = 1514,
        drops_at_once: int = 256,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.target_s = target_s
        self.interval_s = interval_s
        self.mtu = mtu
        self.drops_at_once = drops_at_once
        self.first_above_s: float | None = None
        self.drop_next_s = 0.0
        self.count = 0
        self.last_count = 0
        self.dropping = False

    def spacing_s(self) -> float:
        """Section 5.6: the control law."""
        return self.interval_s / math.sqrt(self.count)

    def next_packet(self, now_s: float) -> tuple[Packet | None, bool]:
        """Section 5.6, dodequeue: a packet, and whether it may be dropped."""
        packet = self.take()
        if packet is None:
            self.first_above_s = None
            return None, False
        sojourn_s = now_s - packet.arrived_s
        if not reached(sojourn_s, self.target_s) or self.bytes <= self.mtu:
            self.first_above_s = None
        elif self.first_above_s is None:
            self.first_above_s = now_s + self.interval_s
        elif reached(now_s, self.first_above_s):
            return packet, True
        return packet, False

    def due(self, now_s: float) -> bool:
        """Is it time for the next signal? One request drops only so many; the RFC has no bound."""
        if len(self.outcome.dropped) >= self.drops_at_once:
            return False
        return not self.judge.below("drop_next", now_s, self.drop_next_s - SAME_INSTANT_S)

    def on_request(self, now_s: float) -> Packet | None:
        packet, above = self.next_packet(now_s)
        if self.dropping:
            self.dropping = above
            while self.dropping and self.due(now_s):
                assert packet is not None
                self.count += 1
                if self.signal(packet) is Act.MARK:
                    self.mark(packet)
                    self.drop_next_s += self.spacing_s()
                    break
                self.drop(packet)
                packet, above = self.next_packet(now_s)
                if above:
                    self.drop_next_s += self.spacing_s()
                else:
                    self.dropping = False
        elif above:
            assert packet is not None
            if self.signal(packet) is Act.MARK:
                self.mark(packet)
            else:
                self.drop(packet)
                packet, _ = self.next_packet(now_s)
            self.dropping = True
            since_last = self.count - self.last_count
            recent = not reached(now_s - self.drop_next_s, 16 * self.interval_s)
            self.count = since_last if since_last > 1 and recent else 1
            self.drop_next_s = now_s + self.spacing_s()
            self.last_count = self.count
        return packet
