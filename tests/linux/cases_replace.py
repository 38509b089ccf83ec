# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_replace.py: `replace` gives what `add` would have given, in place where it can."""

from __future__ import annotations

import errno
import time

from tests.linux import netlink as nl
from tests.linux.cases import ALGORITHMS, MS, alone, flood, flows_of
from tests.linux.cases_bad import refuses
from tests.linux.cases_command import ours
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink, Qdisc
from tests.linux.trees import PARENTS, TBF, books, drain, lay_levels

LOWERED, RESET = 8 + 1, 9 + 1


def dropped(queue: Qdisc, why: int) -> int:
    return nl.numbers(queue.stats[nl.DROPS])[why]


def made_new(kernel: Netlink, *options: bytes) -> bytes:
    """The rows of a queue that is added with these options."""
    do("ip link add n0 type dummy")
    kernel.add("n0", "root", "1:", *options)
    rows = kernel.dump("n0")["1:"].options
    do("ip link del n0")
    return rows


def fill(kernel: Netlink, *options: bytes, count: int = 40) -> Qdisc:
    """Below TBF, with packets in it; what it says of itself."""
    do(TBF)
    kernel.add("c0", "9:1", "10:", *options)
    Sender().send(count)
    return kernel.dump("c0")["10:"]


@case
def every_algorithm_replaces_every_other() -> None:
    lay_wire()
    kernel = Netlink()
    limit = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 200), nl.u32(nl.ECN, 1))
    before = fill(kernel, nl.algorithm("fifo"), limit)
    turns = [*ALGORITHMS, *reversed(ALGORITHMS[:-1])]
    for name in turns:
        kernel.replace("c0", "9:1", "10:", *alone(name))
        now = books(kernel)["10:"]
        assert now.options == made_new(kernel, *alone(name)), name
        if b"fifo" not in before.options or name != "fifo":
            packets = before.qlen - before.probes_held - 1
            assert dropped(now, RESET) == dropped(before, RESET) + packets, name
            assert now.qlen == 1, "TBF has peeked at one"
        assert now.total(nl.DROPS) == now.drops
        Sender().send(10)
        before = books(kernel)["10:"]
        assert before.qlen > 5
    assert before.count(1) == 40 + 10 * len(turns)
    drain(kernel)


@case
def a_replacement_by_the_same_keeps_what_is_held() -> None:
    lay_wire()
    kernel = Netlink()
    name = nl.algorithm("choke")
    limit = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 300), nl.u32(nl.ECN, 1))
    before = fill(kernel, name, limit, nl.nest(nl.PARAMS, nl.u32(1, 100), nl.u32(2, 200)))
    same = [nl.attribute(kind | nl.NESTED, rows) for kind, rows in before.rows.items() if kind > 1]
    for _ in range(3):
        kernel.replace("c0", "9:1", "10:", name, *same)
        assert kernel.dump("c0")["10:"] == before
    # In place too, and rows that are not named get their defaults.
    kernel.replace("c0", "9:1", "10:", name, nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 20)))
    now = books(kernel)["10:"]
    assert now.options == made_new(kernel, name, nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 20)))
    assert (now.qlen, dropped(now, LOWERED), dropped(now, RESET)) == (21, before.qlen - 21, 0)
    drain(kernel)


@case
def what_cannot_be_changed_is_made_anew() -> None:
    lay_wire()
    kernel = Netlink()
    name = nl.algorithm("choke")
    flows = nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, 16))
    before = fill(kernel, nl.algorithm("codel"))
    # Fixed rows; an algorithm; a limit above what the ring was made for.
    for options in (
        (nl.algorithm("codel"), flows),
        (nl.algorithm("codel"),),
        (name,),
        (name, nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 1025))),
    ):
        kernel.replace("c0", "9:1", "10:", *options)
        now = books(kernel)["10:"]
        assert now.options == made_new(kernel, *options), options
        assert dropped(now, RESET) == dropped(before, RESET) + before.qlen - 1, options
        Sender().send(10)
        before = books(kernel)["10:"]
    drain(kernel)


@case
def a_refused_replacement_changes_nothing() -> None:
    lay_wire()
    kernel = Netlink()
    before = fill(kernel, nl.algorithm("pie"), nl.nest(nl.PARAMS, nl.u64(1, 7 * MS)))
    with refuses(errno.ERANGE, "limit: 0 is not in"):
        kernel.replace("c0", "9:1", "10:", nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 0)))
    with refuses(errno.ENOENT, "no algorithm is called nosuch"):
        kernel.replace("c0", "9:1", "10:", nl.algorithm("nosuch"))
    with refuses(errno.E2BIG, "64 MB is the most"):
        many = nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, 65536))
        kernel.replace("c0", "9:1", "10:", nl.algorithm("duk"), many)
    with refuses(errno.EOPNOTSUPP, "this queue is pie; replace makes it another"):
        kernel.change("c0", "9:1", "10:", nl.algorithm("codel"))
    with refuses(errno.EINVAL, "flows: this row cannot be changed"):
        kernel.change("c0", "9:1", "10:", nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, 5)))
    assert kernel.dump("c0")["10:"] == before
    drain(kernel)


@case
def parents_count_right_when_queues_are_replaced() -> None:
    """Alone below each parent and three levels deep, with a packet peeked at or none."""
    lay_wire()
    kernel = Netlink()
    trees: list[tuple[str, ...]] = [(kind,) for kind in PARENTS]
    for kinds in [*trees, ("hfsc-ls", "htb", "hfsc"), ("htb", "drr", "qfq")]:
        free = lay_levels(kinds)
        senders = [Sender(nl.handle(where)) for where in free]
        for i, where in enumerate(free):
            kernel.replace("c0", where, f"{32 + i:x}:", nl.algorithm("fifo"))
        for number in range(60):
            senders[number % len(free)].send(number % 7)
            name = ALGORITHMS[number % len(ALGORITHMS)]
            which = number // 2 % len(free)
            kernel.replace("c0", free[which], f"{32 + which:x}:", *alone(name))
            books(kernel)
            time.sleep(0.0007 * (number % 4))
            books(kernel)
        for sender in senders:
            sender.send(5)
        found = drain(kernel)
        queues = [q for q in found.values() if q.kind == "sojourn"]
        assert sum(dropped(q, RESET) for q in queues) > 10, queues
        assert all(q.count(1) == q.count(3) + q.drops for q in queues), queues
        do("tc qdisc del dev c0 root")
    do("rmmod sch_sojourn")


@case
def queues_are_replaced_while_packets_come() -> None:
    lay_wire()
    kernel = Netlink()
    do(TBF)
    kernel.add("c0", "9:1", "10:", nl.algorithm("fifo"))
    with flood("10.0.0.2"):
        for number in range(120):
            name = ALGORITHMS[number % len(ALGORITHMS)]
            flows = flows_of(name, number % 3 * 4)
            kernel.replace("c0", "9:1", "10:", nl.algorithm(name), flows)
            books(kernel)
            time.sleep(0.004)
    mine = drain(kernel)["10:"]
    assert dropped(mine, RESET) > 200, mine
    assert mine.count(1) == mine.count(3) + mine.drops


@case
def tc_and_the_command_replace() -> None:
    lay_wire()
    kernel = Netlink()

    def by_tc(words: str) -> None:
        do(f"tc {words}")

    def by_the_command(words: str) -> None:
        ours(words)

    for run in (by_tc, by_the_command):
        run("qdisc replace dev c0 root handle 1: sojourn codel ecn target 1ms")
        for words, options in {
            "": [],
            "codel limit 7p": [nl.algorithm("codel"), nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 7))],
            "pie": [nl.algorithm("pie")],
            "fq pie": [nl.algorithm("pie"), nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, 1024))],
        }.items():
            run(f"qdisc replace dev c0 root handle 1: sojourn {words}")
            assert kernel.dump("c0")["1:"].options == made_new(kernel, *options), words
        # Under another handle it is another queue, as it is with any kind.
        run("qdisc replace dev c0 root handle 2: sojourn duk")
        assert set(kernel.dump("c0")) == {"2:"}
        do("tc qdisc del dev c0 root")
