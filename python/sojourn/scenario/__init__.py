# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios: networks and their traffic, written in TOML or made of these classes.

Each kind of traffic has a class too, under its name in the engine's table: Bulk, Web and so on.
Hosts, runs, sweeps, theory and papers use this room; it knows no host and starts no run. Begin with
`model`, which lists a file's way from TOML to a host.
"""

from typing import TYPE_CHECKING, Any

from sojourn.core.units import Duration, Rate, Share, Size
from sojourn.scenario.ends import (
    Band,
    ClassStep,
    Drr,
    DrrClass,
    Htb,
    HtbClass,
    InnerDrr,
    InnerHtb,
    InnerPrio,
    Match,
    Prio,
    QueueStage,
    Ring,
)
from sojourn.scenario.flows import KINDS, Flow, Tcp, Traffic, Udp
from sojourn.scenario.links import Jitter, Link
from sojourn.scenario.model import Scenario
from sojourn.scenario.networks.cables import Cable
from sojourn.scenario.networks.dumbbell import Between, Dumbbell, Side
from sojourn.scenario.networks.layout import Back, Edge
from sojourn.scenario.networks.parking_lot import Crossing, Hop, ParkingLot
from sojourn.scenario.parts import Even, Exponential, Normal, Poisson, Record, Uniform, Window
from sojourn.scenario.queues import Queue, Step
from sojourn.scenario.toml import load, loads

_TRAFFIC = {model.__name__: model for model in KINDS.values()}
globals().update(_TRAFFIC)
if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


__all__ = [
    "Back",
    "Band",
    "Between",
    "Cable",
    "ClassStep",
    "Crossing",
    "Drr",
    "DrrClass",
    "Dumbbell",
    "Duration",
    "Edge",
    "Even",
    "Exponential",
    "Flow",
    "Hop",
    "Htb",
    "HtbClass",
    "InnerDrr",
    "InnerHtb",
    "InnerPrio",
    "Jitter",
    "Link",
    "Match",
    "Normal",
    "ParkingLot",
    "Poisson",
    "Prio",
    "Queue",
    "QueueStage",
    "Rate",
    "Record",
    "Ring",
    "Scenario",
    "Share",
    "Side",
    "Size",
    "Step",
    "Tcp",
    "Traffic",
    "Udp",
    "Uniform",
    "Window",
    "load",
    "loads",
    *_TRAFFIC,
]
