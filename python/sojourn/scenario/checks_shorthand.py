# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The check of a shorthand before it is written out as a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sojourn.core.errors import nearest
from sojourn.core.units import Duration, Rate
from sojourn.scenario.lay import Laid, lay, sides
from sojourn.scenario.networks import Dumbbell, ParkingLot
from sojourn.scenario.pairs import ends, first_pair, pairs
from sojourn.scenario.problem import Path, Problem, of_trace, unique
from sojourn.scenario.shorthand import RECEIVERS, SENDERS, SHORTHANDS
from sojourn.scenario.traffic import Between, Traffic

if TYPE_CHECKING:
    from sojourn.scenario.model import Scenario
    from sojourn.scenario.networks import Shorthand

# The longest name of a flow in the engine's tables.
_MAX_NAME = 80
# The most nodes in all sides, and hops of a parking lot. Each is laid with two links.
_MAX_NODES = 20_000
_MAX_HOPS = 1_000
# The most pairs of a group; each becomes a group of its own in the graph.
_MAX_PAIRS = 20_000
# Names that `[dumbbell]` gives itself.
_OWN = ("router", "far router", "bottleneck", "bottleneck back", SENDERS, RECEIVERS)


def of_shorthand(scenario: Scenario) -> Iterator[Problem]:
    """Yield all problems of the first shorthand."""
    of = scenario.shorthand
    assert of
    for key in ("nodes", "links", "flows"):
        if getattr(scenario, key):
            yield (key,), f"a scenario is either a [{of.key}] or a graph of nodes, links and flows"
    for key in SHORTHANDS:
        if key != of.key and getattr(scenario, key):
            yield (key,), f"a scenario has one network, and this one has a [{of.key}]"
    yield from unique([flow.name for flow in of.flows], (of.key, "flows"), ("name",))
    if not of.flows:
        yield (of.key, "flows"), "no flows"
    if isinstance(of, ParkingLot):
        yield from _parking_lot(of)
    else:
        yield from _dumbbell(of)
        yield from _between(of)


def stand_in(of: Shorthand) -> Laid:
    """Make a simple network with the flows of a shorthand that has problems."""
    flows = [
        {key: getattr(flow, key) for key in flow.model_fields_set & Traffic.model_fields.keys()}
        for flow in of.flows
    ]
    plain = tuple(Between.model_validate(flow) for flow in flows)
    laid = lay(Dumbbell(rate=Rate("1 Mbit/s"), rtt=Duration(0), flows=plain))
    laid.at["flows"] = [((of.key, "flows", i), {}) for i in range(len(flows))]
    return laid


def _dumbbell(of: Dumbbell) -> Iterator[Problem]:
    if of.rate is None and of.trace is None:
        yield ("dumbbell", "rate"), "is missing"
    yield from of_trace(of, ("dumbbell",))
    nodes = sum(side.count for side in (*of.senders, *of.receivers))
    if nodes > _MAX_NODES:
        yield ("dumbbell",), f"{nodes} nodes at its two sides; allowed: up to {_MAX_NODES}"
        return
    seen = set(_OWN)
    for key in (SENDERS, RECEIVERS):
        for i, side in enumerate(getattr(of, key)):
            taken = {side.name, *side.names()} & seen
            if taken:
                yield ("dumbbell", key, i, "name"), f"the name '{min(taken)}' is taken"
            seen |= {side.name, *side.names(), *(f"{name} back" for name in side.names())}
            if side.delay == ():
                yield ("dumbbell", key, i, "delay"), "a list of no times"


def _between(of: Dumbbell) -> Iterator[Problem]:
    named = sides(of)
    for i, flow in enumerate(of.flows):
        where: Path = (of.key, "flows", i)
        begin, end = ends(flow, named)
        unknown = [(key, name) for key, name in (("from", begin), ("to", end)) if name not in named]
        for key, name in unknown:
            yield (*where, key), f"there is no node '{name}'.{nearest(name, named)}"
        if unknown:
            continue
        across = [set(named[name]) <= set(named[RECEIVERS]) for name in (begin, end)]
        if across[0] == across[1]:
            yield (*where, "to"), f"'{begin}' and '{end}' are at one side of the bottleneck"
            continue
        every, first = len(named[begin]) * len(named[end]), first_pair(flow)
        if first > every:
            yield (*where, "first_pair"), f"{first}; allowed: 1 to {every}, the pairs"
            continue
        both = pairs(named[begin], named[end], flow.count, first)
        if len(both) > _MAX_PAIRS:
            yield (*where, "count"), f"{len(both)} pairs of nodes; allowed: up to {_MAX_PAIRS}"
            continue
        longest = max(len(f"{flow.name} {a}-{b}") for a, b in both)
        if len(both) > 1 and longest > _MAX_NAME:
            yield (
                (*where, "name"),
                f"'{flow.name}' with the names of its two nodes has {longest} characters; "
                f"allowed: {_MAX_NAME}",
            )


def _parking_lot(lot: ParkingLot) -> Iterator[Problem]:
    hops = sum(hop.count for hop in lot.hops)
    if not 1 <= hops <= _MAX_HOPS:
        yield ("parking_lot", "hops"), f"{hops} hops; allowed: 1 to {_MAX_HOPS}"
        return
    for i, flow in enumerate(lot.flows):
        where: Path = ("parking_lot", "flows", i)
        if not isinstance(flow.over, str) and not all(1 <= n <= hops for n in flow.over):
            first, last = flow.over
            yield (*where, "over"), f"[{first}, {last}] is outside the hops 1 to {hops}"
        if flow.over == "each" and len(f"{flow.name} {hops}") > _MAX_NAME:
            yield (*where, "name"), f"is too long with the hop's number; allowed: {_MAX_NAME}"
