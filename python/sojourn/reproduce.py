# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's experiment run again: measured beside published, and a verdict for each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import claims
from sojourn.experiment import Experiment
from sojourn.metrics import METRICS
from sojourn.result import Result, Run
from sojourn.runs import open_store, run_cases
from sojourn.stats import Estimate, estimate


@dataclass(frozen=True)
class Measured:
    """One cell: published (None where the paper prints nothing) and measured."""

    signal: str
    algorithm: str
    metric: str
    published: float | None
    found: Estimate

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "signal": self.signal,
            "algorithm": self.algorithm,
            "metric": self.metric,
            "label": METRICS[self.metric].label,
            "unit": METRICS[self.metric].unit,
            "published": self.published,
            "measured": self.found.mean,
            "ci95": [self.found.low, self.found.high],
        }


@dataclass(frozen=True)
class Reproduction:
    """What came of one experiment."""

    experiment: Experiment
    seeds: tuple[int, ...]
    quick: bool
    result: Result
    cells: tuple[Measured, ...]
    decisions: tuple[claims.Decision, ...]

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "paper": self.experiment.paper,
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "host": "sim",
            "seeds": len(self.seeds),
            "quick": self.quick,
            "cells": [cell.to_json() for cell in self.cells],
            "claims": [decision.to_json() for decision in self.decisions],
        }

    def cell(self, signal: str, algorithm: str, metric: str) -> Measured:
        """One cell."""
        wanted = (signal, algorithm, metric)
        return next(c for c in self.cells if (c.signal, c.algorithm, c.metric) == wanted)


def reproduce(
    experiment: Experiment,
    *,
    quick: bool = False,
    out: Path | None = None,
    workers: int | None = None,
) -> Reproduction:
    """Run an experiment under at least ten seeds (`quick`: fewer), and judge its claims."""
    count = experiment.data["quick_seeds" if quick else "seeds"]
    seeds = tuple(range(1, count + 1))
    runs = run_cases(
        experiment.cases(),
        seeds,
        store=open_store(out),
        workers=workers,
        title=f"reproducing {experiment.id}",
    )
    result = Result(experiment.scenario.expand(), runs, {"experiment": experiment.id})
    found, calibrated = experiment.claims()
    values = _Values(experiment, runs)
    return Reproduction(
        experiment,
        seeds,
        quick,
        result,
        tuple(_cells(experiment, values)),
        tuple(claims.decide(claim, values, calibrated) for claim in found),
    )


class _Values:
    """The measurements of a cell, in the order of the seeds."""

    def __init__(self, experiment: Experiment, runs: Sequence[Run]) -> None:
        self._at = str(experiment.data["queue"]), str(experiment.data["window"])
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in runs:
            labels = str(run.labels["signal"]), str(run.labels["algorithm"])
            self._runs.setdefault(labels, []).append(run)

    def __call__(self, cell: claims.Cell) -> list[float]:
        signal, algorithm, name = cell
        metric = METRICS[name]
        return [metric.of(run.report, *self._at) for run in self._runs[signal, algorithm]]


def _cells(experiment: Experiment, values: _Values) -> list[Measured]:
    return [
        Measured(
            signal.name,
            contender.name,
            metric,
            experiment.published.get((signal.of, contender.name, metric)),
            estimate(values((signal.name, contender.name, metric))),
        )
        for signal in experiment.signals()
        for contender in experiment.contenders()
        for metric in (*signal.metrics, *signal.beside)
    ]
