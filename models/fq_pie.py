# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""FQ-PIE: net/sched/sch_fq_pie.c. The scheduler of RFC 8290, section 4 (flow_queue.py) with the
PIE of RFC 8033 in each queue; all queues update at the same times (fq_pie_timer()).

Names of functions below are those of sch_fq_pie.c and sch_pie.c.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Protocol

from models.flow_queue import FlowQueue
from models.pie import LinuxPie, Pie
from models.queue import Act, Packet, Uniform, Why


class FlowPie(Pie):
    """One queue. `ecn_prob` is in percent; with `bytemode` a small packet has less to fear."""

    def __init__(self, *, ecn_prob: float = 10, bytemode: bool = False, **rest: Any) -> None:
        super().__init__(**rest)
        self.ecn_prob = ecn_prob
        self.bytemode = bytemode
        self.size = 0

    def own_p(self) -> float:
        """pie_drop_early(), "smaller packets will have lower drop prob"; a packet above the MTU
        has p itself."""
        scaled = self.bytemode and self.size <= self.mean_packet
        return self.p * self.size / self.mean_packet if scaled else self.p

    def may_mark(self) -> bool:
        """fq_pie_qdisc_enqueue(): at the bound itself too, unlike RFC 8033."""
        return self.p <= self.ecn_prob / 100

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.size = packet.size
        return super().on_arrival(now_s, packet)

    def on_removal(self, now_s: float, packet: Packet, why: Why) -> None:
        """fq_pie_qdisc_enqueue(), out: a loss for lack of room clears the flow's sum."""
        if why is Why.FAT:
            self.p_sum = 0.0


class LinuxFlowPie(FlowPie, LinuxPie):
    """One queue with the safeguards of sch_pie.c."""


class Draws(Protocol):
    """The random numbers of a flow, by its number."""

    def __call__(self, flow: int) -> Uniform: ...


class FqPie(FlowQueue):
    """fq_pie_init(): 1024 queues, a quantum of one full-sized frame, 10240 packets in all."""

    def __init__(
        self,
        *,
        pie: type[FlowPie] = FlowPie,
        flows: int = 1024,
        quantum: int = 1514,
        limit_pkts: float = 10240,
        limit_bytes: float = float("inf"),
        draws: Draws,
        **each: Any,
    ) -> None:
        numbers = count()
        super().__init__(
            lambda: pie(uniform=draws(next(numbers)), **each),
            flows=flows,
            quantum=quantum,
            limit_pkts=limit_pkts,
            limit_bytes=limit_bytes,
        )
