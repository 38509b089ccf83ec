# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""AVQ: Kunniyur and Srikant, "Analysis and design of an adaptive virtual queue (AVQ) algorithm for
active queue management", SIGCOMM 2001, its pseudo-code.

C is the link's capacity, `virtual_rate` the virtual queue's, in bytes per second; B the buffer of
both; b the arriving packet, t now and s the time of the arrival before it.

`accepted` is ns-2.35's rule (queue/vq.cc, enque: Pktdrp): a packet that the virtual queue drops
does not move C~, and the time since the last one that did counts on.
"""

from __future__ import annotations

from typing import Any

from models.queue import Act, Discipline, Packet, Why


class Avq(Discipline):
    """`buffer` None: that of the real queue, whose packets are as long as the MTU at most."""

    signals_for = Why.THRESHOLD

    def __init__(
        self,
        *,
        capacity: float,
        gamma: float = 0.98,
        alpha: float = 0.15,
        buffer: float | None = None,
        accepted: bool = False,
        mtu: int = 1500,
        start_s: float = 0.0,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.capacity = self.link = capacity
        self.gamma = gamma
        self.alpha = alpha
        self.buffer = buffer
        self.accepted = accepted
        self.mtu = mtu
        # Not said by the paper: an idle link's virtual capacity grows to C.
        self.virtual_rate = capacity
        self.virtual_queue = 0.0
        self.last_s = self.adapted_s = start_s

    def room(self) -> float:
        """B."""
        real = min(self.limit_bytes, self.limit_pkts * self.mtu)
        return real if self.buffer is None else self.buffer

    def virtual_arrival(self, now_s: float, size: int, markable: bool = True) -> bool:
        """The pseudo-code, at each packet arrival epoch; does the packet get the signal?"""
        since_s = now_s - self.last_s
        # Update Virtual Queue Size: VQ <- max(VQ - C~ (t - s), 0)
        self.virtual_queue = max(self.virtual_queue - self.virtual_rate * since_s, 0.0)
        self.follow()
        # If VQ + b > B mark or drop packet in the real queue, else VQ <- VQ + b
        signal = self.judge.below("buffer", self.room(), self.virtual_queue + size)
        if not signal:
            self.virtual_queue += size
        lost = signal and not markable
        if not (self.accepted and lost):
            self.adapt(now_s - self.adapted_s, size)
            self.adapted_s = now_s
        # Update last packet arrival time: s <- t
        self.last_s = now_s
        return signal

    def follow(self) -> None:
        """Not said by the paper, whose C is constant: `link` is C as it is now. Of a slower link C~
        keeps its share; what C gains C~ gains as well."""
        if self.link > self.capacity:
            self.virtual_rate += self.link - self.capacity
        else:
            self.virtual_rate *= self.link / self.capacity
        self.capacity = self.link

    def adapt(self, since_s: float, size: int) -> None:
        """Update Virtual Capacity: C~ = max(min(C~ + alpha gamma C (t - s), C) - alpha b, 0)"""
        grown = self.virtual_rate + self.alpha * self.gamma * self.capacity * since_s
        self.virtual_rate = max(min(grown, self.capacity) - self.alpha * size, 0.0)

    def arrived(self, now_s: float, packet: Packet) -> bool:
        """The same, of a packet of the real queue."""
        return self.virtual_arrival(now_s, packet.size, self.ecn and packet.ect)

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        return self.signal(packet) if self.arrived(now_s, packet) else Act.PASS

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """The real queue is full; the packet has arrived all the same."""
        self.arrived(now_s, packet)
