# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sweeps side by side: the difference of each later one to the first, seed by seed, in the cells
with the same values of the axes. Of one sweep alone, the difference of each later algorithm to the
first: its seeds share their traffic, and so their pairs tell more than two intervals of means."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import InputError
from sojourn.result.compare import Comparison, by_name, differing, leaves, named
from sojourn.result.compare import compare as compare_results
from sojourn.result.metrics import Metric
from sojourn.result.stats import Estimate, estimate
from sojourn.sweeps.kept import Kept, Row
from sojourn.sweeps.kept import sweeps as read_sweeps

if TYPE_CHECKING:
    from sojourn.sweeps.kept import Given

# The labels of a row besides the axes.
_LABELS = ("aqm", "tested", "host", "queue", "window")
# The same, where algorithms are compared.
_PLACES = _LABELS[2:]


@dataclass(frozen=True)
class Pair:
    """A metric of one place in two sweeps, or with two algorithms of one, over the seeds that both
    have."""

    result: str
    less: str
    labels: Mapping[str, Any]  # axes, of two sweeps the algorithm, host, queue, window
    metric: Metric
    first: Estimate
    other: Estimate
    estimate: Estimate  # of the difference
    pairs: int
    # Of a quantile, the fewest values in a seed of either sweep that has any; otherwise 0.
    fewest: int

    def to_json(self) -> dict[str, Any]:
        """Return one element of `differences` in `sojourn compare --json`."""
        names = ("result", "to_result") if "aqm" in self.labels else ("aqm", "to")
        return {
            **dict(zip(names, (self.result, self.less), strict=True)),
            **self.labels,
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "pairs": self.pairs,
            "difference": self.estimate.mean,
            "ci95": [self.estimate.low, self.estimate.high],
            "shown": self.estimate.is_off_zero,
        }


@dataclass(frozen=True, repr=False)
class SweepComparison:
    """Sweeps side by side."""

    sweeps: Mapping[str, Kept]
    differences: Sequence[Pair]
    # The keys that are not the same in all, with a value for each sweep.
    scenarios: Mapping[str, Sequence[str]]

    def __repr__(self) -> str:
        counts = f"{len(self.differences)} differences, {len(self.scenarios)} unequal keys"
        return f"<SweepComparison: {' and '.join(self.sweeps)}, {counts}>"

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn compare --json`."""
        return {
            "differences": [pair.to_json() for pair in self.differences],
            "scenarios": by_name(self.sweeps, self.scenarios),
        }


def compare(results: Given) -> Comparison | SweepComparison:
    """Set results, or sweeps, side by side: their numbers seed by seed, and what differs in their
    scenarios. Each is a folder or what `sojourn.run` or `sojourn.sweep` returned."""
    sweeps = read_sweeps(results)
    if not sweeps:
        return compare_results(named(results))
    if len(sweeps) < 2:
        (alone,) = sweeps.values()
        return SweepComparison(sweeps, within(alone), {})
    return SweepComparison(sweeps, pairs(sweeps), different(sweeps))


def within(kept: Kept) -> list[Pair]:
    """List the differences of each later algorithm under test to the first. InputError: there is
    one alone."""
    names = dict.fromkeys(str(row["tested"]) for row in kept.cells)
    if len(names) < 2:
        raise InputError(
            f"{kept.place}: has {', '.join(names)} alone; sweep several, or name two sweeps"
        )
    return pairs({name: kept.of_aqms([name]) for name in names}, _PLACES)


def pairs(sweeps: Mapping[str, Kept], labels: tuple[str, ...] = _LABELS) -> list[Pair]:
    """List the differences. InputError: no metric, or no cell, is in the first and in another."""
    (less, first), *others = sweeps.items()
    found = [pair for name, other in others for pair in _pairs(less, first, name, other, labels)]
    if not found:
        raise InputError(
            "these sweeps share no metric at equal values of the same axes and algorithms"
        )
    return found


def _pairs(
    less: str, first: Kept, name: str, other: Kept, labels: tuple[str, ...]
) -> Iterator[Pair]:
    columns = [column for column in first.columns.values() if column in other.columns.values()]
    keys = (*columns, *labels)
    before, after = (_by_place(kept, keys) for kept in (first, other))
    means = [{_place(row, keys): row for row in kept.means} for kept in (first, other)]
    # A quantile at any share is made anew for each sweep that names it.
    known = {metric.name for metric in other.metrics}
    for metric in (metric for metric in first.metrics if metric.name in known):
        for place, seeds in before.items():
            both = [
                (float(row[metric.name]), float(after[place][seed][metric.name]))
                for seed, row in seeds.items()
                if seed in after.get(place, {})
                and row[metric.name] is not None
                and after[place][seed][metric.name] is not None
            ]
            if both:
                a, b = ([pair[n] for pair in both] for n in (0, 1))
                difference = estimate([y - x for x, y in both])
                counts = [rows[place].get(f"{metric.name}_n") for rows in means]
                yield Pair(
                    name,
                    less,
                    dict(zip(keys, place, strict=True)),
                    metric,
                    estimate(a),
                    estimate(b),
                    difference,
                    len(both),
                    min((count for count in counts if count), default=0),
                )


def _place(row: Row, keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[key] for key in keys)


def _by_place(kept: Kept, keys: tuple[str, ...]) -> dict[tuple[Any, ...], dict[int, Row]]:
    """Sort rows by the axes that both sweeps have, and by seed.

    InputError: a further axis has several values, so that a place has several cells.
    """
    found: dict[tuple[Any, ...], dict[int, Row]] = {}
    for row in kept.cells:
        seeds = found.setdefault(_place(row, keys), {})
        if row["seed"] in seeds:
            further = ", ".join(c for c in kept.columns.values() if c not in keys)
            raise InputError(f"{kept.place}: only this sweep has the axis {further}: no pairs")
        seeds[row["seed"]] = row
    return found


def different(sweeps: Mapping[str, Kept]) -> dict[str, list[str]]:
    """List the keys that differ in the scenarios and the sweeps, with the value in each."""
    return differing([dict(_values(kept)) for kept in sweeps.values()])


def _values(kept: Kept) -> Iterator[tuple[str, str]]:
    for text in kept.texts.values():
        data = tomllib.loads(text)
        data.pop("scenario", None)
        yield from leaves(data, "")
    yield "(version)", str(kept.head["core"])
