# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The algorithms in the model: the equilibrium of each, its transfer function there, and its law
step by step.

The values of rows come from the algorithm's own table of rows. An algorithm with an update each T
is a law in z = exp(s T). Its probability is held from one update to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.theory.network import Equilibrium, NoEquilibrium

Numbers = Any  # a number or an array of them


@dataclass
class Seen:
    """The inputs of a law at an update of the integrated equations, in packets and seconds."""

    queue_pkts: Numbers
    queue_before_pkts: Numbers  # at the update before
    delayed_queue_pkts: Numbers  # at the arrival of the packet that leaves now
    capacity_pkts_s: Numbers
    step_s: float


@dataclass(frozen=True, kw_only=True)
class Law:
    """One algorithm with its rows."""

    name: str
    sampled_s: float = 0.0  # between two updates; 0: each packet is one
    notes: tuple[str, ...] = ()

    def queue_at(self, signal: float) -> float:
        """Return the queue in packets at which the law holds this probability."""
        raise NotImplementedError

    def response(self, s: Numbers, at: Equilibrium) -> Numbers:
        """Return the transfer function from the queue in packets to the probability.

        A law with updates returns it without its hold.
        """
        raise NotImplementedError

    def corners_rad_s(self, at: Equilibrium) -> tuple[float, ...]:
        """Estimate its poles and zeros."""
        raise NotImplementedError

    def start(self, at: Equilibrium) -> dict[str, Numbers]:
        """Return the state in equilibrium."""
        raise NotImplementedError

    def update(self, state: dict[str, Numbers], seen: Seen) -> Numbers:
        """Change the state, and return the probability of a signal."""
        raise NotImplementedError


def _change(s: Numbers, interval_s: float) -> Numbers:
    """Return 1 - 1 / z, exact where s is small."""
    return -np.expm1(-s * interval_s)


@dataclass(frozen=True, kw_only=True)
class Pi(Law):
    """p += a (q - q_ref) - b (q_old - q_ref)"""

    reference_pkts: float
    rise: float
    fall: float

    def queue_at(self, signal: float) -> float:
        return self.reference_pkts

    def response(self, s: Numbers, at: Equilibrium) -> Numbers:
        change = _change(s, self.sampled_s)
        return (self.rise - self.fall + self.fall * change) / change

    def corners_rad_s(self, at: Equilibrium) -> tuple[float, ...]:
        return ((self.rise - self.fall) / self.rise / self.sampled_s,)

    def start(self, at: Equilibrium) -> dict[str, Numbers]:
        return {"p": at.signal}

    def update(self, state: dict[str, Numbers], seen: Seen) -> Numbers:
        step = self.rise * (seen.queue_pkts - self.reference_pkts)
        step -= self.fall * (seen.queue_before_pkts - self.reference_pkts)
        state["p"] = np.clip(state["p"] + step, 0, 1)
        return state["p"]


@dataclass(frozen=True, kw_only=True)
class Rem(Law):
    """price += gamma (in + alpha (q - b*) - c), p = 1 - phi^-price.

    In the model the arrivals less the departures are the change of the queue. `size` is a packet in
    units of avpkt, in which the queue and the arrivals are counted. `short` is the excess of c over
    the rate of the link.
    """

    reference: float
    gamma: float
    alpha: float
    log_phi: float
    size: float
    scale: float  # of a packet's probability
    short_per_s: float

    def queue_at(self, signal: float) -> float:
        rests = self.reference + self.short_per_s * self.sampled_s / self.alpha
        return max(rests, 0.0) / self.size

    def response(self, s: Numbers, at: Equilibrium) -> Numbers:
        change = _change(s, self.sampled_s)
        slope = self.log_phi * (1 - at.signal / self.scale) * self.scale
        return slope * self.gamma * self.size * (change + self.alpha) / change

    def corners_rad_s(self, at: Equilibrium) -> tuple[float, ...]:
        return (self.alpha / self.sampled_s,)

    def start(self, at: Equilibrium) -> dict[str, Numbers]:
        return {"price": -np.log1p(-at.signal / self.scale) / self.log_phi}

    def update(self, state: dict[str, Numbers], seen: Seen) -> Numbers:
        came = (seen.queue_pkts - seen.queue_before_pkts) * self.size
        apart = seen.queue_pkts * self.size - self.reference
        step = came + self.alpha * apart - self.short_per_s * self.sampled_s
        state["price"] = np.maximum(state["price"] + self.gamma * step, 0)
        return np.clip(-np.expm1(-state["price"] * self.log_phi) * self.scale, 0, 1)


@dataclass(frozen=True, kw_only=True)
class Lqd(Law):
    """p += a (q - q_ref) - b (l - p_ref), with l = p.

    `share` is the share of intervals with an arrival: an interval without one has no l.
    """

    reference_pkts: float
    rise: float
    fall: float
    reference_loss: float
    share: float

    @property
    def leak(self) -> float:
        """Return the share that p loses at each update."""
        return self.fall * self.share

    def queue_at(self, signal: float) -> float:
        rests = self.reference_pkts + self.leak / self.rise * (signal - self.reference_loss)
        return max(rests, 0.0)

    def response(self, s: Numbers, at: Equilibrium) -> Numbers:
        return self.rise / (self.leak + (1 - self.leak) * _change(s, self.sampled_s))

    def corners_rad_s(self, at: Equilibrium) -> tuple[float, ...]:
        return (self.leak / self.sampled_s,)

    def start(self, at: Equilibrium) -> dict[str, Numbers]:
        return {"p": at.signal}

    def update(self, state: dict[str, Numbers], seen: Seen) -> Numbers:
        step = self.rise * (seen.queue_pkts - self.reference_pkts)
        step -= self.leak * (state["p"] - self.reference_loss)
        state["p"] = np.clip(state["p"] + step, 0, 1)
        return state["p"]


@dataclass(frozen=True, kw_only=True)
class Red(Law):
    """avg' = K (q - avg) with K = -C ln(1 - w), one sample for each packet.

    p_b is linear between thresholds. Spaced signals come every (1 / p_b + 1) / 2 packets on
    average.
    """

    low_pkts: float
    high_pkts: float
    most: float  # p_b at the upper threshold
    weight: float
    scale: float  # of a packet's p_b
    is_gentle: bool
    is_spaced: bool = True

    def _signal(self, inner: Numbers) -> Numbers:
        return 2 * inner / (1 + inner) if self.is_spaced else inner

    def _inner(self, signal: float) -> float:
        return signal / (2 - signal) if self.is_spaced else signal

    def _slope(self, inner: float) -> float:
        """Return the slope of p_b over the average at this p_b."""
        if inner <= self.most * self.scale:
            return self.most * self.scale / (self.high_pkts - self.low_pkts)
        return (1 - self.most) * self.scale / self.high_pkts

    def queue_at(self, signal: float) -> float:
        inner = self._inner(signal)
        if inner <= self.most * self.scale:
            return self.low_pkts + inner / self._slope(inner)
        return self.high_pkts + (inner - self.most * self.scale) / self._slope(inner)

    def check(self, at: Equilibrium) -> None:
        """Raise NoEquilibrium above the upper threshold of classic RED, where it has no slope."""
        if not self.is_gentle and self._inner(at.signal) > self.most * self.scale:
            most = self._signal(self.most * self.scale)
            raise NoEquilibrium(
                f"'{self.name}': the flows need a probability of {at.signal:.3g} to rest, and "
                f"below max it gives {most:.3g} at most; fewer --flows, or --set form=gentle, or "
                "a larger --set probability"
            )

    def response(self, s: Numbers, at: Equilibrium) -> Numbers:
        inner = self._inner(at.signal)
        slope = self._slope(inner) * (2 / (1 + inner) ** 2 if self.is_spaced else 1)
        return slope / (1 + s / self._filter_rad_s(at.network.capacity_pkts_s))

    def _filter_rad_s(self, capacity_pkts_s: Numbers) -> Numbers:
        return -np.log1p(-self.weight) * capacity_pkts_s

    def corners_rad_s(self, at: Equilibrium) -> tuple[float, ...]:
        return (float(self._filter_rad_s(at.network.capacity_pkts_s)),)

    def start(self, at: Equilibrium) -> dict[str, Numbers]:
        return {"average": at.queue_pkts}

    def update(self, state: dict[str, Numbers], seen: Seen) -> Numbers:
        share = -np.expm1(-self._filter_rad_s(seen.capacity_pkts_s) * seen.step_s)
        state["average"] = state["average"] + share * (seen.queue_pkts - state["average"])
        average, top = state["average"], self.most * self.scale
        inner = np.clip((average - self.low_pkts) / (self.high_pkts - self.low_pkts), 0, 1) * top
        if self.is_gentle:
            above = np.clip(average / self.high_pkts - 1, 0, 1)
            inner = np.where(average > 2 * self.high_pkts, 1, inner + (self.scale - top) * above)
        else:
            inner = np.where(average > self.high_pkts, 1, inner)
        return np.clip(self._signal(np.clip(inner, 0, 1)), 0, 1)


@dataclass(frozen=True, kw_only=True)
class Pie(Law):
    """p += (alpha (d - target) + beta (d - d_old)) / divisor; the divisor falls as p grows.

    RFC 8033 needs a sum of 0.85 before the next chance; its signals come every 1.85 / p packets. A
    delay by time stamps is that of the packet which leaves: the queue at its arrival.
    """

    target_s: float
    alpha_hz: float
    beta_hz: float
    divisors: tuple[tuple[float, float], ...]  # a bound, and the divisor where p is below it
    spacing: float
    is_stamped: bool
    capacity_pkts_s: float

    def queue_at(self, signal: float) -> float:
        return self.target_s * self.capacity_pkts_s

    def _divisor(self, inner: Numbers) -> Numbers:
        value = np.ones_like(np.asarray(inner, float))
        for below, divisor in self.divisors:
            value = np.where(np.asarray(inner) < below, divisor, value)
        return value

    def response(self, s: Numbers, at: Equilibrium) -> Numbers:
        change = _change(s, self.sampled_s)
        gain = self.alpha_hz + self.beta_hz * change
        late = np.exp(-s * self.target_s) if self.is_stamped else 1
        divisor = float(self._divisor(at.signal * self.spacing)) * self.spacing
        return gain / divisor / self.capacity_pkts_s * late / change

    def corners_rad_s(self, at: Equilibrium) -> tuple[float, ...]:
        return (self.alpha_hz / (self.alpha_hz + self.beta_hz) / self.sampled_s,)

    def start(self, at: Equilibrium) -> dict[str, Numbers]:
        return {"p": at.signal * self.spacing, "delay": self.target_s}

    def update(self, state: dict[str, Numbers], seen: Seen) -> Numbers:
        queue = seen.delayed_queue_pkts if self.is_stamped else seen.queue_pkts
        delay = queue / seen.capacity_pkts_s
        step = self.alpha_hz * (delay - self.target_s) + self.beta_hz * (delay - state["delay"])
        state["delay"] = delay
        state["p"] = np.clip(state["p"] + step / self._divisor(state["p"]), 0, 1)
        return np.clip(state["p"] / self.spacing, 0, 1)
