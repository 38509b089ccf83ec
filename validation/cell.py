# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cell.py: a cell of the comparison, as pages and recordings call it, read from its scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WINDOWS = ("start", "steady")
QUEUES = ("pfifo", "codel", "pie")
# Groups of flows through the bottleneck begin with this; the others go back.
FORTH = "forth"
# Nearer than this, starts are one instant.
_TOGETHER_NS = 1_000_000
_MS = 1_000_000


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
    """What the receivers ask for by SO_RCVBUF; 0 where the kernel sizes the buffer."""
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
    def order(self) -> tuple[object, ...]:
        """The grid first, slow rates first."""
        kind = self.further, self.rcvbuf_bytes > 0, len(self.rtts_ms), not self.together
        size = self.rate_mbps, self.rtts_ms, self.flows
        return *kind, *size, QUEUES.index(self.queue), self.control


def cell_of(scenario: Mapping[str, Any], queue: str) -> Cell:
    """The cell that is run as this scenario of the engine's, with this queue."""
    links = {link["name"]: link for link in scenario["links"]}
    forth = [flow for flow in scenario["flows"] if flow["name"].startswith(FORTH)]
    starts_ns = [ns for flow in forth for ns in flow["start"][: flow["count"]]]
    options = forth[0]["transport"]["options"]
    return Cell(
        rate_mbps=links["bottleneck"]["rate"] // 1_000_000,
        rtts_ms=tuple(ns // _MS for flow in forth for ns in _rtts_ns(flow, links)),
        flows=sum(flow["count"] for flow in forth),
        queue=queue,
        control=forth[0]["transport"]["cc"],
        together=len(starts_ns) > 1 and max(starts_ns) - min(starts_ns) < _TOGETHER_NS,
        # Linux counts what SO_RCVBUF asks for twice.
        rcvbuf_bytes=options.get("rcvbuf_bytes", 0) // 2,
        back=sum(flow["count"] for flow in scenario["flows"] if flow not in forth),
    )


def _rtts_ns(flow: Mapping[str, Any], links: Mapping[str, Mapping[str, Any]]) -> list[int]:
    """Of the flows of a group, in turn: of their own, or of the links on their way back."""
    rtt: int | list[int] | None = flow["rtt"]
    if rtt is not None:
        return [rtt] if isinstance(rtt, int) else rtt
    return [sum(links[name]["delay"] for name in flow["reverse_path"] or ["back"])]
