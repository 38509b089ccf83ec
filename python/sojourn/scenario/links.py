# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Links: a queue and a shaper at the sending end, and the wire behind them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as File
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field, StrictBool

from sojourn.core.units import Duration, Rate, Share, Size
from sojourn.scenario import trace
from sojourn.scenario.ends import EndKey
from sojourn.scenario.parts import Model, Name, Path, Problem, refusal
from sojourn.scenario.queues import BurstKey, Queue, ScheduleKey, ShaperKey, up_to

if TYPE_CHECKING:
    from sojourn.scenario.networks.dumbbell import Dumbbell


# The part of a frame that a queueing discipline sees beside the IP packet.
ETHERNET = Size("14 B")
# What the wire carries beside it: header (14), checksum (4), preamble (8) and gap (12).
_NAMED_HEADERS = {"ethernet": Size("38 B")}


class Jitter(Model):
    """Random extra delay, drawn for each packet, as netem does.

    Packets keep their order, as netem's do when it has a rate, and a late one holds up those
    behind it. With `reorder` each leaves when its own time has come, as netem's do without a rate.
    """

    distribution: Literal["normal", "uniform"] = Field("normal", description="form")
    sd: Duration = Field(description="standard deviation, or half the width of a uniform one")
    reorder: StrictBool = Field(False, description="a packet may overtake another")


class DelayStep(Model):
    """From `at` on, packets that are sent have this delay."""

    at: Duration = Field(description="time of the run")
    delay: Duration = Field(description="time on the wire, from then on")


def _read_trace(value: object) -> object:
    """Read a trace: times in ms, or the name of a file that holds them."""
    try:
        if isinstance(value, str) and value:
            return trace.read(File(value))
        if isinstance(value, list | tuple) and all(type(time) is int for time in value):
            return trace.checked(value)
    except ValueError as error:
        raise refusal(error) from error
    raise refusal("write the name of a file in mahimahi's format, or a list of times in ms")


Trace = Annotated[
    tuple[int, ...],
    BeforeValidator(
        _read_trace,
        json_schema_input_type=Annotated[
            str | list[int], Field(description="a file in mahimahi's format, or its times in ms")
        ],
    ),
]


# The engine has the same bounds.
MOST_HEADER, MOST_MPU = Size("256 B"), Size("1514 B")

DELAYS = (
    "later delays: from each `at` on, in place of `delay` or the one before; packets under way "
    "keep theirs"
)
_OPPORTUNITY = (
    "each moment of `trace` lets 1,504 `bytes` leave, as in mahimahi, or one `packet` of any size"
)
OF_SIM = "what only the simulator has; Linux takes no notice"
_HEADER = (
    "what {} counts beside each IP packet, up to {}; `ethernet` is 38 B, all that a packet takes "
    "of an Ethernet; unless given, the header of Ethernet alone"
)
_MPU = (
    "the least that {} counts of a packet, `header` included: tc's `mpu`, up to a full packet, {}"
)
_LINKLAYER = "`atm`: {} counts whole cells, 53 bytes for 48 of packet and `header`"
_PROBE = (
    "what the probes of the queue's algorithm are: echo requests, or packets of an experimental "
    "protocol; in the simulator both are one packet"
)
_EACH = "every link with a rate"


class SimLink(Model):
    """Keys of a link that only the simulator has."""

    ring: int = Field(
        0,
        strict=True,
        ge=0,
        le=65536,
        description="packets in the driver ring below the queue, where no algorithm sees them",
    )


# Keys of a link's one queue and its shaper, in whose place `end` is.
OF_ONE_QUEUE = (
    *("rate", "schedule", "trace", "opportunity", "shaper", "burst", "sim", "queue", "responder"),
)


# Keys that a link shares with the networks that have a shorthand.
RateKey = Annotated[Rate | None, Field(description="without it, packets take no time to send")]
TraceKey = Annotated[
    Trace | None,
    Field(description="in place of `rate`: the moments at which packets may leave"),
]
OpportunityKey = Annotated[Literal["bytes", "packet"], Field(description=_OPPORTUNITY)]
SimKey = Annotated[SimLink, Field(description=OF_SIM)]
JitterKey = Annotated[
    Jitter | None,
    Field(description="random delay of each packet, added to the constant one behind the queue"),
]
LossKey = Annotated[Share, Field(description="packets lost on the wire, at random")]
ProbeKey = Annotated[Literal["echo", "experimental"], Field(description=_PROBE)]
# Keys of the length that a link counts of a packet, with their defaults. Those of a network are
# `Framed`.
FRAME = {"header": ETHERNET, "mpu": Size(0), "linklayer": "ethernet"}
_Header = Annotated[
    Size,
    BeforeValidator(
        lambda value: _NAMED_HEADERS.get(value, value) if isinstance(value, str) else value,
        json_schema_input_type=Literal["ethernet"] | Size,
    ),
    up_to(MOST_HEADER),
]
_Mpu = Annotated[Size, up_to(MOST_MPU)]
_LinkLayer = Literal["ethernet", "atm"]
FramedHeader = Annotated[_Header, Field(description=_HEADER.format(_EACH, MOST_HEADER))]
FramedMpu = Annotated[_Mpu, Field(description=_MPU.format(_EACH, MOST_MPU))]
FramedLinkLayer = Annotated[_LinkLayer, Field(description=_LINKLAYER.format(_EACH))]
_RESPONDER = "node that answers probes of the queue's algorithm; unless given, the far end"


class Direction(Model):
    """The way of packets in one direction: queue, shaper, wire."""

    rate: RateKey = None
    schedule: ScheduleKey = ()
    trace: TraceKey = None
    opportunity: OpportunityKey = "bytes"
    shaper: ShaperKey = "wire"
    burst: BurstKey = Size("3028 B")
    header: _Header = Field(ETHERNET, description=_HEADER.format("the link", MOST_HEADER))
    mpu: _Mpu = Field(Size(0), description=_MPU.format("it", MOST_MPU))
    linklayer: _LinkLayer = Field("ethernet", description=_LINKLAYER.format("it"))
    sim: SimKey = SimLink()
    delay: Duration = Field(Duration(0), description="time on the wire")
    delays: tuple[DelayStep, ...] = Field((), description=DELAYS)
    jitter: JitterKey = None
    loss: LossKey = Share(0.0)
    queue: Queue = Field(Queue(algorithm="fifo", rows={}), description="at the sending end")
    end: EndKey = ()
    responder: Name | None = Field(None, description=_RESPONDER)
    probe: ProbeKey = "echo"


class _Ends(Model):
    """A name and two nodes."""

    name: Name = Field(description="unique among the links")
    from_: Name = Field(alias="from", description="node at the sending end")
    to: Name = Field(description="node at the receiving end")


class Link(Direction, _Ends):
    """One direction of a link: queue, shaper, wire."""

    @property
    def takes_time(self) -> bool:
        """Tell whether packets take time to send; only then can its queue be measured."""
        return self.rate is not None or self.trace is not None or bool(self.end)


def framed(table: object) -> dict[str, Size | str]:
    """Return the keys of a packet's length that a link or a shorthand sets."""
    return {key: value for key in FRAME if (value := getattr(table, key)) != FRAME[key]}


def trace_problems(link: Link | Dumbbell, place: Path) -> Iterator[Problem]:
    """Yield the keys that do not go with a trace. The engine has moments and their mean rate, and
    no trace."""
    if link.trace is None:
        if "opportunity" in link.model_fields_set:
            yield (*place, "opportunity"), "goes with a trace: leave this out"
        return
    given = {("rate",): link.rate, ("schedule",): link.schedule, ("sim", "ring"): link.sim.ring}
    for path, value in given.items():
        if value:
            yield (*place, *path), "a trace says when packets leave: leave this out"
    for key in FRAME.keys() & link.model_fields_set:
        yield (*place, key), "a trace counts the packets as mahimahi does: leave this out"
    if link.shaper != "wire":
        yield (*place, "shaper"), "a trace says when packets leave: only 'wire' goes with it"
