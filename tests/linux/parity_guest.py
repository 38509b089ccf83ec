# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""parity_guest.py: in the guest, one algorithm under traffic while a trace build records.

python -m tests.linux.parity_guest ALGORITHM FLOWS RECORDS MODULE

TCP connections with and without ECN, bursts of datagrams larger than the limit, rows that
change under way, a link that goes down and comes back, a queue that is replaced, and one
that stands still. The other end has a queue too, for what comes back. The records are left
in the current folder.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.linux import netlink as nl
from tests.linux.net import ADDRESS, Sender, complaints, do, lay_wire
from tests.linux.netlink import Netlink

MS = 1_000_000
LIMIT_PKTS = 120
TBF = "tc qdisc {} dev c0 root handle 9: tbf rate {} burst 6056 limit 100000000"

# Rows by which each signals early and often at 20 Mbit/s, and others to change to.
ROWS: dict[str, tuple[bytes, bytes]] = {
    "codel": (nl.u64(1, MS) + nl.u64(2, 20 * MS), nl.u64(1, 3 * MS) + nl.u64(2, 50 * MS)),
    "pie_2013": (
        nl.u64(1, 5 * MS) + nl.u64(2, 10 * MS) + nl.u32(4, 200) + nl.u64(5, 20 * MS),
        nl.u64(1, 2 * MS) + nl.u32(3, 8) + nl.u32(6, 5000),
    ),
    "pie": (
        nl.u64(1, 5 * MS) + nl.u64(2, 10 * MS) + nl.u32(4, 2000) + nl.u32(6, 1 << 31),
        nl.u64(1, 2 * MS) + nl.u32(3, 200) + nl.u64(5, 20 * MS) + nl.u32(7, 1),
    ),
    "choke": (
        nl.u32(1, 5) + nl.u32(2, 60) + nl.u32(3, 1 << 29) + nl.u32(4, 4),
        nl.u32(1, 2) + nl.u32(2, 30) + nl.u32(4, 2),
    ),
    "sfb": (
        nl.u32(1, 5) + nl.u32(2, 30) + nl.u32(3, 1 << 26) + nl.u64(7, 1000 * MS) + nl.u64(8, MS),
        nl.u32(1, 3) + nl.u32(2, 9) + nl.u32(5, 100) + nl.u32(6, 5),
    ),
}

SINK = """
import socket, threading
def read(c):
    while c.recv(1 << 16): pass
listener = socket.create_server(('10.0.0.2', 9))
print('ready', flush=True)
while True:
    threading.Thread(target=read, args=(listener.accept()[0],), daemon=True).start()
"""
SOURCE = f"""
import socket
c = socket.create_connection(('{ADDRESS}', 9))
while True: c.sendall(bytes(1 << 16))
"""


@contextmanager
def connections(count: int) -> Iterator[None]:
    """Endless senders towards s; of two the second offers ECN."""
    python = ["/usr/bin/python3", "-S", "-c"]
    sink = subprocess.Popen(
        ["ip", "netns", "exec", "s", *python, SINK], stdout=subprocess.PIPE, text=True
    )
    assert sink.stdout
    sink.stdout.readline()
    running = [sink]
    for number in range(count):
        do(f"sysctl -qw net.ipv4.tcp_ecn={number % 2}")
        running.append(subprocess.Popen([*python, SOURCE], text=True))
        time.sleep(0.05)
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


class Load:
    """Datagrams of a few flows, some that may be marked, beside the connections or not at
    all for a while; and rows that change meanwhile."""

    def __init__(self, kernel: Netlink, name: str) -> None:
        self.kernel, self.rows = kernel, ROWS.get(name, (b"", b""))
        self.flows = [Sender(tos=tos) for tos in (0, 2, 1, 2)]
        self.split = Sender(tos=2, segment_bytes=472)

    def burst(self, number: int) -> None:
        for i, flow in enumerate(self.flows):
            flow.send((number * 7 + i * 5) % 31, payload_bytes=100 + (number * 331) % 1300)
        self.split.send(number % 3, payload_bytes=472 * 5)
        if number % 10 == 4:
            self.flows[1].send(LIMIT_PKTS + 20)

    def change(self, number: int) -> None:
        limit = (LIMIT_PKTS, 40, 3)[number % 3]
        ecn, quantum = number % 4 != 3, (0, 300)[number % 2]
        queue = nl.nest(
            nl.QUEUE, nl.u32(nl.LIMIT, limit), nl.u32(nl.ECN, ecn), nl.u32(nl.QUANTUM, quantum)
        )
        params = nl.nest(nl.PARAMS, self.rows[number % 2])
        self.kernel.change("c0", "9:1", "10:", queue, params)

    def run(self, rounds: int) -> None:
        for number in range(rounds):
            if number // 12 % 2 == 0:
                self.burst(number)
            time.sleep(0.01 + 0.005 * (number % 7))
            if number % 8 == 7:
                self.burst(number)
                self.change(number // 8)
            if number % 16 == 11:
                self.kernel.dump("c0")


def replace_queue(kernel: Netlink, name: str, flows: int) -> None:
    queue = nl.nest(
        nl.QUEUE, nl.u32(nl.LIMIT, LIMIT_PKTS), nl.u32(nl.ECN, 1), nl.u32(nl.FLOWS, flows)
    )
    params = nl.nest(nl.PARAMS, ROWS.get(name, (b"", b""))[0])
    if "10:" in kernel.dump("c0"):
        kernel.delete("c0", "9:1", "10:")
    kernel.add("c0", "9:1", "10:", nl.algorithm(name), queue, params)


def link_down_and_up() -> None:
    do("ip link set c0 down")
    time.sleep(0.05)
    do("ip link set c0 up")
    do(f"ip neigh replace {ADDRESS} lladdr 02:00:00:00:00:02 nud permanent dev c0")


def stand_still(load: Load) -> None:
    """Long enough for an algorithm's ticks to be taken together: with an empty queue, and
    with packets in it below a link that hardly sends."""
    time.sleep(2)
    load.kernel.dump("c0")
    load.burst(3)
    do(TBF.format("change", "200bit"))
    load.burst(3)
    time.sleep(40)
    load.burst(3)
    load.kernel.dump("c0")
    do(TBF.format("change", "20mbit"))
    time.sleep(0.5)
    load.burst(3)


def main() -> None:
    name, flows, records, module = sys.argv[1:]
    do(f"insmod {module} records={records}")
    do("mount -t debugfs none /sys/kernel/debug")
    lay_wire(offloads=True)
    kernel = Netlink()
    do(f"tc -n s qdisc add dev s0 root handle 1: sojourn {name}")
    do(TBF.format("add", "20mbit"))
    replace_queue(kernel, name, int(flows))
    load = Load(kernel, name)
    with connections(4):
        load.run(120)
        load.change(0)
        load.burst(4)
        link_down_and_up()
        load.run(48)
        load.change(0)
        load.burst(4)
        replace_queue(kernel, name, int(flows))
        load.run(48)
    stand_still(load)
    do("tc qdisc del dev c0 root")
    do("tc -n s qdisc del dev s0 root")
    Path("records").write_bytes(Path("/sys/kernel/debug/sojourn").read_bytes())
    assert not (heard := complaints()), heard


if __name__ == "__main__":
    main()
