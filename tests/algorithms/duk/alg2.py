# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DUK's Algorithm 2 by itself.

It never leaves the interval that it began with, so here it also gets intervals that were not
its own. The model goes first; the core gets the model's inputs, and must answer the same.
"""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from models.duk import Algorithm2, curve_fit
from tests.models.library import Core, core
from tests.models.same import assert_same

# An interval that ended, its level, and what was sent in it; as in alg2.c.
STEP = np.dtype([("sent", "u8"), ("level", "u4"), ("ticks", "u4")], align=True)


@dataclass(frozen=True)
class Strange:
    """Arbitrary intervals, and Algorithm 2's answer to each."""

    steps: NDArray[np.void]
    ticks: NDArray[np.uint32]


@cache
def strange(number: int) -> Strange:
    """Few levels or many, intervals and rates near those that are known, or far from them."""
    source = random.Random(number)
    levels = source.sample(range(100), source.choice((2, 3, 8, 100)))
    longest = source.choice((2, 8, 64, 1024))
    most = source.choice((3, 3000, 10**9, 10**13))
    rule = Algorithm2()
    steps, answers = [], []
    for _ in range(600):
        level = source.choice(levels)
        if source.random() < 0.7:
            rule.ticks = source.randint(1, longest)
        old = rule.beta_old.get(level)
        sent = source.randrange(most)
        if old is not None and source.random() < 0.5:
            sent = max(0, int(old * rule.ticks) + source.choice((-1, 0, 1)))
        steps.append((sent, level, rule.ticks))
        rule.step(level, Fraction(sent, rule.ticks))
        answers.append(rule.ticks)
    return Strange(np.array(steps, STEP), np.array(answers, np.uint32))


STRANGE = range(60)


def alg2(build: Core, steps: NDArray[np.void]) -> NDArray[np.uint32]:
    """Answers of the core's Algorithm 2 after each interval."""
    run = build.lib.tm_duk_alg2
    run.restype, run.argtypes = None, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
    ticks = np.zeros(len(steps), np.uint32)
    run(steps.ctypes.data, len(steps), ticks.ctypes.data)
    return ticks


def answers_the_same(build: Core) -> bool:
    """To all of them."""
    found = (strange(number) for number in STRANGE)
    return all((alg2(build, model.steps) == model.ticks).all() for model in found)


@pytest.mark.parametrize("number", STRANGE)
def test_algorithm_2_answers_the_same_to_intervals_that_were_not_its_own(number: int) -> None:
    model = strange(number)
    assert_same("interval", model.ticks, alg2(core(), model.steps))


def test_strange_intervals_move_the_line() -> None:
    """Both ways and to its bounds."""
    ticks = np.concatenate([strange(number).ticks for number in STRANGE])
    assert len(np.unique(ticks)) > 500
    assert {1, 1024} <= set(ticks.tolist())


def test_algorithm_2_on_paper() -> None:
    """Points (20, 8) and (60, 4) lie on 10 - P / 10; at 60 a shorter one is then as good."""
    rule = Algorithm2(8)
    rule.step(20, Fraction(100))
    assert rule.ticks == 8
    rule.step(20, Fraction(900))
    assert rule.beta_old == {20: 100}
    rule.ticks = 4
    rule.step(60, Fraction(100))
    assert curve_fit(rule.dt_old) == (Fraction(-1, 10), Fraction(10))
    for level, ticks in ((0, 10), (35, 7), (36, 6), (99, 1)):
        model = Algorithm2()
        model.beta_old, model.dt_old = {level: Fraction(1)}, {level: 1}
        model.m_c = rule.m_c
        model.step(level, Fraction(0))
        assert model.ticks == ticks
    rule.step(20, Fraction(0))
    rule.ticks = 2
    rule.step(60, Fraction(99))
    assert rule.dt_old == {20: 8, 60: 4}
    rule.step(20, Fraction(0))
    rule.ticks = 2
    rule.step(60, Fraction(100))
    assert rule.dt_old == {20: 8, 60: 2}


def test_algorithm_2_stays_where_it_began() -> None:
    source = random.Random(1)
    for first in (1, 4, 16, 64):
        rule = Algorithm2(first)
        for _ in range(500):
            rule.step(source.randrange(100), Fraction(source.randrange(1000), first))
            assert rule.ticks == first
