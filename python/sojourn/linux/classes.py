# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Counters of classes and drivers' rings at the edges of windows, which linux/uml/classes.c reads,
as rows of a report. Linux does not tell how long a class was in each of its modes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.linux.ends import RING, Discipline

# Of one edge: sent packets and bytes, packets and bytes that wait, lent, borrowed.
_Counts = tuple[int, ...]
_NONE: _Counts = (0,) * 6
_SENT_PKTS, _SENT_BYTES, _PKTS, _BYTES, _LENT, _BORROWED = range(6)


@dataclass(frozen=True)
class Counter:
    """A class or a ring, with its place and the classes whose packets are its own."""

    name: str  # in results
    kind: str
    space: str
    device: str
    classid: str  # empty for a ring
    leaves: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return the line for linux/uml/classes.c."""
        word = "ring" if self.kind == RING else "classes"
        return f"{word} {self.space} {self.device}"


def of_tree(tree: Discipline, space: str, device: str) -> Iterator[Counter]:
    """Yield the classes of a discipline."""
    children = {one.minor: one.children for one in tree.classes}

    def leaves(minor: str) -> Iterator[str]:
        if not children[minor]:
            yield f"{tree.handle}:{minor}"
        for child in children[minor]:
            yield from leaves(child)

    for one in tree.classes:
        classid = f"{tree.handle}:{one.minor}"
        yield Counter(one.full, tree.kind, space, device, classid, tuple(leaves(one.minor)))


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
    counters: Iterable[Counter], windows: Sequence[Mapping[str, Any]], output: str
) -> list[dict[str, Any]]:
    """Make the rows of a report from the output of classes.c."""
    edges = {ns: number for number, ns in enumerate(edges_of(windows))}
    read: dict[tuple[int, str, str], _Counts] = {}
    for line in output.splitlines():
        kind, edge, device, *numbers = line.split()
        classid = "" if kind == RING else numbers.pop(0)
        read[int(edge), device, classid] = (*map(int, numbers), 0, 0)[:6]

    def counts(edge: int, counter: Counter, classid: str) -> _Counts:
        return read.get((edge, counter.device, classid), _NONE)

    def window_row(counter: Counter, window: Mapping[str, Any]) -> dict[str, Any]:
        first, last = edges[window["from"]], edges[window["to"]]
        before, then = (counts(edge, counter, counter.classid) for edge in (first, last))
        held = [counts(last, counter, leaf) for leaf in counter.leaves]
        is_htb = counter.kind == "htb"

        def more(place: int) -> int:
            return then[place] - before[place]

        return {
            "name": window["name"],
            "from_s": window["from"] / 1e9,
            "to_s": window["to"] / 1e9,
            "sent_pkts": more(_SENT_PKTS),
            "sent_bytes": more(_SENT_BYTES),
            "lent_pkts": more(_LENT) if is_htb else None,
            "borrowed_pkts": more(_BORROWED) if is_htb else None,
            "can_send_pct": None,
            "may_borrow_pct": None,
            "cannot_send_pct": None,
            "backlog_pkts": sum(each[_PKTS] for each in held),
            "backlog_bytes": sum(each[_BYTES] for each in held),
        }

    return [
        {
            "name": counter.name,
            "kind": counter.kind,
            "windows": [window_row(counter, window) for window in windows],
        }
        for counter in counters
    ]
