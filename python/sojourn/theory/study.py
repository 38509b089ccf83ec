# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The study of `sojourn stability`: models, maps, the packet engine beside them, their numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import InputError
from sojourn.core.progress import Progress
from sojourn.core.text import NOTHING, Column, Table
from sojourn.core.units import Duration, Rate, Size
from sojourn.theory.equations import Course, integrate
from sojourn.theory.maps import Map, axes, grid
from sojourn.theory.models import Model, model, printed
from sojourn.theory.network import Network, read
from sojourn.theory.noise import Noise, noise, notes, swing_hz
from sojourn.theory.rows import Chosen, choose_all

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

    def notes(self, model: Model) -> list[str]:
        """List the limits of the model on this network, and a run that was too short for it."""
        sentences = notes(model)
        settles_s = _SETTLED / model.margins.crossover_rad_s
        for beside in self.beside:
            if beside.model is model and settles_s > beside.simulated.settling_s:
                sentences.append(
                    f"the loop takes about {settles_s:.0f} s to settle and had "
                    f"{beside.simulated.settling_s:.0f} s in the simulator; a longer --duration"
                )
        return sentences

    def to_json(self) -> dict[str, Any]:
        """Return the data that --json prints."""
        network = self.network
        by_model = {row.model.name: row for row in self.beside}
        return {
            "flows": network.flows,
            "capacity_pkts_s": network.capacity_pkts_s,
            "rtt_s": network.rtt_s,
            "packet_bytes": network.packet_bytes,
            "models": [
                {**_model(model, by_model.get(model.name)), "notes": self.notes(model)}
                for model in self.models
            ],
            "maps": [{"algorithm": area.name, "cells": area.rows()} for area in self.maps],
        }


def _model(model: Model, beside: Beside | None) -> dict[str, Any]:
    predicted = noise(model)
    return {
        "name": model.name,
        "equilibrium": model.at.to_json(),
        **model.margins.to_json(),
        "swing_hz": swing_hz(model),
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
    own = [model(algorithm, network) for algorithm in chosen]
    models = []
    for algorithm, its_model in zip(chosen, own, strict=True):
        models += [its_model, *(printed(algorithm, network) if as_printed else ())]
    maps = []
    if over:
        x, y = axes(over, network)
        cells = len(x.values) * len(y.values)
        for algorithm in chosen:
            with Progress(f"mapping {algorithm.label}", cells) as progress:
                maps.append(grid(algorithm, network, x, y, progress.update))
    if simulated_s is None:
        return Study(network, models, maps)
    from sojourn.theory.simulated import simulate

    runs, result = simulate(chosen, network, simulated_s, seeds, workers)
    beside = [
        Beside(m, noise(m), integrate([m], _PERIODS / swing_hz(m), _PUSH), run)
        for m, run in zip(own, runs, strict=True)
    ]
    return Study(network, models, maps, beside, result)


def stability(
    algorithms: Sequence[str],
    *,
    flows: int,
    capacity: Rate | str,
    rtt: Duration | str,
    packet: Size | str = "1500 B",
    as_printed: bool = False,
    over: str = "",
    simulated_s: float | None = None,
    seeds: int = 1,
    workers: int | None = None,
) -> Study:
    """Study algorithms, such as 'pi' or 'red@ns2:ecn=true', on one link that TCP flows share."""
    if not algorithms:
        raise InputError("stability: no algorithm is given, such as 'pi'")
    shared = read(flows, Rate(capacity), Duration(rtt), Size(packet))
    return study(
        choose_all(algorithms, []),
        shared,
        as_printed=as_printed,
        over=over,
        simulated_s=simulated_s,
        seeds=seeds,
        workers=workers,
    )


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
    """Make a row for each model: equilibrium, margins, verdict, swing, and simulated numbers."""
    models = study.models
    margins = [model.margins for model in models]
    simulated = {row.model.name: row.simulated for row in study.beside}
    runs = [simulated.get(model.name) for model in models]

    def column(heading: str, form: str, parts: Sequence[Any], read: Callable[[Any], float]) -> None:
        values = [math.nan if part is None else read(part) for part in parts]
        columns.append(Column(heading, [_text(value, form) for value in values]))

    columns: list[Column] = []
    column("queue\npackets", ".1f", models, lambda m: m.at.queue_pkts)
    column("window\npackets", ".2f", models, lambda m: m.at.window_pkts)
    column("signal\n%", ".3f", models, lambda m: 100 * m.at.signal)
    column("round trip\nms", ".1f", models, lambda m: 1e3 * m.at.round_trip_s)
    column("crossover\nrad/s", ".4g", margins, lambda m: m.crossover_rad_s)
    column("crossover\nHz", ".4g", margins, lambda m: m.crossover_rad_s / math.tau)
    column("phase\nmargin °", ".1f", margins, lambda m: m.phase_deg)
    column("gain\nmargin", ".3g", margins, lambda m: m.gain)
    column("delay\nmargin ms", ".0f", margins, lambda m: 1e3 * m.delay_s)
    columns.append(Column("Nyquist\ncriterion", [verdict(model) for model in models]))
    column("swing\nHz", ".3g", models, swing_hz)
    column("queue sd\npackets", ".1f", [*map(noise, models)], lambda n: n.deviation_pkts)
    if study.beside:
        column("simulated\nqueue", ".1f", runs, lambda r: r.mean_pkts)
        column("simulated\nsd", ".1f", runs, lambda r: r.deviation_pkts)
        column("simulated\npeak Hz", ".3g", runs, lambda r: r.peak_hz)
        column("simulated\nsignal %", ".3f", runs, lambda r: 100 * r.signal)
        column("simulated\nload %", ".1f", runs, lambda r: r.utilisation_pct)
    names = [Column("model", [model.name for model in models])]
    return Table(title(study.network), names, columns)


def _text(value: float, form: str) -> str:
    if math.isnan(value):
        return NOTHING
    return "none" if math.isinf(value) else f"{value:{form}}"
