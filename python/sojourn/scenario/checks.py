# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Do the parts of a scenario fit together? Each check yields where and why not. The work grows with
the length of the file, not with its square."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from sojourn import _native
from sojourn.errors import nearest
from sojourn.linux.transport import FOREIGN
from sojourn.scenario import trace
from sojourn.units import Duration

if TYPE_CHECKING:
    from sojourn.scenario.model import Dumbbell, Flow, Link, Scenario, Traffic

Path = tuple[str | int, ...]
Problem = tuple[Path, str]


# More would hide the first, and a search for the nearest name costs what there is to search.
MOST_PROBLEMS = 20


def problems(scenario: Scenario) -> list[Problem]:
    """All that does not fit, and no more of it than `MOST_PROBLEMS` and one. The engine is asked
    where nothing else is wrong, since it refuses the same once more."""
    found = list(islice(_problems(scenario), MOST_PROBLEMS + 1))
    return found or list(islice(_engine(scenario), MOST_PROBLEMS + 1))


def _problems(scenario: Scenario) -> Iterator[Problem]:
    if scenario.duration == 0:
        yield ("duration",), "a run of no time; allowed: more than 0 s"
    if scenario.duration > trace.MAX_DURATION_NS and _traces(scenario):
        yield ("duration",), f"a run with a trace; allowed: {Duration(trace.MAX_DURATION_NS)}"
    if scenario.dumbbell:
        yield from _dumbbell(scenario)
        queues = ["bottleneck"]
        traffic: Sequence[Traffic] = scenario.dumbbell.flows
        where: Path = ("dumbbell", "flows")
    else:
        yield from _graph(scenario)
        queues = [link.name for link in scenario.links if link.takes_time]
        traffic, where = scenario.flows, ("flows",)
    for index, flow in enumerate(traffic):
        yield from _flow(flow, (*where, index))
    yield from _record(scenario, queues)


def _traces(scenario: Scenario) -> bool:
    links = [scenario.dumbbell] if scenario.dumbbell else scenario.links
    return any(link.trace for link in links)


def _engine(scenario: Scenario) -> Iterator[Problem]:
    """Whatever else the engine would refuse, in its own words."""
    from sojourn.scenario.engine import to_engine, without_foreign
    from sojourn.scenario.expand import expand

    engines = json.dumps(without_foreign(to_engine(expand(scenario))))
    for key, reason in _native.check_scenario(engines):
        # The engine's keys are ours with the base unit at the end.
        words = re.findall(r"[^.\[\]]+", re.sub(r"_(ns|bps|bytes|pkts)$", "", key))
        path = _as_written(tuple(int(word) if word.isdigit() else word for word in words))
        written = re.sub(r"\b(\d+) ns\b", lambda match: str(Duration(int(match[1]))), reason)
        yield _of_dumbbell(path) if scenario.dumbbell else path, written


# The engine's names of keys that have several forms.
_FORMS = {"starts": "start", "rtts": "rtt"}
# And of a size, where the base unit is the whole name.
_SIZE = ("app", "bytes")


def _as_written(path: Path) -> Path:
    """A list of times has no key of its own in a file."""
    if path[-2:] == _SIZE:
        return (*path[:-1], "size")
    if any(word in _FORMS for word in path):
        return tuple(_FORMS.get(str(word), word) for word in path if word != "ns")
    return path


def _of_dumbbell(path: Path) -> Path:
    """The key of the shorthand that a key of its graph was made of."""
    if path[:1] == ("links",):
        names = {"delay": "rtt", "queue": "aqm"}
        return ("dumbbell", *(names.get(str(word), word) for word in path[2:]))
    return ("dumbbell", *path) if path[:1] == ("flows",) else path


def _unique(names: Sequence[str], where: Path, key: Path = ()) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield (*where, index, *key), f"'{name}' is there twice"
        seen.add(name)


def _dumbbell(scenario: Scenario) -> Iterator[Problem]:
    for key in ("nodes", "links", "flows"):
        if getattr(scenario, key):
            yield (key,), "a scenario is either a [dumbbell] or a graph of nodes, links and flows"
    assert scenario.dumbbell
    if scenario.dumbbell.rate is None and scenario.dumbbell.trace is None:
        yield ("dumbbell", "rate"), "is missing"
    yield from _shaping(scenario.dumbbell, ("dumbbell",))
    flows = scenario.dumbbell.flows
    yield from _unique([f.name for f in flows], ("dumbbell", "flows"), ("name",))
    if not flows:
        yield ("dumbbell", "flows"), "no flows"


def _shaping(link: Link | Dumbbell, where: Path) -> Iterator[Problem]:
    if link.trace is not None:
        for key in ("rate", "schedule", "ring"):
            if getattr(link, key):
                yield (*where, key), "a trace says when packets leave: leave this out"
        if link.shaper != "wire":
            yield (*where, "shaper"), "a trace says when packets leave: only 'wire' goes with it"
        return
    if link.rate is None and link.schedule:
        yield (*where, "schedule"), "a schedule of rates needs a rate to begin with"
    if link.rate is None and link.shaper != "wire":
        yield (*where, "shaper"), f"'{link.shaper}' needs a rate"
    for index, (earlier, later) in enumerate(pairwise(link.schedule), start=1):
        if later.at <= earlier.at:
            yield (
                (*where, "schedule", index, "at"),
                f"'{later.at}' is not later than the step before it, at '{earlier.at}'",
            )


def _graph(scenario: Scenario) -> Iterator[Problem]:
    if not scenario.nodes:
        yield ("nodes",), "no nodes: give nodes, links and flows, or a [dumbbell]"
    yield from _unique(scenario.nodes, ("nodes",))
    yield from _unique([link.name for link in scenario.links], ("links",), ("name",))
    yield from _unique([flow.name for flow in scenario.flows], ("flows",), ("name",))
    nodes = set(scenario.nodes)
    for index, link in enumerate(scenario.links):
        yield from _ends(link, nodes, ("links", index))
        yield from _shaping(link, ("links", index))
        yield from _queue(link, ("links", index))
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


def _queue(link: Link, where: Path) -> Iterator[Problem]:
    if not link.takes_time and link.queue.algorithm != "fifo":
        yield (*where, "queue"), "nothing waits before a link that sends at once; give it a rate"


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
    if flow.transport.kind not in flow.app.table["transports"]:
        sends = " or ".join(f"'{name}'" for name in flow.app.table["transports"])
        yield (*where, "transport"), f"a '{flow.app.kind}' source sends by {sends}"
    if flow.transport.kind == "tcp":
        controls = [*_native.congestion_controls(), *FOREIGN]
        cc = flow.transport.resolved().cc
        if cc not in controls:
            yield (*where, "transport", "cc"), f"there is no '{cc}'.{nearest(cc, controls)}"
        elif flow.transport.ecn == "ect1" and cc != "dctcp":
            yield (
                (*where, "transport", "ecn"),
                f"'ect1' is for a scalable congestion control; '{cc}' answers a mark as it "
                "answers a loss (RFC 9331); allowed with it: true, false",
            )
        known = {k: v for k, v in tcp_options().items() if k not in ("cc", "ecn", "ect1")}
        for key, value in flow.transport.options.items():
            at = (*where, "transport", "options", key)
            if key not in known:
                yield at, f"TCP has no option '{key}'.{nearest(key, known)}"
            elif isinstance(known[key], bool) != isinstance(value, bool):
                yield at, f"{value!r} is not of the kind of the default, {known[key]!r}"


def _record(scenario: Scenario, queues: Sequence[str]) -> Iterator[Problem]:
    for index, name in enumerate(scenario.record.queues):
        if name not in queues:
            yield (
                ("record", "queues", index),
                f"there is no link '{name}' with a rate.{nearest(name, queues)}",
            )
    if scenario.record.series == 0:
        yield ("record", "series"), "a grid of no time; allowed: more than 0 s"
    yield from _unique([w.name for w in scenario.record.windows], ("record", "windows"), ("name",))
    for index, window in enumerate(scenario.record.windows):
        at: Path = ("record", "windows", index)
        if window.from_ >= window.to:
            yield (*at, "to"), f"'{window.to}' is not later than its beginning, '{window.from_}'"
        if window.to > scenario.duration:
            yield (
                (*at, "to"),
                f"'{window.to}' is after the end; allowed: up to '{scenario.duration}'",
            )
