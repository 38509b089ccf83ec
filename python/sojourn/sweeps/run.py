# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The runs of a sweep.

Only the metrics of each run stay in memory: a sweep may have a hundred thousand runs.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn import algorithms
from sojourn.core.errors import InputError
from sojourn.core.progress import Progress
from sojourn.core.seeds import Seeds
from sojourn.result.result import Run
from sojourn.runs.executor import Runner
from sojourn.runs.job import Job, Labels
from sojourn.runs.rules import odd
from sojourn.runs.run import Case, algorithms_of, changed, jobs_of, open_store
from sojourn.scenario.model import Scenario
from sojourn.scenario.toml import placed
from sojourn.scenario.variant import Variant
from sojourn.store.store import Entry
from sojourn.sweeps import file
from sojourn.sweeps.file import Sweep, Until
from sojourn.sweeps.result import Reading, Row, Swept, check_folder, save
from sojourn.user_aqm import library

# Scenarios are large and jobs small: only so many cells have their scenarios in memory at once.
_AT_ONCE = 100
# The next round multiplies the seeds of a cell by this: few rounds, and few needless seeds.
_GROWTH = 1.5


@library.one_version()
def sweep(
    path: str | os.PathLike[str],
    *,
    aqms: Sequence[str] = (),
    changes: Mapping[str, object] = MappingProxyType({}),
    seeds: Seeds | None = None,
    out: str | Path | None = None,
    workers: int | None = None,
    again: bool = False,
    client: Any = None,
) -> Swept:
    """Run the sweep in a file, and save it in the folder `out`.

    `aqms`, `changes` and `seeds`, as `sojourn.run` has them, go before the keys of the file.

    Finished runs are taken from the store, unless `again` is true. A sweep that was stopped
    therefore continues.

    `workers` and `client` are as for `sojourn.run`.
    """
    spec = file.load(Path(path), aqms, changes, seeds)
    if out:
        check_folder(Path(out), spec)
    rows: list[Row] = []
    sources: dict[str, Mapping[str, str]] = {}
    until = spec.seeds
    first = range(1, until.at_least + 1) if isinstance(until, Until) else until
    wanted = dict.fromkeys(range(1, len(spec.cells) + 1), first)
    made = 0
    batch = list(jobs(spec, wanted))
    store = open_store(out)
    runner = Runner(store, workers, client, again)
    while batch:
        made += len(batch) if again else sum(not store.has(job.key) for job in batch)
        readings = runner.readings(batch, f"sweeping {spec.name}", partial(_read, spec, sources))
        rows += [_row(spec, job, reading) for job, reading in zip(batch, readings, strict=True)]
        wanted = _more(spec, until, rows, wanted) if isinstance(until, Until) else {}
        batch = list(jobs(spec, wanted)) if wanted else []
    # Rows of later seeds go to the others of their cell and algorithm.
    first_of: dict[tuple[int, str, str], int] = {}
    for row in rows:
        first_of.setdefault((row.cell, row.aqm, row.host), len(first_of))
    rows.sort(key=lambda row: (row.cell, first_of[row.cell, row.aqm, row.host], row.seed))
    swept = Swept(spec, tuple(rows), made + store.damaged, store, sources)
    return replace(swept, changed=save(swept, Path(out))) if out else swept


def jobs(spec: Sweep, wanted: Mapping[int, range]) -> Iterator[Job]:
    """Make every job of these cells, counted from 1, with these seeds.

    InputError: a cell cannot be run. All cells are checked before the first run.
    """
    variants = spec.variants or (None,)
    shown = algorithms.shown_names(v.algorithm for v in spec.variants)
    with Progress(f"checking {spec.name}", len(wanted)) as progress:
        for start in range(0, len(wanted), _AT_ONCE):
            progress.update(start)
            numbers = list(wanted)[start : start + _AT_ONCE]
            for seeds in dict.fromkeys(wanted[number] for number in numbers):
                cells = [number for number in numbers if wanted[number] == seeds]
                # Seeds that share a scenario are one group.
                groups = [range(s, s + 1) for s in seeds] if spec.by_seed else [seeds]
                for group in groups:
                    cases = []
                    for number, variant in product(cells, variants):
                        scenario = scenario_of(spec, number, variant, group.start)
                        name = variant.called(shown[variant.algorithm]) if variant else ""
                        labels: Labels = {"cell": number, "aqm": name or algorithms_of(scenario)}
                        cases.append(Case(scenario, labels, f"cell {number}, {labels['aqm']}"))
                    yield from _refusing(spec, cases, group)


def scenario_of(spec: Sweep, number: int, variant: Variant | None, seed: int = 1) -> Scenario:
    """Make the scenario of a cell, counted from 1, with this algorithm and seed."""
    cell = spec.cells[number - 1]
    where = f"cell {number} ({cell.label})" + (f", {variant}" if variant else "")
    values = spec.changes_of(cell)
    if spec.by_seed:
        values |= dict(spec.by_seed[seed - 1])
        where += f", seed {seed}"
    changes = placed(values, Path(spec.source).parent)
    try:
        return changed(spec.scenario, variant, changes, where)
    except InputError as error:
        raise InputError(_placed(spec, str(error), where, values)) from error


def _placed(spec: Sweep, message: str, where: str, changes: Mapping[str, object]) -> str:
    """Prepend the file, the line of the axis whose key the sentence names, and the cell."""
    message = message.removeprefix(f"{where}: ")
    # The sentence names a key of the command line; the user wrote it in the file.
    message = re.sub(r"--set ([^:=]+)(=[^:]*)?: ", r"\1: ", message)
    key = next((key for key in sorted(changes, key=len, reverse=True) if key in message), None)
    line = spec.line_of(key) if key else None
    place = f"{spec.source}:{line}" if line else spec.source
    return f"{place}: {where}: {message}"


def _refusing(spec: Sweep, cases: Sequence[Case], seeds: range) -> list[Job]:
    try:
        return jobs_of(cases, seeds, spec.hosts)
    except InputError as error:
        # The sentence names an option of the command line; the user wrote a key in the file.
        message = re.sub(r"--host (\w+)", r'hosts = ["\1"]', str(error))
        raise InputError(f"{spec.source}: {message}") from error


def _read(spec: Sweep, sources: dict[str, Mapping[str, str]], job: Job, entry: Entry) -> Reading:
    """Read the metrics of a run for the wanted queues and windows."""
    report = entry.report
    run = Run(job.labels, report, entry, job.queues)
    sources |= entry.sources
    places = tuple(
        (queue["name"], window["name"])
        for queue in report["queues"]
        for window in queue["windows"]
        if spec.queue in (None, queue["name"]) and spec.window in (None, window["name"])
    )
    values = tuple(
        tuple(metric.measure_run(run, *place) for metric in spec.measured) for place in places
    )
    fingerprint = str(report["fingerprint"])
    return Reading(places, values, fingerprint, entry if odd(report) else None)


def _row(spec: Sweep, job: Job, reading: Reading) -> Row:
    labels = job.labels
    number = int(labels["cell"])
    if not reading.places:
        raise InputError(
            f"{spec.source}: cell {number} ({spec.cells[number - 1].label}) has no window "
            f"'{spec.window}' of a queue '{spec.queue}'"
        )
    odd = Run(labels, reading.odd.report, reading.odd, job.queues) if reading.odd else None
    aqm, host, seed = str(labels["aqm"]), str(labels["host"]), int(labels["seed"])
    return Row(number, aqm, host, seed, reading, job.key, odd, job.queues)


def _more(
    spec: Sweep, until: Until, rows: Sequence[Row], last: Mapping[int, range]
) -> dict[int, range]:
    """Choose the cells that need more seeds, and these seeds.

    All algorithms and hosts of a cell get the same seeds.
    """
    column = spec.measured.index(until.metric)
    values: dict[tuple[int, str, str, str, str], list[float]] = {}
    for row in rows:
        if row.cell in last:
            for place, numbers in zip(row.reading.places, row.reading.values, strict=True):
                key = (row.cell, row.aqm, row.host, *place)
                values.setdefault(key, []).append(numbers[column])
    wide = {key[0] for key, numbers in values.items() if not until.is_known(numbers)}
    wanted = {}
    for number in sorted(wide):
        count = last[number].stop - 1
        if count < until.at_most:
            wanted[number] = range(count + 1, min(until.at_most, math.ceil(count * _GROWTH)) + 1)
    return wanted
