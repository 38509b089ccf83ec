# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Which inputs each algorithm is compared on. The same cases measure branch coverage."""

from __future__ import annotations

from collections.abc import Iterator

from tests.models.inputs import (
    MS,
    SECOND,
    fast_link,
    gusts,
    in_and_out,
    looking,
    on_grid,
    overload,
    slow_link,
    stopped,
)
from tests.models.library import Case, Events
from tests.models.record import DATA, load

# Extra settings of an algorithm's own rows.
SETTINGS: dict[str, tuple[dict[str, int], ...]] = {
    "fifo": ({"limit": 40}, {"limit": 10_000, "limit_bytes": 20_000}),
    "pie_2013": (
        {"target": 2 * MS, "tupdate": MS, "alpha": 1, "beta": 0, "max_burst": 0},
        {"target": 60 * MS, "alpha": 40, "beta": 1, "dq_threshold": 40_000, "max_burst": SECOND},
    ),
    "pie": (
        {"target": 2 * MS, "tupdate": MS, "alpha": 0, "beta": 40, "max_burst": 0},
        {"target": 60 * MS, "alpha": 8, "beta": 1, "max_burst": SECOND, "mark_ecnth": 2**32 - 1},
        {"dq_rate_estimator": 1},
        {"form": 1, "tupdate": 15 * MS},
        {"form": 1, "target": 2 * MS, "tupdate": MS, "alpha": 1, "max_burst": 20 * MS},
        {"form": 1, "target": 60 * MS, "tupdate": 15 * MS, "alpha": 1, "max_burst": SECOND},
    ),
    "choke": (
        {"min": 5, "max": 15, "weight": 4, "probability": 2**29},
        {
            "min": 20,
            "max": 60,
            "weight": 1,
            "probability": 2**32 - 1,
            "bandwidth": 125_000,
            "limit_bytes": 30_000,
        },
        {"limit": 1024, "min": 400, "max": 900, "weight": 7},
    ),
    "sfb": (
        {
            "bin_target": 3,
            "bin_max": 60,
            "increment": 2**26,
            "decrement": 2**22,
            "rehash": SECOND,
            "warmup": SECOND // 2,
            "penalty_rate": 2,
            "penalty_burst": 7,
        },
        {
            "bin_target": 2,
            "bin_max": 200,
            "increment": 2**30,
            "decrement": 2**29 + 1,
            "rehash": SECOND,
            "warmup": 0,
            "penalty_rate": 0,
        },
    ),
    "duk": (
        {"fixed_interval": MS},
        {"tick": 100_000},
        {"fixed_interval": 2 * MS, "limit": 60},
    ),
    "codel": (
        {"target": MS, "interval": 20 * MS},
        {"target": 20 * MS, "interval": SECOND},
        {"form": 1},
        {"form": 1, "target": 2 * MS, "interval": 30 * MS},
    ),
}


INPUTS = 7
# Of PIE's in Linux's form; all others tick first when a period is over.
FIRST_TICK_NS = SECOND // 2


def inputs(seed: int, start_ns: int) -> Iterator[tuple[str, Events, int, int]]:
    """Name, events, start and MTU of each kind of input."""
    yield "overload", overload(seed, start_ns=start_ns), start_ns, 1514
    yield "slow", slow_link(seed), 0, 1514
    yield "fast", fast_link(seed), 0, 1514
    yield "episodes", in_and_out(seed), 0, 600
    yield "stopped", stopped(seed), 0, 1514
    yield "gusts", gusts(seed), 0, 1514
    yield "grid", on_grid(seed), 0, 1000


def cases(algorithm: str) -> Iterator[Case]:
    """Every input, defaults and settings, drop and mark."""
    for number, rows in enumerate(({}, *SETTINGS.get(algorithm, ()))):
        for ecn in (0, 1):
            seed = 10 * number + ecn
            settings = {"limit": 1000, "ecn": ecn} | rows
            for name, events, start_ns, mtu in inputs(seed, SECOND * seed):
                label = f"{algorithm}-{number}-{'ecn' if ecn else 'drop'}-{name}"
                look_ns = rows.get("tupdate") or (algorithm == "duk" and rows.get("tick", MS))
                if look_ns:
                    first_ns = FIRST_TICK_NS if rows.get("form") else 0
                    events = looking(events, look_ns, start_ns + first_ns % look_ns)
                yield Case(label, algorithm, settings, events, seed, mtu, start_ns)
    yield from recorded(algorithm)


def recorded(algorithm: str) -> Iterator[Case]:
    """What TCP sent into this algorithm's queue when the algorithm answered it."""
    path = DATA / f"{algorithm}.npz"
    if path.exists():
        events = load(path)
        if algorithm == "duk":
            events = looking(events, MS)
        yield Case(f"{algorithm}-recorded", algorithm, {"limit": 1000, "ecn": 1}, events)


def at_the_bound(algorithm: str, **rows: int) -> Case:
    """Rows that each are in range; together they are just possible, or just not."""
    return Case(f"{algorithm}-at-the-bound", algorithm, rows, overload(0, seconds=0.1))


REFUSED: dict[str, tuple[Case, ...]] = {
    "choke": (at_the_bound("choke", min=10, max=10),),
    "sfb": (
        at_the_bound("sfb", bin_target=26, bin_max=25),
        at_the_bound("sfb", rehash=2 * SECOND, warmup=2 * SECOND),
    ),
    "duk": (
        at_the_bound("duk", tick=MS, fixed_interval=MS - 1),
        at_the_bound("duk", tick=1, fixed_interval=2**26 + 1),
    ),
}

# The last rows that are possible together.
ACCEPTED: dict[str, tuple[Case, ...]] = {
    "sfb": (at_the_bound("sfb", bin_target=25, bin_max=25),),
    "duk": (at_the_bound("duk", tick=1, fixed_interval=2**26),),
}


def fast_cases(algorithm: str) -> Iterator[Case]:
    """The cases that a mutant is tried on: of every setting some, with drops and with marks."""
    for number, case in enumerate(cases(algorithm)):
        setting, place = divmod(number, INPUTS)
        often = (place + setting) % 4 == 0 or (place >= INPUTS - 3 and setting % 2)
        if often or case.name.endswith("-recorded"):
            yield case
