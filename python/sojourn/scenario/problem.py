# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A problem of a scenario: where, and why; and checks that networks of all kinds share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from sojourn.scenario.links import ETHERNET

if TYPE_CHECKING:
    from sojourn.scenario.links import Link
    from sojourn.scenario.model import Dumbbell

Path = tuple[str | int, ...]
Problem = tuple[Path, str]


def unique(names: Sequence[str], where: Path, key: Path = ()) -> Iterator[Problem]:
    """Each name once."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield (*where, index, *key), f"'{name}' is there twice"
        seen.add(name)


def shaping(link: Link | Dumbbell, where: Path) -> Iterator[Problem]:
    """How a link keeps its rate."""
    if link.trace is not None:
        for key in ("rate", "schedule", "ring"):
            if getattr(link, key):
                yield (*where, key), "a trace says when packets leave: leave this out"
        if link.header != ETHERNET:
            reason = "of a trace each packet takes one opportunity, however long it is"
            yield (*where, "header"), f"{reason}: leave this out"
        if link.shaper != "wire":
            yield (*where, "shaper"), "a trace says when packets leave: only 'wire' goes with it"
        return
    if link.rate is None and link.schedule:
        yield (*where, "schedule"), "a schedule of rates needs a rate to begin with"
    if link.rate is None and link.shaper != "wire":
        yield (*where, "shaper"), f"'{link.shaper}' needs a rate"
    for index, (earlier, later) in enumerate(pairwise(link.schedule), start=1):
        if later.at <= earlier.at:
            yield (
                (*where, "schedule", index, "at"),
                f"'{later.at}' is not later than the step before it, at '{earlier.at}'",
            )
