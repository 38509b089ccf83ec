# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""fq_pie: model and C side by side, and worked examples."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import pytest

from models.fq_pie import FlowPie, FqPie, LinuxFlowPie
from models.queue import Discipline, Judge, Packet, Why
from tests.algorithms.pie import settings_of
from tests.models.beside import (
    NS,
    Q32_UNIT,
    Beside,
    Rows,
    common,
    probability,
    seconds,
    within,
)
from tests.models.generator import Draws
from tests.models.inputs import MS, SECOND
from tests.models.library import Case


class BesideFqPie(Beside):
    """One queue is compared as pie is. In flows the core has no one p; what leaves is compared,
    and in which order. There the drain rate is not used: it is cut to nanoseconds, and without the
    core's p to go on from, a p on the other side of one of the step's bounds goes its own way."""

    algorithm = "fq_pie"
    defaults: ClassVar = {
        "target": 15 * MS,
        "tupdate": 15 * MS,
        "alpha": 2,
        "beta": 20,
        "max_burst": 150 * MS,
        "dq_rate_estimator": 0,
        "bytemode": 0,
        "form": 0,
        "ecn_prob": 10,
        "flows": 1024,
        "limit": 10240,
        "ecn": 0,
        "quantum": 0,
        "memory_limit": 2**25,
    }
    settings: ClassVar = (
        {"flows": 0, "bytemode": 1, "target": 5 * MS, "tupdate": 5 * MS, "beta": 200},
        {"flows": 0, "form": 1, "bytemode": 1, "target": 2 * MS, "tupdate": MS, "max_burst": 0},
        {"flows": 0, "dq_rate_estimator": 1, "tupdate": 15 * MS},
        {"flows": 3, "quantum": 300, "target": 2 * MS, "tupdate": MS, "beta": 16, "limit": 90},
        {"flows": 16, "form": 1, "target": 2 * MS, "tupdate": 5 * MS, "beta": 2000, "limit": 60},
        {"flows": 4, "bytemode": 1, "ecn_prob": 100, "target": 5 * MS, "max_burst": 20 * MS},
        {"flows": 8, "ecn_prob": 0, "target": 5 * MS, "beta": 200},
        {"flows": 65536, "limit_bytes": 100_000, "tupdate": 5 * MS, "max_burst": 0, "beta": 2000},
    )
    signalling: ClassVar = (
        {"target": 5 * MS, "tupdate": 10 * MS, "beta": 2000, "max_burst": 10 * MS, "ecn_prob": 50},
        {"target": 2 * MS, "alpha": 200, "max_burst": 20 * MS, "bytemode": 1, "form": 1},
    )
    signal_if_below: ClassVar = {"signal": True, "sum-low": False, "sum-high": False}
    columns: ClassVar = {
        "prob": probability,
        "delay": seconds,
        "burst": seconds,
        "drain_time": seconds,
    }
    # On a grid of whole milliseconds p takes round values, and with equal sizes some whole number
    # of them is just 0.85.
    tie_share = 0.005
    resets_in_order = False

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        if rows.get("flows", 1):
            return None
        period_ns = rows["tupdate"]
        first_ns = SECOND // 2 if rows.get("form") else 0
        return period_ns, first_ns % period_ns

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        each = settings_of(rows, case, judge)
        each |= {
            "ecn_prob": rows["ecn_prob"],
            "bytemode": bool(rows["bytemode"]),
            "from_rate": bool(rows["dq_rate_estimator"]),
            "mean_packet": case.mtu,
        }
        pie = LinuxFlowPie if rows["form"] else FlowPie
        if not rows["flows"]:
            return pie(**each)
        del each["uniform"]
        limits = common(case, judge)
        for limit in ("limit_pkts", "limit_bytes"):
            del each[limit]
        return FqPie(
            pie=pie,
            flows=rows["flows"],
            quantum=rows["quantum"] or case.mtu,
            limit_pkts=limits["limit_pkts"],
            limit_bytes=limits["limit_bytes"],
            draws=lambda flow: Draws(case.seed + flow).uniform,
            **each,
        )

    def slack(self, model: FlowPie | FqPie) -> dict[str, float]:
        """As pie's; with time stamps p of a flow stays as near as a float can by itself."""
        return {"signal": 2 * Q32_UNIT, "sum-low": 100 * Q32_UNIT, "sum-high": 100 * Q32_UNIT}

    def state(self, model: FlowPie | FqPie, wakes: int) -> list[tuple[float, float]]:
        if isinstance(model, FqPie):
            return [(0, math.inf)] * 4
        # The drain rate is cut to a nanosecond per 16 KB, as with pie.
        delay_s = NS / 2 if not model.from_rate else 2 * NS + 4 * NS * model.bytes / 2**14
        step = (model.alpha_hz + model.beta_hz) * delay_s
        return [
            (min(model.p, 1.0), 2 * Q32_UNIT + max(1, wakes) * step),
            (model.delay_old_s, delay_s),
            (model.burst_s, NS / 2),
            (model.drain_s, 4 * NS),
        ]

    def resync(self, model: FlowPie | FqPie, core: list[float]) -> None:
        if isinstance(model, FqPie):
            return
        if model.p < 1:  # the statistic does not say how far beyond
            model.p = within(model.p, core[0])
        model.delay_old_s = core[1]


BESIDE = BesideFqPie()


def standing(p: float, uniform: float = 0.0, **rows: Any) -> FlowPie:
    """A queue of one second's delay and a megabyte, at this probability."""
    model = FlowPie(uniform=lambda: uniform, max_burst_s=0.0, ecn=True, **rows)
    model.p, model.delay_s, model.delay_old_s, model.bytes = p, 1.0, 1.0, 10**6
    return model


def queues(model: FqPie) -> list[Any]:
    return [flow.queue for flow in model.flows]


@pytest.mark.parametrize(("size", "expected"), [(757, 0.2), (1514, 0.4), (1515, 0.4), (64, 0.0169)])
def test_fq_pie_in_byte_mode_scales_up_to_the_mtu(size: int, expected: float) -> None:
    """By hand: 0.4 times 757 / 1514, 1 and 64 / 1514; beyond the MTU it is p again."""
    model = standing(0.4, bytemode=True)
    model.on_arrival(0.0, Packet(0, size))
    assert model.p_sum == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("p", "marks"), [(0.1, True), (0.1001, False), (0.05, True)])
def test_fq_pie_marks_up_to_ecn_prob_itself(p: float, marks: bool) -> None:
    """sch_fq_pie.c: prob <= (MAX_PROB / 100) * ecn_prob. From a sum of 0.85 on, u = 0
    signals."""
    model = standing(p)
    model.p_sum = 0.85
    found = model.arrive(0.0, Packet(0, 1000, ect=True))
    assert bool(found.marked) == marks
    assert bool(found.dropped) == (not marks)


def test_fq_pie_signals_to_the_flow_that_stands() -> None:
    """One flow stands for 100 ms and more, the other's packets leave at once: by hand. At 15 ms
    the delay was never sampled; from the next updates on p of the first flow grows."""
    model = FqPie(flows=2, draws=lambda _: lambda: 0.0, max_burst_s=0.0)
    lost = []
    for number in range(300):
        model.arrive(0.0, Packet(number, 1000, flow=0))
    for step in range(1, 400):
        now_s = 0.05 + step * 1e-3
        for flow in (0, 2**31):
            number = 1000 + 2 * step + bool(flow)
            lost += model.arrive(now_s, Packet(number, 1000, flow=flow)).dropped
        for _ in range(2):
            model.request(now_s)
    assert lost
    assert all(number % 2 == 0 for number in lost)
    first, second = queues(model)
    assert first.p > 0.05
    assert second.p == 0


def test_fq_pie_flows_update_at_the_same_times() -> None:
    """fq_pie_timer(): a flow that first sees a packet at 40 ms updates at 45 ms with the other."""
    model = FqPie(flows=2, draws=lambda _: lambda: 0.0)
    model.arrive(0.001, Packet(0, 1000, flow=0))
    model.arrive(0.040, Packet(1, 1000, flow=2**31))
    for number in (2, 3):
        model.arrive(0.044, Packet(number, 1000, flow=(number - 2) * 2**31))
    assert [flow.queue.wake_at() for flow in model.flows] == pytest.approx([0.045, 0.045])


def test_fq_pie_what_made_room_clears_the_sum_of_its_flow() -> None:
    """Four packets of one flow fill the queue; one of the other flow takes half of them."""
    model = FqPie(flows=2, limit_pkts=4, draws=lambda _: lambda: 1.0)
    for number in range(4):
        model.arrive(0.0, Packet(number, 1000, flow=0))
    for queue in queues(model):
        queue.p_sum = 0.5
    found = model.arrive(0.0, Packet(4, 1000, flow=2**31))
    assert found.dropped == [0, 1]
    assert set(found.why.values()) == {Why.FAT}
    assert [queue.p_sum for queue in queues(model)] == [0.0, 0.5]
