# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""PI: Hollot, Misra, Towsley, Gong, "On Designing Improved Controllers for AQM Routers Supporting
TCP Flows", INFOCOM 2001: p(kT) = a (q(kT) - q_ref) - b (q((k - 1)T) - q_ref) + p((k - 1)T).
"""

from __future__ import annotations

from typing import Any

from models.queue import Act, Packet, Ticking


class Pi(Ticking):
    """A discrete PI controller on the queue in packets; `interval_s` is T."""

    def __init__(
        self,
        *,
        q_ref: float = 50,
        a: float = 1.822e-5,
        b: float = 1.816e-5,
        interval_s: float = 1 / 170,
        **common: Any,
    ) -> None:
        super().__init__(tupdate_s=interval_s, **common)
        self.q_ref = q_ref
        self.a = a
        self.b = b
        self.p = 0.0
        self.q_old = 0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """Signalled with probability p."""
        signals = self.judge.below("signal", self.uniform(), self.p)
        return self.signal(packet) if signals else Act.PASS

    def update(self, now_s: float) -> None:
        """The equation, held within 0 and 1."""
        q = len(self.waiting)
        change = self.a * (q - self.q_ref) - self.b * (self.q_old - self.q_ref)
        self.p = min(max(self.p + change, 0.0), 1.0)
        self.q_old = q
