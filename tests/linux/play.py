# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""play.py: a script for player.c, written on the host, with its network."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address

from sojourn.linux.uml.boot import EPOCH_S

from tests.linux.netlink import handle
from tests.linux.rtnetlink import (
    CREATE,
    DELETE,
    DUMP,
    EXCLUSIVE,
    GET,
    KIND,
    NEW,
    OPTIONS,
    REPLACE,
    attribute,
    nest,
    qdisc_message,
    text,
    u32,
)

MS = 1_000_000
# The set-up before the first `at` is done by then: it takes a millisecond.
ZERO_NS = (EPOCH_S + 10) * 1_000_000_000
# The first namespace's descriptor; the next one's is one more.
SPACE_FD = 100

NEW_LINK, NEW_ADDRESS, NEW_ROUTE, NEW_NEIGHBOUR = 16, 20, 24, 28
_UP, _INET, _PERMANENT, _MAIN, _STATIC, _LINK, _UNICAST = 1, 2, 0x80, 254, 4, 253, 1
_ECN = 1


class Script:
    """Lines for player.c, and how far its time has come."""

    def __init__(self) -> None:
        self._lines = ["#!./player", f"zero {ZERO_NS}"]
        self._now_ns = 0

    def __str__(self) -> str:
        return "\n".join([*self._lines, ""])

    def add(self, verb: str, *words: object) -> None:
        self._lines.append(" ".join(map(str, (verb, *words))))

    def wait(self, pause_ms: int) -> None:
        """Go on this long after the last wait ended; the first one counts from `zero`."""
        self._now_ns += pause_ms * MS
        self.add("at", self._now_ns)

    @property
    def now_ns(self) -> int:
        return self._now_ns

    # ---- namespaces and links; a device is known by its number, which it is given ----

    def ask(self, kind: int, flags: int, message: bytes) -> None:
        self.add("ask", kind, flags, message.hex())

    def space(self, name: str) -> None:
        self.add("space", name)

    def link(self, index: int, name: str, kind: str, *more: bytes) -> None:
        info = nest(18, text(1, kind), *more)
        self.ask(NEW_LINK, CREATE | EXCLUSIVE, _device(index, name) + info)

    def wire(self, index: int, name: str, peer: str, peer_fd: int) -> None:
        """A pair: the other end has the same number, in the namespace of a descriptor."""
        other = _device(index, peer, 2) + u32(28, peer_fd)
        self.link(index, name, "veth", nest(2, attribute(1, other)))

    def set_link(self, index: int, *, up: bool = True, mtu: int | None = None) -> None:
        wanted = struct.pack("=BxHiII", 0, 0, _number(index), _UP * up, _UP)
        self.ask(NEW_LINK, 0, wanted + (u32(4, mtu) if mtu else b""))

    def address(self, index: int, address: str) -> None:
        """One of 254."""
        head = struct.pack("=BBBBI", _INET, 24, 0, 0, _number(index))
        own = IPv4Address(address).packed
        self.ask(NEW_ADDRESS, CREATE | EXCLUSIVE, head + attribute(1, own) + attribute(2, own))

    def neighbour(self, index: int, address: str, end: int) -> None:
        head = struct.pack("=BxxxiHBB", _INET, _number(index), _PERMANENT, 0, 0)
        who = attribute(1, IPv4Address(address).packed) + attribute(2, _mac(end))
        self.ask(NEW_NEIGHBOUR, CREATE | REPLACE, head + who)

    def ecn_route(self, index: int, address: str) -> None:
        """Connections to this address offer ECN."""
        head = struct.pack("=BBBBBBBBI", _INET, 32, 0, 0, _MAIN, _STATIC, _LINK, _UNICAST, 0)
        to = attribute(1, IPv4Address(address).packed) + u32(4, _number(index))
        self.ask(NEW_ROUTE, CREATE | REPLACE, head + to + nest(8, u32(12, _ECN)))

    # ---- qdiscs ----

    def qdisc(
        self, index: int, where: str, own: str, flags: int, kind: str, *options: bytes
    ) -> None:
        parts = text(KIND, kind), nest(OPTIONS, *options)
        self.ask(NEW, flags, qdisc_message(_number(index), handle(own), handle(where), *parts))

    def tbf(self, index: int, rate_bps: int, burst_bytes: int, flags: int) -> None:
        """Of a device's root, as 9:."""
        # Of Ethernet; then no table of times is asked for.
        rate = struct.pack("=BBHhHI", 0, 1, 0, 0, 0, rate_bps // 8)
        qopt = rate + bytes(len(rate)) + struct.pack("=III", 100_000_000, 0, 0)
        self.qdisc(index, "root", "9:", flags, "tbf", attribute(1, qopt), u32(6, burst_bytes))

    def delete_qdisc(self, index: int, where: str, own: str) -> None:
        self.ask(DELETE, 0, qdisc_message(_number(index), handle(own), handle(where)))

    def dump(self) -> None:
        """All qdiscs of the namespace update their statistics."""
        self.ask(GET, DUMP, qdisc_message(0, 0, 0))


def _number(index: int) -> int:
    """A device's in the kernel, behind those that some kernels make by themselves."""
    return 100 + index


def _mac(end: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, end])


def _device(index: int, name: str, end: int = 1) -> bytes:
    return (
        struct.pack("=BxHiII", 0, 0, _number(index), 0, 0) + text(3, name) + attribute(1, _mac(end))
    )
