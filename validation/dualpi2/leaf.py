# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""leaf.py: in the guest, with Python's own library only: the leaf's options and statistics.

    leaf change DEV OPTION=VALUE ...    of the kernel's dualpi2; afterwards all that it says it has
    leaf witness DEV    puts tests/linux/witness.c between the shaper and that queue
    leaf watch DEV ZERO_NS STEP_NS COUNT    its own statistics at each step, in hexadecimal digits

The first and the last write lines for validation/dualpi2/run.py.
"""

from __future__ import annotations

import json
import socket
import sys
import time

from tests.linux.rtnetlink import (
    ACK,
    CREATE,
    KIND,
    NEW,
    OPTIONS,
    REPLACE,
    Qdisc,
    Socket,
    attribute,
    nest,
    numbers,
    qdisc_message,
    text,
    u32,
)

# TCA_DUALPI2_* of include/uapi/linux/pkt_sched.h, and those of one byte.
ATTRIBUTES = {
    "limit": 1,
    "memory_limit": 2,
    "target_us": 3,
    "tupdate_us": 4,
    "alpha": 5,
    "beta": 6,
    "step_thresh_pkts": 7,
    "step_thresh_us": 8,
    "min_qlen_step": 9,
    "coupling": 10,
    "drop_overload": 11,
    "drop_early": 12,
    "c_protection_pct": 13,
    "ecn_mask": 14,
    "split_gso": 15,
}
BYTES = set(range(10, 16))


def packed(name: str, value: int) -> bytes:
    number = ATTRIBUTES[name]
    return attribute(number, bytes([value])) if number in BYTES else u32(number, value)


def leaf(netlink: Socket, device: str) -> Qdisc:
    """The qdisc of the device that is no shaper."""
    index = socket.if_nametoindex(device)
    kinds = ("dualpi2", "sojourn")
    [found] = [q for q in netlink.qdiscs() if q.index == index and q.kind in kinds]
    return found


def change(device: str, words: list[str]) -> None:
    """Set options by netlink, and tell all of them."""
    options = [packed(name, int(value)) for name, value in (word.split("=") for word in words)]
    with Socket() as netlink:
        found = leaf(netlink, device)
        parts = text(KIND, found.kind), nest(OPTIONS, *options)
        message = qdisc_message(found.index, found.handle, found.parent, *parts)
        if options:
            netlink.ask(NEW, ACK, message)
        have = numbers(leaf(netlink, device).options)
    print(json.dumps({name: have[n] for name, n in ATTRIBUTES.items() if n in have}))


def stand_between(device: str) -> None:
    """The witness in place of the leaf, and a new leaf below it, with all defaults."""
    with Socket() as netlink:
        found = leaf(netlink, device)
        for kind, own, parent in (
            ("witness", 0x120000, found.parent),
            ("dualpi2", 0x130000, 0x120001),
        ):
            message = qdisc_message(found.index, own, parent, text(KIND, kind))
            netlink.ask(NEW, ACK | CREATE | REPLACE, message)


def watch(device: str, zero_ns: int, step_ns: int, count: int) -> None:
    """Read the statistics at each step after the beginning of the run."""
    with Socket() as netlink:
        for step in range(1, count + 1):
            time.sleep(max(0, zero_ns + step * step_ns - time.time_ns()) / 1e9)
            print(leaf(netlink, device).own_stats.hex())


if __name__ == "__main__":
    verb, dev, *rest = sys.argv[1:]
    if verb == "change":
        change(dev, rest)
    elif verb == "witness":
        stand_between(dev)
    else:
        watch(dev, *map(int, rest))
