# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""probes.py: in the guest, the four ways of a probe, and frames that look like its answers."""

from __future__ import annotations

import ipaddress
import socket
import struct
import time
from dataclasses import dataclass

from tests.linux import frames
from tests.linux import netlink as nl
from tests.linux.net import Sender, do, lay_wire
from tests.linux.netlink import Netlink, Qdisc

PROTOCOL = 253
ANSWER = 1 << 63
ICMP, ICMPV6 = 1, 58
# Type of a question and of its answer.
ECHO = {4: (8, 0), 6: (128, 129)}
(JOINED, REFUSED, LEFT, FREED, ANSWERED, UNMADE, FORGOTTEN, UNHEARD, LEFT_BYTES, ASKED, READY) = (
    range(1, 12)
)
STRAYED, WAITED_NS = 12, 13
RTT, SRTT, DROPPING, ANSWERS = 1, 2, 6, 7
MS = 1_000_000
ASQM = (nl.algorithm("asqm"),)
# Below what a packet needs at 8 Mbit/s, so that one answer begins an episode.
HASTY = (nl.algorithm("asqm"), nl.nest(nl.PARAMS, nl.u64(1, MS), nl.u64(2, 10 * MS)))
IPV6_TCLASS = 67
# Here and there, on the wire of these cases, and somebody else.
ENDS = {
    4: tuple(bytes((10, 0, 0, n)) for n in (1, 2, 77)),
    6: tuple(ipaddress.ip_address(f"fd00::{n}").packed for n in (1, 2, 77)),
}


def count(queue: Qdisc, which: int) -> int:
    return nl.numbers(queue.stats[nl.PROBES])[which]


def stat(queue: Qdisc, which: int) -> int:
    return nl.numbers(queue.stats[nl.STATS])[which]


def verdicts(mine: Qdisc) -> list[int]:
    """All values that an accepted answer could change."""
    signals = mine.total(nl.MARKS) + mine.total(nl.DROPS)
    return [count(mine, ANSWERED), signals, *(stat(mine, i) for i in (RTT, SRTT, DROPPING))]


def lay_both() -> None:
    """The wire with IPv6 too, and a network beyond it whose next hop has a link-local address."""
    lay_wire()
    lay_ipv6()


def lay_ipv6() -> None:
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
    """UDP towards s."""

    def __init__(self, target: str = "fd00::2", *, tclass: int = 0, segment_bytes: int = 0) -> None:
        self.target = target
        self.socket = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, 32, 1 << 24)  # SO_SNDBUFFORCE
        self.socket.setsockopt(socket.IPPROTO_IPV6, IPV6_TCLASS, tclass)
        self.socket.setsockopt(socket.IPPROTO_UDP, 103, segment_bytes)  # UDP_SEGMENT

    def send(self, number: int, payload_bytes: int = 952) -> None:
        for _ in range(number):
            self.socket.sendto(bytes(payload_bytes), (self.target, 9))


def packet(
    version: int, ends: tuple[bytes, bytes], protocol: int, payload: bytes, hops: int = 64
) -> bytes:
    """An IP packet from the first end to the second."""
    if version == 6:
        head = struct.pack("!IHBB", 6 << 28, len(payload), protocol, hops)
        return head + b"".join(ends) + payload
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, hops, protocol, 0)
    head += b"".join(ends)
    return head[:10] + struct.pack("!H", frames.checksum(head)) + head[12:] + payload


def to_here(version: int, inside: bytes) -> bytes:
    """A frame from s0 to c0."""
    kind = frames.IPV4 if version == 4 else frames.IPV6
    return frames.FROM + frames.TO + struct.pack("!H", kind) + inside


@dataclass(frozen=True)
class Way:
    """A family and a kind of probe."""

    version: int
    echo: bool

    @property
    def words(self) -> str:
        return f"probe {'echo' if self.echo else 'experimental'}"

    @property
    def row(self) -> bytes:
        return nl.nest(nl.HOST, nl.u32(nl.PROBE, 0 if self.echo else 1))

    @property
    def ends(self) -> tuple[bytes, bytes]:
        """Here and there."""
        here, there, _ = ENDS[self.version]
        return here, there

    @property
    def protocol(self) -> int:
        if not self.echo:
            return PROTOCOL
        return ICMP if self.version == 4 else ICMPV6

    @property
    def head(self) -> int:
        """Of Ethernet and IP together."""
        return 14 + (20 if self.version == 4 else 40)

    @property
    def frame_bytes(self) -> int:
        return self.head + 8

    def sender(self, ds: int = 0, segment_bytes: int = 0) -> Sender | Sender6:
        if self.version == 4:
            return Sender(tos=ds, segment_bytes=segment_bytes)
        return Sender6(tclass=ds, segment_bytes=segment_bytes)

    def _is(self, data: bytes, answer: bool) -> bool:
        kind = frames.IPV4 if self.version == 4 else frames.IPV6
        at = 23 if self.version == 4 else 20
        if data[12:14] != struct.pack("!H", kind) or data[at] != self.protocol:
            return False
        if self.echo:
            return data[self.head] == ECHO[self.version][answer]
        return bool(data[self.head] & 0x80) == answer

    def is_question(self, data: bytes) -> bool:
        return self._is(data, False)

    def is_answer(self, data: bytes) -> bool:
        return self._is(data, True)

    def number(self, data: bytes) -> int:
        """The nonce of a question; of an answer that of its question."""
        payload = data[self.head : self.head + 8]
        if self.echo:
            return int.from_bytes(payload[4:8], "big")
        return int.from_bytes(payload, "big") & ~ANSWER

    def identifier(self, data: bytes) -> int:
        """Of the queue."""
        return self.number(data) >> 16 & 0xFFFF

    def payload(self, number: int, ends: tuple[bytes, bytes], *, answer: bool) -> bytes:
        if not self.echo:
            return (number | ANSWER if answer else number).to_bytes(8, "big")
        kind = ECHO[self.version][answer]
        whole = struct.pack("!BBHI", kind, 0, 0, number)
        pseudo = b""
        if self.version == 6:
            pseudo = b"".join(ends) + struct.pack("!II", len(whole), ICMPV6)
        return whole[:2] + struct.pack("!H", frames.checksum(pseudo + whole)) + whole[4:]

    def frame(
        self,
        number: int,
        ends: tuple[bytes, bytes] | None = None,
        *,
        answer: bool = True,
        hops: int = 255,
    ) -> bytes:
        """A frame to c0 with this number; unless said, from there to here."""
        ends = ends or self.ends[::-1]
        inside = self.payload(number, ends, answer=answer)
        return to_here(self.version, packet(self.version, ends, self.protocol, inside, hops))


WAYS = [Way(version, echo) for version in (4, 6) for echo in (True, False)]


def answers_in_s(way: Way, *, answers: bool = True) -> None:
    """The far end answers this way, or does not."""
    if way.echo and way.version == 4:
        do(f"ip netns exec s sysctl -qw net.ipv4.icmp_echo_ignore_all={int(not answers)}")
    elif way.echo:
        do(f"ip netns exec s sysctl -qw net.ipv6.icmp.echo_ignore_all={int(not answers)}")
    else:
        word = "respond" if answers else "norespond"
        do(f"ip netns exec s tc qdisc replace dev s0 root sojourn fifo {word}")


def queue(way: Way, *more: bytes, place: str = "root", handle: str = "1:") -> Netlink:
    """An asqm of this kind on c0."""
    kernel = Netlink()
    kernel.add("c0", place, handle, *(more or ASQM), way.row)
    return kernel
