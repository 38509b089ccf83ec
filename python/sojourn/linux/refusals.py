# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Refusals of scenarios that Linux cannot express: each names the key at fault, before a start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sojourn import algorithms
from sojourn.core.algorithm import STOCK
from sojourn.core.errors import InputError
from sojourn.core.hosts import LINUX_CONTROLS
from sojourn.core.units import Duration
from sojourn.linux import memory
from sojourn.linux.ends import Plain, end_of, recorded
from sojourn.linux.memory import IP_BYTES
from sojourn.linux.qdiscs import counted, frame_bytes, stages
from sojourn.linux.transport import Settings, buffers, control, refused, settings
from sojourn.scenario import ends as scenario_ends
from sojourn.scenario.engine import parsed
from sojourn.scenario.links import FRAME

# Each flow listens at a port of its own.
MAX_FLOWS = 30_000
# A guest needs ten seconds of processor time for a thousand; each costs more than the last.
MAX_SPACES = 1_000
# 2^32 ticks of 64 ns: tc writes netem's delays in such ticks.
MAX_DELAY_S = 274
# HTB asks each class of flows with one round trip that holds packets, for each packet: with more
# than these a second of a run may take half a minute.
MAX_OWN_DELAYS = 5_000
# Only one drawn time in thousands exceeds this number of means or standard deviations.
_TAIL = 8
# With fewer bytes, two datagrams that are under way could have one number.
_NUMBER_BYTES = 4
# A packet without the headers of IPv6 and UDP; a larger datagram would go in fragments.
_MAX_PAYLOAD_BYTES_6 = IP_BYTES - 48


def check(scenario: Mapping[str, Any]) -> None:
    """Raise InputError, which names every part of the scenario that has no counterpart."""
    refusals = list(_refusals(scenario))
    if refusals:
        raise InputError(
            "this scenario cannot run with --host linux:\n" + "\n".join(f"  {x}" for x in refusals)
        )


def _refusals(scenario: Mapping[str, Any]) -> Iterator[str]:
    if scenario.get("media"):
        yield (
            "media: no device of Linux waits for grants: run it with --host sim, or give each "
            "stage a rate in place of its medium"
        )
        return
    for i, link in enumerate(scenario["links"]):
        for key, reason in _of_link(link):
            yield f"links[{i}].{key}: {reason}"
        if scenario.get("linux", {}).get("offloads"):
            for key, reason in _of_offloads(link, bool(recorded(link, scenario))):
                yield f"links[{i}].{key}: {reason}"
        for key, reason in _of_end(link, recorded(link, scenario)):
            yield f"links[{i}].{key}: {reason}"
    for i, flow in enumerate(scenario["flows"]):
        for key, reason in _of_flow(flow):
            yield f"flows[{i}].{key}: {reason}"
    at_node: dict[str, set[Settings]] = {}
    for flow in scenario["flows"]:
        at_node.setdefault(flow["to"], set()).add(buffers(flow))
    for node, unlike in at_node.items():
        if len(unlike) > 1:
            yield f"flows: those to '{node}' have unlike receive buffers; a namespace has one size"
    boxes = (len(stages(link, recorded(link, scenario))) for link in scenario["links"])
    spaces = len(scenario["nodes"]) + sum(boxes)
    if spaces > MAX_SPACES:
        yield (
            f"nodes: with the stages of their links {spaces} namespaces, which a guest lays for "
            f"minutes; up to {MAX_SPACES}"
        )
    yield from _unlike_settings(scenario)
    yield from _long_scripts(scenario)
    total = sum(flow["count"] for flow in scenario["flows"])
    if total > MAX_FLOWS:
        yield f"flows: {total} of them; each needs a port of its own: up to {MAX_FLOWS}"
    own = sum(flow["count"] for flow in scenario["flows"] if flow["rtt"] is not None)
    if own > MAX_OWN_DELAYS:
        yield (
            f"flows: {own} of them have round trips of their own; each needs a class of tc, and "
            f"HTB looks at all that hold packets: up to {MAX_OWN_DELAYS}"
        )
    if reason := memory.refusal(scenario):
        yield f"duration: {reason}"


def _long_scripts(scenario: Mapping[str, Any]) -> Iterator[str]:
    """Refuse scripts that are too long. One seed is enough: all give about the same length."""
    try:
        parsed(Plain.of(scenario).scenario).scripts(1)
    except ValueError as error:
        message = re.sub(r"\b(\d+) ns\b", lambda ns: str(Duration(int(ns[1]))), str(error))
        yield f"flows: {message}"


def _unlike_settings(scenario: Mapping[str, Any]) -> Iterator[str]:
    """Refuse flows whose settings of the TCP at one node differ."""
    at_nodes: dict[str, tuple[Settings, str]] = {}
    for flow in scenario["flows"]:
        if flow["transport"]["kind"] != "tcp":
            continue
        for node in (flow["from"], flow["to"]):
            own = settings(flow)
            before, name = at_nodes.setdefault(node, (own, flow["name"]))
            if before != own:
                unlike = ", ".join(sorted({key for key, _ in {*before} ^ {*own}}))
                yield (
                    f"flows: '{name}' and '{flow['name']}' have unlike TCPs at '{node}' "
                    f"({unlike}); a namespace has one: give them nodes of their own"
                )


def _of_link(link: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    later = (step["delay"] for step in link["delays"])
    if max([link["delay"], *later]) > MAX_DELAY_S * 10**9:
        yield (
            "delay",
            f"netem delays by {MAX_DELAY_S} s at most, a round trip by {2 * MAX_DELAY_S} s",
        )
    if not end_of(link):
        yield from _of_shaper(link, link)


def _of_shaper(link: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Refuse a bucket smaller than a packet, which would never let it pass."""
    full_bytes = frame_bytes(link, IP_BYTES)
    tbf = table["rate"] is not None and table["shaper"] == "tbf"
    if tbf and table["burst"] < full_bytes:
        yield (
            "burst",
            "the kernel's tbf drops packets larger than its bucket; "
            f"allowed: {full_bytes} and more",
        )


def _of_end(link: Mapping[str, Any], named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Refuse the parts of an end that Linux does not have."""
    for n, stage in enumerate(end_of(link)):
        if stage["kind"] == "queue" and stage.get("rate"):
            for key, reason in _of_shaper(link, stage):
                yield f"end[{n}].{key}", reason
    for full, path, table in scenario_ends.named(link):
        stage = link["end"][path[1]]
        queue = table.get("queue")
        apart = stage["kind"] == "queue" or not queue or full not in named
        if apart or not algorithms.find(queue["algorithm"]).alone:
            continue
        place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
        name = queue["algorithm"]
        yield (
            f"{place.removeprefix('.')}.queue",
            f"'{name}' logs no packets, and seen from outside the classes of a device are one "
            f"queue; record other queues than '{full}', or use one of Sojourn's",
        )


def _of_offloads(link: Mapping[str, Any], is_recorded: bool) -> Iterator[tuple[str, str]]:
    """Refuse the parts of a link that do not work with large segments."""
    off = "leave it out, or linux.offloads"
    if end_of(link):
        yield "end", f"its classes and rings count packets, not large segments; {off}"
        return
    if counted(link) and link["rate"] is not None:
        yield (
            next(key for key, usual in FRAME.items() if link[key] != usual),
            f"tc's size table does not count the packets of a large segment; {off}",
        )
    name = link["queue"]["algorithm"]
    splits = name == "kernel:cake" or (name in STOCK and link["shaper"] == "tbf")
    if is_recorded and splits:
        who = name if name == "kernel:cake" else f"tbf above {name}"
        yield (
            "queue",
            f"{who} splits large segments, and what comes and what leaves are then other packets, "
            f"which only a queue of ours can tell; {off}",
        )


def _longest_ns(times: int | Sequence[int] | Mapping[str, Any]) -> int:
    """Return the longest of these times, or about the longest that is drawn."""
    if isinstance(times, int):
        return times
    if not isinstance(times, Mapping):
        return max(times)
    mean_ns = times.get("mean", 0)
    return int(times.get("to") or mean_ns + times.get("sd", mean_ns) * _TAIL)


def _of_flow(flow: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if flow["rtt"] is not None and _longest_ns(flow["rtt"]) > MAX_DELAY_S * 10**9:
        yield "rtt", f"netem delays by {MAX_DELAY_S} s at most"
    payload_bytes = flow["app"].get("payload", _NUMBER_BYTES)
    if flow["transport"]["kind"] == "udp" and payload_bytes < _NUMBER_BYTES:
        yield (
            "app.payload",
            f"{payload_bytes} cannot hold the datagram's number; allowed: {_NUMBER_BYTES} and more",
        )
    if payload_bytes > _MAX_PAYLOAD_BYTES_6 and flow.get("linux", {}).get("ip") == 6:
        yield (
            "app.payload",
            f"{payload_bytes} does not fit into one packet of IPv6; allowed: up to "
            f"{_MAX_PAYLOAD_BYTES_6}, or leave out linux.ip",
        )
    cc = control(flow) or "reno"
    if cc not in LINUX_CONTROLS:
        yield "transport.cc", f"the kernel has no '{cc}'; allowed: {', '.join(LINUX_CONTROLS)}"
    if strange := refused(flow):
        yield (
            "transport.options",
            f"{', '.join(strange)}: switches of the simulator's TCP, which no setting of the "
            "kernel changes; sim.options of the flows are for the simulator alone",
        )
