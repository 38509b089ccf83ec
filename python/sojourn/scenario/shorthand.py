# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Parts of the networks that have a shorthand: ends, their links, bottlenecks in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from sojourn.core.units import Duration, Rate, Share, Size
from sojourn.scenario.base import Model, Name
from sojourn.scenario.hosts import SimLink
from sojourn.scenario.links import (
    BURST,
    DELAYS,
    JITTER,
    LOSS,
    OF_SIM,
    SCHEDULE,
    SHAPER,
    Burst,
    DelayStep,
    Jitter,
    Queue,
    Step,
)
from sojourn.scenario.times import Delays

# A limit beyond any congestion window: these queues never drop.
AMPLE = Queue(algorithm="fifo", rows={"limit": 1_000_000})
# Networks that `sojourn.scenario.lay` writes out, by their key.
SHORTHANDS = ("dumbbell", "parking_lot")
# Flows may name a whole side of a network.
SENDERS, RECEIVERS = "senders", "receivers"

_ROOM = "at both ends; unless given, a fifo that never drops"


class Back(Model):
    """The way back of a bottleneck, which has its delay and, unless given, no rate."""

    rate: Rate | None = Field(None, description="without it, packets take no time to send")
    jitter: Jitter | None = Field(None, description=JITTER)
    loss: Share = Field(Share(0.0), description=LOSS)
    queue: Queue = Field(AMPLE, description="unless given, a fifo that never drops")


class Edge(Model):
    """The links of an end, there and back."""

    rate: Rate | None = Field(None, description="without it, packets take no time to send")
    delay: Duration = Field(Duration(0), description="time on the wire, each way")
    queue: Queue = Field(AMPLE, description=_ROOM)


class Side(Model):
    """Nodes at one side of a dumbbell, each with a link there and back."""

    name: Name = Field(description="of the node; of several, NAME 1, NAME 2 and so on")
    count: int = Field(1, strict=True, ge=1, le=10_000, description="nodes")
    rate: Rate | None = Field(None, description="without it, packets take no time to send")
    delay: Delays = Field(
        Duration(0), description="time on the wire, each way; of a list the nodes take in turn"
    )
    queue: Queue = Field(AMPLE, description=_ROOM)

    def names(self) -> list[str]:
        """List the names of its nodes."""
        if self.count == 1:
            return [self.name]
        return [f"{self.name} {number}" for number in range(1, self.count + 1)]

    def delay_of(self, index: int) -> Duration:
        """Return the delay of the node with this index."""
        if isinstance(self.delay, Duration):
            return self.delay
        return self.delay[index % len(self.delay)]


class RttStep(Model):
    """From `at` on, packets that are sent have half of this round trip on each way."""

    at: Duration = Field(description="time of the run")
    rtt: Duration = Field(description="round trip without queues, from then on")


RTTS = "later round trips: from each `at` on, in place of `rtt` or the one before"


class Hop(Model):
    """A bottleneck of a parking lot, or several alike."""

    count: int = Field(1, strict=True, ge=1, le=1_000, description="alike, one behind the other")
    rate: Rate = Field(description="of the link to the next router")
    delay: Duration = Field(Duration(0), description="time on the wire, each way")
    delays: tuple[DelayStep, ...] = Field((), description=f"each way, {DELAYS}")
    aqm: Queue = Field(Queue(algorithm="fifo", rows={}), description="queue under test")
    jitter: Jitter | None = Field(None, description=JITTER)
    loss: Share = Field(Share(0.0), description=LOSS)
    shaper: Literal["wire", "tbf", "htb"] = Field("wire", description=SHAPER)
    burst: Burst = Field(Size("3028 B"), description=BURST)
    sim: SimLink = Field(SimLink(), description=OF_SIM)
    schedule: tuple[Step, ...] = Field((), description=SCHEDULE)
    back: Back = Field(Back(), description="the way back")


def _read_over(value: object) -> object:
    """Read a word, or the numbers of the first hop and the last."""
    if value in ("all", "each"):
        return value
    if (
        isinstance(value, Sequence)
        and len(value) == 2
        and all(type(number) is int for number in value)
    ):
        return tuple(value)
    reason = f"{value!r} is neither 'all', 'each' nor the numbers of two hops, such as [1, 2]"
    raise PydanticCustomError("queue", "{reason}", {"reason": reason})


Over = Annotated[
    Literal["all", "each"] | tuple[int, int],
    BeforeValidator(
        _read_over,
        json_schema_input_type=Annotated[
            Literal["all", "each"] | list[int],
            Field(description="`all`, `each`, or the numbers of two hops"),
        ],
    ),
]
