# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios: what is simulated, written in TOML or made of these classes."""

from sojourn.scenario.apps import (
    Bulk,
    Cbr,
    Files,
    OnOff,
    Paced,
    Ping,
    PoissonDatagrams,
    Respawn,
    Tmix,
    Voip,
    Web,
)
from sojourn.scenario.links import Cable, Jitter, Link, Queue, Step
from sojourn.scenario.model import (
    Between,
    Crossing,
    DualTransmitter,
    Dumbbell,
    Flow,
    ParkingLot,
    Record,
    Scenario,
    Tcp,
    Traffic,
    Udp,
    Window,
)
from sojourn.scenario.shorthand import Back, Edge, Hop, Side
from sojourn.scenario.times import Even, Exponential, Normal, Poisson, Uniform
from sojourn.scenario.toml import load, loads
from sojourn.units import Duration, Rate, Share, Size

__all__ = [
    "Back",
    "Between",
    "Bulk",
    "Cable",
    "Cbr",
    "Crossing",
    "DualTransmitter",
    "Dumbbell",
    "Duration",
    "Edge",
    "Even",
    "Exponential",
    "Files",
    "Flow",
    "Hop",
    "Jitter",
    "Link",
    "Normal",
    "OnOff",
    "Paced",
    "ParkingLot",
    "Ping",
    "Poisson",
    "PoissonDatagrams",
    "Queue",
    "Rate",
    "Record",
    "Respawn",
    "Scenario",
    "Share",
    "Side",
    "Size",
    "Step",
    "Tcp",
    "Tmix",
    "Traffic",
    "Udp",
    "Uniform",
    "Voip",
    "Web",
    "Window",
    "load",
    "loads",
]
