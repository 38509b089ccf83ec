# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""parity_traffic.py: the traffic for one algorithm while a trace build records it, as a script.

TCP connections with and without ECN, bursts of datagrams larger than the limit, segments, rows
that change under way, a link that goes down and comes back, queues that are replaced, one that
stands still, and devices with very small and very large packets. The other end has a queue too,
for what comes back, and answers the probes of an algorithm that asks for them.

Programs of the guest play it, all of them C, and each number in it is written here, on the host:
so a kernel of the same source gets the same packets at the same nanoseconds wherever it runs.
"""

from __future__ import annotations

from sojourn.algorithms import Row, algorithms, queue_rows

from tests.algorithms import ALGORITHMS
from tests.linux import netlink as nl
from tests.linux import one_wire
from tests.linux.one_wire import OFFERS_ECN, PLAIN, WIRE
from tests.linux.play import MS, ZERO_NS, Script
from tests.linux.tables import HOST_ROWS

LIMIT_PKTS = 120
RATE_BPS = 20_000_000
BURST_BYTES = 6056
# Below this rate a packet takes a minute.
STUCK_BPS = 200
# Links that are tried for the size of their packets, behind the wire of the traffic.
SMALL, LARGE = WIRE + 1, WIRE + 2
# The least that IPv4 allows, and with the 14 bytes of Ethernet 2^31: more than any signed word
# holds. With each the bucket above the queue, of a few packets.
MTUS = {SMALL: 68, LARGE: (1 << 31) - 14}
BUCKETS_BYTES = {SMALL: 200, LARGE: 1 << 16}

# Of every queue, by turns: those that the table has. None: as it is without the row.
QUEUE_ROWS: dict[str, tuple[int | None, ...]] = {
    "limit": (LIMIT_PKTS, 40, 3),
    "limit_bytes": (None, None, None, 30_000, None),
    "memory_limit": (None, 60_000, None, None),
    "ecn": (1, 1, 1, 0),
    "quantum": (0, 300),
    "drop_batch": (None, 3, 1024),
}
# Beside these of an algorithm that must know the rate.
RATES: dict[str, tuple[int | None, ...]] = {"bandwidth": (RATE_BPS // 8, RATE_BPS // 10)}
HOST_ROWS_BY_TURNS: dict[str, tuple[int | None, ...]] = {"split_gso": (1, 1, 0)}
# How many flows each queue of a run has, if it has any: the first, those that replace it, those
# of the small and of the large packets.
# 1,000 of those with the largest state still fit into the most that the module takes.
FLOWS = (64, 7, 64, 1, 1000)


def encoded(row: Row, value: int) -> bytes:
    return (nl.u64 if row.kind == "u64" else nl.u32)(row.attr, value)


def by_turns(
    rows: dict[str, Row], values: dict[str, tuple[int | None, ...]], number: int
) -> list[bytes]:
    found = []
    for name, turns in values.items():
        if name in rows:
            value = turns[number % len(turns)]
            found.append(encoded(rows[name], rows[name].default if value is None else value))
    return found


class Traffic:
    """The script of one algorithm, alone or in flows, as it grows."""

    def __init__(self, name: str, flows: int) -> None:
        self.name = name
        self.flows = FLOWS if flows else (0,) * len(FLOWS)
        assert self.flows[0] == flows
        self.script = Script()
        self.stop_ns = 0
        known = algorithms()[name]
        self.probes = known.probes
        self.queue_rows = QUEUE_ROWS | (RATES if known.needs_rate else {})
        self._params = {row.name: row for row in known.params}
        self._host = {row.name: row for row in HOST_ROWS}

    # ---- the queue ----

    def params(self, number: int, fixed: bool) -> bytes:
        """With those that cannot be changed, or without."""
        rows = ALGORITHMS[self.name].signalling[number % 2]
        known = [self._params[name] for name in rows]
        return nl.nest(nl.PARAMS, *(encoded(r, rows[r.name]) for r in known if fixed >= r.fixed))

    def add(self, index: int, number: int, own: str = "10:", *more: bytes) -> None:
        """A queue with the rows and flows of the run's first, or second, ..."""
        first = {name: turns[:1] for name, turns in self.queue_rows.items()}
        rows = queue_rows()
        queue = [*by_turns(rows, first, 0), encoded(rows["flows"], self.flows[number])]
        options = nl.nest(nl.QUEUE, *queue), self.params(number, fixed=True)
        kind, flags = nl.algorithm(self.name), nl.CREATE | nl.REPLACE
        self.script.qdisc(index, "9:1", own, flags, "sojourn", kind, *options, *more)

    def far(self) -> list[bytes]:
        """The other end's queue, of as few rows as it may have; it lets probes be answered."""
        rate = {name: turns[:1] for name, turns in self.queue_rows.items() if name in RATES}
        options = [nl.algorithm(self.name)]
        if rate:
            options.append(nl.nest(nl.QUEUE, *by_turns(queue_rows(), rate, 0)))
        if self.probes:
            options.append(nl.nest(nl.HOST, encoded(self._host["respond"], 1)))
        return options

    def change(self, number: int, own: str = "10:") -> None:
        queue = nl.nest(nl.QUEUE, *by_turns(queue_rows(), self.queue_rows, number))
        host = nl.nest(nl.HOST, *by_turns(self._host, HOST_ROWS_BY_TURNS, number))
        options = host, queue, self.params(number, fixed=False)
        self.script.qdisc(WIRE, "9:1", own, 0, "sojourn", *options)

    # ---- traffic ----

    def sockets(self) -> None:
        """Four flows of datagrams, three of which may be marked, and one of segments; then
        the same two kinds for each of the other devices."""
        for number, tos in enumerate((0, 2, 1, 2)):
            self.script.add("socket", number, tos, 0, PLAIN)
        self.script.add("socket", 4, 2, 472, PLAIN)
        for index in MTUS:
            self.script.add("socket", 10 * index, 2, 0, f"10.{index}.0.2")
            self.script.add("socket", 10 * index + 1, 2, 40, f"10.{index}.0.2")

    def send(self, socket: int, count: int, payload_bytes: int) -> None:
        if count:
            self.script.add("send", socket, count, payload_bytes)

    def burst(self, number: int) -> None:
        for flow in range(4):
            self.send(flow, (number * 7 + flow * 5) % 31, 100 + (number * 331) % 1300)
        self.send(4, number % 3, 472 * 5)
        if number % 10 == 4:
            self.send(1, LIMIT_PKTS + 20, 972)

    def rounds(self, count: int, own: str = "10:") -> None:
        """Bursts beside the connections, or for a while nothing beside them."""
        for number in range(count):
            if number // 12 % 2 == 0:
                self.burst(number)
            self.script.wait(10 + 5 * (number % 7))
            if number % 8 == 7:
                self.burst(number)
                self.change(number // 8, own)
            if number % 16 == 11:
                self.script.dump()

    # ---- the run ----

    def lay_wire(self) -> None:
        one_wire.lay(self.script, "sojourn", *self.far())
        one_wire.up(self.script)
        self.script.tbf(WIRE, RATE_BPS, BURST_BYTES, nl.CREATE)
        self.add(WIRE, 0)

    def stand_still(self, own: str) -> None:
        """Long enough for an algorithm's ticks to be taken together: with an empty queue, and
        with packets in it below a link that hardly sends."""
        self.script.wait(2000)
        self.script.dump()
        self.burst(3)
        self.script.tbf(WIRE, STUCK_BPS, BURST_BYTES, 0)
        self.burst(3)
        self.script.wait(40_000)
        self.burst(3)
        self.script.dump()
        self.script.tbf(WIRE, RATE_BPS, BURST_BYTES, 0)
        self.script.wait(500)
        self.burst(3)
        self.change(1, own)

    def other_sizes(self) -> None:
        """Datagrams in many fragments, whole ones of 60 kB, and segments of 40 bytes."""
        script = self.script
        for number, (index, mtu) in enumerate(MTUS.items(), 3):
            script.link(index, f"d{index}", "dummy")
            script.set_link(index, mtu=mtu)
            script.address(index, f"10.{index}.0.1")
            script.tbf(index, RATE_BPS, BUCKETS_BYTES[index], nl.CREATE)
            self.add(index, number)
        for number in range(12):
            for index in MTUS:
                self.send(10 * index, 1 + number % 3, 100 + number * 331)
                self.send(10 * index + 1, number % 3, 40 * 60)
            self.send(10 * LARGE, number % 3, 60_000)
            script.wait(20 + 10 * (number % 4))
            script.dump()
        script.wait(1000)
        for index in MTUS:
            script.delete_qdisc(index, "root", "9:")

    def busy_times(self) -> None:
        """Beside the connections: the link goes down, and the queue is replaced: in two steps,
        in one under another name, in place, and anew where it has other flows then."""
        self.rounds(120)
        self.change(0)
        self.burst(4)
        self.script.set_link(WIRE, up=False)
        self.script.wait(50)
        one_wire.up(self.script)
        self.rounds(48)
        self.change(0)
        self.burst(4)
        self.script.delete_qdisc(WIRE, "9:1", "10:")
        self.add(WIRE, 1)
        self.rounds(24)
        self.add(WIRE, 2, "11:")
        self.rounds(24, "11:")
        for number in (2, 1):
            self.add(WIRE, number, "11:", nl.flag(nl.ANEW))
            self.rounds(12, "11:")

    def play(self) -> None:
        self.lay_wire()
        self.sockets()
        self.script.add("start", "traffic", "flows", ZERO_NS)
        self.script.wait(200)
        self.busy_times()
        self.stop_ns = self.script.now_ns
        self.stand_still("11:")
        self.other_sizes()
        self.script.delete_qdisc(WIRE, "root", "9:")
        self.script.space("s")
        self.script.delete_qdisc(WIRE, "root", "1:")

    def connections(self) -> str:
        """For parity.lay_connections: endless ones, half of which offer ECN."""
        lines = [f"edge {self.stop_ns}"]
        kinds = [("cubic", PLAIN), ("cubic", OFFERS_ECN), ("reno", PLAIN), ("dctcp", OFFERS_ECN)]
        for number, (control, target) in enumerate(kinds):
            times_ns = f"{number * 50 * MS} {self.stop_ns}"
            lines.append(f"flow c s 10.0.0.1 {target} {control} 0 0 {times_ns} 0")
        return "\n".join([*lines, ""])


def traffic(name: str, flows: int, records: int) -> Traffic:
    """All of it, in a guest where nothing is yet."""
    whole = Traffic(name, flows)
    whole.script.add("mount", "debugfs", "/sys/kernel/debug")
    whole.script.add("module", "sch_sojourn.ko", f"records={records}")
    whole.play()
    whole.script.add("copy", "/sys/kernel/debug/sojourn", "records")
    whole.script.add("copy", "/dev/kmsg", "kernel.log")
    return whole
