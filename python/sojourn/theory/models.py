# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The loop of an algorithm on a network: its plant, its law, and the law's sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sojourn.theory.laws import Law, Red
from sojourn.theory.loop import Loop, Margins, margins, turns
from sojourn.theory.network import Equilibrium, Network, rest
from sojourn.theory.plant import Plant
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
    gain = sampled(plant.response, law, at) if interval else _smooth(plant, law, at)
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
    of_axis = Loop(loop.name, loop.gain, loop.round_trip_s, far, 100 * far)
    return -turns(lambda s: plant.denominator(s) / (s + far) ** 2, of_axis)


def _smooth(plant: Plant, law: Law, at: Equilibrium) -> Callable[[Any], Any]:
    return lambda s: plant.response(s) * law.response(s, at)


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
