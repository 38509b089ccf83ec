# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How long packets were in a queue, from the packets that a run kept: a histogram with the cells of
the engine's (crates/sim/src/record/histogram.rs), so quantiles are those of its report, and runs
add up without their packets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from sojourn.result import Run

# 1,024 cells to an octave: a quantile is off by at most half a cell, 0.05 %.
_LOG2 = 10
_CELLS = 1 << _LOG2
# A line through more points than this would show no more of the distribution, or of its tail.
_STEP = 1 / 250
_STEP_OF_TAIL = 0.02


def cells_of(ns: Any) -> Any:
    """The cell of each delay: exact below 2,048 ns, then by exponent and the bits behind it."""
    ns = np.asarray(ns, np.int64)
    shift = np.maximum(np.frexp(ns.astype(float))[1] - 1 - _LOG2, 0).astype(np.int64)
    return (shift << _LOG2) + (ns >> shift)


def middles_of(cells: Any) -> Any:
    """The delay in ns that stands for a cell."""
    shift = np.maximum((cells >> _LOG2) - 1, 0)
    start = np.where(cells < 2 * _CELLS, cells, (_CELLS + (cells & (_CELLS - 1))) << shift)
    return start + np.where(cells < 2 * _CELLS, 0.0, (1 << shift) / 2)


@dataclass(frozen=True)
class Distribution:
    """How many packets were in each cell."""

    cells: Any
    counts: Any

    @classmethod
    def of(cls, ns: Any) -> Self:
        """Of delays in ns."""
        return cls(*np.unique(cells_of(ns), return_counts=True))

    def __add__(self, other: Self) -> Self:
        """Both together."""
        cells = np.union1d(self.cells, other.cells)
        counts = np.zeros(len(cells), np.int64)
        for one in (self, other):
            counts[np.searchsorted(cells, one.cells)] += one.counts
        return type(self)(cells, counts)

    @property
    def count(self) -> int:
        """Packets."""
        return int(self.counts.sum())

    def quantile_ms(self, share: float) -> float:
        """The least value with at least this share at or below it; NaN of nothing."""
        if not self.count:
            return float("nan")
        rank = max(int(np.ceil(share * self.count)), 1)
        cell = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(middles_of(self.cells)[cell]) / 1e6

    def curve(self) -> tuple[Any, Any]:
        """Delays in ms, and the share of packets at or below each; as many as can be seen."""
        shares = np.cumsum(self.counts) / max(self.count, 1)
        delays = middles_of(self.cells) / 1e6
        with np.errstate(divide="ignore"):
            tail = -np.log10(np.maximum(1 - shares, 1e-12))
        # The first value of each step of the one or the other.
        steps = np.floor(shares / _STEP), np.floor(tail / _STEP_OF_TAIL)
        moved = [np.concatenate(([True], np.diff(step) > 0)) for step in steps]
        kept = moved[0] | moved[1] if len(shares) else np.empty(0, bool)
        kept[-1:] = True
        return delays[kept], shares[kept]


def in_queue(runs: Iterable[Run], queue: str, span_ns: tuple[int, int]) -> Distribution | None:
    """Of the packets that left a queue within [from, to), of all runs; None if a run kept none."""
    found = Distribution(np.empty(0, np.int64), np.empty(0, np.int64))
    for run in runs:
        of_run = _of_run(run, queue, span_ns)
        if of_run is None:
            return None
        found += of_run
    return found


def _of_run(run: Run, queue: str, span_ns: tuple[int, int]) -> Distribution | None:
    import pyarrow.compute as pc

    pieces = run.entry.event_batches(("queue", "at_ns", "enq_ns", "why"))
    if pieces is None:
        return None
    parts = []
    for piece in pieces:
        mine = pc.equal(piece["queue"], queue).to_numpy(zero_copy_only=False)
        at = piece["at_ns"].to_numpy()
        mine &= (at >= span_ns[0]) & (at < span_ns[1]) & (piece["why"].to_numpy() == 0)
        parts.append(Distribution.of(at[mine] - piece["enq_ns"].to_numpy()[mine]))
    return reduce(Distribution.__add__, parts, Distribution.of(np.empty(0, np.int64)))
