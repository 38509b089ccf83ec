# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sojourn: active queue management, simulated and reproduced.

>>> import sojourn
>>> scenario = sojourn.load("scenario.toml")
>>> result = sojourn.run(scenario, aqms=["codel", "duk"], seeds=10)
>>> result.windows().to_pandas()

The rooms, from the lowest up. Each may import those above it in this list, and none below:
`tests/test_circles.py` holds that.

core        errors, quantities with units, rows of algorithms, names of hosts
store       finished runs on disk, each filed whole, and the folders of results
user_aqm    a user's C file: compiled, tried under sanitizers, loaded
algorithms  the registry of all algorithms and of presets such as red@ns2, a file beside the rooms
scenario    networks and their traffic, from TOML or these classes to the engine's data
linux       a scenario on a real Linux kernel in virtual time
result      a result: its runs, tables, metrics, comparisons, and other formats
runs        from a scenario, algorithms and seeds to a result
theory      the fluid model of TCP over an AQM: equilibrium, margins, oscillation
show        tables for terminals, charts and pages of any result
sweeps      a scenario over the values of axes
papers      papers reproduced: experiments, claims and their verdicts, the ledger
bench       the cost of a packet, timed beside ns-2
cli         the `sojourn` command; it may use every room

The other folders hold data. `presets`, `tcp` and `scenarios` have TOML files, and `templates` those
of pages. `laws` wraps laws of the C core, whose operations `result` counts. `sources` has the C
core, files for Linux, and papers. The engine is the native module `_native`; its map is
`crates/sim/src/lib.rs`.

A new reader begins with `run` in `runs/run.py`, the third line of the example. It leads to
`scenario/model.py`, the input, and to `result/result.py`, the output. The head of each room names
the file to read first.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sojourn.core.arguments import answering
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
    "calibrate",
    "compare",
    "load",
    "loads",
    "plot",
    "reproduce",
    "run",
    "stability",
    "sweep",
    "verify",
]

# Homes of names whose import takes a tenth of a second, for the model of a scenario. They are
# imported at their first use: processes of C files and `sojourn --help` do without.
_HOMES = {
    "Result": "sojourn.result.result",
    "Run": "sojourn.result.result",
    "Scenario": "sojourn.scenario",
    "calibrate": "sojourn.runs.calibrate",
    "compare": "sojourn.sweeps.compare",
    "load": "sojourn.scenario",
    "loads": "sojourn.scenario",
    "plot": "sojourn.sweeps.figures",
    "reproduce": "sojourn.papers.reproduce",
    "run": "sojourn.runs.run",
    "stability": "sojourn.theory.study",
    "sweep": "sojourn.sweeps.run",
    "verify": "sojourn.runs.verify",
}

if TYPE_CHECKING:
    from sojourn.papers.reproduce import reproduce
    from sojourn.result.result import Result, Run
    from sojourn.runs.calibrate import calibrate
    from sojourn.runs.run import run
    from sojourn.runs.verify import verify
    from sojourn.scenario import Scenario, load, loads
    from sojourn.sweeps.compare import compare
    from sojourn.sweeps.figures import plot
    from sojourn.sweeps.run import sweep
    from sojourn.theory.study import stability
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return answering(getattr(import_module(_HOMES[name]), name))

    def __dir__() -> list[str]:
        return __all__
