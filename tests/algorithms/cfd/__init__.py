# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""cfd: model and C side by side, and worked examples."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from models.cfd import Cfd, LandmarkLru
from models.queue import Discipline, Judge, Packet, Why
from tests.algorithms.cfd import landmark
from tests.algorithms.pie_2013 import BesidePie2013
from tests.models.beside import (
    NS,
    PIE_BOUNDS,
    Q32_UNIT,
    Beside,
    Rows,
    common,
    plain,
    probability,
    seconds,
    within,
)
from tests.models.generator import Draws
from tests.models.inputs import MS
from tests.models.library import Case
from tests.models.ring import OnRing, cells


class CfdOnRing(OnRing, Cfd):
    """Draws as the core does."""


class BesideCfd(Beside):
    """The delay controller's precision is pie_2013's; a share is cut to Q0.32, its bound too."""

    algorithm = "cfd"
    defaults: ClassVar = {
        "target": 20 * MS,
        "tupdate": 30 * MS,
        "alpha": 2,
        "beta": 20,
        "dq_threshold": 10_000,
        "samples": 1,
        "records": 1000,
        "age": 2**31,
        "fairness": 0,
        "alone": 0,
        "eq1": 0,
    }
    settings: ClassVar = (
        {"target": 2 * MS, "tupdate": 5 * MS, "samples": 5, "records": 3, "age": 1024},
        {"samples": 2, "records": 5, "fairness": 1, "alone": 1, "age": 2000},
        {"target": 5 * MS, "alpha": 40, "beta": 1, "records": 1, "alone": 1},
        {"samples": 3, "fairness": 1, "records": 8, "limit": 60},
        {"target": 5 * MS, "tupdate": 10 * MS, "samples": 2, "fairness": 2},
        {"eq1": 1, "samples": 2, "fairness": 1, "alone": 1},
        {"eq1": 1, "target": 1 * MS, "tupdate": 5 * MS, "records": 4},
    )
    signalling: ClassVar = (
        {"target": 5 * MS, "tupdate": 10 * MS, "beta": 200},
        {"target": 2 * MS, "alpha": 8, "samples": 3, "fairness": 1},
    )
    laws: ClassVar = {"law/landmark.h": landmark.answers_the_same}
    lacks: ClassVar = frozenset({"forget"})
    signal_if_below: ClassVar = {"signal": True, "share": True, "kept": False}
    reason_of_signal: ClassVar = {"share": Why.MATCH}
    columns: ClassVar = {
        "prob": probability,
        "delay": seconds,
        "rate": plain,
        "flows": plain,
        "share": probability,
        "matched": plain,
    }
    of_delay = BesidePie2013()

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return self.of_delay.ticks(rows)

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return CfdOnRing(
            target_s=rows["target"] * NS,
            tupdate_s=rows["tupdate"] * NS,
            alpha_hz=rows["alpha"] / 16,
            beta_hz=rows["beta"] / 16,
            dq_threshold=rows["dq_threshold"],
            samples=rows["samples"],
            records=rows["records"],
            age=rows["age"],
            when=("congested", "always", "delayed")[rows["fairness"]],
            alone_too=bool(rows["alone"]),
            letter=bool(rows["eq1"]),
            start_s=case.start_ns * NS,
            draws=Draws(case.seed),
            cells=cells(case),
            **PIE_BOUNDS,
            **common(case, judge),
        )

    def slack(self, model: Cfd) -> dict[str, float]:
        return self.of_delay.slack(model) | {"share": 2 * Q32_UNIT, "kept": 4 * Q32_UNIT}

    def state(self, model: Cfd, wakes: int) -> list[tuple[float, float]]:
        flows = sum(count > 0 for count in model.cache.counts())
        return [
            *self.of_delay.state(model, wakes)[:3],
            (flows, 0),
            (model.weight, 2 * Q32_UNIT),
            (model.matched, 0),
        ]

    def resync(self, model: Cfd, core: list[float]) -> None:
        model.p = within(model.p, core[0])
        model.delay_old_s = core[1]


BESIDE = BesideCfd()


def at_rest(uniform: float, **rows: Any) -> Cfd:
    """It draws the head, and always the same number."""
    return Cfd(draw=lambda waiting: 0, uniform=lambda: uniform, **rows)


@pytest.mark.parametrize(
    ("p", "weight", "lost"),
    [(0, 0, 0), (0.05, 0, 0.05), (0.05, 0.02, 0.069), (0.05, 0.87, 0.8765), (1, 0.3, 1)],
)
def test_cfd_loses_by_both_parts(p: float, weight: float, lost: float) -> None:
    """By hand: p + w - p w, by counting a grid of both draws."""
    model = at_rest(0, when="always", alone_too=True)
    model.p = p
    model.cache.bottom[1] = round(weight * 1000)
    model.cache.bottom[2] = 1000 - round(weight * 1000)
    draws: list[float] = []
    model.uniform = lambda: draws.pop(0)
    steps, kept = 200, 0
    for first in range(steps):
        for second in range(steps):
            draws[:] = [(first + 0.5) / steps, (second + 0.5) / steps]
            kept += not model.arrive(0, Packet(0, 1000, flow=1)).dropped
            model.waiting.clear()
    assert 1 - kept / steps**2 == pytest.approx(lost, abs=1e-4 + 1 / steps / 2)


def test_cfd_to_the_letter_keeps_by_the_laws_own_number() -> None:
    """By hand: 0.8 times 1 - 0.9, and 0.8 for a flow that is not in the cache."""
    for flow, uniform, kept in (
        (1, 0.07, True),
        (1, 0.09, False),
        (3, 0.79, True),
        (3, 0.81, False),
    ):
        model = at_rest(uniform, letter=True, when="always", alone_too=True)
        assert model.p == 1
        model.p = 0.8
        model.cache.bottom[1], model.cache.bottom[2] = 900, 100
        model.waiting = [Packet(0, 1000, flow=2), Packet(1, 1000, flow=2)]
        assert bool(model.arrive(0, Packet(2, 1000, flow=flow)).dropped) != kept


def test_cfd_to_the_letter_keeps_the_packets_of_a_short_queue() -> None:
    model = at_rest(0.5, letter=True)
    model.p = 0
    lost = [bool(model.arrive(0, Packet(i, 1000, flow=i)).dropped) for i in range(4)]
    assert lost == [False, False, True, True]


def test_cfd_spares_all_flows_without_delay_and_one_that_is_alone() -> None:
    for p, flows, rows, dropped in (
        (0.0, 2, {}, False),
        (0.0, 2, {"when": "always"}, True),
        (0.01, 2, {"when": "delayed"}, False),
        (0.1, 1, {}, False),
        (0.1, 1, {"alone_too": True}, True),
        (0.1, 2, {}, True),
    ):
        model = at_rest(0.4, **rows)
        model.p = p
        model.cache.bottom[1] = 900
        if flows == 2:
            model.cache.bottom[2] = 1
        assert bool(model.arrive(0, Packet(0, 1000, flow=1)).dropped) == dropped


def test_cfd_with_two_flows_leaves_the_larger_half() -> None:
    model = at_rest(0.5)
    model.cache.bottom[1], model.cache.bottom[2] = 900, 100
    assert model.weight_of(1) == 0.5
    assert model.weight_of(2) == 0.1
    assert model.weight_of(3) == 0


def test_landmark_keeps_what_is_met_again() -> None:
    """Four records, three in the top: a stream of new flows displaces only each other."""
    cache = LandmarkLru(4, 10**6)
    for flow in (1, 1, 2, 2, 3, 3, 4, 5, 6, 7):
        cache.hit(flow)
    assert list(cache.top) == [1, 2, 3]
    assert list(cache.bottom) == [7]
    cache.hit(7)
    assert list(cache.top) == [2, 3, 7]
    assert list(cache.bottom) == [1]


def test_landmark_halves_all_counts() -> None:
    cache = LandmarkLru(4, 7)
    for flow in (1, 1, 1, 1, 2, 2):
        cache.hit(flow)
    assert cache.counts() == [4, 2]
    cache.hit(3)
    assert cache.counts() == [2, 1, 0]
