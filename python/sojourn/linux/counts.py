# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What linux/uml/traffic.c counted, with the keys of the engine's report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Count:
    """A flow's counters at one time."""

    delivered_bytes: int
    data_pkts_sent: int
    retransmitted_pkts: int
    timeouts: int
    srtt_us: int
    arrived_pkts: int
    delay_ns: int
    differences: int
    differences_ns: int
    expected_pkts: int


@dataclass(frozen=True)
class Done:
    """A transfer whose last byte has arrived."""

    flow: int
    at_ns: int
    took_ns: int


_COUNTED = ("retransmitted_pkts", "timeouts", "data_pkts_sent", "delivered_bytes")
_TRANSIT = ("arrived_pkts", "delay_ns", "differences", "differences_ns", "expected_pkts")


def report_flows(scenario: Mapping[str, Any], text: str) -> dict[str, Any]:
    """`flows`, `transport`, `goodput_mbps`, `jain`, `fct_s` as docs/metrics.md has them."""
    counts, done = _read(text)
    windows = scenario["record"]["windows"]
    edges = {edge for w in windows for edge in (w["from_ns"], w["to_ns"])}
    order = sorted(edges | {scenario["duration_ns"]})
    at = {edge: counts[i] for i, edge in enumerate(order)}
    transport = [_transport(scenario, window, at, done) for window in windows]
    of_all = {key: transport[0][key] for key in ("goodput_mbps", "jain", "fct_s")}
    return {"flows": _flows(scenario, at, done), "transport": transport, **of_all}


def _read(text: str) -> tuple[list[list[Count]], list[Done]]:
    counts: list[list[Count]] = []
    done = []
    for line in text.splitlines():
        kind, *words = line.split()
        numbers = [int(word) for word in words]
        if kind == "done":
            done.append(Done(*numbers))
            continue
        edge, _, *rest = numbers
        if edge == len(counts):
            counts.append([])
        counts[edge].append(Count(*rest))
    return counts, done


def _flows(
    scenario: Mapping[str, Any], at: Mapping[int, list[Count]], done: Sequence[Done]
) -> list[dict[str, Any]]:
    of_windows = [_goodputs_mbps(window, at) for window in scenario["record"]["windows"]]
    last = at[scenario["duration_ns"]]
    completions = Counter(transfer.flow for transfer in done)
    names = [(f["name"], i) for f in scenario["flows"] for i in range(f["count"])]
    return [
        {
            "name": name,
            "index": index,
            "goodput_mbps": of_windows[0][n],
            "goodput_mbps_of_windows": [of[n] for of in of_windows],
            "delivered_bytes": last[n].delivered_bytes,
            "data_pkts_sent": last[n].data_pkts_sent,
            "retransmitted_pkts": last[n].retransmitted_pkts,
            "timeouts": last[n].timeouts,
            "completions": completions[n],
            "srtt_ms": last[n].srtt_us / 1e3 or None,
        }
        for n, (name, index) in enumerate(names)
    ]


def _goodputs_mbps(window: Mapping[str, Any], at: Mapping[int, list[Count]]) -> list[float]:
    """Of each flow in a window."""
    seconds = (window["to_ns"] - window["from_ns"]) / 1e9
    ends = zip(at[window["from_ns"]], at[window["to_ns"]], strict=True)
    return [
        (end.delivered_bytes - begin.delivered_bytes) * 8 / seconds / 1e6 for begin, end in ends
    ]


def _transport(
    scenario: Mapping[str, Any],
    window: Mapping[str, Any],
    at: Mapping[int, list[Count]],
    done: Sequence[Done],
) -> dict[str, Any]:
    goodputs = _goodputs_mbps(window, at)

    def of(members: range) -> dict[str, Any]:
        mine = goodputs[members.start : members.stop]
        return {
            **_grown(members, window, at),
            "goodput_mbps": math.fsum(mine),
            "jain": jain(mine),
            "fct_s": _completions(window, [d for d in done if d.flow in members]),
        }

    groups, first = [], 0
    for flow in scenario["flows"]:
        members = range(first, first + flow["count"])
        first = members.stop
        took = _transit(members, window, at)
        groups.append(_group(flow, goodputs[members.start : members.stop], of(members), took))
    return {"name": window["name"], **of(range(first)), "groups": groups}


def _grown(
    members: range, window: Mapping[str, Any], at: Mapping[int, list[Count]]
) -> dict[str, int]:
    """What some flows have counted in a window."""
    return _since(members, window, at, _COUNTED)


def _transit(
    members: range, window: Mapping[str, Any], at: Mapping[int, list[Count]]
) -> dict[str, int]:
    """What the datagrams of some flows took in a window."""
    return _since(members, window, at, _TRANSIT)


def _since(
    members: range,
    window: Mapping[str, Any],
    at: Mapping[int, list[Count]],
    keys: tuple[str, ...],
) -> dict[str, int]:
    begin, end = (at[window[edge]] for edge in ("from_ns", "to_ns"))
    return {
        key: sum(getattr(end[n], key) - getattr(begin[n], key) for n in members) for key in keys
    }


def _group(
    flow: Mapping[str, Any],
    goodputs_mbps: Sequence[float],
    counted: Mapping[str, Any],
    took: Mapping[str, int],
) -> dict[str, Any]:
    """The flows of one name: fairness among them, and what became of their datagrams."""
    mean = counted["goodput_mbps"] / len(goodputs_mbps)
    lost_pkts = None
    if flow["app"]["kind"] == "cbr":
        lost_pkts = took["expected_pkts"] - took["arrived_pkts"]
    delay_ms, jitter_ms = (
        took[total] / took[n] / 1e6 if took[n] else None
        for total, n in (("delay_ns", "arrived_pkts"), ("differences_ns", "differences"))
    )
    return {
        "name": flow["name"],
        "flows": len(goodputs_mbps),
        "least_share": min(goodputs_mbps) / mean if mean else None,
        "lost_pkts": lost_pkts,
        "delay_ms": delay_ms,
        "jitter_ms": jitter_ms,
        **counted,
    }


def _completions(window: Mapping[str, Any], done: Sequence[Done]) -> dict[str, Any]:
    took_ns = sorted(d.took_ns for d in done if window["from_ns"] <= d.at_ns < window["to_ns"])

    def quantile(share: float) -> float | None:
        rank = max(1, math.ceil(share * len(took_ns)))
        return took_ns[rank - 1] / 1e9 if took_ns else None

    shares = {"p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95}
    return {"n": len(took_ns)} | {key: quantile(share) for key, share in shares.items()}


def jain(shares: Sequence[float]) -> float:
    """Jain's fairness index; 1 of nothing."""
    squares = math.fsum(x * x for x in shares)
    return math.fsum(shares) ** 2 / (len(shares) * squares) if squares else 1.0
