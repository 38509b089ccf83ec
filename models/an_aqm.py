# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""AN-AQM: Sun and Zukerman, "An Adaptive Neuron AQM for a Stable Internet", Networking 2007.

A neuron with six inputs: queue error and rate mismatch, of each the difference, the value and the
second difference. Its output moves the probability; a supervised Hebbian rule moves its weights.
"""

from __future__ import annotations

import math
from typing import Any

from models.queue import SAME_INSTANT_S, Act, Packet, Ticking

# Not in the paper. The error is a share of the reference; the mismatch has an end.
MISMATCH_MAX = 2.0**24 - 1
# Sizes of weights add up to 1 after each update; a sum below this one counts as this one.
LEAST_SUM = 1 / 16


def inputs_of(history: list[float]) -> list[float]:
    """s(k) - s(k - 1), s(k), s(k) - 2 s(k - 1) + s(k - 2); the newest comes first."""
    now, last, before = history
    return [now - last, now, now - 2 * last + before]


class AnAqm(Ticking):
    """`capacity` in bytes per second, Q_ref in packets."""

    def __init__(
        self,
        *,
        capacity: float,
        q_ref: float = 50,
        gain: float = 0.01,
        learning: float = 0.0001,
        interval_s: float = 0.00625,
        **common: Any,
    ) -> None:
        super().__init__(tupdate_s=interval_s, **common)
        self.capacity = capacity
        self.q_ref = q_ref
        self.gain = gain
        self.learning = learning
        self.weights = [1 / 6] * 6
        self.errors = [0.0, 0.0, 0.0]
        self.mismatches = [0.0, 0.0, 0.0]
        self.p = 0.0
        self.rate = 0.0
        self.came = 0
        self.inputs = [0.0] * 6
        # Sum of the weights' sizes before the last division by it.
        self.total = 1.0

    def on_arrival(self, now_s: float, packet: Packet) -> Act:
        self.came += packet.size
        return (
            self.signal(packet) if self.judge.below("signal", self.uniform(), self.p) else Act.PASS
        )

    def on_overflow(self, now_s: float, packet: Packet) -> None:
        """It came too."""
        self.came += packet.size

    def update(self, now_s: float) -> None:
        """p(k) = p(k - 1) + K sum w_i x_i; w_i(k + 1) = w_i(k) + d e(k) p(k) x_i(k)."""
        self.rate, self.came = self.came / (now_s - self.updated_s), 0
        self.updated_s = now_s
        error = (len(self.waiting) - self.q_ref) / self.q_ref
        self.errors = [error, *self.errors[:2]]
        mismatch = min(self.rate / self.capacity - 1, MISMATCH_MAX)
        self.mismatches = [mismatch, *self.mismatches[:2]]
        self.inputs = inputs_of(self.errors) + inputs_of(self.mismatches)
        output = sum(w * x for w, x in zip(self.weights, self.inputs, strict=True))
        self.p = min(max(self.p + self.gain * output, 0.0), 1.0)
        self.learn(error)

    def learn(self, error: float) -> None:
        """Each weight is held within -1 and 1, then all are divided by the sum of their sizes."""
        by = self.learning * error * self.p
        moved = [w + by * x for w, x in zip(self.weights, self.inputs, strict=True)]
        held = [min(max(w, -1.0), 1.0) for w in moved]
        self.total = max(sum(abs(w) for w in held), LEAST_SUM)
        self.weights = [w / self.total for w in held]

    def rest(self) -> None:
        """An empty queue signals nothing."""
        self.p = 0.0

    def on_wake(self, now_s: float) -> None:
        """At rest nothing is computed."""
        self.next_s = now_s + self.tupdate_s
        if self.waiting and self.wakes_in_silence > self.stuck_after:
            return
        if not self.waiting and self.wakes_in_silence > self.rest_after:
            self.rest()
            return
        self.update(now_s)

    def advance(self, now_s: float) -> None:
        """Updates of a queue that is at rest, or behind a stopped link for long, are counted."""
        while self.next_s <= now_s + SAME_INSTANT_S:
            if self.wakes_in_silence > max(self.rest_after, self.stuck_after):
                left = math.floor((now_s + SAME_INSTANT_S - self.next_s) / self.tupdate_s)
                self.wakes += left
                self.next_s += left * self.tupdate_s
            self.wakes += 1
            self.wakes_in_silence += 1
            self.on_wake(self.next_s)
            self.updated_s = self.next_s - self.tupdate_s
