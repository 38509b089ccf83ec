# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The study of `sojourn stability`: models, maps, the packet engine beside them, their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.core.progress import Progress
from sojourn.core.text import Column, Table
from sojourn.theory.equations import Course, integrate
from sojourn.theory.maps import Map, axes, grid
from sojourn.theory.models import Model, model, printed
from sojourn.theory.network import Network
from sojourn.theory.noise import Noise, noise, notes, swing_hz
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


NOTHING = "–"


def title(network: Network) -> str:
    """Describe the network."""
    return (
        f"{network.flows:g} flows, {network.capacity_pkts_s:.6g} packets/s of "
        f"{network.packet_bytes} B, {network.rtt_s * 1e3:g} ms"
    )


def verdict(model: Model) -> str:
    """Tell in a word whether the model is stable."""
    return "stable" if model.margins.is_stable else "unstable"


def table(study: Study) -> Table:
    """Make a row for each model."""
    names = [Column("model", [model.name for model in study.models])]
    return Table(title(study.network), names, _columns(study))


def _columns(study: Study) -> list[Column]:
    """Make the columns: equilibrium, margins, verdict, swing, and simulated numbers."""
    models = study.models
    noises = [noise(model) for model in models]
    beside = {one.model.name: one.simulated for one in study.beside}
    runs = [beside.get(model.name) for model in models]
    of = [model.margins for model in models]
    found = [
        _column("queue\npackets", [m.at.queue_pkts for m in models], ".1f"),
        _column("window\npackets", [m.at.window_pkts for m in models], ".2f"),
        _column("signal\n%", [100 * m.at.signal for m in models], ".3f"),
        _column("round trip\nms", [1e3 * m.at.round_trip_s for m in models], ".1f"),
        _column("crossover\nrad/s", [one.crossover_rad_s for one in of], ".4g"),
        _column("crossover\nHz", [one.crossover_rad_s / math.tau for one in of], ".4g"),
        _column("phase\nmargin °", [one.phase_deg for one in of], ".1f"),
        _column("gain\nmargin", [one.gain for one in of], ".3g"),
        _column("delay\nmargin ms", [1e3 * one.delay_s for one in of], ".0f"),
        Column("Nyquist\ncriterion", [verdict(m) for m in models]),
        _column("swing\nHz", [swing_hz(m) for m in models], ".3g"),
        _column("queue sd\npackets", [n.deviation_pkts if n else math.nan for n in noises], ".1f"),
    ]
    if study.beside:
        found += [
            _column("simulated\nqueue", [r.mean_pkts if r else math.nan for r in runs], ".1f"),
            _column("simulated\nsd", [r.deviation_pkts if r else math.nan for r in runs], ".1f"),
            _column("simulated\npeak Hz", [r.peak_hz if r else math.nan for r in runs], ".3g"),
            _column(
                "simulated\nsignal %", [100 * r.signal if r else math.nan for r in runs], ".3f"
            ),
            _column(
                "simulated\nload %", [r.utilisation_pct if r else math.nan for r in runs], ".1f"
            ),
        ]
    return found


def _column(heading: str, values: list[float], form: str) -> Column:
    return Column(heading, [_text(value, form) for value in values])


def _text(value: float, form: str) -> str:
    if math.isnan(value):
        return NOTHING
    return "none" if math.isinf(value) else f"{value:{form}}"
