# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Scenarios: what is simulated, written in TOML or made of these classes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# The classes take a tenth of a second to import: whoever asks for one of them waits, and a run of a
# scenario that was checked before does without.
_OTHERS = {
    "sojourn.scenario.times": ("Even", "Exponential", "Normal", "Poisson", "Uniform"),
    "sojourn.scenario.toml": ("load", "loads"),
    "sojourn.units": ("Duration", "Rate", "Share", "Size"),
}
_HOMES = {name: home for home, names in _OTHERS.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES.get(name, "sojourn.scenario.model")), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
