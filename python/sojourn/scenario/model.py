# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a scenario is made of. Each key means the same in TOML, in Python and in the schema.

A scenario is a directed graph: nodes, links (a queue and a shaper at the sending end of each),
flows along paths, and windows of time over which the queues named in `record` are measured.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from sojourn import algorithms, preset, tcp_preset, units
from sojourn.algorithms import Value
from sojourn.errors import InputError
from sojourn.scenario import cables, trace
from sojourn.scenario.apps import App, Bulk
from sojourn.scenario.base import Kind, Model
from sojourn.scenario.times import Times
from sojourn.units import Duration, Rate, Share, Size

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _./-]*$", max_length=80)]
# Of the scenario; files of each older one go on being read.
NEWEST: Literal[2] = 2
# A window of the whole run, where none is written.
WHOLE = "whole run"


class Queue(Model):
    """An algorithm and the rows it is set to, in canonical units."""

    algorithm: str = "fifo"
    rows: dict[str, int] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: object) -> object:
        if isinstance(data, Queue):
            return data
        if isinstance(data, str):
            data = {"algorithm": data}
        if not isinstance(data, dict) or not isinstance(data.get("rows", {}), dict):
            reason = 'write a queue as { algorithm = "codel", target = "5 ms" }'
            raise PydanticCustomError("queue", "{reason}", {"reason": reason})
        name = str(data.get("algorithm", "fifo"))
        values = {key: value for key, value in data.items() if key not in ("algorithm", "rows")}
        given = dict(data.get("rows", {}))
        try:
            name, chosen = preset.find(name)
        except Exception as error:
            raise PydanticCustomError(
                "row", "{reason}", {"reason": str(error), "key": "algorithm"}
            ) from error
        if chosen:
            values = {k: v for k, v in chosen.rows.items() if k not in given} | values
        try:
            rows = given | algorithms.read_rows(name, values)
        except units.UnitError as error:
            key, _, reason = str(error).partition(": ")
            raise PydanticCustomError(
                "row", "{reason}", {"reason": reason or key, "key": key if reason else None}
            ) from error
        return {"algorithm": name, "rows": rows}

    @model_serializer
    def _write(self) -> dict[str, Value]:
        known = algorithms.rows_of(self.algorithm)
        return {"algorithm": self.algorithm} | {
            key: known[key].write(number) for key, number in self.rows.items()
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        every = algorithms.every().values()
        names = [a.name for a in sorted(every, key=lambda a: (a.alone, a.name))]
        names += preset.presets()
        file = {"type": "string", "pattern": r"\.c$", "description": "a file of your own"}
        shared: dict[str, object] = {
            row.name: {"description": row.help} for row in algorithms.queue_rows().values()
        }
        return {
            "title": "Queue",
            "description": "An algorithm with its parameters; `sojourn show NAME` lists them.",
            "anyOf": [
                {"type": "string", "enum": names},
                file,
                {
                    "type": "object",
                    "properties": {
                        "algorithm": {"anyOf": [{"enum": names}, file], "default": "fifo"}
                    }
                    | shared,
                    "additionalProperties": {"type": ["string", "number", "boolean"]},
                },
            ],
        }


class Jitter(Model):
    """Random extra delay, drawn for each packet, as netem does.

    Packets keep their order, as netem's do when it has a rate, and a late one holds up those
    behind it. With `reorder` each leaves when its own time has come, as netem's do without a rate.
    """

    distribution: Literal["normal", "uniform"] = Field("normal", description="form")
    sd: Duration = Field(description="standard deviation, or half the width of a uniform one")
    reorder: StrictBool = Field(False, description="a packet may overtake another")


class Step(Model):
    """From `at` on, the link has this rate."""

    at: Duration = Field(description="time of the run")
    rate: Rate = Field(description="from then on")


def _read_trace(value: object) -> object:
    """Times in ms, or the name of a file that holds them."""
    try:
        if isinstance(value, str):
            return trace.read(Path(value))
        if isinstance(value, list | tuple) and all(type(time) is int for time in value):
            return trace.checked(value)
    except ValueError as error:
        raise PydanticCustomError("queue", "{reason}", {"reason": str(error)}) from error
    reason = "write the name of a file in mahimahi's format, or a list of times in ms"
    raise PydanticCustomError("queue", "{reason}", {"reason": reason})


Trace = Annotated[
    tuple[int, ...],
    BeforeValidator(
        _read_trace,
        json_schema_input_type=Annotated[
            str | list[int], Field(description="a file in mahimahi's format, or its times in ms")
        ],
    ),
]


# One sentence for each key that a link and the shorthand share.
_SCHEDULE = "later rates: from each `at` on, in place of `rate` or the step before"
_TRACE = "in place of `rate`: the moments at which one packet each may leave"
_SHAPER = "how `rate` is kept: by the wire itself, or as Linux's tbf or htb does"
_BURST = "token bucket of tbf and htb"
_RING = "packets in the driver ring below the queue (simulator)"
_RESPONDER = "node that answers probes of the queue's algorithm; unless given, the far end"
_JITTER = "random delay of each packet, added to the constant one behind the queue"


class _Direction(Model):
    """What packets of one direction pass: queue, shaper, wire."""

    rate: Rate | None = Field(None, description="without it, packets take no time to send")
    schedule: tuple[Step, ...] = Field((), description=_SCHEDULE)
    trace: Trace | None = Field(None, description=_TRACE)
    shaper: Literal["wire", "tbf", "htb"] = Field("wire", description=_SHAPER)
    burst: Size = Field(Size("3028 B"), description=_BURST)
    ring: int = Field(0, strict=True, ge=0, le=65536, description=_RING)
    delay: Duration = Field(Duration(0), description="time on the wire")
    jitter: Jitter | None = Field(None, description=_JITTER)
    loss: Share = Field(Share(0.0), description="packets lost on the wire, at random")
    queue: Queue = Field(Queue(algorithm="fifo", rows={}), description="at the sending end")
    responder: Name | None = Field(None, description=_RESPONDER)


class _Ends(Model):
    """A name and two nodes."""

    name: Name = Field(description="unique among the links")
    from_: Name = Field(alias="from", description="node at the sending end")
    to: Name = Field(description="node at the receiving end")


class Link(_Direction, _Ends):
    """One direction of a link: queue, shaper, wire."""

    @property
    def takes_time(self) -> bool:
        """Packets take time to send: its queue can be measured."""
        return self.rate is not None or self.trace is not None


class _Cabled(Model):
    """A name and both nodes."""

    name: Name = Field(description="of the link from the first node; 'NAME back' is the other's")
    between: tuple[Name, Name] = Field(description="nodes at the two ends")


class Cable(_Direction, _Cabled):
    """Both directions of a link, declared once: links NAME and 'NAME back' (format 2)."""

    back: _Direction | None = Field(None, description="keys of the direction back that are unlike")


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
    send_jitter: Duration | None = Field(
        None,
        description="random delay of the sender; unless given, one packet time of the path "
        "(simulator)",
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


class Dumbbell(Model):
    """Shorthand: senders, one bottleneck named 'bottleneck', receivers."""

    rate: Rate | None = Field(None, description="of the bottleneck; this or `trace` is needed")
    rtt: Duration = Field(description="round trip without queues, half of it each way")
    aqm: Queue = Field(
        Queue(algorithm="fifo", rows={}), description="queue of the bottleneck, the one under test"
    )
    jitter: Jitter | None = Field(None, description=_JITTER)
    shaper: Literal["wire", "tbf", "htb"] = Field("wire", description=_SHAPER)
    burst: Size = Field(Size("3028 B"), description=_BURST)
    ring: int = Field(0, strict=True, ge=0, le=65536, description=_RING)
    schedule: tuple[Step, ...] = Field((), description=_SCHEDULE)
    trace: Trace | None = Field(None, description=_TRACE)
    flows: tuple[Traffic, ...] = Field((Traffic(),), description="from the sender to the receiver")


class Scenario(Model):
    """A network, its traffic, and what to record."""

    format: Literal[1, 2] = Field(NEWEST, description="of the file")
    name: Name = Field(description="in tables and files")
    description: str = Field("", description="for people")
    duration: Duration = Field(description="length of the run")
    nodes: tuple[Name, ...] = Field((), description="names")
    one_host: bool = Field(False, description="one kernel counts the jiffies of all nodes")
    links: tuple[Link, ...] = Field((), description="in one direction each")
    cables: tuple[Cable, ...] = Field((), description="laid as two links each where they are read")
    flows: tuple[Flow, ...] = Field((), description="the traffic")
    record: Record = Field(Record(), description="what is measured")
    dumbbell: Dumbbell | None = Field(None, description="in place of nodes, links and flows")

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

    def expand(self) -> Scenario:
        """The same scenario as a plain graph, with every default of the recording filled in."""
        from sojourn.scenario.expand import expand

        return expand(self)

    def to_engine(self) -> dict[str, Any]:
        """What the engine reads: the graph in base units."""
        from sojourn.scenario.engine import to_engine

        return to_engine(self.expand())

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
