# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cases_command.py: `sojourn linux tc`, which runs tc with the plugin. Refusals are tc's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.linux.cases import ALGORITHMS, plain
from tests.linux.cases_tc import strange
from tests.linux.net import Sender, case, do, lay_wire
from tests.linux.netlink import Netlink
from tests.linux.trees import PARENTS, TBF


def ours(words: str, status: int = 0) -> str:
    """Output of `sojourn linux tc`, on the channel that belongs to its status."""
    command = [sys.executable, "-B", "-m", "sojourn", "linux", "tc", *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done.stdout, done.stderr)
    return done.stderr if status else done.stdout


def agree_with_tc() -> str:
    """All four ways to show a queue are the same, to the last space; the line of the queue."""
    for options in "", "-s ":
        words = f"{options}qdisc show dev c0"
        assert ours(words) == do(f"tc {words}"), (ours(words), do(f"tc {words}"))
    for options in "-j ", "-s -j ":
        words = f"{options}qdisc show dev c0"
        mine, tcs = ours(words), do(f"tc {words}")
        assert json.loads(mine) == json.loads(tcs), (mine, tcs)
        assert mine == tcs
    return next(line for line in ours("qdisc show dev c0").splitlines() if "sojourn" in line)


@case
def the_command_prints_what_tc_prints_and_reads_it_again() -> None:
    lay_wire()
    kernel = Netlink()
    for name in ALGORITHMS:
        ours(f"qdisc add dev c0 root handle 1: sojourn {plain(name)} ecn")
        made = kernel.dump("c0")["1:"].options
        do("tc qdisc del dev c0 root")
        do(f"tc qdisc add dev c0 root handle 1: sojourn {plain(name)} ecn")
        assert kernel.dump("c0")["1:"].options == made, name
        assert strange(kernel) >= 3
        Sender().send(3)
        rows, line = kernel.dump("c0")["1:"].options, agree_with_tc()
        ours("qdisc del dev c0 root")
        ours(f"qdisc add dev c0 root handle 1: sojourn {line.split(' refcnt 2 ')[1]}")
        assert kernel.dump("c0")["1:"].options == rows, line
        do("tc qdisc del dev c0 root")


@case
def the_command_serves_a_leaf_and_counts_as_tc_does() -> None:
    lay_wire()
    do(TBF)
    ours("qdisc add dev c0 parent 9:1 handle 10: sojourn fq pie limit 20p target 1ms")
    Sender().send(60)
    time.sleep(1)
    shown = ours("-s qdisc show dev c0 parent 9:1")
    assert shown.startswith(
        "qdisc sojourn 10: parent 9:1 pie split_gso norespond responder 0.0.0.0"
        " probe echo limit 20p"
    ), shown
    assert shown in do("tc -s qdisc show dev c0"), (shown, do("tc -s qdisc show dev c0"))
    [mine] = json.loads(ours("-s -j qdisc show dev c0 parent 9:1"))
    tcs = json.loads(do("tc -s -j qdisc show dev c0"))
    assert mine in tcs, (mine, tcs)
    assert mine["sojourn"]["drops"]["fat"] == mine["drops"] > 20
    print(shown)
    ours("qdisc change dev c0 parent 9:1 sojourn pie limit 10p noecn")
    assert "limit 10p" in do("tc qdisc show dev c0")
    ours("qdisc replace dev c0 parent 9:1 handle 20: sojourn duk")
    assert "sojourn 20: parent 9:1" in do("tc qdisc show dev c0")
    ours("qdisc del dev c0 parent 9:1")
    assert "sojourn" not in do("tc qdisc show dev c0")
    do("tc qdisc del dev c0 root")
    for command in PARENTS["htb"].commands():
        do(command)
    ours("qdisc add dev c0 parent 1:10 sojourn fq codel ecn target 5ms interval 100ms flows 512")
    assert "sojourn" in do("tc qdisc show dev c0")
    everything = ours("qdisc show").splitlines()
    assert any("dev c0 parent 1:10" in line for line in everything), everything


@case
def every_command_of_the_page_works() -> None:
    lay_wire()
    page = (Path(__file__).resolve().parents[2] / "docs/reference/qdisc.md").read_text()
    commands = re.findall(r"^(?:sudo )?sojourn linux tc (.*)$", page, re.M)
    assert len(commands) > 3
    for words in commands:
        ours(words.replace("eth0", "c0"))
