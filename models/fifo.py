# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""fifo: first in, first out. Both limits are the queue's own.

Drop tail: ns-2, `queue/drop-tail.cc`, and Linux, `sch_fifo.c`. Its other form (`drop_front_` there,
pfifo_head_drop here) takes the head, once for each packet that arrives: in packets one is enough.
"""

from __future__ import annotations

from typing import Any

from models.queue import MOST_EVICTED, Discipline, Packet, Why


class Fifo(Discipline):
    """A queue that only overflows: it loses the last packet, or with `from_head` the first ones."""

    def __init__(self, *, from_head: bool = False, **common: Any) -> None:
        super().__init__(**common)
        self.from_head = from_head

    def make_room(self, now_s: float, packet: Packet) -> None:
        """As many packets leave as the arriving one needs."""
        if not self.from_head:
            return
        for _ in range(MOST_EVICTED):
            if self.waiting and self.is_full(packet):
                self.remove(now_s, 0, Why.LIMIT)
