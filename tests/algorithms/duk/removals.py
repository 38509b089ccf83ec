# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A queue whose limit is often lowered, behind a link whose rate is never the same.

Each gap between two departures that the estimate of the link counts, or leaves out, then moves it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from tests.models.inputs import MS
from tests.models.library import ARRIVE, EVENT, LIMIT, REQUEST, Case

PACKETS = 1500


def moments(source: random.Random) -> Iterator[tuple[int, int, int, int, int]]:
    """Overload; now and then the whole backlog goes, or all but a few packets."""
    now_ns = 0
    for _ in range(PACKETS):
        now_ns += source.randrange(MS // 2, 3 * MS)
        for _ in range(source.choice((1, 1, 2))):
            yield now_ns, ARRIVE, 0, source.randint(64, 1514), 1
        if source.random() < 0.1:
            yield now_ns, LIMIT, 0, source.choice((0, 1, 5)), 0
            yield now_ns, LIMIT, 0, 1000, 0
        if source.random() < 0.9:
            yield now_ns, REQUEST, 0, 0, 0


def cases() -> list[Case]:
    return [
        Case(
            f"duk-removals-{number}",
            "duk",
            {"limit": 1000, "ecn": number % 2, "fixed_interval": 20 * MS},
            np.array([*moments(random.Random(number))], EVENT),
            seed=number,
        )
        for number in range(6)
    ]
