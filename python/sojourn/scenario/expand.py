# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Shorthand written out as a graph, and the recording that it implies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.core.units import Duration
from sojourn.scenario.lay import Laid, lay
from sojourn.scenario.record import WHOLE, Record, Window
from sojourn.scenario.shorthand import SHORTHANDS
from sojourn.scenario.traffic import Flow
from sojourn.scenario.transport import Tcp

if TYPE_CHECKING:
    from sojourn.scenario.model import Scenario


def expand(scenario: Scenario, laid: Laid | None = None) -> Scenario:
    """Write a scenario out as a graph with its recording filled in; a graph that has both stays
    equal. `laid` is the graph of its shorthand, where that is known already."""
    parts: dict[str, Any] = {}
    if scenario.shorthand:
        laid = laid or lay(scenario.shorthand)
        parts = dict.fromkeys(SHORTHANDS)
        parts |= {key: tuple(getattr(laid, key)) for key in ("nodes", "links", "flows")}
        names = list(laid.tested)
    else:
        # A utilisation needs a rate: links without one are not measured.
        names = [link.name for link in scenario.links if link.takes_time]
    links = parts.get("links", scenario.links)
    # `checks` refuses `tested` at a link that takes no time.
    tested = (link.name for link in links if link.queue.tested and link.takes_time)
    names += [name for name in tested if name not in names]
    flows = parts.get("flows", scenario.flows)
    parts["flows"] = tuple(_resolved(flow) for flow in flows)
    whole = Window(name=WHOLE, from_=Duration(0), to=scenario.duration)
    record = Record(
        queues=scenario.record.queues or tuple(names),
        windows=scenario.record.windows or (whole,),
        series=scenario.record.series,
        events=scenario.record.events,
        transfers=scenario.record.transfers,
    )
    return scenario.model_copy(update={**parts, "record": record})


def _resolved(flow: Flow) -> Flow:
    """Return the flow with every option of the TCP that it names."""
    if not isinstance(flow.transport, Tcp) or flow.transport.tcp is None:
        return flow
    return flow.model_copy(update={"transport": flow.transport.resolved()})
