# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""TCP and the queue, linearised: from the signal's probability to the queue.

Let g = N / (R^2 C) and E = exp(-s R), both at the equilibrium. The model's equations then give

    (s + g (1 + E)) W = -(1 - E) Q / (R^2 C) - R C^2 / (2 N^2) E P
    (s + 1 / R) Q     = N / R W

and therefore Q = -P C^2 / (2 N) E / D with D = s^2 + s (1 / R + g (1 + E)) + 2 g / R. The delays
within D are kept. Hollot, Misra, Towsley and Gong (INFOCOM 2001) approximate W(t - R) by W(t)
there. This is right where windows are large: their D is (s + 2 g) (s + 1 / R).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.theory.network import Equilibrium


@dataclass(frozen=True)
class Plant:
    """Transfer functions of s, a complex number or an array of them."""

    at: Equilibrium
    is_simplified: bool = False  # Hollot's

    @property
    def gain(self) -> float:
        """Return C^2 / (2 N)."""
        network = self.at.network
        return network.capacity_pkts_s**2 / (2 * network.flows)

    @property
    def g_per_s(self) -> float:
        """Return N / (R^2 C): half the rate at which one window forgets."""
        network = self.at.network
        return network.flows / (self.at.round_trip_s**2 * network.capacity_pkts_s)

    def denominator(self, s: Any) -> Any:
        """Return D, in 1 / s^2."""
        g, trip = self.g_per_s, self.at.round_trip_s
        if self.is_simplified:
            return (s + 2 * g) * (s + 1 / trip)
        return s**2 + s * (1 / trip + g * (1 + np.exp(-s * trip))) + 2 * g / trip

    def response(self, s: Any) -> Any:
        """Return the decrease of the queue, in packets, for each unit of probability."""
        return self.gain * np.exp(-s * self.at.round_trip_s) / self.denominator(s)

    def of_windows(self, s: Any) -> Any:
        """Return the increase of the queue for an addition to the sum of windows.

        Its unit is packets for each packet a second.
        """
        return 1 / self.at.round_trip_s / self.denominator(s)
