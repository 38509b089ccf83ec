# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Loops as papers print them.

LQD (Le, Jeffay, Smith, ICDCS 2006, 3.2) takes the round trip tau as fixed:

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

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.core.errors import InputError
from sojourn.theory.laws import Lqd, Pi, Red
from sojourn.theory.loop import Loop, margins
from sojourn.theory.models import Model, loop_of
from sojourn.theory.network import Equilibrium, Network, rest
from sojourn.theory.plant import Plant
from sojourn.theory.rows import Chosen
from sojourn.theory.rows import law as law_of


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
    plain = replace(law, is_spaced=False)
    at = rest(network, plain.queue_at, chosen.label)
    plain.check(at)
    loop = loop_of(chosen.label, Plant(at, is_simplified=True), plain)
    return [_model(chosen, "after Hollot et al.", at, loop)]


def _lqd(chosen: Chosen, network: Network) -> list[Model]:
    law = law_of(chosen, network)
    assert isinstance(law, Lqd)
    tau, flows, capacity = network.rtt_s, network.flows, network.capacity_pkts_s
    window = tau * capacity / flows
    signal = 2 / window**2
    if signal > 1:
        raise InputError(
            f"--as-printed: with '{chosen.label}' the paper's p would be {signal:.3g}, above 1; "
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
