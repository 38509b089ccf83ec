# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DualPI2: RFC 9332, appendix A, with the edge cases of its second pass (A.2).

lq is the L4S queue, cq the Classic one; p' the base probability. Times are seconds.

Left open there and settled here: the weighted scheduler (A.1 describes its credit, no figure
shows it); that p'_L is of the packet that leaves, by its time in the queue (note a of A.1), and
that this packet is counted in the "1 pkt queue" of figure 7; 256 drops for one request at most.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import Discipline, Outcome, Packet, Why, reached


class Lane:
    """One of the two queues, with the count of its recurrence function."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []
        self.count = 0.0

    def bytes(self) -> int:
        return sum(packet.size for packet in self.packets)

    def time_s(self, now_s: float) -> float:
        """The queuing time of the first packet; 0 for an empty queue."""
        return now_s - self.packets[0].arrived_s if self.packets else 0.0


class DualPi2(Discipline):
    """Figures 2, 3, 7 and 8. `tshift_s` None: weighted round robin. Without ECN there is nothing
    to mark and nothing to tell L4S by: one Classic queue."""

    def __init__(
        self,
        *,
        k: float = 2,
        target_s: float = 0.015,
        tupdate_s: float = 0.016,
        alpha_hz: float = 0.16,
        beta_hz: float = 3.2,
        min_th_s: float = 0.0008,
        range_s: float = 0.0004,
        th_len: int = 1,
        spared: int = 0,
        classic_share: float = 1 / 16,
        tshift_s: float | None = None,
        mtu: int = 1500,
        longest_s: float = math.inf,
        drops_at_once: int = 256,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.k = k
        self.p_c_max = min(1 / k**2, 1)
        self.target_s = target_s
        self.tupdate_s = tupdate_s
        self.alpha_hz = alpha_hz
        self.beta_hz = beta_hz
        self.min_th_s = min_th_s
        self.range_s = range_s
        self.th_len = th_len
        self.spared = spared
        self.classic_share = classic_share
        self.tshift_s = tshift_s
        self.mtu = mtu
        self.longest_s = longest_s
        self.drops_at_once = drops_at_once
        self.lq, self.cq = Lane(), Lane()
        self.base = self.p_cl = self.p_c = 0.0
        self.prev_s = 0.0
        self.credit = 0.0
        self.favour_l4s()
        self.start_s = start_s
        self.updates = 0

    # Figure 3.

    def join(self, packet: Packet) -> None:
        super().join(packet)
        l4s = self.ecn and packet.ecn % 2 == 1
        (self.lq if l4s else self.cq).packets.append(packet)

    # Figure 7.

    def on_request(self, now_s: float) -> Packet | None:
        while self.waiting:
            lane = self.scheduler(now_s)
            packet = lane.packets.pop(0)
            self.waiting.remove(packet)
            self.bytes -= packet.size
            if self.is_dropped(now_s, lane, packet):
                self.drop(packet, Why.EARLY)
                continue
            self.charge(lane, packet)
            return packet
        self.favour_l4s()
        return None

    def is_dropped(self, now_s: float, lane: Lane, packet: Packet) -> bool:
        """Lines 4b to 17, for a packet that has left its queue; marks it or not."""
        allowed = len(self.outcome.dropped) < self.drops_at_once
        self.signals_for = Why.EARLY
        # Linux, which the RFC names: p' signals nothing while so little is left.
        quiet = self.bytes < self.spared * self.mtu
        p_cl, p_c = (0.0, 0.0) if quiet else (self.p_cl, self.p_c)
        if lane is self.lq and self.ecn:
            if p_cl < 1:
                native = self.laqm(now_s - packet.arrived_s)
                if len(self.lq.packets) + 1 <= self.th_len:
                    native = 0.0
                if self.recur(lane, max(native, p_cl)):
                    self.signals_for = Why.DELAY if native > p_cl else Why.EARLY
                    self.mark(packet)
                return False
            if self.recur(lane, p_c) and allowed:
                return True
            # Line 8h: p_CL is 1 at least, so "all remaining packets will be marked".
            self.mark(packet)
            return False
        if not self.recur(lane, p_c):
            return False
        if not (self.ecn and packet.ect) or p_c >= self.p_c_max:
            return allowed
        self.mark(packet)
        return False

    def recur(self, lane: Lane, likelihood: float) -> bool:
        """Figure 4, lines 23 to 30."""
        if likelihood <= 0:
            return False
        lane.count += likelihood
        if lane.count == 1:  # of whole likelihoods: not beyond, and nothing to judge
            return False
        if self.judge.below("count", 1.0, lane.count):
            lane.count -= 1
            return True
        return False

    def laqm(self, delay_s: float) -> float:
        """Figure 5."""
        if reached(delay_s, self.min_th_s + self.range_s):
            return 1.0
        return (delay_s - self.min_th_s) / self.range_s if delay_s > self.min_th_s else 0.0

    # Schedulers.

    def scheduler(self, now_s: float) -> Lane:
        if not self.lq.packets or not self.cq.packets:
            return self.lq if self.lq.packets else self.cq
        if self.tshift_s is not None:
            # Figure 10: lq.time() + tshift >= cq.time()
            first = reached(self.lq.time_s(now_s) + self.tshift_s, self.cq.time_s(now_s))
            return self.lq if first else self.cq
        return self.cq if self.credit >= 0 else self.lq

    def favour_l4s(self) -> None:
        """The Classic queue has earned nothing of a full-sized packet yet."""
        self.credit = -(1 - self.classic_share) * self.mtu

    def charge(self, lane: Lane, packet: Packet) -> None:
        """The credit of the Classic queue, "only changed if there are packets in both queues"."""
        other = self.cq if lane is self.lq else self.lq
        if other.packets:
            share = self.classic_share if lane is self.lq else self.classic_share - 1
            self.credit += share * packet.size

    # Figure 8.

    def wake_at(self) -> float:
        return self.start_s + (self.updates + 1) * self.tupdate_s

    def on_wake(self, now_s: float) -> None:
        current_s = min(max(self.cq.time_s(now_s), self.lq.time_s(now_s)), self.longest_s)
        self.base += self.alpha_hz * (current_s - self.target_s)
        self.base += self.beta_hz * (current_s - self.prev_s)
        self.base = min(max(self.base, 0.0), 1.0)
        self.p_cl = self.base * self.k
        self.p_c = self.base**2
        self.prev_s = current_s
        self.updates += 1

    # What every queue does.

    def lower_limit(self, now_s: float, limit_pkts: float) -> Outcome:
        """Of the fuller queue, by bytes."""
        self.outcome = Outcome()
        if len(self.waiting) > limit_pkts:
            self.advance(now_s)
        self.limit_pkts = limit_pkts
        while len(self.waiting) > limit_pkts:
            lane = max(self.cq, self.lq, key=lambda lane: (lane.bytes(), len(lane.packets) > 0))
            packet = lane.packets.pop(0)
            self.remove(now_s, self.waiting.index(packet), Why.LOWERED)
        return self.outcome
