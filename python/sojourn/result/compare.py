# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs side by side: cases, and the differences between them and between their scenarios.

A case is a group of runs that differ only in the seed. A table has a row for each case, a picture a
curve.

Each algorithm is compared with the first one, Linux with the simulator, and each result with the
first one. A trace as rates is compared with the trace as opportunities. Pairs of one seed share the
variation between seeds, which therefore hides no difference.

Of the scenarios of several results, each key with unequal values is listed with its value in each
result. Keys are named as `--set` names them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import BINNED
from sojourn.result.metrics import GROUP_METRICS, Metric, summary_of
from sojourn.result.result import Result, Run
from sojourn.scenario.changes import apply, queues_under_test
from sojourn.scenario.queues import TESTED
from sojourn.scenario.variant import read_value, write_value
from sojourn.store.store import digest

if TYPE_CHECKING:
    from sojourn.result.stats import Estimate


@dataclass(frozen=True)
class Case:
    """The labels that its runs have in common."""

    aqm: str  # as the command names it; in an experiment, as the paper does
    host: str
    signal: str = ""  # of an experiment
    result: str = ""  # empty where there is only one

    @classmethod
    def from_labels(cls, labels: Mapping[str, str | int], result: str = "") -> Case:
        """Make the case of a run from its labels."""
        aqm = labels.get("algorithm", labels["aqm"])
        return cls(str(aqm), str(labels["host"]), str(labels.get("signal", "")), result)


Cases = dict[Case, list[Run]]
# The name of a queue's algorithm in each case.
OwnNames = Mapping[Case, str]


def cases(results: Mapping[str, Result]) -> Cases:
    """Group the runs of results by their cases, in the order of the runs."""
    by_case: Cases = {}
    for name, result in results.items():
        for run in result:
            by_case.setdefault(Case.from_labels(run.labels, name), []).append(run)
    return by_case


def own_names(by_case: Cases, queue: str) -> OwnNames:
    """Name the algorithm of a queue in each case."""
    return {case: runs[0].queues.get(queue, case.aqm) for case, runs in by_case.items()}


def names_of(folders: Sequence[Path]) -> list[str]:
    """Name folders by their last parts, or where two of these are the same by their whole paths.

    InputError: a folder is named twice.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        twice = next(f for f in folders if [g.resolve() for g in folders].count(f.resolve()) > 1)
        raise InputError(f"{twice}: is named twice; name each result once")
    short = [folder.resolve().name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def labels(cases: Iterable[Case], own: OwnNames = MappingProxyType({})) -> dict[str, list[str]]:
    """Name the columns that tell the cases apart: the algorithm, and each label that the cases
    need.

    `own` has the algorithms of the queue in the rows. Where other algorithms are under test, these
    have a column too.
    """
    rows = list(cases)
    others = any(name != case.aqm for case, name in own.items())
    shows_tested = others and len({case.aqm for case in own}) > 1
    columns = {
        "result": [case.result for case in rows],
        "aqm": [own.get(case, case.aqm) for case in rows],
        "tested": [case.aqm if shows_tested else "" for case in rows],
        "signal": [case.signal for case in rows],
        "host": [case.host for case in rows],
    }
    unsaid = {"result": {""}, "tested": {""}, "signal": {""}, "host": {"sim"}}
    return {key: texts for key, texts in columns.items() if set(texts) != unsaid.get(key)}


def names(cases: Iterable[Case]) -> dict[Case, str]:
    """Name each case by its algorithm, and by the labels that are not the same in all cases."""
    rows = list(cases)
    differ = [len(set(values)) > 1 for values in zip(*map(astuple, rows), strict=True)]

    def name(case: Case) -> str:
        values: list[Any] = list(astuple(case))
        labels = [values[i] for i in (2, 1) if differ[i] and values[i]]
        head = f"{case.result}: " if case.result and differ[3] else ""
        return head + ", ".join([case.aqm, *labels])

    return {case: name(case) for case in rows}


@dataclass(frozen=True)
class Difference:
    """The difference of a metric between two cases, over the seeds that both have.

    The cases are an algorithm and the first one on the same host, two hosts, or two results.
    """

    case: Case
    less: Case
    place: str  # a queue, or with `of_group` the flows of one name
    of_group: bool
    window: str
    metric: Metric
    pairs: int
    estimate: Estimate

    @property
    def is_shown(self) -> bool:
        """Tell whether the 95 % interval is wholly on one side of zero."""
        return self.estimate.is_off_zero

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn run --json`, and with several results of `sojourn compare
        --json`."""
        results = {"result": self.case.result, "to_result": self.less.result}
        return {
            **(results if self.case.result else {}),
            **({"signal": self.case.signal} if self.case.signal else {}),
            "aqm": self.case.aqm,
            "to": self.less.aqm,
            "host": self.case.host,
            "to_host": self.less.host,
            "group" if self.of_group else "queue": self.place,
            "window": self.window,
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "pairs": self.pairs,
            "difference": self.estimate.mean,
            "ci95": [self.estimate.low, self.estimate.high],
            "shown": self.is_shown,
        }


def differences(result: Result) -> list[Difference]:
    """List the differences for every algorithm, host, window and metric of a table.

    There is one for each queue, and one for each name of flows where there are several. Algorithms
    need at least two seeds.
    """
    return within(cases({"": result}))


def within(by_case: Cases) -> list[Difference]:
    """Compare the algorithms and hosts of one result."""
    differences: list[Difference] = []
    first: dict[Case, Case] = {}
    for case, runs in by_case.items():
        to = first.setdefault(replace(case, aqm=""), case)
        if case != to:
            differences += _differences(case, to, runs, by_case[to], at_least=2)
        for host in _beside(case.host):
            to = replace(case, host=host)
            if to in by_case:
                differences += _differences(case, to, runs, by_case[to], at_least=1)
    return differences


def across(by_case: Cases) -> list[Difference]:
    """Compare each result with the first, where both have the algorithm, the host, queue and
    window."""
    differences: list[Difference] = []
    first = next(iter(by_case)).result
    for case, runs in by_case.items():
        to = replace(case, result=first)
        if case != to and to in by_case:
            differences += _differences(case, to, runs, by_case[to], at_least=2)
    return differences


def _beside(host: str) -> list[str]:
    """List the hosts to compare this host with: the simulator for Linux, opportunities for
    rates."""
    sim = host.replace("linux", "sim")
    return [other for other in (sim, host.removesuffix(BINNED)) if other != host]


def _differences(
    case: Case, to: Case, runs: Sequence[Run], others: Sequence[Run], *, at_least: int
) -> Iterator[Difference]:
    from sojourn.result.stats import estimate  # a single algorithm does without

    by_seed = {run.seed: run.report for run in others}
    pairs = [(run.report, by_seed[run.seed]) for run in runs if run.seed in by_seed]
    if len(pairs) < at_least:
        return
    known = set(_measured(pairs[0][1]))
    for measured in _measured(pairs[0][0]):
        if measured not in known:
            continue
        of_group, name, window, metric = measured
        both = [
            (metric.measure(a, name, window), metric.measure(b, name, window)) for a, b in pairs
        ]
        values = [a - b for a, b in both if a == a and b == b]
        if len(values) >= at_least:
            yield Difference(
                case, to, name, of_group, window, metric, len(values), estimate(values)
            )


def _measured(
    report: Mapping[str, Any],
) -> Iterator[tuple[bool, str, str, Metric]]:
    """Yield whether the metric is of flows, the name of queue or flows, the window, and the
    metric."""
    for queue in report["queues"]:
        for window in queue["windows"]:
            for metric in summary_of(report):
                yield False, queue["name"], window["name"], metric
    for window in report["transport"]:
        groups = window["groups"] if len(window["groups"]) > 1 else []
        for group in groups:
            for group_metric in GROUP_METRICS:
                yield True, group["name"], window["name"], group_metric


# Shown where a key is as by default.
UNSET = "–"
# A longer value, such as a trace, is replaced by its length and the start of its digest.
_LONGEST = 60


def scenario_differences(results: Mapping[str, Result]) -> dict[str, list[str]]:
    """List by key the value in each result, in their order; a default has no value."""
    return differing([dict(_values(result)) for result in results.values()])


def differing(each: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """List by key the value in each of several, of the keys that do not have one value in all."""
    keys = dict.fromkeys(key for values in each for key in values)
    rows = {key: [values.get(key, UNSET) for values in each] for key in keys}
    return {key: [_short(value) for value in row] for key, row in rows.items() if len(set(row)) > 1}


def by_name(
    names: Collection[str], scenarios: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str | None]]:
    """Return each key's value by the name of its result; null where it is as by default."""
    return {
        key: {
            name: None if value == UNSET else value
            for name, value in zip(names, values, strict=True)
        }
        for key, values in scenarios.items()
    }


def _values(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of the scenario with the command's changes, and the other inputs of
    its numbers."""
    data = tomllib.loads(result.scenario)
    changes = {key: read_value(value) for key, value in result.meta.get("changes", {}).items()}
    yield from _effective(data, changes, by_command=bool(result.meta.get("aqms")))
    if "experiment" in result.meta:
        yield "experiment", str(result.meta["experiment"])
    yield "(seeds)", str(len({run.seed for run in result}))
    yield "(version)", str(result.meta.get("core", UNSET))
    for key, value in result.meta.get("host", {}).items():
        yield f"(machine: {key})", str(value)


def _effective(
    data: dict[str, Any], changes: Mapping[str, object], *, by_command: bool
) -> Iterator[tuple[str, str]]:
    for key, value in changes.items():
        try:
            apply(data, None, {key: value})
        except InputError:
            # The command's algorithm has this row, and the file's own lacks it.
            yield f"--set {key}", write_value(value)
    if by_command:
        # Each row of the table names its algorithm. Of the file's own algorithm, only the keys
        # that every queue has are kept.
        for queue in queues_under_test(data):
            for key in queue.keys() - {TESTED} - algorithms.queue_rows().keys():
                del queue[key]
    yield from leaves(data, "")


def leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each key below a value of a file, as --set names it, and its value."""
    entries: Mapping[str, Any] | None = None
    if isinstance(value, Mapping):
        entries = value
    elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        named = [str(entry.get("name", i)) for i, entry in enumerate(value)]
        entries = dict(zip(named, value, strict=True)) if len(set(named)) == len(named) else None
        entries = entries or {str(i): entry for i, entry in enumerate(value)}
    if entries is None:
        yield path, write_value(value)
        return
    for key, inner in entries.items():
        if not (path and key == "name"):
            yield from leaves(inner, f"{path}.{key}" if path else key)


def _short(value: str) -> str:
    if len(value) <= _LONGEST:
        return value
    return f"{len(value)} characters, digest {digest(value.encode())[:8]}"


# Results or their folders, by names of a script's choice or in a list; or one of either.
One = Result | str | Path
Results = One | Mapping[str, One] | Sequence[One]


def entries(results: Any) -> dict[str, Any]:
    """Return what is given by its name: that of the script's choice, that of the folder, or for an
    object in a list its place there. A single one has no name."""
    if isinstance(results, Mapping):
        named: dict[str, Any] = dict(results)
    elif isinstance(results, str | Path) or not isinstance(results, Sequence):
        named = {"": results}
    elif len(results) == 1:
        named = {"": results[0]}
    else:
        folders = [Path(one) for one in results if isinstance(one, str | Path)]
        names = iter(names_of(folders))
        named = {
            next(names) if isinstance(one, str | Path) else f"result {place}": one
            for place, one in enumerate(results, 1)
        }
    if not named:
        raise InputError("no result is given")
    return named


def named(results: Any) -> dict[str, Result]:
    """Return results by name; folders are read.

    Where two folders have the same name, all are named by their whole path. InputError: a folder is
    named twice.
    """
    return {name: _read(one) for name, one in entries(results).items()}


def of_aqms(results: Mapping[str, Result], aqms: Sequence[str]) -> Mapping[str, Result]:
    """Leave out the runs of other algorithms, if some are named. InputError: no result has one."""
    if not aqms:
        return results
    names = [case.aqm for case in cases(results)]
    check_known("--aqm", aqms, list(dict.fromkeys(names)))
    chosen = {
        name: replace(
            result,
            runs=tuple(run for run in result if Case.from_labels(run.labels).aqm in aqms),
        )
        for name, result in results.items()
    }
    return {name: result for name, result in chosen.items() if result.runs}


def check_known(option: str, words: Iterable[str], known: Collection[str]) -> None:
    """Raise InputError for a word that names nothing of a result."""
    for word in words:
        if word not in known:
            raise InputError(f"{option} {word}: the result has none.{nearest(word, set(known))}")


def _read(one: object) -> Result:
    if isinstance(one, str | Path):
        return Result.load(one)
    if not isinstance(one, Result):
        raise InputError(f"{one!r}: is no result; give a folder, or what sojourn.run returned")
    return one


@dataclass(frozen=True, repr=False)
class Comparison:
    """Results side by side."""

    results: Mapping[str, Result]
    # Of several results across them, of a single one within it.
    differences: Sequence[Difference]
    # The keys that are not the same in all, with a value for each result.
    scenarios: Mapping[str, Sequence[str]]

    def __repr__(self) -> str:
        counts = f"{len(self.differences)} differences, {len(self.scenarios)} unequal keys"
        return f"<Comparison: {len(self.results)} results, {counts}>"

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn compare --json`."""
        return {
            "runs": [
                {**({"result": name} if name else {}), **run.to_json()}
                for name, result in self.results.items()
                for run in result
            ],
            "differences": [difference.to_json() for difference in self.differences],
            "scenarios": by_name(self.results, self.scenarios),
        }


def compare(results: Results) -> Comparison:
    """Set results side by side: their numbers seed by seed, and what differs in their
    scenarios."""
    loaded = named(results)
    by_case = cases(loaded)
    differences = across(by_case) if len(loaded) > 1 else within(by_case)
    return Comparison(loaded, differences, scenario_differences(loaded))
