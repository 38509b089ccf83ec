# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cells.py: the cells of the comparison, one description for both worlds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

RATES_MBPS = (10, 100, 500)
RTTS_MS = (20, 100)
FLOWS = (1, 10, 40)
QUEUES = {"pfifo": ("limit", "1000"), "codel": (), "pie": ()}
CONTROLS = ("cubic", "reno")
# The further cells: one thing changed at a time, at two rates.
FURTHER_RTT_MS = {10: 20, 100: 100}
FURTHER_CONTROL = {10: "reno", 40: "cubic"}
MIXED_RTTS_MS = (20, 50, 100)
LARGE_RCVBUF_BYTES = 16 << 20
FLOWS_BACK = 4
# Steady state begins when all flows have left their first slow start.
STEADY_FROM_MS = 5_000
# Long enough for several sawteeth of the slow cells, short enough to record them all.
DURATION_MS = {10: 120_000, 100: 60_000, 500: 40_000}
WINDOWS = ("start", "steady")
# Large enough that neither end's buffer ever limits a flow.
BUFFER_MAX_BYTES = 64 << 20
HTB_BURST_BYTES = 3028
# Flows follow each other by this, and up to 1 ms that differs between seeds.
APART_US = 25_000


@dataclass(frozen=True)
class Cell:
    """One dumbbell: N bulk flows through one queue."""

    rate_mbps: int
    rtts_ms: tuple[int, ...]
    """Flow i has the round trip i modulo their number."""
    flows: int
    queue: str
    control: str
    together: bool = False
    """All flows start at one instant."""
    rcvbuf_bytes: int = 0
    """SO_RCVBUF of the receivers; 0 where the kernel sizes the buffer."""
    back: int = 0
    """Flows the other way, through a queue of the same kind."""

    @property
    def name(self) -> str:
        rtts = "+".join(map(str, self.rtts_ms))
        words = [f"{self.rate_mbps}M-{rtts}ms-{self.flows}x{self.control}-{self.queue}"]
        words += ["together"] if self.together else []
        words += [f"rcvbuf{self.rcvbuf_bytes >> 20}M"] if self.rcvbuf_bytes else []
        words += [f"back{self.back}"] if self.back else []
        return "-".join(words)

    @property
    def further(self) -> bool:
        """Whether it is one of the further cells, outside the grid."""
        return self.together or self.rcvbuf_bytes > 0 or len(self.rtts_ms) > 1

    @property
    def edges_ms(self) -> tuple[int, int, int]:
        """The windows' edges: start, then steady state."""
        return 0, STEADY_FROM_MS, DURATION_MS[self.rate_mbps]

    def rtt_ms(self, flow: int) -> int:
        return self.rtts_ms[flow % len(self.rtts_ms)]

    def starts_us(self, seed: int) -> list[int]:
        """When each flow starts. A seed moves flows that start together as one."""
        if self.together:
            return [104_729 * seed % 1000] * self.flows
        return [APART_US * i + (7919 * i + 104_729 * seed) % 1000 for i in range(self.flows)]

    def starts_back_us(self, seed: int) -> list[int]:
        """When each flow back starts: between the flows forth."""
        return [
            APART_US * i + APART_US // 2 + (7919 * i + 104_729 * seed) % 1000
            for i in range(self.back)
        ]


def grid() -> list[Cell]:
    """Every rate, round trip, number of flows, queue and control with every other."""
    axes = itertools.product(RATES_MBPS, RTTS_MS, FLOWS, QUEUES, CONTROLS)
    return [Cell(rate, (rtt,), flows, queue, control) for rate, rtt, flows, queue, control in axes]


def further() -> list[Cell]:
    """Equal starts, a large receive buffer, mixed round trips; six with flows back."""
    found = []
    for rate, flows, queue in itertools.product(FURTHER_RTT_MS, FURTHER_CONTROL, QUEUES):
        plain = Cell(rate, (FURTHER_RTT_MS[rate],), flows, queue, FURTHER_CONTROL[flows])
        large = replace(plain, rcvbuf_bytes=LARGE_RCVBUF_BYTES)
        mixed = replace(plain, rtts_ms=MIXED_RTTS_MS)
        if (rate, flows) == (100, 10):
            large = replace(large, back=FLOWS_BACK)
        if (rate, flows) == (10, 10):
            mixed = replace(mixed, back=FLOWS_BACK)
        found += [replace(plain, together=True), large, mixed]
    return sorted(found, key=lambda cell: (cell.rcvbuf_bytes > 0, len(cell.rtts_ms)))


def cells() -> list[Cell]:
    """All cells: the grid, slow rates first, then the further ones."""
    return grid() + further()
