# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_default.py: a queue without a chosen algorithm."""

from __future__ import annotations

import subprocess
import sys
import time

from tests.linux import netlink as nl
from tests.linux.cases_command import ours
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink, Qdisc

FLOWS = 1024
# Words, algorithm, flows; one that probes is a default like any other.
DEFAULTS = [("duk", "duk", 0), ("fq pie", "pie", FLOWS), ("sfb", "sfb", 0)]
DEFAULTS += [("asqm", "asqm", 0), ("fq asqm", "asqm", FLOWS)]


def is_fq(queue: Qdisc, name: str, flows: int = FLOWS) -> bool:
    rows = queue.rows
    return rows[nl.ALGO] == name.encode() + b"\0" and nl.numbers(rows[nl.QUEUE])[nl.FLOWS] == flows


def reload_module(default: str) -> subprocess.CompletedProcess[str]:
    do("rmmod sch_sojourn")
    words = ["insmod", sys.argv[2], f'default="{default}"']
    return subprocess.run(words, capture_output=True, text=True, check=False)


@case
def a_new_device_has_the_default_queue_when_the_system_says_so() -> None:
    do("sysctl -qw net.core.default_qdisc=sojourn")
    do("ip link add ifb7 type ifb")
    do("ip link set ifb7 up")
    assert is_fq(Netlink().dump("ifb7")["0:"], "codel")
    # The kernel made it, so any kind may take its place.
    do("tc qdisc replace dev ifb7 root sojourn choke")
    do("tc qdisc replace dev ifb7 root pfifo")
    do("ip link del ifb7")
    do("sysctl -qw net.core.default_qdisc=pfifo_fast")
    do("rmmod sch_sojourn")


@case
def mq_makes_default_queues_and_they_carry_packets() -> None:
    do("sysctl -qw net.core.default_qdisc=sojourn")
    lay_wire(queues=2)
    kernel = Netlink()
    do("tc qdisc add dev c0 root handle 1: mq")
    Sender().send(200)
    time.sleep(0.1)
    queues = [Qdisc.read(m) for m in kernel.ask(nl.GET, nl.DUMP, nl.qdisc_message(0, 0, 0))]
    ours_ = [queue for queue in queues if queue.kind == "sojourn"]
    assert len(ours_) == 2 and all(is_fq(queue, "codel") for queue in ours_)
    assert sum(queue.count(3) for queue in ours_) == 200
    assert sum(queue.sent_pkts for queue in ours_) == 200
    do("tc qdisc del dev c0 root")
    do("sysctl -qw net.core.default_qdisc=pfifo_fast")


@case
def a_queue_without_words_is_the_default_however_it_is_made() -> None:
    lay_wire()
    kernel = Netlink()

    def made_by_netlink() -> None:
        kernel.add("c0", "root", "1:")

    def made_without_options() -> None:
        kernel.put_raw("c0", "root", "1:", nl.CREATE | nl.EXCLUSIVE, b"")

    def made_by_tc() -> None:
        do("tc qdisc add dev c0 root handle 1: sojourn")

    def made_by_the_command() -> None:
        ours("qdisc add dev c0 root handle 1: sojourn")

    for make in (made_by_netlink, made_without_options, made_by_tc, made_by_the_command):
        make()
        assert is_fq(kernel.dump("c0")["1:"], "codel"), make
        do("tc qdisc del dev c0 root")
    # Rows may be said without a name, and a change without anything changes nothing.
    limit = nl.nest(nl.QUEUE, nl.u32(nl.LIMIT, 7))
    kernel.add("c0", "root", "1:", limit)
    before = kernel.dump("c0")["1:"]
    assert is_fq(before, "codel") and nl.numbers(before.rows[nl.QUEUE])[nl.LIMIT] == 7
    do("tc qdisc change dev c0 root sojourn")
    ours("qdisc change dev c0 root sojourn")
    assert kernel.dump("c0")["1:"] == before


@case
def the_parameter_of_the_module_is_the_default() -> None:
    lay_wire()
    kernel = Netlink()
    for words, name, flows in DEFAULTS:
        assert reload_module(words).returncode == 0, words
        do("tc qdisc add dev c0 root handle 1: sojourn")
        assert is_fq(kernel.dump("c0")["1:"], name, flows), words
        do("tc qdisc del dev c0 root")


@case
def a_wrong_parameter_refuses_the_module_with_a_sentence() -> None:
    for words, sentence in {
        "nosuch": "no algorithm is called nosuch",
        "fq": "no algorithm is called fq",
        "": "no algorithm is called ",
        "codel ecn": "no algorithm is called codel ecn",
        "fq choke": "flows: an algorithm that samples cannot be flow-queued",
    }.items():
        done = reload_module(words)
        assert done.returncode != 0, words
        assert "sch_sojourn" not in do("lsmod")
        said = [line for line in do("dmesg").splitlines() if "sch_sojourn: default" in line]
        assert said[-1].endswith(f'sch_sojourn: default="{words}": {sentence}'), said
        do(f"insmod {sys.argv[2]}")
