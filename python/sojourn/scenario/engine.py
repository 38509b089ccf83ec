# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A scenario as the engine reads it. `expand` writes it out as a graph with the recording that it
implies; `to_engine` gives that graph in base units, the unit in each key, nothing left to default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sojourn import _native, algorithms
from sojourn.core.algorithm import Algorithm
from sojourn.core.hosts import HZ, LINUX_ONLY_CONTROLS
from sojourn.core.units import Duration
from sojourn.scenario import trace
from sojourn.scenario.flows import Flow, Tcp
from sojourn.scenario.links import ETHERNET, Link
from sojourn.scenario.networks import NETWORKS
from sojourn.scenario.networks.layout import Layout
from sojourn.scenario.parts import WHOLE, Distribution, Window

if TYPE_CHECKING:
    from sojourn.scenario.model import Scenario


def to_engine(graph: Scenario, host: str = "sim") -> dict[str, Any]:
    """Convert a graph to data for JSON, without keys that only another host has. Equal scenarios
    give equal data: results are filed under its digest."""
    in_sim = host == "sim"
    return {
        "format": graph.format,
        "name": graph.name,
        "duration_ns": int(graph.duration),
        "nodes": list(graph.nodes),
        "one_host": graph.one_host,
        "links": [_link(link, graph, in_sim) for link in graph.links],
        "flows": [_flow(flow, in_sim) for flow in graph.flows],
        "record": {
            "queues": list(graph.record.queues),
            "windows": [
                {"name": w.name, "from_ns": int(w.from_), "to_ns": int(w.to)}
                for w in graph.record.windows
            ],
            "series_ns": int(graph.record.series),
            "events": graph.record.events,
            **({"transfers": True} if graph.record.transfers else {}),
        },
        **({"offloads": True} if graph.linux.offloads and not in_sim else {}),
        **({"hz": graph.linux.hz} if graph.linux.hz != HZ and not in_sim else {}),
    }


def _link(link: Link, graph: Scenario, in_sim: bool) -> dict[str, Any]:
    jitter = link.jitter
    delays = [{"at_ns": int(step.at), "delay_ns": int(step.delay)} for step in link.delays]
    trace_keys: dict[str, Any] = {}
    if link.trace is not None:
        by_packet = link.opportunity == "packet"
        trace_keys = trace.to_engine(link.trace, int(graph.duration), by_packet=by_packet)
    return {
        "name": link.name,
        "from": link.from_,
        "to": link.to,
        "rate_bps": None if link.rate is None else int(link.rate),
        "schedule": [{"at_ns": int(step.at), "rate_bps": int(step.rate)} for step in link.schedule],
        "shaper": link.shaper,
        "burst_bytes": int(link.burst),
        "ring_pkts": link.sim.ring if in_sim else 0,
        "delay_ns": int(link.delay),
        **({"delays": delays} if link.delays else {}),
        "jitter": jitter
        and {
            "distribution": jitter.distribution,
            "sd_ns": int(jitter.sd),
            "reorder": jitter.reorder,
        },
        "loss": float(link.loss),
        "queue": {
            "algorithm": algorithms.find(link.queue.algorithm).engine,
            "rows": dict(link.queue.rows),
        },
        "responder": link.responder,
        **({} if link.probe == "echo" else {"probe": link.probe}),
        **({} if link.header == ETHERNET else {"header_bytes": int(link.header)}),
        **({"mpu_bytes": int(link.mpu)} if link.mpu else {}),
        **({} if link.linklayer == "ethernet" else {"linklayer": link.linklayer}),
        **trace_keys,
    }


def without_opportunities(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the scenario with its traces as rates alone."""
    links = [
        {key: value for key, value in link.items() if key != "opportunities"}
        for link in scenario["links"]
    ]
    return {**scenario, "links": links}


def without_foreign(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Make a scenario that the engine can read. Queues and congestion controls of other hosts alone
    become fifo and cubic; settings of a kernel are left out."""

    def portable(flow: Mapping[str, Any]) -> Mapping[str, Any]:
        transport = {key: value for key, value in flow["transport"].items() if key != "sysctls"}
        if transport.get("cc") in LINUX_ONLY_CONTROLS:
            transport["cc"] = "cubic"
        return {key: value for key, value in flow.items() if key != "ip"} | {"transport": transport}

    fifo = {"algorithm": "fifo", "rows": {}}
    foreign = {i for i, algorithm in link_algorithms(scenario) if "sim" not in algorithm.hosts}
    links = enumerate(scenario["links"])
    return {
        **{key: value for key, value in scenario.items() if key not in ("offloads", "hz")},
        "links": [{**link, "queue": fifo} if i in foreign else link for i, link in links],
        "flows": [portable(flow) for flow in scenario["flows"]],
    }


def parsed(scenario: Mapping[str, Any]) -> _native.Scenario:
    """Let the engine read what it knows of the scenario, for another host."""
    return _native.Scenario(json.dumps(without_foreign(scenario)))


def link_algorithms(scenario: Mapping[str, Any]) -> list[tuple[int, Algorithm]]:
    """List the algorithm of each link, with the link's number."""
    queues = (link["queue"]["algorithm"] for link in scenario["links"])
    return [(i, algorithms.find(name)) for i, name in enumerate(queues)]


def _flow(flow: Flow, in_sim: bool) -> dict[str, Any]:
    send_jitter = flow.sim.send_jitter if in_sim else None
    if isinstance(flow.start, Duration):
        starts: dict[str, Any] = {
            "start_ns": int(flow.start),
            "start_spread_ns": int(flow.start_spread),
        }
    else:
        # The default spread does not apply; `checks` refuses one that is given.
        starts = {"start_ns": 0, "start_spread_ns": 0, "starts": _times(flow.start)}
    return {
        "name": flow.name,
        "count": flow.count,
        "from": flow.from_,
        "to": flow.to,
        "path": None if flow.path is None else list(flow.path),
        "reverse_path": None if flow.reverse_path is None else list(flow.reverse_path),
        "transport": _transport(flow, in_sim),
        "app": flow.app.to_engine(),
        **starts,
        "stop_ns": None if flow.stop is None else int(flow.stop),
        "send_jitter_ns": None if send_jitter is None else int(send_jitter),
        **({} if flow.rtt is None else {"rtts": _times(flow.rtt)}),
        **({"ip": flow.linux.ip} if flow.linux.ip != 4 and not in_sim else {}),
    }


def _times(times: Duration | Sequence[Duration] | Distribution) -> dict[str, Any]:
    """Convert times to the form that the engine reads: whole ns, the form as `kind`."""
    if isinstance(times, Distribution):
        fields = type(times).model_fields
        values = {field.alias or name: getattr(times, name) for name, field in fields.items()}
        kind = values.pop("distribution")
        return {"kind": kind} | {f"{key}_ns": int(value) for key, value in values.items()}
    if isinstance(times, Duration):
        times = (times,)
    return {"kind": "list", "ns": [int(time) for time in times]}


def _transport(flow: Flow, in_sim: bool) -> dict[str, Any]:
    transport, linux = flow.transport, flow.linux
    if isinstance(transport, Tcp):
        return {
            "kind": "tcp",
            "cc": (not in_sim and linux.cc) or transport.cc,
            "ecn": transport.ecn,
            "options": {**transport.options, **(flow.sim.options if in_sim else {})},
            **({"assumed": transport.assumed()} if transport.tcp else {}),
            **({"sysctls": dict(linux.sysctls)} if linux.sysctls and not in_sim else {}),
        }
    return {"kind": "udp"}


def expand(scenario: Scenario, layout: Layout | None = None) -> Scenario:
    """Write a scenario out as a graph with its recording filled in; a graph that has both stays
    equal. `layout` is that of its shorthand, where it is known already."""
    parts: dict[str, Any] = {}
    if scenario.shorthand:
        layout = layout or scenario.shorthand.lay()
        parts = dict.fromkeys(NETWORKS)
        parts |= {key: tuple(getattr(layout, key)) for key in ("nodes", "links", "flows")}
        names = layout.tested
    else:
        # A utilisation needs a rate: links without one are not measured.
        names = [link.name for link in scenario.links if link.takes_time]
    links = parts.get("links", scenario.links)
    # `checks` refuses `tested` at a link that takes no time.
    tested = [link.name for link in links if link.queue.tested and link.takes_time]
    # A flow has every option of the TCP that it names.
    parts["flows"] = tuple(
        flow.model_copy(update={"transport": flow.transport.resolved()})
        if isinstance(flow.transport, Tcp) and flow.transport.tcp
        else flow
        for flow in parts.get("flows", scenario.flows)
    )
    whole = Window(name=WHOLE, from_=Duration(0), to=scenario.duration)
    record = {
        "queues": scenario.record.queues or tuple(dict.fromkeys([*names, *tested])),
        "windows": scenario.record.windows or (whole,),
    }
    parts["record"] = scenario.record.model_copy(update=record)
    return scenario.model_copy(update=parts)
