# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's experiment run again: measured beside published, and a verdict for each claim."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn.core.errors import InputError
from sojourn.core.hosts import EXPERIMENTS_SEEDS, HOSTS, check_hosts, seeds_text
from sojourn.core.progress import Progress
from sojourn.papers import calculated, claims
from sojourn.papers.claim import Cell as ClaimedCell
from sojourn.papers.claim import Claim
from sojourn.papers.claims import Judged, lacking
from sojourn.papers.experiment import Experiment, Signal, find_one
from sojourn.papers.points import claims_of
from sojourn.papers.reasons import Cell, Measured
from sojourn.result.inputs import Inputs, copied
from sojourn.result.metrics import METRICS
from sojourn.result.result import Result, Run
from sojourn.runs.executor import Runner
from sojourn.runs.job import Job
from sojourn.runs.run import Case, jobs_of, open_store, run_cases, stored_runs
from sojourn.scenario.model import write_toml
from sojourn.store.folder import Folder
from sojourn.store.store import Content

# Between an experiment and its cell, in a claim of a paper.
SEPARATOR = ": "
_WHERE = {"sim": "simulated", "linux": "on Linux"}


@dataclass(frozen=True)
class Reproduction:
    """The results of one experiment."""

    experiment: Experiment
    seeds: tuple[int, ...]  # of the host with the most
    quick: bool
    result: Result
    cells: tuple[Measured, ...]
    judged: Mapping[str, tuple[Judged, ...]]  # every claim, by host
    # Why a host ran nothing, by host.
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def hosts(self) -> tuple[str, ...]:
        """List the hosts on which it ran."""
        return tuple(self.judged)

    @property
    def decisions(self) -> tuple[claims.Decision, ...]:
        """Return the decisions of the first host."""
        return self.decisions_on(self.hosts[0])

    def decisions_on(self, host: str) -> tuple[claims.Decision, ...]:
        """Return the decisions of a host."""
        return tuple(judged.decision for judged in self.judged[host] if judged.decision)

    def hosts_of(self, signal: Signal) -> tuple[str, ...]:
        """List the hosts of a signal. An ablation is about a setting, not the host, and runs on the
        first host only. One that is about a host runs there."""
        if signal.host:
            return tuple(host for host in self.hosts if host == signal.host)
        return self.hosts[:1] if signal.ablates else self.hosts

    def seeds_of(self, host: str) -> tuple[int, int]:
        """Count the seeds of the cell with the fewest, and of the cell with the most."""
        return _seeds_by_host(self._runs).get(host, (0, 0))

    def describe_seeds(self) -> str:
        """Write the number of seeds in words, host by host where the hosts differ."""
        by_host = {host: self.seeds_of(host) for host in HOSTS if self.seeds_of(host)[1]}
        text = seeds_by_host(by_host) or seeds_text(len(self.seeds), len(self.seeds))
        pieces = len(self.experiment.pieces)
        return text if pieces == 1 else f"{text}, each run in {pieces} pieces"

    def write(self, own: Folder) -> None:
        """Write the result into a folder that this command holds. A paper of the user's is copied
        into it, and the command repeats that copy."""
        experiment, meta = self.experiment, self.result.meta
        inputs = Inputs(Path())
        scenario = write_toml(inputs.value(experiment.scenario.to_data()))
        files: dict[str, Content] = {**inputs.files}
        if experiment.is_users:
            files |= copied(experiment.home.folder, experiment.paper)
            words = shlex.split(meta["command"])
            words[words.index(experiment.argument)] = f"./own/{experiment.id}"
            meta = {**meta, "command": shlex.join(words)}
        replace(self.result, meta=meta).write(own, scenario, files)

    def without_flows(self) -> Reproduction:
        """Leave out the numbers of single flows. Cells and files have been made of them, and pages
        and figures show none."""
        runs = tuple(
            replace(run, report=report, entry=replace(run.entry, report=report))
            for run in self.result.runs
            for report in [{**run.report, "flows": ()}]
        )
        return replace(self, result=replace(self.result, runs=runs))

    @property
    def is_provisional(self) -> bool:
        """Tell whether a cell has fewer seeds than a verdict needs."""
        pieces = len(self.experiment.pieces)
        return any(0 < self.seeds_of(host)[0] * pieces < claims.SEEDS for host in HOSTS)

    def beside_kernel(self) -> list[list[tuple[str, str]]]:
        """List, for each of our algorithms with a peer in the kernel, the host and algorithm of
        each column. Empty where Linux was not asked for."""
        ran = {(host, algorithm) for host, _, algorithm in self._runs}
        return [
            [*((host, own.name) for host in HOSTS if host in self.hosts), ("linux", theirs.name)]
            for own, theirs in self.experiment.peers()
            if ("linux", theirs.name) in ran
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
            # Those that wait for more cells are last.
            "claims": [
                judged.to_json()
                for judged in sorted(
                    chain.from_iterable(self.judged.values()), key=lambda j: j.decision is None
                )
            ],
        }

    def runs(self, host: str, signal: str, algorithm: str) -> list[Run]:
        """List the runs of one cell, in the order of the seeds."""
        return self._runs.get((host, signal, algorithm), [])

    @cached_property
    def _runs(self) -> RunsByCell:
        return _by_cell(self.result.runs)

    def cells_on(self, host: str) -> dict[ClaimedCell, Measured]:
        """Return the measurements on a host, by cell."""
        return _on(host, self.cells)

    def cell(self, host: str, signal: str, algorithm: str, metric: str) -> Measured:
        """Find one cell, which may not have run."""
        measured = self._by_place.get((host, signal, algorithm, metric))
        if measured:
            return measured
        condition = next(s for s in self.experiment.signals() if s.name == signal)
        return _measured(self.experiment, host, condition, algorithm, metric)

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, str, str], Measured]:
        return {(c.host, c.signal, c.algorithm, c.metric): c for c in self.cells}


def seeds_by_host(counts: Mapping[str, tuple[int, int]]) -> str:
    """Write the fewest and most seeds of each host, once where the hosts are alike."""
    texts = {host: seeds_text(*ends) for host, ends in counts.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{text} {_WHERE[host]}" for host, text in texts.items())


def reproduce(
    experiment: Experiment | str,
    *,
    quick: bool = False,
    out: Path | None = None,
    workers: int | None = None,
    hosts: Sequence[str] = ("sim",),
    looked_up: Collection[str] = (),
    seeds: Mapping[str, int] = EXPERIMENTS_SEEDS,
    client: Any = None,
    again: bool = False,
    tell: Callable[[float], None] | None = None,
) -> Reproduction:
    """Run an experiment, such as 'duk/1', under at least ten seeds, and judge its claims.

    `quick` gives fewer seeds, and `seeds` a number of them for each host. The hosts `looked_up` run
    nothing: they have the runs in the store. `client` runs the rest, if given, and `again` also
    what the store has (sojourn.runs.executor). `tell` gets the share of the experiment that was
    read from there."""
    if isinstance(experiment, str):
        experiment = find_one(experiment)
    hosts = check_hosts(hosts)
    check_hosts(tuple(seeds))
    wanted = {host: seeds_on(experiment, host, quick, seeds) for host in hosts}
    store = open_store(out)
    runner = Runner(store, workers, client, again)
    runs: list[Run] = []
    refused: dict[str, str] = {}
    for number, host in enumerate(hosts):

        def told(share: float, before: int = number) -> None:
            if tell:
                tell((before + share) / len(hosts))

        to_run, stored = _cases_on(experiment, host, hosts, looked_up, quick=quick)
        if host not in looked_up:
            title = f"reproducing {experiment.id}" + (f" on {host}" if len(hosts) > 1 else "")
            runs += run_cases(to_run, wanted[host], runner, title=title, hosts=(host,))
        try:
            runs += stored_runs(stored, wanted[host], store, host, told)
        except InputError as error:
            refused[host] = str(error)
        told(1)
    by_cell = _by_cell(runs)
    counts = _seeds_by_host(by_cell)
    ran_on = [host for host in hosts if host in counts or host not in looked_up] or hosts[:1]
    command = command_of(experiment, quick, ran_on, counts)
    meta = {"experiment": experiment.id, "command": command}
    result = Result(experiment.scenario, tuple(runs), meta)
    cells = [cell for host in hosts for cell in _cells(experiment, host, hosts, by_cell)]
    own_claims, calibrated = claims_of(experiment)
    return Reproduction(
        experiment,
        max(wanted.values(), key=len),
        quick,
        result,
        tuple(cells),
        {
            host: tuple(
                judge(host, claim, [experiment], {experiment.name: measured}, calibrated)
                for claim in own_claims
            )
            for host in hosts
            for measured in [_on(host, cells)]
        },
        refused,
    )


def _cases_on(
    experiment: Experiment,
    host: str,
    hosts: Sequence[str],
    looked_up: Collection[str],
    *,
    quick: bool,
) -> tuple[list[Case], list[Case]]:
    """List the cases of an experiment on a host that are to run, and those to be looked up."""
    cases = experiment.cases_on(host, hosts, quick)
    peers = experiment.peer_cases(host, quick) if "linux" in hosts else []
    if host in looked_up:
        return [], [*cases, *peers]
    return (cases, peers) if "linux" in looked_up else ([*cases, *peers], [])


def make_runs(
    experiments: Iterable[Experiment],
    title: str,
    *,
    quick: bool,
    workers: int | None,
    hosts: Sequence[str],
    looked_up: Collection[str],
    seeds: Mapping[str, int],
    client: Any,
) -> set[tuple[str, str]]:
    """Make the runs that the store lacks of these experiments, in one pool. One by one, each
    experiment would end with workers that wait for its last run. Return the experiments that Linux
    cannot run, by id and host."""
    store = open_store(None)
    jobs: list[Job] = []
    refused = set()
    for experiment in experiments:
        for host in hosts:
            to_run, _ = _cases_on(experiment, host, hosts, looked_up, quick=quick)
            try:
                jobs += jobs_of(to_run, seeds_on(experiment, host, quick, seeds), (host,))
            except InputError:
                if host == "sim":
                    raise
                refused.add((experiment.id, host))
    missing = [job for job in jobs if not store.has(job.key)]
    if missing:
        Runner(store, workers, client).readings(missing, title, lambda job, entry: None)
    return refused


@contextmanager
def reading(count: int, *, is_shown: bool) -> Iterator[Callable[[int], Callable[[float], None]]]:
    """Show how many of `count` experiments are read from the store, where nothing else shows its
    progress. The n-th one, from 0, takes what is yielded, of n, as its `tell`."""
    with Progress("reading experiments from the store", count) as progress:
        yield lambda n: lambda share: progress.update(n + share) if is_shown else None


def seeds_on(
    experiment: Experiment, host: str, quick: bool, seeds: Mapping[str, int]
) -> tuple[int, ...]:
    """List the seeds from 1 on, as many as were asked for, or as the experiment has."""
    count = seeds.get(host, experiment.data["quick_seeds" if quick else "seeds"])
    return tuple(range(1, count + 1))


# By host, signal and algorithm, in the order of the seeds.
RunsByCell = Mapping[tuple[str, str, str], list[Run]]


def _by_cell(runs: Iterable[Run]) -> RunsByCell:
    by_cell: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        host, signal, algorithm = (str(run.labels[k]) for k in ("host", "signal", "algorithm"))
        by_cell.setdefault((host, signal, algorithm), []).append(run)
    return by_cell


def _seeds_by_host(by_cell: RunsByCell) -> dict[str, tuple[int, int]]:
    """Count, by host, the seeds of the cell with the fewest and of the one with the most."""
    counts: dict[str, list[int]] = {}
    for (host, *_), runs in by_cell.items():
        counts.setdefault(host, []).append(len(runs))
    return {host: (min(cells), max(cells)) for host, cells in counts.items()}


def _on(host: str, cells: Iterable[Measured]) -> dict[ClaimedCell, Measured]:
    return {(c.signal, c.algorithm, c.metric): c for c in cells if c.host == host}


def command_of(
    experiment: Experiment, quick: bool, hosts: Sequence[str], seeds: Mapping[str, tuple[int, int]]
) -> str:
    """Write the command that makes these runs again. A host with other seeds than --quick gives
    needs --seeds. The two exclude each other, and then all hosts have --seeds."""
    most = {host: seeds[host][1] for host in hosts if host in seeds}
    other = {
        h: n for h, n in most.items() if n != len(seeds_on(experiment, h, quick, EXPERIMENTS_SEEDS))
    }
    if quick and other:
        quick, other = False, most
    words = ["sojourn", "reproduce", experiment.argument, *(["--quick"] if quick else [])]
    words += [word for host in hosts for word in ("--host", host)]
    words += [word for host, n in other.items() for word in ("--seeds", f"{host}={n}")]
    return shlex.join(words)


def judge(
    host: str,
    claim: Claim,
    experiments: Sequence[Experiment],
    measured: Mapping[str, Mapping[ClaimedCell, Measured]],
    calibrated: set[ClaimedCell],
    *,
    is_papers: bool = False,
) -> Judged:
    """Decide a claim of these experiments on a host, or name the runs that it lacks. `measured` has
    the cells of each that ran, by its name. A cell of a paper's claim names its experiment."""
    places = {cell: (experiments[0].name, cell) for cell in claim.cells()}
    if is_papers:
        for cell in places:
            name, _, signal = cell[0].partition(SEPARATOR)
            places[cell] = name, (signal, *cell[1:])
    values = _calculated(claim)
    gone: dict[str, list[str]] = {}  # signal and algorithm of each cell that did not run
    for cell, (name, own) in places.items():
        there = measured.get(name, {}).get(own)
        values[cell] = there.values if there else ()
        if not values[cell]:
            gone.setdefault(name, []).append(", ".join(own[:2]))
    if not gone:
        in_print = {e.name: e.published for e in experiments}
        published = {
            cell: in_print[name][own]
            for cell, (name, own) in places.items()
            if own in in_print.get(name, {})
        }
        decision = claims.decide(claim, values.__getitem__, calibrated, published)
        return Judged(host, claim, decision, ())
    ran = {name for name, cells in measured.items() if any(cell.ran for cell in cells.values())}
    missing = (
        lacking(experiment.id, list(dict.fromkeys(gone[experiment.name])), experiment.name in ran)
        for experiment in experiments
        if experiment.name in gone
    )
    return Judged(host, claim, None, tuple(missing) if ran else ())


def _calculated(claim: Claim) -> dict[ClaimedCell, Sequence[float]]:
    """Calculate the cells that no run has. A calculation has no noise: it counts as equal runs."""
    if not claim.theory:
        return {}
    return {
        (rtt, model, metric): [float(calculated.poles(claim, rtt, model))] * claims.SEEDS
        for pair, metric in claim.checks
        for rtt, model, _ in pair.cells(metric)
    }


def _cells(
    experiment: Experiment, host: str, hosts: Sequence[str], runs: RunsByCell
) -> list[Measured]:
    cells = []
    for signal in experiment.signals():
        ran = [name for of_host, label, name in runs if (of_host, label) == (host, signal.name)]
        wanted = [contender.name for contender in experiment.contenders(signal)]
        elsewhere = signal.ablates and host != (signal.host or hosts[0])
        cells += [
            _measured(experiment, host, signal, algorithm, metric, runs)
            for algorithm in dict.fromkeys(ran if elsewhere else [*ran, *wanted])
            for metric in (*signal.metrics, *signal.beside)
        ]
    return cells


def _measured(
    experiment: Experiment,
    host: str,
    signal: Signal,
    algorithm: str,
    metric: str,
    runs: RunsByCell = MappingProxyType({}),
) -> Measured:
    queue = str(experiment.data["queue"])
    values = (
        METRICS[metric].measure_run(run, queue, piece)
        for run in runs.get((host, signal.name, algorithm), ())
        for piece in experiment.pieces
    )
    published = experiment.published.get((signal.base, algorithm, metric))
    cell = Cell(experiment.name, signal.name, algorithm, metric)
    return Measured(cell, published, tuple(values), host)
