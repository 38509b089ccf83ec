# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""netlink.py: qdiscs by raw netlink, in the guest: also messages that no program would send."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, replace
from typing import Self

from tests.linux import rtnetlink
from tests.linux.rtnetlink import (
    ACK,
    CREATE,
    DELETE,
    DUMP,
    EXCLUSIVE,
    GET,
    KIND,
    NESTED,
    NEW,
    OPTIONS,
    REPLACE,
    ROOT,
    Refused,
    attribute,
    attributes,
    flag,
    nest,
    numbers,
    qdisc_message,
    text,
    u32,
    u64,
)

__all__ = [
    "CREATE",
    "DUMP",
    "EXCLUSIVE",
    "GET",
    "NESTED",
    "REPLACE",
    "ROOT",
    "Netlink",
    "Qdisc",
    "Refused",
    "attribute",
    "attributes",
    "flag",
    "nest",
    "numbers",
    "qdisc_message",
    "u32",
    "u64",
]

# The numbers of linux/qdisc/sojourn.h, a second time: they never change, and a test that must
# change one has found a mistake.
ALGO, HOST, QUEUE, PARAMS, ANEW, RESPONDER6 = 1, 2, 3, 4, 5, 6
COUNTS, DROPS, MARKS, BAD, STATS, MEMORY, PROBES, FLOW_STATS, DEFICIT = range(1, 10)
SPLIT_GSO, RESPOND, RESPONDER, PROBE = 1, 2, 3, 4
GET_CLASS = 42
# Of IP and what the tests put in front of it.
PROBE_BYTES = 42
LIMIT, LIMIT_BYTES, ECN, FLOWS, QUANTUM, MEMORY_LIMIT, BANDWIDTH, DROP_BATCH = range(1, 9)


def algorithm(name: str) -> bytes:
    return text(ALGO, name)


def handle(name: str) -> int:
    if name == "root":
        return ROOT
    major, minor = name.split(":")
    return int(major, 16) << 16 | int(minor or "0", 16)


def unpadded(data: bytes) -> bytes:
    """Attributes without the empty ones that align others: how many there are depends on where
    in a message they stand."""
    whole = b""
    while data:
        length, kind = struct.unpack_from("=HH", data)
        inside, data = data[4:length], data[(length + 3) & ~3 :]
        if kind or inside:
            whole += attribute(kind, unpadded(inside) if kind & NESTED else inside)
    return whole


@dataclass(frozen=True)
class Qdisc(rtnetlink.Qdisc):
    """One line of a dump."""

    @classmethod
    def read(cls, message: bytes) -> Self:
        found = super().read(message)
        if found.kind != "sojourn":
            return found
        options, own_stats = unpadded(found.options), unpadded(found.own_stats)
        return replace(found, options=options, own_stats=own_stats)

    @property
    def rows(self) -> dict[int, bytes]:
        return dict(attributes(self.options))

    @property
    def stats(self) -> dict[int, bytes]:
        return dict(attributes(self.own_stats))

    def count(self, which: int) -> int:
        return numbers(self.stats[COUNTS])[which]

    def total(self, nest_type: int) -> int:
        return sum(numbers(self.stats[nest_type]).values())

    @property
    def probes_held(self) -> int:
        if PROBES not in self.stats:
            return 0
        counts = numbers(self.stats[PROBES])
        return counts[1] - counts[3] - counts[4]

    @property
    def balances(self) -> bool:
        """In = out + dropped + held; what was peeked at is out, and still held."""
        arrived, arrived_bytes, out, out_bytes, dropped_bytes = (self.count(i) for i in range(1, 6))
        probes = self.probes_held
        held = arrived - out - self.total(DROPS) + probes
        held_bytes = arrived_bytes - out_bytes - dropped_bytes + PROBE_BYTES * probes
        if self.qlen == held and self.backlog != held_bytes:
            return False
        return held >= 0 and self.qlen - held in (0, 1)


class Netlink(rtnetlink.Socket):
    """Requests of the tests, right or wrong."""

    def put(self, dev: str, where: str, own: str, flags: int, *options: bytes) -> None:
        """Make or change a sojourn qdisc; `options` are the attributes inside."""
        self.put_raw(dev, where, own, flags, nest(OPTIONS, *options))

    def put_raw(self, dev: str, where: str, own: str, flags: int, options: bytes) -> None:
        self._ask_about(NEW, flags, dev, where, own, text(KIND, "sojourn"), options)

    def add(self, dev: str, where: str, own: str, *options: bytes) -> None:
        self.put(dev, where, own, CREATE | EXCLUSIVE, *options)

    def change(self, dev: str, where: str, own: str, *options: bytes) -> None:
        self.put(dev, where, own, 0, *options)

    def replace(self, dev: str, where: str, own: str, *options: bytes) -> None:
        self.put(dev, where, own, CREATE | REPLACE, *options, flag(ANEW))

    def delete(self, dev: str, where: str, own: str) -> None:
        self._ask_about(DELETE, 0, dev, where, own)

    def _ask_about(
        self, kind: int, flags: int, dev: str, where: str, own: str, *parts: bytes
    ) -> None:
        index = socket.if_nametoindex(dev)
        self.ask(kind, flags | ACK, qdisc_message(index, handle(own), handle(where), *parts))

    def dump(self, dev: str) -> dict[str, Qdisc]:
        """The device's qdiscs by their handle, as in `1:`."""
        index = socket.if_nametoindex(dev)
        found = map(Qdisc.read, self.ask(GET, DUMP, qdisc_message(0, 0, 0)))
        return {f"{qdisc.handle >> 16:x}:": qdisc for qdisc in found if qdisc.index == index}

    def classes(self, dev: str) -> dict[str, Qdisc]:
        """The classes of the device's sojourn qdiscs by their number, as in `1:2`."""
        asked = qdisc_message(socket.if_nametoindex(dev), 0, 0)
        found = map(Qdisc.read, self.ask(GET_CLASS, DUMP, asked))
        return {
            f"{one.handle >> 16:x}:{one.handle & 0xFFFF:x}": one
            for one in found
            if one.kind == "sojourn"
        }
