# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios: networks and their traffic, written in TOML or made of these classes.

Hosts, runs, sweeps, theory and papers use this room; it knows no host and starts no run. Begin with
`model`, which lists a file's way from TOML to a host.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.core.units import Duration, Rate, Share, Size
    from sojourn.scenario.apps import (
        Bulk,
        Cbr,
        Drawn,
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
    from sojourn.scenario.model import Scenario
    from sojourn.scenario.networks import Dumbbell, ParkingLot
    from sojourn.scenario.record import Record, Window
    from sojourn.scenario.shorthand import Back, Edge, Hop, Side
    from sojourn.scenario.times import Even, Exponential, Normal, Poisson, Uniform
    from sojourn.scenario.toml import load, loads
    from sojourn.scenario.traffic import Between, Crossing, Flow, Traffic
    from sojourn.scenario.transport import Tcp, Udp

__all__ = [
    "Back",
    "Between",
    "Bulk",
    "Cable",
    "Cbr",
    "Crossing",
    "Drawn",
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

# The classes take a tenth of a second to import. This happens at their first use; a run of a
# scenario that was checked before does without.
_HOMES = {
    name: f"sojourn.scenario.{home}"
    for home, names in {
        "apps": (
            "Bulk",
            "Cbr",
            "Drawn",
            "Files",
            "OnOff",
            "Paced",
            "Ping",
            "PoissonDatagrams",
            "Respawn",
            "Tmix",
            "Voip",
            "Web",
        ),
        "links": ("Cable", "Jitter", "Link", "Queue", "Step"),
        "model": ("Scenario",),
        "networks": ("Dumbbell", "ParkingLot"),
        "record": ("Record", "Window"),
        "shorthand": ("Back", "Edge", "Hop", "Side"),
        "times": ("Even", "Exponential", "Normal", "Poisson", "Uniform"),
        "toml": ("load", "loads"),
        "traffic": ("Between", "Crossing", "Flow", "Traffic"),
        "transport": ("Tcp", "Udp"),
    }.items()
    for name in names
} | dict.fromkeys(("Duration", "Rate", "Share", "Size"), "sojourn.core.units")

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
