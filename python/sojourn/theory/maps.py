# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Maps: the margins of an algorithm over two of flows, capacity and round trip."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sojourn.core.errors import InputError, nearest
from sojourn.core.units import Duration, Rate, UnitError, count
from sojourn.theory.models import model
from sojourn.theory.network import MOST_FLOWS, Network, NoEquilibrium
from sojourn.theory.rows import Chosen

STEPS = 31
# By default, an axis ends at so many times less and more than the value of the network.
_REACH = 8
# The frequency axis of a map needs fewer points than that of a table, and none far from |L| = 1.
_PER_DECADE, _WITHIN = 60, 30.0


@dataclass(frozen=True)
class Axis:
    """One axis of a map; values in its own unit, by equal ratios."""

    name: str
    label: str
    values: Any
    put: Callable[[Network, float], Network]


@dataclass(frozen=True)
class Map:
    """The margins of an algorithm; rows follow y, columns follow x."""

    name: str  # of the algorithm
    x: Axis
    y: Axis
    phase_deg: Any  # NaN without equilibrium
    unstable: Any  # poles in the right half-plane; -1 without equilibrium
    crossover_hz: Any

    def rows(self) -> list[dict[str, float | int | str]]:
        """Return a row for each cell, for a table."""
        return [
            {
                "algorithm": self.name,
                self.x.label: float(x),
                self.y.label: float(y),
                "stable": {0: "yes", -1: "no equilibrium"}.get(int(self.unstable[j, i]), "no"),
                "phase_margin_deg": float(self.phase_deg[j, i]),
                "crossover_hz": float(self.crossover_hz[j, i]),
            }
            for j, y in enumerate(self.y.values)
            for i, x in enumerate(self.x.values)
        ]


_Kind = tuple[
    str, Callable[[Network], float], Callable[[Network, float], Network], Callable[[str], float]
]
# By axis: its label in files, and functions to get its value, to set it, and to read text.
_AXES: Mapping[str, _Kind] = {
    "flows": (
        "flows",
        lambda network: network.flows,
        lambda network, value: replace(network, flows=value),
        lambda text: float(_count(text)),
    ),
    "capacity": (
        "capacity_mbit_s",
        lambda network: network.capacity_pkts_s * network.packet_bytes * 8 / 1e6,
        lambda network, value: replace(
            network, capacity_pkts_s=value * 1e6 / 8 / network.packet_bytes
        ),
        lambda text: Rate(text) / 1e6,
    ),
    "rtt": (
        "rtt_ms",
        lambda network: network.rtt_s * 1e3,
        lambda network, value: replace(network, rtt_s=value / 1e3),
        lambda text: Duration(text) / 1e6,
    ),
}


def _count(text: str) -> int:
    number = count(text)
    if not 1 <= number <= MOST_FLOWS:
        raise UnitError(f"{text!r} is not a number of flows; allowed: 1 to {MOST_FLOWS}")
    return number


def axes(text: str, network: Network) -> tuple[Axis, Axis]:
    """Read the axes of a map: 'flows,rtt', or with ends: 'flows=10..500,rtt=20 ms..1 s'."""
    parts = [part.strip() for part in text.split(",")]
    chosen = [_axis(part, text, network) for part in parts]
    if len(chosen) != 2 or chosen[0].name == chosen[1].name:
        raise InputError(f"--map {text}: name two of {', '.join(_AXES)}, as in flows,rtt")
    return chosen[0], chosen[1]


def _axis(part: str, text: str, network: Network) -> Axis:
    name, equals, ends = (word.strip() for word in part.partition("="))
    if name not in _AXES:
        raise InputError(f"--map {text}: there is no axis '{name}'.{nearest(name, _AXES)}")
    label, value, put, read = _AXES[name]
    middle = value(network)
    low, high = max(middle / _REACH, 1 if name == "flows" else 0), middle * _REACH
    if equals:
        first, dots, last = (word.strip() for word in ends.partition(".."))
        try:
            low, high = (read(first), read(last)) if dots and first and last else (0, 0)
        except UnitError as error:
            raise InputError(f"--map {text}: {name}: {error}") from error
        if not 0 < low < high:
            raise InputError(f"--map {text}: {name}: write its ends as LEAST..MOST, least first")
    values = np.geomspace(low, high, STEPS)
    if name == "flows":
        values = np.unique(np.round(values))
    return Axis(name, label, values, put)


def grid(
    chosen: Chosen,
    network: Network,
    x: Axis,
    y: Axis,
    progress: Callable[[int], None] = lambda _: None,
) -> Map:
    """Calculate the margins in each cell; `progress` gets the number of finished cells.

    InputError: no cell has an equilibrium.
    """
    shape = len(y.values), len(x.values)
    phase, crossover = np.full(shape, math.nan), np.full(shape, math.nan)
    unstable = np.full(shape, -1)
    for j, y_value in enumerate(y.values):
        for i, x_value in enumerate(x.values):
            cell = y.put(x.put(network, float(x_value)), float(y_value))
            try:
                margins = model(chosen, cell, _PER_DECADE, _WITHIN).margins
            except NoEquilibrium:
                continue
            unstable[j, i] = margins.unstable
            phase[j, i] = margins.phase_deg
            crossover[j, i] = margins.crossover_rad_s / math.tau
        progress((j + 1) * shape[1])
    if (unstable < 0).all():
        raise InputError(f"--map: with '{chosen.label}' the model rests nowhere on it")
    return Map(chosen.label, x, y, phase, unstable, crossover)


def counts(maps: Sequence[Map]) -> list[dict[str, str | int]]:
    """Count the stable cells, the unstable cells, and those without equilibrium, for each map."""
    return [
        {
            "algorithm": area.name,
            "stable": int((area.unstable == 0).sum()),
            "unstable": int((area.unstable > 0).sum()),
            "no_equilibrium": int((area.unstable < 0).sum()),
        }
        for area in maps
    ]
