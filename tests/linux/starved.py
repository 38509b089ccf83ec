# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""starved.py: in a guest with fault injection, allocations fail and the qdisc must survive it.

python -m tests.linux.starved MODULE

First each allocation of making and changing a queue in its turn, then a third of all that the
module makes, with packets to split and to mark, while its queue is made, changed and looked at.
"""

from __future__ import annotations

import errno
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.linux import netlink as nl
from tests.linux.aftermath import DEBUG, mount_debugfs
from tests.linux.cases import ALGORITHMS, MS, flows_of
from tests.linux.net import Sender, do, lay_wire
from tests.linux.netlink import Netlink, Refused
from tests.linux.trees import books, drain

MANY = 1 << 30
# A smaller bucket would split segments itself.
SLOW = "tc qdisc add dev c0 root handle 9: tbf rate 8mbit burst 66000 limit 100000000"
# Packets have a copy that waits elsewhere: a mark needs a private head.
COPIES = [
    "ip link add d0 type dummy",
    "ip link set d0 up",
    "tc qdisc add dev d0 root netem delay 800ms limit 10000",
    "tc qdisc add dev c0 clsact",
    "tc filter add dev c0 egress matchall action mirred egress mirror dev d0",
]


def symbols() -> list[tuple[int, str, str]]:
    """Address, name and module of every function."""
    lines = [line.split() for line in Path("/proc/kallsyms").read_text().splitlines()]
    found = [(int(w[0], 16), w[2], w[3] if len(w) > 3 else "") for w in lines if w[1] in "tT"]
    return sorted(found)


def set_up(**values: int) -> None:
    for fault in ("failslab", "fail_page_alloc"):
        for name, value in values.items():
            (DEBUG / fault / name.replace("_", "-")).write_text(str(value))


def injected() -> int:
    """How often an allocation was made to fail; `times` counts down."""
    return sum(
        MANY - int((DEBUG / fault / "times").read_text())
        for fault in ("failslab", "fail_page_alloc")
    )


def below_function(name: str) -> None:
    """Fail only what this function asks for, or what it calls."""
    known = symbols()
    index = next(i for i, (_, found, _) in enumerate(known) if found == name)
    set_up(require_start=known[index][0], require_end=known[index + 1][0])


def below_module() -> None:
    ours = [address for address, _, module in symbols() if module == "[sch_sojourn]"]
    set_up(require_start=min(ours), require_end=max(ours) + 4096)


def until_nothing_fails(attempt: Callable[[], None]) -> int:
    """Let the first allocation fail, then the second, until there are none left; how many."""
    nth = Path("/proc/thread-self/fail-nth")
    for number in range(1, 1000):
        nth.write_text(str(number))
        try:
            attempt()
        except (Refused, OSError) as error:
            code = error.code if isinstance(error, Refused) else error.errno
            # The last is of a socket without memory.
            assert code in (errno.ENOMEM, errno.ENOBUFS, errno.ENFILE), error
        finally:
            left = int(nth.read_text())
            nth.write_text("0")
        if left:
            return number - 1
    raise AssertionError("there is no end of allocations")


def many_of(kernel: Netlink, name: str) -> int:
    """As many flows as fit into the most that the module takes: 4,096, or 512 of a large state."""
    try:
        kernel.add("c0", "9:1", "10:", nl.algorithm(name), flows_of(name, 4096))
    except Refused as error:
        assert "fewer flows" in str(error), error
        return 512
    kernel.delete("c0", "9:1", "10:")
    return 4096


def every_allocation_fails_once() -> None:
    """A queue is made whole or not at all; a change is made whole or not at all."""
    below_function("tc_modify_qdisc")
    kernel = Netlink()
    for name in ALGORITHMS:
        for flows in (0, 64, many_of(kernel, name)):
            options = nl.algorithm(name), flows_of(name, flows)

            def make(options: tuple[bytes, ...] = options) -> None:
                Netlink().add("c0", "9:1", "10:", *options)
                Sender().send(3)
                kernel.delete("c0", "9:1", "10:")

            # At least the qdisc itself, the rows and the queue.
            failed = until_nothing_fails(make)
            assert failed >= 3, (name, flows, failed)
            assert "10:" not in kernel.dump("c0")
    kernel.add("c0", "9:1", "10:", nl.algorithm("pie"))
    limits = iter(range(500, 1000))

    def change() -> None:
        before = kernel.dump("c0")["10:"].options
        limit = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, next(limits)))
        try:
            Netlink().change("c0", "9:1", "10:", limit)
        except Refused:
            assert kernel.dump("c0")["10:"].options == before
            raise
        assert kernel.dump("c0")["10:"].options != before

    assert until_nothing_fails(change) >= 1
    numbers = iter(range(1, 1000))

    def replace() -> None:
        Sender().send(5)
        before = kernel.dump("c0")["10:"]
        many = nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, next(numbers)))
        try:
            Netlink().replace("c0", "9:1", "10:", nl.algorithm("codel"), many)
        except Refused:
            now = kernel.dump("c0")["10:"]
            assert (now.options, now.drops) == (before.options, before.drops)
            raise
        assert kernel.dump("c0")["10:"].options != before.options

    # The rows and the new queue.
    assert until_nothing_fails(replace) >= 2
    books(kernel)
    kernel.delete("c0", "9:1", "10:")


@contextmanager
def a_third_fails() -> Iterator[None]:
    set_up(probability=33)
    try:
        yield
    finally:
        set_up(probability=0)


def traffic_goes_on(rounds: int = 60) -> None:
    """Splitting at arrival needs memory, and so does marking at departure."""
    below_module()
    kernel, came = Netlink(), Counter[str]()
    senders = [Sender(tos=2), Sender(tos=2, segment_bytes=472)]
    codel = nl.nest(nl.PARAMS, nl.u64(1, MS), nl.u64(2, 5 * MS))
    for number in range(rounds):
        flows = (0, 64, 65536)[number % 3]
        queue = nl.nest(nl.QUEUE, nl.u32(nl.FLOWS, flows), nl.u32(nl.ECN, 1))

        def tried(what: str, attempt: Callable[[], None]) -> bool:
            try:
                with a_third_fails():
                    attempt()
            except Refused as refused:
                assert refused.code == errno.ENOMEM, refused
                came[f"{what} refused"] += 1
                return False
            came[what] += 1
            return True

        options = (nl.algorithm("codel"), queue, codel)
        if not tried("add", partial(kernel.add, "c0", "9:1", "10:", *options)):
            assert "10:" not in kernel.dump("c0")
            continue
        for burst in range(20):
            with a_third_fails():
                senders[0].send(10)
                senders[1].send(2, payload_bytes=472 * 9)
                # A dump without memory may omit this queue.
                came["dump" if "10:" in kernel.dump("c0") else "dump refused"] += 1
            books(kernel)
            limit = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 20 + burst * 10))
            rows = kernel.dump("c0")["10:"].options
            changed = tried("change", partial(kernel.change, "c0", "9:1", "10:", limit))
            assert changed or kernel.dump("c0")["10:"].options == rows
        with a_third_fails():
            time.sleep(0.5)
        mine = drain(kernel)["10:"]
        came["marked"] += mine.total(nl.MARKS)
        came["unmarkable"] += mine.count(6)
        came["whole segments"] += mine.count(1) < 20 * (10 + 2 * 9)
        kernel.delete("c0", "9:1", "10:")
    print(f"of {injected()} failures:", dict(sorted(came.items())))
    outcomes = ("add", "change", "dump")
    for what in (*outcomes, *(f"{outcome} refused" for outcome in outcomes)):
        assert came[what], what
    assert came["marked"] and came["unmarkable"] and came["whole segments"], came


def main() -> None:
    do(f"insmod {sys.argv[1]}")
    mount_debugfs()
    set_up(interval=1, times=MANY, space=0, verbose=0, probability=0, ignore_gfp_wait=0)
    (DEBUG / "fail_page_alloc" / "min-order").write_text("0")
    lay_wire(offloads=True)
    for command in (SLOW, *COPIES):
        do(command)
    every_allocation_fails_once()
    traffic_goes_on()
    print(f"FAILED {injected()}")


if __name__ == "__main__":
    main()
