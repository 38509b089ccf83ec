# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""netlink.py: qdiscs by raw netlink, in the guest: also what no program would send."""

from __future__ import annotations

import errno
import socket
import struct
from dataclasses import dataclass

NEW, DELETE, GET = 36, 37, 38
REQUEST, ACK, DUMP = 0x001, 0x004, 0x300
REPLACE, EXCLUSIVE, CREATE = 0x100, 0x200, 0x400
ERROR, DONE = 2, 3
EXT_ACK, CAP_ACK = 11, 10
ROOT = 0xFFFFFFFF
NESTED = 0x8000
ALGO, HOST, QUEUE, PARAMS = 1, 2, 3, 4
COUNTS, DROPS, MARKS, BAD, STATS, MEMORY = 1, 2, 3, 4, 5, 6

# Numbers of rows are for ever: a test that must change one has found a mistake.
SPLIT_GSO = 1
LIMIT, LIMIT_BYTES, ECN, FLOWS, QUANTUM = 1, 2, 3, 4, 5


class Refused(Exception):
    """The kernel's answer: a number and, if it gave one, a sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(f"{errno.errorcode.get(code, code)}: {sentence}")
        self.code, self.sentence = code, sentence


def attribute(kind: int, payload: bytes) -> bytes:
    whole = struct.pack("=HH", 4 + len(payload), kind) + payload
    return whole + bytes(-len(whole) % 4)


def attributes(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        assert length >= 4, "an attribute shorter than its head"
        found.append((kind & 0x3FFF, data[4:length]))
        data = data[(length + 3) & ~3 :]
    return found


def nest(kind: int, *inside: bytes) -> bytes:
    return attribute(kind | NESTED, b"".join(inside))


def u32(row: int, value: int) -> bytes:
    return attribute(row, struct.pack("=I", value))


def u64(row: int, value: int) -> bytes:
    return attribute(row, struct.pack("=Q", value))


def algorithm(name: str) -> bytes:
    return attribute(ALGO, name.encode() + b"\0")


def handle(text: str) -> int:
    if text == "root":
        return ROOT
    major, minor = text.split(":")
    return int(major, 16) << 16 | int(minor or "0", 16)


def numbers(data: bytes) -> dict[int, int]:
    """A nest of rows: number of the row and value, of either width."""
    return {kind: int.from_bytes(value, "little") for kind, value in attributes(data)}


@dataclass(frozen=True)
class Qdisc:
    """One line of a dump."""

    kind: str
    handle: int
    parent: int
    options: bytes
    sent_bytes: int
    sent_pkts: int
    qlen: int
    backlog: int
    drops: int
    app: bytes

    @property
    def rows(self) -> dict[int, bytes]:
        return dict(attributes(self.options))

    @property
    def stats(self) -> dict[int, bytes]:
        return dict(attributes(self.app))

    def count(self, which: int) -> int:
        return numbers(self.stats[COUNTS])[which]

    def total(self, nest_type: int) -> int:
        return sum(numbers(self.stats[nest_type]).values())

    @property
    def balances(self) -> bool:
        """In = out + dropped + held; what was peeked at is out, and still held."""
        arrived, _, out = (self.count(i) for i in (1, 2, 3))
        held = arrived - out - self.total(DROPS)
        return held >= 0 and self.qlen - held in (0, 1)


class Netlink:
    """A socket to the kernel's routing side; each call waits for its answer."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        for option in (EXT_ACK, CAP_ACK):
            self.socket.setsockopt(270, option, 1)
        self.sequence = 0

    def ask(self, kind: int, flags: int, payload: bytes) -> list[bytes]:
        self.sequence += 1
        head = struct.pack("=IHHII", 16 + len(payload), kind, flags | REQUEST, self.sequence, 0)
        self.socket.send(head + payload)
        answers: list[bytes] = []
        while True:
            data = self.socket.recv(1 << 20)
            while data:
                length, answer, answer_flags, _, _ = struct.unpack_from("=IHHII", data)
                if answer == ERROR:
                    self.judge(data[16:length], answer_flags)
                    return answers
                if answer == DONE:
                    return answers
                answers.append(data[16:length])
                data = data[(length + 3) & ~3 :]

    @staticmethod
    def judge(body: bytes, flags: int) -> None:
        code = -struct.unpack_from("=i", body)[0]
        sentence = ""
        if flags & 0x200:
            sentence = dict(attributes(body[20:])).get(1, b"").rstrip(b"\0").decode()
        if code:
            raise Refused(code, sentence)

    def put(self, dev: str, where: str, own: str, flags: int, *options: bytes) -> None:
        """Make or change a sojourn qdisc; `options` are the attributes inside."""
        self.put_raw(dev, where, own, flags, nest(2, *options))

    def put_raw(self, dev: str, where: str, own: str, flags: int, options: bytes) -> None:
        index = socket.if_nametoindex(dev)
        message = struct.pack("=BxxxiIII", 0, index, handle(own), handle(where), 0)
        self.ask(NEW, flags | ACK, message + attribute(1, b"sojourn\0") + options)

    def add(self, dev: str, where: str, own: str, *options: bytes) -> None:
        self.put(dev, where, own, CREATE | EXCLUSIVE, *options)

    def change(self, dev: str, where: str, own: str, *options: bytes) -> None:
        self.put(dev, where, own, 0, *options)

    def delete(self, dev: str, where: str, own: str) -> None:
        index = socket.if_nametoindex(dev)
        message = struct.pack("=BxxxiIII", 0, index, handle(own), handle(where), 0)
        self.ask(DELETE, ACK, message)

    def dump(self, dev: str) -> dict[str, Qdisc]:
        """The device's qdiscs by their handle, as in `1:`."""
        index = socket.if_nametoindex(dev)
        answers = self.ask(GET, DUMP, struct.pack("=BxxxiIII", 0, 0, 0, 0, 0))
        found = {}
        for answer in answers:
            _, owner, own, parent, _ = struct.unpack_from("=BxxxiIII", answer)
            if owner == index:
                found[f"{own >> 16:x}:"] = qdisc(own, parent, dict(attributes(answer[20:])))
        return found


def qdisc(own: int, parent: int, parts: dict[int, bytes]) -> Qdisc:
    stats = dict(attributes(parts.get(7, b"")))
    sent_bytes, sent_pkts = struct.unpack_from("=QI", stats[1])
    qlen, backlog, drops = struct.unpack_from("=III", stats[3])
    return Qdisc(
        kind=parts[1].rstrip(b"\0").decode(),
        handle=own,
        parent=parent,
        options=parts.get(2, b""),
        sent_bytes=sent_bytes,
        sent_pkts=sent_pkts,
        qlen=qlen,
        backlog=backlog,
        drops=drops,
        app=stats.get(4, b""),
    )
