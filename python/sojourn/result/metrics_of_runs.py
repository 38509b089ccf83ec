# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Metrics that need more of a run than its report.

They read the algorithm's statistics over time, the round trips of the connections for the
square-root law, and the cost of the algorithm's law.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sojourn.result import law
from sojourn.result.result import Run

_NONE = float("nan")
Span = Mapping[str, Any]  # a window in a report


def _statistic(run: Run, queue: str, span: Span, name: str) -> Any:
    """Read a statistic within the window; empty where the algorithm has no such statistic."""
    table = run.statistics()
    if table is None:
        return np.empty(0)
    at = table["t_s"].to_numpy()
    chosen = (at > span["from_s"]) & (at <= span["to_s"])
    for column, word in (("queue", queue), ("statistic", name)):
        chosen &= np.array(table[column].to_pylist(), str) == word
    return table["value"].to_numpy()[chosen]


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else _NONE


def _prob_mean_pct(run: Run, queue: str, span: Span) -> float:
    return 100 * _mean(_statistic(run, queue, span, "prob"))


def _evaluations_per_s(run: Run, queue: str, span: Span) -> float:
    """Calculate the evaluations of DUK, which has one at the end of each interval, in
    milliseconds."""
    intervals_ms = _statistic(run, queue, span, "interval")
    return 1e3 / _mean(intervals_ms) if len(intervals_ms) else _NONE


def _evaluations_per_pkt(run: Run, queue: str, span: Span) -> float:
    arrived_per_s = span["arrived_pkts"] / (span["to_s"] - span["from_s"])
    return _evaluations_per_s(run, queue, span) / arrived_per_s if arrived_per_s else _NONE


def _square_law(run: Run, queue: str, span: Span) -> float:
    """Divide the share of packets marked or dropped by the share of the square-root law.

    This law of TCP's throughput is C = sqrt(2 / p) sum(1 / R) over all connections. C is the rate
    at which packets left. R is each group's mean round trip as its senders measured it.
    """
    table = run.group_series()
    share = ((span["mark_pct"] or 0) + (span["drop_pct"] or 0)) / 100
    rate_per_s = span["departed_pkts"] / (span["to_s"] - span["from_s"])
    if table is None or not rate_per_s:
        return _NONE
    at, groups = table["t_s"].to_numpy(), np.array(table["group"].to_pylist(), str)
    inside = (at > span["from_s"]) & (at <= span["to_s"])
    per_s = 0.0
    for group in np.unique(groups[inside]):
        chosen = inside & (groups == group)
        connections = table["connections"].to_numpy()[chosen]
        round_trip_s = table["srtt_ms"].to_numpy()[chosen] / 1e3
        known = (connections > 0) & (round_trip_s > 0)
        if known.any():
            mean_s = np.average(round_trip_s[known], weights=connections[known])
            per_s += float(np.mean(connections[known])) / float(mean_s)
    asked = 2 * (per_s / rate_per_s) ** 2
    return share / asked if asked else _NONE


def _law(of: Callable[[law.Cost], float]) -> Callable[[Run, str, Span], float]:
    def value(run: Run, _queue: str, _span: Span) -> float:
        algorithm = str(run.labels["aqm"]).partition(":")[0].partition("@")[0]
        cost = law.cost(algorithm, run.seed)
        return of(cost) if cost else _NONE

    return value


VALUES: dict[str, Callable[[Run, str, Span], float]] = {
    "prob_mean_pct": _prob_mean_pct,
    "evaluations_per_s": _evaluations_per_s,
    "evaluations_per_pkt": _evaluations_per_pkt,
    "square_law": _square_law,
    "law_million_per_s": _law(lambda cost: cost.million_per_s),
    "law_divisions": _law(lambda cost: cost.divisions),
    "law_multiplications": _law(lambda cost: cost.multiplications),
}
