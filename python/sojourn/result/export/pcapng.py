# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A run's packets as a capture (pcapng, draft-ietf-opsawg-pcapng).

Each recorded queue is an interface. A packet is listed at the time when it left the queue or was
dropped, and its comment gives its verdict.

A run keeps of a packet its flow, length and ECN field, and no header. In the capture a packet
therefore has an Ethernet and an IPv4 header with these values. Its addresses stand for the hash of
its flow, and its protocol is 253, for experiments. The rest of the packet is cut off.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from sojourn import _native
from sojourn.core.errors import InputError
from sojourn.result.result import Run
from sojourn.store.store import replacing

SUFFIX = ".pcapng"
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_COMMENT, _NAME, _APPLICATION, _RESOLUTION, _FLAGS = 1, 2, 4, 9, 2
_ETHERNET = 1
_OUTBOUND = 2
_HEADER_BYTES = 14 + 20
_COLUMNS = ("at_ns", "enq_ns", "flow", "len_bytes", "ecn", "why")
# Packets between two reports of progress.
_TOLD_EVERY = 1 << 16


def parts(run: Run) -> Sequence[str]:
    """Return one part: one file holds all queues. InputError: the run kept no packets."""
    if run.entry.event_batches(_COLUMNS) is None:
        raise InputError(
            f"{', '.join(map(str, run.labels.values()))}: its packets were not kept; a run keeps "
            "them where the scenario says record.events = true"
        )
    return [""]


def write(
    path: Path,
    about: Mapping[str, str],
    run: Run,
    part: str,
    advance: Callable[[float], None],
) -> None:
    """Write the file, block by block."""
    queues = [str(queue["name"]) for queue in run.report["queues"]]
    with replacing(path) as file:
        file.write(_head(about, run))
        for queue in queues:
            options = [(_NAME, queue.encode()), (_RESOLUTION, b"\x09")]
            file.write(_block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0), options))
        for done, block in enumerate(_packets(run, queues)):
            file.write(block)
            if done % _TOLD_EVERY == 0:
                advance(done / run.entry.event_count())


def _head(about: Mapping[str, str], run: Run) -> bytes:
    left_out = sum(int(queue["events_left_out"]) for queue in run.report["queues"])
    comment = f"{about['scenario']}: {about['run']}"
    if left_out:
        comment += f"; {left_out} packets at the end were too many to keep"
    options = [
        (_COMMENT, comment.encode()),
        (_APPLICATION, f"Sojourn {about['version']}".encode()),
    ]
    return _block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1), options)


def _packets(run: Run, queues: Sequence[str]) -> Iterator[bytes]:
    """Yield the packets of all queues in the order of time; a run keeps them queue by queue."""
    reasons = _native.reason_names()
    of_queues = [_of_queue(run, queue, number) for number, queue in enumerate(queues)]
    for at, interface, enq, flow, length, ecn, why in heapq.merge(*of_queues):
        packet = _header(flow, length, ecn)[:length]
        waited = f"after {(at - enq) / 1e6:.6f} ms in the queue"
        verdict = f"dropped: {reasons[why]}" if why else "sent"
        body = struct.pack("<IIIII", interface, at >> 32, at & 0xFFFFFFFF, len(packet), length)
        options = [
            (_COMMENT, f"{verdict}, {waited}".encode()),
            (_FLAGS, struct.pack("<I", _OUTBOUND)),
        ]
        yield _block(_PACKET, body + _padded(packet), options)


def _of_queue(run: Run, queue: str, number: int) -> Iterator[tuple[int, ...]]:
    import pyarrow.compute as pc

    for piece in run.entry.event_batches(("queue", *_COLUMNS)) or ():
        mine = piece.filter(pc.equal(piece["queue"], queue))
        columns = [mine[name].to_pylist() for name in _COLUMNS]
        yield from zip(columns[0], [number] * len(mine), *columns[1:], strict=True)


@lru_cache(maxsize=4096)
def _header(flow: int, length: int, ecn: int) -> bytes:
    """Build the Ethernet and IPv4 headers of a packet; its length includes Ethernet's header."""
    source, target = (
        bytes((10, side, half >> 8, half & 255))
        for side, half in ((0, flow >> 16), (1, flow & 0xFFFF))
    )
    total = min(max(length - 14, 20), 0xFFFF)
    words = struct.pack(">BBHHHBBH", 0x45, ecn, total, 0, 0x4000, 64, 253, 0) + source + target
    checksum = sum(struct.unpack(">10H", words))
    checksum = (checksum & 0xFFFF) + (checksum >> 16)
    checksum = ~((checksum & 0xFFFF) + (checksum >> 16)) & 0xFFFF
    ethernet = b"\x02\0" + target + b"\x02\0" + source + b"\x08\0"
    return ethernet + words[:10] + struct.pack(">H", checksum) + words[12:]


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _block(kind: int, body: bytes, options: Sequence[tuple[int, bytes]]) -> bytes:
    written = b"".join(
        struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options
    )
    length = 12 + len(body) + len(written) + 4
    return struct.pack("<II", kind, length) + body + written + bytes(4) + struct.pack("<I", length)
