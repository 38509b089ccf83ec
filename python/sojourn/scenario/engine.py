# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A scenario as the engine reads it. `expand` writes it out as a graph with the recording that it
implies; `to_engine` gives that graph with the keys of a file, so that the path of a fault is the
file's. Numbers are in base units; no key is left to a default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from sojourn import _native, algorithms
from sojourn.core.algorithm import Algorithm
from sojourn.core.hosts import HOSTS, LINUX_ONLY_CONTROLS
from sojourn.core.units import Duration
from sojourn.scenario import trace
from sojourn.scenario.ends import HtbClass, is_tested, queues
from sojourn.scenario.flows import Flow, Tcp
from sojourn.scenario.links import OF_ONE_QUEUE, Link
from sojourn.scenario.networks import NETWORKS
from sojourn.scenario.networks.layout import Layout
from sojourn.scenario.parts import WHOLE, Window
from sojourn.scenario.queues import TESTED, Queue

if TYPE_CHECKING:
    from sojourn.core.algorithm import Library
    from sojourn.scenario.model import Scenario


# Keys of a file that its graph does not have.
_OF_FILE = ("description", "cables", *NETWORKS)


def to_engine(graph: Scenario, host: str | None = "sim") -> dict[str, Any]:
    """Convert a graph to data for JSON, without the tables of other hosts; with those of each host
    if `host` is None. Equal scenarios give equal data: results are filed under its digest."""
    data = _table(graph, host)
    for key in _OF_FILE:
        del data[key]
    if not graph.media:
        del data["media"]
    for window in data["record"]["windows"]:
        del window["pieces"]  # each is a window by now
    return data | {
        "links": [_link(link, graph, host) for link in graph.links],
        "flows": [_flow(flow, host) for flow in graph.flows],
    }


def _table(model: BaseModel, host: str | None) -> dict[str, Any]:
    """Convert the values of a model. The table of a host is left out where it says nothing."""
    fields = type(model).model_fields.items()
    return {
        field.alias or name: _value(getattr(model, name), host)
        for name, field in fields
        if name not in HOSTS
        or (host in (None, name) and getattr(model, name) != field.get_default())
    }


def _value(value: Any, host: str | None) -> Any:
    """Convert a value to data for JSON: quantities are numbers of their base units."""
    if isinstance(value, BaseModel):
        return _table(value, host)
    if isinstance(value, list | tuple):
        return [_value(item, host) for item in value]
    if isinstance(value, Mapping):
        return {key: _value(item, host) for key, item in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return int(value) if isinstance(value, int) else float(value)


def _link(link: Link, graph: Scenario, host: str | None) -> dict[str, Any]:
    data = _table(link, host)
    if link.end:
        kept = {key: value for key, value in data.items() if key not in OF_ONE_QUEUE}
        return kept | {"end": [_stage(stage, host) for stage in link.end]}
    del data["end"]
    data["queue"] = _queue(link.queue, host)
    if link.trace is not None:
        by_packet = link.opportunity == "packet"
        data |= trace.to_engine(link.trace, int(graph.duration), by_packet=by_packet)
    return data


def _queue(queue: Queue, host: str | None) -> dict[str, Any]:
    algorithm = algorithms.find(queue.algorithm).engine
    return {"algorithm": algorithm, **_value(queue.rows, host)}


def _stage(table: BaseModel, host: str | None) -> dict[str, Any]:
    """Convert a stage or a table in it; keys that say nothing are left out."""
    if isinstance(table, HtbClass):
        table = table.filled()
    data: dict[str, Any] = {}
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        if value is None or value == () or name == TESTED:
            continue
        if isinstance(value, Queue):
            value = _queue(value, host)
        elif isinstance(value, BaseModel):
            value = _stage(value, host)
        elif isinstance(value, tuple) and isinstance(value[0], BaseModel):
            value = [_stage(item, host) for item in value]
        data[field.alias or name] = _value(value, host)
    return data


def _flow(flow: Flow, host: str | None) -> dict[str, Any]:
    data = _table(flow, host)
    if not isinstance(flow.start, Duration):
        # The default spread does not apply; `checks` refuses one that is given.
        data["start_spread"] = 0
    if not flow.dscp:
        del data["dscp"]
    if isinstance(flow.transport, Tcp):
        # Each option of the preset is among the others.
        preset = data["transport"].pop("tcp")
        data["transport"] |= {"assumed": flow.transport.assumed()} if preset else {}
    return data


def without_opportunities(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return the scenario with its traces as rates alone."""
    links = [{**link, "trace": None} if "trace" in link else link for link in scenario["links"]]
    return {**scenario, "links": links}


def without_foreign(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Make a scenario that the engine can read. Queues and congestion controls of other hosts alone
    become fifo and cubic."""

    def portable(flow: Mapping[str, Any]) -> Mapping[str, Any]:
        tables = {
            key: {**flow[key], "cc": "cubic"}
            for key in ("transport", "linux")
            if flow.get(key, {}).get("cc") in LINUX_ONLY_CONTROLS
        }
        return {**flow, **tables}

    return {
        **scenario,
        "links": [_portable(link) for link in scenario["links"]],
        "flows": [portable(flow) for flow in scenario["flows"]],
    }


def _portable(part: Any) -> Any:
    """Copy a link, a stage or a class with a fifo in place of each queue of other hosts alone."""
    if isinstance(part, list):
        return [_portable(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    data = {key: _portable(part[key]) if key in _NESTED else part[key] for key in part}
    queue = data.get("queue")
    if queue and "sim" not in algorithms.find(queue["algorithm"]).hosts:
        data["queue"] = {"algorithm": "fifo"}
    return data


# Keys of links and stages below which there may be queues.
_NESTED = ("end", "classes", "bands", "inner")


def parsed(scenario: Mapping[str, Any]) -> _native.Scenario:
    """Let the engine read what it knows of the scenario, for another host."""
    return _native.Scenario(json.dumps(without_foreign(scenario)))


def queue_algorithms(scenario: Mapping[str, Any]) -> list[tuple[str, Algorithm]]:
    """List the algorithm of each queue, with the queue's name."""
    return [
        (name, algorithms.find(table["queue"]["algorithm"]))
        for link in scenario["links"]
        for name, _, table in queues(link)
    ]


def libraries(scenario: Mapping[str, Any]) -> tuple[Library, ...]:
    """List the users' files in a scenario of the engine."""
    files = (algorithm.file for _, algorithm in queue_algorithms(scenario))
    return tuple(dict.fromkeys(filter(None, files)))


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
    tested = [
        link.name
        for link in links
        if link.takes_time and any(is_tested(table) for _, _, table in queues(link))
    ]
    # A flow has every option of the TCP that it names.
    parts["flows"] = tuple(
        flow.model_copy(update={"transport": flow.transport.resolved()})
        if isinstance(flow.transport, Tcp) and flow.transport.tcp
        else flow
        for flow in parts.get("flows", scenario.flows)
    )
    whole = Window(name=WHOLE, from_=Duration(0), to=scenario.duration)
    windows = tuple(part for window in scenario.record.windows for part in window.cut())
    record = {
        "queues": scenario.record.queues or tuple(dict.fromkeys([*names, *tested])),
        "windows": windows or (whole,),
    }
    parts["record"] = scenario.record.model_copy(update=record)
    return scenario.model_copy(update=parts)
