# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The search for settings that a paper does not give. It tries the set-ups that the text leaves
open on one half of the printed numbers, and judges them on the other.

First the searched half runs under every set-up. The other half runs when the best and the median
are known and nothing is chosen any more. There luck shows. What is met, and what is a reason, is
decided by the one rule of sojourn.papers.reasons.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.papers.experiment import PaperFiles
from sojourn.papers.points import (
    TEXT,
    Part,
    Search,
    Setup,
    Value,
    alone,
    count,
    search_of,
    setups,
)
from sojourn.papers.reasons import RULE, Cell, Change, Kind, Measured, Off
from sojourn.result.metrics import METRICS
from sojourn.result.result import Run
from sojourn.runs.executor import Runner
from sojourn.runs.run import Case, jobs_of, open_store
from sojourn.show.page import number, render
from sojourn.store.store import Entry

SEEDS = (1, 2, 3)
NAMES = {"text": "the text's own", "best": "best", "median": "median"}
# By cell, in the order of the experiments.
Cells = Mapping[Cell, Measured]


def search(spec: Search, *, out: Path | None = None, workers: int | None = None) -> Searched:
    """Search a paper's open points. Runs that the store has are taken from there: a search that was
    stopped goes on from that point."""
    tried = setups(spec)
    halves = Halves(spec, Runner(open_store(out), workers))
    return halves.judge(halves.rank(tried))


def stored_search(paper: PaperFiles) -> dict[str, Any] | None:
    """Return the data of a search that has run already, for the page of its paper. None where it
    was not made, or not to its end, and where there is nothing to search by."""
    if paper.search is None:
        return None
    spec = search_of(paper)
    if not spec.experiments:
        return None
    halves = _Stored(spec, Runner(open_store(None)))
    try:
        return data(halves.judge(halves.rank(setups(spec))))
    except _Missing:
        return None


class Halves:
    """Runs the halves of a search, one after the other."""

    def __init__(self, spec: Search, runner: Runner) -> None:
        self._spec, self._runner = spec, runner

    def rank(self, tried: Sequence[Setup]) -> Ranked:
        """Measure every set-up on the searched half, and on nothing else."""
        return Ranked(self._spec, tuple(tried), self._measure(tried, self._spec.half, "searching"))

    def judge(self, ranked: Ranked) -> Searched:
        """Measure the text's own set-up, the best and the median on the other half. Then measure
        there the effect of each thing changed alone."""
        spec = self._spec
        other = self._measure(ranked.finalists, spec.other, "judging the search of")
        singles = [
            *(setup for setup in ranked.setups if setup.outside or len(setup.changed) == 1),
            *alone(spec, start=len(ranked.setups) + 1),
        ]
        measured = {
            setup.number: {
                cell: value
                for cell, value in ranked.half.get(setup.number, {}).items()
                if setup.touches(cell.experiment)
            }
            for setup in singles
        }
        for part in spec.other:
            touching = [setup for setup in singles if setup.touches(part.experiment.name)]
            title = f"reasons in experiment {part.label} of"
            for setup_number, cells in self._measure(touching, [part], title).items():
                measured[setup_number] |= cells
        return Searched(ranked, other, tuple((s, measured[s.number]) for s in singles))

    def _measure(
        self, tried: Sequence[Setup], parts: Sequence[Part], title: str
    ) -> dict[int, dict[Cell, Measured]]:
        """Measure every number of these parts under these set-ups, by the set-up's number."""
        cases = [case for part in parts for setup in tried for case in cases_of(part, setup)]
        jobs = jobs_of(cases, SEEDS, ("sim",))
        by_name = {part.experiment.name: part for part in parts}
        # One run may be of several experiments, which share a scenario.
        read_in: dict[str, set[str]] = {}
        for job in jobs:
            read_in.setdefault(job.key, set()).add(str(job.labels["experiment"]))
        readings = self._runner.readings(
            jobs,
            f"{title} {self._spec.paper}",
            lambda job, entry: {name: _read(by_name[name], entry) for name in read_in[job.key]},
        )
        values: dict[tuple[int, Cell], list[float]] = {}
        for job, reading in zip(jobs, readings, strict=True):
            place = (str(job.labels[key]) for key in ("experiment", "signal", "algorithm"))
            experiment, signal, algorithm = place
            for metric, value in reading[experiment].items():
                cell = Cell(experiment, signal, algorithm, metric)
                values.setdefault((int(job.labels["setup"]), cell), []).append(value)
        return {
            setup.number: {
                cell: Measured(cell, published, tuple(values[setup.number, cell]))
                for part in parts
                for place, published in part.numbers.items()
                for cell in [Cell(part.experiment.name, *place)]
            }
            for setup in tried
        }


class _Missing(Exception):
    """A run of the search is not there."""


class _Stored(Halves):
    """Stops at the first set-up of which a run is missing, before any is made."""

    def _measure(
        self, tried: Sequence[Setup], parts: Sequence[Part], title: str
    ) -> dict[int, dict[Cell, Measured]]:
        for setup in tried:
            cases = [case for part in parts for case in cases_of(part, setup)]
            if not all(self._runner.store.has(job.key) for job in jobs_of(cases, SEEDS, ("sim",))):
                raise _Missing
        return super()._measure(tried, parts, title)


def cases_of(part: Part, setup: Setup) -> list[Case]:
    """List the algorithms of a part under each signal that has numbers in print. Where --quick has
    a shorter run, it is that one: set-ups are many."""
    experiment, cases = part.experiment, []
    for signal in experiment.signals():
        for contender in [] if signal.ablates else part.algorithms(signal.name):
            changes: dict[str, object] = dict(experiment.quick_set)
            for value in setup.applied:
                changes |= value.at(experiment.name, signal.name, contender.name)
            case = experiment.case(contender, signal, changes)
            labels = {**case.labels, "setup": setup.number, "experiment": experiment.name}
            title = f"set-up {setup.number}, {signal.name}, {contender.name}"
            cases.append(Case(case.scenario, labels, title))
    return cases


def _read(part: Part, entry: Entry) -> dict[str, float]:
    """Read from a run every metric of its part that is in print."""
    data = part.experiment.data
    place = str(data["queue"]), str(data["window"])
    metrics = dict.fromkeys(metric for _, _, metric in part.numbers)
    run = Run({}, entry.report, entry)
    return {metric: METRICS[metric].measure_run(run, *place) for metric in metrics}


@dataclass(frozen=True)
class Ranked:
    """The set-ups after the search, before the other half has run."""

    search: Search
    setups: tuple[Setup, ...]
    half: Mapping[int, Cells]  # the searched cells, by set-up

    def count(self, setup: Setup) -> int:
        """Count the numbers of the searched half that are as printed."""
        return _count_inside(self.half[setup.number])

    @cached_property
    def order(self) -> list[Setup]:
        """Sort the set-ups that the text allows, the best first. Among equals the one that changes
        fewer things leads, and then the one that was tried first."""
        within = [setup for setup in self.setups if not setup.outside]
        return sorted(within, key=lambda s: (-self.count(s), len(s.changed), s.number))

    @property
    def text(self) -> Setup:
        """Return the published text's own set-up."""
        return self.setups[0]

    @property
    def best(self) -> Setup:
        """Return the first in order."""
        return self.order[0]

    @property
    def median(self) -> Setup:
        """Return the middle of the order; of two, the one that ranks lower."""
        return self.order[len(self.order) // 2]

    @property
    def outside(self) -> list[Setup]:
        """List the set-ups that the text excludes."""
        return [setup for setup in self.setups if setup.outside]

    @property
    def judged(self) -> dict[str, Setup]:
        """Return the set-ups that run on the other half: the text's own, the best and the
        median."""
        return {"text": self.text, "best": self.best, "median": self.median}

    @property
    def finalists(self) -> list[Setup]:
        """List each of them once."""
        return list({setup.number: setup for setup in self.judged.values()}.values())


def _count_inside(cells: Cells) -> int:
    return sum(cell.inside for cell in cells.values())


@dataclass(frozen=True)
class Effect:
    """The effect of one changed thing on all numbers."""

    setup: Setup
    gained: int  # cells that it brings inside
    lost: int  # cells that it takes outside
    cells: int  # on which it was run
    most: tuple[Measured, Measured] | None  # before and after, of the cell that moves most

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        most = None
        if self.most:
            before, after = self.most
            most = {
                **before.cell._asdict(),
                "published": before.published,
                "from": before.estimate.mean,
                "to": after.estimate.mean,
            }
        return {
            "setup": self.setup.number,
            "name": self.setup.label,
            "outside": bool(self.setup.outside),
            "gained": self.gained,
            "lost": self.lost,
            "cells": self.cells,
            "moves_most": most,
        }

    def words(self) -> str:
        """Name the cell that moves most, with its figures."""
        if not self.most:
            return "nothing"
        before, after = self.most
        return (
            f"{before.cell.label} {number(before.estimate.mean)} → {number(after.estimate.mean)} "
            f"{METRICS[before.metric].unit} (print {number(before.published)})"
        )


def effect(setup: Setup, before: Cells, after: Cells) -> Effect:
    """Compare a set-up with one thing changed with the text's own."""
    gained = sum(after[cell].inside and not before[cell].inside for cell in after)
    lost = sum(before[cell].inside and not after[cell].inside for cell in after)
    moves = [(before[cell], after[cell]) for cell in after]
    most = max(moves, key=_way, default=None)
    return Effect(setup, gained, lost, len(after), most if most and _way(most) > 0 else None)


def _way(pair: tuple[Measured, Measured]) -> float:
    """Measure the move of a cell, in aims; 0 where it is not measured in both."""
    before, after = pair
    if math.isinf(before.off) or math.isinf(after.off):
        return 0.0
    published = before.published or 0.0
    one_sided = (before.estimate.mean - published) * (after.estimate.mean - published) >= 0
    return abs(before.off - after.off) if one_sided else before.off + after.off


def changes_of(cell: Cell, before: Cells, tried: Iterable[tuple[Setup, Cells]]) -> list[Change]:
    """List the runs of these set-ups in a cell, each with those of its changes that set something
    there."""
    changes = []
    for setup, cells in tried:
        there = {
            point: name
            for point, name in setup.changed.items()
            if setup.values[point].at(cell.experiment, cell.signal, cell.algorithm)
        }
        kind: Kind = "several things" if len(there) > 1 else "one thing"
        kind = "outside the text" if setup.outside else kind
        # Several things of which one acts here are that one, which is tried alone.
        is_single = len(setup.changed) == len(there) == 1
        if cell in cells and (setup.outside or is_single or len(there) > 1):
            label = Setup(setup.number, setup.values, there, setup.outside).label
            things = max(1, len(there))
            changes.append(Change(label, before[cell], cells[cell], kind, things, setup.number))
    return changes


@dataclass(frozen=True)
class Searched:
    """A search that has ended: the count of numbers as printed under each set-up, reasons, and the
    changes of the ledger that the best set-up needs."""

    ranked: Ranked
    other: Mapping[int, Cells]  # cells of the other half, for the set-ups judged on it
    alone: tuple[tuple[Setup, Cells], ...]  # one thing changed, and all cells that it touches

    @property
    def search(self) -> Search:
        """Return the request."""
        return self.ranked.search

    @cached_property
    def text(self) -> Cells:
        """Return every printed number under the text's own set-up."""
        return {**self.ranked.half[TEXT], **self.other[TEXT]}

    def judged(self) -> list[tuple[str, Setup, int, int]]:
        """Count the numbers as printed in each half, for the text's own set-up, the best and the
        median."""
        ranked = self.ranked
        return [
            (name, setup, ranked.count(setup), _count_inside(self.other[setup.number]))
            for name, setup in ranked.judged.items()
        ]

    @property
    def cells(self) -> tuple[int, int]:
        """Count the numbers in print, in each half."""
        return len(self.ranked.half[TEXT]), len(self.other[TEXT])

    def effects(self, half: bool) -> list[Effect]:
        """List the effect of each thing changed alone, in the searched half or in the other."""
        effects = []
        for setup, cells in self.alone:
            part = {c: v for c, v in cells.items() if (c in self.ranked.half[TEXT]) == half}
            if part:
                effects.append(effect(setup, self.text, part))
        return effects

    @cached_property
    def reasons(self) -> list[Off]:
        """Find the reasons of every number that is off under the text's own set-up."""
        ranked = self.ranked
        singles = {setup.number for setup, _ in self.alone}
        several = [
            (setup, {**ranked.half[setup.number], **self.other.get(setup.number, {})})
            for setup in ranked.order
            if setup.number not in singles and setup.number != TEXT
        ]
        return [
            Off(base, tuple(changes_of(cell, self.text, [*self.alone, *several])))
            for cell, base in self.text.items()
            if not base.inside
        ]

    def adopt(self) -> list[dict[str, object]]:
        """List the keys that the ledger would have to set for the best set-up; none where it has
        that already."""
        values = self.ranked.best.values
        entries = [
            {"point": point, "value": value.name, "in": file, "key": key, "to": to}
            for point, value in values.items()
            if not value.is_ledger
            for place, keys in value.set.items()
            for file in _files(value, place)
            for key, to in keys.items()
        ]
        # paper.toml has a row once for all experiments.
        return [entry for n, entry in enumerate(entries) if entry not in entries[:n]]

    def counts(self) -> str:
        """Write the number of set-ups tried, and the experiments of each half."""
        spec = self.search
        outside = f", and {len(spec.outside)} outside the text" if spec.outside else ""
        half, other = self.cells
        return (
            f"{len(self.ranked.order)} of {count(spec)} set-ups{outside}, {len(SEEDS)} seeds; "
            f"searched: experiments {', '.join(spec.searched)} ({half} numbers); the other half, "
            "which ran when the search had ended: "
            f"{', '.join(part.label for part in spec.other)} ({other} numbers)"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        ranked, spec = self.ranked, self.search
        return {
            "paper": spec.paper,
            "searched": list(spec.searched),
            "seeds": len(SEEDS),
            "rule": RULE,
            "cells": dict(zip(("searched", "other"), self.cells, strict=True)),
            "possible": count(spec),
            "points": [
                {
                    "name": point.name,
                    "silent": point.silent,
                    "ledger": point.ledger,
                    "text": point.text,
                    "values": [value.name for value in point.values],
                    "searched": point.touches(spec.searched),
                }
                for point in spec.points
            ],
            "judged": [
                {"which": which, "setup": setup.number, "searched": half, "other": other}
                for which, setup, half, other in self.judged()
            ],
            "setups": [
                {
                    "setup": setup.number,
                    "name": setup.label,
                    "outside": setup.outside.against if setup.outside else None,
                    "values": {point: value.name for point, value in setup.values.items()},
                    "inside": ranked.count(setup),
                }
                for setup in ranked.setups
            ],
            "effects": {
                "searched": [effect.to_json() for effect in self.effects(half=True)],
                "other": [effect.to_json() for effect in self.effects(half=False)],
            },
            "reasons": [_reason_json(reason) for reason in self.reasons],
            "adopt": self.adopt(),
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """List a row for each set-up and printed number, for a table of numbers."""
        ranked = self.ranked
        seen: set[tuple[int, Cell]] = set()
        for setup, cells in (
            *((setup, ranked.half[setup.number]) for setup in ranked.setups),
            *((setup, self.other[setup.number]) for setup in ranked.finalists),
            *self.alone,
        ):
            for cell, measured in cells.items():
                if (setup.number, cell) in seen:
                    continue
                seen.add((setup.number, cell))
                yield {
                    "setup": setup.number,
                    "name": setup.label,
                    "outside": bool(setup.outside),
                    "half": "searched" if cell in ranked.half[TEXT] else "other",
                    **cell._asdict(),
                    "published": measured.published,
                    "measured": _finite(measured.estimate.mean),
                    "ci95": _finite(measured.estimate.half),
                    "inside": measured.inside,
                }


def _reason_json(reason: Off) -> dict[str, Any]:
    base, by = reason.base, reason.by
    return {
        **base.cell._asdict(),
        "published": base.published,
        "measured": base.estimate.mean,
        "ci95": [*base.interval],
        "reason": reason.kind,
        "setup": by and by.setup,
        "changed": by and by.name,
        "then": by and by.after.estimate.mean,
        "then_ci95": by and [*by.after.interval],
    }


def _files(value: Value, place: str) -> list[str]:
    """Name the files of a change: one for some algorithms alone is a row of theirs."""
    if value.only:
        return [f"paper.toml, rows of {name}" for name in value.only]
    experiment, _, cell = place.partition(": ")
    return [f"{experiment}/experiment.toml, cell {cell}" if cell else f"{experiment}/scenario.toml"]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def data(searched: Searched) -> dict[str, Any]:
    """Collect the data that the macro `searched` of search_parts.html shows."""
    half, other = searched.cells
    return {
        "paper": searched.search.paper,
        "counts": searched.counts(),
        "rule": RULE,
        "cells": {"searched": half, "other": other},
        "judged": [
            {
                "which": NAMES[which],
                "setup": setup.number,
                "label": setup.label,
                "searched": met,
                "other": met_other,
            }
            for which, setup, met, met_other in searched.judged()
        ],
        "points": searched.search.points,
        "setups": [
            {"number": setup.number, "label": setup.label, "inside": searched.ranked.count(setup)}
            for setup in [*searched.ranked.order, *searched.ranked.outside]
        ],
        "effects": [
            (title, searched.effects(half=is_half))
            for is_half, title in ((True, "searched half"), (False, "other half"))
        ],
        "reasons": searched.reasons,
        "adopt": searched.adopt(),
    }


def html(searched: Searched) -> str:
    """Render one self-contained page."""
    return render("search.html", search=data(searched))
