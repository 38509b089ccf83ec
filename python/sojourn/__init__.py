# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sojourn: active queue management, simulated and reproduced.

>>> import sojourn
>>> scenario = sojourn.load("scenario.toml")
>>> result = sojourn.run(scenario, aqms=["codel", "duk"], seeds=10)
>>> result.windows().to_pandas()
"""

from sojourn.errors import InputError, Interrupted, RunError, SojournError, StoreError
from sojourn.result import Result, Run
from sojourn.runs import run
from sojourn.scenario import Scenario, load, loads

__all__ = [
    "InputError",
    "Interrupted",
    "Result",
    "Run",
    "RunError",
    "Scenario",
    "SojournError",
    "StoreError",
    "load",
    "loads",
    "run",
]
