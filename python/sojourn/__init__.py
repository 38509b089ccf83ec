# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sojourn: active queue management, simulated and reproduced.

>>> import sojourn
>>> scenario = sojourn.load("scenario.toml")
>>> result = sojourn.run(scenario, aqms=["codel", "duk"], seeds=10)
>>> result.windows().to_pandas()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import InputError, Interrupted, RunError, SojournError, StoreError

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
    "sweep",
]

# Where the names are whose import takes a tenth of a second, for the model of a scenario. They are
# imported when first asked for: processes of C files and `sojourn --help` do without.
_HOMES = {
    "Result": "sojourn.result.result",
    "Run": "sojourn.result.result",
    "Scenario": "sojourn.scenario",
    "load": "sojourn.scenario",
    "loads": "sojourn.scenario",
    "run": "sojourn.runs.run",
    "sweep": "sojourn.sweeps.run",
}

if TYPE_CHECKING:
    from sojourn.result.result import Result, Run
    from sojourn.runs.run import run
    from sojourn.scenario import Scenario, load, loads
    from sojourn.sweeps.run import sweep
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
