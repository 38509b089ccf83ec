# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's experiment run again: measured beside published, and a verdict for each claim."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import claims
from sojourn.experiment import Experiment, Signal
from sojourn.hosts import HOSTS, check_hosts
from sojourn.metrics import METRICS
from sojourn.result import Result, Run
from sojourn.runs import open_store, run_cases
from sojourn.stats import Estimate, estimate


@dataclass(frozen=True)
class Measured:
    """One cell: published (None where the paper prints nothing) and measured."""

    host: str
    signal: str
    algorithm: str
    metric: str
    published: float | None
    found: Estimate

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "host": self.host,
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
    judged: Mapping[str, tuple[claims.Decision, ...]]  # by host

    @property
    def hosts(self) -> tuple[str, ...]:
        """Where it ran."""
        return tuple(self.judged)

    @property
    def decisions(self) -> tuple[claims.Decision, ...]:
        """Those of the first host."""
        return self.judged[self.hosts[0]]

    def hosts_of(self, signal: Signal) -> tuple[str, ...]:
        """An ablation runs on the first host only: it tells about the setting, not the host."""
        return self.hosts[:1] if signal.ablates else self.hosts

    def beside_kernel(self) -> list[list[tuple[str, str]]]:
        """For each of our algorithms that has a peer in the kernel, what stands side by side: host
        and algorithm. Nothing where Linux was not asked for."""
        if "linux" not in self.hosts:
            return []
        return [
            [*((host, own.name) for host in HOSTS if host in self.hosts), ("linux", theirs.name)]
            for own, theirs in self.experiment.peers()
        ]

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn reproduce --json`."""
        return {
            "paper": self.experiment.paper,
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "host": self.hosts[0],
            "hosts": list(self.hosts),
            "seeds": len(self.seeds),
            "quick": self.quick,
            "cells": [cell.to_json() for cell in self.cells],
            "claims": [
                {"host": host, **decision.to_json()}
                for host, decisions in self.judged.items()
                for decision in decisions
            ],
        }

    def runs(self, host: str, signal: str, algorithm: str) -> list[Run]:
        """Those of one cell, in the order of the seeds."""
        wanted = (host, signal, algorithm)
        return [
            run
            for run in self.result.runs
            if tuple(run.labels[key] for key in ("host", "signal", "algorithm")) == wanted
        ]

    def cell(self, host: str, signal: str, algorithm: str, metric: str) -> Measured:
        """One cell."""
        wanted = (host, signal, algorithm, metric)
        return next(c for c in self.cells if (c.host, c.signal, c.algorithm, c.metric) == wanted)


def reproduce(
    experiment: Experiment,
    *,
    quick: bool = False,
    out: Path | None = None,
    workers: int | None = None,
    hosts: Sequence[str] = ("sim",),
    processes: bool = False,
) -> Reproduction:
    """Run an experiment under at least ten seeds (`quick`: fewer), and judge its claims."""
    count = experiment.data["quick_seeds" if quick else "seeds"]
    seeds = tuple(range(1, count + 1))
    ablations = {signal.name for signal in experiment.signals() if signal.ablates}
    runs: list[Run] = []
    for host in check_hosts(hosts):
        skipped = ablations if runs else set()
        cases = [case for case in experiment.cases() if case.labels["signal"] not in skipped]
        if "linux" in hosts:
            cases += experiment.peer_cases(host)
        runs += run_cases(
            cases,
            seeds,
            store=open_store(out),
            workers=workers,
            title=f"reproducing {experiment.id}" + (f" on {host}" if len(hosts) > 1 else ""),
            hosts=(host,),
            processes=processes,
        )
    words = ["sojourn", "reproduce", experiment.id, *(["--quick"] if quick else [])]
    words += [word for host in check_hosts(hosts) for word in ("--host", host)]
    meta = {"experiment": experiment.id, "command": shlex.join(words)}
    result = Result(experiment.scenario, tuple(runs), meta)
    found, calibrated = experiment.claims()
    values = {host: _Values(experiment, host, runs) for host in check_hosts(hosts)}
    return Reproduction(
        experiment,
        seeds,
        quick,
        result,
        tuple(cell for host in values for cell in _cells(experiment, host, values[host])),
        {
            host: tuple(claims.decide(claim, of, calibrated) for claim in found)
            for host, of in values.items()
        },
    )


def values_of(reproduction: Reproduction, host: str) -> claims.Values:
    """The measurements of a cell on a host, in the order of the seeds."""
    return _Values(reproduction.experiment, host, reproduction.result.runs)


class _Values:
    """The measurements of a cell, in the order of the seeds."""

    def __init__(self, experiment: Experiment, host: str, runs: Sequence[Run]) -> None:
        self._at = str(experiment.data["queue"]), str(experiment.data["window"])
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in runs:
            if run.labels["host"] == host:
                labels = str(run.labels["signal"]), str(run.labels["algorithm"])
                self._runs.setdefault(labels, []).append(run)

    def algorithms(self, signal: str) -> list[str]:
        """Those that ran here under the signal."""
        return [algorithm for ran, algorithm in self._runs if ran == signal]

    def __call__(self, cell: claims.Cell) -> list[float]:
        signal, algorithm, name = cell
        metric = METRICS[name]
        return [metric.of(run.report, *self._at) for run in self._runs[signal, algorithm]]


def _cells(experiment: Experiment, host: str, values: _Values) -> list[Measured]:
    return [
        Measured(
            host,
            signal.name,
            algorithm,
            metric,
            experiment.published.get((signal.of, algorithm, metric)),
            estimate(values((signal.name, algorithm, metric))),
        )
        for signal in experiment.signals()
        for algorithm in values.algorithms(signal.name)
        for metric in (*signal.metrics, *signal.beside)
    ]
