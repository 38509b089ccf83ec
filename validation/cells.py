# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cells.py: the cells of the comparison, one description for both worlds."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

RATES_MBPS = (10, 100, 500)
RTTS_MS = (20, 100)
FLOWS = (1, 10, 40)
QUEUES = {"pfifo": ("limit", "1000"), "codel": (), "pie": ()}
CONTROLS = ("cubic", "reno")
# Steady state begins when all flows have left their first slow start.
STEADY_FROM_MS = 5_000
# Long enough for several sawteeth of the slow cells, short enough to record them all.
DURATION_MS = {10: 120_000, 100: 60_000, 500: 40_000}
WINDOWS = ("start", "steady")
# Large enough that neither end's buffer ever limits a flow.
BUFFER_MAX_BYTES = 64 << 20
HTB_BURST_BYTES = 3028


@dataclass(frozen=True)
class Cell:
    """One dumbbell: N equal flows through one queue."""

    rate_mbps: int
    rtt_ms: int
    flows: int
    queue: str
    control: str

    @property
    def name(self) -> str:
        return f"{self.rate_mbps}M-{self.rtt_ms}ms-{self.flows}x{self.control}-{self.queue}"

    @property
    def edges_ms(self) -> tuple[int, int, int]:
        """The windows' edges: start, then steady state."""
        return 0, STEADY_FROM_MS, DURATION_MS[self.rate_mbps]

    def starts_us(self, seed: int) -> list[int]:
        """Flows follow each other by 25 ms and up to 1 ms that differs between seeds."""
        return [25_000 * i + (7919 * i + 104_729 * seed) % 1000 for i in range(self.flows)]


def cells() -> list[Cell]:
    """All cells, slow rates first."""
    axes = itertools.product(RATES_MBPS, RTTS_MS, FLOWS, QUEUES, CONTROLS)
    return [Cell(*values) for values in axes]
