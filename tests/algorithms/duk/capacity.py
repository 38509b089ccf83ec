# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DUK's estimate of the link by itself: gaps and sums that just reach a bound, or miss it by 1 ns.

The model goes first; the core gets the model's inputs, and must estimate the same. The model has
no unit of its own, and here its unit of time is a nanosecond: sums of whole numbers are exact.
"""

from __future__ import annotations

import ctypes
import math
import random
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from models.duk import ROUNDING, Capacity
from tests.models.inputs import MS
from tests.models.library import Core, core
from tests.models.same import assert_same

# As in capacity.c.
MOMENT = np.dtype([("ns", "u8"), ("bytes", "u8"), ("kind", "u4"), ("left", "u4")], align=True)
ESTIMATE = np.dtype([("could", "u8"), ("packet_ns", "u8")], align=True)
DEPARTURE, EMPTIED, INTERVAL = range(3)
LONGEST_NS = 1024 * 1000
# Of which it is asked how many bytes could be sent.
ASKED_NS = 1000
MOMENTS = 500


@dataclass(frozen=True)
class Link:
    """Events at a link, and the estimate after each."""

    moments: NDArray[np.void]
    estimates: NDArray[np.void]


class Story:
    """The model at a link, by chance."""

    def __init__(self, number: int) -> None:
        self.source = random.Random(number)
        self.model = Capacity(LONGEST_NS)
        self.now_ns = 0
        self.gaps_ns = self.source.choice(((1, 2, 3), (1000, 5000), (0, 1, 10 * MS)))

    def moment(self) -> tuple[int, int, int, int]:
        """One of the three, which happens to the model."""
        chance = self.source.random()
        if chance < 0.05:
            self.model.emptied()
            return 0, 0, EMPTIED, 0
        if chance < 0.2:
            length_ns, sent = self.interval_ns(), self.source.randrange(10**6)
            self.model.interval_ends(length_ns, sent)
            return length_ns, sent, INTERVAL, 0
        self.now_ns += self.gap_ns()
        size, left = self.source.randint(64, 1514), int(self.source.random() < 0.9)
        self.model.departure(self.now_ns, size, bool(left))
        return self.now_ns, size, DEPARTURE, left

    def gap_ns(self) -> int:
        if self.source.random() < 0.1:
            return LONGEST_NS + self.source.choice((-1, 0, 1))
        return self.source.choice(self.gaps_ns)

    def interval_ns(self) -> int:
        """Even; often such that what is summed up is just half of it."""
        if self.source.random() < 0.5:
            return max(2, 2 * int(self.model.sums.time_s) + self.source.choice((-2, 0, 2)))
        return self.source.choice((2, 1000, MS))

    def estimate(self) -> tuple[int, int]:
        packet_ns = math.floor(self.model.packet_time_s() + ROUNDING)
        return self.model.could(ASKED_NS), packet_ns


@cache
def link(number: int) -> Link:
    story = Story(number)
    told = [(story.moment(), story.estimate()) for _ in range(MOMENTS)]
    moments, estimates = zip(*told, strict=True)
    return Link(np.array([*moments], MOMENT), np.array([*estimates], ESTIMATE))


LINKS = range(60)


def capacity(build: Core, moments: NDArray[np.void]) -> NDArray[np.void]:
    """The core's estimate after each."""
    run = build.lib.tm_capacity
    u32, u64, pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
    run.restype, run.argtypes = None, [pointer, u32, u64, u64, pointer]
    estimates = np.zeros(len(moments), ESTIMATE)
    run(moments.ctypes.data, len(moments), LONGEST_NS, ASKED_NS, estimates.ctypes.data)
    return estimates


def answers_the_same(build: Core) -> bool:
    """At every link."""
    found = (link(number) for number in LINKS)
    return all((capacity(build, model.moments) == model.estimates).all() for model in found)


@pytest.mark.parametrize("number", LINKS)
def test_same_estimates_of_the_link(number: int) -> None:
    model = link(number)
    assert_same("moment", model.estimates, capacity(core(), model.moments))


def test_links_are_estimated_anew_and_anew() -> None:
    estimates = np.concatenate([link(number).estimates for number in LINKS])
    assert len(np.unique(estimates["could"])) > 500
    assert (estimates["packet_ns"] == 0).any()
