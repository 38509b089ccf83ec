# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""dumbbell.py: inside the guest, one cell: network, tap and load.

    c -- r -- s           c sends, r has the bottleneck towards s, s delays its ACKs
    c -- r -- d -- s      with flows back: s sends too, r has a bottleneck towards c, d delays

The whole round trip's delay is on the way back: netem in a sender would hold the
sender's buffers and so disturb TCP small queues; pure ACKs do not mind, and what a
router forwards no longer belongs to a socket. Offloads are off on every device, and
gso_max_segs 1 keeps TCP from building segments larger than a packet.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

Wire = tuple[str, str, str, str]
# Each wire: namespace and device of its left and right end.
WIRES: list[Wire] = [("c", "c0", "r", "r0"), ("r", "r1", "s", "s0")]
WIRES_WITH_FLOWS_BACK: list[Wire] = [
    ("c", "c0", "r", "r0"),
    ("r", "r1", "d", "d0"),
    ("d", "d1", "s", "s0"),
]
PORT = 5201
FIRST_PORT = 20000  # of a flow's sender, as in linux/uml/load.c
OFFLOADS = ["tso", "gso", "gro", "sg", "tx", "rx"]


def do(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr.strip()}")
    return done.stdout


def mac(wire: int, end: int) -> str:
    return f"02:00:00:00:{wire:02x}:{end:02x}"


def lay_wires(wires: list[Wire]) -> None:
    """Namespaces, veth pairs, addresses, and neighbours known beforehand (no ARP)."""
    for space in {wire[end] for wire in wires for end in (0, 2)}:
        do(f"ip netns add {space}")
        do(f"ip -n {space} link set lo up")
        do(f"ip netns exec {space} sysctl -qw net.ipv4.ip_forward=1")
        do(f"ip netns exec {space} sysctl -qw net.ipv6.conf.all.disable_ipv6=1")
    for wire, (left, left_dev, right, right_dev) in enumerate(wires, 1):
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
        if wire > 1:
            do(f"ip -n {right} route add default via 10.0.{wire}.1")
        if wire < len(wires):
            do(f"ip -n {left} route add default via 10.0.{wire}.2")


def check_offloads(wires: list[Wire]) -> None:
    """A device that silently kept an offload would change what a packet is."""
    for left, left_dev, right, right_dev in wires:
        for space, dev in ((left, left_dev), (right, right_dev)):
            shown = do(f"ip netns exec {space} ethtool -k {dev}")
            for word in ("tcp-segmentation-offload", "generic-receive-offload"):
                if f"{word}: off" not in shown:
                    raise SystemExit(f"{dev}: {word} is still on")


def delay(space: str, device: str, delays_us: list[str], flows: int) -> None:
    """netem; of several delays, flow i takes the one with number i modulo theirs."""
    netem = f"tc -n {space} qdisc add dev {device} {{}} netem delay {{}}us limit 1000000"
    if len(delays_us) == 1:
        do(netem.format("root", delays_us[0]))
        return
    # A flow without a filter of its own takes the first band.
    bands = f"bands {len(delays_us)} priomap {' '.join(['0'] * 16)}"
    do(f"tc -n {space} qdisc add dev {device} root handle 1: prio {bands}")
    for i, delay_us in enumerate(delays_us, 1):
        do(netem.format(f"parent 1:{i}", delay_us))
    for i in range(flows):
        do(
            f"tc -n {space} filter add dev {device} parent 1: protocol ip prio 1 u32"
            f" match ip dport {FIRST_PORT + i} 0xffff flowid 1:{1 + i % len(delays_us)}"
        )


def queue(cell: dict[str, str], device: str) -> None:
    """HTB with the queue under test as its only leaf, checked."""
    rate, burst = cell["rate_bps"], cell["burst_bytes"]
    do(f"tc -n r qdisc add dev {device} root handle 1: htb default 10")
    do(
        f"tc -n r class add dev {device} parent 1: classid 1:10 htb rate {rate}bit ceil {rate}bit"
        f" burst {burst} cburst {burst} quantum 1514"
    )
    do(f"tc -n r qdisc add dev {device} parent 1:10 handle 10: {cell['queue']}")
    shown = do(f"tc -n r qdisc show dev {device}")
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
    back = bool(cell["starts_back_us"])
    wires = WIRES_WITH_FLOWS_BACK if back else WIRES
    lay_wires(wires)
    check_offloads(wires)
    flows = len(cell["starts_us"].split(","))
    delay(*wires[-2 if back else -1][2:], cell["delays_us"].split(","), flows)
    queue(cell, "r1")
    if back:
        queue(cell, "r0")
    limits(cell)
    # The next round second but one: all that follows has settled by then.
    t0_ns = (int(time.time()) + 2) * 1_000_000_000
    edges = cell["edges_ms"]
    seconds = int(edges.split(",")[-1]) // 1000
    load = f"{programs}/load"
    sink = f"sink {PORT} {t0_ns} {seconds} {cell['rcvbuf_bytes']}"
    bulk = f"{PORT} {cell['control']} {t0_ns} {edges}"
    started = [f"r {programs}/tap r0 r1 {t0_ns} {edges}", f"s {load} {sink} forth"]
    started += [f"c {load} {sink} back"] if back else []
    started += [f"c {load} bulk 10.0.{len(wires)}.2 {bulk} {cell['starts_us']}"]
    running = [subprocess.Popen(f"ip netns exec {words}".split()) for words in started]
    if back:
        words = f"ip netns exec s {load} bulk 10.0.1.1 {bulk} {cell['starts_back_us']}"
        with Path("back.marks").open("w") as marks:
            running += [subprocess.Popen(words.split(), stdout=marks)]
    ended = [process.wait() for process in running]
    if any(ended):
        raise SystemExit("load or tap failed")
    print("drops by the qdisc:", do("tc -s -n r qdisc show dev r1"), flush=True)


if __name__ == "__main__":
    os.environ["PATH"] = "/usr/sbin:/sbin:/usr/bin:/bin"
    main()
