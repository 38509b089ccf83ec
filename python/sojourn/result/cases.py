# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs that belong together: those that differ in nothing but the seed. A table has a row for each
case, a picture a curve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn.core.errors import InputError
from sojourn.result.result import Result, Run


@dataclass(frozen=True)
class Case:
    """What its runs have in common."""

    aqm: str  # as the command names it; in an experiment, as the paper does
    host: str
    signal: str = ""  # of an experiment
    result: str = ""  # where there are several

    @classmethod
    def of(cls, labels: Mapping[str, str | int], result: str = "") -> Case:
        """The case that a run of a result belongs to."""
        aqm = labels.get("algorithm", labels["aqm"])
        return cls(str(aqm), str(labels["host"]), str(labels.get("signal", "")), result)


Cases = dict[Case, list[Run]]
# The name of a queue's algorithm in each case.
OwnNames = Mapping[Case, str]


def cases(results: Mapping[str, Result]) -> Cases:
    """The runs of results by their cases, in the order in which they stand."""
    found: Cases = {}
    for name, result in results.items():
        for run in result:
            found.setdefault(Case.of(run.labels, name), []).append(run)
    return found


def own_names(by_case: Cases, queue: str) -> OwnNames:
    """Name the algorithm of a queue in each case."""
    return {case: runs[0].queues.get(queue, case.aqm) for case, runs in by_case.items()}


def load_all(folders: Sequence[Path]) -> dict[str, Result]:
    """Results by name: none where there is one alone, else the folder's, or its whole path where
    two folders have the same."""
    if len({folder.resolve() for folder in folders}) < len(folders):
        twice = next(f for f in folders if [g.resolve() for g in folders].count(f.resolve()) > 1)
        raise InputError(f"{twice}: is named twice; name each result once")
    short = [folder.resolve().name for folder in folders]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    if len(folders) == 1:
        names = [""]
    return {name: Result.load(folder) for name, folder in zip(names, folders, strict=True)}


def labels(found: Iterable[Case], own: OwnNames = MappingProxyType({})) -> dict[str, list[str]]:
    """Name the columns that tell the cases apart: always the algorithm, and all else that there is
    to say. `own` has the algorithms of the queue that the rows are of: where others are tested,
    these have a column too."""
    every = list(found)
    others = any(name != case.aqm for case, name in own.items())
    shows_tested = others and len({case.aqm for case in own}) > 1
    columns = {
        "result": [case.result for case in every],
        "aqm": [own.get(case, case.aqm) for case in every],
        "tested": [case.aqm if shows_tested else "" for case in every],
        "signal": [case.signal for case in every],
        "host": [case.host for case in every],
    }
    unsaid = {"result": {""}, "tested": {""}, "signal": {""}, "host": {"sim"}}
    return {key: texts for key, texts in columns.items() if set(texts) != unsaid.get(key)}


def names(found: Iterable[Case]) -> dict[Case, str]:
    """A name for each case: the algorithm, and what is not the same in all of them."""
    every = list(found)
    differ = [len(set(values)) > 1 for values in zip(*map(astuple, every), strict=True)]

    def name(case: Case) -> str:
        values: list[Any] = list(astuple(case))
        said = [values[i] for i in (2, 1) if differ[i] and values[i]]
        head = f"{case.result}: " if case.result and differ[3] else ""
        return head + ", ".join([case.aqm, *said])

    return {case: name(case) for case in every}
