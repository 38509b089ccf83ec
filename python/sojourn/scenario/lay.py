# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Shorthands written out: nodes, links and flows, each with its place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sojourn.core.units import Duration
from sojourn.scenario.links import FRAME, DelayStep, Link, framed
from sojourn.scenario.networks import Dumbbell, ParkingLot, Shorthand
from sojourn.scenario.pairs import ends, first_pair, pairs, shares
from sojourn.scenario.shorthand import AMPLE, RECEIVERS, SENDERS, Back, Edge, Hop, Side
from sojourn.scenario.traffic import Crossing, Flow, Traffic

Path = tuple[str | int, ...]

# Delays of a link: the first one, and later ones.
Delays = tuple[Duration, tuple[DelayStep, ...]]

_TRAFFIC = tuple(Traffic.model_fields)
# The shorthand's names for the keys of a link.
_BOTTLENECK = {"queue": "aqm", "delay": "rtt", "delays": "rtts"}
_HOP = {"queue": "aqm"}
_PLAIN: Mapping[str, str] = {}
# Marks a share of a group: its list of times is not the one in the file.
_SHARE: Mapping[str, str] = {"": ""}


@dataclass
class Laid:
    """A graph. Each part has its path in the file, and the names of its keys there."""

    nodes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    # Keys of a packet's length, for links with a rate.
    frame: Mapping[str, Any] = field(default_factory=dict)
    # Links whose queues are under test unless others have `tested`, and their ways back.
    tested: list[str] = field(default_factory=list)
    ways_back: list[str] = field(default_factory=list)
    at: dict[str, list[tuple[Path, Mapping[str, str]]]] = field(
        default_factory=lambda: {"nodes": [], "links": [], "flows": []}
    )

    def node(self, name: str, at: Path) -> None:
        """Add a node."""
        self.nodes.append(name)
        self.at["nodes"].append((at, _PLAIN))

    def link(
        self, name: str, ends: tuple[str, str], at: Path, called: Mapping[str, str], **keys: Any
    ) -> None:
        """Add a link."""
        if keys.get("rate"):
            keys |= self.frame
        # A key with its default was not given.
        given = {key: of for key, of in keys.items() if of != Link.model_fields[key].default}
        self.links.append(Link(name=name, from_=ends[0], to=ends[1], **given))
        self.at["links"].append((at, called))

    def edge(
        self, name: str, ends: tuple[str, str], edge: Edge | Side, delay: Duration, at: Path
    ) -> None:
        """Add the links of an end, there and back; the direction from senders to receivers has its
        name."""
        keys = {"rate": edge.rate, "delay": delay, "queue": edge.queue}
        self.link(name, ends, at, _PLAIN, **keys)
        self.link(f"{name} back", ends[::-1], at, _PLAIN, **keys)

    def back(
        self, name: str, ends: tuple[str, str], back: Back, delays: Delays, at: Path, of: str
    ) -> None:
        """Add the way back of a bottleneck; `of` is the key of its delay."""
        keys = {key: getattr(back, key) for key in Back.model_fields}
        called = {"delay": of, "delays": f"{of}s"}
        self.link(name, ends, at, called, **_delays(delays), **keys)
        self.ways_back.append(name)

    def flow(
        self, traffic: Traffic, name: str, at: Path, shared: bool = False, **keys: Any
    ) -> None:
        """Add a group of flows; `shared` marks a share of a group in the file."""
        given = {key: getattr(traffic, key) for key in _TRAFFIC}
        # Beside times by flow even the default is refused if it is set.
        if "start_spread" not in traffic.model_fields_set:
            del given["start_spread"]
        self.flows.append(Flow(**{**given, "name": name, **keys}))
        self.at["flows"].append((at, _SHARE if shared else _PLAIN))

    def written(self, path: Path) -> Path:
        """Find the place in the file of a key of the graph."""
        of, *rest = path
        places = self.at.get(str(of))
        if places is None or not rest or not isinstance(rest[0], int):
            return path
        at, called = places[rest[0]]
        if of == "nodes":
            return at
        if rest[1:2] and rest[1] in FRAME:
            return (at[0], rest[1])
        keys = tuple(called.get(str(key), key) if i == 0 else key for i, key in enumerate(rest[1:]))
        if called is _SHARE and keys[:1] in (("start",), ("rtt",)) and type(keys[-1]) is int:
            keys = keys[:1]
        if keys[:1] == ("rtts",) and keys[2:] == ("delay",):
            keys = (*keys[:2], "rtt")
        # A way back has the delays of the way there.
        of_there = [called[key] for key in ("delay", "delays") if key in called]
        if at[-1:] == ("back",) and keys and keys[0] in of_there:
            return (*at[:-1], *keys)
        return (*at, *keys)


def lay(shorthand: Shorthand) -> Laid:
    """Write a shorthand out as a graph; all names in it must exist."""
    if isinstance(shorthand, ParkingLot):
        return _parking_lot(shorthand)
    if shorthand.senders or shorthand.receivers:
        return _many(shorthand)
    return _dumbbell(shorthand)


def sides(shorthand: Dumbbell) -> dict[str, list[str]]:
    """List the nodes of each side, and those of each name."""
    found: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}
    for side, plain in ((SENDERS, "sender"), (RECEIVERS, "receiver")):
        given: Sequence[Side] = getattr(shorthand, side) or (Side(name=plain),)
        found[side] = [name for one in given for name in one.names()]
        named |= {name: [name] for name in found[side]} | {one.name: one.names() for one in given}
    return {**found, **named}


def _dumbbell(dumbbell: Dumbbell) -> Laid:
    """Lay a dumbbell with one node at each side. Half of the round trip time is before the receiver
    and half after it; jitter is after the queue."""
    laid, at = Laid(frame=framed(dumbbell)), ("dumbbell",)
    for name in ("sender", "router", "receiver"):
        laid.node(name, at)
    laid.link("access", ("sender", "router"), at, _BOTTLENECK, queue=AMPLE)
    there, back = _ways_of(dumbbell)
    _bottleneck(laid, dumbbell, ("router", "receiver"), there)
    laid.back("back", ("receiver", "sender"), dumbbell.back, back, (*at, "back"), "rtt")
    _between(laid, dumbbell, at)
    return laid


def _halves(rtt: Duration) -> tuple[Duration, Duration]:
    there = Duration(rtt // 2)
    return there, Duration(rtt - there)


def _ways_of(dumbbell: Dumbbell) -> tuple[Delays, Delays]:
    """Split the round trips into the delays of the bottleneck there and back."""
    there, back = _halves(dumbbell.rtt)
    later = [(step.at, *_halves(step.rtt)) for step in dumbbell.rtts]
    return (
        (there, tuple(DelayStep(at=at, delay=half) for at, half, _ in later)),
        (back, tuple(DelayStep(at=at, delay=half) for at, _, half in later)),
    )


def _bottleneck(laid: Laid, of: Dumbbell, ends: tuple[str, str], delays: Delays) -> None:
    keys = {key: getattr(of, key) for key in _QUEUED if key in Dumbbell.model_fields}
    at = ("dumbbell",)
    laid.link("bottleneck", ends, at, _BOTTLENECK, queue=of.aqm, **_delays(delays), **keys)
    laid.tested.append("bottleneck")


def _delays(delays: Delays) -> dict[str, Any]:
    return dict(zip(("delay", "delays"), delays, strict=True))


# Keys that a link has under the same name.
_QUEUED = (
    *("rate", "schedule", "trace", "opportunity", "shaper", "burst"),
    *("sim", "jitter", "loss", "probe"),
)


def _many(dumbbell: Dumbbell) -> Laid:
    """Lay a dumbbell with several nodes, each with its own link, and a router at each end of the
    bottleneck."""
    laid, at = Laid(frame=framed(dumbbell)), ("dumbbell",)
    left, right = "router", "far router"
    for key, router in ((SENDERS, left), (RECEIVERS, right)):
        plain = Side(name=key.removesuffix("s"))
        for i, side in enumerate(getattr(dumbbell, key) or (plain,)):
            place: Path = (*at, key, i)
            for k, name in enumerate(side.names()):
                laid.node(name, (*place, "name"))
                both = (name, router) if key == SENDERS else (router, name)
                laid.edge(name, both, side, side.delay_of(k), place)
        laid.node(router, at)
    there, back = _ways_of(dumbbell)
    _bottleneck(laid, dumbbell, (left, right), there)
    laid.back("bottleneck back", (right, left), dumbbell.back, back, (*at, "back"), "rtt")
    _between(laid, dumbbell, at, ("bottleneck",))
    return laid


def _between(laid: Laid, of: Dumbbell, at: Path, middle: tuple[str, ...] = ()) -> None:
    """Add the flows, spread over the pairs of their ends, by the links in the `middle`."""
    named = sides(of)
    for i, traffic in enumerate(of.flows):
        place: Path = (*at, "flows", i)
        senders, receivers = (named[end] for end in ends(traffic, named))
        both = pairs(senders, receivers, traffic.count, first_pair(traffic))
        for share, (sender, receiver) in zip(shares(traffic, len(both)), both, strict=True):
            alone = len(both) == 1
            name = traffic.name if alone else f"{traffic.name} {sender}-{receiver}"
            ways = _ways(sender, middle, receiver, named) if middle else {}
            laid.flow(traffic, name, place, not alone, **share, from_=sender, to=receiver, **ways)


def _ways(
    begin: str, middle: Sequence[str], end: str, named: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """List the links of a flow in both directions, which saves the search for its paths."""
    forth = begin in named[SENDERS]
    there = (begin, *middle, end) if forth else (end, *middle, begin)
    back = tuple(f"{name} back" for name in reversed(there))
    both = (there, back) if forth else (back, there)
    return dict(zip(("path", "reverse_path"), both, strict=True))


def _parking_lot(lot: ParkingLot) -> Laid:
    """Lay routers in a row, with a sender in front of each bottleneck and a receiver behind it."""
    laid, at = Laid(frame=framed(lot)), ("parking_lot",)
    hops = lot.each_hop()
    for number in range(1, len(hops) + 2):
        laid.node(f"router {number}", (*at, "hops"))
    for number, (i, hop) in enumerate(hops, start=1):
        _hop(laid, number, hop, (*at, "hops", i))
        for name, both in (
            (f"sender {number}", (f"sender {number}", f"router {number}")),
            (f"receiver {number}", (f"router {number + 1}", f"receiver {number}")),
        ):
            laid.node(name, (*at, "edges"))
            laid.edge(name, both, lot.edges, lot.edges.delay, (*at, "edges"))
    for i, traffic in enumerate(lot.flows):
        for name, first, last in _spans(traffic, len(hops)):
            sender, receiver = f"sender {min(first, last)}", f"receiver {max(first, last)}"
            both = (sender, receiver) if first <= last else (receiver, sender)
            middle = [f"hop {n}" for n in range(min(first, last), max(first, last) + 1)]
            ways = _ways(both[0], middle, both[1], {SENDERS: [sender]})
            place: Path = (*at, "flows", i)
            laid.flow(traffic, name, place, from_=both[0], to=both[1], **ways)
    return laid


def _hop(laid: Laid, number: int, hop: Hop, at: Path) -> None:
    name, near, far = f"hop {number}", f"router {number}", f"router {number + 1}"
    keys = {key: getattr(hop, key) for key in _QUEUED if key in Hop.model_fields}
    delays = hop.delay, hop.delays
    laid.link(name, (near, far), at, _HOP, queue=hop.aqm, **_delays(delays), **keys)
    laid.back(f"{name} back", (far, near), hop.back, delays, (*at, "back"), "delay")
    laid.tested.append(name)


def _spans(traffic: Crossing, hops: int) -> Iterator[tuple[str, int, int]]:
    """Yield groups of flows: a name, the first hop and the last."""
    if traffic.over == "each":
        yield from ((f"{traffic.name} {number}", number, number) for number in range(1, hops + 1))
    elif traffic.over == "all":
        yield traffic.name, 1, hops
    else:
        yield (traffic.name, *traffic.over)
