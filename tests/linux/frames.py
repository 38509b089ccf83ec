# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""frames.py: in the guest, whole Ethernet frames: made, sent from and caught in any namespace."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

FROM, TO = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
C_TAG, S_TAG = 0x8100, 0x88A8
IPV4, IPV6 = 0x0800, 0x86DD
CE = 3

Tags = Sequence[tuple[int, int]]


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(ecn: int, payload: bytes) -> bytes:
    """UDP without a checksum."""
    udp = struct.pack("!HHHH", 9, 9, 8 + len(payload), 0) + payload
    addresses = bytes((10, 0, 0, 1, 10, 0, 0, 2))
    head = struct.pack("!BBHHHBBH", 0x45, ecn, 20 + len(udp), 1, 0, 64, 17, 0) + addresses
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + udp


def ipv6(ecn: int, payload: bytes) -> bytes:
    """Of no next header at all."""
    addresses = (bytes(15) + b"\1") * 2
    return struct.pack("!IHBB", 6 << 28 | ecn << 20, len(payload), 59, 64) + addresses + payload


def frame(tags: Tags, version: int, ecn: int, payload: bytes) -> bytes:
    """With tags (type and VLAN) in front of an IP packet, the outermost first."""
    packet = (ipv4 if version == 4 else ipv6)(ecn, payload)
    types = b"".join(struct.pack("!HH", *tag) for tag in tags)
    return TO + FROM + types + struct.pack("!H", IPV4 if version == 4 else IPV6) + packet


def segment(payload_bytes: int, gso_bytes: int, ecn: int = 0, port: int = 9) -> bytes:
    """A TCP segment that the kernel is to cut into packets of so many bytes of payload, with the
    head that tells it so. There is no other bound than the memory of a packet, half a
    megabyte: neither an MTU, nor 64 KB, nor a least size of a piece."""
    tcp = struct.pack("!HHIIBBHHH", port, 9, 1, 1, 5 << 4, 0x10, 512, 0, 0)
    head = frame([], 4, ecn, b"")[:34]
    # Protocol TCP; lengths and checksums are made anew for each packet.
    head = head[:23] + b"\6" + bytes(2) + head[26:]
    needs_checksum, tcp_v4, checksum_at = 1, 1, 16
    numbers = (needs_checksum, tcp_v4, 54, gso_bytes, 34, checksum_at)
    return struct.pack("=BBHHHH", *numbers) + head + tcp + bytes(payload_bytes)


SEND = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
s.setsockopt(socket.SOL_SOCKET, 32, 1 << 26)
if sys.argv[2:]: s.setsockopt(263, 15, 1)
s.bind((sys.argv[1], 0))
for line in sys.stdin: s.send(bytes.fromhex(line))
"""

# A tag that the kernel has taken off is put back where it stood.
CATCH = """
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)
s.setsockopt(263, 8, 1)
s.bind((sys.argv[1], 3))
print('ready', flush=True)
sys.stdin.readline()
s.setblocking(False)
try:
    while True:
        data, more, _, address = s.recvmsg(1 << 17, 256)
        status, _, _, _, _, tci, tpid = struct.unpack('=IIIHHHH', more[0][2])
        if status & 16: data = data[:12] + struct.pack('!HH', tpid, tci) + data[12:]
        if address[2] != 4: print(data.hex())
except BlockingIOError: pass
"""


def python(space: str, program: str, *words: str) -> list[str]:
    inside = ["ip", "netns", "exec", space] if space else []
    return [*inside, "/usr/bin/python3", "-S", "-c", program, *words]


def send(dev: str, frames: Sequence[bytes], space: str = "", *, segments: bool = False) -> None:
    """Frames, or segments with the head that segment() puts in front of them."""
    lines = "".join(f"{data.hex()}\n" for data in frames)
    words = [dev, "segments"] if segments else [dev]
    subprocess.run(python(space, SEND, *words), input=lines, text=True, check=True)


@contextmanager
def catching(dev: str, space: str = "") -> Iterator[list[bytes]]:
    """All frames that reach `dev` meanwhile."""
    words = python(space, CATCH, dev)
    tap = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert tap.stdin and tap.stdout
    tap.stdout.readline()
    seen: list[bytes] = []
    yield seen
    seen += [bytes.fromhex(line) for line in tap.communicate("\n")[0].splitlines()]
