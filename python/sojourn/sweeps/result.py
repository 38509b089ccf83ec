# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The result of a sweep: rows, means over the seeds, tables and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sojourn.result.result import Run
from sojourn.result.stats import Estimate, estimate
from sojourn.store.store import Entry

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.result.metrics import Metric
    from sojourn.sweeps.axis import Cell
    from sojourn.sweeps.file import Sweep


@dataclass(frozen=True)
class Reading:
    """The metrics of one run for each queue and window; nothing else of the run is kept."""

    places: tuple[tuple[str, str], ...]
    values: tuple[tuple[float, ...], ...]
    odd: Entry | None = None  # a run with deviations, which are reported at the end


@dataclass(frozen=True)
class Row:
    """One run."""

    cell: int  # counted from 1
    aqm: str  # in the queues under test
    host: str
    seed: int
    reading: Reading
    odd: Run | None = None
    queues: Mapping[str, str] = field(default_factory=dict)  # as those of `Run`


@dataclass(frozen=True)
class Mean:
    """All seeds of a cell, algorithm and host, at one queue and window."""

    number: int
    cell: Cell
    aqm: str  # in the queues under test
    host: str
    queue: str
    window: str
    own: str  # the queue's algorithm
    seeds: int
    values: Mapping[Metric, tuple[float, ...]]

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of its row, besides the cell."""
        of_run = {"aqm": self.own, "host": self.host, "tested": self.aqm}
        return {**of_run, "queue": self.queue, "window": self.window}

    def measured(self, metric: Metric) -> list[float]:
        """List the values by seed, without seeds in which it is null."""
        return [value for value in self.values[metric] if not math.isnan(value)]

    def estimate(self, metric: Metric) -> Estimate:
        """Estimate mean and interval over the seeds in which it was measured."""
        return estimate(self.measured(metric))


@dataclass(frozen=True, repr=False)
class Swept:
    """A finished sweep."""

    spec: Sweep
    rows: tuple[Row, ...]
    made: int  # runs that were not there before, or not whole
    damaged: int  # of these, that were not whole
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Swept: {self.spec.name}, {len(self.spec.cells)} cells, {len(self.rows)} runs>"

    @property
    def odd(self) -> list[Run]:
        """List the runs in which a rule was broken or an option was not set."""
        return [row.odd for row in self.rows if row.odd]

    def means(self) -> list[Mean]:
        """Join the rows that differ only in the seed, in the order of the cells."""
        found: dict[tuple[int, str, str, str, str, str], list[tuple[float, ...]]] = {}
        for row in self.rows:
            for place, values in zip(row.reading.places, row.reading.values, strict=True):
                own = row.queues.get(place[0], row.aqm)
                found.setdefault((row.cell, row.aqm, row.host, *place, own), []).append(values)
        return [
            Mean(
                key[0],
                self.spec.cells[key[0] - 1],
                *key[1:],
                len(of_seeds),
                dict(zip(self.spec.measured, zip(*of_seeds, strict=True), strict=True)),
            )
            for key, of_seeds in found.items()
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn sweep --json`."""
        return {
            "sweep": self.spec.name,
            "axes": self.axes(),
            "metrics": [{"name": m.name, "unit": m.unit} for m in self.spec.metrics],
            "cells": [self._mean_json(mean) for mean in self.means()],
            "runs": {"all": len(self.rows), "made": self.made, "damaged": self.damaged},
        }

    def axes(self) -> list[dict[str, Any]]:
        """List name, keys and columns of each axis."""
        points = self.spec.cells[0].points.items()
        return [
            {"name": name, "keys": list(point.changes), "columns": list(point.columns)}
            for name, point in points
        ]

    def _mean_json(self, mean: Mean) -> dict[str, Any]:
        found = {metric.name: mean.estimate(metric) for metric in self.spec.metrics}
        return {
            "cell": mean.number,
            **mean.cell.columns,
            **mean.labels,
            "seeds": mean.seeds,
            "metrics": {
                metric.name: {
                    "mean": found[metric.name].mean,
                    "ci95": [*metric.interval(found[metric.name])],
                    "values": list(mean.values[metric]),
                }
                for metric in self.spec.metrics
            },
        }

    def cells_table(self) -> pa.Table:
        """Tabulate one row for each cell, algorithm, host, queue, window and seed."""
        from sojourn.store import arrow

        return arrow.table(list(self._cell_rows()))

    def means_table(self) -> pa.Table:
        """Tabulate one row for each cell, algorithm, host, queue and window."""
        from sojourn.store import arrow

        return arrow.table(list(self._mean_rows()))

    def _cell_rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            for (queue, window), values in zip(row.reading.places, row.reading.values, strict=True):
                numbers = dict(zip(self.spec.measured, values, strict=True))
                yield {
                    "cell": row.cell,
                    **self.spec.cells[row.cell - 1].columns,
                    "aqm": row.queues.get(queue, row.aqm),
                    "host": row.host,
                    "tested": row.aqm,
                    "queue": queue,
                    "window": window,
                    "seed": row.seed,
                    **{metric.name: _finite(numbers[metric]) for metric in self.spec.metrics},
                }

    def _mean_rows(self) -> Iterator[dict[str, Any]]:
        for mean in self.means():
            row: dict[str, Any] = {
                "cell": mean.number,
                **mean.cell.columns,
                **mean.labels,
                "seeds": mean.seeds,
            }
            for metric in self.spec.metrics:
                found = mean.estimate(metric)
                row[metric.name] = _finite(found.mean)
                row[f"{metric.name}_ci95"] = _finite(found.half)
                row[f"{metric.name}_seeds"] = len(mean.measured(metric))
            yield row


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
