# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims tried on the paper's own numbers.

A reading of a claim that print fails is no reading. So each is tried on the printed numbers first,
in those of its cells that have them, with its quorum over these. Two equal numbers are neither less
nor greater. A number of the text belongs to its range: what is printed as 75 is within 75.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import correlation

from sojourn.core.errors import InputError
from sojourn.papers.claim import Claim, Pair, Print
from sojourn.result.metrics import METRICS

# -1.5 is 98.5 less 100.0, and 98.4 less 99.9 too, though not in binary.
_ROUNDING = 1e-9
# The most cells that a sentence names.
_NAMED = 4


@dataclass(frozen=True)
class Trial:
    """A claim on printed numbers: the cells in which it holds, and those in which it does not."""

    claim: Claim
    held: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def fails(self) -> bool:
        """Tell whether the reading does not hold in print."""
        return not self.claim.meets(len(self.held), len(self.held) + len(self.failed))

    def text(self) -> str:
        """Name the cells that fail, with their printed numbers."""
        return named(self.failed)


def named(texts: Sequence[str]) -> str:
    """Join the first of many texts, and say how many more there are."""
    more = [f"and {len(texts) - _NAMED} more"] if len(texts) > _NAMED else []
    return "; ".join([*texts[:_NAMED], *more])


def tried(
    claim: Claim, published: Print, left_out: Collection[tuple[Pair, str]] = ()
) -> Trial | None:
    """Try a claim in each cell that has printed numbers; None where none has. An order says nothing
    of two equal numbers. A number that the sentence itself has cannot contradict it."""
    if claim.spread:  # no paper prints its runs
        return None
    held: list[str] = []
    failed: list[str] = []
    if claim.together:
        (metric,) = claim.metrics
        both = [
            (published[own], published[beside])
            for pair in claim.pairs
            for own, beside in zip(pair.cells(metric), pair.cells(claim.together), strict=True)
            if own in published and beside in published
        ]
        if len(both) < 2:
            return None
        size = rank_correlation(*zip(*both, strict=True))
        text = f"rank correlation over {len(both)} cells: {size:.2g}"
        (held if _holds(claim, claim.pairs[0], [size]) else failed).append(text)
        return Trial(claim, tuple(held), tuple(failed))
    for pair, metric in claim.checks:
        cells = pair.cells(metric)
        numbers = [published[cell] for cell in cells if cell in published]
        is_tie = claim.is_order and len(set(numbers)) == 1
        is_its_own = claim.contradicts and pair.right is None and _is_bound(pair, numbers)
        if len(numbers) < len(cells) or is_tie or is_its_own or (pair, metric) in left_out:
            continue
        text = f"{pair.text()}, {METRICS[metric].label}: {' and '.join(f'{n:g}' for n in numbers)}"
        (held if _holds(claim, pair, numbers) else failed).append(text)
    return Trial(claim, tuple(held), tuple(failed)) if held or failed else None


def rank_correlation(numbers: Sequence[float], beside: Sequence[float]) -> float:
    """Correlate the ranks of two lists of numbers; NaN where all of one are equal."""
    ranks = [
        [sum(b < a for b in of) + sum(b == a for b in of) / 2 for a in of]
        for of in (numbers, beside)
    ]
    if any(len(set(of)) == 1 for of in ranks):
        return math.nan
    return correlation(*ranks)


def failing(claims: Iterable[Claim], published: Print) -> list[Trial]:
    """List the readings that print fails. One that is said to contradict print is meant to."""
    trials = [tried(claim, published) for claim in claims if not claim.contradicts]
    return [trial for trial in trials if trial and trial.fails]


def check(claims: Iterable[Claim], published: Print) -> None:
    """Raise InputError for a claim that print is said to contradict, and does not."""
    for claim in claims:
        trial = tried(claim, published) if claim.contradicts else None
        if trial and not trial.fails:
            raise InputError(
                f"claim {claim.id}: contradicts: the reading holds on the printed numbers "
                f"({'; '.join(trial.held[:_NAMED])}); leave `contradicts` out, or read the "
                "sentence otherwise"
            )


def _is_bound(pair: Pair, numbers: list[float]) -> bool:
    bounds = pair.value if isinstance(pair.value, tuple) else (pair.value,)
    return bool(numbers) and numbers[0] in bounds


def _holds(claim: Claim, pair: Pair, numbers: list[float]) -> bool:
    left = numbers[0]
    if pair.right is None:
        if isinstance(pair.value, tuple):
            return pair.value[0] <= left <= pair.value[1]
        bound = float(pair.value or 0.0)
        return left <= bound if claim.relation == "less" else left >= bound
    right = numbers[1]
    if isinstance(claim.factor, tuple):
        least, most = claim.factor
        return least * right <= left <= most * right
    bound = right + claim.margin if claim.margin is not None else claim.factor * right
    if math.isclose(left, bound, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        return False
    return left < bound if claim.relation == "less" else left > bound
