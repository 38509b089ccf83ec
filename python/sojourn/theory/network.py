# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Flows that share a link: the equilibrium of their windows and the queue, and TCP and the queue
linearised there.

The model is Misra's, Gong's and Towsley's (SIGCOMM 2000), in packets and seconds:

    W' = 1 / R - W W(t - R) / (2 R(t - R)) p(t - R)
    q' = N W / R - C
    R  = Tp + q / C

In equilibrium W is therefore R C / N, and p is 2 / W^2. Signals are marks: none removes a packet.

The plant leads from the signal's probability to the queue. Let g = N / (R^2 C) and E = exp(-s R),
both at the equilibrium. The model's equations then give

    (s + g (1 + E)) W = -(1 - E) Q / (R^2 C) - R C^2 / (2 N^2) E P
    (s + 1 / R) Q     = N / R W

and therefore Q = -P C^2 / (2 N) E / D with D = s^2 + s (1 / R + g (1 + E)) + 2 g / R. The delays
within D are kept. Hollot, Misra, Towsley and Gong (INFOCOM 2001) approximate W(t - R) by W(t)
there. This is right where windows are large: their D is (s + 2 g) (s + 1 / R).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.core.errors import InputError
from sojourn.core.units import Duration, Rate, Size

# A window below one packet has no meaning, and at this window 2 / W^2 is 1: each packet would be
# marked.
LEAST_WINDOW_PKTS = math.sqrt(2)
MOST_FLOWS = 10**7


@dataclass(frozen=True)
class Network:
    """N equal flows over one link."""

    flows: float
    capacity_pkts_s: float
    rtt_s: float  # without the queue
    packet_bytes: int

    @property
    def pipe_pkts(self) -> float:
        """Return the packets under way where the queue is empty."""
        return self.capacity_pkts_s * self.rtt_s

    def round_trip_s(self, queue_pkts: float) -> float:
        """Return R at a queue of this length."""
        return self.rtt_s + queue_pkts / self.capacity_pkts_s

    def window_pkts(self, queue_pkts: float) -> float:
        """Return the equilibrium of W."""
        return self.round_trip_s(queue_pkts) * self.capacity_pkts_s / self.flows

    def signal(self, queue_pkts: float) -> float:
        """Return the p that holds the windows at this queue; above 1 where none does."""
        return 2 / self.window_pkts(queue_pkts) ** 2


def read(flows: int, capacity: Rate, rtt: Duration, packet: Size) -> Network:
    """Make the network of the command line. InputError: a value is not allowed."""
    if not 1 <= flows <= MOST_FLOWS:
        raise InputError(f"--flows {flows}: allowed: 1 to {MOST_FLOWS}")
    if packet < 64 or packet > 65535:
        raise InputError(f"--packet {str(packet)!r}: allowed: 64 B to 65535 B, with all headers")
    if rtt == 0:
        raise InputError("--rtt 0: windows grow by one packet in a round trip; allowed: above 0 s")
    network = Network(flows, capacity / 8 / packet, rtt / 1e9, int(packet))
    if network.pipe_pkts < 1:
        raise InputError(
            f"--capacity {str(capacity)!r}: in a round trip of {rtt} it sends "
            f"{network.pipe_pkts:.2g} packets of {packet}, less than one; more --capacity or --rtt"
        )
    return network


@dataclass(frozen=True)
class Equilibrium:
    """The values at which nothing changes."""

    network: Network
    queue_pkts: float
    window_pkts: float
    signal: float  # of a packet, the probability
    round_trip_s: float

    def to_json(self) -> dict[str, float]:
        """Return the keys of `sojourn stability --json`."""
        return {
            "queue_pkts": self.queue_pkts,
            "window_pkts": self.window_pkts,
            "signal": self.signal,
            "round_trip_s": self.round_trip_s,
        }


class NoEquilibrium(InputError):
    """The model has no equilibrium."""


def rest(network: Network, queue_at: Callable[[float], float], name: str) -> Equilibrium:
    """Find the equilibrium with a law that keeps `queue_at(p)` packets at the probability p.

    There is exactly one: this queue does not fall as p grows, and p falls as the queue grows.
    NoEquilibrium: the windows would be too small.
    """
    # The import of scipy's optimisers takes longer than all that is computed with them.
    from scipy.optimize import brentq

    def excess(queue_pkts: float) -> float:
        return queue_pkts - queue_at(min(network.signal(queue_pkts), 1.0))

    low, high = 0.0, max(queue_at(min(network.signal(0), 1.0)), 0.0)
    if excess(low) >= 0:
        queue = low
    elif excess(high) <= 0:
        queue = high
    else:
        queue = float(brentq(excess, low, high, xtol=1e-9))
    window = network.window_pkts(queue)
    if window < LEAST_WINDOW_PKTS:
        raise NoEquilibrium(
            f"--flows {network.flows:g}: with '{name}' a flow's window would rest at "
            f"{window:.2f} packets, below {LEAST_WINDOW_PKTS:.2f}, where each packet is marked and "
            "the model ends; fewer --flows, or more --capacity or --rtt"
        )
    return Equilibrium(network, queue, window, network.signal(queue), network.round_trip_s(queue))


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
