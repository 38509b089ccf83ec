# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""net.py: in the guest, one wire from c0 (here) to s0 (namespace s), and traffic on it."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OFFLOADS = ["tso", "gso", "gro", "sg", "tx", "rx"]
ADDRESS = "10.0.0.2"
Case = Callable[[], None]
CASES: dict[str, Case] = {}
# Cases for the kernel of linux/uml/devices.config.
DEVICES: set[str] = set()
# Cases whose fault takes a processor's time: in virtual time all work is done at once.
REAL_TIME: set[str] = set()
# Words that the kernel may rightly print in a case.
EXPECTED: dict[str, tuple[str, ...]] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def in_real_time(function: Case) -> Case:
    REAL_TIME.add(function.__name__)
    return function


def needs_devices(function: Case) -> Case:
    DEVICES.add(function.__name__)
    return function


def hears(*words: str) -> Callable[[Case], Case]:
    """The kernel says in this case what has one of these words in it."""

    def expect(function: Case) -> Case:
        EXPECTED[function.__name__] = words
        return function

    return expect


def do(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr.strip()}"
    return done.stdout


def lay_wire(*, offloads: bool = False, queues: int = 1) -> None:
    do("ip netns add s")
    many = f"numtxqueues {queues} numrxqueues {queues}"
    do(f"ip link add c0 {many} address 02:00:00:00:00:01 type veth peer name s0 netns s {many}")
    do("ip -n s link set s0 address 02:00:00:00:00:02")
    for space, dev in (("", "c0"), ("ip netns exec s ", "s0")):
        do(f"{space}sysctl -qw net.ipv6.conf.all.disable_ipv6=1")
        if not offloads:
            do(f"{space}ethtool -K {dev} {' '.join(o + ' off' for o in OFFLOADS)}")
            do(f"{space}ip link set {dev} gso_max_segs 1")
        do(f"{space}ip link set {dev} up")
    do("ip addr add 10.0.0.1/24 dev c0")
    do(f"ip -n s addr add {ADDRESS}/24 dev s0")
    do(f"ip neigh add {ADDRESS} lladdr 02:00:00:00:00:02 nud permanent dev c0")
    do("ip -n s neigh add 10.0.0.1 lladdr 02:00:00:00:00:01 nud permanent dev s0")


class Sender:
    """UDP towards s; `classid` chooses a class, as a parent reads it from the priority.
    With `segment_bytes` a datagram is one large segment of as many bytes of payload each."""

    def __init__(self, classid: int = 0, tos: int = 0, segment_bytes: int = 0) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, 32, 1 << 24)  # SO_SNDBUFFORCE
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, classid)
        self.socket.setsockopt(socket.IPPROTO_UDP, 103, segment_bytes)  # UDP_SEGMENT

    def send(self, count: int, payload_bytes: int = 972) -> None:
        """972 bytes of payload make 1014 bytes with all heads."""
        for _ in range(count):
            self.socket.sendto(bytes(payload_bytes), (ADDRESS, 9))


@contextmanager
def watching(dev: str, space: str = "") -> Iterator[list[tuple[int, int]]]:
    """Length and DS field of each IPv4 packet that reaches `dev` meanwhile."""
    seen: list[tuple[int, int]] = []
    program = (
        "import socket,sys\n"
        "s=socket.socket(socket.AF_PACKET,socket.SOCK_DGRAM,socket.htons(3))\n"
        "s.setsockopt(socket.SOL_SOCKET,33,1<<26)\n"
        f"s.bind(('{dev}',3))\n"
        "print('ready',flush=True)\n"
        "sys.stdin.readline()\n"
        "s.setblocking(False)\n"
        "try:\n"
        " while True:\n"
        "  d,a=s.recvfrom(1<<17)\n"
        "  if a[1]==0x800 and a[2]!=4: print(len(d),d[1])\n"
        "except BlockingIOError: pass\n"
    )
    command = [*space.split(), "/usr/bin/python3", "-S", "-c", program]
    tap = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert tap.stdin and tap.stdout
    tap.stdout.readline()
    yield seen
    for line in tap.communicate("\n")[0].splitlines():
        length, field = line.split()
        seen.append((int(length), int(field)))


def unwelcome(log: str) -> list[str]:
    """Messages that the kernel should not print."""
    words = ("WARN", "BUG", "Oops", "non-work-conserving", "refcount", "Call Trace", "suspected")
    return [line for line in log.splitlines() if any(word in line for word in words)]


def complaints() -> list[str]:
    return unwelcome(do("dmesg"))
