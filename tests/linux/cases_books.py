# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_books.py: trees of three classful levels of every kind, over queues that lose packets.

Most queues hold one to three packets, so that an arrival often evicts all that was held. A parent
that counts nothing for a moment has its class removed by the one above, which never serves
it again: then a tree does not become empty.
"""

from __future__ import annotations

import time

from tests.linux import netlink as nl
from tests.linux.cases import IDLE, SPILL, SPILL_BUT_LAST
from tests.linux.net import Sender, case, do, hears, lay_wire
from tests.linux.netlink import Netlink
from tests.linux.trees import PARENTS, books, drain, every_pair, lay_levels

ONE = nl.algorithm("fifo"), nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 1), nl.u32(nl.FLOWS, 4))
THREE = nl.algorithm("codel"), nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 3), nl.u32(nl.FLOWS, 4))
MATCHED = nl.algorithm("choke"), nl.nest(nl.PARAMS, nl.u32(1, 1), nl.u32(2, 40), nl.u32(4, 1))


def fill(senders: list[Sender], number: int, payload_bytes: int) -> None:
    for i, sender in enumerate(senders):
        # Now all of them, now one alone.
        if number % (len(senders) + 1) in (i, len(senders)):
            sender.send(1 + (number + i) % 5, payload_bytes)


def every_tree_runs_dry(options: tuple[bytes, ...], segment_bytes: int = 0) -> None:
    lay_wire(offloads=bool(segment_bytes))
    kernel = Netlink()
    dropped = 0
    for kinds in every_pair(list(PARENTS)):
        free = lay_levels(kinds)
        for i, where in enumerate(free):
            kernel.add("c0", where, f"{16 + i:x}:", *options)
        senders = [Sender(nl.handle(where), segment_bytes=segment_bytes) for where in free]
        for number in range(12):
            # Below a root without a bucket TBF splits the last before the queue gets it.
            fill(senders, number, (300, 1200, 6000)[number % (3 if segment_bytes else 2)])
            books(kernel)
            time.sleep(0.0007 * (number % 5))
            books(kernel)
        try:
            found = drain(kernel)
        except AssertionError as stalled:
            raise AssertionError(f"{' > '.join(kinds)}: {stalled}") from None
        dropped += sum(queue.drops for queue in found.values() if queue.kind == "sojourn")
        do("tc qdisc del dev c0 root")
    assert dropped > 1000, dropped
    do("rmmod sch_sojourn")


@case
def trees_run_dry_when_an_arrival_evicts_all_that_is_held() -> None:
    every_tree_runs_dry(ONE)


@case
def trees_run_dry_when_arrivals_evict_others() -> None:
    every_tree_runs_dry(THREE)


@case
def trees_run_dry_when_victims_come_from_the_middle() -> None:
    every_tree_runs_dry(MATCHED)


@case
def trees_run_dry_when_segments_push_each_other_out() -> None:
    every_tree_runs_dry(ONE, segment_bytes=100)


@case
def trees_run_dry_when_segments_push_others_out() -> None:
    every_tree_runs_dry(THREE, segment_bytes=300)


@hears(*IDLE)
@case
def trees_run_dry_when_segments_match_each_other() -> None:
    """TBF counts a segment's pieces, some already lost, after it has made the last."""
    every_tree_runs_dry(MATCHED, segment_bytes=100)


@hears(*IDLE)
@case
def trees_run_dry_when_a_dequeue_drops_all() -> None:
    every_tree_runs_dry(tuple(SPILL))


@case
def trees_run_dry_when_a_dequeue_drops_all_but_one() -> None:
    every_tree_runs_dry(tuple(SPILL_BUT_LAST))
