# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_attacks.py: packets and commands that were made to bring a probing queue down."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import time
from pathlib import Path

from tests.linux import frames
from tests.linux.frames import catching, send
from tests.linux.net import Sender, case, do, in_real_time, lay_wire, needs_devices
from tests.linux.netlink import Netlink, Qdisc
from tests.linux.probes import (
    ANSWERED,
    ASKED,
    JOINED,
    LEFT,
    UNMADE,
    WAYS,
    count,
    lay_both,
    packet,
    to_here,
)

# What may wait for the sender, be parked, and be away without one that comes.
ASKS, PARKED, AWAY = 128, 64, 256
SCHED_IDLE, SCHED_FIFO = 5, 1
DELETE_MODULE, O_NONBLOCK = 176, 0o4000


def in_space(space: str, program: str) -> None:
    """A Python program in a namespace."""
    subprocess.run(frames.python(space, program), check=True)


UDP = "import socket\ns=socket.socket(socket.{0},socket.SOCK_DGRAM)\n"
UDP += "for i in range({2}): s.sendto(bytes(100),('{1}',9))\n"


def udp_from(space: str, target: str, number: int) -> None:
    in_space(space, UDP.format("AF_INET6" if ":" in target else "AF_INET", target, number))


def every_packet(words: str, dev: str = "c0", place: str = "root handle 1:") -> None:
    do(f"tc qdisc replace dev {dev} {place} sojourn asqm ratio 1 {words}")


def mine(dev: str = "c0", handle: str = "1:") -> Qdisc:
    return Netlink().dump(dev)[handle]


@needs_devices
@case
def a_tunnels_metadata_is_no_route() -> None:
    """A packet that has it has no device of its own: one ended the kernel."""
    lay_wire()
    do("tc qdisc add dev c0 clsact")
    key = "tunnel_key set src_ip 192.0.2.1 dst_ip 192.0.2.2 id 5 dst_port 4789"
    do(f"tc filter add dev c0 egress matchall action {key}")
    for words in ("", "responder 203.0.113.1", "responder 10.0.0.2", "probe experimental"):
        every_packet(words)
        Sender().send(5)
        time.sleep(0.1)
        found = mine()
        # The kernel may report a group of its own.
        assert 5 <= found.count(3) <= 7, (words, found.count(3))
        assert count(found, ASKED) == found.count(3)
        assert "responder" in words or count(found, UNMADE) == count(found, ASKED), words
        do("tc qdisc del dev c0 root")


@needs_devices
@case
def a_bridge_brings_packets_of_an_external_tunnel() -> None:
    """From a remote host: the bridge joins a tunnel without a remote of its own to the port."""
    lay_wire()
    do("ip link add p0 type dummy")
    do("ip link add br0 type bridge forward_delay 0")
    for dev in ("p0", "br0"):
        do(f"ip link set {dev} up")
    do("ip link set p0 master br0")
    kinds = {"vxlan": ("external dstport 4789", "id 5 remote 10.0.0.1 dstport 4789")}
    kinds["geneve"] = ("external", "id 5 remote 10.0.0.1")
    for kind, (here, there) in kinds.items():
        do(f"ip link add t0 type {kind} {here}")
        do("ip link set t0 master br0 up")
        do(f"ip -n s link add t5 type {kind} {there}")
        do("ip -n s link set t5 up")
        do("ip -n s addr add 10.8.0.2/24 dev t5")
        do("ip -n s neigh add 10.8.0.9 lladdr 02:00:00:00:00:99 nud permanent dev t5")
        every_packet("responder 203.0.113.1", "p0")
        time.sleep(3)
        before = mine("p0").count(3)
        udp_from("s", "10.8.0.9", 3)
        time.sleep(1)
        assert mine("p0").count(3) >= before + 3, (kind, mine("p0").count(3), before)
        do("ip link del t0")
        do("ip -n s link del t5")
    do("ip link del p0")


@case
def work_under_the_lock_is_bounded_for_any_number_of_addresses() -> None:
    """A segment of as many packets as fit asks for each; few of the probes are made."""
    lay_wire(offloads=True)
    for address in range(1, 200):
        do(f"ip addr add 10.44.0.{address}/32 dev c0")
    sent = frames.segment(60_000, 8)
    for words in ("", "responder 203.0.113.1"):
        do("tc qdisc replace dev c0 root handle 1: sojourn asqm ratio 1 limit 100000 " + words)
        send("c0", [sent] * 3, segments=True)
        time.sleep(1)
        found = mine()
        assert found.count(3) == count(found, ASKED) >= 3 * 7500
        # The first asks of each segment wait for the sender; as many are parked for the next.
        made = count(found, ASKED) - count(found, UNMADE)
        assert made <= 3 * (ASKS + PARKED), (words, made)
        do("tc qdisc del dev c0 root")


@in_real_time
@case
def a_module_is_removed_while_its_probes_are_freed() -> None:
    """The deleter frees them when the queue is gone already, and may be slow."""
    do("ip link add d0 type dummy")
    do("ip link set d0 up")
    do("ip addr add 10.1.0.1/24 dev d0")
    do("tc qdisc add dev d0 root handle 9: tbf rate 8bit burst 2000 limit 4000000000")
    rows = "ratio 1 limit 131072 memory_limit 4294967295"
    do(f"tc qdisc add dev d0 parent 9:1 handle 10: sojourn asqm {rows}")
    in_space(
        "",
        "import socket,time\nfor n in range(3):\n"
        " s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n"
        " s.setsockopt(socket.SOL_SOCKET,32,1<<29)\n"
        " s.sendto(b'x',('10.1.0.2',9)); time.sleep(0.1)\n"
        " for i in range(10000): s.sendto(b'x',('10.1.0.2',9))\n",
    )
    assert count(mine("d0", "10:"), JOINED) > 500
    deleter = os.fork()
    if not deleter:
        os.sched_setscheduler(0, SCHED_IDLE, os.sched_param(0))
        os.execlp("tc", "tc", "qdisc", "del", "dev", "d0", "root")
    os.sched_setscheduler(0, SCHED_FIFO, os.sched_param(50))
    libc = ctypes.CDLL(None, use_errno=True)
    deadline = time.monotonic() + 60
    while libc.syscall(DELETE_MODULE, b"sch_sojourn", O_NONBLOCK):
        assert time.monotonic() < deadline, "the module stays"
        time.sleep(0.00005)
    os.waitpid(deleter, 0)
    assert not Path("/sys/module/sch_sojourn").exists()


@case
def a_probe_keeps_to_its_namespace_when_its_route_is_deleted() -> None:
    """A packet waits above the queue while the device of its route goes: what remains of the route
    is a device of the first namespace, whose address is none of a container's business."""
    lay_both()
    for number in (1, 2):
        do(f"ip netns add host{number}")
    do("ip link add hostdev type dummy")
    do("ip link set hostdev up")
    do("ip addr add 192.0.2.99/24 dev hostdev")
    do("ip -6 addr add 2001:db8:aaaa::99/64 dev hostdev nodad")
    do("ip netns add c")
    do("ip -n c link add c1 address 02:00:00:00:00:01 type veth peer name s1")
    for dev in ("c1", "s1"):
        do(f"ip -n c link set {dev} up")
    for words in ("", "responder 203.0.113.1"):
        do("ip -n c link add link c1 name v5 type vlan id 5")
        do("ip -n c link set v5 up")
        do("ip -n c addr add 10.5.0.1/24 dev v5")
        do("ip -n c neigh add 10.5.0.2 lladdr 02:00:00:00:00:02 nud permanent dev v5")
        do("ip netns exec c tc qdisc add dev c1 root handle 9: netem delay 1s limit 1000")
        do(f"ip netns exec c tc qdisc add dev c1 parent 9:1 sojourn asqm ratio 1 {words}")
        with catching("s1", "c") as out:
            udp_from("c", "10.5.0.2", 3)
            time.sleep(0.2)
            do("ip -n c link del v5")
            time.sleep(4)
        assert sum(b"\x0a\x05\x00\x02" in data for data in out) >= 3
        # Behind the tag, or without one where the packet's own is gone.
        packets = [data[18:] if data[12:14] == b"\x81\x00" else data[14:] for data in out]
        sources = {data[12:16] for data in packets if data[:1] == b"\x45"}
        assert sources == {bytes((10, 5, 0, 1))}, (words, sources)
        do("ip netns exec c tc qdisc del dev c1 root")


@case
def a_device_of_another_namespace_asks_for_no_probe() -> None:
    """A container's VLAN above the host's queue: neither the host's addresses on its wire, nor
    probes whose answers nobody here could hear."""
    lay_both()
    do("ip netns add c")
    do("ip link add link c0 name v5 type vlan id 5")
    do("ip link set v5 netns c")
    do("ip -n c link set v5 up")
    do("ip -n c addr add 10.5.0.1/24 dev v5")
    do("ip -n c -6 addr add fd05::1/64 dev v5 nodad")
    do("ip -n c neigh add 10.5.0.2 lladdr 02:00:00:00:00:02 nud permanent dev v5")
    do("ip -n c -6 neigh add fd05::2 lladdr 02:00:00:00:00:02 nud permanent dev v5")
    time.sleep(30)
    every_packet("")
    with catching("s0", "s") as out:
        for target in ("10.5.0.2", "fd05::2"):
            udp_from("c", target, 10)
        time.sleep(1)
    assert not [data for data in out for way in WAYS if way.is_question(data)]
    assert count(mine(), UNMADE) == count(mine(), ASKED) >= 20
    # This namespace's own packets have theirs.
    Sender().send(1)
    time.sleep(0.1)
    Sender().send(4)
    time.sleep(0.1)
    assert count(mine(), JOINED) == 5


@needs_devices
@case
def an_answer_takes_the_routes_of_its_questions_vrf() -> None:
    lay_both()
    do("ip link add red type vrf table 10")
    do("ip link set red up")
    do("ip link set c0 master red")
    lay_again()
    do("ip netns add m")
    do("ip link add m0 type veth peer name p0 netns m")
    do("ip link set m0 up")
    do("ip -n m link set p0 up")
    do("ip addr add 10.2.0.1/24 dev m0")
    do("ip route add 198.51.100.0/24 via 10.2.0.9")
    do("ip neigh add 10.2.0.9 lladdr 02:00:00:00:01:02 nud permanent dev m0")
    do("ip -6 addr add fd02::1/64 dev m0 nodad")
    do("ip -6 route add 2001:db8::/32 via fd02::9")
    do("ip -6 neigh add fd02::9 lladdr 02:00:00:00:01:02 nud permanent dev m0")
    do("ip route add default via 10.0.0.2 dev c0 table 10")
    do("ip -6 route add default via fd00::2 dev c0 table 10")
    for key in ("all", "c0", "m0", "red"):
        do(f"sysctl -qw net.ipv4.conf.{key}.rp_filter=0")
    time.sleep(30)
    do("tc qdisc add dev c0 root sojourn fifo respond")
    sources = {4: (b"\x0a\0\0\2", b"\xc6\x33\x64\x07"), 6: (b"\xfd" + bytes(14) + b"\2",)}
    sources[6] += (b"\x20\x01\x0d\xb8" + bytes(11) + b"\7",)
    number = 1
    for way in WAYS:
        if way.echo:
            continue
        for source in sources[way.version]:
            question = way.frame(number, (source, way.ends[0]), answer=False)
            with catching("s0", "s") as red, catching("p0", "m") as main:
                send("s0", [question], "s")
                time.sleep(1)
            answers = [way.number(data) for data in red if way.is_answer(data)]
            assert answers == [number], (way, source.hex(), [data.hex() for data in red])
            assert not [data for data in main if source in data], (way, source.hex())
            number += 1
    # A queue in the VRF hears the answers to its own probes.
    for way in WAYS:
        if not way.echo:
            do("ip netns exec s tc qdisc replace dev s0 root sojourn fifo respond")
        do(f"tc qdisc replace dev c0 root handle 1: sojourn asqm ratio 1 {way.words}")
        sender = "AF_INET" if way.version == 4 else "AF_INET6"
        target = "10.0.0.2" if way.version == 4 else "fd00::2"
        in_space(
            "",
            f"import socket,time\ns=socket.socket(socket.{sender},socket.SOCK_DGRAM)\n"
            f"s.setsockopt(socket.SOL_SOCKET,25,b'red\\0')\n"
            f"for i in range(10): s.sendto(bytes(100),('{target}',9)); time.sleep(0.05)\n",
        )
        found = mine()
        assert count(found, JOINED) >= 9 and count(found, ANSWERED) >= 8, (
            way,
            count(found, ANSWERED),
        )
        do("tc qdisc del dev c0 root")


def lay_again() -> None:
    """A device that gets a master loses its IPv6 addresses' routes."""
    for prefix in ("fd00", "fe80"):
        do(f"ip -6 addr replace {prefix}::1/64 dev c0 nodad")
        do(f"ip -6 neigh replace {prefix}::2 lladdr 02:00:00:00:00:02 nud permanent dev c0")
    do("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev c0")


POLICIES = {
    "in, required": ("in", "tmpl proto esp mode transport level required"),
    "out, required": ("out", "tmpl proto esp mode transport level required"),
    "out, block": ("out", "action block"),
    "in, block": ("in", "action block"),
}


@needs_devices
@case
def policies_of_ipsec_hold_for_probes_and_answers() -> None:
    """A policy that lets no plain packet in or out lets neither questions, answers nor probes."""
    lay_both()
    for way in WAYS:
        here, there = ("10.0.0.1", "10.0.0.2") if way.version == 4 else ("fd00::1", "fd00::2")
        for name, (direction, words) in POLICIES.items():
            source, target = (there, here) if direction == "in" else (here, there)
            policy = f"src {source} dst {target} proto {way.protocol} dir {direction}"
            do("tc qdisc replace dev c0 root handle 1: sojourn fifo respond")
            do("ip netns exec s tc qdisc replace dev s0 root sojourn fifo respond")
            do(f"ip xfrm policy add {policy} {words}")
            if not way.echo:
                with catching("s0", "s") as back:
                    send("s0", [way.frame(7, answer=False)], "s")
                    time.sleep(0.5)
                assert not [data for data in back if way.is_answer(data)], (way, name)
            do("tc qdisc del dev c0 root")
            every_packet(way.words)
            with catching("s0", "s") as out:
                for _ in range(5):
                    way.sender().send(1)
                    time.sleep(0.1)
            found = mine()
            asked = [data for data in out if way.is_question(data)]
            if direction == "out":
                assert not asked and count(found, UNMADE) == 5, (way, name, len(asked))
            else:
                assert len(asked) >= 4 and not count(found, ANSWERED), (way, name)
            do("tc qdisc del dev c0 root")
            do("ip xfrm policy flush")


FIREWALL = """
table inet wall {
  chain in { type filter hook input priority 0; policy drop;
    ct state established,related accept
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
  }
  chain nat { type nat hook postrouting priority 100; oifname "c0" masquerade; }
}
"""


@needs_devices
@case
def echo_passes_a_stateful_firewall_and_masquerade() -> None:
    lay_both()
    done = subprocess.run(["nft", "-f", "-"], input=FIREWALL, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    for way in WAYS:
        if not way.echo:
            continue
        every_packet(way.words)
        before, sender = tracked_connections(), way.sender()
        for _ in range(21):
            sender.send(1)
            time.sleep(0.01)
        sender.send(1)
        found = mine()
        assert count(found, ANSWERED) >= 20, (way, count(found, ANSWERED))
        assert count(found, JOINED) == count(found, LEFT) == 22
        # The sender's, and one for all probes of the queue.
        assert tracked_connections() - before == 2, tracked_connections()
        do("tc qdisc del dev c0 root")


def tracked_connections() -> int:
    return int(Path("/proc/sys/net/netfilter/nf_conntrack_count").read_text())


@case
def a_strangers_replies_take_no_answer_of_ours() -> None:
    """A flood of echo replies and of answers, with right and wrong identifiers."""
    lay_both()
    here, stranger = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 77))
    for way in WAYS:
        if way.version == 6:
            continue
        if not way.echo:
            do("ip netns exec s tc qdisc replace dev s0 root sojourn fifo limit 100000 respond")
        every_packet(way.words + " limit 100000")
        Sender().send(1)
        time.sleep(0.1)
        flood = [way.frame(n * 7919 % (1 << 32), (stranger, here)) for n in range(20_000)]
        for _ in range(20):
            send("s0", flood[:1000], "s")
            Sender().send(5)
        time.sleep(0.2)
        Sender().send(1)
        found = mine()
        assert count(found, ANSWERED) >= 100, (way, count(found, ANSWERED))
        do("tc qdisc del dev c0 root")


@case
def identifiers_of_queues_are_random_and_each_queues_own() -> None:
    """A namespace does not learn how many queues there are elsewhere."""
    lay_wire()
    way = next(way for way in WAYS if way.version == 4 and way.echo)
    seen = []
    with catching("s0", "s") as out:
        for _ in range(40):
            every_packet("")
            Sender().send(1)
            time.sleep(0.05)
            Sender().send(1)
            time.sleep(0.05)
            do("tc qdisc del dev c0 root")
    for data in out:
        if way.is_question(data) and way.identifier(data) not in seen:
            seen.append(way.identifier(data))
    assert len(seen) >= 38
    steps = [later - sooner for sooner, later in itertools.pairwise(seen)]
    assert len(set(steps)) > 30 and max(map(abs, steps)) > 4096, steps


@case
def a_question_by_every_kind_of_packet_is_harmless() -> None:
    """Cut, fragmented, with options, to and from nobody: no answer, or one as long as the
    question, and never to a group."""
    lay_both()
    do("tc qdisc add dev c0 root sojourn asqm ratio 1 respond probe experimental")
    way = next(way for way in WAYS if way.version == 4 and not way.echo)
    here, there = way.ends
    sources = [there, bytes(4), b"\xff" * 4, b"\xe0\0\0\1", b"\x7f\0\0\1", here, b"\x0a\0\0\xff"]
    goals = [here, b"\x0a\0\0\xff", b"\xff" * 4, b"\xe0\0\0\1", b"\x0a\0\0\5"]
    sent = []
    for source in sources:
        for goal in goals:
            for size in (0, 4, 7, 8, 9, 64):
                inside = bytes(size)
                sent.append(to_here(4, packet(4, (source, goal), 253, inside, 255)))
    whole = packet(4, (there, here), 253, bytes(8), 255)
    sent += [to_here(4, whole[:cut]) for cut in range(20, 28)]
    with catching("s0", "s") as back:
        send("s0", sent, "s")
        time.sleep(1)
    answers = [data for data in back if data[12:14] == b"\x08\x00" and data[23] == 253]
    assert len(answers) == 1, [data.hex() for data in answers]
    assert answers[0][26:34] == here + there


@case
def probes_that_never_come_are_few() -> None:
    """A queue above this one holds them, or sends them another way."""
    lay_wire()
    do("ip link add link c0 name v5 type vlan id 5")
    do("ip link set v5 up")
    do("ip addr add 10.5.0.1/24 dev v5")
    do("ip neigh add 10.5.0.2 lladdr 02:00:00:00:00:02 nud permanent dev v5")
    do("tc qdisc add dev v5 root handle 1: prio")
    do("tc filter add dev v5 parent 1: protocol ip u32 match ip protocol 1 0xff classid 1:3")
    do("tc qdisc add dev v5 parent 1:3 handle 3: netem delay 200s limit 1000000")
    every_packet("")
    for _ in range(50):
        in_space("", UDP.format("AF_INET", "10.5.0.2", 100))
        time.sleep(0.2)
    held = Netlink().dump("v5")["3:"].qlen
    # Those of ten seconds, and two for each ask.
    assert AWAY <= held <= AWAY + 2 * 110, held
    assert count(mine(), UNMADE) > 4000 and count(mine(), JOINED) == 0
