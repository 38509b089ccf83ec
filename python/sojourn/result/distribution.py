# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Distributions of the delays of packets, or of the times of transfers.

Their cells are those of the engine's histogram (crates/sim/src/measure/record/histogram.rs).
Quantiles are therefore those of its report, and distributions of several runs can be added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sojourn.result.samples import fitting

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.result.result import Run

# 1,024 cells to an octave: a quantile is off by at most half a cell, 0.05 %.
_LOG2 = 10
_CELLS = 1 << _LOG2
# A curve with smaller steps would show no more of the distribution, or of its tail.
_STEP = 1 / 250
_STEP_OF_TAIL = 0.02
_LABELS = ("quantity", "of", "window")


def cells_of(ns: Any) -> Any:
    """Find the cell of each delay: exact below 2,048 ns, then by exponent and the bits
    behind it."""
    ns = np.asarray(ns, np.int64)
    shift = np.maximum(np.frexp(ns.astype(float))[1] - 1 - _LOG2, 0).astype(np.int64)
    return (shift << _LOG2) + (ns >> shift)


def middles_of(cells: Any) -> Any:
    """Return the delay in ns that stands for each cell: the middle of the cell."""
    shift = np.maximum((cells >> _LOG2) - 1, 0)
    start = np.where(cells < 2 * _CELLS, cells, (_CELLS + (cells & (_CELLS - 1))) << shift)
    return start + np.where(cells < 2 * _CELLS, 0.0, (1 << shift) / 2)


@dataclass(frozen=True)
class Distribution:
    """The number of packets in each cell."""

    cells: Any
    counts: Any

    @classmethod
    def empty(cls) -> Self:
        """Make a distribution without packets."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64))

    def __add__(self, other: Self) -> Self:
        """Add the counts of both."""
        cells = np.union1d(self.cells, other.cells)
        counts = np.zeros(len(cells), np.int64)
        for part in (self, other):
            counts[np.searchsorted(cells, part.cells)] += part.counts
        return type(self)(cells, counts)

    @property
    def count(self) -> int:
        """Count the packets or transfers."""
        return int(self.counts.sum())

    def quantile_ms(self, share: float) -> float:
        """Find the least value with at least this share at or below it; NaN of an empty
        distribution."""
        if not self.count:
            return float("nan")
        rank = max(int(np.ceil(share * self.count)), 1)
        cell = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(middles_of(self.cells)[cell]) / 1e6

    def mean_ms(self) -> float:
        """Calculate the mean of the cells' middles; NaN of an empty distribution."""
        if not self.count:
            return float("nan")
        return float(np.average(middles_of(self.cells), weights=self.counts)) / 1e6

    def share_above(self, ns: float) -> float:
        """Return the share of what is in cells whose middles are above; NaN of an empty
        distribution."""
        if not self.count:
            return float("nan")
        return float(self.counts[middles_of(self.cells) > ns].sum() / self.count)

    def curve(self) -> tuple[Any, Any]:
        """Return delays in ms, and the share of packets at or below each.

        Points closer than a plot can show are left out.
        """
        shares = np.cumsum(self.counts) / max(self.count, 1)
        delays = middles_of(self.cells) / 1e6
        with np.errstate(divide="ignore"):
            tail = -np.log10(np.maximum(1 - shares, 1e-12))
        # The first value of each step of the share or of the tail.
        steps = np.floor(shares / _STEP), np.floor(tail / _STEP_OF_TAIL)
        moved = [np.concatenate(([True], np.diff(step) > 0)) for step in steps]
        kept = moved[0] | moved[1] if len(shares) else np.empty(0, bool)
        kept[-1:] = True
        return delays[kept], shares[kept]


def of_groups(run: Run, quantity: str, place: str, window: str) -> Distribution:
    """Add the times of all groups whose names fit a place, in a window; none without tables."""
    table = run.entry.distributions()
    if table is None:
        return Distribution.empty()
    parts = _split(table)
    names = dict.fromkeys(name for _, name, _ in parts)
    every = (_in_table(table, quantity, name, window) for name in fitting(names, place))
    return sum(every, Distribution.empty())


def measured(runs: Iterable[Run], quantity: str, name: str, window: str) -> Distribution | None:
    """Add the distributions of a queue or a group in a window over all runs.

    Return None if a run has no distributions.
    """
    total = Distribution.empty()
    for run in runs:
        table = run.entry.distributions()
        if table is None:
            return None
        total += _in_table(table, quantity, name, window)
    return total


def _in_table(table: pa.Table, quantity: str, name: str, window: str) -> Distribution:
    mine = _split(table).get((quantity, name, window), slice(0))
    cells = cells_of(table["from_ns"].to_numpy()[mine])
    return Distribution(cells, table["count"].to_numpy()[mine].astype(np.int64))


# The table that was split last: all metrics of a run ask of one table.
_last: list[tuple[pa.Table, Mapping[tuple[str, str, str], Any]]] = []


def _split(table: pa.Table) -> Mapping[tuple[str, str, str], Any]:
    """Find the rows of each quantity, name and window."""
    for split, parts in _last[:1]:
        if split is table:
            return parts
    if not len(table):
        return {}
    encoded = [table[name].combine_chunks().dictionary_encode() for name in _LABELS]
    sizes = [len(column.dictionary) for column in encoded]
    code = np.ravel_multi_index([column.indices.to_numpy() for column in encoded], sizes)
    order = np.argsort(code, kind="stable")
    distinct, starts = np.unique(code[order], return_index=True)
    words = [column.dictionary.to_pylist() for column in encoded]
    names = zip(*np.unravel_index(distinct, sizes), strict=True)
    by_name = zip(names, np.split(order, starts[1:]), strict=True)
    found = {(words[0][a], words[1][b], words[2][c]): rows for (a, b, c), rows in by_name}
    _last[:] = [(table, found)]
    return found
