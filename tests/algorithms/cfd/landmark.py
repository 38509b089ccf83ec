# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""CFD's cache of flows by itself: thousands of flows, few records and many, counts that halve."""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from models.cfd import LandmarkLru
from tests.models.library import Core, core
from tests.models.same import assert_same

# As in landmark.c.
MEETING = np.dtype([("hit", "u4"), ("asked", "u4")])
TOLD = np.dtype([("share", "u4"), ("sum", "u4"), ("live", "u4"), ("top", "u4")])
SIZES = (1, 2, 3, 4, 5, 7, 64, 1000, 1024)
AGES = (40, 700, 1 << 31)
MEETINGS = 2500
LARGEST = 2**32 - 1


@dataclass(frozen=True)
class Story:
    """Flows that are met, and the answers behind each."""

    records: int
    age: int
    meetings: NDArray[np.void]
    told: NDArray[np.void]


@cache
def story(records: int, age: int) -> Story:
    """Some flows are met often, most of them once."""
    source = random.Random(records * age)
    model = LandmarkLru(records, age)
    often = [source.getrandbits(32) for _ in range(2 * records)]
    meetings, told = [], []
    for _ in range(MEETINGS):
        rare = source.getrandbits(32)
        hit = source.choice(often) if source.random() < 0.6 else rare
        asked = source.choice((hit, rare, source.choice(often)))
        model.hit(hit)
        counts = model.counts()
        total = sum(counts)
        share = min((model.hits(asked) << 32) // total, LARGEST) if total else 0
        meetings.append((hit, asked))
        told.append((share, total, sum(count > 0 for count in counts), len(model.top)))
    return Story(records, age, np.array(meetings, MEETING), np.array(told, TOLD))


def answers(build: Core, of: Story) -> NDArray[np.void]:
    """The core's."""
    run = build.lib.tm_landmark
    u32, u64, pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
    run.restype, run.argtypes = None, [pointer, u32, u32, u32, u64, pointer]
    found = np.zeros(len(of.meetings), TOLD)
    meetings = of.meetings.ctypes.data
    run(meetings, len(found), of.records, of.age, of.records, found.ctypes.data)
    return found


STORIES = [(records, age) for records in SIZES for age in AGES]


def answers_the_same(build: Core) -> bool:
    """In every story."""
    found = (story(*which) for which in STORIES)
    return all((answers(build, of) == of.told).all() for of in found)


@pytest.mark.parametrize(("records", "age"), STORIES)
def test_the_same_flows_are_in_the_cache(records: int, age: int) -> None:
    of = story(records, age)
    assert_same("meeting", of.told, answers(core(), of))


def test_the_stories_fill_the_cache_and_find_flows_again() -> None:
    for records, age in STORIES:
        top = story(records, age).told["top"]
        assert (top.max() == records - records // 4) == (records < 1000)
    told = np.concatenate([story(*which).told for which in STORIES])
    assert len(np.unique(told["share"])) > 1000
