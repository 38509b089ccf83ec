# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`[dumbbell]`: senders, one bottleneck, receivers.

A group of flows from several nodes to several nodes becomes a group for each pair, which has a
share of the flows, starts and round trips. Quantiles of completion times are those of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd
from typing import Any, ClassVar

from pydantic import Field

from sojourn.core.errors import nearest
from sojourn.core.units import Duration, Rate, Size
from sojourn.scenario.flows import Traffic
from sojourn.scenario.links import (
    ETHERNET,
    DelayStep,
    FramedHeader,
    FramedLinkLayer,
    FramedMpu,
    JitterKey,
    OpportunityKey,
    ProbeKey,
    RateKey,
    SimKey,
    SimLink,
    TraceKey,
    framed,
    trace_problems,
)
from sojourn.scenario.networks.layout import (
    AMPLE,
    MAX_NAME,
    Back,
    Delays,
    Layout,
    Network,
    Table,
    paths,
)
from sojourn.scenario.parts import Delays as NodeDelays
from sojourn.scenario.parts import Even, Model, Name, Path, Poisson, Problem
from sojourn.scenario.queues import BurstKey, Queue, ScheduleKey, ShaperKey

# The most nodes in all sides. Each is laid with two links.
_MAX_NODES = 20_000
# The most pairs of a group; each becomes a group of its own in the graph.
_MAX_PAIRS = 20_000
# Flows may name a whole side of a network.
SENDERS, RECEIVERS = "senders", "receivers"
# Names that `[dumbbell]` gives itself.
_OWN = ("router", "far router", "bottleneck", "bottleneck back", SENDERS, RECEIVERS)


class Side(Model):
    """Nodes at one side of a dumbbell, each with a link there and back."""

    name: Name = Field(description="of the node; of several, NAME 1, NAME 2 and so on")
    count: int = Field(1, strict=True, ge=1, le=10_000, description="nodes")
    rate: RateKey = None
    delay: NodeDelays = Field(
        Duration(0), description="time on the wire, each way; of a list the nodes take in turn"
    )
    queue: Queue = Field(AMPLE, description="at both ends; unless given, a fifo that never drops")

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
    pairs: int | None = Field(
        None,
        strict=True,
        ge=1,
        description="that the flows take, from the first on; unless given, all",
    )

    @property
    def most_pairs(self) -> int:
        """Return the most pairs that its flows take; each has at least one flow."""
        return min(self.count, self.pairs or self.count)

    def ends(self, nodes: Mapping[str, Sequence[str]]) -> tuple[str, str]:
        """Return where the flows begin and end; without `to` they end at the other side."""
        if self.to is not None:
            return self.from_, self.to
        is_back = set(nodes.get(self.from_, ())) <= set(nodes[RECEIVERS])
        return self.from_, SENDERS if is_back else RECEIVERS

    def shares(self, pair_count: int) -> list[dict[str, Any]]:
        """Divide the flows among pairs, which take them in turn, with their times."""
        if pair_count == 1:
            return [{}]
        return [
            {
                "count": -(-(self.count - pair) // pair_count),
                "start": self._share(self.start, pair, pair_count),
                "rtt": None if self.rtt is None else self._share(self.rtt, pair, pair_count),
            }
            for pair in range(pair_count)
        ]

    def _share(self, times: Any, pair: int, pair_count: int) -> Any:
        """Return the times of the pair's flows."""
        flows = range(pair, self.count, pair_count)
        if isinstance(times, tuple) and times:
            return tuple(times[flow % len(times)] for flow in flows)
        if isinstance(times, Even) and times.from_ <= times.to:
            # The engine spreads them in the same way.
            span, steps = times.to - times.from_, max(self.count, 2) - 1
            return tuple(Duration(times.from_ + span * flow // steps) for flow in flows)
        if isinstance(times, Poisson):
            # As many processes, each with so many times the gap, are together one with this gap.
            return times.model_copy(update={"gap": Duration(times.gap * pair_count)})
        return times


def pairs(
    first: Sequence[str], second: Sequence[str], count: int, begin: int = 1
) -> list[tuple[str, str]]:
    """List at most `count` of all pairs, with the nodes of both sides in turn. Even in a short list
    all nodes of a side occur about equally often. The pair with the number `begin` is the first."""
    m, n = len(first), len(second)
    # After this number of pairs both sides begin again; then the second moves on by one.
    round_of_both = m * n // gcd(m, n)
    numbers = ((begin - 1 + i) % (m * n) for i in range(min(count, m * n)))
    return [(first[k % m], second[(k + k // round_of_both) % n]) for k in numbers]


class Dumbbell(Network):
    """Shorthand: senders, one bottleneck named 'bottleneck', receivers."""

    key: ClassVar[str] = "dumbbell"
    tables: ClassVar[tuple[str, ...]] = (SENDERS, RECEIVERS)
    rate: Rate | None = Field(None, description="of the bottleneck; this or `trace` is needed")
    rtt: Duration = Field(
        description="round trip without queues, half of it each way; delays of nodes are added"
    )
    rtts: tuple[RttStep, ...] = Field(
        (),
        description="later round trips: from each `at` on, in place of `rtt` or the one before",
    )
    aqm: Queue = Field(
        Queue(algorithm="fifo", rows={}), description="queue of the bottleneck, the one under test"
    )
    jitter: JitterKey = None
    shaper: ShaperKey = "wire"
    burst: BurstKey = Size("3028 B")
    probe: ProbeKey = "echo"
    sim: SimKey = SimLink()
    schedule: ScheduleKey = ()
    trace: TraceKey = None
    opportunity: OpportunityKey = "bytes"
    header: FramedHeader = ETHERNET
    mpu: FramedMpu = Size(0)
    linklayer: FramedLinkLayer = "ethernet"
    back: Back = Field(Back(), description="the way back")
    senders: tuple[Side, ...] = Field(
        (), description="nodes in front of the bottleneck; unless given, one"
    )
    receivers: tuple[Side, ...] = Field(
        (), description="nodes behind the bottleneck; unless given, one"
    )
    flows: tuple[Between, ...] = Field((Between(),), description="from senders to receivers")

    def problems(self) -> Iterator[Problem]:
        """Yield the problems that forbid to lay it out."""
        if self.rate is None and self.trace is None:
            yield (self.key, "rate"), "is missing"
        yield from trace_problems(self, (self.key,))
        count = sum(side.count for side in (*self.senders, *self.receivers))
        if count > _MAX_NODES:
            yield (self.key,), f"{count} nodes at its two sides; allowed: up to {_MAX_NODES}"
        else:
            yield from self._side_problems()
        yield from self._flow_problems()

    def _side_problems(self) -> Iterator[Problem]:
        taken = set(_OWN)
        for key in self.tables:
            for i, side in enumerate(getattr(self, key)):
                names = {side.name, *side.names()}
                if names & taken:
                    yield (self.key, key, i, "name"), f"the name '{min(names & taken)}' is taken"
                taken |= names | {f"{name} back" for name in side.names()}
                if side.delay == ():
                    yield (self.key, key, i, "delay"), "a list of no times"

    def _flow_problems(self) -> Iterator[Problem]:
        nodes = self.nodes()
        for i, flow in enumerate(self.flows):
            place: Path = (self.key, "flows", i)
            begin, end = flow.ends(nodes)
            unknown = [(k, name) for k, name in (("from", begin), ("to", end)) if name not in nodes]
            for key, name in unknown:
                yield (*place, key), f"there is no node '{name}'.{nearest(name, nodes)}"
            if unknown:
                continue
            across = [set(nodes[name]) <= set(nodes[RECEIVERS]) for name in (begin, end)]
            if across[0] == across[1]:
                yield (*place, "to"), f"'{begin}' and '{end}' are at one side of the bottleneck"
                continue
            every = len(nodes[begin]) * len(nodes[end])
            if flow.first_pair > every:
                reason = f"{flow.first_pair}; allowed: 1 to {every}, the pairs"
                yield (*place, "first_pair"), reason
                continue
            node_pairs = pairs(nodes[begin], nodes[end], flow.most_pairs, flow.first_pair)
            if len(node_pairs) > _MAX_PAIRS:
                yield (
                    (*place, "count"),
                    f"{len(node_pairs)} pairs of nodes; allowed: up to {_MAX_PAIRS}",
                )
                continue
            longest = max(len(f"{flow.name} {a}-{b}") for a, b in node_pairs)
            if len(node_pairs) > 1 and longest > MAX_NAME:
                yield (
                    (*place, "name"),
                    f"'{flow.name}' with the names of its two nodes has {longest} characters; "
                    f"allowed: {MAX_NAME}",
                )

    def _sides(self) -> Iterator[tuple[str, Sequence[Side]]]:
        """Yield each side with its tables; one that is not in the file has a single node."""
        for key in self.tables:
            yield key, getattr(self, key) or (Side(name=key.removesuffix("s")),)

    def nodes(self) -> dict[str, list[str]]:
        """List the nodes of each side, and those of each name."""
        sides = dict(self._sides())
        named = {key: [n for side in tables for n in side.names()] for key, tables in sides.items()}
        single = {name: [name] for names in named.values() for name in names}
        by_table = {side.name: side.names() for tables in sides.values() for side in tables}
        return {**named, **single, **by_table}

    def lay(self) -> Layout:
        """Lay it out. With one node at each side the receiver ends the bottleneck; several nodes
        have links of their own, and a router is at each end of the bottleneck. Half of the round
        trip is before the receiver and half after it; jitter is after the queue."""
        layout, place = Layout(frame=framed(self)), (self.key,)
        has_edges = bool(self.senders or self.receivers)
        if has_edges:
            ends, back_to = ("router", "far router"), "router"
            self._lay_sides(layout, dict(zip(self.tables, ends, strict=True)))
        else:
            ends, back_to = ("router", "receiver"), "sender"
            for name in ("sender", *ends):
                layout.node(name, place)
            layout.link("access", ("sender", "router"), place, {"queue": "aqm"}, queue=AMPLE)
        names = "bottleneck", "bottleneck back" if has_edges else "back"
        layout.bottleneck(self, names, ends, place, self._delays(), "rtt", back_to)
        self._lay_flows(layout, has_edges)
        return layout

    def _lay_sides(self, layout: Layout, routers: Mapping[str, str]) -> None:
        for key, sides in self._sides():
            router = routers[key]
            for i, side in enumerate(sides):
                place: Path = (self.key, key, i)
                for k, name in enumerate(side.names()):
                    layout.node(name, (*place, "name"))
                    ends = (name, router) if key == SENDERS else (router, name)
                    layout.edge(name, ends, side, side.delay_of(k), place)
            layout.node(router, (self.key,))

    def _delays(self) -> tuple[Delays, Delays]:
        """Split the round trips into the delays of the bottleneck there and back."""

        def half(rtt: Duration, is_back: bool) -> Duration:
            return Duration((rtt + is_back) // 2)

        there, back = (
            (
                half(self.rtt, is_back),
                tuple(DelayStep(at=step.at, delay=half(step.rtt, is_back)) for step in self.rtts),
            )
            for is_back in (False, True)
        )
        return there, back

    def _lay_flows(self, layout: Layout, has_edges: bool) -> None:
        """Add the flows, spread over the pairs of their ends."""
        nodes = self.nodes()
        for i, traffic in enumerate(self.flows):
            begin, end = (nodes[name] for name in traffic.ends(nodes))
            node_pairs = pairs(begin, end, traffic.most_pairs, traffic.first_pair)
            is_shared = len(node_pairs) > 1
            for share, (sender, receiver) in zip(
                traffic.shares(len(node_pairs)), node_pairs, strict=True
            ):
                if is_shared:
                    share["part_of"] = traffic.name
                if has_edges:
                    forth = sender in nodes[SENDERS]
                    share |= paths(sender, ["bottleneck"], receiver, forth=forth)
                name = f"{traffic.name} {sender}-{receiver}" if is_shared else traffic.name
                place = (self.key, "flows", i)
                layout.flow(traffic, name, place, is_shared, **share, from_=sender, to=receiver)

    @classmethod
    def bottlenecks(cls, table: Table) -> list[tuple[Table, list[str]]]:
        """List, in the data of a file, the tables of bottlenecks with the names of their links."""
        return [(table, ["bottleneck"])]

    @classmethod
    def name_back(cls, table: Table, name: str) -> str:
        """Name the link back of a bottleneck."""
        return f"{name} back" if any(table.get(key) for key in cls.tables) else "back"
