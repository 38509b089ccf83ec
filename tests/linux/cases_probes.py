# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_probes.py: probes on a wire: questions, answers, and packets that change nothing."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import random
import socket
import struct
import time
from collections.abc import Sequence
from pathlib import Path

from tests.linux import frames
from tests.linux import netlink as nl
from tests.linux.cases_tc import refusal
from tests.linux.cases_vlan import lay_bridge
from tests.linux.frames import catching, send
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink
from tests.linux.probes import (
    ANSWERED,
    ANSWERS,
    ASKED,
    ENDS,
    FORGOTTEN,
    FREED,
    HASTY,
    JOINED,
    LEFT,
    LEFT_BYTES,
    MS,
    READY,
    REFUSED,
    RTT,
    STRAYED,
    UNMADE,
    WAYS,
    Sender6,
    Way,
    answers_in_s,
    count,
    lay_both,
    lay_ipv6,
    packet,
    queue,
    stat,
    to_here,
    verdicts,
)
from tests.linux.trees import TBF

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
EACH_PACKET = (nl.algorithm("asqm"), nl.nest(nl.PARAMS, nl.u32(3, 1)))


class SenderTo(Sender):
    """UDP to an address."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self.target = target

    def send(self, count: int, payload_bytes: int = 972) -> None:
        for _ in range(count):
            self.socket.sendto(bytes(payload_bytes), (self.target, 9))


@case
def a_probe_follows_each_fourth_packet_and_comes_back() -> None:
    lay_both()
    for way in WAYS:
        answers_in_s(way)
        kernel = queue(way)
        with catching("s0", "s") as out, catching("c0") as back:
            sender = way.sender(0xB8 | 2)
            # A route is searched behind the first packet.
            for packets in (1, 4, *[5] * 19):
                sender.send(packets)
                time.sleep(0.01)
        sender.send(1)  # it passes on the last answers
        mine = kernel.dump("c0")["1:"]
        # Right behind the packets that it is one of four to.
        asked = [data for data in out if way.is_question(data)]
        assert len(out) == 125, (way, len(out))
        order = "".join("P" if way.is_question(data) else "u" for data in out)
        assert order == 25 * "uuuuP", (way, order)
        for data in asked:
            assert len(data.rstrip(b"\0")) <= len(data) == max(way.frame_bytes, len(data)), way
            ds = data[15] if way.version == 4 else (data[14] << 4 | data[15] >> 4) & 0xFF
            assert data[:14] == out[0][:14] and ds == 0xB8, "the DSCP of its packet, Not-ECT"
            hops = data[22] if way.version == 4 else data[21]
            assert hops == (1 if way.echo else 255), (way, hops)
            assert data[way.head - 2 * len(ENDS[way.version][0]) : way.head] == b"".join(way.ends)
        assert len({way.identifier(data) for data in asked}) == 1
        numbers = [way.number(data) for data in asked]
        assert len(set(numbers)) == 25
        answers = [way.number(data) for data in back if way.is_answer(data)]
        assert [n for n in answers if n in numbers] == numbers, way
        found = {which: count(mine, which) for which in range(JOINED, STRAYED + 1)}
        assert found[JOINED] == found[LEFT] == found[ANSWERED] == found[ASKED] == 25, (way, found)
        assert found[READY] == 25 and found[LEFT_BYTES] == 25 * way.frame_bytes, (way, found)
        others = (REFUSED, FREED, UNMADE, FORGOTTEN, STRAYED)
        assert not any(found[which] for which in others), (way, found)
        assert stat(mine, ANSWERS) == 25 and 0 < stat(mine, RTT) < 10 * MS
        # In the device's counts, and in none of the queue's.
        assert mine.sent_pkts == 126 and mine.count(1) == mine.count(3) == 101
        kernel.delete("c0", "root", "1:")


@case
def probes_stand_inside_a_segment_of_many_packets() -> None:
    lay_both()
    for dev in ("c0", "s0"):
        space = "ip netns exec s " if dev == "s0" else ""
        do(f"{space}ethtool -K {dev} gso on tso on sg on tx on")
        do(f"{space}ip link set {dev} gso_max_segs 65535")
    for way in WAYS:
        answers_in_s(way)
        kernel = queue(way)
        segments = way.sender(segment_bytes=952)
        # More than are parked behind a first packet: those of this segment join late.
        segments.send(1, 44 * 952)
        time.sleep(0.1)
        with catching("s0", "s") as out:
            for _ in range(10):
                segments.send(1, 44 * 952)
                time.sleep(0.1)
        rows = "".join("P" if way.is_question(data) else "u" for data in out)
        assert rows == "uuuuP" * 110, (way, rows)
        kernel.delete("c0", "root", "1:")


@case
def without_answers_nothing_is_signalled_and_with_them_it_is() -> None:
    lay_both()
    for way in WAYS:
        for answers in (False, True):
            answers_in_s(way, answers=answers)
            do(TBF)
            ecn = nl.nest(nl.QUEUE, nl.u32(nl.ECN, 1))
            kernel = queue(way, *HASTY, ecn, place="9:1", handle="10:")
            sender = way.sender(2)
            for _ in range(60):
                sender.send(5)
                time.sleep(0.005)
            time.sleep(0.5)
            mine = kernel.dump("c0")["10:"]
            assert (mine.total(nl.MARKS) > 3) == answers, (way, mine)
            assert not mine.drops
            assert bool(stat(mine, ANSWERS)) == answers
            kernel.delete("c0", "root", "9:")


def wrong_answers(way: Way, numbers: Sequence[int], draw: random.Random) -> list[bytes]:
    """Frames of which none answers a probe with one of these numbers."""
    here, there = way.ends
    bits = 32 if way.echo else 63
    wrong: list[bytes] = []
    for _ in range(500):
        near = draw.choice(numbers) ^ 1 << draw.randrange(bits)
        far = draw.getrandbits(bits)
        wrong += [way.frame(number) for number in (near, far) if number not in numbers]
    [other] = [one for one in WAYS if one.version == way.version and one.echo != way.echo]
    for number in numbers:
        true = way.frame(number)
        wrong.append(way.frame(number, (ENDS[way.version][2], here)))  # of somebody else
        wrong.append(way.frame(number, answer=False))  # one that asks
        wrong.append(true[:-2])
        wrong.append(other.frame(number & 0xFFFFFFFF))  # of the other kind
        if way.echo:
            # A checksum that is wrong, and bytes behind it.
            wrong.append(true[: way.head + 2] + b"\1\1" + true[way.head + 4 :])
            more = way.payload(number, (there, here), answer=True) + b"data"
            wrong.append(
                to_here(way.version, packet(way.version, (there, here), way.protocol, more))
            )
        else:
            wrong.append(way.frame(number, hops=254))  # a router has seen it
    return wrong


@case
def forged_repeated_and_late_answers_change_nothing() -> None:
    lay_both()
    for way in WAYS:
        answers_in_s(way, answers=False)
        kernel = queue(way, *HASTY)
        sender = way.sender()
        sender.send(1)
        time.sleep(0.1)
        with catching("s0", "s") as out:
            sender.send(39)
            time.sleep(0.1)
        numbers = [way.number(data) for data in out if way.is_question(data)]
        assert len(numbers) == 10, (way, len(numbers))
        wrong = wrong_answers(way, numbers, random.Random(1))
        before = verdicts(kernel.dump("c0")["1:"])
        send("s0", wrong, "s")
        time.sleep(0.2)
        sender.send(1)
        assert verdicts(kernel.dump("c0")["1:"]) == before, way
        # By another device of this host.
        do("ip link add d1 type veth peer name d2")
        do("ip link set d1 address 02:00:00:00:00:01 up")
        do("ip link set d2 up")
        do("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.d1.rp_filter=0")
        send("d2", [way.frame(number) for number in numbers])
        time.sleep(0.1)
        sender.send(1)
        assert verdicts(kernel.dump("c0")["1:"]) == before, way
        do("ip link del d1")
        # The true ones count once each.
        send("s0", [way.frame(number) for number in numbers] * 3, "s")
        time.sleep(0.2)
        sender.send(1)
        assert count(kernel.dump("c0")["1:"], ANSWERED) == 10, way
        # After 4096 further ones an old answer is late.
        kernel.change("c0", "root", "1:", nl.nest(nl.PARAMS, nl.u32(3, 1)))
        with catching("s0", "s") as out:
            sender.send(8)
            time.sleep(0.05)
            for _ in range(84):
                sender.send(50)
                time.sleep(0.01)
        asked = [way.number(data) for data in out if way.is_question(data)]
        # The number of an echo has four random bits beside its slot: one in 16 comes again.
        late = next(number for number in asked[:8] if asked.count(number) == 1)
        assert count(kernel.dump("c0")["1:"], FORGOTTEN) > 50
        send("s0", [way.frame(late)], "s")
        time.sleep(0.1)
        sender.send(1)
        assert count(kernel.dump("c0")["1:"], ANSWERED) == 10, way
        # So it is after a minute.
        with catching("s0", "s") as out:
            sender.send(1)
            time.sleep(0.05)
        [old] = [way.number(data) for data in out if way.is_question(data)]
        time.sleep(61)
        send("s0", [way.frame(old)], "s")
        time.sleep(0.1)
        sender.send(1)
        assert count(kernel.dump("c0")["1:"], ANSWERED) == 10, way
        # A reset discards the probes in flight.
        with catching("s0", "s") as out:
            sender.send(1)
            time.sleep(0.05)
        [lost] = [way.number(data) for data in out if way.is_question(data)]
        do("ip link set c0 down")
        do("ip link set c0 up")
        do("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev c0")
        lay_again()
        send("s0", [way.frame(lost)], "s")
        time.sleep(0.1)
        sender.send(1)
        assert count(kernel.dump("c0")["1:"], ANSWERED) == 10, way
        kernel.delete("c0", "root", "1:")


def lay_again() -> None:
    """IPv6's addresses on c0 go when it goes down."""
    do("ip -6 addr replace fd00::1/64 dev c0 nodad")
    do("ip -6 addr replace fe80::1/64 dev c0 nodad")
    for far in ("fd00", "fe80"):
        do(f"ip -6 neigh replace {far}::2 lladdr 02:00:00:00:00:02 nud permanent dev c0")


@case
def two_ends_that_probe_fall_silent_behind_the_packets() -> None:
    """Each end's answers, errors and neighbour solicitations pass the other's queue."""
    lay_both()
    for way in WAYS:
        words = f"sojourn asqm ratio 1 respond {way.words}"
        do(f"tc qdisc replace dev c0 root {words}")
        do(f"ip netns exec s tc qdisc replace dev s0 root {words}")
        if way.version == 6:
            # Neighbours are asked for, and nobody is there.
            do("ip -6 neigh flush all nud permanent")
            do("ip -n s -6 neigh flush all nud permanent")
        Sender().send(5)
        Sender6("fd00::99").send(5)
        way.sender().send(5)
        time.sleep(10)
        with catching("s0", "s") as there, catching("c0") as here:
            time.sleep(20)
        heard = [data for data in (*there, *here) if way.is_question(data) or way.is_answer(data)]
        assert not heard, (way, len(heard))
    # A queue above another one, on a VLAN: its probes are no reason for the lower one's.
    do("ip link add link c0 name c5 type vlan id 5")
    do("ip link set c5 up")
    do("ip addr add 10.5.0.1/24 dev c5")
    do("ip neigh add 10.5.0.2 lladdr 02:00:00:00:00:02 nud permanent dev c5")
    do("tc qdisc add dev c5 root sojourn asqm ratio 1")
    do("tc qdisc replace dev c0 root sojourn asqm ratio 1")
    with catching("s0", "s") as there:
        for _ in range(10):
            SenderTo("10.5.0.2").send(1)
            time.sleep(0.1)
        time.sleep(5)
    assert 20 <= len(there) <= 40, len(there)


def answers_to(way: Way, sent: Sequence[bytes]) -> list[bytes]:
    """Everything of this way's protocol that comes back to s0."""
    with catching("s0", "s") as there:
        send("s0", sent, "s")
        time.sleep(0.5)
    return [data for data in there if way.is_answer(data) or way.is_question(data)]


@case
def a_question_from_the_link_is_answered_once_where_a_queue_responds() -> None:
    lay_both()
    number = 0x0123456789ABCDEF
    for way in WAYS:
        if way.echo:
            continue
        here, there = way.ends
        question = way.frame(number, answer=False)
        assert not answers_to(way, [question]), way
        do("tc qdisc add dev c0 root handle 1: sojourn fifo")
        assert not answers_to(way, [question]), way
        do("tc qdisc change dev c0 root handle 1: sojourn fifo respond")
        [answer] = answers_to(way, [question])
        assert way.is_answer(answer) and way.number(answer) == number
        assert b"".join((here, there)) in answer and len(answer) >= way.frame_bytes
        assert answer[22 if way.version == 4 else 21] == 255
        everybody = ipaddress.ip_address("ff02::1").packed if way.version == 6 else b"\xe0\0\0\1"
        silence = [
            way.frame(number),  # an answer
            way.frame(number, answer=False, hops=254),  # a router has seen it
            question[:-1],
            way.frame(number, (there, everybody), answer=False),
            way.frame(number, (here, here), answer=False),
        ]
        if way.version == 4:
            silence.append(way.frame(number, (bytes((10, 0, 0, 255)), here), answer=False))
        for data in silence:
            assert not answers_to(way, [data]), (way, data.hex())
        do("tc qdisc change dev c0 root handle 1: sojourn fifo norespond")
        assert not answers_to(way, [question]), way
        do("tc qdisc replace dev c0 root handle 1: sojourn asqm respond")
        assert answers_to(way, [question]), way
        do("tc qdisc del dev c0 root")
        assert not answers_to(way, [question]), way


@case
def each_source_has_answers_of_its_own() -> None:
    """A stranger's 30,000 questions at once leave those of another unharmed."""
    lay_both()
    do("tc qdisc add dev c0 root sojourn fifo limit 100000 respond")
    way = next(way for way in WAYS if way.version == 4 and not way.echo)
    here, there, stranger = ENDS[4]
    do("ip neigh add 10.0.0.77 lladdr 02:00:00:00:00:02 nud permanent dev c0")
    many = [way.frame(n, (stranger, here), answer=False) for n in range(1, 30_001)]
    ours = [way.frame(n, (there, here), answer=False) for n in range(50_000, 50_100)]
    answers = answers_to(way, [*many, *ours])
    own = [data for data in answers if data[30:34] == there]
    assert len(own) == 100
    # A second may begin in between.
    assert len(answers) - 100 in (10_000, 20_000), len(answers)


@case
def a_namespace_hears_while_a_queue_wants_it_and_takes_nothing_from_others() -> None:
    lay_both()

    def raw() -> list[int]:
        lines = [Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("raw", "raw6")]
        return sorted(
            int(line.split()[1].rpartition(":")[2], 16) for part in lines for line in part
        )

    way = next(way for way in WAYS if way.version == 4 and not way.echo)
    udp = packet(4, way.ends[::-1], 253, bytes(8), 255)

    def unreachable() -> bool:
        with catching("s0", "s") as there:
            send("s0", [to_here(4, udp)], "s")
            time.sleep(2)
        return any(data[23] == 1 and data[34:36] == b"\3\2" for data in there)

    assert raw() == [] and unreachable()
    do("tc qdisc add dev c0 root handle 1: sojourn asqm")
    assert raw() == [1, 58] and unreachable()
    do("tc qdisc change dev c0 root handle 1: sojourn asqm probe experimental")
    time.sleep(0.1)
    assert raw() == [253, 253] and not unreachable()
    do("tc qdisc replace dev c0 root handle 1: sojourn codel respond")
    time.sleep(0.1)
    assert raw() == [253, 253]
    do("tc qdisc replace dev c0 root handle 1: sojourn codel")
    time.sleep(0.1)
    assert raw() == [] and unreachable()
    # Other programs hear their own echo replies.
    do("tc qdisc replace dev c0 root handle 1: sojourn asqm ratio 1")
    other = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    other.settimeout(1)
    echo = next(way for way in WAYS if way.version == 4 and way.echo)
    other.sendto(echo.payload(0x12345678, echo.ends, answer=False), ("10.0.0.2", 0))
    assert other.recv(100)[-8:] == echo.payload(0x12345678, echo.ends, answer=True)


@case
def a_probe_goes_by_the_tags_of_its_packets_way_and_to_the_address_that_is_said() -> None:
    lay_wire()
    do("ip addr del 10.0.0.1/24 dev c0")
    do("ip link add link c0 name outer type vlan protocol 802.1ad id 101")
    do("ip link add link outer name inner type vlan id 102 egress 3:5")
    for words in ("link set outer up", "link set inner up", "addr add 10.0.0.1/24 dev inner"):
        do(f"ip {words}")
    do("ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev inner")
    do("ip neigh add 10.9.8.7 lladdr 02:00:00:00:00:02 nud permanent dev inner")
    # Another address of the device below, which no packet of the tagged network has.
    do("ip addr add 10.5.5.5/24 dev c0")
    for words, target in (("", bytes((10, 0, 0, 2))), ("responder 10.9.8.7", bytes((10, 9, 8, 7)))):
        do(f"tc qdisc replace dev c0 root handle 1: sojourn asqm {words}")
        sender = Sender(classid=3)
        sender.send(1)
        time.sleep(0.1)
        with catching("s0", "s") as out:
            sender.send(7)
            time.sleep(0.1)
        probes = [data for data in out if data[31] == 1]
        assert len(probes) == 2
        for data in probes:
            assert data[:22] == out[0][:22]
            assert data[12:22] == bytes.fromhex("88a80065 8100a066 0800")
            assert data[34:42] == bytes((10, 0, 0, 1)) + target


@case
def a_bridge_sends_the_probes_of_its_port_to_the_responder() -> None:
    """The port has no address; the bridge does, and knows by which port the responder is."""
    lay_wire()
    lay_bridge()
    do("ip addr del 10.0.0.1/24 dev c0")
    do("ip addr add 10.0.0.1/24 dev br0")
    do("ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev br0")
    do("bridge fdb replace 02:00:00:00:00:02 dev c0 master static")
    for words, probes in (("", 0), ("responder 10.0.0.2", 2)):
        do(f"tc qdisc replace dev c0 root handle 1: sojourn asqm {words}")
        sent = frames.frame([], 4, 0, bytes(100))
        send("a0", [sent], "a")
        time.sleep(0.1)
        with catching("s0", "s") as out:
            send("a0", [sent] * 7, "a")
            time.sleep(0.1)
        found = [data for data in out if data[23] == 1 and data[34] == 8]
        assert len(found) == probes, (words, len(out))
        mine = Netlink().dump("c0")["1:"]
        assert count(mine, UNMADE) == 2 - probes
        assert count(mine, JOINED) == probes
        do("tc qdisc del dev c0 root")


@case
def ipv6_probes_go_to_the_next_hop_or_the_responder_of_their_family() -> None:
    lay_both()
    here, link_here, link_there = (
        ipaddress.ip_address(text).packed for text in ("fd00::1", "fe80::1", "fe80::2")
    )
    seven = ipaddress.ip_address("fd00::7").packed
    do("ip -6 neigh add fd00::7 lladdr 02:00:00:00:00:02 nud permanent dev c0")
    do("ip neigh add 10.0.0.7 lladdr 02:00:00:00:00:02 nud permanent dev c0")
    way = next(way for way in WAYS if way.version == 6 and way.echo)
    for words, ends in (("", (link_here, link_there)), ("responder fd00::7", (here, seven))):
        do(f"tc qdisc replace dev c0 root handle 1: sojourn asqm responder 10.0.0.7 {words}")
        beyond, near = Sender6("fd99::1"), Sender()
        beyond.send(1)
        near.send(1)
        time.sleep(0.1)
        with catching("s0", "s") as out:
            beyond.send(6)
            near.send(4)
            time.sleep(0.1)
        asked = [data[22:54] for data in out if way.is_question(data)]
        assert asked == [b"".join(ends)] * 2, (words, [data.hex() for data in out])
        assert [data[30:34] for data in out if data[23] == 1] == [bytes((10, 0, 0, 7))]
    # An IPv4 route by an IPv6 gateway: there is no IPv4 address to ask.
    do("ip route add 10.77.0.0/16 via inet6 fd00::2 dev c0")
    do("tc qdisc replace dev c0 root handle 1: sojourn asqm")
    sender = SenderTo("10.77.0.1")
    sender.send(1)
    time.sleep(0.1)
    with catching("s0", "s") as out:
        sender.send(3)
        time.sleep(0.1)
    assert [data[38:54] for data in out if way.is_question(data)] == [ENDS[6][1]]


@case
def a_packet_without_a_next_hop_gets_no_probe() -> None:
    """To a group, or by a device with two ends whose far end has no address."""
    lay_both()
    do("ip -6 route add multicast ff05::/16 dev c0 table local")
    do("ip route add 224.0.0.0/4 dev c0")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"t0", IFF_TUN | IFF_NO_PI))
    do("ip link set t0 up")
    do("ip addr add 10.6.0.1/24 dev t0")
    kernel = Netlink()
    for dev, sender in (
        ("c0", Sender6("ff05::1234")),
        ("c0", SenderTo("224.1.2.3")),
        ("t0", SenderTo("10.6.0.2")),
    ):
        do(f"tc qdisc replace dev {dev} root handle 1: sojourn asqm")
        sender.send(8)
        time.sleep(0.1)
        mine = kernel.dump(dev)["1:"]
        assert (count(mine, UNMADE), count(mine, JOINED)) == (2, 0), dev
        do(f"tc qdisc del dev {dev} root")
    os.close(tun)


@case
def probes_join_below_any_parent_and_its_books_are_right() -> None:
    lay_wire(offloads=True)
    lay_ipv6()
    roots = ["tbf rate 8mbit burst 3000 limit 3000000", "prio", "netem delay 1ms", "drr"]
    roots += ["htb default 1", "hfsc default 1", "qfq", "ets bands 3"]
    of_class = {"drr": "drr", "qfq": "qfq weight 1", "htb default 1": "htb rate 8mbit"}
    of_class["hfsc default 1"] = "hfsc ls rate 8mbit"
    for root in roots:
        for way in WAYS:
            answers_in_s(way)
            do(f"tc qdisc add dev c0 root handle 9: {root}")
            if root in of_class:
                do(f"tc class add dev c0 parent 9: classid 9:1 {of_class[root]}")
            if root in ("drr", "qfq", "prio", "ets bands 3"):
                do("tc filter add dev c0 parent 9: protocol all matchall classid 9:1")
            rows = *EACH_PACKET, nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 20))
            kernel = queue(way, *rows, place="9:1", handle="10:")
            sender = way.sender(segment_bytes=952)
            for _ in range(3):
                sender.send(10, 9 * 952)
                time.sleep(0.3)
            sender.send(10, 9 * 952)
            found = kernel.dump("c0")
            if "netem" not in root:
                assert found["9:"].qlen == found["10:"].qlen, (root, way, found)
                assert found["9:"].backlog == found["10:"].backlog, (root, way, found)
            time.sleep(1)
            found = kernel.dump("c0")
            assert found["9:"].qlen == found["10:"].qlen == found["10:"].backlog == 0, (root, found)
            assert count(found["10:"], JOINED) > 5, (root, way)
            assert count(found["10:"], LEFT) == count(found["10:"], JOINED)
            kernel.delete("c0", "root", "9:")


@case
def a_probe_takes_the_class_and_the_transmit_queue_of_its_packet() -> None:
    lay_wire(queues=4)
    do("tc qdisc add dev c0 root handle 1: htb default 20")
    for name in ("10", "20"):
        do(f"tc class add dev c0 parent 1: classid 1:{name} htb rate 100mbit")
    do("tc filter add dev c0 parent 1: protocol ip u32 match ip protocol 17 0xff classid 1:10")
    do("tc qdisc add dev c0 parent 1:10 handle 10: sojourn asqm ratio 1")
    Sender().send(50)
    time.sleep(0.1)
    mine = Netlink().dump("c0")["10:"]
    assert count(mine, JOINED) == 50 and count(mine, STRAYED) == 0, count(mine, STRAYED)
    do("tc qdisc replace dev c0 root handle 2: mq")
    for n in range(1, 5):
        do(f"tc qdisc add dev c0 parent 2:{n} handle 1{n}: sojourn asqm ratio 1")
    do("tc qdisc add dev c0 clsact")
    do("tc filter add dev c0 egress matchall action skbedit queue_mapping 3")
    Sender().send(50)
    time.sleep(0.1)
    found = Netlink().dump("c0")
    assert count(found["14:"], JOINED) == count(found["14:"], LEFT) == 50
    assert [found[f"1{n}:"].sent_pkts for n in (1, 2, 3)] == [0, 0, 0]


@case
def what_nobody_can_be_is_refused_as_a_responder() -> None:
    lay_both()
    for address in (
        "224.0.0.1",
        "255.255.255.255",
        "127.0.0.1",
        "::1",
        "ff02::1",
        "::ffff:1.2.3.4",
    ):
        told = refusal(f"tc qdisc add dev c0 root sojourn asqm responder {address}")
        assert "responder: not the address of one other host" in told, (address, told)
    do("tc qdisc add dev c0 root handle 1: sojourn asqm responder 10.0.0.2 responder fd00::2")
    line = do("tc qdisc show dev c0")
    assert "responder 10.0.0.2" in line and line.rstrip().endswith("responder fd00::2"), line
    do("tc qdisc change dev c0 root handle 1: sojourn asqm responder ::")
    assert "fd00::2" not in do("tc qdisc show dev c0")
