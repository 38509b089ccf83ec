# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Numbers that are calculated from the tables of a run: its series, those of groups of flows, and
the statistics of its algorithm. Each is of a queue and a window (sojourn.result.metrics)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sojourn.scenario.ends import link_of

if TYPE_CHECKING:
    from sojourn.result.result import Run

_NONE = float("nan")
# A line through fewer points is straight by chance.
_LEAST_STEPS = 10
Span = Mapping[str, Any]  # a window in a report


def _statistic(run: Run, queue: str, span: Span, name: str) -> Any:
    """Read a statistic within the window; empty where the algorithm has no such statistic."""
    import numpy as np

    table = run.statistics()
    if table is None:
        return np.empty(0)
    at = table["t_s"].to_numpy()
    chosen = (at > span["from_s"]) & (at <= span["to_s"])
    for column, word in (("queue", queue), ("statistic", name)):
        chosen &= np.array(table[column].to_pylist(), str) == word
    return table["value"].to_numpy()[chosen]


def mean(values: Any) -> float:
    """Calculate the mean; NaN of no values."""
    import numpy as np

    return float(np.mean(values)) if len(values) else _NONE


def probability(run: Run, queue: str, span: Span) -> float:
    """Calculate the mean of an algorithm's probability, from 0 to 1."""
    return mean(_statistic(run, queue, span, "prob"))


def prob_mean_pct(run: Run, queue: str, span: Span) -> float:
    """Calculate the same in percent."""
    return 100 * probability(run, queue, span)


def cached_flows(run: Run, queue: str, span: Span) -> float:
    """Return the most flows that the algorithm held at once."""
    flows = _statistic(run, queue, span, "flows")
    return float(flows.max()) if len(flows) else _NONE


def evaluations_per_s(run: Run, queue: str, span: Span) -> float:
    """Calculate the evaluations of DUK, which has one at the end of each interval, in
    milliseconds."""
    intervals_ms = _statistic(run, queue, span, "interval")
    return 1e3 / mean(intervals_ms) if len(intervals_ms) else _NONE


def evaluations_per_pkt(run: Run, queue: str, span: Span) -> float:
    """Divide the evaluations of DUK by the packets that arrived."""
    arrived_per_s = span["arrived_pkts"] / (span["to_s"] - span["from_s"])
    return evaluations_per_s(run, queue, span) / arrived_per_s if arrived_per_s else _NONE


def _all_flows(run: Run, span: Span) -> Any:
    """Read the numbers of all flows in the window."""
    return next(at for at in run.report["transport"] if at["name"] == span["name"])


def transfers_per_s(run: Run, _queue: str, span: Span) -> float:
    """Divide the transfers of all flows that ended in the window by its length."""
    return float(_all_flows(run, span)["fct_s"]["n"]) / float(span["to_s"] - span["from_s"])


def goodput_per_flow_kbps(run: Run, _queue: str, span: Span) -> float:
    """Divide the goodput of all flows in the window by their number."""
    return 1e3 * float(_all_flows(run, span)["goodput_mbps"]) / len(run.report["flows"])


def square_law(run: Run, queue: str, span: Span) -> float:
    """Divide the share of packets marked or dropped by the share of the square-root law.

    This law of TCP's throughput is C = sqrt(2 / p) sum(1 / R) over all connections. C is the rate
    at which packets left. R is each group's mean round trip as its senders measured it.
    """
    import numpy as np

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
    share_of_law = 2 * (per_s / rate_per_s) ** 2
    return share / share_of_law if share_of_law else _NONE


def handover_delay(shape: str) -> Callable[[Run, str, Span], float]:
    """Return what reads a shape of the delay until a packet is handed to the driver: behind a
    bucket, which holds packets back itself, the system delay; on a wire the queue delay."""

    def value(run: Run, queue: str, span: Span) -> float:
        is_wire = link_of(run.entry.scenario()["links"], queue)["shaper"] == "wire"
        found = span["queue_delay_ms" if is_wire else "system_delay_ms"][shape]
        return _NONE if found is None else float(found)

    return value


def slowdown_r2(run: Run, queue: str, span: Span) -> float:
    """Measure how straight the senders slow down in the longest episode of signals: R² of a line
    through their windows over time, 0 where it does not fall.

    A window is what a sender decides: while a queue waits, its rate is that of the link. Episodes
    are those of a statistic `dropping`.
    """
    import numpy as np

    table, dropping = run.group_series(), _statistic(run, queue, span, "dropping")
    if table is None or not len(dropping):
        return _NONE
    at = table["t_s"].to_numpy()
    windows = np.nan_to_num(table["connections"].to_numpy() * table["cwnd_pkts"].to_numpy())
    inside = (at > span["from_s"]) & (at <= span["to_s"])
    times, places = np.unique(at[inside], return_inverse=True)
    total = np.bincount(places, weights=windows[inside])
    if len(times) != len(dropping):
        return _NONE
    # The episode with the most steps, between the edges of the statistic.
    edges = np.flatnonzero(np.diff(np.concatenate(([0], dropping > 0, [0]))))
    begin, end = max(zip(edges[::2], edges[1::2], strict=True), key=np.ptp, default=(0, 0))
    if end - begin < _LEAST_STEPS:
        return _NONE
    time, window = times[begin:end], total[begin:end]
    slope, height = np.polyfit(time, window, 1)
    left = np.sum((window - slope * time - height) ** 2)
    return float(1 - left / np.sum((window - window.mean()) ** 2)) if slope < 0 else 0.0


def sense_error_ms(run: Run, queue: str, span: Span) -> float:
    """Compare the smoothed round trip of probes with the delays that packets have at the same time
    in all recorded queues together; return the mean difference, without its sign."""
    import numpy as np

    table, srtt_ms = run.series(), _statistic(run, queue, span, "srtt")
    at = table["t_s"].to_numpy()
    inside = (at > span["from_s"]) & (at <= span["to_s"])
    times, places = np.unique(at[inside], return_inverse=True)
    # A queue without a packet in the step has no delay.
    delays_ms = np.nan_to_num(table["system_delay_ms"].to_numpy()[inside])
    delay_ms = np.bincount(places, weights=delays_ms)
    known = srtt_ms > 0 if len(srtt_ms) == len(times) else np.zeros(len(times), bool)
    return mean(np.abs(srtt_ms[known] - delay_ms[known])) if known.any() else _NONE


def step_within(limit_ms: float) -> Callable[[Run, str, Span], float]:
    """Return what measures the time after a change until delay stays within a bound.
    From then on the queue delay of each step of the series is at most `limit_ms`. It is the mean
    over the changes in the window. Where delay never stays so, the time to the next change
    counts."""

    def value(run: Run, queue: str, span: Span) -> float:
        import numpy as np

        table = run.series()
        if table is None:
            return _NONE
        at_s = table["t_s"].to_numpy()
        of_queue = np.array(table["queue"].to_pylist(), str) == queue
        # A step in which no packet left has no delay.
        is_high = of_queue & (np.nan_to_num(table["queue_delay_ms"].to_numpy()) > limit_ms)
        entry = next(entry for entry in run.report["queues"] if entry["name"] == queue)
        waits_s = []
        for step in entry.get("steps", ()):
            if span["from_s"] <= step["at_s"] < span["to_s"]:
                high_s = at_s[is_high & (at_s > step["at_s"]) & (at_s <= step["to_s"])]
                waits_s.append(float(high_s.max()) - step["at_s"] if len(high_s) else 0.0)
        return mean(waits_s)

    return value


def law_million_per_s(run: Run, queue: str, span: Span) -> float:
    """Measure how often this machine can evaluate the algorithm's law in a second."""
    from sojourn.result import law

    algorithm = str(run.labels["aqm"]).partition(":")[0].partition("@")[0]
    cost = law.cost(algorithm, run.seed)
    return cost.million_per_s if cost else _NONE
