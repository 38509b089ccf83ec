# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""exported.py: in a guest, an exported `asqm` and the module beside it: both must probe alike.

python -m tests.linux.exported CASE
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.linux.frames import catching
from tests.linux.net import Sender, complaints, do, lay_wire
from tests.linux.netlink import Netlink, handle
from tests.linux.probes import MS, WAYS, Way, answers_in_s, lay_both, lay_ipv6

# The kernel says it once of a child that drops its only packet.
TRUE = "non-work-conserving"
ECHOES = [way for way in WAYS if way.echo]
# Qdiscs, the first of which is the exported one.
BOTH = ("asqm", "sojourn asqm")
COUNTS = ["joined", "refused", "left", "freed", "answered", "unmade", "forgotten", "unheard"]
COUNTS += ["left_bytes", "asked", "ready", "strayed"]


# The place of the counts of probes behind the algorithm's own and three of the queue.
FIRST = 7 + 3


def shown(handle: str = "1:") -> dict[str, Any]:
    """Counts of probes and statistics of the algorithm, from either plugin of tc."""
    found = json.loads(do("tc -s -j qdisc show dev c0"))
    mine: dict[str, Any] = next(qdisc for qdisc in found if qdisc["handle"] == handle)
    own = mine.get("sojourn")
    return mine | own["probes"] | own["algorithm"] if own else mine


def raw_sockets() -> list[int]:
    """The protocols of the sockets that hear answers."""
    names = ("raw", "raw6")
    lines = [line for n in names for line in Path(f"/proc/net/{n}").read_text().splitlines()[1:]]
    return sorted(int(line.split()[1].rpartition(":")[2], 16) for line in lines)


def order_of(way: Way, frames: list[bytes]) -> str:
    return "".join("P" if way.is_question(data) else "u" for data in frames)


def each_fourth_packet_has_a_probe_that_comes_back() -> None:
    lay_both()
    for way in ECHOES:
        answers_in_s(way)
        found = []
        for kind in BOTH:
            do(f"tc qdisc add dev c0 root handle 1: {kind}")
            sender = way.sender(0xB8 | 2)
            with catching("s0", "s") as out:
                for packets in (1, 4, *[5] * 19):
                    sender.send(packets)
                    time.sleep(0.01)
            # It passes on the last answers.
            sender.send(1)
            assert order_of(way, out) == 25 * "uuuuP", (kind, way)
            mine = shown()
            assert mine["answers"] == 25 and 0 < mine["rtt"] < 10 * MS, (kind, way, mine)
            found.append({name: mine[name] for name in COUNTS})
            do("tc qdisc del dev c0 root")
        assert found[0] == found[1], (way, found)
        assert found[0]["joined"] == found[0]["left"] == found[0]["answered"] == 25


def it_asks_the_responder() -> None:
    lay_both()
    for far in ("10.0.0.7", "fd00::7"):
        do(f"ip neigh add {far} lladdr 02:00:00:00:00:02 nud permanent dev c0")
    do("tc qdisc add dev c0 root handle 1: asqm responder 10.0.0.7 responder fd00::7")
    for way, far in zip(ECHOES, ("0a000007", f"fd00{7:028x}"), strict=True):
        sender = way.sender()
        sender.send(1)
        time.sleep(0.1)
        with catching("s0", "s") as out:
            sender.send(7)
            time.sleep(0.1)
        asked = [data for data in out if way.is_question(data)]
        assert len(asked) == 2 and all(bytes.fromhex(far) in data for data in asked), (way, out)
    for address in ("224.0.0.1", "::1", "::ffff:1.2.3.4"):
        words = f"tc qdisc change dev c0 root handle 1: asqm responder {address}".split()
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode and "not the address of one other host" in done.stderr, done


def it_signals_where_answers_say_so() -> None:
    lay_both()
    for way in ECHOES:
        for answers in (False, True):
            answers_in_s(way, answers=answers)
            marks = []
            for kind in BOTH:
                do("tc qdisc add dev c0 root handle 9: tbf rate 8mbit burst 3000 limit 3000000")
                do(f"tc qdisc add dev c0 parent 9:1 handle 10: {kind} target 1ms interval 10ms ecn")
                sender = way.sender(2)
                with catching("s0", "s") as out:
                    for _ in range(60):
                        sender.send(5)
                        time.sleep(0.005)
                    time.sleep(0.5)
                ce = 3 if way.version == 4 else 0x30
                marks.append(sum(data[15] & ce == ce for data in out if not way.is_question(data)))
                do("tc qdisc del dev c0 root")
            assert (marks[0] > 3) == answers and marks[0] == marks[1], (way, answers, marks)


def parents_count_its_probes() -> None:
    lay_wire()
    lay_ipv6()
    parents = ["tbf rate 8mbit burst 3000 limit 3000000", "prio", "netem delay 1ms", "drr"]
    parents += ["htb default 1", "hfsc default 1", "qfq"]
    classes = {"drr": "drr", "qfq": "qfq weight 1", "htb default 1": "htb rate 8mbit"}
    classes["hfsc default 1"] = "hfsc ls rate 8mbit"
    for parent in parents:
        for way in ECHOES:
            answers_in_s(way)
            do(f"tc qdisc add dev c0 root handle 9: {parent}")
            if parent in classes:
                do(f"tc class add dev c0 parent 9: classid 9:1 {classes[parent]}")
            if parent in ("drr", "qfq", "prio"):
                do("tc filter add dev c0 parent 9: protocol all matchall classid 9:1")
            do("tc qdisc add dev c0 parent 9:1 handle 10: asqm ratio 1 limit 20")
            sender = way.sender()
            for _ in range(4):
                sender.send(40)
                found = Netlink().dump("c0")
                if "netem" not in parent:
                    above, below = found["9:"], found["10:"]
                    assert above.qlen == below.qlen, (parent, way, found)
                    assert above.backlog == below.backlog, (parent, way, found)
                time.sleep(0.3)
            do("tc qdisc change dev c0 parent 9:1 handle 10: asqm limit 3")
            time.sleep(1)
            found = Netlink().dump("c0")
            assert found["9:"].qlen == found["10:"].qlen == 0, (parent, way, found)
            joined, _, left, freed = struct.unpack_from("4Q", found["10:"].own_stats, 8 * FIRST)
            assert joined == left + freed > 5, (parent, way, joined, left, freed)
            do("tc qdisc del dev c0 root")


def no_class_waits_where_its_only_packet_is_dropped() -> None:
    lay_both()
    answers_in_s(ECHOES[0])
    classes = {"drr": "drr", "qfq": "qfq weight 1", "htb": "htb rate 8mbit"}
    classes["hfsc"] = "hfsc ls rate 8mbit"
    for parent, of_class in classes.items():
        for kind in BOTH:
            do("tc qdisc add dev c0 root handle 8: tbf rate 8mbit burst 3000 limit 3000000")
            do(f"tc qdisc add dev c0 parent 8:1 handle 9: {parent}")
            for name in ("9:1", "9:2"):
                do(f"tc class add dev c0 parent 9: classid {name} {of_class}")
            do(f"tc qdisc add dev c0 parent 9:1 handle 10: {kind} target 1us interval 1us")
            do("tc qdisc add dev c0 parent 9:2 handle 20: pfifo")
            do("tc filter add dev c0 parent 9: protocol all matchall classid 9:1")
            own, other = Sender(handle("9:1")), Sender(handle("9:2"))
            for _ in range(4):
                own.send(5)
                time.sleep(0.05)
            for _ in range(20):
                other.send(6)
                own.send(1)
                time.sleep(0.1)
                found = Netlink().dump("c0")
                held = {name: found[name].qlen for name in ("8:", "9:", "10:", "20:")}
                assert not any(held.values()), (parent, kind, held)
            assert found["10:"].drops > 10, (parent, kind, shown("10:"))
            do("tc qdisc del dev c0 root")


def nothing_of_it_remains() -> None:
    lay_both()
    do("rmmod sch_sojourn")
    do("tc qdisc add dev c0 root handle 1: asqm ratio 1")
    assert raw_sockets() == [1, 58], raw_sockets()
    for way in ECHOES:
        way.sender().send(20)
    do("ip link set c0 down")
    do("ip link set c0 up")
    do("tc qdisc del dev c0 root")
    time.sleep(0.1)
    assert raw_sockets() == [], raw_sockets()
    do("rmmod sch_asqm")


CASES: dict[str, Callable[[], None]] = {
    case.__name__: case
    for case in (
        each_fourth_packet_has_a_probe_that_comes_back,
        it_asks_the_responder,
        it_signals_where_answers_say_so,
        parents_count_its_probes,
        no_class_waits_where_its_only_packet_is_dropped,
        nothing_of_it_remains,
    )
}


def main() -> None:
    name, *modules = sys.argv[1:]
    for module in modules:
        do(f"insmod {module}")
    CASES[name]()
    assert not [line for line in complaints() if TRUE not in line], complaints()


if __name__ == "__main__":
    main()
