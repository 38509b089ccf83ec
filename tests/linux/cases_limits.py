# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_limits.py: asqm above a modem's queue, with a far end that limits its answers.

Each case prints a table: `pytest tests/linux/test_qdisc.py -k a_far_end -m deep -rP`.
"""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.linux import frames
from tests.linux import netlink as nl
from tests.linux.net import case, do
from tests.linux.netlink import Netlink, Qdisc
from tests.linux.probes import ANSWERED, JOINED, MS, SRTT, WAYS, Way, count, lay_both, stat
from tests.linux.rtnetlink import GET, qdisc_message

# The modem's queue holds 0.4 s. The way back takes 10 ms.
BUFFER_S = 0.4
DELAY_MS = 10
WARM_S = 5

# Four connections that always have something to send.
SINK = """
import socket, threading
l = socket.create_server(('::', 9), family=socket.AF_INET6, dualstack_ipv6=True)
def take(c):
    try:
        while c.recv(1 << 16): pass
    except OSError: pass
while True: threading.Thread(target=take, args=(l.accept()[0],), daemon=True).start()
"""
SOURCE = """
import socket, sys, threading
def give():
    c = socket.create_connection((sys.argv[1], 9))
    while True: c.sendall(bytes(1 << 16))
for _ in range(4): threading.Thread(target=give, daemon=True).start()
threading.Event().wait()
"""
# So many questions in each hundredth of a second.
STRANGER = """
import socket, sys, time
kind, number = int(sys.argv[1]), int(sys.argv[2])
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, kind)
s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
question = bytes.fromhex('0800f7fe00000001') if kind == 1 else bytes(8)
while True:
    for _ in range(number): s.sendto(question, ('10.2.0.1', 0))
    time.sleep(0.01)
"""


@dataclass(frozen=True)
class Far:
    """What limits the answers of the far end."""

    # Of echo replies to one peer; of all limited messages of ICMP together.
    each_ms: int = 0
    all_per_s: int = 1000
    limited: bool = False
    silent: bool = False
    stranger: bool = False

    def set_up(self) -> None:
        """The usual masks hold errors only; these have echo replies, of types 0 and 129, too."""
        words = {
            "ipv4.icmp_echo_ignore_all": int(self.silent),
            "ipv4.icmp_ratemask": 6168 | self.limited,
            "ipv4.icmp_ratelimit": self.each_ms if self.limited else 1000,
            "ipv4.icmp_msgs_per_sec": self.all_per_s,
            "ipv6.icmp.ratemask": "0-1,3-127" + ",129" * self.limited,
            "ipv6.icmp.ratelimit": self.each_ms if self.limited else 1000,
        }
        for key, value in words.items():
            do(f"ip netns exec s sysctl -qw net.{key}={value}")


@dataclass(frozen=True)
class Row:
    name: str
    far: Far
    # What share of the probes is answered.
    least: float
    most: float
    mbit_s: int = 10
    ratio: int = 4
    window_s: int = 15


OFTEN, SELDOM, ONCE, RARE = (Far(each_ms=ms, limited=True) for ms in (10, 100, 1000, 5000))
SHARED = Far(limited=True, stranger=True)
ALL = Far(each_ms=1000, all_per_s=100, limited=True, stranger=True)
NO_LIMIT = Row("no limit", Far(), 0.97, 1.03)
# The kernel renews its tokens every 20 ms at most; who asks first has them.
BESIDE = Row("1,000 a second to all; a stranger asks 5,000 a second", SHARED, 0.01, 0.25)
ECHO = [
    NO_LIMIT,
    Row("100 a second to each peer", OFTEN, 0.4, 0.55),
    Row("10 a second to each peer", SELDOM, 0.04, 0.07),
    Row("one a second to each peer", ONCE, 0.003, 0.01),
    Row("one in 5 s to each peer", RARE, 0.0005, 0.003, window_s=60),
    BESIDE,
    Row("no answers", Far(silent=True), 0, 0),
]
ECHO6 = [
    NO_LIMIT,
    # A fourth of the time, for a neighbour of a network of 64 bits.
    Row("four a second to each peer", ONCE, 0.015, 0.03),
    BESIDE,
]
EXPERIMENTAL = [
    NO_LIMIT,
    Row("all limits of ICMP; a stranger asks 20,000 a second", ALL, 0.97, 1.03),
]
FAST = Row("no limit, 200 Mbit/s", Far(), 0.97, 1.03, 200, 1)
BOUND = Row("its bound of 10,000 a second, 200 Mbit/s", Far(), 0.5, 0.7, 200, 1)


class Modem:
    """The queue of s0's packets before s has them."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        home, away = Path("/proc/self/ns/net"), Path("/run/netns/s")
        with home.open() as here, away.open() as there:
            assert not libc.setns(there.fileno(), 0)
            self.kernel = Netlink()
            assert not libc.setns(here.fileno(), 0)

    def lay(self, mbit_s: int) -> None:
        self.bytes_s = mbit_s * 125_000
        words = f"rate {mbit_s}mbit burst 3028 limit {int(BUFFER_S * self.bytes_s)}"
        do(f"tc -n s qdisc replace dev ifb0 root handle 9: tbf {words}")

    def look(self) -> Qdisc:
        found = [Qdisc.read(data) for data in self.kernel.ask(GET, nl.DUMP, qdisc_message(0, 0, 0))]
        [mine] = [queue for queue in found if queue.handle == 9 << 16]
        return mine

    def round_trip_ms(self) -> float:
        return self.look().backlog / self.bytes_s * 1000 + DELAY_MS


def lay() -> Modem:
    """The senders are behind the queue's router: a socket of its own would bound what it has in
    queues below."""
    lay_both()
    for space, dev, far, net in (("a", "a0", "", 3), ("t", "t0", " netns s", 2)):
        do(f"ip netns add {space}")
        do(f"ip -n {space} link add {dev} type veth peer name b0")
        do(f"ip -n {space} link set b0 netns {'s' if far else '1'}")
        here, there = f"ip -n {space}", f"ip{' -n s' if far else ''}"
        for ip, other, number in ((here, dev, 2), (there, "b0", 1)):
            do(f"{ip} link set {other} up")
            do(f"{ip} addr add 10.{net}.0.{number}/24 dev {other}")
            do(f"{ip} -6 addr add fd0{net}::{number}/64 dev {other} nodad")
    for command in (
        "sysctl -qw net.ipv4.ip_forward=1",
        "sysctl -qw net.ipv6.conf.all.forwarding=1",
        "ip -n a route add 10.0.0.0/24 via 10.3.0.1",
        "ip -n a -6 route add fd00::/64 via fd03::1",
        "ip -n s route add 10.3.0.0/24 via 10.0.0.1",
        "ip -n s -6 route add fd03::/64 via fd00::1",
        "ip -n s link set lo up",
        "ip -n s link add ifb0 type ifb",
        "ip -n s link set ifb0 up",
        "tc -n s qdisc add dev s0 clsact",
        "tc -n s filter add dev s0 ingress matchall action mirred egress redirect dev ifb0",
        f"tc -n s qdisc add dev s0 root netem delay {DELAY_MS}ms limit 100000",
        "tc -n s qdisc add dev lo root sojourn fifo respond",
    ):
        do(command)
    time.sleep(5)
    return Modem()


@contextmanager
def running(space: str, program: str, *words: str) -> Iterator[None]:
    process = subprocess.Popen(frames.python(space, program, *words))
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def stranger(way: Way, far: Far) -> Iterator[None]:
    if not far.stranger:
        yield
        return
    words = ("1", "50") if way.echo else ("253", "200")
    with running("t", STRANGER, *words):
        yield


@dataclass(frozen=True)
class Figures:
    joined_per_s: float
    answered: float
    srtt_ms: float
    round_trip_ms: float
    signals_per_s: float
    link_used: float

    def __str__(self) -> str:
        return (
            f"{self.joined_per_s:,.0f} | {self.answered:.1%} | {self.srtt_ms:.0f} ms | "
            f"{self.round_trip_ms:.0f} ms | {self.signals_per_s:.1f} | {self.link_used:.0%}"
        )


def measure(kernel: Netlink, modem: Modem, window_s: int) -> Figures:
    before, below = kernel.dump("c0")["1:"], modem.look()
    smoothed_ms, round_trips_ms = [], []
    for _ in range(window_s * 20):
        time.sleep(0.05)
        mine = kernel.dump("c0")["1:"]
        smoothed_ms.append(stat(mine, SRTT) / MS)
        round_trips_ms.append(modem.round_trip_ms())
    joined = count(mine, JOINED) - count(before, JOINED)
    signals = mine.total(nl.DROPS) - before.total(nl.DROPS)
    sent_bytes = modem.look().sent_bytes - below.sent_bytes
    return Figures(
        joined_per_s=joined / window_s,
        answered=(count(mine, ANSWERED) - count(before, ANSWERED)) / joined,
        srtt_ms=sum(smoothed_ms) / len(smoothed_ms),
        round_trip_ms=sum(round_trips_ms) / len(round_trips_ms),
        signals_per_s=signals / window_s,
        link_used=sent_bytes / window_s / modem.bytes_s,
    )


def figures(way: Way, row: Row, modem: Modem) -> Figures:
    row.far.set_up()
    modem.lay(row.mbit_s)
    do(f"tc qdisc replace dev c0 root handle 1: sojourn asqm ratio {row.ratio} {way.words}")
    target = "10.0.0.2" if way.version == 4 else "fd00::2"
    with stranger(way, row.far), running("a", SOURCE, target):
        time.sleep(WARM_S)
        found = measure(Netlink(), modem, row.window_s)
    do("tc qdisc del dev c0 root")
    time.sleep(2)
    return found


def table(*rows: tuple[int, bool, list[Row]]) -> None:
    """A probe that nobody answers is no sample: few answers hold the delay at the target, none
    give no signal."""
    modem = lay()
    with running("s", SINK):
        time.sleep(1)
        for version, echo, settings in rows:
            way = next(way for way in WAYS if (way.version, way.echo) == (version, echo))
            for row in settings:
                found = figures(way, row, modem)
                kind = f"{'echo' if echo else 'experimental'}, IPv{version}"
                print(f"| {kind} | {row.name} | {found} |", flush=True)
                assert row.least <= found.answered <= row.most, (way, row, found)
                assert found.link_used > 0.95, (way, row, found)
                if row.far.silent:
                    assert not found.signals_per_s and found.round_trip_ms > 300, (way, found)
                else:
                    assert found.round_trip_ms < 120, (way, row, found)


@case
def a_far_end_limits_its_answers_to_echoes() -> None:
    table((4, True, ECHO), (6, True, ECHO6))


@case
def a_far_end_that_limits_icmp_answers_other_probes_in_full() -> None:
    table((4, False, EXPERIMENTAL), (6, False, EXPERIMENTAL))


@case
def a_far_end_answers_10000_other_probes_a_second_on_a_fast_link() -> None:
    table((4, True, [FAST]), (4, False, [BOUND]))


@case
def a_router_sees_the_queue_of_its_modem() -> None:
    modem = lay()
    modem.lay(10)
    do("tc qdisc replace dev c0 root sojourn asqm responder 10.0.0.2 base least target 30ms")
    with running("s", SINK):
        time.sleep(1)
        with running("a", SOURCE, "10.0.0.2"):
            time.sleep(WARM_S)
            round_trips_ms = []
            for _ in range(200):
                time.sleep(0.05)
                round_trips_ms.append(modem.round_trip_ms())
            print(do("tc -s qdisc show dev c0"))
    assert sum(round_trips_ms) / len(round_trips_ms) < 60, round_trips_ms
