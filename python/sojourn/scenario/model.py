# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a scenario is made of. Each key means the same in TOML, in Python and in the schema.

A scenario is a directed graph: nodes, links (a queue and a shaper at the sending end of each),
flows along paths, and windows of time over which the queues named in `record` are measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sojourn import tcp_preset
from sojourn.errors import InputError
from sojourn.scenario import cables
from sojourn.scenario.apps import App, Bulk
from sojourn.scenario.base import Kind, Model, Name
from sojourn.scenario.hosts import LinuxFlows, LinuxHost, SimFlows, SimLink
from sojourn.scenario.links import (
    BURST,
    ETHERNET,
    JITTER,
    OF_SIM,
    RING,
    SCHEDULE,
    SHAPER,
    TRACE,
    Cable,
    Jitter,
    Link,
    Queue,
    Step,
    Trace,
)
from sojourn.scenario.shorthand import RTTS, SENDERS, Back, Edge, Hop, Over, RttStep, Side
from sojourn.scenario.times import Times
from sojourn.units import Duration, Rate, Size

# Of the scenario; files of each older one go on being read.
NEWEST: Literal[2] = 2
# A window of the whole run, where none is written.
WHOLE = "whole run"


def _read_ecn(value: object) -> object:
    """True, False or the word; 1 and 0 are neither."""
    if isinstance(value, bool) or value == "ect1":
        return value
    reason = f"{value!r} is not true, false or 'ect1'"
    raise PydanticCustomError("ecn", "{reason}", {"reason": reason})


_ECN = "true: packets carry ECT(0); 'ect1': ECT(1), the mark of L4S traffic, with dctcp"
Ecn = Annotated[bool | Literal["ect1"], BeforeValidator(_read_ecn)]


_TCP = "the TCP of a system and its age, such as 'linux_3_9'; keys beside it override its own"


class Tcp(Kind):
    """TCP as Linux 6.12 has it, or of another age; `options` are switches to other forms."""

    kind: Literal["tcp"] = Field("tcp", description="which it is")
    tcp: str | None = Field(None, description=_TCP)
    cc: str = Field("cubic", description="congestion control; unless given, that of `tcp`")
    ecn: Ecn = Field(False, description=_ECN)
    options: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="switches of TCP by the names of tcp.md"
    )

    @field_validator("tcp")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        try:
            return name and tcp_preset.find(name).name
        except InputError as error:
            raise PydanticCustomError("row", "{reason}", {"reason": str(error)}) from error

    def resolved(self) -> Tcp:
        """With every key of its preset; those that are given here stay."""
        if self.tcp is None:
            return self
        of = tcp_preset.find(self.tcp)
        cc = self.cc if "cc" in self.model_fields_set else of.cc
        return self.model_copy(update={"cc": cc, "options": {**of.options, **self.options}})

    def assumed(self) -> list[str]:
        """Options of which the preset speaks and not the file: a host that cannot set them runs
        without them."""
        given = tcp_preset.find(self.tcp).options if self.tcp else {}
        return sorted(key for key, value in self.options.items() if given.get(key) == value)


class Udp(Kind):
    """UDP: no answer to loss."""

    kind: Literal["udp"] = Field("udp", description="which it is")


Transport = Annotated[Tcp | Udp, Field(discriminator="kind")]


_START = (
    "of all flows, with a random time within `start_spread` after it; or of each flow: a list, or "
    "a distribution, to which no spread is added (format 2)"
)
_RTT = (
    "each flow's round trip without queues, where it is longer than the delays of its links: "
    "a time, a list, or a distribution (format 2)"
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
    send_jitter: Duration | None = Field(None, description="as `sim.send_jitter`, in format 1")
    sim: SimFlows = Field(SimFlows(), description=OF_SIM)
    linux: LinuxFlows = Field(
        LinuxFlows(),
        description="what only Linux has; the simulator takes no notice (format 2)",
    )

    @model_validator(mode="before")
    @classmethod
    def _kinds(cls, data: object) -> object:
        """`app = "bulk"` and `transport = "udp"` for those that need no more."""
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
        None, description="links from the sender; unless given, the way with the fewest"
    )
    reverse_path: tuple[Name, ...] | None = Field(None, description="links back to it")


class Between(Traffic):
    """Traffic between nodes of a dumbbell; of several, its flows go from each to each in turn."""

    from_: Name = Field(SENDERS, alias="from", description="a node, or a whole side")
    to: Name | None = Field(None, description="a node or a side; unless given, the other side")


class Crossing(Traffic):
    """Traffic of a parking lot."""

    over: Over = Field(
        "all",
        description="`all`: from the first router to the last; `each`: `count` flows over each "
        "hop alone; `[1, 2]`: from the first of these hops to the last; `[2, 1]`: back over them",
    )


class Window(Model):
    """Metrics are computed over a window of time."""

    name: Name = Field(description="in tables and files")
    from_: Duration = Field(alias="from", description="its begin, and what happens just then")
    to: Duration = Field(description="its end, without what happens just then")


class Record(Model):
    """What is measured."""

    queues: tuple[Name, ...] = Field(
        (), description="links whose queues are measured; unless given, all with a rate or a trace"
    )
    windows: tuple[Window, ...] = Field(
        (), description="spans of time of the metrics; unless given, the whole run"
    )
    series: Duration = Field(Duration("100 ms"), description="grid of the time series")
    events: StrictBool = Field(False, description="keep every packet's passage through the queues")
    transfers: StrictBool = Field(False, description="keep every transfer")


def _as_data(flows: object) -> object:
    """Flows as TOML has them, where they are made of plain `Traffic`."""
    if not isinstance(flows, list | tuple):
        return flows
    return [
        {key: getattr(flow, key) for key in flow.model_fields_set}
        if type(flow) is Traffic
        else flow
        for flow in flows
    ]


_HEADERS = (
    "what every link with a rate counts beside each IP packet; unless given, Ethernet's (format 2)"
)
_IN_PLACE = "in place of nodes, links and flows"


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
    burst: Size = Field(Size("3028 B"), description=BURST)
    ring: int = Field(0, strict=True, ge=0, le=65536, description=RING)
    sim: SimLink = Field(SimLink(), description=OF_SIM)
    schedule: tuple[Step, ...] = Field((), description=SCHEDULE)
    trace: Trace | None = Field(None, description=TRACE)
    header: Size = Field(ETHERNET, description=_HEADERS)
    back: Back = Field(Back(), description="the way back")
    senders: tuple[Side, ...] = Field(
        (), description="nodes in front of the bottleneck; unless given, one (format 2)"
    )
    receivers: tuple[Side, ...] = Field(
        (), description="nodes behind the bottleneck; unless given, one (format 2)"
    )
    flows: tuple[Between, ...] = Field((Between(),), description="from senders to receivers")

    @field_validator("flows", mode="before")
    @classmethod
    def _plain(cls, flows: object) -> object:
        return _as_data(flows)


class ParkingLot(Model):
    """Shorthand: routers in a row, a bottleneck between each two, and an end at each side of each
    (format 2)."""

    key: ClassVar[str] = "parking_lot"
    hops: tuple[Hop, ...] = Field(description="bottlenecks, named 'hop 1', 'hop 2' and so on")
    header: Size = Field(ETHERNET, description=_HEADERS)
    edges: Edge = Field(Edge(), description="links of all ends")
    flows: tuple[Crossing, ...] = Field((Crossing(),), description="from hop to hop")

    @field_validator("flows", mode="before")
    @classmethod
    def _plain(cls, flows: object) -> object:
        return _as_data(flows)

    def each_hop(self) -> list[tuple[int, Hop]]:
        """Every hop, with the number of its table."""
        return [(i, hop) for i, hop in enumerate(self.hops) for _ in range(hop.count)]


class DualTransmitter(Model):
    """Shorthand: two senders and two receivers, each pair at a switch of its own; the link from the
    router to the receivers' switch is the bottleneck (format 2)."""

    key: ClassVar[str] = "dual_transmitter"
    rate: Rate = Field(description="of the bottleneck")
    rtt: Duration = Field(description="round trip of the bottleneck, half of it each way")
    aqm: Queue = Field(Queue(algorithm="fifo", rows={}), description="queue under test")
    jitter: Jitter | None = Field(None, description=JITTER)
    sim: SimLink = Field(SimLink(), description=OF_SIM)
    header: Size = Field(ETHERNET, description=_HEADERS)
    back: Back = Field(Back(), description="the way back")
    edges: Edge = Field(
        Edge(), description="links of the ends; that of the senders' switch has the same rate"
    )
    flows: tuple[Between, ...] = Field((Between(),), description="from senders to receivers")

    @field_validator("flows", mode="before")
    @classmethod
    def _plain(cls, flows: object) -> object:
        return _as_data(flows)


Shorthand = Dumbbell | ParkingLot | DualTransmitter


class Scenario(Model):
    """A network, its traffic, and what to record."""

    format: Literal[1, 2] = Field(NEWEST, description="of the file")
    name: Name = Field(description="in tables and files")
    description: str = Field("", description="for people")
    duration: Duration = Field(description="length of the run")
    nodes: tuple[Name, ...] = Field((), description="names")
    one_host: bool = Field(False, description="one kernel counts the jiffies of all nodes")
    linux: LinuxHost = Field(
        LinuxHost(), description="what only Linux has; the simulator takes no notice (format 2)"
    )
    links: tuple[Link, ...] = Field((), description="in one direction each")
    cables: tuple[Cable, ...] = Field((), description="laid as two links each where they are read")
    flows: tuple[Flow, ...] = Field((), description="the traffic")
    record: Record = Field(Record(), description="what is measured")
    dumbbell: Dumbbell | None = Field(None, description=_IN_PLACE)
    parking_lot: ParkingLot | None = Field(None, description=_IN_PLACE)
    dual_transmitter: DualTransmitter | None = Field(None, description=_IN_PLACE)

    @model_validator(mode="before")
    @classmethod
    def _lay(cls, data: object) -> object:
        if not isinstance(data, dict) or not data.get("cables"):
            return data
        if data.get("format", NEWEST) == 1:
            raise cables.error(("cables",), "cables need format = 2")
        return cables.lay(data)

    @model_validator(mode="after")
    def _check(self) -> Self:
        from sojourn.scenario.checks import problems

        found = problems(self)
        if found:
            said = "; ".join(reason for _, reason in found)
            raise PydanticCustomError("graph", "{reason}", {"reason": said, "problems": found})
        return self

    @property
    def shorthand(self) -> Shorthand | None:
        """The first network that is written as one."""
        return self.dumbbell or self.parking_lot or self.dual_transmitter

    def expand(self) -> Scenario:
        """The same scenario as a plain graph, with every default of the recording filled in."""
        from sojourn.scenario.expand import expand

        return expand(self)

    def to_engine(self, host: str = "sim") -> dict[str, Any]:
        """What the engine, or another host, reads: the graph in base units."""
        from sojourn.scenario.engine import to_engine

        return to_engine(self.expand(), host)

    def to_toml(self) -> str:
        """TOML that reads back to an equal scenario."""
        from sojourn.scenario.toml import dumps

        return dumps(self)

    def to_data(self) -> dict[str, Any]:
        """What its TOML file holds; defaults are left out."""
        data = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {"format": self.format, **data}

    def replace(self, change: Callable[[dict[str, Any]], None]) -> Scenario:
        """A changed copy: `change` edits the data a TOML file would hold."""
        data = self.to_data()
        change(data)
        return Scenario.model_validate(data)
