# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Trees at a link's end in a guest: rates of classes, who goes where, rings, and probes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sojourn.linux.run import run
from sojourn.scenario import loads
from sojourn.scenario.engine import to_engine

from tests.linux.record_trees import on_linux
from tests.trees import CASES, recorded

# The first case may have to build a kernel.
pytestmark = [pytest.mark.timeout(1800), pytest.mark.usefixtures("kernel")]

# One of each kind; all of them in `make test-deep`.
_QUICK = (
    "B idle, default quantum",
    "children above their parent",
    "150 %, four priorities",
    "a rate that changes",
    "a slower stage below",
    "turns above a ring",
    "bands in a class",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.deep] * (name not in _QUICK)) for name in CASES]
)
def test_classes_get_the_rates_that_are_recorded(name: str) -> None:
    rates = on_linux(CASES[name])
    for group, mbps in recorded()[name].items():
        assert rates[group] == pytest.approx(mbps, rel=0.001, abs=0.002)


def report_of(text: str) -> dict[str, Any]:
    outcome = run(json.dumps(to_engine(loads(text).expand(), "linux")), 1, lambda share: True)
    assert outcome
    return outcome[0]


def sent(report: dict[str, Any]) -> dict[str, int]:
    """Read the packets that each class has sent."""
    return {row["name"]: row["windows"][0]["sent_pkts"] for row in report["classes"]}


MARKED = """
format = 2
name = "marks"
duration = "2 s"
nodes = ["a", "r", "b"]
links = [
    { name = "in", from = "a", to = "r" },
    { name = "forth", from = "r", to = "b", delay = "5 ms", end = [END] },
    { name = "back", from = "b", to = "r", delay = "5 ms", end = [END] },
    { name = "out", from = "r", to = "a" },
]

[[flows]]
name = "calls"
from = "a"
to = "b"
dscp = "ef"
app = { kind = "paced", rate = "1 Mbit/s", payload = "1000 B" }
linux = { ip = IP }

[[flows]]
name = "files"
from = "a"
to = "b"
dscp = 8
app = { kind = "paced", rate = "1 Mbit/s", payload = "1000 B" }
linux = { ip = IP }

[[flows]]
name = "echoes"
from = "a"
to = "b"
dscp = "af41"
transport = "udp"
app = { kind = "ping", interval = "20 ms" }
linux = { ip = IP }

[record]
queues = ["forth", "back"]
"""
_BY_MARK = (
    '{ name = "t", kind = "htb", classes = ['
    '{ name = "root", rate = "20 Mbit/s" }, '
    '{ name = "ef", parent = "root", rate = "5 Mbit/s", match = [{ dscp = "ef" }], '
    'queue = "fifo" }, '
    '{ name = "af", parent = "root", rate = "5 Mbit/s", match = [{ dscp = ["af41", "af42"] }], '
    'queue = "fifo" },'
    '{ name = "cs1", parent = "root", rate = "5 Mbit/s", match = [{ dscp = "cs1", '
    'transport = "tcp" }], queue = "fifo" },'
    '{ name = "rest", rate = "5 Mbit/s", match = [{ transport = ["tcp", "udp", "probe"] }], '
    'queue = "fifo" }] }'
)


@pytest.mark.parametrize("ip", [4, 6])
def test_packets_of_both_ends_bear_the_mark_of_their_flow(ip: int) -> None:
    report = report_of(MARKED.replace("END", _BY_MARK).replace("IP", str(ip)))
    counts = sent(report)
    for link in ("forth", "back"):
        # 100 echoes in two seconds, and a segment in 8 ms with half as many acknowledgements.
        assert counts[f"{link}/af"] == pytest.approx(100, abs=8)
        assert counts[f"{link}/ef"] > 100
        assert counts[f"{link}/cs1"] > 100
        assert counts[f"{link}/rest"] == 0


CABLE = Path(__file__).parents[1] / "data/probes_in_trees.toml"


def test_probes_of_leaves_are_answered_whatever_stage_they_are_in() -> None:
    report = report_of(CABLE.read_text())
    queues = {queue["name"]: queue for queue in report["queues"]}
    assert {*queues} == {
        *("up 1/ef", "up 1/af", "up 2/router", "up 2/ip/big", "up 2/ip/rest"),
        *("mac/m1", "mac/m2", "mac/probes"),
    }
    counts = sent(report)
    for name in ("up 1/af", "up 2/ip/big"):
        assert queues[name]["probes"]["answered_pkts"] > 50
    # Each band and class has what its match says, and nothing of the others.
    assert counts["mac/probes"] > 100
    assert counts["up 2/ip/rest"] == 0
    assert 150 < counts["up 1/ef"] <= 200
    assert counts["up 2/ip/all"] == counts["up 2/ip/big"]
    asked = queues["up 1/af"]["probes"]["joined_pkts"]
    came = queues["mac/m1"]["windows"][0]["arrived_pkts"]
    assert came == pytest.approx(counts["up 1/line"] - asked, abs=20)
    waits = {row["name"]: row["windows"][0]["backlog_pkts"] for row in report["classes"]}
    assert waits["mac/cable"] == pytest.approx(
        waits["mac/m1"] + waits["mac/m2"] + waits["mac/probes"]
    )
    assert waits["mac/m1"] > 20
    assert counts["mac/cable"] == sum(counts[f"mac/{name}"] for name in ("m1", "m2", "probes"))


RING = """
format = 2
name = "ring"
duration = "3 s"
nodes = ["a", "b"]
links = [
    { name = "line", from = "a", to = "b", end = [
        { name = "above", kind = "queue", queue = { algorithm = "fifo", limit = 400 } },
        { name = "ring", kind = "ring", rate = "10 Mbit/s", packets = PACKETS, bql = BQL },
    ] },
]

[[flows]]
name = "load"
from = "a"
to = "b"
transport = "udp"
app = { kind = "cbr", rate = "20 Mbit/s", payload = "1472 B" }

[record]
queues = ["line"]
windows = [{ name = "late", from = "2 s", to = "3 s" }]
"""


@pytest.mark.parametrize(
    ("packets", "bql", "held"),
    # A limit of bytes lets the packet in with which it is passed.
    [(0, "false", 0), (16, "false", 16), (256, "false", 256), (256, '"3028 B"', 2)],
)
def test_a_ring_is_full_and_its_line_never_idle(packets: int, bql: str, held: int) -> None:
    report = report_of(RING.replace("PACKETS", str(packets)).replace("BQL", bql))
    rows = {row["name"]: row["windows"][0] for row in report["classes"]}
    assert rows["line/ring"]["backlog_pkts"] == pytest.approx(held, abs=0.01)
    assert rows["line/ring"]["sent_bytes"] * 8 == pytest.approx(10e6, rel=0.002)
    [queue] = report["queues"]
    assert queue["name"] == "line"
    window = queue["windows"][0]
    assert window["utilisation_pct"] == pytest.approx(100, abs=0.2)
    # Its packets are sent at their last bits, behind those of the ring.
    behind_ms = window["system_delay_ms"]["mean"] - window["queue_delay_ms"]["mean"]
    assert behind_ms == pytest.approx((held + 1) * 1514 * 8 / 10e3, rel=0.02)


def test_an_adaptive_limit_of_bytes_holds_a_few_packets_of_many() -> None:
    report = report_of(RING.replace("PACKETS", "256").replace("BQL", "true"))
    [row] = [row for row in report["classes"] if row["kind"] == "ring"]
    assert 1 <= row["windows"][0]["backlog_pkts"] <= 4
    assert row["windows"][0]["sent_bytes"] * 8 == pytest.approx(10e6, rel=0.002)
