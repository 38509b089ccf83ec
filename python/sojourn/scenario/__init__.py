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
from sojourn.scenario.model import (
    Cable,
    Dumbbell,
    Flow,
    Jitter,
    Link,
    Queue,
    Record,
    Scenario,
    Step,
    Tcp,
    Traffic,
    Udp,
    Window,
)
from sojourn.scenario.times import Even, Exponential, Normal, Poisson, Uniform
from sojourn.scenario.toml import load, loads
from sojourn.units import Duration, Rate, Share, Size

__all__ = [
    "Bulk",
    "Cable",
    "Cbr",
    "Dumbbell",
    "Duration",
    "Even",
    "Exponential",
    "Files",
    "Flow",
    "Jitter",
    "Link",
    "Normal",
    "OnOff",
    "Paced",
    "Ping",
    "Poisson",
    "PoissonDatagrams",
    "Queue",
    "Rate",
    "Record",
    "Respawn",
    "Scenario",
    "Share",
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
