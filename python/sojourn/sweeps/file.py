# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A SWEEP.toml, read and checked; every error names its line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn.core import seeds as of_seeds
from sojourn.core import units
from sojourn.core.errors import InputError, written
from sojourn.core.hosts import check_hosts
from sojourn.result.metrics import METRICS, SUMMARY, CountMetric, Metric, misplaced, places_of
from sojourn.result.metrics import find as find_metric
from sojourn.result.stats import estimate
from sojourn.scenario import toml
from sojourn.scenario.ends import recorded
from sojourn.scenario.model import Scenario
from sojourn.scenario.toml import placed, placed_variant, with_files
from sojourn.scenario.variant import Variant, read_all
from sojourn.sweeps.axes import Cell, check_quoted, make_cells, same_key
from sojourn.sweeps.model import MAX_RUNS, SweepTable


class Mistake(InputError):
    """A value at a path in the file is wrong."""

    def __init__(self, path: toml.Keys, reason: str) -> None:
        super().__init__(reason)
        self.path = path


@dataclass(frozen=True)
class Until:
    """Seeds are added until the half width of a metric's 95 % interval is at most this."""

    metric: Metric
    half_width: float
    at_least: int
    at_most: int

    def is_known(self, values: Sequence[float]) -> bool:
        """Tell whether the interval is narrow enough, or the metric was never measured.

        More seeds do not measure a metric that none has measured.
        """
        measured = [value for value in values if value == value]
        return not measured or estimate(measured).half <= self.half_width


@dataclass(frozen=True)
class Sweep:
    """The content of a file."""

    source: str
    text: str
    name: str
    scenario: Scenario
    cells: tuple[Cell, ...]
    variants: tuple[Variant, ...]
    hosts: tuple[str, ...]
    seeds: range | Until
    metrics: tuple[Metric, ...]
    queue: str | None
    window: str | None
    by_seed: tuple[Mapping[str, object], ...] = ()  # the values that each seed sets, if any
    changes: Mapping[str, object] = field(default_factory=dict)  # in every cell, of `set`
    asked: Mapping[str, Any] = field(default_factory=dict)  # keys that a command asked for

    @property
    def measured(self) -> tuple[Metric, ...]:
        """List the metrics of the columns, the metric that decides the number of seeds, and the
        counts behind quantiles."""
        more = (self.seeds.metric,) if isinstance(self.seeds, Until) else ()
        return tuple(dict.fromkeys((*self.metrics, *more, *self.counts.values())))

    @cached_property
    def counts(self) -> Mapping[Metric, Metric]:
        """Map each metric that is a quantile to the count of values that it rests on."""
        return {metric: CountMetric.behind(metric) for metric in self.metrics if metric.wanted}

    def line_of(self, key: str) -> int | None:
        """Find the line of the file that has this key of a scenario."""
        quoted = (f'"{key}"', f"'{key}'")
        lines = enumerate(self.text.splitlines(), start=1)
        return next((n for n, line in lines if any(word in line for word in quoted)), None)

    def changes_of(self, cell: Cell) -> dict[str, object]:
        """Join the changes of every cell with those of one."""
        return {**self.changes, **cell.changes}


def load(
    path: str | Path,
    aqms: Sequence[str] = (),
    changes: Mapping[str, object] = MappingProxyType({}),
    seeds: of_seeds.Seeds | None = None,
) -> Sweep:
    """Load the sweep in a file; what is given here goes before its keys. InputError: it is
    wrong."""
    source = str(path)
    if not Path(path).exists():
        raise InputError(
            f"{path}: there is no such file; docs/guide/sweeps.md has one to begin with"
        )
    text = toml.read_text(path)
    data = toml.parse(text, source, SweepTable)
    if "scenario" not in data and "axes" not in data and "duration" in data:
        raise InputError(
            f"{source}: is a scenario; a sweep is a file of its own that names it: "
            f'scenario = "{Path(path).name}", and its [[axes]]'
        )
    asked = _asked(data, aqms, changes, seeds)
    data |= asked
    table = toml.modelled(data, SweepTable, source, text)
    try:
        return replace(_read(table, source, text), asked=asked)
    except Mistake as error:
        line = toml.line_of(text, error.path)
        place = f"{source}:{line}" if line else source
        raise InputError(f"{place}: {toml.spell(error.path)}: {error}") from error


def _asked(
    data: Mapping[str, Any],
    aqms: Sequence[str],
    changes: Mapping[str, object],
    seeds: of_seeds.Seeds | None,
) -> dict[str, Any]:
    """Return the keys of the file that a command replaces; its paths are from the folder of now."""
    asked: dict[str, Any] = {}
    if aqms:
        asked["aqms"] = [placed_variant(str(v), Path()) for v in read_all(aqms)]
    if changes:
        of_file = data.get("set", {})
        asked["set"] = {**(of_file if isinstance(of_file, dict) else {}), **placed(changes, Path())}
    if seeds is not None:
        if isinstance(data.get("seeds"), list):
            raise InputError("--seeds: the sweep has [[seeds]], which say how many there are")
        asked["seeds"] = of_seeds.write(of_seeds.read(seeds))
    return asked


def _read(table: SweepTable, source: str, text: str) -> Sweep:
    if table.format != 1:
        raise Mistake(("format",), f"{table.format} is not known; this version reads 1")
    metrics = _metrics(table)
    seeds = _seeds(table)
    cells = make_cells(table, metrics, Mistake)
    scenario = _scenario(table, source)
    named: list[tuple[toml.Keys, Metric]] = [(("metrics", i), m) for i, m in enumerate(metrics)]
    if isinstance(seeds, Until):
        named.append((("seeds", "until"), seeds.metric))
    _check_places(table, scenario, named)
    aqms = [placed_variant(text, Path(source).parent) for text in table.aqms]
    variants = _told("aqms", lambda: read_all(aqms))
    hosts = _told("hosts", lambda: check_hosts(table.hosts))
    first = seeds.at_least if isinstance(seeds, Until) else len(seeds)
    runs = len(cells) * (len(variants) or 1) * len(hosts) * first
    if runs > MAX_RUNS:
        raise Mistake(
            ("seeds",), f"{runs} runs; allowed: up to {MAX_RUNS}. Fewer cells or seeds make fewer"
        )
    return Sweep(
        source=source,
        text=text,
        name=table.name or scenario.name,
        scenario=scenario,
        cells=cells,
        variants=tuple(variants),
        hosts=hosts,
        seeds=seeds,
        metrics=metrics,
        queue=table.queue,
        window=table.window,
        by_seed=_by_seed(table, cells),
        changes=_changes(table, cells),
    )


def _told(key: str, read: Any) -> Any:
    try:
        return read()
    except InputError as error:
        raise Mistake((key,), str(error)) from error


def _scenario(table: SweepTable, source: str) -> Scenario:
    folder = Path(source).parent
    if isinstance(table.scenario, str):
        return toml.load(folder / table.scenario)
    inline = placed(table.scenario, folder)
    return toml.validate(inline, source=f"{source}: scenario")


def _metrics(table: SweepTable) -> tuple[Metric, ...]:
    if table.metrics == ():
        raise Mistake(("metrics",), f"is empty; these may stand there: {', '.join(METRICS)}")
    metrics: list[Metric] = []
    for i, name in enumerate(table.metrics or SUMMARY):
        try:
            metric = find_metric(name)
        except InputError as error:
            raise Mistake(("metrics", i), str(error)) from error
        if (metric.kind, metric.place) in ((m.kind, m.place) for m in metrics):
            raise Mistake(("metrics", i), f"'{name}' is there twice")
        metrics.append(metric)
    return tuple(metrics)


def _seeds(table: SweepTable) -> range | Until:
    seeds = table.seeds
    if isinstance(seeds, tuple):
        return range(1, len(seeds) + 1)
    if isinstance(seeds, int | str):
        found: range = _told("seeds", lambda: of_seeds.read(seeds))
        return found
    try:
        metric = find_metric(seeds.until)
    except InputError as error:
        raise Mistake(("seeds", "until"), str(error)) from error
    path: toml.Keys = ("seeds", "half_width")
    if seeds.at_most < seeds.at_least:
        raise Mistake(
            ("seeds", "at_most"), f"{seeds.at_most} is less than at_least, {seeds.at_least}"
        )
    return Until(metric, _half_width(seeds.half_width, metric, path), seeds.at_least, seeds.at_most)


def _by_seed(table: SweepTable, cells: Sequence[Cell]) -> tuple[Mapping[str, object], ...]:
    """Check the values that each seed sets: the same keys, and none that an axis varies."""
    if not isinstance(table.seeds, tuple):
        return ()
    if not table.seeds:
        raise Mistake(("seeds",), 'is empty; write each seed as [[seeds]] with "KEY" = VALUE lines')
    keys = set(table.seeds[0])
    for i, values in enumerate(table.seeds):
        check_quoted(values, ("seeds", i), Mistake)
        if odd := sorted(set(values) ^ keys):
            raise Mistake(
                ("seeds", i), f"every seed has a value of every key; {odd[0]} is not in all of them"
            )
    if not keys:
        raise Mistake(("seeds", 0), 'sets nothing; write "KEY" = VALUE, or seeds = N')
    varied = {same_key(key): key for key in cells[0].changes}
    for key in sorted(keys):
        if same_key(key) in varied:
            raise Mistake(("seeds", 0), f"'{key}' is varied by an axis too; leave one of them out")
    return table.seeds


def _changes(table: SweepTable, cells: Sequence[Cell]) -> Mapping[str, object]:
    """Check that neither an axis nor a seed varies what is set in every cell."""
    check_quoted(table.set_, ("set",), Mistake)
    by_seed = table.seeds[0] if isinstance(table.seeds, tuple) and table.seeds else {}
    varied = {same_key(key) for key in (*cells[0].changes, *by_seed)}
    for key in table.set_:
        if same_key(key) in varied:
            raise Mistake(
                ("set",), f"'{key}' is varied by an axis or a seed; leave one of them out"
            )
    return table.set_


def _half_width(value: str | float, metric: Metric, path: toml.Keys) -> float:
    """Convert the half width to the metric's unit; a number alone has this unit already."""
    try:
        if isinstance(value, str):
            unit = metric.unit or "1"
            kind, amount = units.measure(value)
            wanted, unit_size = units.measure(f"1 {unit}")
            if kind != wanted:
                raise units.UnitError(f"{written(value)} is not in {unit}")
            value = float(amount / unit_size)
    except units.UnitError as error:
        wish = f"'0.5 {metric.unit}'" if metric.unit else "0.01"
        raise Mistake(path, f"{error}; of {metric.name} write it as {wish}") from error
    if not value > 0:
        raise Mistake(path, f"{written(value)} is never reached; allowed: above 0")
    return value


def _check_places(
    table: SweepTable, scenario: Scenario, metrics: Sequence[tuple[toml.Keys, Metric]]
) -> None:
    """Check that the queue, the window and the places of metrics are recorded, unless the cells may
    change the record."""
    keys = [key for axis in table.axes for key in (*(axis.keys or ()), axis.key or "")]
    if isinstance(table.plan.cells, tuple):
        keys += [key for cell in table.plan.cells for key in cell]
    if any(key.split(".")[0] == "record" for key in keys):
        return
    graph = scenario.expand()
    record = graph.record
    known: dict[str, Sequence[str]] = {
        "queue": recorded(graph.links, record.queues),
        "window": [window.name for window in record.windows],
    }
    for key, names in known.items():
        name = getattr(table, key)
        if name is not None and name not in names:
            raise Mistake((key,), f"'{name}' is not recorded; there is: {', '.join(names)}")
    places = places_of(graph)
    for path, metric in metrics:
        if reason := misplaced(metric, places):
            raise Mistake(path, reason)


def rename_files(document: Any, named: Callable[[str], str]) -> None:
    """Replace the names of files in the axes, cells and seeds of a sweep's file, which keeps its
    form."""
    for axis in document.get("axes", []):
        values = axis.get("values", [])
        keys = axis.get("keys") or [axis.get("key", "")]
        for i, value in enumerate(values):
            if isinstance(value, Mapping) and "set" in value:
                _rename(value["set"], named)
            elif isinstance(value, list):
                for n, (key, own) in enumerate(zip(keys, value, strict=True)):
                    _put(value, n, with_files(own, named, key))
            else:
                _put(values, i, with_files(value, named, keys[0]))
    if isinstance(document.get("set"), Mapping):
        _rename(document["set"], named)
    plan = document.get("plan")
    listed = plan.get("cells") if isinstance(plan, Mapping) else None
    seeds = document.get("seeds")
    for rows in (listed, seeds):
        for row in rows if isinstance(rows, list) else []:
            _rename(row, named)


def _rename(table: Any, named: Callable[[str], str]) -> None:
    for key in list(table):
        _put(table, key, with_files(table[key], named, key))


def _put(holder: Any, key: Any, value: Any) -> None:
    # An equal value keeps its form in the file.
    if holder[key] != value:
        holder[key] = value
