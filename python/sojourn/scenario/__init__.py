# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios: what is simulated, written in TOML or made of these classes."""

from sojourn.scenario.model import (
    Bulk,
    Cable,
    Cbr,
    Dumbbell,
    Flow,
    Jitter,
    Link,
    Queue,
    Record,
    Respawn,
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
    "Flow",
    "Jitter",
    "Link",
    "Normal",
    "Poisson",
    "Queue",
    "Rate",
    "Record",
    "Respawn",
    "Scenario",
    "Share",
    "Size",
    "Step",
    "Tcp",
    "Traffic",
    "Udp",
    "Uniform",
    "Window",
    "load",
    "loads",
]
