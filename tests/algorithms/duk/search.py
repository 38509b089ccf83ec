# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DUK's interval search by itself: worlds whose use of the link depends on the interval alone.

Queues here rarely bring the search to long intervals and back, for that takes hundreds of epochs.
The model lives in each world; the core gets the model's inputs, and must answer the same.
"""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from models.duk import RUNGS, Interval, IntervalSearch
from tests.models.beside import NS
from tests.models.inputs import MS, SECOND
from tests.models.library import Core, core
from tests.models.same import assert_same

# What each interval brings the search, and what it answers; as in search.c.
INTERVAL = np.dtype(
    [(name, "u8") for name in ("ns", "arrived", "sent", "could", "packet_ns", "tick_ns")]
    + [("mtu", "u4"), ("signals", "u4")],
    align=True,
)
ANSWER = np.dtype([("ticks", "u4"), ("level", "u4")], align=True)

# Percent of the link that is used at intervals of 1, 2, 4 .. 1024 times the shortest.
Curve = tuple[float, ...]


@dataclass(frozen=True)
class Stretch:
    """So many epochs at one capacity, in percent of what arrives in the densest interval."""

    epochs: int
    capacity: float
    curve: Curve
    noise: float = 0.0  # of an epoch's use, in percent; a standard deviation


@dataclass(frozen=True)
class World:
    """The inputs of a search. Sizes in bytes."""

    name: str
    stretches: tuple[Stretch, ...]
    tick_ns: int = MS
    packet_ns: int = MS // 80  # 1514 bytes at a gigabit, about
    arrive_per_tick: int = 125_000
    signals: int = 8  # in an interval
    mtu: int = 1514
    seed: int = 1


@dataclass(frozen=True)
class Search:
    """What a world brought the model's search, interval by interval, and what that answered."""

    intervals: NDArray[np.void]
    answers: NDArray[np.void]


@cache
def explore(world: World) -> Search:
    """The model lives in a world."""
    search = IntervalSearch()
    source = random.Random(world.seed)
    intervals = []
    answers = [(search.ticks, search.level)]
    for stretch in world.stretches:
        for _ in range(stretch.epochs):
            noise = source.gauss(0, stretch.noise) if stretch.noise else 0.0
            for row in epoch(world, stretch, search, noise):
                intervals.append(row)
                answers.append((search.ticks, search.level))
    return Search(np.array(intervals, INTERVAL), np.array(answers, ANSWER))


def epoch(
    world: World, stretch: Stretch, search: IntervalSearch, noise: float
) -> Iterator[tuple[int, ...]]:
    """Intervals until the search has ended an epoch."""
    while True:
        ticks = search.ticks
        used = stretch.curve[min(RUNGS, (ticks // search.shortest).bit_length()) - 1] + noise
        arrived = world.arrive_per_tick * ticks
        could = round(arrived * stretch.capacity / 100)
        sent = max(0, round(could * used / 100))
        took_ns = ticks * world.tick_ns
        search.ended(
            Interval(
                took_s=took_ns * NS,
                arrived=arrived,
                sent=sent,
                could=could,
                signals=world.signals,
                rate=could / (took_ns * NS),
                packet_ticks=world.packet_ns / world.tick_ns,
                mtu=world.mtu,
            )
        )
        row = (took_ns, arrived, sent, could, world.packet_ns, world.tick_ns)
        yield (*row, world.mtu, world.signals)
        if not search.intervals:
            return


def curve(used: Callable[[int], float]) -> Curve:
    """A curve, from the number of the rung."""
    return tuple(used(rung) for rung in range(RUNGS))


def best_at(best: int) -> Curve:
    """Shorter and longer intervals do worse by steps that cannot be overlooked."""
    return curve(lambda rung: 90.0 - 8 * abs(rung - best))


FLAT = curve(lambda rung: 50.0)
SLOWLY = curve(lambda rung: 12.0 + 8 * rung)
FALLING = curve(lambda rung: 93.0 - 8 * rung)
LATE = curve(lambda rung: 20.0 if rung <= 6 else 85.0)
LAST = curve(lambda rung: 20.0 if rung < 10 else 97.0)
LAST_BUT_ONE = curve(lambda rung: (20.0, 90.0, 60.0)[max(0, rung - 8)])
HILL = best_at(5)
VALLEY = curve(lambda rung: 40.0 + 10 * abs(rung - 5))


def alone(name: str, used: Curve, **settings: int) -> World:
    """One curve and one level for as long as all is known of it."""
    return World(name, (Stretch(400, 60.3, used),), **settings)


def curves() -> Iterator[World]:
    """Each curve alone; then another one, so that what was found is left again."""
    named = {
        "flat": FLAT,
        "slowly": SLOWLY,
        "falling": FALLING,
        "late": LATE,
        "last": LAST,
        "last but one": LAST_BUT_ONE,
        "hill": HILL,
        "valley": VALLEY,
    }
    for name, first in named.items():
        yield alone(name, first)
        yield alone(f"{name}, packets of half a tick", first, packet_ns=MS // 2)
        for other, second in named.items():
            if first is not second:
                both = Stretch(150, 60.3, first), Stretch(450, 60.3, second)
                yield World(f"{name}, then {other}", both)


def settings() -> Iterator[World]:
    """Ends of epochs, clocks and links at their bounds."""
    for signals in (1, 15, 16, 17, 31, 32, 33):
        yield alone(f"{signals} signals", SLOWLY, signals=signals)
    for packet_ns in (0, 1, 999, 1000, 1001, 1999, 2000, 2001, 12_345):
        name = f"a tick of 1 us, packets of {packet_ns} ns"
        yield alone(name, SLOWLY, tick_ns=1000, packet_ns=packet_ns)
    for packet_ns in (2**16, 2**17 - 1, 2**26 - 1, 2**26, 2**26 + 1, 2**28):
        name = f"a tick of 1 ns, packets of {packet_ns} ns"
        yield alone(name, SLOWLY, tick_ns=1, packet_ns=packet_ns)
    # nearly everything that arrives is too much; less arrives than the link could take
    for capacity in (0.1, 0.6, 1.5, 99.6, 100.0, 120.0):
        yield World(f"capacity {capacity} %", (Stretch(200, capacity, SLOWLY),))
    # less than one byte in a second
    yield World("a trickle", (Stretch(50, 0.04, SLOWLY),), SECOND, SECOND, 1000, mtu=1)
    # a shaper's saved credit
    yield alone("more than all", curve(lambda rung: 99.0 if rung != 5 else 108.0), packet_ns=1)


def lines() -> Iterator[World]:
    """Two levels are known well, then others are met for the first time."""
    for above, below in ((10, 0), (1, 0), (5, 3), (9, 2), (2, 7)):
        for gap in (1, 15):
            known = (
                Stretch(300, 54.5, best_at(above), 0.1),
                Stretch(300, 54.5 - gap, best_at(below), 0.1),
            )
            for capacity in (99.5, 62.5, 57.5, 55.5, 50.5, 37.5, 20.5, 0.5):
                yield World(
                    f"rung {above}, {gap} percent on {below}, then capacity {capacity} %",
                    (*known, Stretch(5, capacity, FLAT)),
                )


# A unit of what means are kept in, and a world in which all numbers are whole in it.
UNIT = 2.0**-20
EXACT_TICK_NS = 100 * 2**20


def exact(name: str, used: Curve) -> World:
    """Packets of one tick, epochs that are all alike: equal means are equal on both sides."""
    found = (Stretch(400, 50.0, used),)
    return World(name, found, EXACT_TICK_NS, EXACT_TICK_NS, 2 * EXACT_TICK_NS)


def ties() -> Iterator[World]:
    """A rung's mean, one packet and one percent just reach a bound, or are a unit off."""
    for rung in range(RUNGS):
        allowed = 1 + 100 / 2**rung
        for off in (-1, 0, 1):
            best = 60 + allowed + off * UNIT
            used = (*(5.0,) * rung, 60.0, *(best,) * (RUNGS - 1 - rung))
            yield exact(f"rung {rung} and the best one, {off:+} units", used)
            full = max(0.0, 100 - allowed + off * UNIT)
            used = (*(20.0,) * rung, full, *(20.0,) * (RUNGS - 1 - rung))
            yield exact(f"rung {rung} and a full link, {off:+} units", used)


def chances(number: int) -> World:
    """Levels, curves, clocks and noise by chance."""
    source = random.Random(number)
    base = source.choice((2.5, 40.5, 85.5))
    levels = [base + source.randrange(-2, 15) for _ in range(source.choice((1, 2, 3, 6)))]
    shapes = [FLAT, SLOWLY, FALLING, LATE, LAST, LAST_BUT_ONE, HILL, VALLEY]
    at = {
        level: source.choice([*shapes, curve(lambda rung: source.uniform(5, 99))])
        for level in levels
    }
    noise = source.choice((0.0, 0.5, 3.0, 10.0))
    stretches = []
    for _ in range(source.choice((4, 12, 40))):
        level = source.choice(levels)
        if source.random() < 0.2:
            at[level] = source.choice(shapes)
        epochs = source.choice((1, 2, 3, 10, 60))
        stretches.append(Stretch(epochs, min(100.0, level), at[level], noise))
    tick_ns = source.choice((1000, 100_000, MS, SECOND))
    return World(
        f"chances {number}",
        tuple(stretches),
        tick_ns,
        round(tick_ns * source.choice((0.01, 0.3, 1.0, 2.7))),
        source.choice((12_500, 125_000)),
        source.choice((3, 8, 20)),
        seed=number,
    )


WORLDS: tuple[World, ...] = (
    *curves(),
    *settings(),
    *lines(),
    *ties(),
    *(chances(number) for number in range(100)),
)


def search(build: Core, intervals: NDArray[np.void]) -> NDArray[np.void]:
    """What the search of the core starts from, and answers after each interval."""
    run = build.lib.tm_duk_search
    run.restype, run.argtypes = None, [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
    answers = np.zeros(len(intervals) + 1, ANSWER)
    run(intervals.ctypes.data, len(intervals), answers.ctypes.data)
    return answers


def answers_the_same(build: Core) -> bool:
    """In every world."""
    found = (explore(world) for world in WORLDS)
    return all((search(build, model.intervals) == model.answers).all() for model in found)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_same_intervals(world: World) -> None:
    model = explore(world)
    assert_same("interval", model.answers, search(core(), model.intervals))


def test_worlds_lead_to_the_longest_interval_and_back() -> None:
    there = back = 0
    for world in WORLDS:
        ticks = explore(world).answers["ticks"]
        longest = np.flatnonzero(ticks == 1024)
        there += len(longest) > 0
        back += len(longest) > 0 and bool((ticks[longest[0] :] == 1).any())
    assert there >= 20
    assert back >= 10
