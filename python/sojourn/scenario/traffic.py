# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Groups of flows: between two nodes of a graph, and in the networks that have a shorthand."""

from __future__ import annotations

from pydantic import Field, model_validator

from sojourn.core.units import Duration
from sojourn.scenario.apps import App, Bulk
from sojourn.scenario.base import Model, Name
from sojourn.scenario.hosts import LinuxFlows, SimFlows
from sojourn.scenario.links import OF_SIM
from sojourn.scenario.shorthand import SENDERS, Over
from sojourn.scenario.times import Times
from sojourn.scenario.transport import Tcp, Transport

_START = (
    "of all flows, with a random time within `start_spread` after it; or of each flow: a list, or "
    "a distribution, to which no spread is added"
)
_RTT = (
    "each flow's round trip without queues, where it is longer than the delays of its links: "
    "a time, a list, or a distribution"
)


class Traffic(Model):
    """Flows of one kind: `count` of them."""

    name: Name = Field("flow", description="of the group, in tables and files")
    count: int = Field(1, strict=True, ge=1, le=100_000, description="flows of the group")
    transport: Transport = Field(Tcp(), description="how they send")
    app: App = Field(Bulk(), description="what they send")
    start: Times = Field(Duration(0), description=_START)
    start_spread: Duration = Field(
        Duration("1 s"), description="each flow starts at a random time within this after `start`"
    )
    rtt: Times | None = Field(None, description=_RTT)
    stop: Duration | None = Field(
        None,
        description="time of the run at which sender and receiver vanish, with all that was not "
        "yet sent; unless given, they stay to the end",
    )
    sim: SimFlows = Field(SimFlows(), description=OF_SIM)
    linux: LinuxFlows = Field(
        LinuxFlows(),
        description="what only Linux has; the simulator takes no notice",
    )

    @model_validator(mode="before")
    @classmethod
    def _kinds(cls, data: object) -> object:
        """Accept a kind alone: `app = "bulk"` and `transport = "udp"`."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for key, default in (("transport", "tcp"), ("app", "bulk")):
            value = data.get(key)
            if isinstance(value, str):
                data[key] = {"kind": value}
            elif isinstance(value, dict) and "kind" not in value:
                data[key] = {"kind": default, **value}
        return data


class Flow(Traffic):
    """Traffic between two nodes; without a path it takes the one with the fewest links."""

    from_: Name = Field(alias="from", description="node that sends the data")
    to: Name = Field(description="node that receives it")
    path: tuple[Name, ...] | None = Field(
        None, description="links from the sender; unless given, the way with the fewest of them"
    )
    reverse_path: tuple[Name, ...] | None = Field(None, description="links back to it")


class Between(Traffic):
    """Traffic between nodes of a dumbbell; between several nodes its flows take the pairs in
    turn."""

    from_: Name = Field(SENDERS, alias="from", description="a node, or a whole side")
    to: Name | None = Field(None, description="a node or a side; unless given, the other side")
    first_pair: int = Field(
        1,
        strict=True,
        ge=1,
        description="of the pairs between two sides the one that the first flow takes",
    )


class Crossing(Traffic):
    """Traffic of a parking lot."""

    over: Over = Field(
        "all",
        description="`all`: from the first router to the last; `each`: `count` flows over each "
        "hop alone; `[1, 2]`: from the first of these hops to the last; `[2, 1]`: back over them",
    )
