# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_probes6.py: probes behind IPv6 packets: those sent, accepted and answered."""

from __future__ import annotations

import ipaddress
import random
import re
import socket
import struct
import time
from pathlib import Path

from tests.linux import frames
from tests.linux import netlink as nl
from tests.linux.cases_probes import (
    ANSWER,
    ANSWERED,
    ASQM,
    HASTY,
    JOINED,
    LEFT,
    PROTOCOL,
    UNMADE,
    check_all_are_answered,
    count,
    hundred,
    respond_in,
    verdicts,
)
from tests.linux.cases_probes import probe as probe4
from tests.linux.frames import catching, send
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink
from tests.linux.trees import TBF

HERE, THERE, STRANGER = (ipaddress.ip_address(f"fd00::{n}").packed for n in (1, 2, 77))
LINK_HERE, LINK_THERE = (ipaddress.ip_address(f"fe80::{n}").packed for n in (1, 2))
BEYOND = "fd99::1"
HOP_BY_HOP, DESTINATION, NO_NEXT, ICMPV6 = 0, 60, 59, 58
PARAMETER_PROBLEM = 4
IPV6_HOPOPTS, IPV6_DSTOPTS, IPV6_TCLASS = 54, 59, 67
# An extension header of eight bytes: next header, length, and padding of four.
PADDING = bytes((1, 4, 0, 0, 0, 0))


def lay_wire6() -> None:
    """The same wire with IPv6, and a network beyond it whose next hop has a link-local address."""
    lay_wire()
    for space, dev, number in (("", "c0", 1), ("ip netns exec s ", "s0", 2)):
        for word in ("accept_dad=0", "router_solicitations=0", "addr_gen_mode=1"):
            do(f"{space}sysctl -qw net.ipv6.conf.{dev}.{word}")
        do(f"{space}sysctl -qw net.ipv6.conf.all.disable_ipv6=0")
        do(f"{space}ip -6 addr add fd00::{number}/64 dev {dev} nodad")
        do(f"{space}ip -6 addr add fe80::{number}/64 dev {dev} nodad")
        for prefix in ("fd00", "fe80"):
            far = f"{prefix}::{3 - number} lladdr 02:00:00:00:00:0{3 - number}"
            do(f"{space}ip -6 neigh add {far} nud permanent dev {dev}")
    do("ip -6 route add fd99::/64 via fe80::2 dev c0")
    # The kernel's own packets after a new address.
    time.sleep(30)


class Sender6:
    """UDP towards s, with extension headers on request."""

    def __init__(self, target: str = "fd00::2", *, tclass: int = 0, extended: bool = False) -> None:
        self.target = target
        self.socket = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.IPPROTO_IPV6, IPV6_TCLASS, tclass)
        if extended:
            for option in (IPV6_HOPOPTS, IPV6_DSTOPTS):
                self.socket.setsockopt(socket.IPPROTO_IPV6, option, bytes(2) + PADDING)

    def send(self, number: int) -> None:
        for _ in range(number):
            self.socket.sendto(bytes(952), (self.target, 9))


def is_probe(data: bytes) -> bool:
    return data[12:14] == b"\x86\xdd" and data[20] == PROTOCOL


def nonce(data: bytes) -> int:
    return int.from_bytes(data[54:62], "big")


def probe(source: bytes, target: bytes, number: int, extensions: tuple[int, ...] = ()) -> bytes:
    """A frame to c0, from anybody to anybody, with extension headers of eight bytes in front."""
    chain = [*extensions, PROTOCOL]
    inside = b"".join(bytes((follows, 0)) + PADDING for follows in chain[1:])
    inside += number.to_bytes(8, "big")
    head = struct.pack("!IHBB", 6 << 28, len(inside), chain[0], 64) + source + target
    return frames.FROM + frames.TO + b"\x86\xdd" + head + inside


def heard_after(sent: list[bytes]) -> list[bytes]:
    """All IPv6 that comes back to s0."""
    with catching("s0", "s") as there:
        send("s0", sent, "s")
        time.sleep(0.5)
    return [data for data in there if data[12:14] == b"\x86\xdd"]


@case
def a_probe_follows_each_fourth_ipv6_packet_and_comes_back() -> None:
    lay_wire6()
    out, back, mine = hundred(Sender6(tclass=0xB8 | 2))
    asked = [data for data in out if is_probe(data)]
    assert [i for i, data in enumerate(out) if is_probe(data)] == list(range(4, 125, 5))
    for data in asked:
        assert len(data) == 62 and data[:14] == out[0][:14]
        assert data[14:16] == bytes.fromhex("6b80"), "the DSCP of the packet that asked, Not-ECT"
        assert data[16:22] == bytes((0, 0, 0, 8, PROTOCOL, 64)), data.hex()
        assert data[22:54] == HERE + THERE
    answers = [data for data in back if is_probe(data)]
    for data in answers:
        assert len(data) == 62 and data[22:54] == THERE + HERE
        assert data[14:16] == bytes.fromhex("6b80")
    check_all_are_answered(mine, [nonce(data) for data in asked], [nonce(data) for data in answers])
    # Probes are in the device's counts.
    assert mine.sent_bytes == 100 * 1014 + 25 * 62 + 1014


@case
def ipv6_probes_go_to_the_next_hop_and_link_local_answers_find_their_way() -> None:
    """`responder` is of IPv4."""
    lay_wire6()
    respond_in("s", "s0")
    # An answer without a device would take the route by another device.
    do("ip -n s link add a0 type dummy")
    do("ip -n s link set a0 up")
    do("ip -n s -6 addr add fe80::99/64 dev a0 nodad")
    kernel = Netlink()
    respond = nl.nest(nl.HOST, nl.u32(nl.RESPONDER, 0x0A090807))
    kernel.add("c0", "root", "1:", *ASQM, respond)
    with catching("s0", "s") as out, catching("c0") as back:
        Sender6(BEYOND).send(8)
        Sender().send(4)
        time.sleep(0.1)
    asked = [data for data in out if is_probe(data)]
    assert [data[22:54] for data in asked] == [LINK_HERE + LINK_THERE] * 2
    assert [data[30:34] for data in out if data[23] == PROTOCOL] == [bytes((10, 9, 8, 7))]
    answers = [data for data in back if is_probe(data)]
    assert [data[22:54] for data in answers] == [LINK_THERE + LINK_HERE] * 2
    Sender6(BEYOND).send(1)
    mine = kernel.dump("c0")["1:"]
    assert (count(mine, JOINED), count(mine, ANSWERED)) == (3, 2)
    # Multicast has no next hop that could answer.
    do("ip -6 route add multicast ff05::/16 dev c0 table local")
    before = count(mine, UNMADE)
    Sender6("ff05::1234").send(8)
    mine = kernel.dump("c0")["1:"]
    assert count(mine, JOINED) == 3 and count(mine, UNMADE) == before + 2


@case
def forged_and_repeated_ipv6_answers_change_nothing() -> None:
    lay_wire6()
    do("ip -6 addr add fd00::5/64 dev c0 nodad")
    do("ip -6 addr change fd00::5/64 dev c0 preferred_lft 0")
    kernel = Netlink()
    kernel.add("c0", "root", "1:", *HASTY)
    with catching("s0", "s") as out:
        Sender6().send(40)
        Sender().send(4)
        time.sleep(0.1)
    numbers = [nonce(data) for data in out if is_probe(data)]
    [other] = [int.from_bytes(data[34:42], "big") for data in out if data[23] == PROTOCOL]
    assert len(numbers) == 10
    draw = random.Random(6)
    wrong: list[bytes] = []
    for _ in range(500):
        near = draw.choice(numbers) ^ 1 << draw.randrange(63)
        wrong += [probe(THERE, HERE, near | ANSWER)]
        wrong += [probe(THERE, HERE, draw.getrandbits(63) | ANSWER)]
    here4, there4 = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))
    mapped = bytes(10) + b"\xff\xff"
    for number in numbers:
        wrong.append(probe(STRANGER, HERE, number | ANSWER))
        wrong.append(probe(LINK_THERE, HERE, number | ANSWER))
        wrong.append(probe(THERE, ipaddress.ip_address("fd00::5").packed, number | ANSWER))
        wrong.append(probe(THERE, HERE, number))
        wrong.append(probe(THERE, HERE, number | ANSWER)[:60])
        # The right number by the other family.
        wrong.append(probe4(there4, here4, number | ANSWER, frames.FROM, frames.TO))
    wrong.append(probe(THERE, HERE, other | ANSWER))
    wrong.append(probe(mapped + there4, mapped + here4, other | ANSWER))
    wrong.append(probe(mapped + there4, HERE, other | ANSWER))
    before = verdicts(kernel.dump("c0")["1:"])
    send("s0", wrong, "s")
    time.sleep(0.2)
    Sender6().send(1)
    assert verdicts(kernel.dump("c0")["1:"]) == before
    # The true ones count once each, also behind extension headers.
    extensions = [(), (HOP_BY_HOP,), (DESTINATION,), (HOP_BY_HOP, DESTINATION)]
    true = [
        probe(THERE, HERE, number | ANSWER, extensions[i % 4]) for i, number in enumerate(numbers)
    ]
    send("s0", true * 3, "s")
    time.sleep(0.2)
    Sender6().send(1)
    assert count(kernel.dump("c0")["1:"], ANSWERED) == 10


@case
def ipv6_questions_are_answered_once_and_no_error_is_sent() -> None:
    lay_wire6()
    number = 0x0123456789ABCDEF
    # Without a responder there is silence, and no parameter problem.
    assert not heard_after([probe(THERE, HERE, number), probe(THERE, HERE, number | ANSWER)])
    do("tc qdisc add dev c0 root handle 1: sojourn fifo respond")
    for extensions in ((), (HOP_BY_HOP,), (DESTINATION,), (HOP_BY_HOP, DESTINATION)):
        [answer] = heard_after([probe(THERE, HERE, number, extensions)])
        assert answer[20] == PROTOCOL and nonce(answer) == number | ANSWER
        assert answer[22:54] == HERE + THERE and len(answer) == 62
    [answer] = heard_after([probe(LINK_THERE, LINK_HERE, number)])
    assert answer[22:54] == LINK_HERE + LINK_THERE
    assert not heard_after([probe(THERE, HERE, number | ANSWER)])
    assert not heard_after([probe(THERE, HERE, number)[:61]])
    everybody = ipaddress.ip_address("ff02::1").packed
    assert not heard_after([probe(THERE, everybody, number)])
    # Our own probe, returned unchanged, gets no answer.
    do("tc qdisc replace dev c0 root handle 1: sojourn asqm respond")
    with catching("s0", "s") as out:
        Sender6().send(4)
        time.sleep(0.1)
    [own] = [nonce(data) for data in out if is_probe(data)]
    assert not heard_after([probe(HERE, HERE, own), probe(THERE, HERE, own)])


@case
def an_ipv6_probe_has_the_tags_of_its_packet_and_none_of_its_extension_headers() -> None:
    lay_wire6()
    do("ip link add link c0 name tagged type vlan id 102")
    do("sysctl -qw net.ipv6.conf.tagged.accept_dad=0")
    do("ip link set tagged up")
    do("ip -6 addr add fd77::1/64 dev tagged nodad")
    do("ip -6 neigh add fd77::2 lladdr 02:00:00:00:00:02 nud permanent dev tagged")
    time.sleep(30)
    do("tc qdisc add dev c0 root handle 1: sojourn asqm")
    with catching("s0", "s") as out:
        Sender6("fd77::2", extended=True).send(8)
        time.sleep(0.1)
    assert len(out) == 10
    assert out[0][24] == HOP_BY_HOP
    for data in out[4::5]:
        assert data[:18] == out[0][:18] and data[12:18] == bytes.fromhex("8100 0066 86dd")
        assert len(data) == 66 and data[18:26] == bytes.fromhex("60000000 0008") + bytes((253, 64))
        assert data[26:58] == ipaddress.ip_address("fd77::1").packed + (
            ipaddress.ip_address("fd77::2").packed
        )


@case
def segments_of_ipv6_are_split_and_probed_and_the_books_are_right() -> None:
    lay_wire6()
    respond_in("s", "s0")
    kernel = Netlink()
    do("tc qdisc add dev c0 root handle 9: tbf rate 8mbit burst 3000 limit 3000000")
    rows = nl.nest(nl.PARAMS, nl.u32(3, 1)), nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 20))
    kernel.add("c0", "9:1", "10:", nl.algorithm("asqm"), *rows)
    large = Sender6()
    large.socket.setsockopt(socket.IPPROTO_UDP, 103, 952)  # UDP_SEGMENT
    for _ in range(10):
        large.socket.sendto(bytes(9 * 952), ("fd00::2", 9))
    found = kernel.dump("c0")
    assert found["9:"].qlen == found["10:"].qlen, found
    assert found["9:"].backlog == found["10:"].backlog, found
    time.sleep(2)
    found = kernel.dump("c0")
    assert found["9:"].qlen == found["10:"].qlen == found["10:"].backlog == 0, found
    assert count(found["10:"], JOINED) > 5
    assert count(found["10:"], LEFT) == count(found["10:"], JOINED)


def commands_of_the_page() -> list[str]:
    """The commands for answers by tc alone, on the wire of these cases."""
    page = (Path(__file__).resolve().parents[2] / "docs/linux.md").read_text()
    [block] = [b for b in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S) if "clsact" in b]
    # The page's node is number 1, the wire's number 2.
    here = {
        "eth0": "s0",
        "192.0.2.1": "10.0.0.2",
        "192.0.2.2": "10.0.0.1",
        "2001:db8::1": "fd00::2",
        "2001:db8::2": "fd00::1",
    }
    for written, meant in here.items():
        block = block.replace(written, meant)
    lines: list[str] = block.replace("\\\n", " ").splitlines()
    return lines


@case
def a_node_without_a_responder_answers_by_tc_alone() -> None:
    lay_wire6()
    kernel = Netlink()
    for answers in (False, True):
        for command in commands_of_the_page() if answers else ():
            do(f"ip netns exec s {command}")
        senders: tuple[Sender | Sender6, ...] = (Sender(tos=2), Sender6(tclass=2))
        for sender in senders:
            do(TBF)
            kernel.add("c0", "9:1", "10:", *HASTY, nl.nest(nl.QUEUE, nl.u32(nl.ECN, 1)))
            with catching("s0", "s") as out, catching("c0") as back:
                for _ in range(60):
                    sender.send(5)
                    time.sleep(0.005)
                time.sleep(0.5)
            mine = kernel.dump("c0")["10:"]
            assert (mine.total(nl.MARKS) > 3) == answers, mine
            asked = [data for data in out if PROTOCOL in (data[20], data[23])]
            came = [data for data in back if PROTOCOL in (data[20], data[23])]
            assert len(asked) > 60 and len(came) == (len(asked) if answers else 0)
            for question, answer in zip(asked, came, strict=False):
                six = question[12:14] == b"\x86\xdd"
                at, size = (22, 16) if six else (26, 4)
                ends = question[at + size : at + 2 * size] + question[at : at + size]
                number = bytes((question[at + 2 * size] | 0x80,))
                rest = question[at + 2 * size + 1 : at + 2 * size + 8]
                assert answer[:12] == question[6:12] + question[:6]
                assert answer[12:at] == question[12:at]
                assert answer[at : at + 2 * size + 8] == ends + number + rest
                assert six or frames.checksum(answer[14:34]) == 0
            kernel.delete("c0", "root", "9:")
