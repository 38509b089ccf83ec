# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""fq_codel: model and C side by side, and worked examples."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from models.codel import CoDel, LinuxCoDel
from models.flow_queue import FlowQueue
from models.fq_codel import FqCoDel
from models.queue import Discipline, Judge, Packet
from tests.algorithms.codel import slack_of
from tests.models.beside import NS, Beside, common
from tests.models.inputs import MS, SECOND
from tests.models.library import Case
from tests.models.witnessed import AsRecorded, Child, Row, Witnessed


class BesideFqCoDel(Beside):
    """CoDel's own comparison tells its state; here it is what leaves, and in which order."""

    algorithm = "fq_codel"
    defaults: ClassVar = {
        "target": 5 * MS,
        "interval": 100 * MS,
        "form": 0,
        "ce_threshold": 0,
        "flows": 1024,
        "limit": 10240,
        "ecn": 1,
        "quantum": 0,
        "drop_batch": 64,
    }
    settings: ClassVar = (
        {"flows": 0, "target": MS},
        {
            "flows": 3,
            "quantum": 300,
            "target": MS,
            "interval": 20 * MS,
            "limit": 90,
            "drop_batch": 3,
        },
        {"flows": 16, "form": 1, "target": 2 * MS, "interval": 30 * MS, "ce_threshold": MS},
        {"flows": 65536, "target": 20 * MS, "interval": SECOND, "limit_bytes": 100_000},
    )
    signalling: ClassVar = (
        {"target": MS, "interval": 20 * MS},
        {"target": 3 * MS, "interval": 50 * MS, "form": 1},
    )
    signal_if_below: ClassVar = {"drop_next": False}
    tie_share = 0.05
    resets_in_order = False

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        queue = common(case, judge)
        each: dict[str, Any] = {
            "target_s": rows["target"] * NS,
            "interval_s": rows["interval"] * NS,
            "mtu": case.mtu,
            "ce_threshold_s": rows["ce_threshold"] * NS or math.inf,
            "judge": queue.pop("judge"),
        }
        codel = LinuxCoDel if rows["form"] else CoDel
        if not rows["flows"]:
            return codel(**queue, **each)
        queue["quantum"] = rows["quantum"] or case.mtu
        queue["drop_batch"] = rows["drop_batch"]
        return FqCoDel(codel=codel, flows=rows["flows"], **queue, **each)

    def slack(self, model: FqCoDel | CoDel) -> dict[str, float]:
        """Of the flow that is served."""
        one: Any = model.busy if isinstance(model, FqCoDel) else model
        return {"drop_next": slack_of(one) if one else 0.0}


BESIDE = BesideFqCoDel()


class WitnessedFqCoDel(Witnessed):
    """Packet by packet; the kernel shows no state of a flow, and its statistics need the lock."""

    children: ClassVar = {
        "fq_codel": Child({2: 1000, 4: 0, 5: 64}, each=3, segments=False),
        "fq_codel-ecn": Child({2: 1000, 4: 1, 5: 64}, ecn=True, each=3, segments=False),
    }
    shows: ClassVar = 0

    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        def make() -> Discipline:
            return LinuxCoDel(ecn=child.ecn, mtu=1514, judge=judge)

        return FlowQueue(make, flows=64, quantum=1514, limit_pkts=1000)


WITNESSED = WitnessedFqCoDel


def leaving(model: FqCoDel, count: int, now_s: float = 0.0) -> list[int | None]:
    return [model.request(now_s).sent for _ in range(count)]


def test_fq_codel_serves_a_new_flow_before_old_ones() -> None:
    """Section 4.2. Two queues (a hash is a share of 2^32), quantum 1000."""
    model = FqCoDel(flows=2, quantum=1000)
    for number in range(4):
        model.arrive(0.0, Packet(number, 1000, flow=0))
    # The first packet spends the flow's credits; at the next request it goes to the old flows.
    assert leaving(model, 2) == [0, 1]
    model.arrive(0.0, Packet(4, 100, flow=2**31))
    assert leaving(model, 4) == [4, 2, 3, None]


def test_fq_codel_shares_by_bytes() -> None:
    """Section 4.2: packets of 500 and of 1500 bytes, quantum 1500: three for one."""
    model = FqCoDel(flows=2, quantum=1500)
    for number in range(12):
        large = number % 2
        model.arrive(0.0, Packet(number, 1500 if large else 500, flow=large * 2**31))
    assert leaving(model, 8) == [0, 2, 4, 1, 6, 8, 10, 3]


def test_fq_codel_signals_to_the_flow_that_stands() -> None:
    """A flow whose packets are 50 ms old gets CoDel's first signal an interval after it was seen
    above target; one of fresh packets gets none."""
    model = FqCoDel(flows=2, ecn=True)
    for number in range(300):
        model.arrive(0.0, Packet(number, 1000, flow=0, ect=True))
    marked = []
    for step in range(1, 200):
        now_s = 0.05 + step * 1e-3
        model.arrive(now_s, Packet(1000 + step, 1000, flow=2**31, ect=True))
        for _ in range(2):
            marked += [(step, number) for number in model.request(now_s).marked]
    # Above target from the first request on, at 51 ms: 101 steps later, 70.7 ms after that.
    assert [step for step, _ in marked[:1]] == [101]
    assert all(number < 1000 for _, number in marked)
