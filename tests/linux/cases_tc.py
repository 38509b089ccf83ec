# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_tc.py: the qdisc through tc and its plugin, which TC_LIB_DIR names."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path

from tests.linux import netlink as nl
from tests.linux.cases import ALGORITHMS, MS, plain
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink, Refused
from tests.linux.trees import TBF

COMPARES = "flows: an algorithm that compares flows cannot be flow-queued"


def refusal(command: str) -> str:
    done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    assert done.returncode != 0, f"accepted: {command}"
    return done.stderr


def shown() -> str:
    """The words that tc prints behind its own."""
    line = next(line for line in do("tc qdisc show dev c0").splitlines() if "sojourn 1:" in line)
    return line.split(" refcnt ")[1].split(" ", 1)[1]


def strange(kernel: Netlink) -> int:
    """Move every row of the queue by one where that is allowed; how many moved."""
    moved = 0
    rows = kernel.dump("c0")["1:"].rows
    for table in (nl.HOST, nl.QUEUE, nl.PARAMS):
        for row, value in nl.attributes(rows[table]):
            write = nl.u64 if len(value) == 8 else nl.u32
            for other in (1, -1):
                number = int.from_bytes(value, "little") + other
                if number < 0 or number >> 8 * len(value):
                    continue
                try:
                    kernel.change("c0", "root", "1:", nl.nest(table, write(row, number)))
                except Refused:
                    continue
                moved += 1
                break
    return moved


@case
def what_tc_prints_can_be_typed_again() -> None:
    lay_wire()
    kernel = Netlink()
    for name in ALGORITHMS:
        do(f"tc qdisc add dev c0 root handle 1: sojourn {plain(name)}")
        assert strange(kernel) >= 3
        words, rows = shown(), kernel.dump("c0")["1:"].options
        do("tc qdisc del dev c0 root")
        do(f"tc qdisc add dev c0 root handle 1: sojourn {words}")
        assert kernel.dump("c0")["1:"].options == rows, words
        assert shown() == words
        do("tc qdisc del dev c0 root")


@case
def tc_reads_units_and_flags() -> None:
    lay_wire()
    kernel = Netlink()
    words = "fq codel ecn limit 500p target 2.5ms nosplit_gso"
    do(f"tc qdisc add dev c0 root handle 1: sojourn {words}")
    rows = kernel.dump("c0")["1:"].rows
    assert nl.numbers(rows[nl.HOST]) == {1: 0, 2: 0, 3: 0, 4: 0}
    assert nl.numbers(rows[nl.QUEUE]) == {
        1: 500,
        2: 2**32 - 1,
        3: 1,
        4: 1024,
        5: 0,
        6: 32 << 20,
        7: 0,
        8: 64,
    }
    assert nl.numbers(rows[nl.PARAMS]) == {1: 2_500_000, 2: 100 * MS, 3: 0, 4: 0}
    assert shown().strip() == (
        "codel nosplit_gso norespond responder 0.0.0.0 probe echo limit 500p"
        " limit_bytes 4294967295b ecn"
        " flows 1024 quantum 0b"
        " memory_limit 33554432b bandwidth 0bit drop_batch 64"
        " target 2500us interval 100ms form ours ce_threshold 0ns"
    )
    do("tc qdisc change dev c0 root sojourn codel noecn quantum 2kb interval 1s")
    rows = kernel.dump("c0")["1:"].rows
    assert nl.numbers(rows[nl.QUEUE]) == {
        1: 500,
        2: 2**32 - 1,
        3: 0,
        4: 1024,
        5: 2048,
        6: 32 << 20,
        7: 0,
        8: 64,
    }
    assert nl.numbers(rows[nl.PARAMS]) == {1: 2_500_000, 2: 1000 * MS, 3: 0, 4: 0}
    do("tc qdisc del dev c0 root")
    do("tc qdisc add dev c0 root handle 1: sojourn choke probability 2% bandwidth 10mbit")
    rows = kernel.dump("c0")["1:"].rows
    assert nl.numbers(rows[nl.PARAMS])[3] == 85899346
    assert nl.numbers(rows[nl.QUEUE])[7] == 1_250_000


@case
def tc_refuses_with_a_sentence() -> None:
    lay_wire()
    add = "tc qdisc add dev c0 root handle 1: sojourn"
    for words, sentence in {
        "codel target 11s": "target: 11s is not in 1us to 10s",
        "codel target 5": "target: a time, as in 5ms is wanted, not 5",
        "codel target": "target: a value is wanted",
        "codel targt 5ms": 'codel has no row "targt"',
        "codel target 5ms target 6ms": "target: given twice",
        "codel limit -1": "a number of packets, as in 1000p is wanted, not -1",
        "codel limit nan": "is wanted, not nan",
        "choke bandwidth 1000bps": "a rate, as in 10mbit or 1.25MB/s is wanted, not 1000bps",
        "choke probability 2": "a probability from 0 to 1 is wanted, not 2",
        "nosuch": 'no algorithm is called "nosuch"',
        "fq": "fq: an algorithm is wanted behind it",
        "fq help": "Usage:",
        "codel nosuch": 'codel has no row "nosuch"',
        "codel form windows": "form: ours or linux is wanted, not windows",
        # Errors that only the kernel detects come as its own sentence.
        "choke min 9p max 9p": "min must be smaller than max",
        **{f"fq {name}": COMPARES for name in ("afd", "rio_ps", "sfb")},
        "fq duk flows 65536": "64 MB is the most",
    }.items():
        told = refusal(f"{add} {words}")
        assert sentence in told, (words, told)
        assert told.count("\n") == 1 or sentence == "Usage:" or words == "nosuch", told
    do(f"{add} codel")
    told = refusal("tc qdisc change dev c0 root sojourn pie")
    assert "this queue is codel; replace makes it another" in told, told
    told = refusal("tc qdisc change dev c0 root sojourn fq codel")
    assert "flows: this row cannot be changed once the queue exists" in told, told
    assert "target 5ms" in shown()


@case
def tc_tells_statistics_as_text_and_json() -> None:
    lay_wire()
    do(TBF)
    do("tc qdisc add dev c0 parent 9:1 handle 10: sojourn pie limit 20p target 1ms")
    Sender().send(60)
    time.sleep(1)
    mine = next(q for q in json.loads(do("tc -s -j qdisc show dev c0")) if q["kind"] == "sojourn")
    assert mine["options"]["algorithm"] == "pie"
    assert mine["options"]["target"] == MS
    assert mine["options"]["split_gso"] is True
    assert mine["options"]["mark_ecnth"] == 0.1
    counts, drops = mine["sojourn"]["counts"], mine["sojourn"]["drops"]
    assert counts["in_pkts"] == 60 == counts["out_pkts"] + mine["drops"]
    assert drops["limit"] == sum(drops.values()) == mine["drops"] > 20
    assert set(mine["sojourn"]) == {"counts", "drops", "marks", "bad", "algorithm", "memory_bytes"}
    assert "prob" in mine["sojourn"]["algorithm"]
    text = do("tc -s qdisc show dev c0")
    assert f"drops limit {drops['limit']}" in text, text
    assert "counts in_pkts 60" in text
    print(text)
    print(do("tc -s -j -p qdisc show dev c0"))


@case
def every_tc_command_of_the_page_works() -> None:
    lay_wire()
    page = (Path(__file__).resolve().parents[2] / "docs/reference/linux.md").read_text()
    blocks = re.findall(r"^```tc\n(.*?)^```$", page, re.M | re.S)
    assert len(blocks) > 1
    for block in blocks:
        subprocess.run(
            ["tc", "qdisc", "del", "dev", "c0", "root"], capture_output=True, check=False
        )
        for command in block.splitlines():
            do(command.replace("eth0", "c0"))
    assert "flows 512" in do("tc qdisc show dev c0")


@case
def more_rows_than_a_word_has_bits_are_rows_like_all() -> None:
    lay_wire()
    kernel = Netlink()
    numbers = range(10, 80)
    words = " ".join(f"r{n} {n + 100}" for n in numbers)
    do(f"tc qdisc add dev c0 root handle 1: sojourn many {words} limit 99p ecn nosplit_gso")
    mine = kernel.dump("c0")["1:"]
    wanted = {n: n + 100 for n in numbers}
    assert nl.numbers(mine.rows[nl.PARAMS]) == wanted
    assert nl.numbers(mine.rows[nl.QUEUE])[nl.LIMIT] == 99
    assert nl.numbers(mine.stats[nl.STATS]) == wanted
    assert words in shown()
    assert " ".join(f"s{n} {n + 100}" for n in numbers) in do("tc -s qdisc show dev c0")
