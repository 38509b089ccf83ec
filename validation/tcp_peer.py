# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""tcp_peer.py: the scripted peer and the path to it; pure logic on a heap of events.

The peer acknowledges as RFC 9293, 2018, 2883, 7323 and 3168 (or 8257, for dctcp) ask
of a receiver, with a fixed rule for delayed acknowledgements. A trace holds the
segments of the peer, so a replay of a trace does not need this file.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import replace

from validation.tcp_script import SEGMENT_BYTES, Script, Segment

WIRE_OVERHEAD_BYTES = 66  # Ethernet, IP, TCP and timestamps
DELAYED_ACK_MS = 40.0
TS_START = 1000  # the peer's timestamp clock, in ms, at time 0


class Peer:
    """Both the path and the far end. `due_ms` and `act` drive it from outside."""

    def __init__(self, script: Script, send: Callable[[Segment], None]) -> None:
        self.script = script
        self.send = send
        self.heap: list[tuple[float, int, Callable[[], None]]] = []
        self.order = itertools.count()
        self.now_ms = 0.0
        self.sent: dict[int, int] = {}  # transmissions seen of each segment
        self.link_free_ms = 0.0
        self.back_free_ms = 0.0  # when the way back is free of late acknowledgements
        self.queued: list[float] = []  # when each packet in the path's queue leaves it
        self.next = 0  # next byte expected from the end under test
        self.held: list[tuple[int, int]] = []  # bytes out of order, newest change first
        self.unacked = 0  # segments in order that wait for an acknowledgement
        self.ack_timer = 0
        self.ts_recent = 0
        self.use_ts = self.use_sack = self.use_ecn = False
        self.echo = False
        self.last_ce = False
        self.out_next = 0  # next byte of the peer itself
        self.duplicate: tuple[int, int] | None = None

    def at(self, when_ms: float, what: Callable[[], None]) -> None:
        heapq.heappush(self.heap, (when_ms, next(self.order), what))

    def due_ms(self) -> float:
        return self.heap[0][0] if self.heap else float("inf")

    def act(self) -> None:
        """Run the earliest event."""
        self.now_ms, _, what = heapq.heappop(self.heap)
        what()

    # -- the path -----------------------------------------------------------------

    def carry(self, segment: Segment, now_ms: float) -> None:
        """Take a segment of the end under test into the path, which takes the whole round trip."""
        script, number, ce = self.script, (segment.seq - 1) // SEGMENT_BYTES + 1, False
        if segment.length:
            self.sent[number] = self.sent.get(number, 0) + 1
            ce = self.sent[number] == 1 and any(a <= number <= b for a, b in script.mark)
            if self.sent[number] <= script.lose.get(number, 0):
                return
        if any(start <= now_ms < stop for start, stop in script.mute_ms):
            return
        arrival_ms = now_ms + script.rtt_ms
        if script.rate_mbps:
            self.queued = [leaves for leaves in self.queued if leaves > now_ms]
            if len(self.queued) >= script.queue_pkts:
                return
            wire_bits = 8 * (segment.length + WIRE_OVERHEAD_BYTES)
            start_ms = max(now_ms, self.link_free_ms)
            self.link_free_ms = start_ms + wire_bits / script.rate_mbps / 1000
            self.queued.append(self.link_free_ms)
            arrival_ms = self.link_free_ms + script.rtt_ms
        if segment.length and self.sent[number] == 1:
            arrival_ms += script.hold_ms.get(number, 0)
        if ce and segment.ecn:
            segment = replace(segment, ecn=3)
        self.at(arrival_ms, lambda: self.receive(segment))

    # -- the far end --------------------------------------------------------------

    def open(self) -> None:
        """Send the peer's own SYN, where the end under test is the server."""
        self.use_ts = self.script.settings.get("timestamps", "1") == "1"
        self.use_sack = self.script.settings.get("sack", "1") == "1"
        self.use_ecn = self.script.settings["ecn"] == "1"
        self.emit("SEW" if self.use_ecn else "S")

    def receive(self, segment: Segment) -> None:
        if "S" in segment.flags:
            self.shake(segment)
            return
        if self.use_ecn and segment.length:
            self.note_congestion(segment)
        if segment.seq <= self.next and segment.ts_val:
            self.ts_recent = segment.ts_val
        if segment.end == segment.seq:
            return
        if segment.seq > self.next or segment.end <= self.next:
            self.out_of_order(segment)
            return
        filled = bool(self.held)
        self.advance(segment.end)
        self.unacked += 1
        if filled or self.unacked >= self.script.ack_every or "F" in segment.flags:
            self.acknowledge()
        else:
            self.delay_ack()

    def shake(self, segment: Segment) -> None:
        """Take a SYN, or the SYN-ACK that answers the peer's."""
        self.next = 1
        self.ts_recent = segment.ts_val
        if "A" in segment.flags:
            self.use_ecn = self.use_ecn and "E" in segment.flags
            self.acknowledge()
            return
        self.use_ts = bool(segment.ts_val)
        self.use_sack = self.script.settings.get("sack", "1") == "1"
        self.use_ecn = "E" in segment.flags and "W" in segment.flags
        self.out_next = 0
        self.emit("SAE" if self.use_ecn else "SA")

    def note_congestion(self, segment: Segment) -> None:
        """Echo a mark until CWR (RFC 3168), or each change of state at once (RFC 8257)."""
        ce = segment.ecn == 3
        if self.script.settings["cc"] == "dctcp":
            if ce != self.last_ce and self.unacked:
                self.acknowledge()
            self.last_ce = self.echo = ce
            return
        if "W" in segment.flags:
            self.echo = False
        self.echo = self.echo or ce

    def out_of_order(self, segment: Segment) -> None:
        """Acknowledge a segment above a hole, or seen before, at once and with the blocks."""
        span = (segment.seq, segment.end)
        seen = segment.end <= self.next or any(a <= span[0] and span[1] <= b for a, b in self.held)
        if seen:
            self.duplicate = span
        else:
            touching = [b for b in self.held if b[0] <= span[1] and span[0] <= b[1]]
            self.held = [b for b in self.held if b not in touching]
            left = min([span[0], *(a for a, _ in touching)])
            right = max([span[1], *(b for _, b in touching)])
            self.held.insert(0, (left, right))
        self.acknowledge()

    def advance(self, end: int) -> None:
        self.next = max(self.next, end)
        for left, right in sorted(self.held):
            if left <= self.next:
                self.next = max(self.next, right)
        self.held = [block for block in self.held if block[0] > self.next]

    def delay_ack(self) -> None:
        self.ack_timer += 1
        mine = self.ack_timer
        self.at(
            self.now_ms + DELAYED_ACK_MS,
            lambda: self.acknowledge() if mine == self.ack_timer and self.unacked else None,
        )

    def acknowledge(self) -> None:
        self.unacked = 0
        self.emit("AE" if self.echo else "A")

    def emit(self, flags: str, length: int = 0, seq: int | None = None, ecn: int = 0) -> None:
        """Send with the state of this moment; the script may make it arrive late."""
        sack: list[tuple[int, int]] = []
        if self.use_sack and "A" in flags:
            sack = ([self.duplicate] if self.duplicate else []) + self.held
            sack = sack[: 3 if self.use_ts else 4]
            self.duplicate = None
        segment = Segment(
            flags,
            self.out_next if seq is None else seq,
            self.next if "A" in flags else 0,
            length,
            min(self.script.window_bytes, 65_535 if "S" in flags else 1 << 30),
            TS_START + int(self.now_ms) if self.use_ts else 0,
            self.ts_recent if self.use_ts else 0,
            tuple(sack),
            ecn,
        )
        self.out_next = max(self.out_next, segment.end)
        extra_ms = sum(ms for start, stop, ms in self.script.late_ms if start <= self.now_ms < stop)
        if extra_ms or self.now_ms < self.back_free_ms:
            # A late acknowledgement holds up those behind it: the way back keeps order.
            self.back_free_ms = max(self.back_free_ms, self.now_ms + extra_ms)
            self.at(self.back_free_ms, lambda: self.send(segment))
        else:
            self.send(segment)

    def data(self, number: int, marks: frozenset[str]) -> None:
        """Send a full segment of the peer's own stream."""
        ecn = 0 if not self.use_ecn else 3 if "ce" in marks else 2
        flags = "P" * ("push" in marks) + "A" + "W" * ("cwr" in marks)
        self.emit(flags, SEGMENT_BYTES, 1 + (number - 1) * SEGMENT_BYTES, ecn)

    def fin(self) -> None:
        self.emit("FA")
