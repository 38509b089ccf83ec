# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Links: a queue and a shaper at the sending end, and the wire behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from sojourn import algorithms
from sojourn.core import units
from sojourn.core.rows import Value
from sojourn.core.units import Duration, Rate, Share, Size
from sojourn.scenario import trace
from sojourn.scenario.base import Model, Name
from sojourn.scenario.hosts import SimLink

# The title of an algorithm's name in the schema.
ALGORITHM = "Algorithm"
# A key of a queue that is no row of its algorithm.
TESTED = "tested"
_TESTED = (
    "this queue is under test: `--aqm` and `--set` reach it. Where no queue says so, all that are "
    "recorded are"
)


class Queue(Model):
    """An algorithm, and values of its parameters by the names that `sojourn show` lists."""

    algorithm: str = Field("fifo", description="a name alone takes every default")
    # In canonical units.
    rows: dict[str, int] = Field(default_factory=dict)
    tested: StrictBool = Field(False, description=_TESTED)

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
        values = {key: value for key, value in data.items() if key not in Queue.model_fields}
        given = dict(data.get("rows", {}))
        try:
            name, chosen = algorithms.find_preset(name)
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
        return {"algorithm": name, "rows": rows, TESTED: data.get(TESTED, False)}

    @model_serializer
    def _write(self) -> dict[str, Value]:
        known = algorithms.rows_of(self.algorithm)
        rows = {key: known[key].write(number) for key, number in self.rows.items()}
        return {"algorithm": self.algorithm, **({TESTED: True} if self.tested else {}), **rows}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        every = algorithms.every().values()
        names = [a.name for a in sorted(every, key=lambda a: (a.alone, a.name))]
        names += algorithms.presets()
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
                        "algorithm": {
                            "title": ALGORITHM,
                            "anyOf": [{"enum": names}, file],
                            "default": "fifo",
                        },
                        TESTED: {"type": "boolean", "default": False, "description": _TESTED},
                    }
                    | shared,
                    "additionalProperties": {"type": ["string", "number", "boolean"]},
                },
            ],
        }


# The part of a frame that a queueing discipline sees beside the IP packet.
ETHERNET = Size("14 B")


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


class DelayStep(Model):
    """From `at` on, packets that are sent have this delay."""

    at: Duration = Field(description="time of the run")
    delay: Duration = Field(description="time on the wire, from then on")


def _read_trace(value: object) -> object:
    """Read a trace: times in ms, or the name of a file that holds them."""
    try:
        if isinstance(value, str) and value:
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


def _up_to(most: Size) -> AfterValidator:
    # Refuse sizes that the engine cannot hold, in the units of the file.
    def check(size: Size) -> Size:
        if size > most:
            reason = f"{size} is outside 0 B to {most}"
            raise PydanticCustomError("unit", "{reason}", {"reason": reason})
        return size

    return AfterValidator(check)


# The engine has the same bounds.
MOST_HEADER, MOST_MPU, MOST_BURST = Size("256 B"), Size("1514 B"), Size(2**32 - 1)
Header = Annotated[Size, _up_to(MOST_HEADER)]
Mpu = Annotated[Size, _up_to(MOST_MPU)]
Burst = Annotated[Size, _up_to(MOST_BURST)]

# One sentence for each key that a link and the shorthand share.
SCHEDULE = "later rates: from each `at` on, in place of `rate` or the step before"
DELAYS = (
    "later delays: from each `at` on, in place of `delay` or the one before; packets under way "
    "keep theirs"
)
TRACE = "in place of `rate`: the moments at which packets may leave"
OPPORTUNITY = (
    "each moment of `trace` lets 1,504 `bytes` leave, as in mahimahi, or one `packet` of any size"
)
SHAPER = "how `rate` is kept: by the wire itself, or as Linux's tbf or htb does"
BURST = f"token bucket of tbf and htb, from a full packet to {MOST_BURST}"
OF_SIM = "what only the simulator has; Linux takes no notice"
HEADER = (
    f"what the link counts beside each IP packet, up to {MOST_HEADER}; unless given, Ethernet's"
)
MPU = (
    "the least that it counts of a packet, `header` included: tc's `mpu`, up to a full packet, "
    f"{MOST_MPU}"
)
LINKLAYER = "`atm`: it counts whole cells, 53 bytes for 48 of packet and `header`"
# Keys of the length that a link counts of a packet, with their defaults.
FRAME = {"header": ETHERNET, "mpu": Size(0), "linklayer": "ethernet"}
LinkLayer = Literal["ethernet", "atm"]
_RESPONDER = "node that answers probes of the queue's algorithm; unless given, the far end"
PROBE = (
    "what the probes of the queue's algorithm are: echo requests, or packets of an experimental "
    "protocol; in the simulator both are one packet"
)
LOSS = "packets lost on the wire, at random"
JITTER = "random delay of each packet, added to the constant one behind the queue"


class Direction(Model):
    """The way of packets in one direction: queue, shaper, wire."""

    rate: Rate | None = Field(None, description="without it, packets take no time to send")
    schedule: tuple[Step, ...] = Field((), description=SCHEDULE)
    trace: Trace | None = Field(None, description=TRACE)
    opportunity: Literal["bytes", "packet"] = Field("bytes", description=OPPORTUNITY)
    shaper: Literal["wire", "tbf", "htb"] = Field("wire", description=SHAPER)
    burst: Burst = Field(Size("3028 B"), description=BURST)
    header: Header = Field(ETHERNET, description=HEADER)
    mpu: Mpu = Field(Size(0), description=MPU)
    linklayer: LinkLayer = Field("ethernet", description=LINKLAYER)
    sim: SimLink = Field(SimLink(), description=OF_SIM)
    delay: Duration = Field(Duration(0), description="time on the wire")
    delays: tuple[DelayStep, ...] = Field((), description=DELAYS)
    jitter: Jitter | None = Field(None, description=JITTER)
    loss: Share = Field(Share(0.0), description=LOSS)
    queue: Queue = Field(Queue(algorithm="fifo", rows={}), description="at the sending end")
    responder: Name | None = Field(None, description=_RESPONDER)
    probe: Literal["echo", "experimental"] = Field("echo", description=PROBE)


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
        return self.rate is not None or self.trace is not None


class _Cabled(Model):
    """A name and both nodes."""

    name: Name = Field(description="of the link from the first node; 'NAME back' is the other's")
    between: tuple[Name, Name] = Field(description="nodes at the two ends")


class Cable(Direction, _Cabled):
    """Both directions of a link, declared once: links NAME and 'NAME back'."""

    back: Direction | None = Field(None, description="keys of the direction back that are unlike")


def framed(of: object) -> dict[str, Size | str]:
    """Return the keys of a packet's length that a link or a shorthand sets."""
    said = {key: getattr(of, key) for key in FRAME}
    return {key: value for key, value in said.items() if value != FRAME[key]}
