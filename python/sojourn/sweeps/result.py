# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What came out of a sweep.

    DIR/result.json      format, command, seeds, versions, host, axes
       /sweep.toml       the sweep, beside scenario.toml, the scenario
       /cells.parquet    one row for each cell, algorithm, host, queue, window and seed
       /means.parquet    one row for each cell, algorithm, host, queue and window: means over the
                         seeds, and the half widths of their 95 % intervals
       /own/             C files of yours, as they were run
       /README.md        says all this
       /runs/            the store: finished runs, from which the same command goes on

result.json is written last, with the digests of the others.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.errors import InputError
from sojourn.folder import claim
from sojourn.result import Run, host
from sojourn.stats import Estimate, estimate
from sojourn.store import Entry, digest

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.metrics import Metric
    from sojourn.sweeps.axis import Cell
    from sojourn.sweeps.file import Sweep

FORMAT = 1


@dataclass(frozen=True)
class Reading:
    """What is kept of one run: for each queue and window the metrics."""

    places: tuple[tuple[str, str], ...]
    values: tuple[tuple[float, ...], ...]
    odd: Entry | None = None  # a run of which there is something to be said at the end


@dataclass(frozen=True)
class Row:
    """One run."""

    cell: int  # counted from 1
    aqm: str
    host: str
    seed: int
    reading: Reading
    odd: Run | None = None


@dataclass(frozen=True)
class Mean:
    """All seeds of a cell, algorithm and host, at one queue and window."""

    number: int
    cell: Cell
    aqm: str
    host: str
    queue: str
    window: str
    seeds: int
    values: Mapping[Metric, tuple[float, ...]]

    def estimate(self, metric: Metric) -> Estimate:
        """Mean and interval over the seeds in which it was measured."""
        return estimate([value for value in self.values[metric] if not math.isnan(value)])


@dataclass(frozen=True, repr=False)
class Swept:
    """A sweep that was run."""

    spec: Sweep
    rows: tuple[Row, ...]
    made: int  # runs that were not there before, or not whole
    damaged: int  # of these, that were not whole
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Swept: {self.spec.name}, {len(self.spec.cells)} cells, {len(self.rows)} runs>"

    @property
    def odd(self) -> list[Run]:
        """Runs in which a rule was broken or an option was not set."""
        return [row.odd for row in self.rows if row.odd]

    def means(self) -> list[Mean]:
        """In the order of the cells."""
        found: dict[tuple[int, str, str, str, str], list[tuple[float, ...]]] = {}
        for row in self.rows:
            for place, values in zip(row.reading.places, row.reading.values, strict=True):
                found.setdefault((row.cell, row.aqm, row.host, *place), []).append(values)
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
        """Keys of `sojourn sweep --json`."""
        return {
            "sweep": self.spec.name,
            "axes": self._axes(),
            "metrics": [{"name": m.name, "unit": m.unit} for m in self.spec.metrics],
            "cells": [self._mean_json(mean) for mean in self.means()],
            "runs": {"all": len(self.rows), "made": self.made, "damaged": self.damaged},
        }

    def _axes(self) -> list[dict[str, Any]]:
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
            "aqm": mean.aqm,
            "host": mean.host,
            "queue": mean.queue,
            "window": mean.window,
            "seeds": mean.seeds,
            "metrics": {
                metric.name: {
                    "mean": found[metric.name].mean,
                    "ci95": [found[metric.name].low, found[metric.name].high],
                    "values": list(mean.values[metric]),
                }
                for metric in self.spec.metrics
            },
        }

    def cells_table(self) -> pa.Table:
        """One row for each cell, algorithm, host, queue, window and seed."""
        from sojourn import arrow

        return arrow.table(list(self._cell_rows()))

    def means_table(self) -> pa.Table:
        """One row for each cell, algorithm, host, queue and window."""
        from sojourn import arrow

        return arrow.table(list(self._mean_rows()))

    def _cell_rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            for (queue, window), values in zip(row.reading.places, row.reading.values, strict=True):
                numbers = dict(zip(self.spec.measured, values, strict=True))
                yield {
                    "cell": row.cell,
                    **self.spec.cells[row.cell - 1].columns,
                    "aqm": row.aqm,
                    "host": row.host,
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
                "aqm": mean.aqm,
                "host": mean.host,
                "queue": mean.queue,
                "window": mean.window,
                "seeds": mean.seeds,
            }
            for metric in self.spec.metrics:
                found = mean.estimate(metric)
                row[metric.name] = _finite(found.mean)
                row[f"{metric.name}_ci95"] = _finite(found.half)
            yield row

    def save(self, folder: Path) -> None:
        """Write the folder; until the last file is there, it does not pass for finished."""
        from sojourn.arrow import parquet_bytes

        own = claim(folder)
        contents = {
            "sweep.toml": _beside_scenario(self.spec.text).encode(),
            "scenario.toml": self.spec.scenario.to_toml().encode(),
            "cells.parquet": parquet_bytes(self.cells_table()),
            "means.parquet": parquet_bytes(self.means_table()),
            "README.md": _README.format(
                own=_OF_OWN if self.sources else "", core=_native.core_version()
            ).encode(),
        }
        for library, texts in self.sources.items():
            contents |= {f"own/{library}/{path}": text.encode() for path, text in texts.items()}
        for name, content in contents.items():
            own.write(name, content)
        head = {
            "format": FORMAT,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "core": _native.core_version(),
            "host": host(),
            "command": _COMMAND,
            "sweep": self.spec.name,
            "axes": self._axes(),
            "seeds": max(row.seed for row in self.rows),
            "hosts": list(self.spec.hosts),
            "asked": _asked(self.spec),
            "files": {name: digest(content) for name, content in contents.items()},
        }
        own.write("result.json", json.dumps(head, indent=1).encode())


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _asked(spec: Sweep) -> list[str]:
    """Every cell with every algorithm and host, as short digests."""
    variants = [str(variant) for variant in spec.variants] or [""]
    scenario = digest(spec.scenario.to_toml().encode())
    return [
        digest(json.dumps([scenario, cell.changes, aqm, host], sort_keys=True).encode())[:16]
        for cell in spec.cells
        for aqm in variants
        for host in spec.hosts
    ]


def check_folder(folder: Path, spec: Sweep) -> None:
    """InputError where this sweep would replace what has more, or is no sweep's."""
    claim(folder)
    other = f"name another folder: --out {folder}-2"
    if (folder / "reproduction.json").exists():
        raise InputError(f"{folder}: holds what another command made; {other}")
    try:
        head = json.loads((folder / "result.json").read_bytes())
    except (OSError, ValueError):
        return
    if "sweep" not in head:
        raise InputError(f"{folder}: holds what another command made; {other}")
    most = spec.seeds if isinstance(spec.seeds, int) else spec.seeds.at_most
    if set(head["asked"]) - set(_asked(spec)) or head["seeds"] > most:
        raise InputError(
            f"{folder}: holds a sweep that has cells, algorithms, hosts or seeds that this one has "
            f"not; ask for those too, or {other}"
        )


def _beside_scenario(text: str) -> str:
    """The file, with the scenario beside it."""
    import tomlkit

    document = tomlkit.parse(text)
    if isinstance(document["scenario"], str):
        document["scenario"] = "scenario.toml"
    return tomlkit.dumps(document)


_COMMAND = "sojourn sweep sweep.toml"
_README = """\
# A sweep of Sojourn

In this folder, this command repeats it:

    sojourn sweep sweep.toml

* `sweep.toml`, `scenario.toml`: what was asked for
* `cells.parquet`: one row for each cell, algorithm, host, queue, window and seed; the values of
  the axes are columns
* `means.parquet`: the same, means over the seeds; `_ci95` is half the width of the 95 % interval
* `result.json`: version, command, host, axes
{own}* `runs/`: each finished run with its scenario in full; the same command goes on here

    import pandas;  pandas.read_parquet("cells.parquet")
    import polars;  polars.read_parquet("means.parquet")

Made by Sojourn {core}.
"""
_OF_OWN = """\
* `own/`: C files of yours, as they were run, each under its name and the digest of its content
"""
