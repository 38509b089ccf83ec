# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Inputs of a queue: random traffic without feedback, in phases that reach every branch."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.models.library import ANSWER, ARRIVE, EVENT, LIMIT, LOOK, REQUEST, RESET, ROW, Events

MS = 1_000_000
SECOND = 1000 * MS


@dataclass
class Phase:
    """A stretch of time: a load offered to a link. Rate 0 is a stopped link, load 0 no traffic."""

    seconds: float
    load: float
    rate_bps: float = 10e6
    sizes: tuple[int, ...] = (1514,)
    flows: int = 8
    ect: float = 0.0
    burst: int = 1
    pull: int = 1  # packets that the link asks for at one moment
    before: tuple[tuple[int, int], ...] = ()  # (kind, value) at its start: LIMIT, RESET, LOOK


@dataclass
class Stream:
    """Events in the order of time."""

    seed: int
    start_ns: int = 0
    rows: list[tuple[int, int, int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.now_ns = self.start_ns
        self.served_ns = self.start_ns

    def add(self, phase: Phase) -> Stream:
        """Poisson bursts in; out whenever the link has sent its last packet, full or not."""
        end_ns = self.now_ns + int(phase.seconds * SECOND)
        for kind, value in phase.before:
            self.rows.append((self.now_ns, kind, 0, value, 0))
        mean_size = sum(phase.sizes) / len(phase.sizes)
        rate_bps = phase.load * (phase.rate_bps or 10e6)
        arrivals = []
        when = float(self.now_ns)
        while rate_bps:
            when += self.random.expovariate(rate_bps / (8 * mean_size * phase.burst)) * SECOND
            if when >= end_ns:
                break
            arrivals += [self.arrival(int(when), phase) for _ in range(phase.burst)]
        requests = []
        if phase.rate_bps:
            when = max(float(self.served_ns), float(self.now_ns))
            while when < end_ns:
                requests += [(int(when), REQUEST, 0, 0, 0)] * phase.pull
                size = sum(self.random.choice(phase.sizes) for _ in range(phase.pull))
                when += 8 * size / phase.rate_bps * SECOND
            self.served_ns = int(when)
        self.rows += sorted(arrivals + requests, key=lambda row: row[0])
        self.now_ns = end_ns
        return self

    def arrival(self, when_ns: int, phase: Phase) -> tuple[int, int, int, int, int]:
        """One packet."""
        ds = self.random.choice((1, 2, 3)) if self.random.random() < phase.ect else 0
        flow = int(self.random.random() ** 2 * phase.flows) * 0x9E3779B1 & 0xFFFFFFFF
        return when_ns, ARRIVE, flow, self.random.choice(phase.sizes), ds

    def events(self) -> Events:
        """As the core reads them."""
        return np.array(self.rows, EVENT)


MIXED = (64, 590, 1514)
# No arrival and no dequeue request: only timers would run.
SILENCE = Phase(8.0, 0.0, rate_bps=0)


def overload(seed: int, seconds: float = 6.0, ect: float = 0.5, start_ns: int = 0) -> Events:
    """Calm, overload, calm, bursts, a stopped link, silence, a lowered limit, a reset."""
    s = Stream(seed, start_ns)
    s.add(Phase(0.5, 0.7, ect=ect))
    s.add(Phase(seconds, 1.3, ect=ect, sizes=MIXED))
    s.add(Phase(0.5, 0.5, ect=ect))
    s.add(Phase(0.5, 1.1, ect=ect, burst=20))
    s.add(Phase(0.5, 1.2, ect=ect, pull=16))
    s.add(Phase(0.3, 1.0, rate_bps=0))
    s.add(Phase(0.5, 0.9, ect=ect, before=((LOOK, 0),)))
    s.add(Phase(0.5, 1.5, ect=ect))
    s.add(Phase(0.5, 0.0)).add(SILENCE)
    s.add(Phase(1.0, 2.0, ect=ect, flows=2))
    s.add(Phase(0.5, 1.5, ect=ect, before=((LIMIT, 20),)))
    s.add(Phase(0.3, 1.0, ect=ect, before=((LIMIT, 1000),)))
    s.add(Phase(0.8, 1.6, ect=ect, before=((RESET, 0),)))
    return s.events()


def slow_link(seed: int) -> Events:
    """A packet takes 24 ms: rules about the last packets decide."""
    s = Stream(seed)
    s.add(Phase(20, 1.1, rate_bps=5e5, ect=0.3))
    s.add(Phase(10, 0.2, rate_bps=5e5))
    return s.events()


def fast_link(seed: int) -> Events:
    """A packet takes 12 us."""
    s = Stream(seed)
    s.add(Phase(0.1, 1.2, rate_bps=1e9, ect=0.5))
    s.add(Phase(0.1, 0.9, rate_bps=1e9, ect=0.5))
    return s.events()


def in_and_out(seed: int) -> Events:
    """Episodes of congestion at many distances from each other."""
    s = Stream(seed)
    for _ in range(12):
        s.add(Phase(s.random.uniform(0.2, 1.2), 1.4, ect=0.3))
        s.add(Phase(s.random.choice((0.05, 0.3, 1.0, 2.5)), s.random.choice((0.0, 0.4))))
    return s.events()


def stopped(seed: int) -> Events:
    """A standing queue whose link stops for seconds and then takes packets quickly."""
    s = Stream(seed)
    s.add(Phase(3.0, 1.5, ect=0.2))
    s.add(Phase(4.0, 0.1, rate_bps=0))
    s.add(Phase(0.5, 1.5, ect=0.2))
    s.add(Phase(60.0, 0.0, rate_bps=0))
    s.add(Phase(1.0, 0.9, ect=0.2))
    s.add(Phase(1.0, 0.0)).add(Phase(70.0, 0.0, rate_bps=0, before=((LOOK, 0),)))
    s.add(Phase(1.0, 1.8, ect=0.2, before=((LOOK, 0),)))
    s.add(Phase(0.05, 0.0, rate_bps=1e9)).add(Phase(1.5, 0.0, rate_bps=0))
    s.add(Phase(0.5, 1.5, ect=0.2, before=((LOOK, 0),)))
    s.add(Phase(2.5, 0.0, rate_bps=0)).add(Phase(0.5, 0.9, ect=0.2))
    s.add(Phase(1.5, 1.8, ect=0.2)).add(Phase(5.0, 0.0, rate_bps=0))
    s.add(Phase(0.001, 0.0, rate_bps=0, before=((LIMIT, 3),)))
    s.add(Phase(0.5, 1.2, ect=0.2, before=((LIMIT, 1000),)))
    return s.events()


def gusts(seed: int) -> Events:
    """A faster link, too much and almost nothing by turns of a few milliseconds."""
    s = Stream(seed)
    s.add(Phase(0.2, 1.5, rate_bps=5e6, pull=24))
    for _ in range(50):
        s.add(Phase(s.random.uniform(0.002, 0.05), 2.5, rate_bps=1e8, ect=0.3))
        s.add(Phase(s.random.uniform(0.002, 0.05), 0.1, rate_bps=1e8))
    return s.events()


def on_grid(seed: int) -> Events:
    """All times are whole milliseconds, so that times are often equal to their bounds."""
    s = Stream(seed)
    s.add(Phase(3.0, 1.3, rate_bps=8e6, sizes=(1000,), ect=0.3))
    for load in (0.2, 1.1, 0.9, 1.4, 0.0, 2.0, 0.5):
        s.add(Phase(0.4, load, rate_bps=8e6, sizes=(1000,), ect=0.3))
    events = s.events()
    events["now_ns"] = events["now_ns"] // MS * MS
    return events


def changing(seed: int, rows: Sequence[Mapping[int, int]], ect: float = 0.5) -> Events:
    """Rows, by their numbers, change in calm, in overload and just before a link that is silent."""
    s = Stream(seed)
    for number in range(24):
        values = rows[number % len(rows)]
        s.add(Phase(s.random.uniform(0.05, 0.6), s.random.choice((0.7, 1.4)), ect=ect, sizes=MIXED))
        for row, value in values.items():
            s.rows.append((s.now_ns, ROW, row, value & 0xFFFFFFFF, value >> 32))
        s.add(Phase(0.3, s.random.choice((0.0, 0.9, 1.3)), ect=ect))
        s.add(Phase(s.random.choice((0.0, 0.4, 2.0)), 0.0, rate_bps=0))
    return s.events()


def looking(events: Events, period_ns: int, start_ns: int = 0) -> Events:
    """The same, with a read of the statistics after each tick that an event was to run."""
    ticks = (events["now_ns"].astype(np.int64) - start_ns) // period_ns
    first = np.flatnonzero(np.diff(ticks, prepend=0) > 0)
    looks = np.zeros(len(first), EVENT)
    looks["now_ns"] = events["now_ns"][first]
    looks["kind"] = LOOK
    return np.insert(events, first, looks)


def answered(events: Events, seed: int) -> Events:
    """The same, with answers to probes: round trips wander between 1 and 500 ms, and for some
    seconds in each ten nothing comes back."""
    draw = random.Random(seed)
    first, last = (int(events["now_ns"][i]) for i in (0, -1))
    rows = []
    now_ns, level_ms = float(first), 60.0
    while (now_ns := now_ns + draw.expovariate(1 / (15 * MS))) < last:
        level_ms = min(500.0, max(1.0, level_ms * draw.uniform(0.8, 1.26)))
        if (now_ns - first) / SECOND % 10 < 8:
            rtt_ns = int(level_ms * MS * draw.uniform(0.7, 1.4))
            rows.append((int(now_ns), ANSWER, 0, rtt_ns, 0))
    # The largest that this host can say.
    rows.append((last, ANSWER, 0, 2**32 - 1, 0))
    both = np.concatenate([events, np.array(rows, EVENT)])
    return both[np.argsort(both["now_ns"], kind="stable")]
