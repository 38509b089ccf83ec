# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_probes.py: probes on a wire: questions, answers, and packets that change nothing."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Sequence
from typing import Protocol

from tests.linux import frames
from tests.linux import netlink as nl
from tests.linux.cases_vlan import lay_bridge
from tests.linux.frames import catching, send
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink, Qdisc
from tests.linux.trees import TBF

PROTOCOL = 253
ANSWER = 1 << 63
JOINED, REFUSED, LEFT, FREED, ANSWERED, UNMADE, FORGOTTEN, UNHEARD = range(1, 9)
HERE, THERE = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))
MS = 1_000_000
ASQM = (nl.algorithm("asqm"),)
# Below what a packet needs at 8 Mbit/s, so that one answer begins an episode.
HASTY = (nl.algorithm("asqm"), nl.nest(nl.PARAMS, nl.u64(1, MS), nl.u64(2, 10 * MS)))
RTT, SRTT, DROPPING, ANSWERS = 1, 2, 6, 7


def count(queue: Qdisc, which: int) -> int:
    return nl.numbers(queue.stats[nl.PROBES])[which]


def stat(queue: Qdisc, which: int) -> int:
    return nl.numbers(queue.stats[nl.STATS])[which]


def respond_in(space: str, dev: str) -> None:
    do(f"ip netns exec {space} tc qdisc add dev {dev} root sojourn fifo respond")


def is_probe(data: bytes) -> bool:
    return data[12:14] == b"\x08\x00" and data[23] == PROTOCOL


def nonce(data: bytes) -> int:
    return int.from_bytes(data[34:42], "big")


def probe(source: bytes, target: bytes, number: int, to: bytes, by: bytes) -> bytes:
    """A frame as we send it, from anybody to anybody."""
    head = struct.pack("!BBHHHBBH", 0x45, 0, 28, 0, 0x4000, 64, PROTOCOL, 0) + source + target
    whole = head[:10] + struct.pack("!H", frames.checksum(head)) + head[12:]
    return to + by + b"\x08\x00" + whole + number.to_bytes(8, "big")


def to_here(source: bytes, number: int) -> bytes:
    return probe(source, HERE, number, frames.FROM, frames.TO)


class CanSend(Protocol):
    """A sender of either family."""

    def send(self, number: int) -> None: ...


def hundred(sender: CanSend) -> tuple[list[bytes], list[bytes], Qdisc]:
    """A hundred packets pass an asqm that s answers: frames out, frames back, its counts."""
    respond_in("s", "s0")
    kernel = Netlink()
    kernel.add("c0", "root", "1:", *ASQM)
    with catching("s0", "s") as out, catching("c0") as back:
        for _ in range(20):
            sender.send(5)
            time.sleep(0.01)
    Sender().send(1)  # it passes on the last answers
    return out, back, kernel.dump("c0")["1:"]


def check_all_are_answered(mine: Qdisc, asked: list[int], answers: list[int]) -> None:
    """25 questions; each nonce comes back once. Of the counts, only the device's has them."""
    assert not any(number & ANSWER for number in asked)
    assert len(set(asked)) == 25
    assert answers == [number | ANSWER for number in asked]
    found = [count(mine, which) for which in range(1, 9)]
    assert found == [25, 0, 25, 0, 25, 0, 0, 0], found
    assert stat(mine, ANSWERS) == 25
    assert 0 < stat(mine, RTT) < 10 * MS
    assert mine.sent_pkts == 126 and mine.count(1) == mine.count(3) == 101


@case
def a_probe_follows_each_fourth_packet_and_comes_back() -> None:
    lay_wire()
    out, back, mine = hundred(Sender(tos=0xB8 | 2))
    asked = [data for data in out if is_probe(data)]
    assert len(out) == 125
    # Each stands right behind the packets that it is one of four to.
    assert [i for i, data in enumerate(out) if is_probe(data)] == list(range(4, 125, 5))
    for data in asked:
        assert len(data.rstrip(b"\0")) <= 42 and data[:14] == out[0][:14]
        assert data[26:34] == HERE + THERE
        assert data[15] == 0xB8, "the DSCP of the packet that asked, Not-ECT"
        assert frames.checksum(data[14:34]) == 0
        assert int.from_bytes(data[16:18], "big") == 28
    assert [nonce(data) % 4096 for data in asked] == list(range(25))
    answers = [data for data in back if is_probe(data)]
    assert all(data[26:34] == THERE + HERE for data in answers)
    check_all_are_answered(mine, [nonce(data) for data in asked], [nonce(data) for data in answers])


@case
def without_answers_nothing_is_signalled_and_with_them_it_is() -> None:
    lay_wire()
    kernel = Netlink()
    for responds in (False, True):
        if responds:
            respond_in("s", "s0")
        do(TBF)
        kernel.add("c0", "9:1", "10:", *HASTY, nl.nest(nl.QUEUE, nl.u32(nl.ECN, 1)))
        for _ in range(60):
            Sender(tos=2).send(5)
            time.sleep(0.005)
        time.sleep(0.5)
        mine = kernel.dump("c0")["10:"]
        assert (mine.total(nl.MARKS) > 3) == responds, mine
        assert not mine.drops
        assert bool(stat(mine, ANSWERS)) == responds
        kernel.delete("c0", "root", "9:")


def verdicts(mine: Qdisc) -> list[int]:
    """All values that an accepted answer could change."""
    signals = mine.total(nl.MARKS) + mine.total(nl.DROPS)
    return [count(mine, ANSWERED), signals, *(stat(mine, i) for i in (RTT, SRTT, DROPPING))]


@case
def forged_repeated_and_late_answers_change_nothing() -> None:
    lay_wire()
    kernel = Netlink()
    kernel.add("c0", "root", "1:", *HASTY)
    with catching("s0", "s") as out:
        Sender().send(40)
        time.sleep(0.1)
    numbers = [nonce(data) for data in out if is_probe(data)]
    assert len(numbers) == 10
    draw = random.Random(1)
    wrong: list[bytes] = []
    for _ in range(1000):
        near = draw.choice(numbers) ^ 1 << draw.randrange(63)
        wrong += [to_here(THERE, near | ANSWER), to_here(THERE, draw.getrandbits(63) | ANSWER)]
    for number in numbers:
        # Of somebody else, to another of our addresses, and one that asks.
        wrong.append(to_here(bytes((10, 0, 0, 77)), number | ANSWER))
        wrong.append(to_here(THERE, number))
        wrong.append(to_here(THERE, number | ANSWER)[:40])
    before = verdicts(kernel.dump("c0")["1:"])
    send("s0", wrong, "s")
    time.sleep(0.2)
    Sender().send(1)
    assert verdicts(kernel.dump("c0")["1:"]) == before
    # The true ones count once each.
    send("s0", [to_here(THERE, number | ANSWER) for number in numbers] * 3, "s")
    time.sleep(0.2)
    Sender().send(1)
    assert count(kernel.dump("c0")["1:"], ANSWERED) == 10
    # After 4096 further ones an old answer is late.
    first = numbers[0]
    kernel.change("c0", "root", "1:", nl.nest(nl.PARAMS, nl.u32(3, 1)))
    Sender().send(10)
    with catching("s0", "s") as out:
        Sender().send(1)
        time.sleep(0.05)
    [late] = [nonce(data) for data in out if is_probe(data)]
    for _ in range(42):
        Sender().send(100)
        time.sleep(0.01)
    mine = kernel.dump("c0")["1:"]
    assert count(mine, FORGOTTEN) > 100
    send("s0", [to_here(THERE, late | ANSWER), to_here(THERE, first | ANSWER)], "s")
    time.sleep(0.1)
    Sender().send(1)
    assert verdicts(kernel.dump("c0")["1:"])[0] == 10
    # A reset discards the probes in flight.
    with catching("s0", "s") as out:
        Sender().send(1)
        time.sleep(0.05)
    [number] = [nonce(data) for data in out if is_probe(data)]
    do("ip link set c0 down")
    do("ip link set c0 up")
    do("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev c0")
    send("s0", [to_here(THERE, number | ANSWER)], "s")
    time.sleep(0.1)
    Sender().send(1)
    assert count(kernel.dump("c0")["1:"], ANSWERED) == 10


def heard_after(sent: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    with catching("s0", "s") as there, catching("c0") as here:
        send("s0", sent, "s")
        time.sleep(0.5)
    return [data for data in there if is_probe(data)], [data for data in here if is_probe(data)]


@case
def two_modules_never_play_with_one_packet() -> None:
    lay_wire()
    respond_in("s", "s0")
    do("tc qdisc add dev c0 root sojourn asqm respond")
    number = 0x0123456789ABCDEF
    # A question is answered once, and the answer is not.
    there, here = heard_after([to_here(THERE, number)])
    assert [nonce(data) for data in there] == [number | ANSWER]
    assert [nonce(data) for data in here] == [number]
    # An answer to no probe has no effect.
    there, here = heard_after([to_here(THERE, number | ANSWER)])
    assert not there and len(here) == 1
    # Our own probe, returned unchanged, gets no answer.
    with catching("s0", "s") as out:
        Sender().send(4)
        time.sleep(0.1)
    [own] = [nonce(data) for data in out if is_probe(data) and data[26:30] == HERE]
    looped = probe(HERE, HERE, own, frames.FROM, frames.TO)
    there, _ = heard_after([looped])
    assert not there
    # A truncated packet is no question.
    there, _ = heard_after([to_here(THERE, number)[:41]])
    assert not there


@case
def nobody_answers_unless_a_queue_of_the_namespace_says_so() -> None:
    lay_wire()
    do("tc qdisc add dev c0 root handle 1: sojourn fifo")
    question = [to_here(THERE, 5)]
    assert not heard_after(question)[0]
    do("tc qdisc change dev c0 root handle 1: sojourn fifo respond")
    assert heard_after(question)[0]
    do("tc qdisc change dev c0 root handle 1: sojourn fifo norespond")
    assert not heard_after(question)[0]
    do("tc qdisc change dev c0 root handle 1: sojourn fifo respond")
    do("tc qdisc replace dev c0 root handle 1: sojourn asqm respond")
    assert heard_after(question)[0]
    do("tc qdisc del dev c0 root")
    assert not heard_after(question)[0]


@case
def answers_are_at_most_so_many_in_a_second() -> None:
    lay_wire()
    do("tc qdisc add dev c0 root sojourn fifo limit 100000 respond")
    many = [to_here(THERE, number) for number in range(1, 30_001)]
    there, _ = heard_after(many)
    assert 64 <= len(there) <= 20_000, len(there)


@case
def a_probe_has_the_tags_of_its_packet_and_the_address_that_is_said() -> None:
    lay_wire()
    do("ip addr del 10.0.0.1/24 dev c0")
    do("ip link add link c0 name outer type vlan protocol 802.1ad id 101")
    do("ip link add link outer name inner type vlan id 102")
    for words in ("link set outer up", "link set inner up", "addr add 10.0.0.1/24 dev inner"):
        do(f"ip {words}")
    do("ip neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev inner")
    # Another address of the device below, which no packet of the tagged network has.
    do("ip addr add 10.5.5.5/24 dev c0")
    for words, target in (("", THERE), ("responder 10.9.8.7", bytes((10, 9, 8, 7)))):
        do(f"tc qdisc replace dev c0 root handle 1: sojourn asqm {words}")
        with catching("s0", "s") as out:
            Sender().send(8)
            time.sleep(0.1)
        probes = [data for data in out if data[31] == PROTOCOL]
        assert len(probes) == 2
        for data in probes:
            assert data[:22] == out[0][:22]
            assert data[12:22] == bytes.fromhex("88a80065 81000066 0800")
            assert data[34:42] == HERE + target


@case
def a_probe_has_all_tags_of_a_bridged_frame() -> None:
    """The kernel holds the outer tag beside the frame, and its network header is at the next."""
    lay_wire()
    lay_bridge()
    do("tc qdisc add dev c0 root handle 1: sojourn asqm responder 10.0.0.2")
    c_tag, s_tag = (frames.C_TAG, 7), (frames.S_TAG, 8)
    for tags in ([], [c_tag], [s_tag, c_tag], [c_tag] * 3):
        sent = frames.frame(tags, 4, 0, bytes(100))
        front = len(sent) - len(frames.ipv4(0, bytes(100)))
        with catching("s0", "s") as out:
            send("a0", [sent] * 8, "a")
            time.sleep(0.1)
        probes = [data for data in out if data[front + 9] == PROTOCOL]
        assert len(probes) == 2, (tags, [data.hex() for data in out])
        for data in probes:
            assert data[:front] == sent[:front]
            assert data[front + 12 : front + 20] == HERE + THERE


@case
def probes_join_below_any_parent_and_its_books_are_right() -> None:
    lay_wire(offloads=True)
    respond_in("s", "s0")
    kernel = Netlink()
    for root in ("tbf rate 8mbit burst 3000 limit 3000000", "prio"):
        do(f"tc qdisc add dev c0 root handle 9: {root}")
        rows = nl.nest(nl.PARAMS, nl.u32(3, 1)), nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 20))
        kernel.add("c0", "9:1", "10:", nl.algorithm("asqm"), *rows)
        Sender(classid=9 << 16 | 1, segment_bytes=972).send(10, 9 * 972)
        found = kernel.dump("c0")
        assert found["9:"].qlen == found["10:"].qlen, found
        assert found["9:"].backlog == found["10:"].backlog, found
        time.sleep(1)
        found = kernel.dump("c0")
        assert found["9:"].qlen == found["10:"].qlen == found["10:"].backlog == 0, found
        assert count(found["10:"], JOINED) > 5
        assert count(found["10:"], LEFT) == count(found["10:"], JOINED)
        kernel.delete("c0", "root", "9:")
