# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""groups.py: all cases, in groups that each have a guest of their own, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.algorithms import algorithms, find
from sojourn.linux.uml.build import Built
from sojourn.linux.uml.module import module

from tests.linux.tdc import memory, messages, refusals, rewrite, rows, traffic, upstream
from tests.linux.tdc.case import Case
from tests.linux.tdc.differences import Line, differs, lines
from tests.linux.tdc.run import Result, run

HERE = Path(__file__).resolve().parent
COMMON = "common to all"
THEIRS = "the kernel's own cases"
REWRITTEN = "these, rewritten for ours"
ALONE = "each option in them alone"
REST = "rewritten, without what differs"


def our_module(built: Built) -> Path:
    return module(built, [HERE / "twin.c"])


def of_ours(known: memory.Memory) -> dict[str, list[Case]]:
    """Each algorithm, and what belongs to none."""
    found = {name: list(_of(name, known)) for name in algorithms()}
    return found | {COMMON: [*messages.cases(), *refusals.of_classes()]}


def _of(algorithm: str, known: memory.Memory) -> Iterator[Case]:
    yield from rows.cases(algorithm, known)
    yield from refusals.cases(algorithm)
    yield from messages.of_params(algorithm)
    yield from traffic.cases(algorithm, known)


def of_theirs(source: Path) -> list[upstream.Entry]:
    kinds = [*upstream.kinds(source), *upstream.ALSO]
    return [entry for kind in kinds for entry in upstream.entries(source, kind)]


@dataclass
class Outcome:
    """All that a run found."""

    ours: dict[str, list[Case]]
    rewritten: list[rewrite.Rewritten]
    results: dict[str, list[Result]] = field(default_factory=dict)
    lines: set[Line] = field(default_factory=set)


Told = Callable[[str, list[Result]], None]


def covering() -> list[str]:
    """Algorithms that have between them every kind of row: unit, type, choices or none, fixed or
    not. CoDel is among them, since the tests spoil its cases."""
    chosen: list[str] = []
    met: set[tuple[object, ...]] = set()
    for name in sorted(algorithms(), key=lambda name: name != "codel"):
        kinds = {(row.unit, row.kind, bool(row.choices), row.fixed) for row in find(name).params}
        if kinds - met:
            chosen.append(name)
            met |= kinds
    return chosen


def run_ours(built: Built, names: Sequence[str]) -> dict[str, list[Result]]:
    """The cases of some algorithms alone, on two processors a guest each."""
    kernel_module = our_module(built)
    cases = of_ours(memory.measure(built, kernel_module))
    with ThreadPoolExecutor(2) as pool:
        jobs = {
            name: pool.submit(run, built, kernel_module, [case.entry() for case in cases[name]])
            for name in names
        }
        return {name: job.result() for name, job in jobs.items()}


def run_all(
    built: Built,
    told: Told = lambda group, results: None,
    names: Sequence[str] | None = None,
) -> Outcome:
    """On two processors a guest each; what is left out in the last group is known before it.
    With names, of ours the cases of these algorithms and those of none."""
    kernel_module = our_module(built)
    known, source = memory.measure(built, kernel_module), built.source
    found = Outcome(of_ours(known), rewrite.as_they_are(source))
    alone = rewrite.alone(source)
    entries: dict[str, list[dict[str, Any]]] = {
        ALONE: [case.entry for case in alone],
        REWRITTEN: [case.entry for case in found.rewritten],
        THEIRS: of_theirs(source),
    }
    entries |= {
        name: [case.entry() for case in cases]
        for name, cases in found.ours.items()
        if names is None or name in (*names, COMMON)
    }

    def go(group: str) -> list[Result]:
        found.results[group] = run(built, kernel_module, entries[group])
        told(group, found.results[group])
        return found.results[group]

    with ThreadPoolExecutor(2) as pool:
        waiting = {group: pool.submit(go, group) for group in entries}
        found.lines = lines(alone, waiting[ALONE].result())
        before = set(found.lines)
        rest = rewrite.without(source, lambda kind, option: differs(before, kind, option))
        entries[REST] = [case.entry for case in rest]
        found.lines |= lines(rest, pool.submit(go, REST).result())
        for job in waiting.values():
            job.result()
    return found
