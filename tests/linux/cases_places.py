# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_places.py: where a probing queue may stand, and what its probes do there.

docs/reference/qdisc.md has the same as a table, which the case compares with what happens.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.linux.net import case, do, needs_devices

KINDS = ("echo", "experimental")
# What tells that probes did not work, in this order.
COUNTERS = ("unmade", "strayed", "forgotten")
Lay = Callable[[], str]
PLACES: dict[str, Lay] = {}


def place(name: str) -> Callable[[Lay], Lay]:
    def keep(function: Lay) -> Lay:
        PLACES[name] = function
        return function

    return keep


def run(commands: str) -> None:
    """Commands in the namespace h, or in the one that a line begins with."""
    for line in commands.strip().splitlines():
        words = line.split()
        space = words.pop(0)[0] if words[0] in ("a:", "s:") else "h"
        do(f"ip netns exec {space} {' '.join(words)}")


QUEUE = "sojourn asqm ratio 1 probe {kind}"


def lay() -> None:
    for space in ("h", "s", "a"):
        do(f"ip netns add {space}")
    do("ip -n h link add c0 numtxqueues 4 numrxqueues 4 type veth peer name s0 netns s")
    do("ip -n h link add b0 type veth peer name a0 netns a")
    run("""
        ip link set lo up
        ip link set c0 up
        ip link set b0 up
        ip addr add 10.0.0.1/24 dev c0
        ip addr add 10.1.0.1/24 dev b0
        sysctl -qw net.ipv4.ip_forward=1
        ip route add 10.8.0.0/16 via 10.0.0.2
        s: ip link set lo up
        s: ip link set s0 up
        s: ip addr add 10.0.0.2/24 dev s0
        s: ip route add default via 10.0.0.1
        s: tc qdisc add dev lo root sojourn fifo respond
        a: ip link set a0 up
        a: ip addr add 10.1.0.2/24 dev a0
        a: ip route add default via 10.1.0.1
    """)


def unlay() -> None:
    for space in ("h", "s", "a"):
        do(f"ip netns del {space}")
    time.sleep(1)


SEND = "import socket,time\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n"
SEND += "for i in range(20): s.sendto(bytes(100),('{0}',9)); time.sleep(0.05)\n"


def send(space: str, target: str) -> str:
    """Twenty packets; what the place's queue stands on is told by whoever calls."""
    program = SEND.format(target)
    subprocess.run(
        ["ip", "netns", "exec", space, "/usr/bin/python3", "-S", "-c", program], check=True
    )
    return target


@place("a wire, to a neighbour or through a gateway")
def _() -> str:
    run(f"tc qdisc add dev c0 root {QUEUE}")
    return "h 10.8.0.1"


@place("a router's device, packets forwarded")
def _() -> str:
    run(f"tc qdisc add dev c0 root {QUEUE}")
    return "a 10.8.0.1"


@place("a device without an address")
def _() -> str:
    run(f"""
        ip addr add 10.9.0.1/32 dev lo
        ip addr del 10.0.0.1/24 dev c0
        ip route add 10.0.0.2 dev c0
        ip route add 10.8.0.0/16 via 10.0.0.2
        s: ip route add 10.9.0.1 dev s0
        tc qdisc add dev c0 root {QUEUE}
    """)
    return "a 10.8.0.1"


@place("below a VLAN")
def _() -> str:
    vlan()
    run(f"tc qdisc add dev c0 root {QUEUE}")
    return "h 10.5.0.2"


@place("a VLAN")
def _() -> str:
    vlan()
    run(f"tc qdisc add dev v5 root {QUEUE}")
    return "h 10.5.0.2"


def vlan() -> None:
    run("""
        ip link add link c0 name v5 type vlan id 5
        ip link set v5 up
        ip addr add 10.5.0.1/24 dev v5
        s: ip link add link s0 name v5 type vlan id 5
        s: ip link set v5 up
        s: ip addr add 10.5.0.2/24 dev v5
    """)


@place("below a VLAN of another namespace")
def _() -> str:
    vlan()
    run(f"""
        ip link set v5 netns a
        a: ip link set v5 up
        a: ip addr add 10.5.0.1/24 dev v5
        tc qdisc add dev c0 root {QUEUE}
    """)
    return "a 10.5.0.2"


@place("a macvlan")
def _() -> str:
    run(f"""
        ip link add link c0 name m0 type macvlan mode bridge
        ip addr del 10.0.0.1/24 dev c0
        ip link set m0 up
        ip addr add 10.0.0.1/24 dev m0
        tc qdisc add dev m0 root {QUEUE}
    """)
    return "h 10.0.0.2"


@place("a macvlan above a device of another namespace")
def _() -> str:
    macvlan_above_another()
    run(f"tc qdisc add dev m0 root {QUEUE}")
    return "h 10.6.0.2"


@place("the same where that device has probes of its own")
def _() -> str:
    macvlan_above_another()
    run(f"""
        a: tc qdisc add dev x0 root {QUEUE}
        tc qdisc add dev m0 root {QUEUE}
    """)
    return "h 10.6.0.2"


def macvlan_above_another() -> None:
    do("ip -n a link add x0 type veth peer name x1 netns s")
    run("""
        a: ip link set x0 up
        a: ip link add link x0 name m0 type macvlan mode bridge
        a: ip link set m0 netns h
        s: ip link set x1 up
        s: ip addr add 10.6.0.2/24 dev x1
        ip link set m0 up
        ip addr add 10.6.0.1/24 dev m0
    """)


@place("a bridge with an address")
def _() -> str:
    bridge()
    run(f"tc qdisc add dev br0 root {QUEUE}")
    return "h 10.0.0.2"


@place("a port of a bridge, packets of others")
def _() -> str:
    bridge()
    run(f"tc qdisc add dev c0 root {QUEUE}")
    return "a 10.0.0.2"


@place("the same with `responder`")
def _() -> str:
    bridge()
    run(f"tc qdisc add dev c0 root {QUEUE} responder 10.0.0.2")
    return "a 10.0.0.2"


def bridge() -> None:
    run("""
        ip link add br0 type bridge forward_delay 0
        ip addr del 10.0.0.1/24 dev c0
        ip addr del 10.1.0.1/24 dev b0
        ip link set c0 master br0
        ip link set b0 master br0
        ip link set br0 up
        ip addr add 10.0.0.1/24 dev br0
        a: ip addr add 10.0.0.3/24 dev a0
    """)


@place("an ifb for what comes in")
def _() -> str:
    run(f"""
        ip link add ifb7 type ifb
        ip link set ifb7 up
        tc qdisc add dev b0 clsact
        tc filter add dev b0 ingress matchall action mirred egress redirect dev ifb7
        tc qdisc add dev ifb7 root {QUEUE}
    """)
    return "a 10.8.0.1"


@place("a device of a VRF")
def _() -> str:
    run(f"""
        ip link add red type vrf table 10
        ip link set red up
        ip link set c0 master red
        ip link set b0 master red
        ip route add 10.8.0.0/16 via 10.0.0.2 vrf red
        tc qdisc add dev c0 root {QUEUE}
    """)
    return "a 10.8.0.1"


@place("a VXLAN")
def _() -> str:
    run(f"""
        ip link add x5 type vxlan id 5 remote 10.0.0.2 dstport 4789
        ip link set x5 up
        ip addr add 10.6.0.1/24 dev x5
        s: ip link add x5 type vxlan id 5 remote 10.0.0.1 dstport 4789
        s: ip link set x5 up
        s: ip addr add 10.6.0.2/24 dev x5
        tc qdisc add dev x5 root {QUEUE}
    """)
    return "h 10.6.0.2"


@place("below a VXLAN")
def _() -> str:
    PLACES["a VXLAN"]()
    run(f"""
        tc qdisc del dev x5 root
        tc qdisc add dev c0 root {QUEUE}
    """)
    return "h 10.6.0.2"


@place("a device with two ends (PPP, tun, GRE)")
def _() -> str:
    gre()
    run(f"tc qdisc add dev g1 root {QUEUE}")
    return "h 10.8.0.1"


@place("the same with `responder`, its far end")
def _() -> str:
    gre()
    run(f"tc qdisc add dev g1 root {QUEUE} responder 10.7.0.2")
    return "h 10.8.0.1"


def gre() -> None:
    run("""
        ip link add g1 type gre local 10.0.0.1 remote 10.0.0.2
        ip link set g1 up
        ip addr add 10.7.0.1/24 dev g1
        ip route replace 10.8.0.0/16 dev g1
        s: ip link add g1 type gre local 10.0.0.2 remote 10.0.0.1
        s: ip link set g1 up
        s: ip addr add 10.7.0.2/24 dev g1
    """)


@place("a class of HTB that a filter chooses by port")
def _() -> str:
    run(f"""
        tc qdisc add dev c0 root handle 1: htb default 20
        tc class add dev c0 parent 1: classid 1:10 htb rate 100mbit
        tc class add dev c0 parent 1: classid 1:20 htb rate 100mbit
        tc filter add dev c0 parent 1: protocol ip u32 match ip protocol 17 0xff classid 1:10
        tc qdisc add dev c0 parent 1:10 {QUEUE}
    """)
    return "h 10.0.0.2"


@place("a band of prio, chosen by port, below such a class")
def _() -> str:
    run(f"""
        tc qdisc add dev c0 root handle 1: htb default 20
        tc class add dev c0 parent 1: classid 1:10 htb rate 100mbit
        tc class add dev c0 parent 1: classid 1:20 htb rate 100mbit
        tc filter add dev c0 parent 1: protocol ip u32 match ip protocol 17 0xff classid 1:10
        tc qdisc add dev c0 parent 1:10 handle 2: prio
        tc filter add dev c0 parent 2: protocol ip u32 match ip protocol 17 0xff classid 2:1
        tc qdisc add dev c0 parent 2:1 {QUEUE}
    """)
    return "h 10.0.0.2"


@place("below netem, TBF, prio or another class that all packets take")
def _() -> str:
    run(f"""
        tc qdisc add dev c0 root handle 1: netem delay 1ms
        tc qdisc add dev c0 parent 1:1 handle 2: tbf rate 10mbit burst 5000 limit 100000
        tc qdisc add dev c0 parent 2:1 {QUEUE}
    """)
    return "h 10.0.0.2"


@place("a transmit queue of mq")
def _() -> str:
    run(f"""
        tc qdisc add dev c0 root handle 1: mq
        tc qdisc add dev c0 parent 1:4 {QUEUE}
        tc qdisc add dev c0 clsact
        tc filter add dev c0 egress matchall action skbedit queue_mapping 3
    """)
    return "h 10.0.0.2"


@place("behind masquerade and a stateful firewall")
def _() -> str:
    rules = "table inet wall {\n chain in { type filter hook input priority 0; policy drop;\n"
    rules += " ct state established,related accept\n }\n"
    rules += ' chain out { type nat hook postrouting priority 100; oifname "c0" masquerade; }\n}\n'
    words = ["ip", "netns", "exec", "h", "nft", "-f", "-"]
    subprocess.run(words, input=rules, text=True, check=True)
    run(f"tc qdisc add dev c0 root {QUEUE}")
    return "a 10.8.0.1"


def outcome(kind: str, function: Lay) -> str:
    """`works`, or the counter that tells why not."""
    lay()
    global QUEUE
    before, QUEUE = QUEUE, QUEUE.format(kind=kind)
    try:
        space, target = function().split()
    finally:
        QUEUE = before
    time.sleep(3)
    send(space, target)
    time.sleep(0.5)
    send(space, target)
    listed = json.loads(do("ip netns exec h tc -s -j qdisc show"))
    [probes] = [
        q["sojourn"]["probes"]
        for q in listed
        if q["kind"] == "sojourn" and "probes" in q["sojourn"]
    ]
    unlay()
    if probes["answered"] >= 30:
        return "works"
    return next((name for name in COUNTERS if probes[name] >= 30), f"unknown: {probes}")


def table_of_the_page() -> dict[str, tuple[str, ...]]:
    page = (Path(__file__).resolve().parents[2] / "docs/reference/qdisc.md").read_text()
    part = page.split("### Places\n")[1].split("\n#")[0]
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (.*?) \|$", part, re.M)
    return {name: tuple(cell.strip("`") for cell in cells) for name, *cells in rows[1:]}


@needs_devices
@case
def probes_do_in_each_place_what_the_page_says() -> None:
    do("sysctl -qw net.ipv6.conf.default.disable_ipv6=1")
    found = {
        name: tuple(outcome(kind, function) for kind in KINDS) for name, function in PLACES.items()
    }
    page = table_of_the_page()
    assert found.keys() == page.keys()
    lines = [
        f"| {name} | {echo} | {other} |"
        for name, (echo, other) in found.items()
        if page[name] != (echo, other)
    ]
    assert not lines, "\n".join(lines)
