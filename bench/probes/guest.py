# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""guest.py: in a guest in real time: sends a segment of 60 kB, or a flood of echo replies, and
tells how long that took.

python -m bench.probes.guest segment4|segment6 ADDRESSES
python -m bench.probes.guest replies QUEUES
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x400454CA, 1, 0x1000, 0x4000
PAYLOAD_BYTES, PIECE_BYTES = 60_000, 8
TRIES, REPLIES = 5, 20_000
QUEUE = "sojourn asqm ratio 1 limit 1000000 memory_limit 4294967295"
# Of a virtio header: a checksum is wanted; TCP in IPv4 or IPv6.
NEEDS_CHECKSUM, TCP4, TCP6 = 1, 1, 4


def do(*commands: str) -> None:
    for command in commands:
        subprocess.run(command.split(), check=True)


def batch(program: str, lines: list[str]) -> None:
    subprocess.run([*program.split(), "-batch", "-"], input="\n".join(lines), text=True, check=True)


def address(version: int, number: int) -> str:
    if version == 6:
        return f"fd01::{number >> 16:x}:{number & 0xFFFF:x}/128"
    return f"100.{64 + (number >> 16)}.{number >> 8 & 255}.{number & 255}/32"


def segment(version: int) -> bytes:
    """A TCP segment from beyond, to be forwarded, which becomes 7,500 packets."""
    tcp = struct.pack("!HHIIBBHHH", 9, 9, 1, 1, 5 << 4, 0x10, 1000, 0, 0)
    if version == 6:
        ends = b"".join(socket.inet_pton(socket.AF_INET6, a) for a in ("fd00:9::2", "fd00:2::2"))
        ip = struct.pack("!IHBB", 6 << 28, PAYLOAD_BYTES + len(tcp), 6, 64) + ends
    else:
        ends = socket.inet_aton("10.9.0.2") + socket.inet_aton("10.2.0.2")
        total = 20 + len(tcp) + PAYLOAD_BYTES
        ip = struct.pack("!BBHHHBBH", 0x45, 0, total, 0, 0, 64, 6, 0) + ends
        sums = sum(struct.unpack("!10H", ip))
        sums = (sums & 0xFFFF) + (sums >> 16)
        ip = ip[:10] + struct.pack("!H", ~sums & 0xFFFF) + ip[12:]
    kind = TCP6 if version == 6 else TCP4
    heads = len(ip) + len(tcp)
    front = struct.pack("=BBHHHH", NEEDS_CHECKSUM, kind, heads, PIECE_BYTES, len(ip), 16)
    return front + ip + tcp + bytes(PAYLOAD_BYTES)


def send_segments(version: int, addresses: int) -> None:
    do("ip link add d0 type dummy", "ip link set d0 up", "sysctl -qw net.ipv4.ip_forward=1")
    do("sysctl -qw net.ipv6.conf.all.forwarding=1")
    batch(
        "ip",
        [
            f"addr add {address(version, n)} dev d0" + " nodad" * (version == 6)
            for n in range(addresses)
        ],
    )
    tun = os.open("/dev/net/tun", os.O_RDWR)
    flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"t0", flags))
    fcntl.ioctl(tun, 0x400454D4, struct.pack("i", 1 << 28))  # TUNSETSNDBUF
    do("ip link set t0 up", "ip addr add 10.9.0.1/24 dev t0", "ip addr add 10.5.0.1/24 dev d0")
    do("ip route add 10.2.0.0/16 via 10.5.0.2 dev d0", "ip -6 addr add fd00:9::1/64 dev t0 nodad")
    do(
        "ip -6 addr add fd00:5::1/64 dev d0 nodad",
        "ip -6 route add fd00:2::/64 via fd00:5::2 dev d0",
    )
    do(f"tc qdisc add dev d0 root handle 1: {QUEUE}")
    data, worst = segment(version), 0.0
    for _ in range(TRIES):
        began = time.perf_counter()
        os.write(tun, data)
        worst = max(worst, time.perf_counter() - began)
        time.sleep(0.2)
    print(f"FOUND {1000 * worst:.2f}")


def send_replies(queues: int) -> None:
    """Echo replies of a stranger, with numbers that no queue knows."""
    do("ip link add d0 type dummy", "ip link set d0 up", "tc qdisc add dev d0 root handle 1: htb")
    numbers = range(16, 16 + queues)
    batch("tc", [f"class add dev d0 parent 1: classid 1:{n:x} htb rate 1mbit" for n in numbers])
    batch("tc", [f"qdisc add dev d0 parent 1:{n:x} sojourn asqm" for n in numbers])
    do("ip link add v0 type veth peer name v1", "ip link set v0 up", "ip link set v1 up")
    do("ip addr add 10.7.0.1/24 dev v0", "sysctl -qw net.ipv4.conf.all.rp_filter=0")
    mac = subprocess.check_output(["cat", "/sys/class/net/v0/address"], text=True).strip()
    ends = socket.inet_aton("10.7.0.2") + socket.inet_aton("10.7.0.1")
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 1, 0) + ends
    sums = sum(struct.unpack("!10H", ip))
    sums = (sums & 0xFFFF) + (sums >> 16)
    ip = ip[:10] + struct.pack("!H", ~sums & 0xFFFF) + ip[12:]
    icmp = struct.pack("!BBHHH", 0, 0, 0xFFFF, 0, 0)
    frame = bytes.fromhex(mac.replace(":", "")) + bytes(6) + b"\x08\x00" + ip + icmp
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    tap.bind(("v1", 0))
    began = time.perf_counter()
    for _ in range(REPLIES):
        tap.send(frame)
    print(f"FOUND {1e6 * (time.perf_counter() - began) / REPLIES:.2f}")


def main() -> None:
    what, number = sys.argv[1], int(sys.argv[2])
    if what == "replies":
        send_replies(number)
    else:
        send_segments(int(what[-1]), number)


if __name__ == "__main__":
    main()
