# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Counters of classes and drivers' rings at the edges of windows, which linux/uml/classes.c reads,
as rows of a report. Linux does not tell how long a class was in each of its modes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.linux.ends import RING, Class, Discipline

# Of one edge: sent packets and bytes, then lent and borrowed packets, or packets that waited times
# ns.
_Counts = tuple[int, ...]
_NONE: _Counts = (0,) * 4


@dataclass(frozen=True)
class Counter:
    """A class or a ring, with its place and the queues in it."""

    name: str  # in results
    kind: str
    space: str
    device: str
    classid: str  # empty for a ring
    queues: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return the line for linux/uml/classes.c."""
        word = "ring" if self.kind == RING else "classes"
        return f"{word} {self.space} {self.device}"


def of_tree(tree: Discipline, space: str, device: str) -> Iterator[Counter]:
    """Yield the classes of a discipline."""
    classes = {one.minor: one for one in tree.classes}

    def queues(one: Class) -> Iterator[str]:
        if one.queue:
            yield one.queue.name
        yield from (queue.name for queue in (one.inner.queues() if one.inner else ()))
        for child in one.children:
            yield from queues(classes[child])

    for one in tree.classes:
        classid = f"{tree.handle}:{one.minor}"
        yield Counter(one.full, tree.kind, space, device, classid, tuple(queues(one)))


def lines(counters: Iterable[Counter], edges_ns: Iterable[int]) -> list[str]:
    """List the lines for linux/uml/classes.c."""
    return [
        *(f"edge {ns}" for ns in edges_ns),
        *dict.fromkeys(counter.line for counter in counters),
    ]


def edges_of(windows: Iterable[Mapping[str, Any]]) -> list[int]:
    """List the edges of all windows in order of time."""
    return sorted({edge for window in windows for edge in (window["from"], window["to"])})


def rows(
    counters: Iterable[Counter],
    windows: Sequence[Mapping[str, Any]],
    output: str,
    held_pkts: Mapping[str, Sequence[float]],
) -> list[dict[str, Any]]:
    """Make the rows of a report from the output of classes.c, and from the mean length of each
    recorded queue in each window."""
    edges = {ns: number for number, ns in enumerate(edges_of(windows))}
    read: dict[tuple[int, str, str], _Counts] = {}
    for line in output.splitlines():
        kind, edge, device, *numbers = line.split()
        classid = "" if kind == RING else numbers.pop(0)
        read[int(edge), device, classid] = tuple(map(int, numbers))

    def backlog_pkts(counter: Counter, nth: int, waited_ns: float) -> float | None:
        if counter.kind == RING:
            return float(waited_ns / (windows[nth]["to"] - windows[nth]["from"]))
        if not held_pkts.keys() >= {*counter.queues}:
            return None
        return sum(held_pkts[queue][nth] for queue in counter.queues)

    def window_row(counter: Counter, nth: int) -> dict[str, Any]:
        window = windows[nth]
        before, then = (
            read.get((edges[window[end]], counter.device, counter.classid), _NONE)
            for end in ("from", "to")
        )
        sent_pkts, sent_bytes, *more = (b - a for a, b in zip(before, then, strict=False))
        lent_pkts, borrowed_pkts = more if counter.kind == "htb" else (None, None)
        return {
            "name": window["name"],
            "from_s": window["from"] / 1e9,
            "to_s": window["to"] / 1e9,
            "sent_pkts": sent_pkts,
            "sent_bytes": sent_bytes,
            "lent_pkts": lent_pkts,
            "borrowed_pkts": borrowed_pkts,
            "can_send_pct": None,
            "may_borrow_pct": None,
            "cannot_send_pct": None,
            "backlog_pkts": backlog_pkts(counter, nth, more[0] if more else 0),
        }

    return [
        {
            "name": counter.name,
            "kind": counter.kind,
            "windows": [window_row(counter, nth) for nth in range(len(windows))],
        }
        for counter in counters
    ]
