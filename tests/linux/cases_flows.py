# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_flows.py: statistics of flows beside counts made by hand, and a class for each flow.

The link sends a byte in a microsecond, and its bucket lets the first 3,028 bytes pass at once. It
takes a packet when the one before it has gone.
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from statistics import mean

from tests.linux import netlink as nl
from tests.linux.cases_tc import refusal
from tests.linux.net import ADDRESS, Sender, case, do, lay_wire
from tests.linux.netlink import Netlink, Qdisc

NAMES = [
    *("new_flow_count", "new_flows_len", "old_flows_len", "collisions"),
    *("delay_mean_ns", "delay_sparse_ns", "delay_peak_ns", "memory_used_bytes"),
]
LINK = "tc qdisc add dev c0 root handle 9: tbf rate 8mbit burst 3028 limit 100mb"
LENGTH, QUANTUM = 1014, 1514
FLOWS, EACH = 8, 20
# Packets of a flow of their own that leave the queue at once, so that later ones wait: two pass
# the bucket, and the link holds the third.
FIRST = 3


def add(words: str) -> Netlink:
    lay_wire()
    do(LINK)
    do(f"tc qdisc add dev c0 parent 9:1 handle a: sojourn {words}")
    return Netlink()


def flows_of(kernel: Netlink) -> dict[str, int]:
    found = nl.numbers(kernel.dump("c0")["a:"].stats[nl.FLOW_STATS])
    return {name: found[i] for i, name in enumerate(NAMES, 1)}


def deficit(one: Qdisc) -> int:
    return int(struct.unpack("=q", one.stats[nl.DEFICIT])[0])


def send_all() -> list[Sender]:
    Sender().send(FIRST)
    senders = [Sender() for _ in range(FLOWS)]
    for sender in senders:
        sender.send(EACH)
    return senders


def is_near(number: float, wanted: float) -> bool:
    return math.isclose(number, wanted, rel_tol=0.005)


@case
def statistics_of_flows_are_those_of_a_count() -> None:
    kernel = add("fq fifo flows 65536")
    send_all()
    now, held = flows_of(kernel), FLOWS * EACH
    # The flow of the first packets was dry between them, and is to be looked at again.
    assert now["new_flow_count"] == FIRST + FLOWS, now
    assert (now["new_flows_len"], now["old_flows_len"]) == (1 + FLOWS, 0), now
    time.sleep(0.0025)
    # One has spent its quantum by two packets, and the third is of the next.
    now, held = flows_of(kernel), held - 3
    assert (now["new_flows_len"], now["old_flows_len"]) == (FLOWS - 1, 1), now
    assert now["memory_used_bytes"] % held == 0
    assert now["memory_used_bytes"] > held * LENGTH
    time.sleep(1)
    end = flows_of(kernel)
    waits_ns = [max(0, LENGTH * n - 3028) * 1000 for n in range(FIRST + FLOWS * EACH)]
    assert is_near(end["delay_mean_ns"], mean(waits_ns)), end
    # Two packets of each flow leave while it is new.
    assert is_near(end["delay_sparse_ns"], mean(waits_ns[: FIRST + 2 * FLOWS])), end
    assert is_near(end["delay_peak_ns"], waits_ns[-1]), end
    assert (end["new_flows_len"], end["old_flows_len"], end["memory_used_bytes"]) == (0, 0, 0)
    assert (end["new_flow_count"], end["collisions"]) == (FIRST + FLOWS, 0)


@case
def a_sparse_flow_waits_for_one_packet_of_the_others() -> None:
    kernel = add("fq fifo flows 65536")
    send_all()
    time.sleep(0.03)
    before, sparse = flows_of(kernel), Sender()
    for _ in range(5):
        sparse.send(1)
        time.sleep(0.02)
    end = flows_of(kernel)
    assert end["new_flow_count"] == before["new_flow_count"] + 5
    packets = FIRST + 2 * FLOWS
    sums_ns = [now["delay_sparse_ns"] * n for now, n in ((before, packets), (end, packets + 5))]
    assert 0 <= sums_ns[1] - sums_ns[0] <= 5 * LENGTH * 1000, sums_ns
    assert end["delay_mean_ns"] > 20 * LENGTH * 1000, end


@case
def two_hashes_in_one_flow_collide() -> None:
    """Each packet but the first is behind one of the other sender."""
    kernel = add("fq fifo flows 1")
    one, other = Sender(), Sender()
    one.send(FIRST + 1)
    for _ in range(10):
        other.send(1)
        one.send(1)
    other.send(5)
    assert flows_of(kernel)["collisions"] == 21


@case
def statistics_of_a_queue_without_flows_have_none_of_them() -> None:
    kernel = add("codel")
    Sender().send(50)
    assert nl.FLOW_STATS not in kernel.dump("c0")["a:"].stats
    assert kernel.classes("c0") == {}


@case
def every_flow_that_waits_is_a_class() -> None:
    kernel = add("fq codel flows 65536")
    send_all()
    assert len(kernel.classes("c0")) == 1 + FLOWS
    time.sleep(0.0025)
    found = kernel.classes("c0")
    assert len(found) == FLOWS
    assert all(one.parent == nl.handle("a:") for one in found.values())
    held = sorted(one.qlen for one in found.values())
    assert held == [EACH - 2, EACH - 1] + [EACH] * (FLOWS - 2)
    assert all(one.backlog == LENGTH * one.qlen and one.drops == 0 for one in found.values())
    credit = {one.qlen: deficit(one) for one in found.values()}
    first, second = 2 * QUANTUM - 2 * LENGTH, QUANTUM - LENGTH
    assert credit == {EACH - 2: first, EACH - 1: second, EACH: QUANTUM}
    time.sleep(1)
    assert kernel.classes("c0") == {}


@case
def a_class_tells_what_its_flow_has_lost() -> None:
    """A limit takes half of the fattest flow's bytes."""
    kernel = add("fq codel flows 65536 limit 40")
    fat, thin = Sender(), Sender()
    fat.send(FIRST + 38)
    thin.send(3)
    by_drops = {one.drops: one.qlen for one in kernel.classes("c0").values()}
    assert by_drops == {19: 19, 0: 3}


@case
def tc_tells_of_flows_and_of_each_class() -> None:
    add("fq codel flows 65536")
    send_all()
    lines = do("tc -s class show dev c0").splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("class sojourn a:")]
    assert len(heads) == 1 + FLOWS
    for i in heads:
        assert lines[i].endswith(" parent a: codel "), lines[i]
        assert lines[i + 3].startswith("  deficit_bytes "), lines[i : i + 6]
        assert lines[i + 4].startswith("  codel delay "), lines[i : i + 6]
    [text] = [line for line in do("tc -s qdisc show dev c0").splitlines() if "  flows " in line]
    assert f"new_flow_count {FIRST + FLOWS} new_flows_len {1 + FLOWS} memory_used_bytes " in text
    [told] = [one for one in json.loads(do("tc -j -s qdisc show dev c0")) if "sojourn" in one]
    assert list(told["sojourn"]["flows"]) == list(NAMES)


@case
def nobody_makes_changes_or_deletes_a_class() -> None:
    kernel = add("fq codel")
    for listed in (False, True):
        if listed:
            send_all()
        used = next(iter(kernel.classes("c0")), "a:7")
        free = "a:8" if used != "a:8" else "a:9"
        is_flow = "a class is a flow of the queue"
        for command, sentence in {
            f"tc class add dev c0 parent a: classid {free} sojourn": is_flow,
            f"tc class replace dev c0 parent a: classid {used} sojourn": is_flow,
            f"tc qdisc add dev c0 parent {used} pfifo": is_flow if listed else "not found",
            "tc filter add dev c0 parent a: matchall classid a:1": "support",
        }.items():
            told = refusal(command)
            assert sentence in told, (command, told)
        if listed:
            for verb in ("change", "delete"):
                told = refusal(f"tc class {verb} dev c0 parent a: classid {used} sojourn")
                assert is_flow in told, told
            assert "exists" in refusal(f"tc class add dev c0 parent a: classid {used} sojourn")
    assert len(kernel.classes("c0")) >= FLOWS
    do("tc qdisc del dev c0 root")
    do("rmmod sch_sojourn")


def datagrams(begin: int, count: int) -> None:
    """Each of another flow."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        raw.setsockopt(socket.SOL_SOCKET, 32, 1 << 29)  # SO_SNDBUFFORCE: it never waits
        ends = socket.inet_aton("10.0.0.1") + socket.inet_aton(ADDRESS)
        for n in range(begin, begin + count):
            head = struct.pack("!BBHHHBBH", 0x45, 0, 32, 0, 0, 64, 17, 0) + ends
            ports = struct.pack("!HHHH", n & 0xFFFF, 1024 + (n >> 16), 12, 0)
            raw.sendto(head + ports + bytes(4), (ADDRESS, 0))


@case
def the_last_of_65536_flows_is_no_class() -> None:
    """Its number would need 17 bits. The hash that chooses it is the kernel's secret, so packets
    come until it has one."""
    kernel = add("fq fifo flows 65536 limit 70000")
    begun = 0
    for _ in range(30):
        datagrams(begun, 20_000)
        begun += 20_000
        now = flows_of(kernel)
        listed = now["new_flows_len"] + now["old_flows_len"]
        found = kernel.classes("c0")
        if len(found) != listed:
            break
    assert len(found) == listed - 1, (len(found), now)
    assert "a:0" not in found
