# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The result of a sweep: rows, means over the seeds, tables, JSON and its folder.

    DIR/result.json      format, command, seeds, versions, host, axes
       /sweep.toml       the sweep, beside scenario.toml, the scenario
       /cells.parquet    one row for each cell, algorithm, host, queue, window and seed
       /means.parquet    one row for each cell, algorithm, host, queue and window: means over the
                         seeds, and the half widths of their 95 % intervals
       /groups.parquet   one row for each cell, algorithm, host, seed, window and name of flows
       /flows.parquet    one row for each cell, algorithm, host, seed, flow and window
       /own/             C files, traces and vectors of yours, as they were run
       /README.md        a description of the folder
       /runs/            the store: finished runs, from which the same command continues

result.json is written last, with the digests of the others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING, Any

from sojourn.core import seeds as of_seeds
from sojourn.core.errors import InputError, StoreError
from sojourn.core.hosts import made_by
from sojourn.result import columns
from sojourn.result.inputs import Inputs, unversioned
from sojourn.result.result import Run, version_text
from sojourn.result.stats import Estimate, estimate
from sojourn.scenario.model import write_toml
from sojourn.store.folder import claim, examine
from sojourn.store.store import Content, Entry, Store, digest, partial_name, read_json, write_errors
from sojourn.sweeps.file import rename_files
from sojourn.user_aqm import library

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.result.metrics import Metric
    from sojourn.sweeps.axes import Cell
    from sojourn.sweeps.file import Sweep


# Reports of so many runs are in memory at once.
_TOGETHER = 100


@dataclass(frozen=True)
class Reading:
    """The metrics of one run for each queue and window; nothing else of the run is kept."""

    places: tuple[tuple[str, str], ...]
    values: tuple[tuple[float, ...], ...]
    fingerprint: str
    odd: Entry | None = None  # a run with deviations, which are reported at the end


@dataclass(frozen=True)
class Row:
    """One run."""

    cell: int  # counted from 1
    aqm: str  # in the queues under test
    host: str
    seed: int
    reading: Reading
    key: str  # of its entry in the store
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
        labels = {"aqm": self.own, "host": self.host, "tested": self.aqm}
        return {**labels, "queue": self.queue, "window": self.window}

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns of its row, before the metrics."""
        return {"cell": self.number, **self.cell.columns, **self.labels, "seeds": self.seeds}

    def measured(self, metric: Metric) -> list[float]:
        """List the values by seed, without seeds in which it is null."""
        return [value for value in self.values[metric] if not math.isnan(value)]

    def deviation(self, metric: Metric) -> float | None:
        """Calculate the standard deviation over these seeds; None of fewer than two."""
        values = self.measured(metric)
        return stdev(values) if len(values) > 1 else None

    def fewest(self, count: Metric) -> int | None:
        """Return the fewest values of a seed behind a quantile; None where no seed has any."""
        return min((int(value) for value in self.values[count] if value), default=None)

    def estimate(self, metric: Metric) -> Estimate:
        """Estimate mean and interval over the seeds in which it was measured."""
        return estimate(self.measured(metric))


@dataclass(frozen=True, repr=False)
class Swept:
    """A finished sweep."""

    spec: Sweep
    rows: tuple[Row, ...]
    made: int  # runs that were not there before, or not whole
    store: Store
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # The user's files of which the folder had the rows of an earlier version.
    changed: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Swept: {self.spec.name}, {len(self.spec.cells)} cells, {len(self.rows)} runs>"

    @property
    def damaged(self) -> int:
        """Count the runs that were there and not whole; they were made again."""
        return self.store.damaged

    @property
    def odd(self) -> list[Run]:
        """List the runs in which a rule was broken or an option was not set."""
        return [row.odd for row in self.rows if row.odd]

    def means(self) -> list[Mean]:
        """Join the rows that differ only in the seed, in the order of the cells."""
        groups: dict[tuple[int, str, str, str, str, str], list[tuple[float, ...]]] = {}
        for row in self.rows:
            for place, values in zip(row.reading.places, row.reading.values, strict=True):
                own = row.queues.get(place[0], row.aqm)
                groups.setdefault((row.cell, row.aqm, row.host, *place, own), []).append(values)
        return [
            Mean(
                key[0],
                self.spec.cells[key[0] - 1],
                *key[1:],
                len(seeds),
                dict(zip(self.spec.measured, zip(*seeds, strict=True), strict=True)),
            )
            for key, seeds in groups.items()
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
        metrics = {
            metric.name: {
                "mean": estimate.mean,
                "ci95": [*metric.interval(estimate)],
                "values": list(mean.values[metric]),
            }
            for metric in self.spec.metrics
            for estimate in [mean.estimate(metric)]
        }
        return {**mean.columns, "metrics": metrics}

    def cells_table(self) -> pa.Table:
        """Tabulate one row for each cell, algorithm, host, queue, window and seed."""
        from sojourn.store import arrow

        return arrow.long_table(self._cell_rows())

    def _cell_rows(self) -> Iterator[dict[str, Any]]:
        for row in self.rows:
            for (queue, window), values in zip(row.reading.places, row.reading.values, strict=True):
                numbers = dict(zip(self.spec.measured, values, strict=True))
                labels: dict[str, Any] = {
                    "cell": row.cell,
                    **self.spec.cells[row.cell - 1].columns,
                    "aqm": row.queues.get(queue, row.aqm),
                    "host": row.host,
                    "tested": row.aqm,
                    "queue": queue,
                    "window": window,
                    "seed": row.seed,
                    "fingerprint": row.reading.fingerprint,
                }
                yield labels | {m.name: _finite(numbers[m]) for m in self.spec.metrics}

    def groups(self) -> Iterator[pa.Table]:
        """Yield the numbers of groups of flows piece by piece: one row for each run, window and
        name of flows."""
        return self._of_runs(columns.group_rows, columns.GROUPS)

    def flows(self) -> Iterator[pa.Table]:
        """Yield those of flows likewise: one row for each run, flow and window."""
        return self._of_runs(columns.flow_rows, columns.FLOWS)

    def _of_runs(
        self,
        rows_of: Callable[[Iterable[Run]], Iterator[dict[str, Any]]],
        of_table: Sequence[columns.Column],
    ) -> Iterator[pa.Table]:
        """Yield pieces of a table with all of its columns, whatever traffic a cell has. An axis
        that is called like one of them takes its place.

        The reports are read once more: those of all runs may exceed the memory.
        """
        from sojourn.store import arrow

        names = ["cell", *self.spec.cells[0].columns, *(column.name for column in of_table)]
        for start in range(0, len(self.rows), _TOGETHER):
            yield arrow.table(
                [
                    {**dict.fromkeys(names), **row, "cell": of_run.cell, **cell.columns}
                    for of_run in self.rows[start : start + _TOGETHER]
                    for cell in [self.spec.cells[of_run.cell - 1]]
                    for row in rows_of([self._run(of_run)])
                ]
            )

    def _run(self, row: Row) -> Run:
        entry = self.store.load(row.key)
        if entry is None:
            raise StoreError(f"{self.store.folder(row.key)}: was there, and is gone")
        labels: dict[str, str | int] = {"aqm": row.aqm, "seed": row.seed, "host": row.host}
        return Run(labels, entry.report, entry, row.queues)

    def means_table(self) -> pa.Table:
        """Tabulate one row for each cell, algorithm, host, queue and window."""
        from sojourn.store import arrow

        return arrow.long_table(self._mean_rows())

    def _mean_rows(self) -> Iterator[dict[str, Any]]:
        for mean in self.means():
            row = mean.columns
            for metric in self.spec.metrics:
                estimate = mean.estimate(metric)
                row[metric.name] = _finite(estimate.mean)
                row[f"{metric.name}_ci95"] = _finite(estimate.half)
                row[f"{metric.name}_sd"] = mean.deviation(metric)
                row[f"{metric.name}_seeds"] = len(mean.measured(metric))
                if count := self.spec.counts.get(metric):
                    row[count.name] = mean.fewest(count)
            yield row


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


FORMAT = 1


def save(swept: Swept, folder: Path) -> tuple[str, ...]:
    """Write the folder; it counts as finished only with its last file. Return the user's files of
    which it had the rows of an earlier version.

    InputError: another command has meanwhile put more into it.
    """
    from sojourn.store import arrow

    inputs = _inputs(swept.spec)
    made = made_by()
    contents: dict[str, Content] = {
        **{name: text.encode() for name, text in texts(swept.spec, inputs).items()},
        "cells.parquet": arrow.parquet_bytes(swept.cells_table()),
        "means.parquet": arrow.parquet_bytes(swept.means_table()),
    }
    has_own = bool(swept.sources or inputs.files)
    contents["README.md"] = _README.format(
        own=_OF_OWN if has_own else "", core=version_text(made)
    ).encode()
    with claim(folder).held() as own:
        before = _check(own.path, swept.spec)
        for name, pieces in (("groups.parquet", swept.groups()), ("flows.parquet", swept.flows())):
            beside = partial_name(folder / name)
            with write_errors(folder / name, is_result=True):
                if arrow.write_all(beside, arrow.alike(pieces)):
                    contents[name] = beside
        head = {
            **head_of(swept, made),
            "hosts": list(swept.spec.hosts),
            "asked": _asked(swept.spec),
            "files": own.write_all(contents | inputs.files, swept.sources),
        }
        own.write("result.json", json.dumps(head, indent=1).encode())
    return _replaced(before, head)


_OWN = re.compile(r"own/([^/]+)@[0-9a-f]+")


def _replaced(before: Mapping[str, Any], head: Mapping[str, Any]) -> tuple[str, ...]:
    """List the names of files that have another version in the later head of a result."""
    old, new = (
        {match[0]: match[1] for name in of.get("files", ()) if (match := _OWN.match(name))}
        for of in (before, head)
    )
    gone = (name for version, name in old.items() if version not in new)
    return tuple(dict.fromkeys(name for name in gone if name in new.values()))


def head_of(swept: Swept, made: Mapping[str, Any]) -> dict[str, Any]:
    """Say what a sweep is, and what made it."""
    seeds = [row.seed for row in swept.rows]
    return {
        "format": FORMAT,
        **made,
        "command": _COMMAND,
        "sweep": swept.spec.name,
        "axes": swept.axes(),
        "seeds": of_seeds.write(range(min(seeds), max(seeds) + 1)),
    }


def texts(spec: Sweep, inputs: Inputs) -> dict[str, str]:
    """Write the sweep and its scenario as the files of the folder that repeat it."""
    return {
        "sweep.toml": _beside_scenario(spec, inputs),
        "scenario.toml": write_toml(inputs.value(spec.scenario.to_data())),
    }


def _inputs(spec: Sweep) -> Inputs:
    return Inputs(Path(spec.source).parent)


def _asked(spec: Sweep) -> list[str]:
    """List every cell with every algorithm and host, and with the values of a seed, as short
    digests. A file that changed is still the same."""
    inputs = _inputs(spec)
    variants = [inputs.variant(variant) for variant in spec.variants] or [""]
    scenario = digest(unversioned(write_toml(inputs.value(spec.scenario.to_data()))).encode())
    return [
        digest(
            unversioned(
                json.dumps(
                    [scenario, inputs.value(spec.changes_of(cell)), aqm, host, *seed],
                    sort_keys=True,
                )
            ).encode()
        )[:16]
        for cell in spec.cells
        for aqm in variants
        for host in spec.hosts
        for seed in [[inputs.value(values)] for values in spec.by_seed] or [[]]
    ]


def check_folder(folder: Path, spec: Sweep) -> None:
    """Check that this sweep may replace the content of the folder.

    InputError: the folder holds no sweep, or one with more cells, algorithms, hosts or seeds.
    """
    examine(folder)
    _check(folder, spec)


def _check(folder: Path, spec: Sweep) -> dict[str, Any]:
    """Check as `check_folder` does, and return the head of the sweep that is there, if any."""
    other = f"name another folder: --out {folder}-2"
    if (folder / "reproduction.json").exists():
        raise InputError(f"{folder}: holds what another command made; {other}")
    try:
        head: dict[str, Any] = read_json(folder / "result.json")
    except (OSError, ValueError):
        return {}
    if "sweep" not in head:
        raise InputError(f"{folder}: holds what another command made; {other}")
    until = spec.seeds
    seeds = until if isinstance(until, range) else range(1, until.at_most + 1)
    there, less = of_seeds.read(head["seeds"]), set(head["asked"]) - set(_asked(spec))
    if not less and set(there) - set(seeds):
        every = range(min(*there, *seeds), max(*there, *seeds) + 1)
        raise InputError(
            f"{folder}: has seeds {there.start} to {there[-1]}, and this leaves some out; "
            f"ask for all of them: --seeds {of_seeds.write(every)}, or {other}"
        )
    if less:
        raise InputError(
            f"{folder}: holds a sweep that has cells, algorithms, hosts or seeds that this one has "
            f"not; ask for those too, or {other}"
        )
    return head


def _beside_scenario(spec: Sweep, inputs: Inputs) -> str:
    """Write the file with its scenario and its other files beside it."""
    import tomlkit

    # The schema that an editor finds by this line is beside the user's file alone.
    document = tomlkit.parse(re.sub(r"(?m)^#:schema .*\n", "", spec.text.removeprefix("\ufeff")))
    document.remove("scenario")
    rename_files(document, inputs.name)
    if any(library.is_file(variant.algorithm) for variant in spec.variants):
        document["aqms"] = [inputs.variant(variant) for variant in spec.variants]
    head: dict[str, Any] = {"scenario": "scenario.toml"}
    for key, value in spec.asked.items():
        document.pop(key, None)
        if key == "set":  # a table would take all keys below it
            head[key] = tomlkit.inline_table()
            head[key].update(inputs.value(value))
        elif key == "aqms":
            head[key] = [inputs.variant(variant) for variant in spec.variants]
        else:
            head[key] = value
    return tomlkit.dumps(head) + tomlkit.dumps(document)


_COMMAND = "sojourn sweep sweep.toml"
_README = """\
# A sweep of Sojourn

In this folder, this command repeats it:

    sojourn sweep sweep.toml

* `sweep.toml`, `scenario.toml`: what was asked for
* `cells.parquet`: one row for each cell, algorithm, host, queue, window and seed; the values of
  the axes are columns
* `means.parquet`: the same, means over the seeds; `_ci95` is half the width of the 95 % interval,
  `_sd` the standard deviation, `_seeds` in how many the metric was measured
* `groups.parquet`, `flows.parquet`: each group of flows and each flow, in each run
* `result.json`: version, command, host, axes
{own}* `runs/`: each finished run with its scenario in full. In this folder,
  `sojourn sweep sweep.toml --out . --seeds 20` adds seeds up to 20 and makes no run again

    import pandas;  pandas.read_parquet("cells.parquet")
    import polars;  polars.read_parquet("means.parquet")

`sojourn verify .` makes every run anew and compares it, also in a folder without `runs/`. It names
files that are missing or were changed, with status 1.
Made by Sojourn {core}.
"""
_OF_OWN = """\
* `own/`: files of yours, as they were run, each under its name and the digest of its content
"""
