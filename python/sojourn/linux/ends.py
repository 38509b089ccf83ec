# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A link's end as the engine's JSON has it: its disciplines, their classes, and its queues with
their names in results. A link without `end` has one queue, of the link's own name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from sojourn.scenario.links import FRAME

Data = Mapping[str, Any]

RING = "ring"
# HTB that never waits: what leaves a class's queue is sent then.
_AMPLE_BYTES = 1 << 20
# The list of its classes, by the kind of a discipline.
_CLASSES = {"htb": "classes", "drr": "classes", "prio": "bands"}
# Keys of a link that its end's queues share.
_OF_LINK = ("from", "to", "header", "mpu", "linklayer", "probe")
# The handle of a device's own discipline with classes, in hex.
ROOT = "1"
# The one queue's handle of a link without classes; those of a tree are counted from here.
FIRST_HANDLE = 0x10


@dataclass(frozen=True)
class Queue:
    """A queue of a link's end, with the keys of its link that a link of this queue alone has."""

    name: str  # in results
    handle: str
    data: Data  # its queue with rows
    rate: int | None  # of results
    bandwidth: int | None  # the algorithm's row
    schedule: tuple[Data, ...]  # of `rate`
    responder: str | None
    stage: str | None = None  # of an end
    shaper: str = "htb"
    burst: int = _AMPLE_BYTES


@dataclass(frozen=True)
class Class:
    """A class of HTB or DRR, or a band, with the discipline or the queue below it."""

    full: str  # name in results
    minor: str  # of its class in tc
    data: Data
    parent: str | None  # minor of its parent class
    children: tuple[str, ...]
    queue: Queue | None
    inner: Discipline | None


@dataclass(frozen=True)
class Discipline:
    """A discipline with classes. Its classes have the file's order."""

    kind: str
    handle: str
    classes: tuple[Class, ...]
    default: str | None  # minor of a class

    def queues(self) -> Iterator[Queue]:
        """Yield the queues below it."""
        for one in self.classes:
            if one.inner:
                yield from one.inner.queues()
            elif one.queue:
                yield one.queue

    def all(self) -> Iterator[Discipline]:
        """Yield it and the disciplines below it."""
        yield self
        for one in self.classes:
            if one.inner:
                yield from one.inner.all()


@dataclass(frozen=True)
class Part:
    """A stage of an end: a queue or a discipline, and the ring that pulls from it."""

    stage: Data
    queue: Queue | None
    tree: Discipline | None
    ring: Data | None
    ring_name: str | None  # in results

    def queues(self) -> list[Queue]:
        """List its queues."""
        return [self.queue] if self.queue else list(self.tree.queues()) if self.tree else []

    @property
    def most_bps(self) -> int:
        """Return the most that the stage ever sends. No class of HTB holds its children below
        their own rates."""
        if self.queue or self.ring or not self.tree:
            rates = [(self.ring or self.stage)["rate"]]
            rates += [step["rate"] for step in self.stage.get("schedule") or ()]
            return int(max(rates))
        roots = sum(_most(one.data)[1] for one in self.tree.classes if one.parent is None)
        leaves = sum(_most(one.data)[0] for one in self.tree.classes if not one.children)
        return max(roots, leaves)


def end_of(link: Data) -> list[Data]:
    """List the stages of a link's end; none for a link that has only one queue."""
    return list(link.get("end") or ())


def parts(link: Data) -> list[Part]:
    """List the stages of a link's end from top to bottom, each with the ring below it."""
    end = end_of(link)
    several = sum(stage["kind"] != RING for stage in end) > 1
    found = []
    for stage, below in zip_longest(end, end[1:]):
        if stage["kind"] == RING:
            continue
        ring = below if below and below["kind"] == RING else None
        head = f"{link['name']}/{stage['name']}" if several else link["name"]
        rate = (ring or stage).get("rate")
        paced = rate, rate, tuple(stage.get("schedule") or ())
        if stage["kind"] == "queue":
            queue, tree = _queue(stage, head, FIRST_HANDLE, paced, stage["name"]), None
            if not ring:
                queue = replace(queue, shaper=stage["shaper"], burst=stage["burst"])
        else:
            queue, tree = (
                None,
                _Builder(head, stage["name"]).discipline(stage, int(ROOT, 16), paced),
            )
        name = f"{link['name']}/{ring['name']}" if ring else None
        found.append(Part(stage, queue, tree, ring, name))
    return found


# Rate of results, the algorithm's row, and later rates of results.
_Pace = tuple[int | None, int | None, tuple[Data, ...]]


def _queue(data: Data, name: str, handle: int, paced: _Pace, stage: str) -> Queue:
    return Queue(name, f"{handle:x}", data["queue"], *paced, data.get("responder"), stage)


class _Builder:
    """Gives the disciplines and queues of a tree their handles."""

    def __init__(self, head: str, stage: str) -> None:
        self.head, self.stage, self.next = head, stage, FIRST_HANDLE

    def _handle(self) -> int:
        self.next += 1
        return self.next - 1

    def discipline(self, data: Data, handle: int, paced: _Pace) -> Discipline:
        """Make the discipline of this handle, with all below it, under this pace."""
        kind = data["kind"]
        listed = data[_CLASSES[kind]]
        minors = {one["name"]: f"{number:x}" for number, one in enumerate(listed, start=1)}
        classes = tuple(self._class(kind, one, listed, minors, paced) for one in listed)
        default = data.get("default")
        return Discipline(kind, f"{handle:x}", classes, minors[default] if default else None)

    def _class(
        self,
        kind: str,
        data: Data,
        listed: list[Data],
        minors: Mapping[str, str],
        paced: _Pace,
    ) -> Class:
        name = data["name"]
        full = f"{self.head}/{name}"
        children = tuple(minors[one["name"]] for one in listed if one.get("parent") == name)
        if kind == "htb":
            paced = ceil_of(data), data["rate"], ceil_steps(data)
        queue = inner = None
        if data.get("inner"):
            inner = self.discipline(data["inner"], self._handle(), paced)
        elif not children:
            queue = _queue(data, full, self._handle(), paced, self.stage)
        parent = data.get("parent")
        return Class(
            full, minors[name], data, minors[parent] if parent else None, children, queue, inner
        )


def ceil_of(data: Data) -> int:
    """Return the ceiling of an HTB class."""
    return int(data.get("ceil") or data["rate"])


def rate_steps(data: Data) -> Iterator[tuple[int, int, int]]:
    """Yield time, rate and ceiling of the later rates of an HTB class."""
    follows, ceil = not data.get("ceil"), ceil_of(data)
    for step in data.get("schedule") or ():
        ceil = step.get("ceil") or (step["rate"] if follows else ceil)
        yield step["at"], step["rate"], ceil


def _most(data: Data) -> tuple[int, int]:
    """Return the largest rate and ceiling that an HTB class ever has."""
    rates = [(data["rate"], ceil_of(data)), *((rate, ceil) for _, rate, ceil in rate_steps(data))]
    return max(rate for rate, _ in rates), max(ceil for _, ceil in rates)


def ceil_steps(data: Data) -> tuple[Data, ...]:
    """List the later ceilings of an HTB class as steps of a rate."""
    return tuple({"at": at_ns, "rate": ceil} for at_ns, _, ceil in rate_steps(data))


def queues(link: Data) -> list[Queue]:
    """List the queues of a link's end."""
    return [queue for part in parts(link) for queue in part.queues()]


def wanted(name: str, link: Data, scenario: Data) -> bool:
    """Tell whether this queue, class or ring of the link is recorded."""
    named = scenario["record"]["queues"]
    return name in named or link["name"] in named


def recorded(link: Data, scenario: Data) -> list[str]:
    """List the recorded queues of a link."""
    if not end_of(link):
        return [link["name"]] if link["name"] in scenario["record"]["queues"] else []
    return [queue.name for queue in queues(link) if wanted(queue.name, link, scenario)]


@dataclass(frozen=True)
class Plain:
    """A scenario in which each queue of an end is a link of its own, for parts of the engine that
    know links with one queue each. The further links follow those of the file, and no path takes
    one: the first link between two nodes is taken."""

    scenario: dict[str, Any]
    numbers: Mapping[str, int]  # of the link of a queue, by the queue's name

    @classmethod
    def of(cls, scenario: Data) -> Plain:
        """Make it; a scenario without ends stays as it is."""
        links = list(scenario["links"])
        numbers = {link["name"]: i for i, link in enumerate(links) if not end_of(link)}
        names = [name for link in links for name in recorded(link, scenario)]
        for i, link in enumerate(scenario["links"]):
            if not end_of(link):
                continue
            links[i] = _plain_link(link)
            for queue in queues(link):
                if queue.name == link["name"]:
                    links[i] = _link_of(queue, link, links[i])
                    numbers[queue.name] = i
                else:
                    numbers[queue.name] = len(links)
                    links.append(_link_of(queue, link, _PLAIN))
        record = {**scenario["record"], "queues": names}
        flows = [{k: v for k, v in flow.items() if k != "dscp"} for flow in scenario["flows"]]
        return cls({**scenario, "links": links, "flows": flows, "record": record}, numbers)


# Keys of a link that no end's queue has.
_PLAIN: dict[str, Any] = {
    "rate": None,
    "schedule": [],
    "trace": None,
    "shaper": "wire",
    "delay": 0,
    "delays": [],
    "jitter": None,
    "loss": 0.0,
    "queue": {"algorithm": "fifo"},
    "responder": None,
}
# Without a rate a link counts no frames.
_NO_FRAMES = {key: int(usual) if isinstance(usual, int) else usual for key, usual in FRAME.items()}


def _plain_link(link: Data) -> dict[str, Any]:
    kept = {key: value for key, value in link.items() if key != "end"}
    return {**_PLAIN, **kept, **_NO_FRAMES}


def _link_of(queue: Queue, link: Data, base: Data) -> dict[str, Any]:
    return {
        **base,
        **{key: link[key] for key in _OF_LINK},
        "name": queue.name,
        "rate": queue.rate,
        "shaper": queue.shaper,
        "burst": queue.burst,
        "schedule": list(queue.schedule),
        "queue": queue.data,
        "responder": queue.responder,
    }
