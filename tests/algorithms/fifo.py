# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""fifo: model and C side by side."""

from __future__ import annotations

from typing import ClassVar

from models.fifo import Fifo
from models.queue import Discipline, Judge, Packet
from tests.models.beside import Beside, common
from tests.models.library import Case

TAIL, HEAD = range(2)


class BesideFifo(Beside):
    """The limits, and what a full queue loses."""

    algorithm = "fifo"
    in_flows: ClassVar = {}
    defaults: ClassVar = {"drop": TAIL}
    settings: ClassVar = (
        {"limit": 40},
        {"limit": 10_000, "limit_bytes": 20_000},
        {"limit": 40, "drop": HEAD},
        {"limit": 10_000, "limit_bytes": 20_000, "drop": HEAD},
    )
    changes: ClassVar = ({"drop": HEAD}, {"drop": TAIL})
    # Some packets are larger than the room.
    changed_beside: ClassVar = {"limit_bytes": 1_400}
    signalling: ClassVar = ({"drop": HEAD}, {"drop": TAIL})

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Fifo(from_head=rows["drop"] == HEAD, **common(case, judge))

    def change(self, model: Fifo, now_s: float, row: str, value: int) -> None:
        model.from_head = value == HEAD


BESIDE = BesideFifo()


def test_fifo_takes_the_room_of_1024_packets_at_most() -> None:
    """By hand: 2,000 packets of 40 bytes fill it."""
    for needed, lost in ((1, 1), (1024, 1024), (1025, 1025), (2001, 1)):
        model = Fifo(from_head=True, limit_bytes=40 * 2000)
        for number in range(2000):
            model.arrive(0.0, Packet(number, 40))
        found = model.arrive(0.0, Packet(2000, 40 * needed))
        assert len(found.dropped) == lost
        assert (2000 in found.dropped) == (needed > 1024)
