# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Which inputs each algorithm is compared on. The same cases measure branch coverage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tests.algorithms import ALGORITHMS
from tests.models.beside import Beside, Rows
from tests.models.inputs import (
    SECOND,
    answered,
    changing,
    fast_link,
    gusts,
    in_and_out,
    looking,
    on_grid,
    overload,
    slow_link,
    stopped,
)
from tests.models.library import Case, Events, core
from tests.models.record import DATA, load

INPUTS = 7


@cache
def inputs(seed: int, start_ns: int) -> list[tuple[str, Events, int, int]]:
    """Name, events, start and MTU of each kind of input; the same for all algorithms."""
    return [
        ("overload", overload(seed, start_ns=start_ns), start_ns, 1514),
        ("slow", slow_link(seed), 0, 1514),
        ("fast", fast_link(seed), 0, 1514),
        ("episodes", in_and_out(seed), 0, 600),
        ("stopped", stopped(seed), 0, 1514),
        ("gusts", gusts(seed), 0, 1514),
        ("grid", on_grid(seed), 0, 1000),
    ]


def cases(algorithm: str) -> Iterator[Case]:
    """Every input, defaults and settings, drop and mark."""
    how = ALGORITHMS[algorithm]
    for number, rows in enumerate(({}, *how.settings)):
        for ecn in (0, 1):
            seed = 10 * number + ecn
            settings = {"limit": 1000, "ecn": ecn} | dict(rows)
            for name, events, start_ns, mtu in inputs(seed, SECOND * seed):
                label = f"{algorithm}-{number}-{'ecn' if ecn else 'drop'}-{name}"
                seen = looked_at(how, rows, events, start_ns, often=name != "stopped")
                yield Case(label, algorithm, settings, seen, seed, mtu, start_ns)
    yield from changed(algorithm)
    yield from recorded(algorithm)


def changed(algorithm: str) -> Iterator[Case]:
    """Rows change under way."""
    how = ALGORITHMS[algorithm]
    numbered = [{core().row(algorithm, row): v for row, v in c.items()} for c in how.changes]
    for ecn in (0, 1) if numbered else ():
        name = f"{algorithm}-{'ecn' if ecn else 'drop'}-rows"
        rows = {"limit": 1000, "ecn": ecn} | dict(how.changed_beside)
        yield Case(name, algorithm, rows, changing(ecn, numbered), ecn)


def looked_at(
    how: Beside, rows: Rows, events: Events, start_ns: int = 0, *, often: bool = True
) -> Events:
    """The same, with this algorithm's further inputs: answers to its probes. And the statistics
    are read after each tick, where the algorithm has ticks."""
    if how.probes:
        events = answered(events, start_ns)
    # Where nobody looks, overdue ticks are made up for in one call.
    if not (often and (ticks := how.ticks(rows))):
        return events
    period_ns, first_ns = ticks
    return looking(events, period_ns, start_ns + first_ns)


def recorded(algorithm: str) -> Iterator[Case]:
    """TCP's packets into this algorithm's queue, in a closed loop."""
    path = DATA / f"{algorithm}.npz"
    if path.exists():
        events = looked_at(ALGORITHMS[algorithm], {}, load(path))
        yield Case(f"{algorithm}-recorded", algorithm, {"limit": 1000, "ecn": 1}, events)


def at_the_bound(algorithm: str, rows: Rows) -> Case:
    """Rows that each are in range; together they are just possible, or just not."""
    return Case(f"{algorithm}-at-the-bound", algorithm, dict(rows), overload(0, seconds=0.1))


def refused(algorithm: str) -> list[Case]:
    return [at_the_bound(algorithm, rows) for rows in ALGORITHMS[algorithm].refused]


def accepted(algorithm: str) -> list[Case]:
    return [at_the_bound(algorithm, rows) for rows in ALGORITHMS[algorithm].accepted]


def fast_cases(algorithm: str) -> Iterator[Case]:
    """The cases of `make test`, and those that a mutant is tried on: of every setting some, with
    drops and with marks. The others are deep."""
    for number, case in enumerate(cases(algorithm)):
        setting, place = divmod(number, INPUTS)
        often = (place + setting) % 4 == 0 or (place >= INPUTS - 3 and setting % 2)
        if often or case.name.endswith(("-recorded", "-rows")):
            yield case
