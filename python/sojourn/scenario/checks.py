# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The check that the parts of a scenario fit together. The engine has the rules of networks, flows
and records (`crates/sim/src/scenario`); this file has those that only a user's file can break. The
work grows with the length of the file, not with its square."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from sojourn import _native
from sojourn.core.errors import nearest
from sojourn.core.hosts import LINUX_CONTROLS, LINUX_ONLY_CONTROLS
from sojourn.core.units import Duration
from sojourn.scenario import trace
from sojourn.scenario.checks_engine import of_engine
from sojourn.scenario.checks_shorthand import of_shorthand, stand_in
from sojourn.scenario.hosts import Options
from sojourn.scenario.lay import lay
from sojourn.scenario.links import FRAME, TESTED
from sojourn.scenario.problem import Path, Problem, of_trace

if TYPE_CHECKING:
    from sojourn.scenario.links import Link
    from sojourn.scenario.model import Scenario
    from sojourn.scenario.traffic import Traffic

# More would hide the first, and each search for a nearest name takes its time.
MOST_PROBLEMS = 20


def problems(scenario: Scenario) -> list[Problem]:
    """List the problems; the searches stop after `MOST_PROBLEMS` and one."""
    most = MOST_PROBLEMS + 1
    of, laid = scenario.shorthand, None
    found: list[Problem] = []
    if of:
        found = list(islice(of_shorthand(scenario), most))
        if found:
            # A shorthand with problems has no graph; its flows and record are checked without one.
            found += islice(_own(scenario), most)
            known = [path for path, _ in found]
            rest = of_engine(scenario, stand_in(of), known, most)
            return [*found, *(problem for problem in rest if _of_any_network(problem[0], of.key))]
        laid = lay(of)
        each = enumerate(laid.links)
        found = list(
            {laid.written(at): why for i, link in each for at, why in _queue(link, i)}.items()
        )
    found += islice(_own(scenario), most)
    return found + of_engine(scenario, laid, [path for path, _ in found], most)


def _of_any_network(path: Path, key: str) -> bool:
    """Tell whether a problem has nothing to do with nodes and links."""
    of_flows = path[:2] == (key, "flows") and "rtt" not in path
    return of_flows or path[0] == "duration" or path[:2] == ("record", "windows")


def _own(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems that the engine cannot see: of the file's form, and of congestion controls and
    queues that only Linux has."""
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
    if scenario.record.series == 0:
        yield ("record", "series"), "a grid of no time; allowed: more than 0 s"


def _traces(scenario: Scenario) -> bool:
    links = [scenario.dumbbell] if scenario.dumbbell else scenario.links
    return any(link.trace for link in links)


def _graph(scenario: Scenario) -> Iterator[Problem]:
    if not scenario.nodes:
        yield ("nodes",), "no nodes: give nodes, links and flows, or a [dumbbell]"
    for index, link in enumerate(scenario.links):
        yield from of_trace(link, ("links", index))
        yield from _frame(link, index)
        yield from _queue(link, index)
    if not scenario.flows:
        yield ("flows",), "no flows"


def _frame(link: Link, index: int) -> Iterator[Problem]:
    """Yield the keys of a packet's length at a link without a rate. The engine has this rule too,
    but does not see a key with its default value."""
    if link.takes_time:
        return
    for key in FRAME.keys() & link.model_fields_set:
        reason = "a packet takes no time here, however long it is; give a rate"
        yield ("links", index, key), reason


_NOTHING_WAITS = "nothing waits before a link that sends at once; give it a rate"


def _queue(link: Link, index: int) -> Iterator[Problem]:
    if not link.takes_time and link.queue.algorithm != "fifo":
        yield (
            ("links", index, "queue"),
            _NOTHING_WAITS,
        )
    elif not link.takes_time and link.queue.tested:
        yield ("links", index, "queue", TESTED), _NOTHING_WAITS


@functools.cache
def tcp_options() -> dict[str, object]:
    """Return every switch of the TCP with its default."""
    options: dict[str, object] = json.loads(_native.tcp_options())
    return options


@functools.cache
def _switches() -> dict[str, object]:
    """Return the switches that `options` may hold."""
    return {k: v for k, v in tcp_options().items() if k not in ("cc", "ecn", "ect1")}


@functools.cache
def _controls() -> list[str]:
    """List every congestion control of a host."""
    return [*_native.congestion_controls(), *LINUX_ONLY_CONTROLS]


def _flow(flow: Traffic, where: Path) -> Iterator[Problem]:
    if not isinstance(flow.start, Duration) and "start_spread" in flow.model_fields_set:
        yield (*where, "start_spread"), "each flow's start is given: leave this out"
    if flow.transport.kind == "tcp":
        controls = _controls()
        cc = flow.transport.resolved().cc
        if cc not in controls:
            yield (*where, "transport", "cc"), f"there is no '{cc}'.{nearest(cc, controls)}"
        elif flow.linux.cc and flow.linux.cc not in LINUX_CONTROLS:
            reason = f"the kernel has no '{flow.linux.cc}'.{nearest(flow.linux.cc, LINUX_CONTROLS)}"
            yield (*where, "linux", "cc"), reason
        elif flow.transport.ecn == "ect1" and cc != "dctcp":
            yield (
                (*where, "transport", "ecn"),
                f"'ect1' is for a scalable congestion control; '{cc}' answers a mark as it "
                "answers a loss (RFC 9331); allowed with it: true, false",
            )
        yield from _options(flow.transport.options, (*where, "transport"))
        yield from _options(flow.sim.options, (*where, "sim"))
    elif flow.sim.options or flow.linux.cc or flow.linux.sysctls:
        key = "sim" if flow.sim.options else "linux"
        yield (*where, key), "datagrams have no TCP to be set: leave this out"


def _options(options: Options, where: Path) -> Iterator[Problem]:
    """Check switches of TCP: their names, and the kinds of their values."""
    known = _switches() if options else {}
    for key, value in options.items():
        at = (*where, "options", key)
        if key not in known:
            yield at, f"TCP has no option '{key}'.{nearest(key, known)}"
        elif isinstance(known[key], bool) != isinstance(value, bool):
            yield at, f"{value!r} is not of the kind of the default, {known[key]!r}"
