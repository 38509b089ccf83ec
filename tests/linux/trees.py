# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""trees.py: in the guest, classful qdiscs above the queues, and the books of each level."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.linux import netlink as nl
from tests.linux.net import Sender, do
from tests.linux.netlink import Netlink, Qdisc


@dataclass(frozen=True)
class Parent:
    """A kind of classful qdisc. In its words {h} is its handle, and what limits it is
    the link's rate, or so much that it always gives a packet when it has one."""

    qdisc: str
    classes: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ("10", "20")
    limits: bool = False

    def commands(self, place: str = "root", h: str = "1", *, slow: bool = True) -> list[str]:
        """For tc: make it at this place of c0, with its classes."""
        rate, burst, bucket = (8, 3028, 3028) if slow else (100_000, 5000, 1_000_000)
        words = {"h": h, "rate": f"{rate}mbit", "half": f"{rate // 2}mbit"}
        words |= {"burst": f"burst {burst}", "buckets": f"burst {bucket} cburst {bucket}"}
        words |= {"ul": "ul rate 8mbit" if slow else ""}
        lines = [f"tc qdisc add dev c0 {place} handle {h}: {self.qdisc}"]
        lines += [f"tc class add dev c0 {line}" for line in self.classes]
        return [line.format(**words) for line in lines]


PARENTS = {
    "htb": Parent(
        "htb default 10",
        (
            "parent {h}: classid {h}:1 htb rate {rate} {buckets} quantum 1514",
            "parent {h}:1 classid {h}:10 htb rate {half} ceil {rate} {buckets} quantum 1514",
            "parent {h}:1 classid {h}:20 htb rate {half} ceil {rate} {buckets} quantum 1514",
        ),
        limits=True,
    ),
    "hfsc": Parent(
        "hfsc default 10",
        (
            "parent {h}: classid {h}:1 hfsc sc rate 8mbit {ul}",
            "parent {h}:1 classid {h}:10 hfsc sc rate 4mbit",
            "parent {h}:1 classid {h}:20 hfsc sc rate 4mbit",
        ),
        limits=True,
    ),
    "hfsc-ls": Parent(
        "hfsc default 10",
        (
            "parent {h}: classid {h}:1 hfsc ls rate 8mbit {ul}",
            "parent {h}:1 classid {h}:10 hfsc ls rate 4mbit",
            "parent {h}:1 classid {h}:20 hfsc ls rate 4mbit",
        ),
        limits=True,
    ),
    "drr": Parent("drr", ("parent {h}: classid {h}:10 drr", "parent {h}: classid {h}:20 drr")),
    "qfq": Parent(
        "qfq",
        (
            "parent {h}: classid {h}:10 qfq weight 10 maxpkt 2048",
            "parent {h}: classid {h}:20 qfq weight 20 maxpkt 2048",
        ),
    ),
    "ets": Parent("ets bands 2 quanta 1514 3028", leaves=("1", "2")),
    "ets-strict": Parent("ets bands 2 strict 2", leaves=("1", "2")),
    "prio": Parent("prio bands 2 priomap" + " 0" * 16, leaves=("1", "2")),
    "tbf": Parent("tbf rate {rate} {burst} limit 100000000", leaves=("1",), limits=True),
}

# A slow root where the tree itself has no rate.
[TBF] = PARENTS["tbf"].commands(h="9")


def batch(commands: Sequence[str]) -> None:
    """One tc for all of them; a process each is most of the time that a tree takes."""
    lines = "\n".join(command.removeprefix("tc ") for command in commands)
    words = ["tc", "-batch", "-"]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (commands, done.stderr)


def lay_tree(kernel: Netlink, parent: str, *options: bytes) -> list[tuple[str, str]]:
    """One level, with a queue in each of its leaves: class and handle of each."""
    kind = PARENTS[parent]
    batch(kind.commands() if kind.limits else [TBF, *kind.commands("parent 9:1")])
    below = [(f"1:{minor}", f"{minor}0:") for minor in kind.leaves]
    for where, own in below:
        kernel.add("c0", where, own, *options)
    return below


def lay_levels(kinds: Sequence[str]) -> list[str]:
    """A tree with as many levels, each in the first leaf of the one above: the classes that
    have no level below them, the deepest first. Packets without a class of theirs go there."""
    place, free = "root", list[str]()
    lines = list[str]()
    slow = PARENTS[kinds[0]].limits
    if not slow:
        lines, place = [TBF], "parent 9:1"
    for level, name in enumerate(kinds, 1):
        kind, h = PARENTS[name], str(level)
        lines += kind.commands(place, h, slow=slow)
        first, *others = (f"{h}:{minor}" for minor in kind.leaves)
        if name != "tbf":
            lines.append(f"tc filter add dev c0 parent {h}: matchall flowid {first}")
        free = [*others, *free]
        place, slow = f"parent {first}", False
    batch(lines)
    return [place.removeprefix("parent "), *free]


def every_pair(names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Three levels each, in which every two kinds meet at every two levels."""
    for i, middle in enumerate(names):
        for j, bottom in enumerate(names):
            yield names[(i + j) % len(names)], middle, bottom


def books(kernel: Netlink) -> dict[str, Qdisc]:
    """A parent counts exactly what its children hold; below another it may itself hold one
    packet more, at which that one has peeked."""
    found = kernel.dump("c0")
    below = [queue for queue in found.values() if queue.parent != nl.ROOT]
    for parent in found.values():
        children = [child for child in below if child.parent >> 16 == parent.handle >> 16]
        if not children:
            continue
        pkts = parent.qlen - sum(child.qlen for child in children)
        size = parent.backlog - sum(child.backlog for child in children)
        peeked = parent.parent != nl.ROOT and pkts == 1 and size > 0
        assert pkts == size == 0 or peeked, (parent, children)
    for queue in found.values():
        if queue.kind == "sojourn":
            assert queue.balances, queue
            assert not queue.total(nl.BAD), queue
    return found


def drain(kernel: Netlink) -> dict[str, Qdisc]:
    """Wait until nothing is held anywhere."""
    for _ in range(600):
        time.sleep(0.1)
        found = books(kernel)
        if not any(queue.qlen for queue in found.values()):
            return found
    raise AssertionError(f"the queues do not run dry: {found}")


def load(kernel: Netlink, below: list[tuple[str, str]], rounds: int = 40) -> dict[str, Qdisc]:
    """Bursts of changing size to every class, faster than the link, with pauses in which
    it catches up; the books are compared all the time."""
    senders = [Sender(nl.handle(where), tos=2) for where, _ in below]
    for number in range(rounds):
        for i, sender in enumerate(senders):
            sender.send((number * 7 + i * 3) % 23, payload_bytes=100 + (number * 331) % 1300)
        books(kernel)
        time.sleep(0.004 + 0.002 * (number % 7))
        books(kernel)
    return drain(kernel)


def take_down() -> None:
    do("tc qdisc del dev c0 root")
