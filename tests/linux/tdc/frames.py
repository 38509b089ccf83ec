# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""frames.py: in the guest, IPv4 frames of 1000 bytes, all of one flow, handed to a device.

frames.py DEVICE COUNT CLASS

CLASS, as in 1:10, becomes the packets' priority, by which a parent chooses its class; 0: of none.
"""

import socket
import sys

FRAME_BYTES = 1000
# Addresses 10.0.0.1 and 10.0.0.2, UDP, ports 0; a length that fits.
HEADS = bytes(12) + bytes.fromhex("0800 4500 03da 0000 0000 4011 0000 0a000001 0a000002")


def main() -> None:
    device, count, place = sys.argv[1:]
    major, _, minor = place.partition(":")
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sender.bind((device, 0x800))
    priority = int(major, 16) << 16 | int(minor or "0", 16)
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, priority)
    for _ in range(int(count)):
        sender.send(HEADS.ljust(FRAME_BYTES, b"\0"))


if __name__ == "__main__":
    main()
