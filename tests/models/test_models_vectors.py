# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The models reproduce worked examples: the papers' equations, computed exactly elsewhere."""

from __future__ import annotations

import math

import pytest

from models.codel import CoDel
from models.duk import TERM_MAX, correction, probability
from models.pie import Pie
from models.pie_2013 import Pie2013
from models.queue import Packet
from models.red import RedAverage, RedProbability
from tests.models.generator import Pcg32

MS = 1e-3

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
]


@pytest.mark.parametrize("row", DUK)
def test_duk_equation_9(row: tuple[float, ...]) -> None:
    arrived, left, capacity, previous, change, interval, utilisation, term, p = row
    assert min(1.0, left / capacity) == pytest.approx(utilisation)
    found = correction(utilisation, previous, change, interval)
    assert found == pytest.approx(term, abs=1e-6)
    assert probability(arrived, left, capacity, found) == pytest.approx(p, abs=1e-6)


def test_duk_term_is_bounded_at_its_pole() -> None:
    assert correction(1.0, 0.5, 6.0, 10) == TERM_MAX
    assert correction(1.0, 0.9, 1.2, 10) == TERM_MAX or correction(1.0, 0.9, 1.2, 10) == -TERM_MAX


@pytest.mark.parametrize(
    ("p", "now_ms", "old_ms", "after"),
    [
        (0, 30, 20, 0.00171875),
        (0.05, 30, 20, 0.056875),
        (0.2, 30, 20, 0.21375),
        (0.05, 10, 20, 0.043125),
    ],
)
def test_pie_2013_step(p: float, now_ms: float, old_ms: float, after: float) -> None:
    model = Pie2013()
    model.p, model.delay_old_s = p, old_ms * MS
    assert p + model.step(now_ms * MS) == pytest.approx(after, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "divisor"),
    [(0, 2048), (2e-6, 512), (2e-5, 128), (2e-4, 32), (2e-3, 8), (2e-2, 2), (0.2, 1)],
)
def test_pie_step_shrinks_with_the_probability(p: float, divisor: float) -> None:
    model = Pie()
    model.p, model.delay_old_s = p, 20 * MS
    assert model.step(25 * MS) == pytest.approx((0.125 * 0.010 + 1.25 * 0.005) / divisor)


def test_pie_step_is_capped_only_from_a_tenth_on() -> None:
    model = Pie()
    model.p = 0.1
    assert model.step(0.5) == 0.02
    model.p = 0.0999
    assert model.step(0.5) > 0.3


def test_pie_sum_of_probabilities_spaces_the_signals() -> None:
    model = Pie(uniform=lambda: 0.0)
    model.p, model.delay_old_s, model.bytes = 0.3, 1.0, 10**6
    assert [model.drop_early() for _ in range(3)] == [False, False, True]
    unlucky = Pie(uniform=lambda: 0.9999)
    unlucky.p, unlucky.delay_old_s, unlucky.bytes = 0.5, 1.0, 10**6
    assert [unlucky.drop_early() for _ in range(17)] == [False] * 16 + [True]


def codel_signals(ect: bool, seconds: float) -> list[float]:
    """A queue that never empties, one packet of 50 ms age each millisecond: when it signals."""
    model = CoDel(ecn=True)
    times = []
    for number in range(200):
        model.arrive(0.0, Packet(number, 1000, ect=ect))
    for step in range(int(seconds * 1000)):
        now_s = step * MS
        for packet in model.waiting:
            packet.arrived_s = now_s - 0.05
        done = model.request(now_s)
        for number in done.dropped + done.marked:
            times.append(now_s)
            model.arrive(now_s, Packet(number, 1000, ect=ect))
        model.arrive(now_s, Packet(step, 1000, ect=ect))
    return times


@pytest.mark.parametrize("ect", [False, True])
def test_codel_spaces_signals_by_the_inverse_square_root(ect: bool) -> None:
    expected, when = [0.1], 0.1
    for count in range(1, 12):
        when += 0.1 / math.sqrt(count)
        expected.append(when)
    found = codel_signals(ect, 0.75)
    assert len(found) >= len(expected)
    for a, b in zip(found, expected, strict=False):
        assert 0 <= a - b < 1.001 * MS


def test_codel_spares_the_last_packet_s_worth() -> None:
    model = CoDel(mtu=1000)
    for number in range(400):
        model.arrive(0.0, Packet(number, 1000))
        assert not model.request(number * 0.01 + 1).dropped


def test_codel_reenters_at_the_last_rate() -> None:
    model = CoDel()
    model.dropping, model.count, model.last_count, model.drop_next_s = False, 9, 2, 1.0
    model.first_above_s = 1.0
    for number in range(9):
        model.arrive(0.5, Packet(number, 1500))
    assert model.request(1.2).dropped == [0]
    assert model.count == 7
    assert model.drop_next_s == pytest.approx(1.2 + 0.1 / math.sqrt(7))


def test_codel_forgets_the_last_rate_after_16_intervals() -> None:
    model = CoDel()
    model.dropping, model.count, model.last_count, model.drop_next_s = False, 9, 2, 1.0
    model.first_above_s = 1.0
    for number in range(9):
        model.arrive(0.5, Packet(number, 1500))
    assert model.request(2.6).dropped == [0]
    assert model.count == 1


def test_red_average_ages_while_idle() -> None:
    average = RedAverage(weight=0.25, packet_time_s=0.001, average=8.0, idle_since_s=1.0)
    assert average.update(1.002, 0) == pytest.approx(8 * 0.75**3)


def test_red_spreads_signals_evenly() -> None:
    red = RedProbability(5, 15, 0.1)
    found = [red.early(red.slope(10)) for _ in range(21)]
    assert found[0] == pytest.approx(0.05)
    assert found[1] == pytest.approx(0.05 / 0.95)
    assert found[19] == pytest.approx(1.0)
    assert found[20] == 1.0


def test_generator_gives_its_author_s_numbers() -> None:
    """pcg32-demo's first round: seed 42, stream 54."""
    source = Pcg32(42, 54)
    assert [source.next() for _ in range(6)] == [
        0xA15C02B7,
        0x7B47F409,
        0xBA1D3330,
        0x83D2F293,
        0xBFA4784B,
        0xCBED606E,
    ]
