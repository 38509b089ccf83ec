# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What linux/uml/traffic.c and play.c counted, with the keys of the engine's report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
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
    opened: int = 0
    answered_bytes: int = 0


# What it plays; all other kinds are scripts, which play.c plays.
_PLAIN = ("bulk", "respawn", "cbr")


@dataclass(frozen=True)
class Done:
    """A transfer whose last byte has arrived."""

    flow: int
    at_ns: int
    took_ns: int


@dataclass(frozen=True)
class Transfer:
    """A transfer, as a row of the table has it."""

    flow: int
    visit: int
    connection: int
    transfer: int
    opened_ns: int
    begun_ns: int
    first_byte_ns: int | None
    last_byte_ns: int | None
    bytes: int


@dataclass(frozen=True)
class Found:
    """All that was counted: by time and flow, and what is complete."""

    at: Mapping[int, Sequence[Count]]
    done: Sequence[Done]
    pages: Sequence[Done]
    # By flow, when each datagram was sent and how long it took there and back, in ns; 0: it has
    # not come back.
    echoes: Mapping[int, Sequence[tuple[int, int]]]
    # In the order in which they ended, and then those that did not. Where they are recorded.
    transfers: Sequence[Transfer]


_COUNTED = ("retransmitted_pkts", "timeouts", "data_pkts_sent", "delivered_bytes")
_TRANSIT = ("arrived_pkts", "delay_ns", "differences", "differences_ns", "expected_pkts")


def report_flows(scenario: Mapping[str, Any], found: Found) -> dict[str, Any]:
    """`flows`, `transport`, `goodput_mbps`, `jain`, `fct_s` as docs/metrics.md has them."""
    windows = scenario["record"]["windows"]
    transport = [_transport(scenario, window, found) for window in windows]
    of_all = {key: transport[0][key] for key in ("goodput_mbps", "jain", "fct_s")}
    echoes = {"echoes": list(_echoes(scenario, found))} if found.echoes else {}
    flows = _flows(scenario, found.at, found.done)
    return {"flows": flows, **echoes, "transport": transport, **of_all}


def _echoes(scenario: Mapping[str, Any], found: Found) -> Iterator[dict[str, Any]]:
    names = [(f["name"], i) for f in scenario["flows"] for i in range(f["count"])]
    for number in sorted(found.echoes):
        name, index = names[number]
        of = found.echoes[number]
        yield {
            "name": name,
            "index": index,
            "sent_s": [sent_ns / 1e9 for sent_ns, _ in of],
            "rtt_ms": [rtt_ns / 1e6 if rtt_ns else None for _, rtt_ns in of],
        }


def took(scenario: Mapping[str, Any], found: Found) -> list[tuple[bool, str, str, list[int]]]:
    """Times of transfers and pages by window and group, of those that have any: whether they are of
    pages, the group, the window, and the times in ns."""
    groups = [flow["name"] for flow in scenario["flows"] for _ in range(flow["count"])]
    of: dict[tuple[bool, str, str], list[int]] = {}
    for window in scenario["record"]["windows"]:
        for pages, done in ((False, found.done), (True, found.pages)):
            for one in done:
                if window["from_ns"] <= one.at_ns < window["to_ns"]:
                    key = (pages, groups[one.flow], window["name"])
                    of.setdefault(key, []).append(one.took_ns)
    return [(*key, times_ns) for key, times_ns in of.items()]


def transfer_rows(
    scenario: Mapping[str, Any], found: Found
) -> list[tuple[int, int, int, int, int, int, int, int | None, int | None, int]]:
    """Rows of the table of transfers, with the number of the group in front."""
    flows = [(n, i) for n, flow in enumerate(scenario["flows"]) for i in range(flow["count"])]
    return [(*flows[of.flow], *astuple(of)[1:]) for of in found.transfers]


def read(scenario: Mapping[str, Any], counts: str, played: str = "") -> Found:
    """traffic.c numbers the flows that are not scripts, and play.c has the numbers of all."""
    edges = {e for w in scenario["record"]["windows"] for e in (w["from_ns"], w["to_ns"])}
    order = sorted(edges | {scenario["duration_ns"]})
    kinds = [flow["app"]["kind"] for flow in scenario["flows"] for _ in range(flow["count"])]
    plain = [n for n, kind in enumerate(kinds) if kind in _PLAIN]
    at: dict[int, dict[int, Count]] = {edge: {} for edge in order}
    done: list[Done] = []
    pages: list[Done] = []
    echoes: dict[int, list[tuple[int, int]]] = {}
    ended: list[Transfer] = []
    for line in counts.splitlines():
        word, *numbers = _numbers(line)
        if word == "done":
            done.append(Done(plain[numbers[0]], *numbers[1:]))
        elif word == "transfer":
            ended.append(_transfer(plain[numbers[0]], numbers))
        else:
            at[order[numbers[0]]][plain[numbers[1]]] = Count(*numbers[2:])
    for line in played.splitlines():
        word, *numbers = _numbers(line)
        if word == "count":
            edge, n, delivered, answered, opened, *others = numbers
            at[order[edge]][n] = Count(*(delivered, *others, opened, answered))
        elif word == "transfer":
            ended.append(_transfer(numbers[0], numbers))
        elif word == "echo":
            echoes.setdefault(numbers[0], []).append((numbers[1], numbers[2]))
        else:
            (pages if word == "page" else done).append(Done(*numbers))
    flows = range(len(kinds))
    counted = {edge: [of[n] for n in flows] for edge, of in at.items()}
    ended.sort(key=_ending)
    return Found(counted, done, pages, echoes, ended)


def _ending(transfer: Transfer) -> float:
    return math.inf if transfer.last_byte_ns is None else transfer.last_byte_ns


def _transfer(flow: int, numbers: Sequence[int]) -> Transfer:
    """Of a line; the programs write -1 for what has not happened."""
    _, visit, connection, transfer, opened_ns, begun_ns, first_ns, last_ns, size = numbers
    first, last = (None if ns < 0 else ns for ns in (first_ns, last_ns))
    return Transfer(flow, visit, connection, transfer, opened_ns, begun_ns, first, last, size)


def _numbers(line: str) -> tuple[Any, ...]:
    word, *numbers = line.split()
    return word, *map(int, numbers)


def _flows(
    scenario: Mapping[str, Any], at: Mapping[int, Sequence[Count]], done: Sequence[Done]
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


def _goodputs_mbps(window: Mapping[str, Any], at: Mapping[int, Sequence[Count]]) -> list[float]:
    """Of each flow in a window."""
    seconds = (window["to_ns"] - window["from_ns"]) / 1e9
    ends = zip(at[window["from_ns"]], at[window["to_ns"]], strict=True)
    return [
        (end.delivered_bytes - begin.delivered_bytes) * 8 / seconds / 1e6 for begin, end in ends
    ]


def _transport(
    scenario: Mapping[str, Any], window: Mapping[str, Any], found: Found
) -> dict[str, Any]:
    at = found.at
    goodputs = _goodputs_mbps(window, at)

    def of(members: range) -> dict[str, Any]:
        mine = goodputs[members.start : members.stop]
        return {
            **_grown(members, window, at),
            "goodput_mbps": math.fsum(mine),
            "jain": jain(mine),
            "fct_s": _completions(window, [d for d in found.done if d.flow in members]),
        }

    groups, first = [], 0
    for flow in scenario["flows"]:
        members = range(first, first + flow["count"])
        first = members.stop
        took = _transit(members, window, at)
        group = _group(flow, goodputs[members.start : members.stop], of(members), took)
        if flow["app"]["kind"] not in _PLAIN:
            group |= _script(flow, members, window, found)
        groups.append(group)
    return {"name": window["name"], **of(range(first)), "groups": groups}


def _script(
    flow: Mapping[str, Any], members: range, window: Mapping[str, Any], found: Found
) -> dict[str, Any]:
    """What conversations of flows did in a window."""
    pages = None
    if flow["app"]["kind"] == "web":
        pages = _completions(window, [page for page in found.pages if page.flow in members])
    counted = _since(members, window, found.at, ("opened", "answered_bytes"))
    return {**counted, "page_s": pages}


def _grown(
    members: range, window: Mapping[str, Any], at: Mapping[int, Sequence[Count]]
) -> dict[str, int]:
    """What some flows have counted in a window."""
    return _since(members, window, at, _COUNTED)


def _transit(
    members: range, window: Mapping[str, Any], at: Mapping[int, Sequence[Count]]
) -> dict[str, int]:
    """What the datagrams of some flows took in a window."""
    return _since(members, window, at, _TRANSIT)


def _since(
    members: range,
    window: Mapping[str, Any],
    at: Mapping[int, Sequence[Count]],
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
    if flow["transport"]["kind"] == "udp":
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
