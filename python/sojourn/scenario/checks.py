# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Do the parts of a scenario fit together? Each check yields where and why not. The work grows with
the length of the file, not with its square."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import BaseModel

from sojourn import _native
from sojourn.algorithms import HOSTS
from sojourn.errors import nearest
from sojourn.linux.transport import CONTROLS, FOREIGN
from sojourn.scenario import trace
from sojourn.scenario.checks_shorthand import of_shorthand
from sojourn.scenario.hosts import LinuxFlows, Options
from sojourn.scenario.lay import Laid, lay
from sojourn.scenario.model import Dumbbell
from sojourn.scenario.problem import Path, Problem, shaping, unique
from sojourn.units import Duration

if TYPE_CHECKING:
    from sojourn.scenario.links import Link
    from sojourn.scenario.model import Flow, Scenario, Traffic

# More would hide the first, and a search for the nearest name costs what there is to search.
MOST_PROBLEMS = 20


def problems(scenario: Scenario) -> list[Problem]:
    """All that does not fit, and no more of it than `MOST_PROBLEMS` and one. The engine is asked
    where nothing else is wrong, since it refuses the same once more."""
    laid, unsound = None, False
    found: list[Problem] = []
    if scenario.shorthand:
        found = list(islice(of_shorthand(scenario), MOST_PROBLEMS + 1))
        # What is not sound has no graph.
        unsound = bool(found)
        laid = None if unsound else lay(scenario.shorthand)
    links = laid.links if laid else scenario.links
    queues = None if unsound else [link.name for link in links if link.takes_time]
    if laid:
        each = enumerate(laid.links)
        of_queues = ((laid.written(at), why) for i, link in each for at, why in _queue(link, i))
        found += islice(dict(of_queues).items(), MOST_PROBLEMS + 1)
    found += islice(_problems(scenario, queues), MOST_PROBLEMS + 1)
    return found or list(islice(_engine(scenario, laid), MOST_PROBLEMS + 1))


def _problems(scenario: Scenario, queues: Sequence[str] | None) -> Iterator[Problem]:
    if scenario.duration == 0:
        yield ("duration",), "a run of no time; allowed: more than 0 s"
    if scenario.duration > trace.MAX_DURATION_NS and _traces(scenario):
        yield ("duration",), f"a run with a trace; allowed: {Duration(trace.MAX_DURATION_NS)}"
    traffic: Sequence[Traffic] = scenario.flows
    where: Path = ("flows",)
    if scenario.shorthand:
        traffic, where = scenario.shorthand.flows, (scenario.shorthand.key, "flows")
    else:
        yield from _graph(scenario)
    for index, flow in enumerate(traffic):
        yield from _flow(flow, (*where, index))
    yield from _of_hosts(scenario)
    yield from _record(scenario, queues)


def _traces(scenario: Scenario) -> bool:
    links = [scenario.dumbbell] if scenario.dumbbell else scenario.links
    return any(link.trace for link in links)


def _engine(scenario: Scenario, laid: Laid | None) -> Iterator[Problem]:
    """Whatever else the engine would refuse, in its own words."""
    from sojourn.scenario.engine import to_engine, without_foreign
    from sojourn.scenario.expand import expand

    graph = expand(scenario, laid)
    sim, linux = (without_foreign(to_engine(graph, host)) for host in HOSTS)
    forms = [("sim", sim)] if sim == linux else [("sim", sim), ("linux", linux)]
    found = (
        (host, *fault) for host, form in forms for fault in _native.check_scenario(json.dumps(form))
    )
    for host, key, reason in found:
        # The engine's keys are ours with the base unit at the end.
        words = re.findall(r"[^.\[\]]+", re.sub(r"_(ns|bps|bytes|pkts)$", "", key))
        path = _as_written(tuple(int(word) if word.isdigit() else word for word in words))
        path = _of_host(laid.written(path) if laid else path, host, scenario.format)
        written = re.sub(r"\b(\d+) ns\b", lambda match: str(Duration(int(match[1]))), reason)
        yield path, written


# The engine's names of keys that have several forms.
_FORMS = {"starts": "start", "rtts": "rtt"}


def _of_host(path: Path, host: str, form: int) -> Path:
    """Keys that a file of format 2 has in the table of a host."""
    if form > 1 and path[-1:] in (("ring",), ("send_jitter",)):
        return (*path[:-1], "sim", path[-1])
    if host == "linux" and "transport" in path:
        return (*path[: path.index("transport")], "linux", "cc")
    return path


def _as_written(path: Path) -> Path:
    """A list of times has no key of its own in a file."""
    if any(word in _FORMS for word in path):
        return tuple(_FORMS.get(str(word), word) for word in path if word != "ns")
    return path


def _graph(scenario: Scenario) -> Iterator[Problem]:
    if not scenario.nodes:
        yield ("nodes",), "no nodes: give nodes, links and flows, or a [dumbbell]"
    yield from unique(scenario.nodes, ("nodes",))
    yield from unique([link.name for link in scenario.links], ("links",), ("name",))
    yield from unique([flow.name for flow in scenario.flows], ("flows",), ("name",))
    nodes = set(scenario.nodes)
    for index, link in enumerate(scenario.links):
        yield from _ends(link, nodes, ("links", index))
        yield from shaping(link, ("links", index))
        yield from _queue(link, index)
    links = {link.name: link for link in scenario.links}
    if not scenario.flows:
        yield ("flows",), "no flows"
    for index, flow in enumerate(scenario.flows):
        yield from _ends(flow, nodes, ("flows", index))
        ways = (
            ("path", flow.path, flow.from_, flow.to),
            ("reverse_path", flow.reverse_path, flow.to, flow.from_),
        )
        for key, path, start, end in ways:
            if path is not None:
                yield from _path(path, start, end, links, ("flows", index, key))


def _queue(link: Link, index: int) -> Iterator[Problem]:
    if not link.takes_time and link.queue.algorithm != "fifo":
        yield (
            ("links", index, "queue"),
            "nothing waits before a link that sends at once; give it a rate",
        )


def _ends(edge: Link | Flow, nodes: Collection[str], where: Path) -> Iterator[Problem]:
    for key, node in (("from", edge.from_), ("to", edge.to)):
        if node not in nodes:
            yield (*where, key), f"there is no node '{node}'.{nearest(node, nodes)}"
    if edge.from_ == edge.to:
        yield (*where, "to"), f"begins and ends at the same node, '{edge.to}'"


def _path(
    path: Sequence[str], start: str, end: str, links: dict[str, Link], where: Path
) -> Iterator[Problem]:
    at = start
    for index, name in enumerate(path):
        if name not in links:
            yield (*where, index), f"there is no link '{name}'.{nearest(name, links)}"
            return
        if links[name].from_ != at:
            yield (*where, index), f"'{name}' begins at '{links[name].from_}', not at '{at}'"
        at = links[name].to
    if at != end:
        yield where, f"ends at '{at}', not at '{end}'"


@functools.cache
def tcp_options() -> dict[str, object]:
    """Every switch of the TCP with its default."""
    options: dict[str, object] = json.loads(_native.tcp_options())
    return options


def _flow(flow: Traffic, where: Path) -> Iterator[Problem]:
    if isinstance(flow.start, Duration):
        if flow.stop is not None and flow.stop <= flow.start:
            yield (*where, "stop"), f"'{flow.stop}' is not later than the start, '{flow.start}'"
    elif "start_spread" in flow.model_fields_set:
        yield (*where, "start_spread"), "each flow's start is given: leave this out"
    if flow.app.kind == "cbr" and flow.transport.kind == "tcp":
        yield (*where, "transport"), "a 'cbr' source sends by 'udp'"
    if flow.app.kind != "cbr" and flow.transport.kind == "udp":
        yield (*where, "transport"), f"a '{flow.app.kind}' source sends by 'tcp'"
    if flow.transport.kind == "tcp":
        controls = [*_native.congestion_controls(), *FOREIGN]
        cc = flow.transport.resolved().cc
        if cc not in controls:
            yield (*where, "transport", "cc"), f"there is no '{cc}'.{nearest(cc, controls)}"
        elif flow.linux.cc and flow.linux.cc not in CONTROLS:
            reason = f"the kernel has no '{flow.linux.cc}'.{nearest(flow.linux.cc, CONTROLS)}"
            yield (*where, "linux", "cc"), reason
        elif flow.transport.ecn == "ect1" and cc != "dctcp":
            yield (
                (*where, "transport", "ecn"),
                f"'ect1' is for a scalable congestion control; '{cc}' answers a mark as it "
                "answers a loss (RFC 9331); allowed with it: true, false",
            )
        yield from _options(flow.transport.options, (*where, "transport"))
        yield from _options(flow.sim.options, (*where, "sim"))
    elif flow.sim.options or flow.linux != LinuxFlows():
        key = "sim" if flow.sim.options else "linux"
        yield (*where, key), "datagrams have no TCP to be set: leave this out"


def _options(options: Options, where: Path) -> Iterator[Problem]:
    """Switches of TCP."""
    known = {k: v for k, v in tcp_options().items() if k not in ("cc", "ecn", "ect1")}
    for key, value in options.items():
        at = (*where, "options", key)
        if key not in known:
            yield at, f"TCP has no option '{key}'.{nearest(key, known)}"
        elif isinstance(known[key], bool) != isinstance(value, bool):
            yield at, f"{value!r} is not of the kind of the default, {known[key]!r}"


def _of_hosts(scenario: Scenario) -> Iterator[Problem]:
    """Format 1 has the keys of one host among the others, format 2 in tables of their own."""
    of = scenario.shorthand
    tables: list[tuple[Path, BaseModel, str]] = []
    if isinstance(of, Dumbbell):
        tables = [((of.key,), of, "ring")]
    elif not of:
        tables = [(("links", i), link, "ring") for i, link in enumerate(scenario.links)]
    traffic: Sequence[Traffic] = of.flows if of else scenario.flows
    where: Path = (of.key, "flows") if of else ("flows",)
    tables += [((*where, i), flow, "send_jitter") for i, flow in enumerate(traffic)]
    for at, table, key in tables:
        fields = type(table).model_fields
        if scenario.format == 1:
            for host in sorted({*HOSTS} & table.model_fields_set):
                if getattr(table, host) != fields[host].default:
                    yield (*at, host), "a table of one host needs format = 2"
        elif getattr(table, key) != fields[key].default:
            yield (*at, key), f"only the simulator has it: in format 2 write sim.{key}"


def _record(scenario: Scenario, queues: Sequence[str] | None) -> Iterator[Problem]:
    for index, name in enumerate(scenario.record.queues):
        if queues is not None and name not in queues:
            yield (
                ("record", "queues", index),
                f"there is no link '{name}' with a rate.{nearest(name, queues)}",
            )
    if scenario.record.series == 0:
        yield ("record", "series"), "a grid of no time; allowed: more than 0 s"
    yield from unique([w.name for w in scenario.record.windows], ("record", "windows"), ("name",))
    for index, window in enumerate(scenario.record.windows):
        at: Path = ("record", "windows", index)
        if window.from_ >= window.to:
            yield (*at, "to"), f"'{window.to}' is not later than its beginning, '{window.from_}'"
        if window.to > scenario.duration:
            yield (
                (*at, "to"),
                f"'{window.to}' is after the end; allowed: up to '{scenario.duration}'",
            )
