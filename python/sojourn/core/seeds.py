# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The seeds of a command: 1 to N, or from one number to another, as in 11..20."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.core.errors import InputError
from sojourn.core.units import UnitError, count

# N, for seeds 1 to N, "FIRST..LAST", or the seeds themselves, without gaps.
Seeds = int | str | range | Sequence[int]

# More is taken for a typing error: all runs of a command are listed before the first one.
MAX_SEEDS = 1_000_000
_BETWEEN = ".."


def read(seeds: Seeds) -> range:
    """Read a number N, for seeds 1 to N, the first and the last seed, or a list without gaps.
    InputError: it is none of these, or not allowed."""
    if isinstance(seeds, list | tuple) and seeds and all(isinstance(seed, int) for seed in seeds):
        every = range(min(seeds), max(seeds) + 1)
        if len({*seeds}) < len(seeds):
            raise InputError(f"seeds {list(seeds)}: one of them is there twice")
        if sorted(seeds) != list(every):
            between = f"{every.start}{_BETWEEN}{every[-1]}"
            raise InputError(f"seeds {list(seeds)}: they have gaps; '{between}' has all of them")
        found = every
    elif isinstance(seeds, range):
        found = seeds
    else:
        text = str(seeds)
        first, between, last = text.partition(_BETWEEN)
        try:
            start, end = (count(first), count(last)) if between else (1, count(text))
        except UnitError:
            start, end = 1, 0
        found = range(start, end + 1)
    if not found or found.step != 1 or found.start < 1 or found.stop > MAX_SEEDS + 1:
        raise InputError(
            f"seeds {seeds}: a number N is wanted, for seeds 1 to N, or two, as in 11..20; "
            f"allowed: 1 to {MAX_SEEDS}"
        )
    return found


def write(seeds: range) -> int | str:
    """Write seeds as files and command lines have them."""
    last = seeds.stop - 1
    return last if seeds.start == 1 else f"{seeds.start}{_BETWEEN}{last}"
