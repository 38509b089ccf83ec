# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The study of `sojourn stability`: models, maps, and the packet engine compared with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.core.progress import Progress
from sojourn.theory.equations import Course, integrate
from sojourn.theory.grid import Map, axes, grid
from sojourn.theory.models import Model, model
from sojourn.theory.network import Network
from sojourn.theory.noise import Noise, noise, notes, swing_hz
from sojourn.theory.printed import printed
from sojourn.theory.rows import Chosen

if TYPE_CHECKING:
    from sojourn.result.result import Result
    from sojourn.theory.simulated import Simulated

# A loop that crosses 1 at w has forgotten its start after so many times 1 / w.
_SETTLED = 3
# The equations are integrated over so many periods of the swing, and begin with a queue that is
# longer than in equilibrium by this share.
_PERIODS = 20
_PUSH = 0.5


@dataclass(frozen=True)
class Beside:
    """One model, its equations integrated, and the simulated queue."""

    model: Model
    noise: Noise | None
    course: Course | None
    simulated: Simulated


@dataclass(frozen=True)
class Study:
    """The models, maps and simulated queues of one command."""

    network: Network
    models: Sequence[Model]
    maps: Sequence[Map] = ()
    beside: Sequence[Beside] = ()
    result: Result | None = None

    def notes(self, one: Model) -> list[str]:
        """List the limits of the model on this network, and a run that was too short for it."""
        found = notes(one)
        settles_s = _SETTLED / one.margins.crossover_rad_s
        for beside in self.beside:
            if beside.model is one and settles_s > beside.simulated.settling_s:
                found.append(
                    f"the loop takes about {settles_s:.0f} s to settle and had "
                    f"{beside.simulated.settling_s:.0f} s in the simulator; a longer --duration"
                )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the data that --json prints."""
        network = self.network
        by_model = {one.model.name: one for one in self.beside}
        return {
            "flows": network.flows,
            "capacity_pkts_s": network.capacity_pkts_s,
            "rtt_s": network.rtt_s,
            "packet_bytes": network.packet_bytes,
            "models": [
                {**_model(one, by_model.get(one.name)), "notes": self.notes(one)}
                for one in self.models
            ],
            "maps": [{"algorithm": found.name, "cells": found.rows()} for found in self.maps],
        }


def _model(one: Model, beside: Beside | None) -> dict[str, Any]:
    predicted = noise(one)
    return {
        "name": one.name,
        "equilibrium": one.at.to_json(),
        **one.margins.to_json(),
        "swing_hz": swing_hz(one),
        "queue_sd_pkts": predicted.deviation_pkts if predicted else math.nan,
        "simulated": beside.simulated.to_json() if beside else None,
    }


def study(
    chosen: Sequence[Chosen],
    network: Network,
    *,
    as_printed: bool = False,
    over: str = "",
    simulated_s: float | None = None,
    seeds: int = 1,
    workers: int | None = None,
) -> Study:
    """Study the models of algorithms on a network.

    `as_printed` adds the models of their papers, and `over` ('flows,rtt') adds maps. `simulated_s`
    adds runs of so many seconds in the packet engine.
    """
    plain = [model(one, network) for one in chosen]
    models = []
    for one, found in zip(chosen, plain, strict=True):
        models += [found, *(printed(one, network) if as_printed else ())]
    maps = []
    if over:
        x, y = axes(over, network)
        cells = len(x.values) * len(y.values)
        for one in chosen:
            with Progress(f"mapping {one.label}", cells) as progress:
                maps.append(grid(one, network, x, y, progress.update))
    if simulated_s is None:
        return Study(network, models, maps)
    from sojourn.theory.simulated import simulate

    runs, result = simulate(chosen, network, simulated_s, seeds, workers)
    beside = [
        Beside(
            found,
            noise(found),
            integrate([found], _PERIODS / swing_hz(found), _PUSH),
            run,
        )
        for found, run in zip(plain, runs, strict=True)
    ]
    return Study(network, models, maps, beside, result)
