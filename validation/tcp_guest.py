# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""tcp_guest.py: inside the guest, one script: a socket, a TUN device, a scripted peer.

Computing takes no virtual time, so a peer in Python answers to the microsecond.
Prints the trace: every segment that crosses the device, either way, with its time.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import struct
import subprocess
import time
from functools import partial
from pathlib import Path

from validation.tcp_peer import Peer
from validation.tcp_script import SWITCHES, Script, Segment, Step, parse

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
HERE, THERE, OUR_PORT, PEER_PORT = "10.9.0.1", "10.9.0.2", 7000, 8000
PEER_ISN, PEER_SCALE, PEER_MSS = 1_000_000, 10, 1460
# Where in a millisecond time 0 lies: far from both edges of the timestamp clock.
PHASE_US = 400
# Jiffies begin five minutes before they wrap at 32 bits; one is a millisecond here. The
# timer wheel rounds to multiples of 8, 64, ... of them.
INITIAL_JIFFIES, WHEEL_JIFFIES = 2**32 - 300_000, 2**24
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "E": 64, "W": 128}
SNDBUF_BYTES = 64 << 20


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Device:
    """The TUN device: segments in and out, in numbers relative to their SYN."""

    def __init__(self, gso: bool) -> None:
        self.fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.fd, TUNSETIFF, struct.pack("16sH22x", b"t0", IFF_TUN | IFF_NO_PI))
        for command in (
            f"ip addr add {HERE}/24 dev t0",
            f"ip link set t0 txqueuelen 10000 {'' if gso else 'gso_max_segs 1'} up",
        ):
            subprocess.run(command.split(), check=True)
        self.isn = -1
        self.scale = 0
        self.ts_base = 0

    def read(self) -> Segment | None:
        """The next TCP segment that the stack has sent, if any."""
        while True:
            try:
                packet = os.read(self.fd, 65_536)
            except BlockingIOError:
                return None
            if packet[0] >> 4 == 4 and packet[9] == 6:
                return self.decode(packet)

    def decode(self, packet: bytes) -> Segment:
        tcp = packet[20:]
        seq, ack, offset, bits, window = struct.unpack("!IIBBH", tcp[4:16])
        if self.isn < 0:
            self.isn = seq
        header = (offset >> 4) * 4
        segment = Segment(
            "".join(name for name in "SFRPAEW" if bits & FLAGS[name]),
            (seq - self.isn) & 0xFFFFFFFF,
            (ack - PEER_ISN) & 0xFFFFFFFF if bits & 16 else 0,
            len(tcp) - header,
            ecn=packet[1] & 3,
        )
        self.options(segment, tcp[20:header])
        segment.window = window << (0 if bits & 2 else self.scale)
        return segment

    def options(self, segment: Segment, data: bytes) -> None:
        at = 0
        while at < len(data) and data[at]:
            if data[at] == 1:
                at += 1
                continue
            kind, size = data[at], data[at + 1]
            if kind == 3:
                self.scale = data[at + 2]
            elif kind == 5:
                ends = struct.unpack(f"!{(size - 2) // 4}I", data[at + 2 : at + size])
                near = [(end - PEER_ISN) & 0xFFFFFFFF for end in ends]
                segment.sack = tuple(zip(near[::2], near[1::2], strict=True))
            elif kind == 8:
                value, segment.ts_ecr = struct.unpack("!II", data[at + 2 : at + 10])
                # The clock's offset is random: counted from 1 at the first segment.
                self.ts_base = self.ts_base or value - 1
                segment.ts_val = (value - self.ts_base) & 0xFFFFFFFF
            at += size

    def write(self, segment: Segment) -> None:
        options = b""
        if "S" in segment.flags:
            options += struct.pack("!BBHBBBB", 2, 4, PEER_MSS, 1, 3, 3, PEER_SCALE)
            options += b"\1\1\4\2"
        if segment.ts_val:
            echo = (segment.ts_ecr + self.ts_base) & 0xFFFFFFFF if segment.ts_ecr else 0
            options += struct.pack("!BBBBII", 1, 1, 8, 10, segment.ts_val, echo)
        if segment.sack:
            ends = [(end + self.isn) & 0xFFFFFFFF for block in segment.sack for end in block]
            options += struct.pack(f"!BBBB{len(ends)}I", 1, 1, 5, 2 + 4 * len(ends), *ends)
        window = segment.window >> (0 if "S" in segment.flags else PEER_SCALE)
        addresses = socket.inet_aton(THERE) + socket.inet_aton(HERE)
        tcp = struct.pack(
            "!HHIIBBHHH",
            PEER_PORT,
            OUR_PORT,
            (PEER_ISN + segment.seq) & 0xFFFFFFFF,
            (self.isn + segment.ack) & 0xFFFFFFFF if "A" in segment.flags else 0,
            (20 + len(options)) // 4 << 4,
            sum(FLAGS[flag] for flag in segment.flags),
            min(window, 65_535),
            0,
            0,
        )
        tcp += options
        length = len(tcp) + segment.length
        # Payload is zeros, which add nothing to the sum.
        tcp_sum = checksum(addresses + struct.pack("!HH", 6, length) + tcp)
        tcp = tcp[:16] + struct.pack("!H", tcp_sum) + tcp[18:]
        ip = struct.pack("!BBHHHBBH", 0x45, segment.ecn, 20 + length, 0, 0x4000, 64, 6, 0)
        ip = ip[:10] + struct.pack("!H", checksum(ip + addresses)) + addresses
        os.write(self.fd, ip + tcp + bytes(segment.length))


class Run:
    """The script's events, the socket's application and the trace."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.device = Device(script.settings["gso"] == "1")
        self.peer = Peer(script, self.deliver)
        self.socket = socket.socket()
        self.start_ns = 0
        self.listener: socket.socket | None = None
        self.waiting: list[Step] = []  # the application's steps that are due
        self.log: list[str] = []

    def now_ms(self) -> float:
        return (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - self.start_ns) / 1e6

    def note(self, text: str) -> None:
        self.log.append(f"{self.now_ms():.3f} {text}")

    def set_up(self) -> None:
        settings = self.script.settings
        changes = {"tcp_no_metrics_save": "1", "tcp_wmem": f"4096 131072 {SNDBUF_BYTES}"}
        for key, (name, off, on) in SWITCHES.items():
            if key in settings:
                changes[name] = on if settings[key] == "1" else off
        for name, value in changes.items():
            Path("/proc/sys/net/ipv4", name).write_text(value)
        Path("/proc/self/timerslack_ns").write_text("1")
        self.socket.setsockopt(socket.IPPROTO_TCP, 13, settings["cc"].encode())
        self.socket.setsockopt(socket.SOL_SOCKET, 32, SNDBUF_BYTES)  # SO_SNDBUFFORCE
        if rcvbuf := settings.get("rcvbuf"):
            self.socket.setsockopt(socket.SOL_SOCKET, 33, int(rcvbuf))  # SO_RCVBUFFORCE
        self.socket.setblocking(False)
        self.socket.bind((HERE, OUR_PORT))

    def begin(self) -> None:
        """Time 0: the socket opens, the dated lines are laid on the heap."""
        ms = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000_000 + 1_000
        self.start_ns = ms * 1_000_000 + PHASE_US * 1_000
        start_us = (INITIAL_JIFFIES + ms) % WHEEL_JIFFIES * 1_000 + PHASE_US
        self.log.append(f"start_us {start_us}")
        time.sleep(-self.now_ms() / 1e3)
        if self.script.settings["role"] == "client":
            self.note("app connect")
            self.socket.connect_ex((THERE, PEER_PORT))
        else:
            self.note("app listen")
            self.listener = self.socket
            self.listener.listen()
            self.peer.at(0, self.peer.open)
        for step in self.script.steps:
            self.peer.at(step.at_ms, partial(self.step, step))

    def step(self, step: Step) -> None:
        if step.verb == "data":
            self.peer.data(step.number, step.marks)
        elif step.verb == "fin":
            self.peer.fin()
        else:
            self.waiting.append(step)

    def deliver(self, segment: Segment) -> None:
        """From the peer into the stack."""
        self.note(f"in {segment.line()}")
        self.device.write(segment)

    def application(self) -> None:
        """Read all there is; do what is due, once connected."""
        if self.listener is self.socket:
            try:
                self.socket, _ = self.listener.accept()
                self.socket.setblocking(False)
            except BlockingIOError:
                return
        try:
            while self.socket.recv(1 << 20):
                pass
        except (BlockingIOError, ConnectionError):
            pass
        except OSError:
            return  # not connected yet
        while self.waiting and select.select([], [self.socket], [], 0)[1]:
            step = self.waiting.pop(0)
            self.note(f"app {step.verb}" + (f" {step.number}" if step.number else ""))
            if step.verb == "close":
                self.socket.shutdown(socket.SHUT_WR)
            elif self.socket.send(bytes(step.number)) != step.number:
                raise SystemExit("the send buffer is too small for the script")

    def collect(self) -> None:
        """From the stack into the trace and the path."""
        while segment := self.device.read():
            now_ms = self.now_ms()
            self.log.append(f"{now_ms:.3f} out {segment.line()}")
            self.peer.carry(segment, now_ms)

    def loop(self) -> None:
        self.begin()
        while True:
            self.collect()
            self.application()
            self.collect()
            now_ms = self.now_ms()
            if now_ms >= self.script.end_ms:
                return
            if self.peer.due_ms() <= now_ms:
                self.peer.act()
                continue
            until_ms = min(self.peer.due_ms(), self.script.end_ms)
            readers = [self.device.fd]
            writers = [self.socket] if self.waiting and self.socket is not self.listener else []
            select.select(readers, writers, [], (until_ms - now_ms) / 1e3)


def main() -> None:
    run = Run(parse(Path("script").read_text()))
    run.set_up()
    run.loop()
    Path("trace").write_text("\n".join(run.log) + "\n")


if __name__ == "__main__":
    main()
