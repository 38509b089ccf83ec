# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A group of flows from several nodes to several nodes. It becomes a group for each pair, which has
a share of the flows, starts and round trips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import Any

from sojourn.core.units import Duration
from sojourn.scenario.shorthand import RECEIVERS, SENDERS
from sojourn.scenario.times import Even, Poisson
from sojourn.scenario.traffic import Between, Traffic


def ends(traffic: Traffic, named: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Return where the flows begin and end; without `to` they end at the other side."""
    if not isinstance(traffic, Between):
        return SENDERS, RECEIVERS
    if traffic.to is not None:
        return traffic.from_, traffic.to
    back = set(named.get(traffic.from_, ())) <= set(named[RECEIVERS])
    return traffic.from_, SENDERS if back else RECEIVERS


def first_pair(traffic: Traffic) -> int:
    """Return the number of the pair that the first flow takes."""
    return traffic.first_pair if isinstance(traffic, Between) else 1


def pairs(
    first: Sequence[str], second: Sequence[str], count: int, begin: int = 1
) -> list[tuple[str, str]]:
    """List at most `count` of all pairs, with the nodes of both sides in turn. Even in a short list
    all nodes of a side occur about equally often. The pair with the number `begin` is the first."""
    m, n = len(first), len(second)
    # After this number of pairs both sides begin again; then the second moves on by one.
    round_of_both = m * n // gcd(m, n)
    numbers = ((begin - 1 + i) % (m * n) for i in range(min(count, m * n)))
    return [(first[k % m], second[(k + k // round_of_both) % n]) for k in numbers]


def shares(traffic: Traffic, of: int) -> list[dict[str, Any]]:
    """Divide the flows among `of` pairs, which take them in turn, with their times."""
    if of == 1:
        return [{}]
    return [
        {
            "count": -(-(traffic.count - pair) // of),
            "start": _share(traffic.start, traffic.count, pair, of),
            "rtt": None if traffic.rtt is None else _share(traffic.rtt, traffic.count, pair, of),
        }
        for pair in range(of)
    ]


def _share(times: Any, count: int, pair: int, of: int) -> Any:
    """Return the times of every `of`th flow, from the flow `pair` on."""
    mine = range(pair, count, of)
    if isinstance(times, tuple) and times:
        return tuple(times[flow % len(times)] for flow in mine)
    if isinstance(times, Even) and times.from_ <= times.to:
        # The engine spreads them in the same way.
        span, steps = times.to - times.from_, max(count, 2) - 1
        return tuple(Duration(times.from_ + span * flow // steps) for flow in mine)
    if isinstance(times, Poisson):
        # Processes with `of` times the gap are together one with this gap.
        return times.model_copy(update={"gap": Duration(times.gap * of)})
    return times
