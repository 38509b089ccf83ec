# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Shorthand written out: a dumbbell as a graph, and the recording it implies."""

from __future__ import annotations

from typing import Any

from sojourn.scenario.links import Link, Queue
from sojourn.scenario.model import (
    WHOLE,
    Dumbbell,
    Flow,
    Record,
    Scenario,
    Tcp,
    Traffic,
    Window,
)
from sojourn.units import Duration

# Beyond any congestion window: these queues are there to be crossed, not to drop.
_AMPLE = Queue(algorithm="fifo", rows={"limit": 1_000_000})


def expand(scenario: Scenario) -> Scenario:
    """A graph with its recording filled in; a graph that has both is returned as it is."""
    parts: dict[str, Any] = {}
    if scenario.dumbbell:
        parts = {
            "dumbbell": None,
            "nodes": ("sender", "router", "receiver"),
            "links": _links(scenario.dumbbell),
            "flows": tuple(_flows(scenario.dumbbell)),
        }
    flows = parts.get("flows", scenario.flows)
    parts["flows"] = tuple(_resolved(flow) for flow in flows)
    # A utilisation needs a rate: links without one are not measured.
    rated = [link.name for link in scenario.links if link.takes_time]
    names = ["bottleneck"] if scenario.dumbbell else rated
    whole = Window(name=WHOLE, from_=Duration(0), to=scenario.duration)
    record = Record(
        queues=scenario.record.queues or tuple(names),
        windows=scenario.record.windows or (whole,),
        series=scenario.record.series,
        events=scenario.record.events,
    )
    return scenario.model_copy(update={**parts, "record": record})


def _resolved(flow: Flow) -> Flow:
    """With every option of the TCP that it names."""
    if not isinstance(flow.transport, Tcp) or flow.transport.tcp is None:
        return flow
    return flow.model_copy(update={"transport": flow.transport.resolved()})


def _links(dumbbell: Dumbbell) -> tuple[Link, ...]:
    """The round trip time is half before and half after the receivers; jitter after the queue."""
    there = Duration(dumbbell.rtt // 2)
    back = Duration(dumbbell.rtt - there)
    return (
        Link(name="access", from_="sender", to="router", queue=_AMPLE),
        Link(
            name="bottleneck",
            from_="router",
            to="receiver",
            rate=dumbbell.rate,
            schedule=dumbbell.schedule,
            trace=dumbbell.trace,
            shaper=dumbbell.shaper,
            burst=dumbbell.burst,
            ring=dumbbell.ring,
            delay=there,
            jitter=dumbbell.jitter,
            queue=dumbbell.aqm,
        ),
        Link(name="back", from_="receiver", to="sender", delay=back, queue=_AMPLE),
    )


def _flows(dumbbell: Dumbbell) -> list[Flow]:
    return [
        Flow(from_="sender", to="receiver", **{k: getattr(traffic, k) for k in _TRAFFIC})
        for traffic in dumbbell.flows
    ]


_TRAFFIC = tuple(Traffic.model_fields)
