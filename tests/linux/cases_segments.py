# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_segments.py: one send of 200 kB that is 25,000 packets."""

from __future__ import annotations

import time

from tests.linux import netlink as nl
from tests.linux.frames import catching, segment, send
from tests.linux.net import case, do, lay_wire
from tests.linux.netlink import Netlink, Qdisc
from tests.linux.trees import PARENTS, batch, books, drain

SEND_BYTES, PIECE_BYTES = 200_000, 8
PIECES = SEND_BYTES // PIECE_BYTES
# With the heads of Ethernet, IP and TCP.
PIECE_FRAME_BYTES = 54 + PIECE_BYTES


def lay(kernel: Netlink, name: str, **rows: int) -> None:
    batch(PARENTS["htb"].commands())
    numbers = {"limit": nl.LIMIT, "flows": nl.FLOWS}
    queue = nl.nest(nl.QUEUE, *(nl.u32(numbers[row], value) for row, value in rows.items()))
    kernel.add("c0", "1:10", "10:", nl.algorithm(name), queue)


def send_once(kernel: Netlink) -> Qdisc:
    before = books(kernel)["10:"]
    send("c0", [segment(SEND_BYTES, PIECE_BYTES)], segments=True)
    now = books(kernel)["10:"]
    assert now.count(1) - before.count(1) == PIECES
    assert now.count(2) - before.count(2) == PIECES * PIECE_FRAME_BYTES
    return now


@case
def a_send_of_25000_packets_is_held_whole_where_there_is_room() -> None:
    lay_wire(offloads=True)
    kernel = Netlink()
    for name, flows in (("fifo", 0), ("pie", 0), ("codel", 1024), ("pie", 65536)):
        lay(kernel, name, limit=300_000, flows=flows)
        now = send_once(kernel)
        assert not now.drops and now.qlen > PIECES - 100, (name, now)
        do("tc qdisc del dev c0 root")


@case
def of_a_send_of_25000_packets_a_queue_holds_what_its_limit_allows() -> None:
    lay_wire(offloads=True)
    kernel = Netlink()
    for name in ("fifo", "pie", "codel"):
        for flows in (0, 1024, 65536):
            for limit in (1, 1000):
                lay(kernel, name, limit=limit, flows=flows)
                for number in range(1, 3):
                    now = send_once(kernel)
                    assert now.qlen <= limit, (name, flows, limit, now)
                    # HTB has let the first go meanwhile.
                    assert PIECES * number - now.drops < limit + 100, (name, flows, limit, now)
                drain(kernel)
                do("tc qdisc del dev c0 root")


@case
def the_packets_of_a_large_send_arrive_as_they_are() -> None:
    lay_wire(offloads=True)
    kernel = Netlink()
    lay(kernel, "fifo", limit=300_000)
    with catching("s0", "s") as seen:
        send("c0", [segment(1448 * 100, 1448)], segments=True)
        time.sleep(1)
        drain(kernel)
    assert [len(data) for data in seen] == [54 + 1448] * 100
    numbers = [int.from_bytes(data[38:42], "big") for data in seen]
    assert numbers == [1 + 1448 * i for i in range(100)]
