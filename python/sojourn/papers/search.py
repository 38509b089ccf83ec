# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The search for settings that a paper does not give. It tries the set-ups that the text leaves
open on one half of the printed numbers, and judges them on the other.

First the searched half runs under every set-up. The other half runs when the best and the median
are known and nothing is chosen any more. There luck shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.papers.experiment import Experiment
from sojourn.papers.points import TEXT, Search, Setup, Value, alone, count, load, paper_own, setups
from sojourn.papers.reasons import RULE, distance, is_inside
from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate, estimate
from sojourn.runs.executor import Runner
from sojourn.runs.run import Case, jobs_of, open_store
from sojourn.show.page import number, render, spread
from sojourn.store.store import Entry

SEEDS = (1, 2, 3)


@dataclass(frozen=True, order=True)
class Cell:
    """One printed number."""

    experiment: str
    signal: str
    algorithm: str
    metric: str

    @property
    def label(self) -> str:
        """Name the cell as tables do."""
        of = METRICS[self.metric]
        return f"{self.experiment}: {self.signal}, {self.algorithm}, {of.label}"


@dataclass(frozen=True)
class Found:
    """The measurement of a set-up in a cell."""

    cell: Cell
    published: float
    found: Estimate

    @property
    def interval(self) -> tuple[float, float]:
        """Return the ends of the interval, within the range of the metric."""
        return METRICS[self.cell.metric].interval(self.found)

    @property
    def inside(self) -> bool:
        """Tell whether it is as printed, by the rule of `sojourn.papers.reasons`."""
        return is_inside(self.cell.metric, self.published, self.found)

    @property
    def off(self) -> float:
        """Return its distance from print, in aims."""
        return distance(self.cell.metric, self.published, self.found.mean)


# By cell, in the order of the experiments.
Cells = Mapping[Cell, Found]


def cells_of(experiments: Iterable[Experiment]) -> list[Cell]:
    """List every printed number of these experiments."""
    return [
        Cell(experiment.name, *cell) for experiment in experiments for cell in experiment.published
    ]


def measure(
    setups: Sequence[Setup],
    experiments: Sequence[Experiment],
    runner: Runner,
    title: str,
) -> dict[int, Cells]:
    """Measure every printed number of these experiments under these set-ups, by the set-up's
    number."""
    cases = [
        case
        for experiment in experiments
        for setup in setups
        for case in cases_of(experiment, setup)
    ]
    jobs = jobs_of(cases, SEEDS, ("sim",))
    of = {found.name: found for found in experiments}
    run_in = {job.key: of[str(job.labels["experiment"])] for job in jobs}
    readings = runner.readings(jobs, title, lambda entry: _read(run_in[entry.key], entry))
    values: dict[tuple[int, Cell], list[float]] = {}
    for job, reading in zip(jobs, readings, strict=True):
        labels = job.labels
        name, signal, algorithm = (str(labels[k]) for k in ("experiment", "signal", "algorithm"))
        for metric, value in reading.items():
            cell = Cell(name, signal, algorithm, metric)
            values.setdefault((int(labels["setup"]), cell), []).append(value)
    return {
        setup.number: {
            cell: Found(
                cell,
                of[cell.experiment].published[cell.signal, cell.algorithm, cell.metric],
                estimate(values[setup.number, cell]),
            )
            for cell in cells_of(experiments)
        }
        for setup in setups
    }


def cases_of(experiment: Experiment, setup: Setup) -> list[Case]:
    """List the paper's own algorithms under each signal that has numbers in print."""
    found = []
    for signal in experiment.signals():
        for contender in [] if signal.ablates else paper_own(experiment, signal.name):
            changes = {
                key: of_key
                for value in setup.applied
                for key, of_key in value.at(experiment, signal, contender).items()
            }
            case = experiment.case(contender, signal, changes)
            labels = {**case.labels, "setup": setup.number, "experiment": experiment.name}
            title = f"set-up {setup.number}, {signal.name}, {contender.name}"
            found.append(Case(case.scenario, labels, title))
    return found


def _read(experiment: Experiment, entry: Entry) -> dict[str, float]:
    """Read from a run every metric of its experiment that is in print."""
    place = str(experiment.data["queue"]), str(experiment.data["window"])
    metrics = dict.fromkeys(metric for _, _, metric in experiment.published)
    return {metric: METRICS[metric].of(entry.report, *place) for metric in metrics}


Tried = tuple[Setup, Cells]


@dataclass(frozen=True)
class Effect:
    """The effect of one changed thing on all numbers."""

    setup: Setup
    gained: int  # cells that it brings inside
    lost: int  # cells that it takes outside
    cells: int  # on which it was run
    most: tuple[Found, Found] | None  # before and after, of the cell that moves most

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        most = None
        if self.most:
            before, after = self.most
            most = {
                **cell_json(before.cell),
                "published": before.published,
                "from": before.found.mean,
                "to": after.found.mean,
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


@dataclass(frozen=True)
class Reason:
    """Why one number is not as printed, as far as the set-ups show."""

    text: Found  # under the text's own set-up
    alone: tuple[tuple[Setup, Found], ...]  # one changed thing brings it inside; the nearest first
    several: tuple[tuple[Setup, Found], ...]  # only several together do
    nearest: tuple[Setup, Found] | None  # of the set-ups with one thing changed

    @property
    def said(self) -> str:
        """Name the kind of reason."""
        if any(not setup.outside for setup, _ in self.alone):
            return "one thing"
        if self.several:
            return "several things"
        return "outside the text" if self.alone else "unexplained"

    @property
    def by(self) -> tuple[Setup, Found] | None:
        """Return the run that is the reason; without a reason, the run that comes nearest."""
        inside = [pair for pair in self.alone if not pair[0].outside]
        chosen = inside or self.several or self.alone
        return chosen[0] if chosen else self.nearest

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        by = self.by
        return {
            **cell_json(self.text.cell),
            "published": self.text.published,
            "measured": self.text.found.mean,
            "ci95": [*self.text.interval],
            "reason": self.said,
            "setup": by[0].number if by else None,
            "changed": by[0].label if by else None,
            "then": by[1].found.mean if by else None,
            "then_ci95": [*by[1].interval] if by else None,
        }


def cell_json(cell: Cell) -> dict[str, str]:
    """Return a cell's keys."""
    return {
        "experiment": cell.experiment,
        "signal": cell.signal,
        "algorithm": cell.algorithm,
        "metric": cell.metric,
    }


def effect(setup: Setup, before: Cells, after: Cells) -> Effect:
    """Compare a set-up with one thing changed with the text's own."""
    gained = sum(after[cell].inside and not before[cell].inside for cell in after)
    lost = sum(before[cell].inside and not after[cell].inside for cell in after)
    moved = [(before[cell], after[cell]) for cell in after]
    most = max(moved, key=_way, default=None)
    return Effect(setup, gained, lost, len(after), most if most and _way(most) > 0 else None)


def _way(pair: tuple[Found, Found]) -> float:
    """Measure the move of a cell, in aims; 0 where it is not measured in both."""
    before, after = pair
    if math.isinf(before.off) or math.isinf(after.off):
        return 0.0
    one_sided = (before.found.mean - before.published) * (after.found.mean - after.published) >= 0
    return abs(before.off - after.off) if one_sided else before.off + after.off


def reasons(text: Cells, alone: Sequence[Tried], several: Sequence[Tried]) -> list[Reason]:
    """Find the reason of every cell that is not inside under the text's own set-up."""
    return [
        _reason(cell, found, alone, several) for cell, found in text.items() if not found.inside
    ]


def _reason(cell: Cell, found: Found, alone: Sequence[Tried], several: Sequence[Tried]) -> Reason:
    nearer = sorted(_nearer(cell, found, alone), key=lambda pair: pair[1].off)
    together = [
        (_of_cell(setup, cell), measured) for setup, measured in _nearer(cell, found, several)
    ]
    return Reason(
        found,
        tuple(pair for pair in nearer if pair[1].inside),
        tuple(
            pair
            for pair in sorted(together, key=lambda pair: (len(pair[0].changed), pair[1].off))
            if pair[1].inside and len(pair[0].changed) > 1
        ),
        nearer[0] if nearer else None,
    )


_LEAST = 0.5


def _nearer(cell: Cell, found: Found, tried: Sequence[Tried]) -> list[tuple[Setup, Found]]:
    """List the runs that bring a number nearer to print by more than seeds do."""
    return [
        (setup, cells[cell])
        for setup, cells in tried
        if cell in cells and found.off - cells[cell].off >= _LEAST
    ]


def _of_cell(setup: Setup, cell: Cell) -> Setup:
    """Reduce the set-up to those of its changes that set something in a cell's runs."""
    changed = {
        point: name
        for point, name in setup.changed.items()
        if setup.values[point].touches([cell.experiment])
        and (not setup.values[point].only or cell.algorithm in setup.values[point].only)
    }
    return replace(setup, changed=changed)


@dataclass(frozen=True)
class Ranked:
    """The set-ups after the search, before the other half has run."""

    search: Search
    setups: tuple[Setup, ...]
    half: Mapping[int, Cells]  # the searched cells, by set-up

    def count(self, setup: Setup) -> int:
        """Count the numbers of the searched half that are as printed."""
        return inside(self.half[setup.number])

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


@dataclass(frozen=True)
class Searched:
    """A search that has ended."""

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
            (name, setup, ranked.count(setup), inside(self.other[setup.number]))
            for name, setup in ranked.judged.items()
        ]

    @property
    def cells(self) -> tuple[int, int]:
        """Count the numbers in print, in each half."""
        return len(self.ranked.half[TEXT]), len(self.other[TEXT])

    def effects(self, half: bool) -> list[Effect]:
        """List the effect of each thing changed alone, in the searched half or in the other."""
        found = []
        for setup, cells in self.alone:
            here = {c: v for c, v in cells.items() if (c in self.ranked.half[TEXT]) == half}
            if here:
                found.append(effect(setup, self.text, here))
        return found

    @cached_property
    def reasons(self) -> list[Reason]:
        """Find the reason of every number that is not as printed under the text's own set-up."""
        singles = {setup.number for setup, _ in self.alone}
        several = [
            (setup, {**self.ranked.half[setup.number], **self.other.get(setup.number, {})})
            for setup in self.ranked.setups
            if setup.number not in singles and setup.number != TEXT
        ]
        return reasons(self.text, self.alone, several)

    def adopt(self) -> list[dict[str, object]]:
        """List the keys that the ledger would have to set for the best set-up; none where that is
        the text's own."""
        values = self.ranked.best.values
        found = [
            {"point": point, "value": values[point].name, "in": file, "key": key, "to": to}
            for point in self.ranked.best.changed
            for place, keys in values[point].set.items()
            for file in _files(values[point], place)
            for key, to in keys.items()
        ]
        # paper.toml has a row once for all experiments.
        return [entry for n, entry in enumerate(found) if entry not in found[:n]]

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        ranked, search = self.ranked, self.search
        return {
            "paper": search.paper,
            "searched": list(search.searched),
            "seeds": len(SEEDS),
            "rule": RULE,
            "cells": dict(zip(("searched", "other"), self.cells, strict=True)),
            "possible": count(search),
            "points": [
                {
                    "name": point.name,
                    "silent": point.silent,
                    "ledger": point.ledger,
                    "text": point.text,
                    "values": [value.name for value in point.values],
                    "searched": point.touches(search.searched),
                }
                for point in search.points
            ],
            "judged": [
                {"which": which, "setup": setup.number, "searched": half, "other": other}
                for which, setup, half, other in self.judged()
            ],
            "setups": [self._setup_json(setup) for setup in ranked.setups],
            "effects": {
                "searched": [found.to_json() for found in self.effects(half=True)],
                "other": [found.to_json() for found in self.effects(half=False)],
            },
            "reasons": [reason.to_json() for reason in self.reasons],
            "adopt": self.adopt(),
        }

    def _setup_json(self, setup: Setup) -> dict[str, Any]:
        return {
            "setup": setup.number,
            "name": setup.label,
            "outside": setup.outside.against if setup.outside else None,
            "values": {point: value.name for point, value in setup.values.items()},
            "inside": self.ranked.count(setup),
        }

    def rows(self) -> list[dict[str, Any]]:
        """List a row for each set-up and printed number, for a table of numbers."""
        return list(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        ranked = self.ranked
        every: list[tuple[Setup, Sequence[Found]]] = [
            (setup, list(ranked.half[setup.number].values())) for setup in ranked.setups
        ]
        seen = {(setup.number, found.cell) for setup, of in every for found in of}
        every += [(setup, list(self.other[setup.number].values())) for setup in _once(ranked)]
        every += [(setup, list(cells.values())) for setup, cells in self.alone]
        for n, (setup, of_setup) in enumerate(every):
            for found in of_setup:
                key = setup.number, found.cell
                if n >= len(ranked.setups) and key in seen:
                    continue
                seen.add(key)
                yield {
                    "setup": setup.number,
                    "name": setup.label,
                    "outside": bool(setup.outside),
                    "half": "searched" if found.cell in ranked.half[TEXT] else "other",
                    **cell_json(found.cell),
                    "published": found.published,
                    "measured": _finite(found.found.mean),
                    "ci95": _finite(found.found.half),
                    "inside": found.inside,
                }


def _files(value: Value, place: str) -> list[str]:
    """Name the files of a change: one for some algorithms alone is a row of theirs."""
    if value.only:
        return [f"paper.toml, rows of {name}" for name in value.only]
    experiment, _, cell = place.partition(": ")
    return [f"{experiment}/experiment.toml, cell {cell}" if cell else f"{experiment}/scenario.toml"]


def _once(ranked: Ranked) -> list[Setup]:
    return list({setup.number: setup for setup in ranked.judged.values()}.values())


def inside(cells: Mapping[Cell, Found]) -> int:
    """Count the numbers that are as printed."""
    return sum(found.inside for found in cells.values())


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def search(spec: Search, *, out: Path | None = None, workers: int | None = None) -> Searched:
    """Search a paper's open points. Runs that the store has are taken from there: a search that was
    stopped goes on from that point."""
    tried = setups(spec)
    halves = Halves(spec, Runner(open_store(out), workers))
    return halves.judge(halves.rank(tried))


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
        three = list({setup.number: setup for setup in ranked.judged.values()}.values())
        other = self._measure(three, spec.other, "judging the search of")
        singles = [
            *(setup for setup in ranked.setups if setup.outside or len(setup.changed) == 1),
            *alone(spec, start=len(ranked.setups) + 1),
        ]
        found: dict[int, dict[Cell, Found]] = {
            setup.number: {
                cell: measured
                for cell, measured in ranked.half.get(setup.number, {}).items()
                if _touches(setup, cell.experiment)
            }
            for setup in singles
        }
        for experiment in spec.other:
            touching = [setup for setup in singles if _touches(setup, experiment.name)]
            title = f"reasons in experiment {experiment.name} of"
            for setup_number, cells in self._measure(touching, [experiment], title).items():
                found[setup_number] |= cells
        return Searched(ranked, other, tuple((s, found[s.number]) for s in singles))

    def _measure(
        self, tried: Sequence[Setup], experiments: Sequence[Experiment], title: str
    ) -> dict[int, Cells]:
        return measure(tried, experiments, self._runner, f"{title} {self._spec.paper}")


def _touches(setup: Setup, name: str) -> bool:
    """Tell whether a change from the text sets anything in an experiment."""
    changed = [setup.values[point] for point in setup.changed]
    if setup.outside:
        changed.append(setup.outside.value)
    return any(value.touches([name]) for value in changed)


class _Missing(Exception):
    """A run of the search is not there."""


class _Stored(Halves):
    """Stops at the first set-up of which a run is missing, before any is made."""

    def _measure(
        self, tried: Sequence[Setup], experiments: Sequence[Experiment], title: str
    ) -> dict[int, Cells]:
        for setup in tried:
            cases = [case for experiment in experiments for case in cases_of(experiment, setup)]
            if not all(self._runner.store.has(job.key) for job in jobs_of(cases, SEEDS, ("sim",))):
                raise _Missing
        return super()._measure(tried, experiments, title)


def stored_search(folder: Path) -> dict[str, Any] | None:
    """Return the data of the search for its page; None where it was not made, or not to its end."""
    if not (folder / "search.toml").is_file():
        return None
    spec = load(folder)
    halves = _Stored(spec, Runner(open_store(None)))
    try:
        return data(halves.judge(halves.rank(setups(spec))))
    except _Missing:
        return None


names = {"text": "the text's own", "best": "best", "median": "median"}


def counts(found: Searched) -> str:
    """Write the number of set-ups tried, and the experiments of each half."""
    spec = found.search
    within = len(found.ranked.order)
    outside = f", and {len(spec.outside)} outside the text" if spec.outside else ""
    half, other = found.cells
    return (
        f"{within} of {count(spec)} set-ups{outside}, {len(SEEDS)} seeds; searched: "
        f"experiments {', '.join(spec.searched)} ({half} numbers); the other half, which ran when "
        f"the search had ended: {', '.join(e.name for e in spec.other)} ({other} numbers)"
    )


def moved(effect: Effect) -> str:
    """Name the cell that moves most, with its figures."""
    if not effect.most:
        return "nothing"
    before, after = effect.most
    unit = METRICS[before.cell.metric].unit
    return (
        f"{before.cell.label} {number(before.found.mean)} → {number(after.found.mean)} {unit} "
        f"(print {number(before.published)})"
    )


def numbers(reason: Reason) -> tuple[str, str, str]:
    """Write the printed and the measured number, and the reason in words."""
    printed, ours = number(reason.text.published), spread(reason.text.found)
    return printed, ours, why(reason)


def why(reason: Reason) -> str:
    """Write the reason's run and its figure, or "unexplained" with the nearest run."""
    by = reason.by
    if reason.said != "unexplained" and by:
        head = "only together: " if reason.said == "several things" else ""
        return f"{head}{by[0].label}: {spread(by[1].found)}"
    near = f"; nearest, {by[0].label}: {spread(by[1].found)}" if by else ""
    return f"unexplained{near}"


def data(found: Searched) -> dict[str, Any]:
    """Collect the data that the macro `searched` shows."""
    half, other = found.cells
    return {
        "paper": found.search.paper,
        "counts": counts(found),
        "rule": RULE,
        "cells": {"searched": half, "other": other},
        "judged": [
            {
                "which": names[which],
                "setup": setup.number,
                "label": setup.label,
                "searched": count,
                "other": count_2,
            }
            for which, setup, count, count_2 in found.judged()
        ],
        "points": found.search.points,
        "setups": [
            {"number": setup.number, "label": setup.label, "inside": found.ranked.count(setup)}
            for setup in [*found.ranked.order, *found.ranked.outside]
        ],
        "effects": [
            (title, [(effect, moved(effect)) for effect in found.effects(half=is_half)])
            for is_half, title in ((True, "searched half"), (False, "other half"))
        ],
        "reasons": [(reason, *numbers(reason)) for reason in found.reasons],
        "adopt": found.adopt(),
    }


def html(found: Searched) -> str:
    """Render one self-contained page."""
    return render("search.html", search=data(found))
