# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The loop of an algorithm on a network: its plant, its law, and the law's sampling.

Below are loops as papers print them. LQD (Le, Jeffay, Smith, ICDCS 2006, 3.2) takes the round trip
tau as fixed:

    W' = 1 / tau - w w(t - tau) / (eta tau) p(t - tau), eta = 2
    q' = N w / tau - C
    p' = a (q - q_ref) - b (p - p_ref)

The paper prints K11 = K12 = -2 N / (C tau^2), where each is half of that. It prints the gains of an
update as if an update took a second. Its characteristic equation is s^3 + a1 s^2 + a2 s + a3, with
two slips:

    a2 = -K11 b                   instead of  -b (K11 + K12 exp(-s tau))
    a3 = -a K12 K21 exp(-s tau)   instead of  -a K13 K21 exp(-s tau), K13 = -tau C^2 / (eta N^2)

In a3 the window's own forgetting replaces the signal's effect. The paper claims that positive real
parts of a1, a2, a3 mean stability. This holds for no such equation: a cubic needs a1 a2 > a3 too,
and this one contains exp(-s tau).

Hollot, Misra, Towsley and Gong (INFOCOM 2001) approximate W(t - R) by W in the plant. Their laws
have no samples, and their RED does not space its signals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sojourn.core.errors import InputError
from sojourn.theory.laws import Law, Lqd, Pi, Red
from sojourn.theory.loop import Loop, Margins, margins, turns
from sojourn.theory.network import Equilibrium, Network, Plant, rest
from sojourn.theory.rows import RFC_SPACING, Chosen
from sojourn.theory.rows import law as law_of

# So many images of the plant on each side count. Sampling adds them at distances of the law's own
# frequency, and they fall as the third power of the distance. At half that frequency, all others
# together are below 0.2 % of the first, and far below elsewhere.
_IMAGES = 8


@dataclass(frozen=True)
class Model:
    """One loop and its equilibrium. `law` is None where the loop is a paper's own."""

    name: str
    at: Equilibrium
    loop: Loop
    margins: Margins
    chosen: Chosen
    law: Law | None = None
    plant: Plant | None = None
    notes: tuple[str, ...] = ()

    @property
    def room_pkts(self) -> int:
        """Return the capacity of the queue in packets."""
        return room_pkts(self.chosen, self.at)


def model(
    chosen: Chosen, network: Network, per_decade: int = 200, within: float = math.inf
) -> Model:
    """Make the fluid model of an algorithm. NoEquilibrium: it has none on this network."""
    law = law_of(chosen, network)
    at = rest(network, law.queue_at, chosen.label)
    if isinstance(law, Red):
        law.check(at)
    plant = Plant(at)
    loop = loop_of(chosen.label, plant, law)
    notes = [*law.notes, *_notes(chosen, at)]
    return Model(
        chosen.label, at, loop, margins(loop, per_decade, within), chosen, law, plant, tuple(notes)
    )


def loop_of(name: str, plant: Plant, law: Law) -> Loop:
    """Make the loop of a law around a plant.

    The poles of TCP and the queue on the right, usually none, are counted by the turns of D.
    """
    at, interval = plant.at, law.sampled_s
    corners = (2 * plant.g_per_s, 1 / at.round_trip_s, *law.corners_rad_s(at))
    gain = (
        sampled(plant.response, law, at)
        if interval
        else lambda s: plant.response(s) * law.response(s, at)
    )
    loop = Loop(
        name,
        gain,
        at.round_trip_s,
        min(corner for corner in corners if corner > 0),
        max(corners),
        interval,
    )
    return replace(loop, open_unstable=_unstable(plant, loop))


def _unstable(plant: Plant, loop: Loop) -> int:
    """Count the zeros of D in the right half-plane.

    D is divided by a square that has no zero there and equals D far away.
    """
    far = 1 / plant.at.round_trip_s + 2 * plant.g_per_s
    axis = Loop(loop.name, loop.gain, loop.round_trip_s, far, 100 * far)
    return -turns(lambda s: plant.denominator(s) / (s + far) ** 2, axis)


def sampled(plant: Callable[[Any], Any], law: Law, at: Equilibrium) -> Callable[[Any], Any]:
    """Make the loop of a law in z = exp(s T) whose probability is held for T: the plant's images
    add up."""
    interval = law.sampled_s
    distance = 2j * np.pi / interval

    def gain(s: Any) -> Any:
        s = np.asarray(s, complex)
        held = -np.expm1(-s * interval) / interval
        images = [s + k * distance for k in range(-_IMAGES, _IMAGES + 1)]
        return law.response(s, at) * held * sum(plant(image) / image for image in images)

    return gain


def room_pkts(chosen: Chosen, at: Equilibrium) -> int:
    """Return the capacity of the queue in packets."""
    return min(chosen.number("limit"), chosen.number("limit_bytes") // at.network.packet_bytes)


def _notes(chosen: Chosen, at: Equilibrium) -> list[str]:
    """List the effects on this network that the linear model leaves out."""
    notes = []
    limit = room_pkts(chosen, at)
    if at.queue_pkts >= limit:
        notes.append(
            f"the queue would rest at {at.queue_pkts:.1f} packets and has room for {limit}: its "
            "limit decides, not the algorithm"
        )
    if at.queue_pkts <= 0:
        notes.append("the queue would rest empty: the link is not full, and nothing is controlled")
    if at.window_pkts < 4:
        notes.append(
            f"windows of {at.window_pkts:.1f} packets: TCP waits for its timer below 4, which the "
            "model does not know"
        )
    if chosen.algorithm == "pie" and at.signal * RFC_SPACING >= chosen.of("mark_ecnth"):
        notes.append("p is above mark_ecnth: signals are drops, and the model has marks")
    return notes


def printed(chosen: Chosen, network: Network) -> list[Model]:
    """Make the loops of an algorithm as a published analysis has them. InputError: there is
    none."""
    if chosen.algorithm not in PRINTED:
        raise InputError(
            f"--as-printed: of '{chosen.algorithm}' no analysis is here; these have one: "
            f"{', '.join(PRINTED)}"
        )
    return PRINTED[chosen.algorithm](chosen, network)


def _pi(chosen: Chosen, network: Network) -> list[Model]:
    """Make the loop of C(s) = K (1 + s / z) / s.

    Its constants follow from a = K / z + K T / 2 and b = K / z - K T / 2.
    """
    law = law_of(chosen, network)
    assert isinstance(law, Pi)
    at = rest(network, law.queue_at, chosen.label)
    rate = (law.rise - law.fall) / law.sampled_s
    zero = 2 * rate / (law.rise + law.fall)
    plant = Plant(at, is_simplified=True)
    loop = Loop(
        chosen.label,
        lambda s: plant.response(s) * rate * (1 + s / zero) / s,
        at.round_trip_s,
        min(zero, 2 * plant.g_per_s),
        max(zero, 1 / at.round_trip_s),
    )
    return [_model(chosen, "after Hollot et al.", at, loop)]


def _red(chosen: Chosen, network: Network) -> list[Model]:
    law = law_of(chosen, network)
    assert isinstance(law, Red)
    unspaced = replace(law, is_spaced=False)
    at = rest(network, unspaced.queue_at, chosen.label)
    unspaced.check(at)
    loop = loop_of(chosen.label, Plant(at, is_simplified=True), unspaced)
    return [_model(chosen, "after Hollot et al.", at, loop)]


def _lqd(chosen: Chosen, network: Network) -> list[Model]:
    law = law_of(chosen, network)
    assert isinstance(law, Lqd)
    tau, flows, capacity = network.rtt_s, network.flows, network.capacity_pkts_s
    window = tau * capacity / flows
    signal = 2 / window**2
    if signal > 1:
        raise InputError(
            f"--as-printed: with '{chosen.label}' the paper's p would be {signal:.6g}, above 1; "
            "fewer --flows, or more --capacity or --rtt"
        )
    queue = law.reference_pkts + law.fall / law.rise * (signal - law.reference_loss)
    at = Equilibrium(network, max(queue, 0.0), window, signal, tau)
    per_s = 1 / law.sampled_s
    g = flows / (capacity * tau**2)
    k13, k21 = tau * capacity**2 / (2 * flows**2), flows / tau

    def corrected(s: Any) -> Any:
        late = np.exp(-s * tau)
        return (
            law.rise
            * per_s
            * k13
            * k21
            * late
            / (s * (s + law.fall * per_s) * (s + g * (1 + late)))
        )

    def as_printed(s: Any) -> Any:
        late, k = np.exp(-s * tau), 2 * g
        a1, a2, a3 = k + k * late + law.fall, k * law.fall, law.rise * k * k21 * late
        return a3 / (s * (s**2 + a1 * s + a2))

    def loop(gain: Callable[[Any], Any], leak: float) -> Loop:
        corners = [c for c in (g, 1 / tau, leak) if c > 0]
        return Loop(chosen.label, gain, tau, min(corners) / 10, max(corners))

    return [
        _model(chosen, "the paper's, corrected", at, loop(corrected, law.fall * per_s)),
        _model(chosen, "the paper's, as printed", at, loop(as_printed, law.fall)),
    ]


def _model(chosen: Chosen, how: str, at: Equilibrium, loop: Loop) -> Model:
    return Model(f"{chosen.label}, {how}", at, loop, margins(loop), chosen)


PRINTED: Mapping[str, Callable[[Chosen, Network], list[Model]]] = {
    "pi": _pi,
    "red": _red,
    "lqd": _lqd,
}
