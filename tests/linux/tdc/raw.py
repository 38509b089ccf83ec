# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""raw.py: in the guest, options that no tc would send, to a device's root.

raw.py DEVICE add | change HEX

HEX is what stands inside TCA_OPTIONS; - leaves the attribute out. A refusal is printed as its
number's name and its sentence, with status 2. Python's own library alone starts in a third of
the time.
"""

import errno
import socket
import struct
import sys

NEW_QDISC, REQUEST_AND_ACK, CREATE_ONLY = 36, 0x5, 0x600
ROOT, HANDLE = 0xFFFFFFFF, 0x10000
KIND, OPTIONS, NESTED = 1, 2, 0x8000
NETLINK, EXTENDED_ACK, NO_COPY = 270, 11, 10
TEXT_FOLLOWS, TEXT = 0x200, 1


def attribute(kind: int, payload: bytes) -> bytes:
    whole = struct.pack("=HH", 4 + len(payload), kind) + payload
    return whole + bytes(-len(whole) % 4)


def main() -> int:
    device, verb, options = sys.argv[1:]
    body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(device), HANDLE, ROOT, 0)
    body += attribute(KIND, b"sojourn\0")
    if options != "-":
        body += attribute(OPTIONS | NESTED, bytes.fromhex(options))
    flags = REQUEST_AND_ACK | (CREATE_ONLY if verb == "add" else 0)
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    for option in EXTENDED_ACK, NO_COPY:
        kernel.setsockopt(NETLINK, option, 1)
    kernel.send(struct.pack("=IHHII", 16 + len(body), NEW_QDISC, flags, 1, 0) + body)
    answer = kernel.recv(1 << 16)
    # A head of 16 bytes, the number, and the head of the message that it answers.
    (answer_flags,) = struct.unpack_from("=H", answer, 6)
    (code,) = struct.unpack_from("=i", answer, 16)
    if not code:
        return 0
    sentence = text_of(answer[36:]) if answer_flags & TEXT_FOLLOWS else ""
    print(f"{errno.errorcode[-code]} {sentence}", file=sys.stderr)
    return 2


def text_of(attributes: bytes) -> str:
    while len(attributes) >= 4:
        length, kind = struct.unpack_from("=HH", attributes)
        if kind == TEXT:
            return attributes[4:length].rstrip(b"\0").decode()
        attributes = attributes[(length + 3) & ~3 :]
    return ""


if __name__ == "__main__":
    sys.exit(main())
