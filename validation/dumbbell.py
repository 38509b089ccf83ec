# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""dumbbell.py: inside the guest, one cell: network, tap and load.

    c -- r -- s     c sends, r has the bottleneck towards s, s delays its ACKs

The whole round trip's delay is on the way back: netem in a sender would hold the
sender's buffers and so disturb TCP small queues; pure ACKs do not mind. Offloads are
off on every device, and gso_max_segs 1 keeps TCP from building segments larger than
a packet.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

# Each wire: namespace and device of its left and right end.
WIRES = [("c", "c0", "r", "r0"), ("r", "r1", "s", "s0")]
PORT = 5201
OFFLOADS = ["tso", "gso", "gro", "sg", "tx", "rx"]


def do(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr.strip()}")
    return done.stdout


def mac(wire: int, end: int) -> str:
    return f"02:00:00:00:{wire:02x}:{end:02x}"


def lay_wires() -> None:
    """Namespaces, veth pairs, addresses, and neighbours known beforehand (no ARP)."""
    for space in "crs":
        do(f"ip netns add {space}")
        do(f"ip -n {space} link set lo up")
        do(f"ip netns exec {space} sysctl -qw net.ipv4.ip_forward=1")
        do(f"ip netns exec {space} sysctl -qw net.ipv6.conf.all.disable_ipv6=1")
    for wire, (left, left_dev, right, right_dev) in enumerate(WIRES, 1):
        do(
            f"ip link add {left_dev} netns {left} address {mac(wire, 1)} type veth"
            f" peer name {right_dev} netns {right} address {mac(wire, 2)}"
        )
        for end, space, dev in ((1, left, left_dev), (2, right, right_dev)):
            do(f"ip -n {space} addr add 10.0.{wire}.{end}/24 dev {dev}")
            do(f"ip netns exec {space} ethtool -K {dev} {' '.join(o + ' off' for o in OFFLOADS)}")
            do(f"ip -n {space} link set {dev} gso_max_segs 1 up")
        for space, dev, other in ((left, left_dev, 2), (right, right_dev, 1)):
            address = f"10.0.{wire}.{other} lladdr {mac(wire, other)}"
            do(f"ip -n {space} neigh add {address} nud permanent dev {dev}")
    do("ip -n c route add default via 10.0.1.2")
    do("ip -n s route add default via 10.0.2.1")


def check_offloads() -> None:
    """A device that silently kept an offload would change what a packet is."""
    for left, left_dev, right, right_dev in WIRES:
        for space, dev in ((left, left_dev), (right, right_dev)):
            shown = do(f"ip netns exec {space} ethtool -k {dev}")
            for word in ("tcp-segmentation-offload", "generic-receive-offload"):
                if f"{word}: off" not in shown:
                    raise SystemExit(f"{dev}: {word} is still on")


def queue(cell: dict[str, str]) -> None:
    """Delay of the ACKs; HTB with the queue under test as its only leaf, checked."""
    do(f"tc -n s qdisc add dev s0 root netem delay {cell['delay_us']}us limit 1000000")
    rate, burst = cell["rate_bps"], cell["burst_bytes"]
    do("tc -n r qdisc add dev r1 root handle 1: htb default 10")
    do(
        f"tc -n r class add dev r1 parent 1: classid 1:10 htb rate {rate}bit ceil {rate}bit"
        f" burst {burst} cburst {burst} quantum 1514"
    )
    do(f"tc -n r qdisc add dev r1 parent 1:10 handle 10: {cell['queue']}")
    shown = do("tc -n r qdisc show dev r1")
    if f"qdisc {cell['queue'].split()[0]} 10:" not in shown:
        raise SystemExit(f"the queue under test is not in place: {shown}")


def limits(cell: dict[str, str]) -> None:
    for space in "cs":
        for key in ("rmem", "wmem"):
            words = ["ip", "netns", "exec", space, "sysctl", "-qw"]
            subprocess.run(
                [*words, f"net.ipv4.tcp_{key}=4096 131072 {cell['buffer_bytes']}"], check=True
            )
        do(f"ip netns exec {space} sysctl -qw net.ipv4.tcp_no_metrics_save=1")


def main() -> None:
    cell = json.loads(Path("cell.json").read_text())
    programs = sys.argv[1]
    lay_wires()
    check_offloads()
    queue(cell)
    limits(cell)
    # The next round second but one: all that follows has settled by then.
    t0_ns = (int(time.time()) + 2) * 1_000_000_000
    edges = cell["edges_ms"]
    tap = f"ip netns exec r {programs}/tap r0 r1 {t0_ns} {edges}".split()
    sink = f"ip netns exec s {programs}/load sink {PORT}".split()
    bulk = f"ip netns exec c {programs}/load bulk 10.0.2.2 {PORT} {cell['control']} {t0_ns}"
    watching = subprocess.Popen(tap)
    subprocess.Popen(sink)
    load = subprocess.Popen(f"{bulk} {edges} {cell['starts_us']}".split())
    if load.wait() or watching.wait():
        raise SystemExit("load or tap failed")
    print("drops by the qdisc:", do("tc -s -n r qdisc show dev r1"), flush=True)


if __name__ == "__main__":
    os.environ["PATH"] = "/usr/sbin:/sbin:/usr/bin:/bin"
    main()
