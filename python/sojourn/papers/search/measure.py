# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The runs of set-ups on some experiments of a paper, and the printed numbers measured in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sojourn.papers.experiment import Experiment
from sojourn.papers.search.inside import is_inside, off
from sojourn.papers.search.ledger import paper_own
from sojourn.papers.search.setups import Setup
from sojourn.result.metrics import METRICS
from sojourn.result.stats import Estimate, estimate
from sojourn.runs.executor import Runner
from sojourn.runs.run import Case, jobs_of
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
        """Tell whether it is as printed, by the rule of `sojourn.papers.search.inside`."""
        return is_inside(self.cell.metric, self.published, self.found)

    @property
    def off(self) -> float:
        """Return its distance from print, in aims."""
        return off(self.cell.metric, self.published, self.found.mean)


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
