# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A problem of a scenario: its place and its reason. Networks of all kinds share these checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sojourn.scenario.links import FRAME

if TYPE_CHECKING:
    from sojourn.scenario.links import Link
    from sojourn.scenario.networks import Dumbbell

Path = tuple[str | int, ...]
Problem = tuple[Path, str]


def unique(names: Sequence[str], where: Path, key: Path = ()) -> Iterator[Problem]:
    """Yield a problem for each name that is there twice."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield (*where, index, *key), f"'{name}' is there twice"
        seen.add(name)


def of_trace(link: Link | Dumbbell, where: Path) -> Iterator[Problem]:
    """Yield the keys that do not go with a trace. The engine has moments and their mean rate, and
    no trace."""
    if link.trace is None:
        if "opportunity" in link.model_fields_set:
            yield (*where, "opportunity"), "goes with a trace: leave this out"
        return
    given = {("rate",): link.rate, ("schedule",): link.schedule, ("sim", "ring"): link.sim.ring}
    for path, value in given.items():
        if value:
            yield (*where, *path), "a trace says when packets leave: leave this out"
    for key in FRAME.keys() & link.model_fields_set:
        reason = "a trace counts the packets as mahimahi does"
        yield (*where, key), f"{reason}: leave this out"
    if link.shaper != "wire":
        yield (*where, "shaper"), "a trace says when packets leave: only 'wire' goes with it"
