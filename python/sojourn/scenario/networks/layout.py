# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A network that has a shorthand, and the graph that it is laid out as: nodes, links and flows
with their places in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, field_validator

from sojourn.core.units import Duration, Share
from sojourn.scenario.flows import Flow, Traffic
from sojourn.scenario.links import (
    FRAME,
    DelayStep,
    JitterKey,
    Link,
    LossKey,
    RateKey,
    SimKey,
    SimLink,
)
from sojourn.scenario.parts import Model, Path, Problem
from sojourn.scenario.queues import Queue

if TYPE_CHECKING:
    from sojourn.scenario.networks.dumbbell import Dumbbell, Side
    from sojourn.scenario.networks.parking_lot import Hop

# A limit beyond any congestion window: these queues never drop.
AMPLE = Queue(algorithm="fifo", rows={"limit": 1_000_000})
# The longest name of a flow in the engine's tables.
MAX_NAME = 80
# Delays of a link: the first one, and later ones.
Delays = tuple[Duration, tuple[DelayStep, ...]]
Table = dict[str, Any]

_TRAFFIC = tuple(Traffic.model_fields)
# Keys that a bottleneck and its link have under the same name.
_SHARED = (
    *("rate", "schedule", "trace", "opportunity", "shaper", "burst"),
    *("sim", "jitter", "loss", "probe"),
)
# Marks a share of a group: its list of times is not the one in the file.
_SHARE: Mapping[str, str] = {"": ""}


class Back(Model):
    """The way back of a bottleneck, which has its delay and, unless given, no rate."""

    rate: RateKey = None
    jitter: JitterKey = None
    loss: LossKey = Share(0.0)
    sim: SimKey = SimLink()
    queue: Queue = Field(AMPLE, description="unless given, a fifo that never drops")


class Edge(Model):
    """The links of an end, there and back."""

    rate: RateKey = None
    delay: Duration = Field(Duration(0), description="time on the wire, each way")
    queue: Queue = Field(AMPLE, description="at both ends; unless given, a fifo that never drops")


class Network(Model):
    """A network under one key, in place of nodes, links and flows."""

    key: ClassVar[str]
    # Keys that hold lists of tables, in which each entry is chosen by its name.
    tables: ClassVar[tuple[str, ...]] = ()

    @field_validator("flows", mode="before", check_fields=False)
    @classmethod
    def _as_data(cls, flows: object) -> object:
        """Convert flows that are made of bare `Traffic` to the data that TOML has."""
        if not isinstance(flows, list | tuple):
            return flows
        return [
            {key: getattr(flow, key) for key in flow.model_fields_set}
            if type(flow) is Traffic
            else flow
            for flow in flows
        ]

    def problems(self) -> Iterator[Problem]:
        """Yield the problems that forbid to lay it out."""
        raise NotImplementedError

    def lay(self) -> Layout:
        """Lay it out as a graph; all names in it must exist."""
        raise NotImplementedError

    @classmethod
    def bottlenecks(cls, table: Table) -> list[tuple[Table, list[str]]]:
        """List, in the data of a file, the tables of bottlenecks with the names of their links."""
        raise NotImplementedError

    @classmethod
    def name_back(cls, table: Table, name: str) -> str:
        """Name the link back of a bottleneck."""
        return f"{name} back"

    @classmethod
    def link_names(cls, key: str, entries: Sequence[Any]) -> list[list[str]] | None:
        """List the names of the links of each entry, where a table has no name of its own."""
        return None

    @classmethod
    def assignable(cls) -> list[str]:
        """List its keys as `--set` takes them."""
        return [f"{cls.key}.{key}" for key in cls.model_fields]


@dataclass
class Layout:
    """A graph. Each part has its path in the file, and the names of its keys there."""

    nodes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    # Keys of a packet's length, for links with a rate.
    frame: Mapping[str, Any] = field(default_factory=dict)
    # Links whose queues are under test unless others have `tested`, and their ways back.
    tested: list[str] = field(default_factory=list)
    ways_back: list[str] = field(default_factory=list)
    places: dict[str, list[tuple[Path, Mapping[str, str]]]] = field(
        default_factory=lambda: {"nodes": [], "links": [], "flows": []}
    )

    def node(self, name: str, place: Path) -> None:
        """Add a node."""
        self.nodes.append(name)
        self.places["nodes"].append((place, {}))

    def link(
        self, name: str, ends: tuple[str, str], place: Path, names: Mapping[str, str], **keys: Any
    ) -> None:
        """Add a link; `names` are those of its keys in the file."""
        if keys.get("rate"):
            keys |= self.frame
        # A key with its default was not given.
        given = {k: value for k, value in keys.items() if value != Link.model_fields[k].default}
        self.links.append(Link(name=name, from_=ends[0], to=ends[1], **given))
        self.places["links"].append((place, names))

    def edge(
        self, name: str, ends: tuple[str, str], edge: Edge | Side, delay: Duration, place: Path
    ) -> None:
        """Add the links of an end, there and back; the direction from senders to receivers has its
        name."""
        keys = {"rate": edge.rate, "delay": delay, "queue": edge.queue}
        self.link(name, ends, place, {}, **keys)
        self.link(f"{name} back", ends[::-1], place, {}, **keys)

    def bottleneck(
        self,
        table: Dumbbell | Hop,
        names: tuple[str, str],
        ends: tuple[str, str],
        place: Path,
        delays: tuple[Delays, Delays],
        delay_key: str,
        back_to: str = "",
    ) -> None:
        """Add a bottleneck and its way back, whose delays are under `delay_key`. It leads to its
        first node or, if given, to `back_to`."""
        name, name_back = names
        key_names = {"delay": delay_key, "delays": f"{delay_key}s"}
        there, back = (dict(zip(("delay", "delays"), both, strict=True)) for both in delays)
        shared = {key: getattr(table, key) for key in _SHARED if key in type(table).model_fields}
        keys = there | shared | {"queue": table.aqm}
        self.link(name, ends, place, key_names | {"queue": "aqm"}, **keys)
        keys = back | {key: getattr(table.back, key) for key in Back.model_fields}
        self.link(name_back, (ends[1], back_to or ends[0]), (*place, "back"), key_names, **keys)
        self.tested.append(name)
        self.ways_back.append(name_back)

    def flow(
        self, traffic: Traffic, name: str, place: Path, shared: bool = False, **keys: Any
    ) -> None:
        """Add a group of flows; `shared` marks a share of a group in the file."""
        given = {key: getattr(traffic, key) for key in _TRAFFIC}
        # Beside times by flow even the default is refused if it is set.
        if "start_spread" not in traffic.model_fields_set:
            del given["start_spread"]
        self.flows.append(Flow(**{**given, "name": name, **keys}))
        self.places["flows"].append((place, _SHARE if shared else {}))

    def path_in_file(self, path: Path) -> Path:
        """Find the place in the file of a key of the graph."""
        part, *rest = path
        if part not in self.places or not rest or not isinstance(rest[0], int):
            return path
        place, names = self.places[str(part)][rest[0]]
        if part == "nodes":
            return place
        if rest[1:2] and rest[1] in FRAME:
            return (place[0], rest[1])
        keys = tuple(names.get(str(key), key) if i == 0 else key for i, key in enumerate(rest[1:]))
        if names is _SHARE and keys[:1] in (("start",), ("rtt",)) and type(keys[-1]) is int:
            keys = keys[:1]
        if keys[:1] == ("rtts",) and keys[2:] == ("delay",):
            keys = (*keys[:2], "rtt")
        # A way back has the delays of the way there.
        delay_keys = [names[key] for key in ("delay", "delays") if key in names]
        if place[-1:] == ("back",) and keys and keys[0] in delay_keys:
            return (*place[:-1], *keys)
        return (*place, *keys)


def paths(begin: str, middle: Sequence[str], end: str, *, forth: bool) -> dict[str, Any]:
    """List the links of a flow in both directions, which saves the search for its paths."""
    there = (begin, *middle, end) if forth else (end, *middle, begin)
    back = tuple(f"{name} back" for name in reversed(there))
    both = (there, back) if forth else (back, there)
    return dict(zip(("path", "reverse_path"), both, strict=True))
