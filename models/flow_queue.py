# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Flow queueing: the scheduler of RFC 8290, section 4, around any discipline.

Differences, from docs/inside/host-contract.md: room is made before a packet joins and not after, by
half the bytes of the fattest flow or `drop_batch` packets, and of equally fat flows the first one
pays; an empty flow in debt by more than a quantum leaves the list at once, and is paid for the
rounds since then when it comes back; a lowered limit takes up to 64 packets of the fattest flow at
a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from models.queue import MOST_EVICTED, Discipline, Outcome, Packet, Why

# Section 4.1, last paragraph: the default, and what a lowered limit takes at a time.
BATCH = 64


class Flow:
    """One of the queues, with its credits (sections 1.2 and 4.2)."""

    def __init__(self, index: int, queue: Discipline, quantum: int) -> None:
        self.index = index
        self.queue = queue
        self.credits = quantum
        self.paid_round = 0
        self.active = False
        self.counted = (0, 0)


class FlowQueue(Discipline):
    """`flows` queues, each with a discipline that `make` makes, served by deficit round robin."""

    def __init__(
        self,
        make: Callable[[], Discipline],
        *,
        flows: int,
        quantum: int,
        limit_pkts: float = math.inf,
        limit_bytes: float = math.inf,
        drop_batch: int = BATCH,
    ) -> None:
        super().__init__(limit_pkts=limit_pkts, limit_bytes=limit_bytes)
        self.drop_batch = drop_batch
        self.flows = [Flow(i, make(), quantum) for i in range(flows)]
        for flow in self.flows:
            flow.queue.elsewhere = partial(self.without, flow)
        self.quantum = quantum
        self.new: list[Flow] = []
        self.old: list[Flow] = []
        self.round = 0
        self.busy: Discipline | None = None
        self.packets = 0

    def count(self, flow: Flow) -> None:
        """Packets and bytes of all flows, after this one has changed."""
        packets, size = flow.counted
        flow.counted = len(flow.queue.waiting), flow.queue.bytes
        self.packets += flow.counted[0] - packets
        self.bytes += flow.counted[1] - size

    def without(self, flow: Flow) -> int:
        """Bytes of all other flows."""
        return self.bytes - flow.counted[1]

    def advance(self, now_s: float) -> None:
        """A flow runs its timers at its own events."""

    def tell(self, found: Outcome) -> None:
        """A flow's actions are the queue's."""
        self.busy = None
        self.outcome.dropped += found.dropped
        self.outcome.marked += found.marked
        self.outcome.why |= found.why

    def so_far(self) -> Outcome:
        """Of this event, with what the flow that is busy has done."""
        own, inside = self.outcome, self.busy.outcome if self.busy else Outcome()
        signals = own.dropped + inside.dropped, own.marked + inside.marked
        return Outcome(*signals, own.why | inside.why, own.sent)

    # Section 4.1: enqueue.

    def arrive(self, now_s: float, packet: Packet) -> Outcome:
        self.outcome = Outcome()
        flow = self.flows[packet.flow * len(self.flows) >> 32]
        # Its timers see what waits before room is made.
        flow.queue.event_begins(now_s)
        if packet.size <= self.limit_bytes:
            self.make_room(now_s, packet)
        if self.is_full(packet):
            flow.queue.drop(packet, Why.LIMIT)
            self.tell(flow.queue.outcome)
            return self.outcome
        before = len(flow.queue.waiting)
        self.busy = flow.queue
        self.tell(flow.queue.arrive(now_s, packet))
        self.count(flow)
        if len(flow.queue.waiting) > before and not flow.active:
            self.begin(flow)
        return self.outcome

    def is_full(self, packet: Packet) -> bool:
        return self.packets >= self.limit_pkts or self.bytes + packet.size > self.limit_bytes

    def make_room(self, now_s: float, packet: Packet) -> None:
        """Section 4.1, last paragraph, ahead of the packet."""
        evicted = 0
        while self.is_full(packet) and self.packets and evicted < MOST_EVICTED:
            evicted += self.evict_batch(now_s, self.fattest())

    def evict_batch(self, now_s: float, fat: Flow) -> int:
        """Section 4.1: half its bytes (there: packets), at most a batch, at least one; how many."""
        half = fat.queue.bytes // 2
        batch = 0
        while batch < self.drop_batch and fat.queue.waiting:
            if batch and fat.queue.bytes <= half:
                break
            self.evict(now_s, fat, Why.FAT)
            batch += 1
        return batch

    def fattest(self) -> Flow:
        """The flow with the largest backlog, by bytes."""
        return max(self.new + self.old, key=lambda flow: (flow.queue.bytes, -flow.index))

    def evict(self, now_s: float, flow: Flow, why: Why) -> None:
        """Its oldest packet goes."""
        flow.queue.outcome = Outcome()
        flow.queue.remove(now_s, 0, why)
        self.tell(flow.queue.outcome)
        self.count(flow)

    def begin(self, flow: Flow) -> None:
        """Section 4.1: a flow that was not active has a packet; new, unless it is in debt."""
        flow.active = True
        flow.credits += (self.round - flow.paid_round) * self.quantum
        flow.paid_round = self.round
        if flow.credits > 0:
            flow.credits = self.quantum
            self.new.append(flow)
        else:
            self.old.append(flow)

    # Section 4.2: dequeue.

    def request(self, now_s: float) -> Outcome:
        self.outcome = Outcome()
        while self.new or self.old:
            queues = self.new or self.old
            flow = queues[0]
            if flow.credits <= 0 and (self.new or flow.queue.waiting or self.stays(flow)):
                flow.credits += self.quantum
                flow.paid_round += 1
                self.round = max(self.round, flow.paid_round)
                self.old.append(queues.pop(0))
                continue
            sizes = {packet.number: packet.size for packet in flow.queue.waiting}
            self.busy = flow.queue
            found = flow.queue.request(now_s)
            self.tell(found)
            self.count(flow)
            if found.sent is not None:
                flow.credits -= sizes[found.sent]
                self.outcome.sent = found.sent
                return self.outcome
            was_new = bool(self.new)
            queues.pop(0)
            if was_new and self.old:
                self.old.append(flow)
            else:
                flow.active = False
        return self.outcome

    def stays(self, flow: Flow) -> bool:
        """Section 4.2, credits first: an empty flow waits for them too, if one round pays."""
        return flow.credits > -self.quantum

    # What every queue does.

    def lower_limit(self, now_s: float, limit_pkts: float) -> Outcome:
        self.outcome = Outcome()
        self.limit_pkts = limit_pkts
        while self.packets > limit_pkts:
            fat = self.fattest()
            for _ in range(min(BATCH, len(fat.queue.waiting))):
                if self.packets > limit_pkts:
                    self.evict(now_s, fat, Why.LOWERED)
        return self.outcome

    def all_waiting(self) -> list[Packet]:
        """Flow by flow."""
        return [packet for flow in self.flows for packet in flow.queue.waiting]
