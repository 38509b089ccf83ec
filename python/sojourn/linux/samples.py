# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Reports of the programs in a guest: counts of flows, and readings at steps of the series.

linux/uml/play.c counts flows and reads groups of them; linux/uml/statistics.c reads the algorithms'
statistics. The engine computes the figures of flows for both hosts.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sojourn import _native, algorithms
from sojourn.core.errors import RunError


def steps_of(scenario: Mapping[str, Any]) -> int:
    """Count the whole steps of the series."""
    series_ns = scenario["record"]["series"]
    return int(scenario["duration"] // series_ns) if series_ns else 0


def group_lines(
    scenario: Mapping[str, Any], groups: Iterable[tuple[int, int, int]]
) -> Iterator[str]:
    """Yield lines for linux/uml/samples.h: each group's number, its first flow's number, and its
    count of flows."""
    steps = steps_of(scenario)
    if not steps:
        return
    every, most = _native.group_series_every(steps, len(scenario["flows"]))
    yield f"samples {scenario['record']['series'] * every} {steps // every} {most}"
    for number, first, count in groups:
        yield f"group {number} {first} {count}"


def read(known: _native.Scenario, played: str) -> _native.Flows:
    """Read all counts; raise RunError where the engine refuses them."""
    try:
        return known.flows(played)
    except RuntimeError as error:
        raise RunError(f"the guest: {error}") from error


def report_flows(flows: _native.Flows) -> dict[str, Any]:
    """Return `flows`, `transport`, `goodput_mbps`, `jain`, `fct_s` as in docs/guide/results.md."""
    report: dict[str, Any] = json.loads(flows.report())
    return report


def without_samples(output: str) -> tuple[str, list[str]]:
    """Split a program's output into its other lines and its samples of groups."""
    lines = output.splitlines(keepends=True)
    samples = [line for line in lines if line.startswith("sample ")]
    return "".join(line for line in lines if not line.startswith("sample ")), samples


def group_series(scenario: Mapping[str, Any], lines: Iterable[str]) -> bytes | None:
    """Write `group_series.parquet` as bytes; return None where there is no step."""
    names = [flow["name"] for flow in scenario["flows"]]
    readings: list[list[tuple[int, int, int, int, int, int, int, int]]] = [[] for _ in names]
    steps = steps_of(scenario)
    every, _ = _native.group_series_every(steps, len(names))
    every_ns = scenario["record"]["series"] * every
    for line in lines:
        sample, group, answered, delivered, flows, *sums = map(int, line.split()[1:])
        looked_at, connections, cwnd_pkts, srtt_us = sums
        readings[group].append(
            (
                sample * every_ns,
                *(answered, delivered, flows, looked_at),
                *(connections, cwnd_pkts, srtt_us),
            )
        )
    return _native.group_series_file(list(zip(names, readings, strict=True)))


def queue_line(space: str, device: str, handle: str) -> str:
    """Return the line that tells linux/uml/statistics.c the place of a queue."""
    return f"{space} {device} {handle}"


# Name, unit of the core's rows or the unit to show, and value.
_Reading = tuple[str, str, str, float]


def _pie(data: bytes) -> list[_Reading]:
    """Read struct tc_pie_xstats, whose delay is in us."""
    prob, delay_us = struct.unpack_from("=QI", data)
    return [("prob", "", "", prob / (2**64 - 1)), ("delay", "", "ms", delay_us / 1e3)]


def _codel(data: bytes) -> list[_Reading]:
    """Read struct tc_codel_xstats, whose delay is in us."""
    _, count, _, delay_us, _, _, _, dropping = struct.unpack_from("=IIIIiIII", data)
    return [
        ("delay", "", "ms", delay_us / 1e3),
        ("count", "", "", count),
        ("dropping", "", "", dropping),
    ]


# The kernel's own qdiscs whose statistics are those of an algorithm. The others' are not kept.
_KERNELS: Mapping[str, Callable[[bytes], list[_Reading]]] = {"pie": _pie, "codel": _codel}


def _numbers(nest: bytes) -> dict[int, int]:
    """Read netlink attributes: numbers of rows and values of 4 or 8 bytes. Number 0 is padding."""
    values = {}
    while len(nest) >= 4:
        length, kind = struct.unpack_from("=HH", nest)
        if kind:
            values[kind] = int.from_bytes(nest[4:length], sys.byteorder)
        nest = nest[max(4, length + 3 & ~3) :]
    return values


def _ours(algorithm: str, data: bytes) -> list[_Reading]:
    """Read our qdisc's rows. With many flows only counters have one value, and the kernel's dump
    has no other rows."""
    values = _numbers(data)
    rows = algorithms.find(algorithm).stats
    return [(row.name, row.unit, "", values[row.attr]) for row in rows if row.attr in values]


def statistics(
    scenario: Mapping[str, Any], queues: Sequence[tuple[str, str]], output: str
) -> bytes | None:
    """Write `statistics.parquet` of these queues, each with its algorithm, as bytes, from the
    output of statistics.c.

    Return None where nothing was read.
    """
    series_ns = scenario["record"]["series"]
    columns: dict[tuple[str, str, str, str], tuple[list[int], list[float]]] = {}
    for line in output.splitlines():
        _, number, sample, kind, content = line.split()
        if content == "-":
            continue
        (queue, algorithm), data = queues[int(number)], bytes.fromhex(content)
        if kind == "sojourn":
            readings = _ours(algorithm, data)
        else:
            readings = _KERNELS[kind](data) if kind in _KERNELS else []
        for name, unit, shown, value in readings:
            at_ns, values = columns.setdefault((queue, name, unit, shown), ([], []))
            at_ns.append(int(sample) * series_ns)
            values.append(value)
    return _native.statistics_file([(*key, *values) for key, values in columns.items()])
