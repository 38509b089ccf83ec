# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_vlan.py: a mark in a frame with tags goes into its IP header, and nowhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tests.linux import frames
from tests.linux import netlink as nl
from tests.linux.frames import C_TAG, CE, S_TAG, Tags, catching, frame, send
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink, Qdisc
from tests.linux.trees import TBF

Put = Callable[[Sequence[bytes]], None]

ECT = 2
MANY = 120
NUMBERS = [i.to_bytes(4, "big") for i in range(MANY)]
# As many as the queue looks behind.
MOST_TAGS = 32
# VLANs whose bits lie where a DS field would be searched a tag too early.
STACKS: dict[str, Tags] = {
    "untagged": [],
    "C": [(C_TAG, 101)],
    "S C": [(S_TAG, 101), (C_TAG, 102)],
    "C C": [(C_TAG, 0x145), (C_TAG, 0x146)],
    "S S C": [(S_TAG, 0x445), (S_TAG, 0x446), (C_TAG, 0x6A)],
    "32 tags": [(C_TAG, 0x101 + i) for i in range(MOST_TAGS)],
}
TOO_DEEP: Tags = [(C_TAG, 0x145)] * 40


def lay_queue() -> Netlink:
    """CoDel below 8 Mbit/s that marks soon; c0 leads to s0."""
    kernel = Netlink()
    do(TBF)
    rows = (
        nl.nest(nl.QUEUE, nl.u32(nl.ECN, 1)),
        nl.nest(nl.PARAMS, nl.u64(1, 1_000_000), nl.u64(2, 5_000_000)),
    )
    kernel.add("c0", "9:1", "10:", nl.algorithm("codel"), *rows)
    return kernel


def lay_bridge() -> None:
    """From a0 in namespace a over a bridge to c0."""
    do("ip netns add a")
    do("ip link add b0 type veth peer name a0 netns a")
    do("ip link add br0 type bridge")
    for words in ("b0 master br0", "c0 master br0", "b0 up", "br0 up"):
        do(f"ip link set {words}")
    do("ip netns exec a sysctl -qw net.ipv6.conf.all.disable_ipv6=1")
    do("ip -n a link set a0 up")


def marked(data: bytes, at: int, version: int) -> bytes:
    """The frame with CE in the IP header that begins there, as the far side must see it."""
    head = bytearray(data)
    if version == 6:
        head[at + 1] |= CE << 4
        return bytes(head)
    head[at + 1] |= CE
    head[at + 10 : at + 12] = bytes(2)
    head[at + 10 : at + 12] = frames.checksum(bytes(head[at : at + 20])).to_bytes(2, "big")
    return bytes(head)


def passed(kernel: Netlink, put: Put, sent: list[bytes]) -> tuple[list[bytes], Qdisc]:
    """The frames that came out of a new queue, and its counts."""
    kernel.delete("c0", "root", "9:")
    kernel = lay_queue()
    with catching("s0", "s") as seen:
        put(sent)
        time.sleep(1)
    return seen, kernel.dump("c0")["10:"]


def number_of(data: bytes) -> int:
    return int.from_bytes(data[-4:], "big")


def every_mark_is_in_the_header(put: Put) -> None:
    kernel = lay_queue()
    for name, tags in STACKS.items():
        for version in (4, 6):
            sent = [
                frame(tags, version, ECT, bytes(900) + i.to_bytes(4, "big")) for i in range(MANY)
            ]
            seen, mine = passed(kernel, put, sent)
            marks = 0
            for data in seen:
                plain = sent[number_of(data)]
                wanted = marked(plain, 14 + 4 * len(tags), version)
                assert data in (plain, wanted), (name, version, data[:60].hex(), plain[:60].hex())
                marks += data == wanted
            assert marks == mine.total(nl.MARKS) > 5, (name, version, mine)
            assert len(seen) == MANY - mine.drops, (name, version, mine)
            assert not mine.count(6), (name, mine)


def what_cannot_be_read_is_never_marked(put: Put) -> None:
    kernel = lay_queue()
    types = b"".join(kind.to_bytes(2, "big") + b"\x01\x45" for kind, _ in STACKS["S S C"])
    head = frames.TO + frames.FROM + types
    kinds = {
        "too deep": [frame(TOO_DEEP, 4, ECT, bytes(900) + n) for n in NUMBERS],
        # A header of 20 bytes that ends after 18, and a tag that is the end of the frame.
        "IP cut short": [head + b"\x08\x00\x45\x02" + bytes(12) + n for n in NUMBERS],
        "tag cut short": [head[:22] + n for n in NUMBERS],
        "no such version": [head + b"\x08\x00\x65\x02" + bytes(900) + n for n in NUMBERS],
    }
    for name, sent in kinds.items():
        seen, mine = passed(kernel, put, sent)
        assert len(seen) == MANY - mine.drops > 0, (name, mine)
        for data in seen:
            # A frame may be filled up with zeros behind its end.
            assert data in sent, (name, data[:60].hex())
        assert not mine.total(nl.MARKS), (name, mine)
        assert mine.count(1) == MANY, (name, mine)


@case
def marks_in_bridged_frames_are_in_the_ip_header() -> None:
    lay_wire()
    lay_bridge()
    every_mark_is_in_the_header(lambda sent: send("a0", sent, "a"))


@case
def bridged_frames_that_cannot_be_read_are_never_marked() -> None:
    lay_wire()
    lay_bridge()
    what_cannot_be_read_is_never_marked(lambda sent: send("a0", sent, "a"))


@case
def marks_in_frames_that_are_sent_whole_are_in_the_ip_header() -> None:
    lay_wire()
    every_mark_is_in_the_header(lambda sent: send("c0", sent))


@case
def whole_frames_that_cannot_be_read_are_never_marked() -> None:
    lay_wire()
    what_cannot_be_read_is_never_marked(lambda sent: send("c0", sent))


@case
def marks_of_a_vlan_in_a_vlan_are_in_the_ip_header() -> None:
    """Made here: the kernel has the outer tag beside the frame, the inner one in it."""
    lay_wire()
    kernel = lay_queue()
    do("ip addr del 10.0.0.1/24 dev c0")
    do("ip link add link c0 name outer type vlan protocol 802.1ad id 101")
    do("ip link add link outer name inner type vlan id 102")
    for words in ("link set outer up", "link set inner up", "addr add 10.0.0.1/24 dev inner"):
        do(f"ip {words}")
    do("ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev inner")
    with catching("s0", "s") as seen:
        Sender(tos=ECT).send(MANY)
        time.sleep(1)
    mine = kernel.dump("c0")["10:"]
    head = bytes.fromhex("88a80065 81000066 0800 45")
    assert len(seen) == MANY - mine.drops
    assert all(data[12 : 12 + len(head)] == head for data in seen), seen[0].hex()
    assert all(frames.checksum(data[22:42]) == 0 for data in seen)
    assert sum(data[23] == CE for data in seen) == mine.total(nl.MARKS) > 5, mine
    assert {data[23] for data in seen} == {ECT, CE}
