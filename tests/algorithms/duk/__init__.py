# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""duk: model and C side by side, and worked examples."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import pytest

from models.duk import (
    TERM_MAX,
    UTILISATION_MAX,
    Algorithm2,
    Duk,
    Fixed,
    IntervalSearch,
    OneTick,
    Rule,
    correction,
    utilisation,
)
from models.duk import probability as duk_probability
from models.queue import Discipline, Judge, Packet
from tests.algorithms.duk import alg2, capacity, removals, search
from tests.models.beside import (
    NS,
    Q32_UNIT,
    Beside,
    Rows,
    common,
    compare,
    plain,
    probability,
    seconds,
)
from tests.models.generator import Draws
from tests.models.inputs import MS
from tests.models.library import Case, Core, CoreError, core


def levels_are_the_same(build: Core) -> bool:
    """Of both rules that ask for the level."""
    return search.answers_the_same(build) and alg2.answers_the_same(build)


def removals_are_the_same(build: Core) -> bool:
    """In each case of these."""
    try:
        for case in removals.cases():
            compare(BESIDE, case, build.replay(case))
    except (AssertionError, CoreError):
        return False
    return True


class BesideDuk(Beside):
    """U, T and the change of the delay are kept in Q0.20.

    What that does to p depends on how near Eq. 9 is to its pole, so the tolerance is how far p
    moves when they move by two such units.
    """

    algorithm = "duk"
    defaults: ClassVar = {
        "tick": 1_000_000,
        "fixed_interval": 0,
        "interval_rule": 0,
        "first_interval": 1,
    }
    settings: ClassVar = (
        {"fixed_interval": MS},
        {"tick": 100_000, "interval_rule": 1},
        {"fixed_interval": 2 * MS, "limit": 60},
        {"interval_rule": 1},
        {"interval_rule": 2},
        {"first_interval": 7},
    )
    signalling: ClassVar = ({"tick": MS}, {"tick": 3 * MS, "interval_rule": 1})
    refused: ClassVar = (
        {"tick": MS, "fixed_interval": MS - 1},
        {"tick": MS, "fixed_interval": 3 * MS + 1},
        {"tick": 1, "fixed_interval": 2**26 + 1},
        {"fixed_interval": MS, "interval_rule": 1},
        {"fixed_interval": MS, "first_interval": 2},
        {"interval_rule": 2, "first_interval": 2},
    )
    accepted: ClassVar = (
        {"tick": 1, "fixed_interval": 2**26},
        {"tick": 3 * MS, "fixed_interval": 30 * MS},
    )
    laws: ClassVar = {
        "duk.c": removals_are_the_same,
        "law/capacity.h": capacity.answers_the_same,
        "law/duk_interval.h": search.answers_the_same,
        "law/duk_alg2.h": alg2.answers_the_same,
        "law/duk_level.h": levels_are_the_same,
    }
    signal_if_below: ClassVar = {"signal": True}
    columns: ClassVar = {
        "prob": probability,
        "interval": seconds,
        "delay": seconds,
        "rate": plain,
        "level": plain,
    }

    def ticks(self, rows: Rows) -> tuple[int, int] | None:
        return rows.get("tick", MS), 0

    def model(self, case: Case, judge: Judge) -> Discipline:
        rows = self.defaults | case.rows
        return Duk(
            tick_s=rows["tick"] * NS,
            rule=self.rule(rows),
            mtu=case.mtu,
            start_s=case.start_ns * NS,
            empty_after=64,
            stuck_after=1024,
            uniform=Draws(case.seed).uniform,
            **common(case, judge),
        )

    def rule(self, rows: Rows) -> Rule:
        """How the interval is found."""
        if rows["fixed_interval"]:
            return Fixed(rows["fixed_interval"] // rows["tick"])
        return (Algorithm2(rows["first_interval"]), IntervalSearch(), OneTick())[
            rows["interval_rule"]
        ]

    def slack(self, model: Duk) -> dict[str, float]:
        return {"signal": 2 * Q32_UNIT}

    def tolerance(self, model: Duk) -> float:
        """How far the core's p may be off."""
        at = model.equation
        if at is None or not at.arrived or not model.wakes:
            return 2 * Q32_UNIT
        unit = 2.0**-19
        moved = [
            replace(
                at,
                used=min(UTILISATION_MAX, at.used + a * unit),
                was_used=min(UTILISATION_MAX, at.was_used + b * unit),
                delay_change=at.delay_change + d * unit,
            ).p()
            for a in (-1, 0, 1)
            for b in (-1, 0, 1)
            for d in (-1, 0, 1)
        ]
        # what T takes from the bytes sent is whole bytes; T is cut to 2^-20, (1 + n)/n to 2^-16
        term = correction(at.used, at.was_used, at.delay_change, at.interval) if at.known else 0.0
        cut = (1 + (2.0**-20 + 2.0**-16 * abs(term)) * at.could) / at.arrived
        return 2 * Q32_UNIT + cut + max(moved) - min(moved)

    def state(self, model: Duk, wakes: int) -> list[tuple[float, float]]:
        return [
            (model.p, self.tolerance(model) if wakes else 0.0),
            (model.interval_s, NS / 2),
            (model.delay_s, NS / 2),
            (model.capacity.rate, 1.01),
            (model.rule.level, 0),
        ]

    def resync(self, model: Duk, core: list[float]) -> None:
        model.p = core[0]


BESIDE = BesideDuk()


@pytest.mark.parametrize("case", removals.cases(), ids=lambda case: case.name)
def test_same_verdicts_where_waiting_packets_are_lost(case: Case) -> None:
    found = compare(BESIDE, case, core().replay(case))
    assert found.ties <= 2 + BESIDE.tie_share * found.signals


# Arrived, left and capacity in bytes; previous utilisation; change of delay and interval in ticks;
# then utilisation, correction term, probability.
DUK = [
    (30000, 25000, 25000, 1.0, 0.5, 10, 1.0, 0.0, 1 / 6),
    (25000, 25000, 25000, 1.0, 0.0, 10, 1.0, 0.0, 0.0),
    (30000, 25000, 25000, 0.8, 0.5, 10, 1.0, 0.0231579, 0.1473684),
    (30000, 25000, 25000, 0.8, 0.5, 1, 1.0, 0.8, 0.0),
    (30000, 25000, 25000, 0.8, 5.0, 10, 1.0, -0.0169231, 0.1807692),
    (20000, 20000, 25000, 1.0, -1.0, 10, 0.8, -0.0314286, 0.0392857),
    (30000, 20000, 25000, 1.0, 2.0, 10, 0.8, -0.01, 0.3416667),
    (250000, 125000, 125000, 0.5, 3.0, 1, 1.0, -1 / 3, 2 / 3),
    # more was sent than the estimate of C allows for; in the last, five times as much
    (30000, 27500, 25000, 1.0, 0.5, 1, 1.1, -0.1, 1 / 6),
    (40000, 27500, 25000, 0.9, 0.0, 1, 1.1, 2 / 15, 11 / 48),
    (40000, 27500, 25000, 1.3, 0.0, 1, 1.1, -2 / 15, 19 / 48),
    (250000, 125000, 25000, 3.5, 0.0, 1, 4.0, 1 / 3, 7 / 15),
]


@pytest.mark.parametrize("row", DUK)
def test_duk_equation_9(row: tuple[float, ...]) -> None:
    arrived, left, capacity, previous, change, interval, used, term, p = row
    assert utilisation(left, capacity) == pytest.approx(used)
    found = correction(used, previous, change, interval)
    assert found == pytest.approx(term, abs=1e-6)
    assert duk_probability(arrived, left, capacity, found) == pytest.approx(p, abs=1e-6)


def test_duk_term_is_bounded_at_its_pole() -> None:
    assert correction(1.0, 0.5, 6.0, 10) == TERM_MAX
    assert correction(1.0, 0.9, 1.2, 10) == TERM_MAX or correction(1.0, 0.9, 1.2, 10) == -TERM_MAX


@pytest.mark.parametrize(("gone_s", "rate"), [(0.005, 1e6), (None, 2e3 / 0.498)])
def test_duk_capacity_counts_no_time_in_which_the_queue_was_empty(
    gone_s: float | None, rate: float
) -> None:
    """Packets of 1 kB: four leave in 1 ms each, 3 kB in 3 ms; half a second later four more.

    If the fifth has gone meanwhile, the second four are a busy period of their own, and the rate
    stays. If it has waited, its predecessor took 497 ms and it took one: 2 kB in 498 ms, and the
    rest is not in the interval of 501.5 ms.
    """
    model = Duk(tick_s=0.0005, rule=Fixed(1003))
    for number in range(5):
        model.arrive(0.0, Packet(number, 1000))
    for ms in range(4):
        model.request(ms * 1e-3)
    model.capacity.interval_ends(0.01, 4000)
    assert model.capacity.rate == pytest.approx(1e6)
    if gone_s is not None:
        model.lower_limit(gone_s, 0)
        model.limit_pkts = math.inf
    for number in range(5, 9):
        model.arrive(0.5, Packet(number, 1000))
    for ms in range(500, 502):
        model.request(ms * 1e-3)
    model.advance(0.5016)
    assert model.capacity.rate == pytest.approx(rate)
