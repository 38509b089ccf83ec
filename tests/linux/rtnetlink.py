# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Qdiscs by raw netlink: messages as bytes, and a socket that waits for each answer.

The module uses Python's own library alone: the guest of the qdisc's tests has no other.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

NEW, DELETE, GET = 36, 37, 38
REQUEST, ACK, DUMP = 0x001, 0x004, 0x300
REPLACE, EXCLUSIVE, CREATE = 0x100, 0x200, 0x400
ROOT = 0xFFFFFFFF
NESTED = 0x8000
# Attributes of every qdisc, and those inside its statistics.
KIND, OPTIONS, STATS = 1, 2, 7
STATS_BASIC, STATS_QUEUE, STATS_OWN = 1, 3, 4

_ERROR, _DONE = 2, 3
_SOL_NETLINK, _CAP_ACK, _EXT_ACK = 270, 10, 11
_ACK_HAS_TEXT, _ACK_TEXT = 0x200, 1
_HEAD = struct.Struct("=IHHII")
_TCMSG = struct.Struct("=BxxxiIII")
# Dumps come in buffers of at most 32 KiB, if the reader takes as much.
_RECEIVE_BYTES = 1 << 20


class Refused(Exception):
    """The kernel's answer: a number and, if it gave one, a sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence or os.strerror(code))
        self.code, self.sentence = code, sentence


class MalformedError(ValueError):
    """Bytes that are no attributes."""


def attribute(kind: int, payload: bytes) -> bytes:
    whole = struct.pack("=HH", 4 + len(payload), kind) + payload
    return whole + bytes(-len(whole) % 4)


def attributes(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if not 4 <= length <= len(data):
            raise MalformedError(f"an attribute of {length} bytes, where {len(data)} are left")
        found.append((kind & 0x3FFF, data[4:length]))
        data = data[(length + 3) & ~3 :]
    return found


def nest(kind: int, *inside: bytes) -> bytes:
    return attribute(kind | NESTED, b"".join(inside))


def u32(row: int, value: int) -> bytes:
    return attribute(row, struct.pack("=I", value))


def u64(row: int, value: int) -> bytes:
    return attribute(row, struct.pack("=Q", value))


def flag(kind: int) -> bytes:
    return attribute(kind, b"")


def text(kind: int, value: str) -> bytes:
    return attribute(kind, value.encode() + b"\0")


def read_text(payload: bytes) -> str:
    return payload.rstrip(b"\0").decode(errors="replace")


def numbers(data: bytes) -> dict[int, int]:
    """Read a nest of rows: the row's number and its value, of either width. Number 0 is padding."""
    return {kind: int.from_bytes(value, sys.byteorder) for kind, value in attributes(data) if kind}


def qdisc_message(index: int, own: int, where: int, *parts: bytes) -> bytes:
    """Build a message about the qdisc `own` at `where`, without the netlink head."""
    return _TCMSG.pack(0, index, own, where, 0) + b"".join(parts)


@dataclass(frozen=True)
class Qdisc:
    """One entry of a dump."""

    kind: str
    index: int
    handle: int
    parent: int
    references: int
    options: bytes
    sent_bytes: int
    sent_pkts: int
    qlen: int
    backlog: int
    drops: int
    requeues: int
    overlimits: int
    own_stats: bytes

    @classmethod
    def read(cls, message: bytes) -> Self:
        _, index, handle, parent, references = _TCMSG.unpack_from(message)
        parts = dict(attributes(message[_TCMSG.size :]))
        stats = dict(attributes(parts.get(STATS, b"")))
        sent_bytes, sent_pkts = struct.unpack_from("=QI", stats.get(STATS_BASIC, bytes(12)))
        queue = struct.unpack_from("=IIIII", stats.get(STATS_QUEUE, bytes(20)))
        qlen, backlog, drops, requeues, overlimits = queue
        return cls(
            kind=read_text(parts.get(KIND, b"")),
            index=index,
            handle=handle,
            parent=parent,
            references=references,
            options=parts.get(OPTIONS, b""),
            sent_bytes=sent_bytes,
            sent_pkts=sent_pkts,
            qlen=qlen,
            backlog=backlog,
            drops=drops,
            requeues=requeues,
            overlimits=overlimits,
            own_stats=stats.get(STATS_OWN, b""),
        )


class Socket:
    """A socket to the kernel's routing side; each call waits for its answer."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        for option in (_EXT_ACK, _CAP_ACK):
            self._socket.setsockopt(_SOL_NETLINK, option, 1)
        self._sequence = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def ask(self, kind: int, flags: int, payload: bytes) -> list[bytes]:
        """Send one message; return the payloads of the answer before its end, or raise Refused."""
        self._sequence += 1
        length = _HEAD.size + len(payload)
        self._socket.send(_HEAD.pack(length, kind, flags | REQUEST, self._sequence, 0) + payload)
        answers: list[bytes] = []
        while True:
            for answer, answer_flags, body in self._receive():
                if answer == _ERROR:
                    _judge(body, answer_flags)
                    return answers
                if answer == _DONE:
                    return answers
                answers.append(body)

    def _receive(self) -> Iterator[tuple[int, int, bytes]]:
        data = self._socket.recv(_RECEIVE_BYTES)
        while data:
            length, kind, flags, _, _ = _HEAD.unpack_from(data)
            yield kind, flags, data[_HEAD.size : length]
            data = data[(length + 3) & ~3 :]

    def qdiscs(self) -> list[Qdisc]:
        """List all qdiscs of all devices."""
        return [Qdisc.read(answer) for answer in self.ask(GET, DUMP, qdisc_message(0, 0, 0))]


def _judge(body: bytes, flags: int) -> None:
    code = -int(struct.unpack_from("=i", body)[0])
    sentence = b""
    if flags & _ACK_HAS_TEXT:
        # The head of the answered message follows the number.
        sentence = dict(attributes(body[4 + _HEAD.size :])).get(_ACK_TEXT, b"")
    if code:
        raise Refused(code, read_text(sentence))
