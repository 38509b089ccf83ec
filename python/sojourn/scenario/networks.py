# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Networks that have a shorthand: dumbbell and parking lot. `lay` writes them out as graphs."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from sojourn.core.units import Duration, Rate, Size
from sojourn.scenario.base import Model
from sojourn.scenario.hosts import SimLink
from sojourn.scenario.links import (
    BURST,
    ETHERNET,
    JITTER,
    LINKLAYER,
    MOST_HEADER,
    MPU,
    OF_SIM,
    OPPORTUNITY,
    PROBE,
    SCHEDULE,
    SHAPER,
    TRACE,
    Burst,
    Header,
    Jitter,
    LinkLayer,
    Mpu,
    Queue,
    Step,
    Trace,
)
from sojourn.scenario.shorthand import RTTS, Back, Edge, Hop, RttStep, Side
from sojourn.scenario.traffic import Between, Crossing, Traffic


def _as_data(flows: object) -> object:
    """Convert flows that are made of bare `Traffic` to the data that TOML has."""
    if not isinstance(flows, list | tuple):
        return flows
    return [
        {key: getattr(flow, key) for key in flow.model_fields_set}
        if type(flow) is Traffic
        else flow
        for flow in flows
    ]


_HEADERS = (
    f"what every link with a rate counts beside each IP packet, up to {MOST_HEADER}; unless given, "
    "Ethernet's"
)
_MPUS = MPU.replace("it counts", "every link with a rate counts")
_LINKLAYERS = LINKLAYER.replace("it counts", "every link with a rate counts")


class Dumbbell(Model):
    """Shorthand: senders, one bottleneck named 'bottleneck', receivers."""

    key: ClassVar[str] = "dumbbell"
    rate: Rate | None = Field(None, description="of the bottleneck; this or `trace` is needed")
    rtt: Duration = Field(
        description="round trip without queues, half of it each way; delays of nodes are added"
    )
    rtts: tuple[RttStep, ...] = Field((), description=RTTS)
    aqm: Queue = Field(
        Queue(algorithm="fifo", rows={}), description="queue of the bottleneck, the one under test"
    )
    jitter: Jitter | None = Field(None, description=JITTER)
    shaper: Literal["wire", "tbf", "htb"] = Field("wire", description=SHAPER)
    burst: Burst = Field(Size("3028 B"), description=BURST)
    probe: Literal["echo", "experimental"] = Field("echo", description=PROBE)
    sim: SimLink = Field(SimLink(), description=OF_SIM)
    schedule: tuple[Step, ...] = Field((), description=SCHEDULE)
    trace: Trace | None = Field(None, description=TRACE)
    opportunity: Literal["bytes", "packet"] = Field("bytes", description=OPPORTUNITY)
    header: Header = Field(ETHERNET, description=_HEADERS)
    mpu: Mpu = Field(Size(0), description=_MPUS)
    linklayer: LinkLayer = Field("ethernet", description=_LINKLAYERS)
    back: Back = Field(Back(), description="the way back")
    senders: tuple[Side, ...] = Field(
        (), description="nodes in front of the bottleneck; unless given, one"
    )
    receivers: tuple[Side, ...] = Field(
        (), description="nodes behind the bottleneck; unless given, one"
    )
    flows: tuple[Between, ...] = Field((Between(),), description="from senders to receivers")

    @field_validator("flows", mode="before")
    @classmethod
    def _plain(cls, flows: object) -> object:
        return _as_data(flows)


class ParkingLot(Model):
    """Shorthand: routers in a row, a bottleneck between each two, and an end at both sides of each
    bottleneck."""

    key: ClassVar[str] = "parking_lot"
    hops: tuple[Hop, ...] = Field(description="bottlenecks, named 'hop 1', 'hop 2' and so on")
    header: Header = Field(ETHERNET, description=_HEADERS)
    mpu: Mpu = Field(Size(0), description=_MPUS)
    linklayer: LinkLayer = Field("ethernet", description=_LINKLAYERS)
    edges: Edge = Field(Edge(), description="links of all ends")
    flows: tuple[Crossing, ...] = Field((Crossing(),), description="from hop to hop")

    @field_validator("flows", mode="before")
    @classmethod
    def _plain(cls, flows: object) -> object:
        return _as_data(flows)

    def each_hop(self) -> list[tuple[int, Hop]]:
        """List every hop, with the number of its table."""
        return [(i, hop) for i, hop in enumerate(self.hops) for _ in range(hop.count)]


Shorthand = Dumbbell | ParkingLot
