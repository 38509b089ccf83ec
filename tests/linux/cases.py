# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases.py: what the qdisc must do, each a function that runs in a guest of its own.

python -m tests.linux.cases CASE MODULE
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sojourn import _native

from tests.linux import netlink as nl
from tests.linux.net import Sender, case, do, hears, lay_wire, watching
from tests.linux.netlink import Netlink, Qdisc
from tests.linux.trees import PARENTS, TBF, books, drain, lay_tree, load

ALGORITHMS = [known["name"] for known in _native.algorithms()]
# Those that have no flows of their own; a case below holds this to the module.
ALONE = [name for name in ALGORITHMS if _native.check(name, {"flows": 64, "bandwidth": 1})]
# Those that require the rate of the link below them.
RATED = [known["name"] for known in _native.algorithms() if known["needs_rate"]]
RATE_BYTES_S = 2_500_000
MS = 1_000_000

SPILL = [nl.algorithm("spill"), nl.nest(nl.PARAMS, nl.u32(1, 5))]
SPILL_BUT_LAST = [nl.algorithm("spill"), nl.nest(nl.PARAMS, nl.u32(1, 5), nl.u32(2, 1))]


def rate_of(name: str) -> list[bytes]:
    """The queue's row without which this algorithm is refused."""
    return [nl.u64(nl.BANDWIDTH, RATE_BYTES_S)] if name in RATED else []


def plain(name: str) -> str:
    """The words of this algorithm with as few rows as it may have."""
    return f"{name} bandwidth {RATE_BYTES_S}B/s" if name in RATED else name


def alone(name: str) -> list[bytes]:
    """The same, as options."""
    return [nl.algorithm(name), nl.nest(nl.QUEUE, *rate_of(name))]


def flows_of(name: str, flows: int) -> bytes:
    """The queue's rows for so many flows, where the algorithm may have any."""
    return nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, 0 if name in ALONE else flows), *rate_of(name))


# ---- packets go through, and are counted ----


@case
def a_root_passes_packets_and_counts_them() -> None:
    lay_wire()
    kernel = Netlink()
    kernel.add("c0", "root", "1:", nl.algorithm("codel"))
    with watching("s0", "ip netns exec s") as seen:
        Sender().send(100)
        time.sleep(0.1)
    mine = kernel.dump("c0")["1:"]
    assert len(seen) == 100
    assert (mine.sent_pkts, mine.sent_bytes) == (100, 100 * 1014)
    assert [mine.count(i) for i in range(1, 7)] == [100, 101400, 100, 101400, 0, 0]
    assert (mine.qlen, mine.backlog, mine.drops) == (0, 0, 0)


@case
def every_algorithm_holds_a_load_alone_and_in_flows() -> None:
    lay_wire()
    kernel = Netlink()
    do(TBF)
    below = [("9:1", "10:")]
    refused: list[str] = []
    for name in ALGORITHMS:
        for flows in (0, 64):
            limits = nl.u32(nl.LIMIT, 30), nl.u32(nl.FLOWS, flows)
            rows = nl.nest(nl.QUEUE, *limits, *rate_of(name))
            try:
                kernel.add("c0", "9:1", "10:", nl.algorithm(name), rows)
            except nl.Refused as answer:
                assert flows and answer.sentence.startswith("flows: "), answer
                refused.append(name)
                continue
            mine = load(kernel, below)["10:"]
            assert mine.total(nl.DROPS) == mine.drops > 0, mine
            assert mine.count(1) == mine.count(3) + mine.drops
            kernel.delete("c0", "9:1", "10:")
    assert refused == ALONE, refused


@case
def marks_reach_the_receiver_and_no_copy_of_the_packet() -> None:
    """A copy made before the packet was queued shares its bytes, and waits longer."""
    lay_wire()
    do("ip link add d0 type veth peer name s1 netns s")
    for command in ("ip link set d0 up", "ip -n s link set s1 up"):
        do(command)
    do("tc qdisc add dev d0 root netem delay 800ms limit 10000")
    do("tc qdisc add dev c0 clsact")
    do("tc filter add dev c0 egress matchall action mirred egress mirror dev d0")
    kernel = Netlink()
    do(TBF)
    rows = (
        nl.nest(nl.QUEUE, nl.u32(nl.ECN, 1)),
        nl.nest(nl.PARAMS, nl.u64(1, MS), nl.u64(2, 10 * MS)),
    )
    kernel.add("c0", "9:1", "10:", nl.algorithm("codel"), *rows)
    space = "ip netns exec s"
    with watching("s0", space) as seen, watching("s1", space) as copies:
        Sender(tos=2).send(300)
        Sender(tos=0).send(100)
        time.sleep(2)
    mine = kernel.dump("c0")["10:"]
    marked = sum(field & 3 == 3 for _, field in seen)
    assert marked == mine.total(nl.MARKS) > 5, mine
    assert len(seen) == 400 - mine.drops
    assert [field for _, field in copies] == [2] * 300 + [0] * 100


@case
def red_stops_marking_within_ten_seconds_behind_a_burst() -> None:
    """RED's average is above `max` when the burst is over; then packets of 64 bytes, none of which
    waits, are 4 % of the link."""
    lay_wire()
    kernel = Netlink()
    do(TBF)
    for form in ("classic", "gentle", "adaptive"):
        do(f"tc qdisc add dev c0 parent 9:1 handle 10: sojourn red ecn form {form}")
        sender = Sender(tos=2)
        sender.send(1000)
        burst = kernel.dump("c0")["10:"]
        time.sleep(1)
        marks = []
        for number in range(25_000):
            if number % 5000 == 0:
                marks.append(kernel.dump("c0")["10:"].total(nl.MARKS))
            sender.send(1, payload_bytes=22)
            time.sleep(0.0006)
        last = kernel.dump("c0")["10:"]
        assert burst.total(nl.MARKS) > 500, burst
        # From 13 s to 16 s.
        assert last.total(nl.MARKS) == marks[4], (form, marks, last)
        assert last.count(3) == last.count(1) == 26_000, last
        do("tc qdisc del dev c0 parent 9:1")


# ---- parents ----


def parents_count_with(options: list[bytes]) -> None:
    lay_wire()
    kernel = Netlink()
    for parent in PARENTS:
        below = lay_tree(kernel, parent, *options)
        found = load(kernel, below)
        for _, own in below:
            assert found[own].count(1) > 100, (parent, found[own])
        assert sum(found[own].drops for _, own in below) > 0, parent
        do("tc qdisc del dev c0 root")
    do("rmmod sch_sojourn")


# Said once, and true; QFQ in 6.1 says it as a warning with a trace.
IDLE = ("non-work-conserving", "qfq_dequeue", "Call Trace")


@hears(*IDLE)
@case
def parents_count_right_when_a_dequeue_empties_the_queue() -> None:
    """The kernel says once that such a child is non-work-conserving, as is true."""
    parents_count_with(SPILL)


@case
def parents_count_right_when_a_dequeue_drops_all_but_one() -> None:
    parents_count_with(SPILL_BUT_LAST)


@case
def parents_count_right_when_arrivals_drop_others() -> None:
    limit = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 9), nl.u32(nl.FLOWS, 4))
    parents_count_with([nl.algorithm("codel"), limit])


@case
def parents_count_right_when_victims_are_taken_from_the_middle() -> None:
    params = nl.nest(nl.PARAMS, nl.u32(1, 2), nl.u32(2, 12))
    limit = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 15))
    parents_count_with([nl.algorithm("choke"), limit, params])


@case
def each_queue_of_mq_may_have_one() -> None:
    lay_wire(queues=2)
    kernel = Netlink()
    do("tc qdisc replace dev c0 root handle 1: mq")
    for where, own in (("1:1", "10:"), ("1:2", "20:")):
        kernel.put("c0", where, own, nl.CREATE | nl.REPLACE, nl.algorithm("pie"))
    Sender().send(200)
    time.sleep(0.1)
    found = kernel.dump("c0")
    assert found["10:"].count(3) + found["20:"].count(3) == 200
    assert found["1:"].qlen == 0
    do("tc qdisc del dev c0 root")
    do("rmmod sch_sojourn")


# ---- changes ----


@case
def rows_change_under_traffic_and_the_books_stay_right() -> None:
    lay_wire()
    kernel = Netlink()
    for parent in ("htb", "hfsc", "drr", "qfq", "tbf"):
        below = lay_tree(kernel, parent, nl.algorithm("pie"))
        senders = [Sender(nl.handle(where)) for where, _ in below]
        for number in range(60):
            for sender in senders:
                sender.send(number % 17)
            where, own = below[number % len(below)]
            limit = (400, 5, 60, 1, 200)[number % 5]
            target = nl.nest(nl.PARAMS, nl.u64(1, (1 + number) * MS))
            kernel.change("c0", where, own, nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, limit)), target)
            found = books(kernel)
            assert found[own].qlen <= limit + 1
            time.sleep(0.005)
        found = drain(kernel)
        lowered = [nl.numbers(found[own].stats[nl.DROPS])[8 + 1] for _, own in below]
        assert sum(lowered) > 0, "a lowered limit dropped nothing"
        do("tc qdisc del dev c0 root")


@case
def a_dump_shows_every_row_exactly() -> None:
    lay_wire()
    kernel = Netlink()
    responder = nl.u32(nl.RESPONDER, 0x0A090807)
    rows = (nl.u32(nl.SPLIT_GSO, 0), nl.u32(nl.RESPOND, 1), responder, nl.u32(nl.PROBE, 1))
    host = nl.nest(nl.HOST, *rows)
    six = nl.attribute(nl.RESPONDER6, b"\x20\x01\x0d\xb8" + bytes(11) + b"\7")
    queue = nl.nest(
        nl.QUEUE,
        nl.u32(nl.LIMIT, 777),
        nl.u32(nl.LIMIT_BYTES, 123456),
        nl.u32(nl.ECN, 1),
        nl.u32(nl.FLOWS, 128),
        nl.u32(nl.QUANTUM, 300),
        nl.u32(nl.MEMORY_LIMIT, 9_999_999),
        nl.u64(nl.BANDWIDTH, 1_234_567_890_123),
        nl.u32(nl.DROP_BATCH, 123),
    )
    params = nl.nest(
        nl.PARAMS,
        nl.u64(1, 1_234_567),
        nl.u64(2, 98_765_432),
        nl.u32(3, 1),
        nl.u64(4, 20_000_000_003),
    )
    kernel.add("c0", "root", "1:", nl.algorithm("codel"), six, host, queue, params)
    given = nl.algorithm("codel") + six + host + queue + params
    assert kernel.dump("c0")["1:"].options == given
    # A dump's rows can be set again, and change nothing.
    kernel.put_raw("c0", "root", "1:", 0, nl.attribute(2 | nl.NESTED, given))
    assert kernel.dump("c0")["1:"].options == given


@case
def a_queue_starts_with_the_defaults() -> None:
    lay_wire()
    kernel = Netlink()
    kernel.add("c0", "root", "1:", nl.algorithm("codel"))
    rows = kernel.dump("c0")["1:"].rows
    assert nl.numbers(rows[nl.HOST]) == {1: 1, 2: 0, 3: 0, 4: 0}
    queue = {1: 1000, 2: 0xFFFFFFFF, 3: 0, 4: 0, 5: 0, 6: 32 << 20, 7: 0, 8: 64}
    assert nl.numbers(rows[nl.QUEUE]) == queue
    assert nl.numbers(rows[nl.PARAMS]) == {1: 5 * MS, 2: 100 * MS, 3: 0, 4: 0}


@case
def a_link_that_goes_down_empties_the_queue() -> None:
    lay_wire()
    kernel = Netlink()
    below = lay_tree(kernel, "htb", nl.algorithm("choke"))
    for _ in range(3):
        Sender(nl.handle(below[0][0])).send(50)
        assert books(kernel)["100:"].qlen > 20
        do("ip link set c0 down")
        found = books(kernel)
        assert (found["100:"].qlen, found["1:"].qlen) == (0, 0)
        do("ip link set c0 up")
        do("ip neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 nud permanent dev c0")
        time.sleep(0.1)
    load(kernel, below)


@case
def the_module_stays_while_it_is_used() -> None:
    lay_wire()
    kernel = Netlink()
    for _ in range(20):
        kernel.add("c0", "root", "1:", nl.algorithm("sfb"))
        Sender().send(5)
        busy = subprocess.run(["rmmod", "sch_sojourn"], capture_output=True, check=False)
        assert busy.returncode != 0
        kernel.delete("c0", "root", "1:")
        do("rmmod sch_sojourn")
        do(f"insmod {sys.argv[2]}")


# Floods a queue from a separate process, as long as there is a route.
FLOOD = """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(300):
    for _ in range(20):
        try: s.sendto(bytes(900), ('%s', 9))
        except OSError: pass
    time.sleep(0.01)
"""


SHOW_X = "tc -n x -s qdisc show dev x1"


@contextmanager
def flood(address: str, space: str = "") -> Iterator[None]:
    words = [*space.split(), "/usr/bin/python3", "-S", "-c", FLOOD % address]
    process = subprocess.Popen(words)
    time.sleep(0.1)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@case
def queues_go_while_packets_come() -> None:
    lay_wire()
    kernel = Netlink()
    ways: list[Callable[[], object]] = [
        lambda: kernel.delete("c0", "9:1", "10:"),
        lambda: do("tc qdisc del dev c0 root"),
        lambda: do("tc qdisc replace dev c0 root pfifo"),
        lambda: kernel.put("c0", "root", "5:", nl.CREATE | nl.REPLACE, nl.algorithm("fifo")),
    ]
    with flood("10.0.0.2"):
        for number, name in enumerate(ALGORITHMS * 4):
            do(TBF)
            flows = flows_of(name, number % 2 * 64)
            kernel.add("c0", "9:1", "10:", nl.algorithm(name), flows)
            time.sleep(0.03)
            assert kernel.dump("c0")["10:"].qlen > 0
            ways[number % len(ways)]()
            subprocess.run(["tc", "qdisc", "del", "dev", "c0", "root"], stderr=subprocess.DEVNULL)
    do("rmmod sch_sojourn")


@case
def namespaces_go_while_packets_come() -> None:
    """Received packets leave by the same device, and through its queue."""
    for number in range(6):
        for command in (
            "ip netns add x",
            "ip link add x0 address 02:00:00:00:00:03 type veth peer name x1 netns x",
            "ip addr add 10.9.0.2/24 dev x0",
            "ip -n x addr add 10.9.0.1/24 dev x1",
            "ip -n x link set x1 up",
            "ip link set x0 up",
            "ip netns exec x sysctl -qw net.ipv4.ip_forward=1",
            "ip -n x neigh add 10.9.0.2 lladdr 02:00:00:00:00:03 nud permanent dev x1",
            "ip -n x route add 10.8.0.0/16 via 10.9.0.2",
            "ip route add 10.8.0.0/16 via 10.9.0.1",
            "tc -n x qdisc add dev x1 root handle 9: tbf rate 1mbit burst 3028 limit 100000000",
            f"tc -n x qdisc add dev x1 parent 9:1 sojourn {('fq codel', 'choke')[number % 2]}",
        ):
            do(command)
        with flood("10.8.0.1"):
            [held] = re.findall(r"sojourn [^|]*?backlog \d+\w+ (\d+)p", do(SHOW_X), re.S)
            assert int(held) > 10, held
            do("ip netns del x")
            wait_until(lambda: "x0" not in do("ip -br link"))
    do("rmmod sch_sojourn")


def wait_until(what: Callable[[], bool]) -> None:
    for _ in range(100):
        if what():
            return
        time.sleep(0.1)
    raise AssertionError("this never comes")


# ---- large segments ----


def transfer(split: bool, offloads: bool) -> tuple[Qdisc, int, float]:
    """A connection's 4 MB through HTB at 20 Mbit/s: the queue, the largest packet, and how
    long it took."""
    lay_wire(offloads=offloads)
    kernel = Netlink()
    do("tc qdisc add dev c0 root handle 1: htb default 10")
    do("tc class add dev c0 parent 1: classid 1:10 htb rate 20mbit burst 66000 quantum 66000")
    host = nl.nest(nl.HOST, nl.u32(nl.SPLIT_GSO, int(split)))
    kernel.add("c0", "1:10", "100:", nl.algorithm("codel"), host)
    sink = (
        "import socket\n"
        "l=socket.create_server(('10.0.0.2',9))\n"
        "print('ready',flush=True)\n"
        "c,_=l.accept()\n"
        "n=0\n"
        "while d:=c.recv(1<<16): n+=len(d)\n"
        "print(n)\n"
    )
    words = ["ip", "netns", "exec", "s", "/usr/bin/python3", "-S", "-c", sink]
    receiver = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert receiver.stdout
    receiver.stdout.readline()
    source = (
        "import socket\n"
        "c=socket.create_connection(('10.0.0.2',9))\n"
        "for _ in range(64): c.sendall(bytes(1<<16))\n"
    )
    began = time.monotonic()
    with watching("s0", "ip netns exec s") as seen:
        sender = subprocess.Popen(["/usr/bin/python3", "-S", "-c", source])
        while receiver.poll() is None:
            time.sleep(0.05)
            books(kernel)
        took = time.monotonic() - began
    assert sender.wait() == 0
    assert int(receiver.stdout.read()) == 64 << 16
    mine = drain(kernel)["100:"]
    return mine, max(length for length, _ in seen), took


@case
def segments_are_split_into_packets_of_the_wire() -> None:
    mine, largest, took = transfer(split=True, offloads=True)
    assert largest <= 1500
    assert mine.count(2) // mine.count(1) < 1515
    print(f"RESULT {mine.sent_pkts} {mine.sent_bytes} {took:.3f}")


@case
def packets_are_the_same_without_offloads() -> None:
    mine, largest, took = transfer(split=True, offloads=False)
    assert largest <= 1500
    print(f"RESULT {mine.sent_pkts} {mine.sent_bytes} {took:.3f}")


@case
def parents_count_right_when_segments_push_each_other_out() -> None:
    """Of one arrival's packets the first may join and be dropped with the second."""
    lay_wire(offloads=True)
    kernel = Netlink()
    params = nl.nest(nl.PARAMS, nl.u32(1, 1), nl.u32(2, 40), nl.u32(4, 1))
    for parent in PARENTS:
        below = lay_tree(kernel, parent, nl.algorithm("choke"), params)
        sender = Sender(nl.handle(below[0][0]), segment_bytes=472)
        other = Sender(nl.handle(below[-1][0]), segment_bytes=472)
        for number in range(60):
            sender.send(1 + number % 3, payload_bytes=472 * (2 + number % 9))
            books(kernel)
            other.send(number % 2, payload_bytes=472 * 4)
            time.sleep(0.001 * (number % 11))
            books(kernel)
        found = drain(kernel)
        mine = found[below[0][1]]
        assert mine.count(2) // mine.count(1) == 514, mine
        assert nl.numbers(mine.stats[nl.DROPS])[4 + 1] > 20, mine
        do("tc qdisc del dev c0 root")
    do("rmmod sch_sojourn")


@case
def segments_stay_whole_where_that_is_asked_for() -> None:
    mine, largest, _ = transfer(split=False, offloads=True)
    assert largest > 3000
    assert mine.count(2) // mine.count(1) > 1515
