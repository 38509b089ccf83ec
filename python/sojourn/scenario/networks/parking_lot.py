# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`[parking_lot]`: routers in a row, a bottleneck between each two, and an end at both sides of
each bottleneck."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from sojourn.core.errors import written
from sojourn.core.units import Duration, Rate, Share, Size
from sojourn.scenario.flows import Traffic
from sojourn.scenario.links import (
    DELAYS,
    ETHERNET,
    DelayStep,
    FramedHeader,
    FramedLinkLayer,
    FramedMpu,
    JitterKey,
    LossKey,
    SimKey,
    SimLink,
    framed,
)
from sojourn.scenario.networks.layout import (
    MAX_NAME,
    Back,
    Edge,
    Layout,
    Network,
    Table,
    paths,
)
from sojourn.scenario.parts import Model, Path, Problem, refusal
from sojourn.scenario.queues import BurstKey, Queue, ScheduleKey, ShaperKey

# Each hop is laid with two links.
_MAX_HOPS = 1_000


class Hop(Model):
    """A bottleneck of a parking lot, or several alike."""

    count: int = Field(
        1, strict=True, ge=1, le=_MAX_HOPS, description="alike, one behind the other"
    )
    rate: Rate = Field(description="of the link to the next router")
    delay: Duration = Field(Duration(0), description="time on the wire, each way")
    delays: tuple[DelayStep, ...] = Field((), description=f"each way, {DELAYS}")
    aqm: Queue = Field(Queue(algorithm="fifo", rows={}), description="queue under test")
    jitter: JitterKey = None
    loss: LossKey = Share(0.0)
    shaper: ShaperKey = "wire"
    burst: BurstKey = Size("3028 B")
    sim: SimKey = SimLink()
    schedule: ScheduleKey = ()
    back: Back = Field(Back(), description="the way back")


def _read_over(value: object) -> object:
    """Read a word, or the numbers of the first hop and the last."""
    if value in ("all", "each"):
        return value
    if isinstance(value, list | tuple) and [type(number) for number in value] == [int, int]:
        return tuple(value)
    raise refusal(
        f"{written(value)} is neither 'all', 'each' nor the numbers of two hops, such as [1, 2]"
    )


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


class Crossing(Traffic):
    """Traffic of a parking lot."""

    over: Over = Field(
        "all",
        description="`all`: from the first router to the last; `each`: `count` flows over each "
        "hop alone; `[1, 2]`: from the first of these hops to the last; `[2, 1]`: back over them",
    )

    def spans(self, hops: int) -> Iterator[tuple[str, int, int]]:
        """Yield groups of flows: a name, the first hop and the last."""
        if self.over == "each":
            yield from ((f"{self.name} {number}", number, number) for number in range(1, hops + 1))
        elif self.over == "all":
            yield self.name, 1, hops
        else:
            yield (self.name, *self.over)


class ParkingLot(Network):
    """Shorthand: routers in a row, a bottleneck between each two, and an end at both sides of each
    bottleneck."""

    key: ClassVar[str] = "parking_lot"
    tables: ClassVar[tuple[str, ...]] = ("hops",)
    hops: tuple[Hop, ...] = Field(description="bottlenecks, named 'hop 1', 'hop 2' and so on")
    header: FramedHeader = ETHERNET
    mpu: FramedMpu = Size(0)
    linklayer: FramedLinkLayer = "ethernet"
    edges: Edge = Field(Edge(), description="links of all ends")
    flows: tuple[Crossing, ...] = Field((Crossing(),), description="from hop to hop")

    def problems(self) -> Iterator[Problem]:
        """Yield the problems that forbid to lay it out."""
        hops = sum(hop.count for hop in self.hops)
        if not 1 <= hops <= _MAX_HOPS:
            yield (self.key, "hops"), f"{hops} hops; allowed: 1 to {_MAX_HOPS}"
            return
        for i, flow in enumerate(self.flows):
            place: Path = (self.key, "flows", i)
            if not isinstance(flow.over, str) and not all(1 <= n <= hops for n in flow.over):
                first, last = flow.over
                yield (*place, "over"), f"[{first}, {last}] is outside the hops 1 to {hops}"
            if flow.over == "each" and len(f"{flow.name} {hops}") > MAX_NAME:
                reason = f"is too long with the hop's number; allowed: {MAX_NAME}"
                yield (*place, "name"), reason

    def lay(self) -> Layout:
        """Lay routers in a row, with a sender in front of each bottleneck and a receiver behind
        it."""
        layout = Layout(frame=framed(self))
        hops = [(i, hop) for i, hop in enumerate(self.hops) for _ in range(hop.count)]
        edges: Path = (self.key, "edges")
        for number in range(1, len(hops) + 2):
            layout.node(f"router {number}", (self.key, "hops"))
        for number, (i, hop) in enumerate(hops, start=1):
            name, near, far = f"hop {number}", f"router {number}", f"router {number + 1}"
            delays = hop.delay, hop.delays
            layout.bottleneck(
                hop,
                (name, f"{name} back"),
                (near, far),
                (self.key, "hops", i),
                (delays, delays),
                "delay",
            )
            for end, ends in (
                (f"sender {number}", (f"sender {number}", near)),
                (f"receiver {number}", (far, f"receiver {number}")),
            ):
                layout.node(end, edges)
                layout.edge(end, ends, self.edges, self.edges.delay, edges)
        for i, traffic in enumerate(self.flows):
            for name, first, last in traffic.spans(len(hops)):
                low, high, forth = min(first, last), max(first, last), first <= last
                ends = (f"sender {low}", f"receiver {high}")
                begin, end = ends if forth else ends[::-1]
                middle = [f"hop {number}" for number in range(low, high + 1)]
                keys = paths(begin, middle, end, forth=forth)
                layout.flow(traffic, name, (self.key, "flows", i), from_=begin, to=end, **keys)
        return layout

    @classmethod
    def bottlenecks(cls, table: Table) -> list[tuple[Table, list[str]]]:
        """List, in the data of a file, the tables of bottlenecks with the names of their links."""
        hops = table.get("hops")
        tables = [hop for hop in hops if isinstance(hop, dict)] if isinstance(hops, list) else []
        return list(zip(tables, cls.link_names("hops", tables) or (), strict=True))

    @classmethod
    def link_names(cls, key: str, entries: Sequence[Any]) -> list[list[str]] | None:
        """List the names of the links of each table of hops."""
        if key != "hops":
            return None
        counts = [hop.get("count", 1) for hop in entries]
        # The model refuses other counts later.
        counts = [n if type(n) is int and 0 < n <= _MAX_HOPS else 1 for n in counts]
        ends = accumulate(counts)
        return [
            [f"hop {k}" for k in range(end - n + 1, end + 1)]
            for n, end in zip(counts, ends, strict=True)
        ]

    @classmethod
    def assignable(cls) -> list[str]:
        """List its keys as `--set` takes them."""
        return super().assignable() + [f"{cls.key}.hops.*.{key}" for key in Hop.model_fields]
