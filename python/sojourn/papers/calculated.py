# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims that a calculation decides in place of runs: the poles of a closed loop on the right, as
`sojourn stability` counts them. A cell is a network with one of several round trips. The algorithm
of a cell is the name of a model there: 'lqd', or 'lqd, the paper's, corrected'.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sojourn.core.errors import InputError, nearest
from sojourn.core.units import Duration, Rate, Size, UnitError, count
from sojourn.papers.claim import Claim
from sojourn.result.metrics import METRICS, Metric
from sojourn.theory.models import PRINTED, model, printed
from sojourn.theory.network import Network, read
from sojourn.theory.rows import choose

# No run has it, so it is not among METRICS.
POLES = Metric(
    "unstable_poles", "", "of the closed loop; stable without any", label="poles on the right"
)
AXIS = "round trip"
_KEYS = ("flows", "capacity", "packet", "rtt")


def metric_of(name: str) -> Metric:
    """Find the metric of a claim's check."""
    return POLES if name == POLES.name else METRICS[name]


def cells(entry: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """List the cells of a claim with `theory`: one for each round trip. InputError: the table is
    not complete, or the claim is about another metric."""
    table, head = entry["theory"], f"claim {entry['id']}: theory"
    if not isinstance(table, Mapping) or set(table) != set(_KEYS):
        raise InputError(f"{head} is a table with these keys: {', '.join(_KEYS)}")
    if not isinstance(table["rtt"], list) or not table["rtt"]:
        raise InputError(f"{head}.rtt = {table['rtt']!r}; it is a list of round trips")
    if entry["metrics"] != [POLES.name]:
        raise InputError(f"{head} goes with metrics = ['{POLES.name}'] alone")
    return {str(rtt): {AXIS: str(rtt)} for rtt in table["rtt"]}


def poles(claim: Claim, rtt: str, name: str) -> int:
    """Count the poles of a model at a round trip. InputError: there is no such model, or it has no
    equilibrium there."""
    table = claim.theory
    try:
        link = (
            count(str(table["flows"])),
            Rate(table["capacity"]),
            Duration(rtt),
            Size(table["packet"]),
        )
        by_name = _poles(name.partition(", ")[0], read(*link))
    except (InputError, UnitError, TypeError, ValueError) as error:
        raise InputError(f"claim {claim.id}: theory, {rtt}: {error}") from error
    if name not in by_name:
        reason = f"there is no model '{name}'.{nearest(name, by_name)}"
        raise InputError(f"claim {claim.id}: theory: {reason}")
    return by_name[name]


# Several claims are on the same networks, and a loop takes half a second.
@lru_cache(maxsize=64)
def _poles(algorithm: str, network: Network) -> Mapping[str, int]:
    chosen = choose(algorithm, [])
    models = [model(chosen, network)]
    models += printed(chosen, network) if chosen.algorithm in PRINTED else []
    return {one.name: one.margins.unstable for one in models}
