# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""RED's average and probability: Floyd and Jacobson, "Random early detection gateways", 1993.

Figure 2 and section 4: avg, p_b and p_a. Shared by algorithms that build on RED.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class RedAverage:
    """The averaged queue length; while the link is idle it ages by packets that might have left."""

    weight: float
    packet_time_s: float
    average: float = 0.0
    idle_since_s: float | None = 0.0

    def update(self, now_s: float, length: float) -> float:
        """A packet arrives and finds `length` in the queue."""
        if self.idle_since_s is not None:
            could_have_left = math.floor((now_s - self.idle_since_s) / self.packet_time_s + 1e-9)
            self.average *= (1 - self.weight) ** could_have_left
            self.idle_since_s = None
        self.average += self.weight * (length - self.average)
        return self.average


@dataclass
class RedProbability:
    """Signals spread evenly between the thresholds: p_a = p_b / (1 - count p_b)."""

    min_th: float
    max_th: float
    max_p: float
    count: int = -1

    def slope(self, average: float) -> float:
        """p_b between the thresholds."""
        return self.max_p * (average - self.min_th) / (self.max_th - self.min_th)

    def early(self, p_b: float) -> float:
        """p_a of one more packet that arrives between the thresholds."""
        self.count += 1
        if (self.count + 1) * p_b >= 1:
            return 1.0
        return p_b / (1 - self.count * p_b)
