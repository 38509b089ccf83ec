# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Cases: groups of runs that differ only in the seed.

A table has a row for each case, a picture a curve.
"""

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
    """The labels that its runs have in common."""

    aqm: str  # as the command names it; in an experiment, as the paper does
    host: str
    signal: str = ""  # of an experiment
    result: str = ""  # empty where there is only one

    @classmethod
    def of(cls, labels: Mapping[str, str | int], result: str = "") -> Case:
        """Make the case of a run from its labels."""
        aqm = labels.get("algorithm", labels["aqm"])
        return cls(str(aqm), str(labels["host"]), str(labels.get("signal", "")), result)


Cases = dict[Case, list[Run]]
# The name of a queue's algorithm in each case.
OwnNames = Mapping[Case, str]


def cases(results: Mapping[str, Result]) -> Cases:
    """Group the runs of results by their cases, in the order of the runs."""
    found: Cases = {}
    for name, result in results.items():
        for run in result:
            found.setdefault(Case.of(run.labels, name), []).append(run)
    return found


def own_names(by_case: Cases, queue: str) -> OwnNames:
    """Name the algorithm of a queue in each case."""
    return {case: runs[0].queues.get(queue, case.aqm) for case, runs in by_case.items()}


def load_all(folders: Sequence[Path]) -> dict[str, Result]:
    """Read results, each by its name: the name of its folder, or an empty name for a single result.

    Where two folders have the same name, all are named by their whole path. InputError: a folder is
    named twice.
    """
    if len({folder.resolve() for folder in folders}) < len(folders):
        twice = next(f for f in folders if [g.resolve() for g in folders].count(f.resolve()) > 1)
        raise InputError(f"{twice}: is named twice; name each result once")
    short = [folder.resolve().name for folder in folders]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    if len(folders) == 1:
        names = [""]
    return {name: Result.load(folder) for name, folder in zip(names, folders, strict=True)}


def labels(found: Iterable[Case], own: OwnNames = MappingProxyType({})) -> dict[str, list[str]]:
    """Name the columns that tell the cases apart: the algorithm, and each label that the cases
    need.

    `own` has the algorithms of the queue in the rows. Where other algorithms are under test, these
    have a column too.
    """
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
    """Name each case by its algorithm, and by the labels that are not the same in all cases."""
    every = list(found)
    differ = [len(set(values)) > 1 for values in zip(*map(astuple, every), strict=True)]

    def name(case: Case) -> str:
        values: list[Any] = list(astuple(case))
        said = [values[i] for i in (2, 1) if differ[i] and values[i]]
        head = f"{case.result}: " if case.result and differ[3] else ""
        return head + ", ".join([case.aqm, *said])

    return {case: name(case) for case in every}
