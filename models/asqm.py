# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""ASQM: Havey and Almeroth, "Active Sense Queue Management (ASQM)", sections III and IV.

The control law is prose; each step of it is quoted where it is taken. Smoothing is RFC 6298,
section 2: the paper's text says 6928, which has no such calculation, its footnote 6298.

Points that the paper leaves open are decided as in docs/reference/algorithms/asqm.md: `entry`,
`base`, `first`, lost probes, a schedule that lags.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Discipline, Packet, Why, reached

# An IP header of 20 bytes and 8 of payload ("a 20 byte IP packet header with an 8 byte timestamp"),
# behind 14 of Ethernet.
PROBE_BYTES = 42


class Asqm(Discipline):
    """Signals by the round trip of the link that probes measure."""

    signals_for = Why.DELAY

    def __init__(
        self,
        *,
        probes_from: int,
        target_s: float = 0.1,
        interval_s: float = 0.1,
        ratio: int = 4,
        as_printed: bool = False,
        above_least: bool = False,
        period_s: float = 0.0,
        first_after_interval: bool = False,
        longest_s: float = 2**36 * 1e-9,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.probes_from = probes_from  # the number of a packet's probe is so much larger
        self.target_s, self.interval_s, self.ratio = target_s, interval_s, ratio
        self.as_printed, self.above_least = as_printed, above_least
        self.period_s, self.first_after_interval = period_s, first_after_interval
        self.longest_s = longest_s
        self.since_probe = 0
        self.probed_s = -math.inf
        self.asks = False
        self.rtt_s = 0.0
        self.srtt_s: float | None = None
        self.rttvar_s = 0.0
        self.least_s = math.inf
        self.heard_s = 0.0
        self.answers = 0
        self.dropping = False
        self.count = 0
        self.next_s = 0.0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        """ "A ratio of one sensory packet for every four data packets" that are let in, or
        "periodic sensory packets": one with the first packet a period after the last."""
        self.since_probe += 1
        self.asks = self.since_probe >= self.ratio
        if self.period_s:
            self.asks = reached(now_s, self.probed_s + self.period_s)
        if self.asks:
            self.since_probe, self.probed_s = 0, now_s
        return Act.PASS

    def join(self, packet: Packet) -> None:
        """The probe follows the packet that asked for it, where the limit lets it in."""
        super().join(packet)
        if not self.asks:
            return
        probe = Packet(self.probes_from + packet.number, PROBE_BYTES, probe=True)
        full = len(self.waiting) >= self.limit_pkts
        if full or self.bytes + probe.size > self.limit_bytes:
            self.drop(probe, Why.LIMIT)
        else:
            super().join(probe)

    def smooth(self, rtt_s: float) -> None:
        """RFC 6298, 2.2 for the first sample and 2.3 for the others, in that order."""
        if self.srtt_s is None:
            self.srtt_s, self.rttvar_s = rtt_s, rtt_s / 2
            return
        self.rttvar_s = 0.75 * self.rttvar_s + 0.25 * abs(self.srtt_s - rtt_s)
        self.srtt_s = 0.875 * self.srtt_s + 0.125 * rtt_s

    def delay_s(self, rtt_s: float) -> float:
        return rtt_s - min(self.least_s, rtt_s) if self.above_least else rtt_s

    def on_answer(self, now_s: float, rtt_s: float) -> None:
        """Section IV: "link RTT samples by subtracting the timestamp from the current time"."""
        self.rtt_s = min(rtt_s, self.longest_s)
        self.least_s = min(self.least_s, self.rtt_s)
        self.heard_s = now_s
        self.answers += 1
        self.smooth(self.rtt_s)
        assert self.srtt_s is not None
        last = self.delay_s(self.rtt_s) >= self.target_s - SAME_INSTANT_S
        smoothed = self.delay_s(self.srtt_s) >= self.target_s
        if self.dropping:
            # "When an active sense measurement less than 100 ms is received marking/dropping" ends.
            if not last:
                self.leave()
        elif smoothed and (last or self.as_printed):
            # "When the smoothed link estimate reaches a threshold value that we call target".
            # "Starting with an interval of 100 ms": before the first signal, or behind it.
            self.dropping = True
            self.next_s = now_s + (self.interval_s if self.first_after_interval else 0.0)

    def leave(self) -> None:
        self.dropping, self.count = False, 0

    def is_stale(self, now_s: float) -> bool:
        """No answer for a second, or for RFC 6298's timeout if that is longer."""
        bound_s = max(1.0, (self.srtt_s or 0.0) + 4 * self.rttvar_s)
        return now_s - self.heard_s > bound_s + SAME_INSTANT_S

    def due(self, now_s: float) -> bool:
        """Is it time for the next signal?"""
        if self.dropping and self.is_stale(now_s):
            self.leave()
        if not self.dropping:
            return False
        return not self.judge.below("next", now_s, self.next_s - SAME_INSTANT_S)

    def schedule(self, now_s: float) -> None:
        """ "Starting with an interval of 100 ms (default) each drop interval is reduced by
        1/sqrt(n) where n is the number of marks/drops since the beginning"."""
        self.count += 1
        if not reached(self.next_s + self.interval_s, now_s):
            self.next_s = now_s
        self.next_s += self.interval_s / math.sqrt(self.count)

    def on_request(self, now_s: float) -> Packet | None:
        """One signal; a probe is no packet of anybody's."""
        packet = self.take()
        if packet is None or packet.probe or not self.due(now_s):
            return packet
        self.schedule(now_s)
        if self.signal(packet) is Act.MARK:
            self.mark(packet)
            return packet
        self.drop(packet, Why.DELAY)
        return self.take()
