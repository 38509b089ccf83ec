# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A random waiting packet as the core draws it (ring.h, sample.h)."""

from __future__ import annotations

from typing import Any

from models.queue import Discipline, Packet, Why
from tests.models.generator import Draws
from tests.models.library import Case


def cells(case: Case) -> int:
    """Of the ring for so many packets."""
    return 2 << (int(case.rows["limit"]) - 1).bit_length()


class OnRing(Discipline):
    """A slot of a ring in which drawn packets leave holes; three tries, then the head. It stands
    before a model whose argument `draw` names a packet by its place from the head."""

    def __init__(self, *, draws: Draws, cells: int, **rest: Any) -> None:
        more: dict[str, Any] = {"draw": self.drawn, **rest}
        super().__init__(uniform=draws.uniform, **more)
        self.draws = draws
        self.cells = cells
        self.slots: list[Packet | None] = []

    def drawn(self, waiting: list[Packet]) -> int:
        """The place of the drawn packet among those that wait."""
        for _ in range(3):
            packet = self.slots[self.draws.below(len(self.slots))]
            if packet is not None:
                return waiting.index(packet)
        return 0

    def join(self, packet: Packet) -> None:
        super().join(packet)
        if len(self.slots) == self.cells:
            self.slots = [p for p in self.slots if p is not None]
        self.slots.append(packet)

    def take(self) -> Packet | None:
        packet = super().take()
        self.vacate(packet)
        return packet

    def remove(self, now_s: float, position: int, why: Why) -> None:
        packet = self.waiting[position]
        super().remove(now_s, position, why)
        self.vacate(packet)

    def vacate(self, packet: Packet | None) -> None:
        """Leave a hole; neither end is ever one."""
        if packet is not None:
            self.slots[self.slots.index(packet)] = None
        while self.slots and self.slots[-1] is None:
            self.slots.pop()
        while self.slots and self.slots[0] is None:
            self.slots.pop(0)
