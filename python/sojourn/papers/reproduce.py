# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's experiment run again: measured beside published, and a verdict for each claim."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError
from sojourn.core.hosts import EXPERIMENTS_SEEDS, HOSTS, check_hosts, seeds_text
from sojourn.papers import claims
from sojourn.papers.experiment import Experiment, Signal
from sojourn.papers.judged import Judged, lacking
from sojourn.papers.search.file import claims_of
from sojourn.result.metrics import METRICS
from sojourn.result.result import Result, Run
from sojourn.result.stats import Estimate, estimate
from sojourn.runs.executor import Runner
from sojourn.runs.run import open_store, run_cases, stored_runs

_WHERE = {"sim": "simulated", "linux": "on Linux"}


@dataclass(frozen=True)
class Measured:
    """One cell: published (None where the paper prints nothing) and measured."""

    host: str
    signal: str
    algorithm: str
    metric: str
    published: float | None
    found: Estimate
    ran: bool = True  # else `found` is empty because nothing ran
    seeds: int = 0  # of which it is the mean

    @property
    def interval(self) -> tuple[float, float]:
        """Return the ends of the interval, within the range of the metric."""
        return METRICS[self.metric].interval(self.found)

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
        return {
            "host": self.host,
            "signal": self.signal,
            "algorithm": self.algorithm,
            "metric": self.metric,
            "label": METRICS[self.metric].label,
            "unit": METRICS[self.metric].unit,
            "published": self.published,
            "measured": self.found.mean,
            "ci95": [*self.interval],
            "ran": self.ran,
            "seeds": self.seeds,
        }


@dataclass(frozen=True)
class Reproduction:
    """The results of one experiment."""

    experiment: Experiment
    seeds: tuple[int, ...]  # of the host with the most
    quick: bool
    result: Result
    cells: tuple[Measured, ...]
    judged: Mapping[str, tuple[claims.Decision, ...]]  # by host
    # Where only some cells ran: the claims that wait for others, by host.
    waiting: Mapping[str, tuple[Judged, ...]] = field(default_factory=dict)
    # Why a host ran nothing, by host.
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def hosts(self) -> tuple[str, ...]:
        """List the hosts on which it ran."""
        return tuple(self.judged)

    @property
    def decisions(self) -> tuple[claims.Decision, ...]:
        """Return the decisions of the first host."""
        return self.judged[self.hosts[0]]

    def hosts_of(self, signal: Signal) -> tuple[str, ...]:
        """List the hosts of a signal. An ablation is about a setting, not the host, and runs on the
        first host only. One that is about a host runs there."""
        if signal.host:
            return tuple(host for host in self.hosts if host == signal.host)
        return self.hosts[:1] if signal.ablates else self.hosts

    def seeds_of(self, host: str) -> tuple[int, int]:
        """Count the seeds of the cell with the fewest, and of the cell with the most."""
        return self._seeds.get(host, (0, 0))

    @cached_property
    def _seeds(self) -> dict[str, tuple[int, int]]:
        return _seeds_by_host(self.result.runs)

    def seeds_said(self) -> str:
        """Write the number of seeds in words, host by host where the hosts differ."""
        by_host = {host: self.seeds_of(host) for host in HOSTS if self.seeds_of(host)[1]}
        if len(set(by_host.values())) == 1:
            return seeds_text(*next(iter(by_host.values())))
        if not by_host:
            return seeds_text(len(self.seeds), len(self.seeds))
        return ", ".join(f"{seeds_text(*of)} {_WHERE[host]}" for host, of in by_host.items())

    @property
    def is_provisional(self) -> bool:
        """Tell whether a cell has fewer seeds than a verdict needs."""
        return any(0 < self.seeds_of(host)[0] < claims.SEEDS for host in HOSTS)

    def beside_kernel(self) -> list[list[tuple[str, str]]]:
        """List, for each of our algorithms with a peer in the kernel, the host and algorithm of
        each column. Empty where Linux was not asked for."""
        ran = {(run.labels["host"], run.labels["algorithm"]) for run in self.result.runs}
        return [
            [*((host, own.name) for host in HOSTS if host in self.hosts), ("linux", theirs.name)]
            for own, theirs in self.experiment.peers()
            if ("linux", theirs.name) in ran
        ]

    def claims_of(self, host: str) -> list[Judged]:
        """List every claim in the order of the file: decided on the host, or with the runs it waits
        for."""
        found = {decision.claim.id: decision for decision in self.judged.get(host, ())}
        waiting = {judged.claim.id: judged for judged in self.waiting.get(host, ())}
        return [
            Judged(host, claim, found[claim.id], ())
            if claim.id in found
            else waiting.get(claim.id, Judged(host, claim, None, ()))
            for claim in self.experiment.claims()[0]
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
        return {
            "paper": self.experiment.paper,
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "host": self.hosts[0],
            "hosts": list(self.hosts),
            "seeds": len(self.seeds),
            "seeds_of": {host: list(self.seeds_of(host)) for host in self.hosts},
            "quick": self.quick,
            "cells": [cell.to_json() for cell in self.cells],
            "claims": [
                {"host": host, **decision.to_json()}
                for host, decisions in self.judged.items()
                for decision in decisions
            ]
            + [judged.to_json() for found in self.waiting.values() for judged in found],
        }

    def runs(self, host: str, signal: str, algorithm: str) -> list[Run]:
        """List the runs of one cell, in the order of the seeds."""
        wanted = (host, signal, algorithm)
        return [
            run
            for run in self.result.runs
            if tuple(run.labels[key] for key in ("host", "signal", "algorithm")) == wanted
        ]

    def cell(self, host: str, signal: str, algorithm: str, metric: str) -> Measured:
        """Find one cell, which may not have run."""
        found = self._by_name.get((host, signal, algorithm, metric))
        if found:
            return found
        of = next(found for found in self.experiment.signals() if found.name == signal)
        return _not_run(self.experiment, host, of, algorithm, metric)

    @cached_property
    def _by_name(self) -> dict[tuple[str, str, str, str], Measured]:
        return {(c.host, c.signal, c.algorithm, c.metric): c for c in self.cells}


def reproduce(
    experiment: Experiment,
    *,
    quick: bool = False,
    out: Path | None = None,
    workers: int | None = None,
    hosts: Sequence[str] = ("sim",),
    looked_up: Collection[str] = (),
    seeds: Mapping[str, int] = EXPERIMENTS_SEEDS,
) -> Reproduction:
    """Run an experiment under at least ten seeds, and judge its claims. `quick` gives fewer seeds,
    and `seeds` a number of them for each host. The hosts `looked_up` run nothing: they have the
    runs in the store."""
    hosts = check_hosts(hosts)
    wanted = {host: seeds_on(experiment, host, quick, seeds) for host in hosts}
    store = open_store(out)
    runner = Runner(store, workers)
    runs: list[Run] = []
    refused: dict[str, str] = {}
    for host in hosts:
        cases = experiment.cases_on(host, hosts)
        peers = experiment.peer_cases(host) if "linux" in hosts else []
        if host not in looked_up:
            runs += run_cases(
                cases if "linux" in looked_up else cases + peers,
                wanted[host],
                runner,
                title=f"reproducing {experiment.id}" + (f" on {host}" if len(hosts) > 1 else ""),
                hosts=(host,),
            )
            cases, peers = [], peers if "linux" in looked_up else []
        try:
            runs += stored_runs([*cases, *peers], wanted[host], store, host)
        except InputError as error:
            refused[host] = str(error)
    ran = {run.labels["host"] for run in runs}
    ran_on = [host for host in hosts if host in ran or host not in looked_up] or hosts[:1]
    command = _command(experiment, quick, ran_on, _seeds_by_host(runs))
    meta = {"experiment": experiment.id, "command": command}
    result = Result(experiment.scenario, tuple(runs), meta)
    values = {host: CellValues(experiment, host, runs) for host in hosts}
    judged = {host: _judge(experiment, host, of) for host, of in values.items()}
    return Reproduction(
        experiment,
        max(wanted.values(), key=len),
        quick,
        result,
        tuple(cell for host in values for cell in _cells(experiment, host, hosts, values[host])),
        {host: decided for host, (decided, _) in judged.items()},
        {host: waiting for host, (_, waiting) in judged.items()},
        refused,
    )


def seeds_on(
    experiment: Experiment, host: str, quick: bool, seeds: Mapping[str, int]
) -> tuple[int, ...]:
    """List the seeds from 1 on, as many as were asked for, or as the experiment has."""
    count = seeds.get(host, experiment.data["quick_seeds" if quick else "seeds"])
    return tuple(range(1, count + 1))


def _seeds_by_host(runs: Iterable[Run]) -> dict[str, tuple[int, int]]:
    """Count, by host, the seeds of the cell with the fewest and of the one with the most."""
    counts: dict[str, Counter[tuple[str, str]]] = {}
    for run in runs:
        of_cell = str(run.labels["signal"]), str(run.labels["algorithm"])
        counts.setdefault(str(run.labels["host"]), Counter())[of_cell] += 1
    return {host: (min(of.values()), max(of.values())) for host, of in counts.items()}


def _command(
    experiment: Experiment, quick: bool, hosts: Sequence[str], seeds: Mapping[str, tuple[int, int]]
) -> str:
    """Write the command that makes these runs again. A host with other seeds than --quick gives
    needs --seeds. The two exclude each other, and then all hosts have --seeds."""
    had = {host: most for host in hosts for _, most in [seeds.get(host, (0, 0))] if most}
    other = {
        h: n for h, n in had.items() if n != len(seeds_on(experiment, h, quick, EXPERIMENTS_SEEDS))
    }
    if quick and other:
        quick, other = False, had
    words = ["sojourn", "reproduce", experiment.argument, *(["--quick"] if quick else [])]
    words += [word for host in hosts for word in ("--host", host)]
    words += [word for host, n in other.items() for word in ("--seeds", f"{host}={n}")]
    return shlex.join(words)


def _judge(
    experiment: Experiment, host: str, values: CellValues
) -> tuple[tuple[claims.Decision, ...], tuple[Judged, ...]]:
    """Decide the claims whose cells all ran, and list the others."""
    found, calibrated = claims_of(experiment)
    decided, waiting = [], []
    for claim in found:
        gone = values.missing(claim.cells())
        if gone:
            where = (lacking(experiment.id, gone, True),) if values.ran else ()
            waiting.append(Judged(host, claim, None, where))
        else:
            decided.append(claims.decide(claim, values, calibrated))
    return tuple(decided), tuple(waiting)


def values_of(reproduction: Reproduction, host: str) -> CellValues:
    """Collect the measurements of each cell on a host, in the order of the seeds."""
    return CellValues(reproduction.experiment, host, reproduction.result.runs)


class CellValues:
    """The measurements of a cell, in the order of the seeds."""

    def __init__(self, experiment: Experiment, host: str, runs: Sequence[Run]) -> None:
        self._at = str(experiment.data["queue"]), str(experiment.data["window"])
        self._runs: dict[tuple[str, str], list[Run]] = {}
        for run in runs:
            if run.labels["host"] == host:
                labels = str(run.labels["signal"]), str(run.labels["algorithm"])
                self._runs.setdefault(labels, []).append(run)

    @property
    def ran(self) -> bool:
        """Tell whether anything ran."""
        return bool(self._runs)

    def missing(self, cells: Iterable[claims.Cell]) -> list[str]:
        """List the signal and algorithm of each cell that did not run here."""
        wanted = dict.fromkeys((signal, algorithm) for signal, algorithm, _ in cells)
        return [", ".join(cell) for cell in wanted if cell not in self._runs]

    def algorithms(self, signal: str) -> list[str]:
        """List the algorithms that ran here under the signal."""
        return [algorithm for ran, algorithm in self._runs if ran == signal]

    def __call__(self, cell: claims.Cell) -> list[float]:
        signal, algorithm, name = cell
        metric = METRICS[name]
        return [metric.of_run(run, *self._at) for run in self._runs[signal, algorithm]]


def _cells(
    experiment: Experiment, host: str, hosts: Sequence[str], values: CellValues
) -> list[Measured]:
    found = []
    for signal in experiment.signals():
        ran = values.algorithms(signal.name)
        wanted = [contender.name for contender in experiment.contenders(signal)]
        elsewhere = signal.ablates and host != (signal.host or hosts[0])
        for algorithm in dict.fromkeys(ran if elsewhere else [*ran, *wanted]):
            for metric in (*signal.metrics, *signal.beside):
                cell = _not_run(experiment, host, signal, algorithm, metric)
                if algorithm in ran:
                    measured = values((signal.name, algorithm, metric))
                    cell = replace(cell, found=estimate(measured), ran=True, seeds=len(measured))
                found.append(cell)
    return found


def _not_run(
    experiment: Experiment, host: str, signal: Signal, algorithm: str, metric: str
) -> Measured:
    published = experiment.published.get((signal.of, algorithm, metric))
    nothing = Estimate(math.nan, math.nan)
    return Measured(host, signal.name, algorithm, metric, published, nothing, ran=False)
