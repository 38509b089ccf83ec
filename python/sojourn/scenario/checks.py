# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Parts of a scenario that do not fit together.

The engine has the rules of networks, flows and records (`crates/sim/src/scenario`), and its
problems get the paths of the file. Here are the rules that only a user's file can break. The work
grows with the length of the file, not with its square.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.core.errors import nearest, written
from sojourn.core.hosts import LINUX_CONTROLS, LINUX_ONLY_CONTROLS
from sojourn.core.units import Duration, Rate
from sojourn.scenario import trace
from sojourn.scenario.end_checks import end_problems, names_problems
from sojourn.scenario.ends import named
from sojourn.scenario.engine import expand, to_engine, without_foreign
from sojourn.scenario.flows import Options, Tcp, Traffic
from sojourn.scenario.links import FRAME, Link, trace_problems
from sojourn.scenario.networks import NETWORKS, OF_GRAPH, beside
from sojourn.scenario.networks.dumbbell import Between, Dumbbell
from sojourn.scenario.networks.layout import Layout
from sojourn.scenario.parts import Path, Problem
from sojourn.scenario.queues import TESTED

if TYPE_CHECKING:
    from sojourn.scenario.model import Scenario
    from sojourn.scenario.networks import Shorthand

# More would hide the first, and each search for a nearest name takes its time.
MOST_PROBLEMS = 20
# Nobody reads a longer list.
_LISTED = 10


def problems(scenario: Scenario) -> list[Problem]:
    """List the problems; the searches stop after `MOST_PROBLEMS` and one."""
    most = MOST_PROBLEMS + 1
    network = scenario.shorthand
    own = islice(_own_problems(scenario), most)
    if network is None:
        listed = list(own)
        listed += _engine_problems(scenario, None, listed, most)
        return [problem for problem in listed if not _follows(problem[0], scenario)]
    if listed := list(islice(_network_problems(scenario, network), most)):
        # A shorthand with problems has no graph; its flows and record are checked without one.
        listed += own
        rest = _engine_problems(scenario, _stand_in(network), listed, most)
        return listed + [problem for problem in rest if _is_general(problem[0], network.key)]
    layout = network.lay()
    queues = (problem for i, link in enumerate(layout.links) for problem in _queue(link, i))
    listed = list({layout.path_in_file(path): reason for path, reason in queues}.items())
    listed += own
    return listed + _engine_problems(scenario, layout, listed, most)


def _follows(path: Path, scenario: Scenario) -> bool:
    """Tell whether a problem is there because a graph has no nodes or no links: then each name of
    one is wrong."""
    in_queues = not scenario.links and path[:2] == ("record", "queues")
    ends = {"from", "to"} if not scenario.nodes else set()
    ways = {"path"} if not scenario.nodes or not scenario.links else set()
    return in_queues or not (ends | ways).isdisjoint(path)


def _is_general(path: Path, key: str) -> bool:
    """Tell whether a problem has nothing to do with nodes and links."""
    in_flows = path[:2] == (key, "flows") and "rtt" not in path
    return in_flows or path[0] == "duration" or path[:2] == ("record", "windows")


def _network_problems(scenario: Scenario, network: Shorthand) -> Iterator[Problem]:
    """Yield the problems of the first shorthand; without any it can be laid out."""
    for key in OF_GRAPH:
        if getattr(scenario, key):
            yield (key,), beside(network.key, key)
    for key in NETWORKS:
        if key != network.key and getattr(scenario, key):
            yield (key,), f"a scenario has one network, and this one has a [{network.key}]"
    names: set[str] = set()
    for i, flow in enumerate(network.flows):
        if flow.name in names:
            yield (network.key, "flows", i, "name"), f"'{flow.name}' is there twice"
        names.add(flow.name)
    if not network.flows:
        yield (network.key, "flows"), "no flows"
    yield from network.problems()


def _stand_in(network: Shorthand) -> Layout:
    """Lay out a simple network with the flows of a shorthand that has problems."""
    flows = [
        {key: getattr(flow, key) for key in flow.model_fields_set & Traffic.model_fields.keys()}
        for flow in network.flows
    ]
    betweens = tuple(map(Between.model_validate, flows))
    layout = Dumbbell(rate=Rate("1 Mbit/s"), rtt=Duration(0), flows=betweens).lay()
    layout.places["flows"] = [((network.key, "flows", i), {}) for i in range(len(flows))]
    return layout


def _own_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems that the engine cannot see: of the file's form, and of congestion controls and
    queues that only Linux has."""
    network = scenario.shorthand
    traced = any(getattr(link, "trace", None) for link in (network, *scenario.links))
    if traced and scenario.duration > trace.MAX_DURATION_NS:
        yield ("duration",), f"a run with a trace; allowed: {Duration(trace.MAX_DURATION_NS)}"
    traffic: Sequence[Traffic] = scenario.flows
    place: Path = ("flows",)
    if network:
        traffic, place = network.flows, (network.key, "flows")
    else:
        yield from _graph(scenario)
    for index, flow in enumerate(traffic):
        yield from _flow(flow, (*place, index))
    if scenario.record.series == 0:
        yield ("record", "series"), "a grid of no time; allowed: more than 0 s"


def _graph(scenario: Scenario) -> Iterator[Problem]:
    if not scenario.nodes and not scenario.links:
        yield ("nodes",), "no network: give nodes, links and flows, or a [dumbbell]"
    elif not scenario.nodes:
        ends = dict.fromkeys(end for link in scenario.links for end in (link.from_, link.to))
        yield ("nodes",), f"no nodes; the links name {written([*ends][:_LISTED])}"
    elif not scenario.links:
        yield ("links",), "no links; each leads from one of the nodes to another"
    for index, link in enumerate(scenario.links):
        yield from end_problems(link, ("links", index))
        if link.end:
            continue
        yield from trace_problems(link, ("links", index))
        if not link.takes_time:
            # The engine has this rule too, but does not see a key with its default value.
            for key in FRAME.keys() & link.model_fields_set:
                reason = "a packet takes no time here, however long it is; give a rate"
                yield ("links", index, key), reason
        yield from _queue(link, index)
    yield from names_problems(scenario)
    if scenario.nodes and not scenario.flows:
        yield ("flows",), "no flows"


def _queue(link: Link, index: int) -> Iterator[Problem]:
    if not link.takes_time and (link.queue.algorithm != "fifo" or link.queue.tested):
        key = () if link.queue.algorithm != "fifo" else (TESTED,)
        reason = "nothing waits before a link that sends at once; give it a rate"
        yield ("links", index, "queue", *key), reason


@functools.cache
def tcp_options() -> dict[str, object]:
    """Return every switch of the TCP with its default."""
    options: dict[str, object] = json.loads(_native.tcp_options())
    return options


@functools.cache
def _controls() -> list[str]:
    """List every congestion control of a host."""
    return [*_native.congestion_controls(), *LINUX_ONLY_CONTROLS]


def _flow(flow: Traffic, place: Path) -> Iterator[Problem]:
    if not isinstance(flow.start, Duration) and "start_spread" in flow.model_fields_set:
        yield (*place, "start_spread"), "each flow's start is given: leave this out"
    if isinstance(flow.transport, Tcp):
        controls = _controls()
        cc = flow.transport.resolved().cc
        if cc not in controls:
            yield (*place, "transport", "cc"), f"there is no '{cc}'.{nearest(cc, controls)}"
        elif flow.linux.cc and flow.linux.cc not in LINUX_CONTROLS:
            reason = f"the kernel has no '{flow.linux.cc}'.{nearest(flow.linux.cc, LINUX_CONTROLS)}"
            yield (*place, "linux", "cc"), reason
        elif flow.transport.ecn == "ect1" and cc != "dctcp":
            yield (
                (*place, "transport", "ecn"),
                f"'ect1' is for a scalable congestion control; '{cc}' answers a mark as it "
                "answers a loss (RFC 9331); allowed with it: true, false",
            )
        yield from _options(flow.transport.options, (*place, "transport"))
        yield from _options(flow.sim.options, (*place, "sim"))
    elif flow.sim.options or flow.linux.cc or flow.linux.sysctls:
        key = "sim" if flow.sim.options else "linux"
        yield (*place, key), "datagrams have no TCP to be set: leave this out"


def _options(options: Options, place: Path) -> Iterator[Problem]:
    """Check switches of TCP: their names, and the kinds of their values."""
    known = {k: v for k, v in tcp_options().items() if k not in ("cc", "ecn", "ect1")}
    for key, value in options.items():
        path = (*place, "options", key)
        if key not in known:
            yield path, f"TCP has no option '{key}'.{nearest(key, known)}"
        elif isinstance(known[key], bool) != isinstance(value, bool):
            yield path, f"{written(value)} is not of the kind of the default, {written(known[key])}"


def _engine_problems(
    scenario: Scenario, layout: Layout | None, known: Collection[Problem], most: int
) -> list[Problem]:
    """List problems that the engine finds, at most `most`. Parts with `known` problems are made
    simple."""
    data = without_foreign(to_engine(expand(scenario, layout), host=None))
    data = _simplified(data, layout, [path for path, _ in known])
    data = _plain_record(data, scenario)
    faults = _native.check_scenario(json.dumps(data))
    if not scenario.record.windows or scenario.duration == 0:
        # The window of the whole run is in no file, and no other fits a run of no time; the
        # duration has the fault.
        faults = [fault for fault in faults if not fault[0].startswith("record.windows")]
    cut = [(i, window) for i, whole in enumerate(scenario.record.windows) for window in whole.cut()]
    wholes = {name: whole.name for whole in scenario.record.windows for name in whole.piece_names()}
    found: dict[Path, str] = {}
    for fault in faults:
        path, reason = _in_file(*fault, layout)
        if path[:2] == ("record", "windows"):
            place, window = cut[int(path[2])]
            path = ("record", "windows", place, *path[3:])
            if path[-1] == "name" and window.name in wholes:
                reason = f"{reason}: a piece of '{wholes[window.name]}' has it"
        found.setdefault(path, reason)
    return list(islice(found.items(), most))


def _in_file(
    key: str, reason: str, unknown: tuple[str, list[str]] | None, layout: Layout | None
) -> Problem:
    """Convert a fault of the engine to a problem of the file. An `unknown` name comes with those
    that are known."""
    words = re.findall(r"[^.\[\]]+", key)
    path = tuple(int(word) if word.isdigit() else word for word in words)
    # A position in the engine's JSON means nothing in the file.
    reason = re.sub(r" at line \d+ column \d+$", "", reason)
    if large := _INTEGER.match(reason):
        reason = f"{large[1]} is outside 0 to {2 ** int(large[2]) - 1}"
    reason = re.sub(r"\b(\d+) ns\b", lambda match: str(Duration(int(match[1]))), reason)
    if rates := _RATES.match(reason):
        least, most = (Rate(int(rates[n])) for n in (2, 3))
        reason = f"{rates[1]} bit/s is outside {least} to {most}"
    if kind := _SENDS_BY.match(reason):
        reason = f'{reason}: write transport = "{kind[1]}"'
    if unknown:
        reason = f"{reason}.{nearest(*unknown)}"
    return layout.path_in_file(path) if layout else path, reason


# Sentences of the engine about a rate out of range, and about a kind of traffic.
_RATES = re.compile(r"(\d+) is outside (\d+) to (\d+) bit/s$")
_SENDS_BY = re.compile(r"a '\w+' source sends by '(\w+)'$")
# The sentence of the engine's reader of JSON for a number out of range.
_INTEGER = re.compile(r"invalid value: integer `(-?\d+)`, expected u(\d+)$")


def _plain(link: Mapping[str, Any]) -> dict[str, Any]:
    return {key: link[key] for key in ("name", "from", "to", "delay")} | {"rate": 1_000_000}


def _plain_record(data: dict[str, Any], scenario: Scenario) -> dict[str, Any]:
    """Name, in the record, links that were made simple in place of their stages and classes.
    `names_problems` has reported names of nothing."""
    if not any(link.end for link in scenario.links):
        return data
    by_name = {
        name: link.name if "end" not in plain else name
        for link, plain in zip(scenario.links, data["links"], strict=True)
        for name in (link.name, *(name for name, _, _ in named(link)))
    }
    named_so = [name for name in data["record"]["queues"] if name in by_name]
    queues: list[str] = []
    for name in named_so:
        if by_name[name] == name or by_name[name] not in named_so + queues:
            queues.append(by_name[name])
    return {**data, "record": {**data["record"], "queues": queues}}


def _simplified(
    data: dict[str, Any], layout: Layout | None, known: Sequence[Path]
) -> dict[str, Any]:
    """Simplify parts with known problems, where these could hide others or make no form at all."""
    if not known:
        return data

    def faulty(part: str, index: int) -> bool:
        place = layout.places[part][index][0] if layout else (part, index)
        return any(path[: len(place)] == place for path in known)

    links = [
        _plain(link) if not layout and faulty("links", i) else link
        for i, link in enumerate(data["links"])
    ]
    flows = [
        {
            **flow,
            "transport": {"kind": flow["transport"]["kind"]},
            "sim": {**flow.get("sim", {}), "options": {}},
            "linux": {},
        }
        if faulty("flows", i)
        else flow
        for i, flow in enumerate(data["flows"])
    ]
    return {**data, "links": links, "flows": flows}
