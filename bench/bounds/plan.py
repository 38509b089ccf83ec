# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What is measured: each row is a queue on a device of its own, and a command of bounds.c.

In a row's commands `$memory` stands for the words that lift the bound on packets' memory, and
`$flows` for as many flows as the queue takes; the shell of the guest knows both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

# What a packet of packets.h occupies: cake's limit counts memory.
PACKET_BYTES = 1280
# The most that the ring of an algorithm that samples holds.
RING_PKTS = 131_072
# Who splits as much, and whose cost is the measure.
TBF = "tbf and pfifo"


@dataclass(frozen=True)
class Sizes:
    """How much there is of everything, and how often each operation is tried."""

    flows: int = 65_536
    held: int = 130_000
    limits: tuple[int, ...] = (1, 1000, 300_000)
    segments: int = 25_000
    short_tries: int = 10_000
    long_tries: int = 50
    looks: int = 20  # at the statistics of one filling
    turns: int = 1000  # of a dequeue and an enqueue in one try
    boots: int = 5
    packet_boots: int = 25  # of some tenths of a second: a noisy second spoils no more than one
    # Memory of the guest that was never touched costs the host's time when it first is.
    warm_mb: int = 640


QUICK = Sizes(
    flows=4096,
    held=8000,
    limits=(1, 100, 20_000),
    segments=2000,
    short_tries=20,
    long_tries=2,
    looks=2,
    boots=2,
    packet_boots=2,
    warm_mb=0,
)


@dataclass(frozen=True)
class Row:
    part: str
    state: str
    queue: str
    tc: tuple[str, ...]  # the device's qdisc, and what is below it
    command: str  # of bounds.c: the numbers behind the device's name
    beside: str = ""  # the queue of the same part and state that it is compared with
    changes: tuple[str, str] | None = None  # of which the second is timed
    algorithm: str = ""  # the queue has as many flows of it as it takes
    any_goal: bool = True

    @property
    def ours(self) -> bool:
        return self.tc[0].startswith("sojourn")

    @property
    def judged(self) -> bool:
        return self.ours and self.any_goal

    @property
    def flows(self) -> str:
        return self.command.split()[1]


def ours(algorithm: str, limit: int, flows: int | str = "") -> str:
    fq, number = ("fq ", f"flows {flows} ") if flows else ("", "")
    return f"sojourn {fq}{algorithm} {number}limit {limit}p $memory"


def fq_codel(limit: int, flows: int) -> str:
    return f"fq_codel limit {limit} flows {flows} memory_limit 1gb"


def cake(limit: int) -> str:
    return f"cake split-gso memlimit {limit * PACKET_BYTES}b"


def arrivals(sizes: Sizes) -> Iterator[Row]:
    limit, flows = 2 * sizes.flows, sizes.flows
    for state, coming in ((f"{flows:,} full flows", flows), ("one flow holds half", 1)):
        for queue, tc, held in (
            (f"fq codel, {flows:,} flows", ours("codel", limit, flows), limit),
            (f"fq_codel, {flows:,} flows", fq_codel(limit, flows), limit),
            ("cake, 1,024 flows", cake(limit), 0),
        ):
            numbers = f"{sizes.short_tries} {flows} {held} {coming}"
            # One flow loses up to 64 packets at once: most of that is no search.
            yield Row("arrival", state, queue, (tc,), numbers, any_goal=coming > 1)


def packets(sizes: Sizes) -> Iterator[Row]:
    numbers = f"{sizes.short_tries} 10 1000 {sizes.turns}"
    for queue, tc in (
        ("fq codel", ours("codel", 2000, 1024)),
        ("fq_codel", fq_codel(2000, 1024)),
    ):
        yield Row("packet", "1,000 packets in 10 flows", queue, (tc,), numbers, "fq_codel")


def dequeues(sizes: Sizes) -> Iterator[Row]:
    state = f"limit 1, a packet in each of {sizes.flows:,} flows"
    # fq_codel takes seconds for so many arrivals at its limit.
    numbers = f"{min(sizes.long_tries, 10)} {sizes.flows}"
    for queue, tc in (
        ("fq codel", ours("codel", 1, sizes.flows)),
        ("fq_codel", fq_codel(1, sizes.flows)),
    ):
        yield Row("dequeue", state, queue, (tc,), numbers, "fq_codel")


def receivers(limit: int, flows: int) -> dict[str, tuple[str, ...]]:
    """Who takes a large packet apart; tbf because its bucket is smaller."""
    # choke's defaults would lose packets while the queue is filled.
    choke = "choke min 131071p max 131072p weight 20"
    return {
        TBF: (
            "handle 1: tbf rate 100gbit burst 2000b limit 3000b",
            f"parent 1:1 handle 2: pfifo limit {limit}",
        ),
        "cake": (cake(limit),),
        "fifo": (ours("fifo", limit),),
        "pie": (ours("pie", limit),),
        "choke": (ours(choke, min(limit, RING_PKTS)),),
        "fq codel": (ours("codel", limit, 1024),),
        f"fq codel, {flows:,} flows": (ours("codel", limit, flows),),
        f"fq pie, {flows:,} flows": (ours("pie", limit, flows),),
    }


def sends(sizes: Sizes) -> Iterator[Row]:
    for limit in sizes.limits:
        for full in (False, True):
            state = f"limit {limit:,}, {'full' if full else 'empty'}"
            for queue, tc in receivers(limit, sizes.flows).items():
                held = full * (min(limit, RING_PKTS) if queue == "choke" else limit)
                numbers = f"{sizes.long_tries} {sizes.flows} {held} {sizes.segments}"
                yield Row("send", state, queue, tc, numbers, TBF)


def statistics(sizes: Sizes) -> Iterator[Row]:
    state = "an hour after the link stopped"
    limit, tries = 2 * sizes.flows, sizes.long_tries * sizes.looks
    for name in ("codel", "pie", "sfb", "duk"):
        numbers = f"{tries} $flows $flows {sizes.looks}"
        tc = ours(name, limit, "$flows")
        yield Row("statistics", state, f"fq {name}", (tc,), numbers, "fq_codel", algorithm=name)
    numbers = f"{tries} {sizes.flows} {sizes.flows} {sizes.looks}"
    yield Row("statistics", state, "fq_codel", (fq_codel(limit, sizes.flows),), numbers)


def many(sizes: Sizes) -> dict[str, str]:
    """Queues for changes and resets, with room for all packets."""
    return {
        "fq codel": ours("codel", sizes.held, sizes.flows),
        "fq pie": ours("pie", sizes.held, sizes.flows),
        "fq_codel": fq_codel(sizes.held, sizes.flows),
    }


def changes(sizes: Sizes) -> Iterator[Row]:
    numbers = f"{sizes.long_tries} {sizes.flows} {sizes.held}"
    for state, values, stopped_s in (
        ("limit 1", (f"limit {sizes.held}", "limit 1"), 1),
        ("target, an hour after the link stopped", ("target 6ms", "target 7ms"), 3600),
    ):
        for queue, tc in many(sizes).items():
            kind = queue.replace("fq ", "sojourn ")
            both = (f"{kind} {values[0]}", f"{kind} {values[1]}")
            yield Row("change", state, queue, (tc,), f"{numbers} {stopped_s}", "fq_codel", both)


def resets(sizes: Sizes) -> Iterator[Row]:
    for state, held in (("empty", 0), ("full", sizes.held)):
        for queue, tc in many(sizes).items():
            numbers = f"{sizes.long_tries} {sizes.flows} {held}"
            yield Row("reset", state, queue, (tc,), numbers, "fq_codel")


def boots_of(sizes: Sizes, part: str) -> int:
    return sizes.packet_boots if part == "packet" else sizes.boots


PARTS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "arrival": arrivals,
    "packet": packets,
    "dequeue": dequeues,
    "send": sends,
    "statistics": statistics,
    "change": changes,
    "reset": resets,
}
