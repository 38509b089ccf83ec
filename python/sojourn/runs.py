# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""From a scenario, algorithms and seeds to a Result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.errors import InputError
from sojourn.executor import Job, run_all
from sojourn.result import Result, Run
from sojourn.scenario.changes import use_algorithm
from sojourn.scenario.model import Scenario
from sojourn.store import Store, default_root


@dataclass(frozen=True)
class Case:
    """One scenario to run under every seed, and the labels of its runs."""

    scenario: Scenario
    labels: Mapping[str, str | int]


def open_store(out: str | Path | None) -> Store:
    """The store in a result's folder, or the user's own."""
    return Store(Path(out) / "runs" if out else default_root())


def check_host(host: str) -> None:
    """Only the simulator can run scenarios so far."""
    if host == "linux":
        raise InputError(
            "--host linux: this version runs scenarios in its simulator only; "
            "the Linux kernel in virtual time is the next host to come. Use --host sim"
        )
    if host != "sim":
        raise InputError(f"--host {host}: there is no such host; allowed: sim")


def cases_of(scenario: Scenario, aqms: Sequence[str]) -> list[Case]:
    """The scenario with each algorithm in the queues under test, or as it is."""
    cases = []
    for name in aqms:

        def put(data: dict[str, Any], name: str = name) -> None:
            use_algorithm(data, name)

        cases.append(Case(scenario.replace(put), {"aqm": name}))
    return cases or [Case(scenario, {"aqm": _algorithms_of(scenario)})]


def _algorithms_of(scenario: Scenario) -> str:
    graph = scenario.expand()
    names = {link.queue.algorithm for link in graph.links if link.name in graph.record.queues}
    return "+".join(sorted(names))


def run_cases(
    cases: Sequence[Case],
    seeds: Sequence[int],
    *,
    store: Store,
    workers: int | None = None,
    again: bool = False,
    title: str = "running",
) -> tuple[Run, ...]:
    """Every case under every seed, in that order."""
    jobs, labels = [], []
    for case in cases:
        scenario = json.dumps(case.scenario.to_engine(), sort_keys=True)
        name = " ".join(str(value) for value in case.labels.values())
        for seed in seeds:
            jobs.append(Job(scenario, seed, f"{case.scenario.name}, {name}, seed {seed}"))
            labels.append({**case.labels, "seed": seed, "host": "sim"})
    entries = run_all(jobs, store=store, workers=workers, again=again, title=title)
    return tuple(
        Run(label, entry.report, entry) for label, entry in zip(labels, entries, strict=True)
    )


def run(
    scenario: Scenario,
    *,
    aqms: Sequence[str] = (),
    seeds: int = 1,
    out: str | Path | None = None,
    workers: int | None = None,
    again: bool = False,
) -> Result:
    """Run a scenario: with each of `aqms` in its queues under test, and seeds 1 to `seeds`.

    Runs that the store already holds are taken from there, unless `again`.
    """
    if seeds < 1:
        raise InputError(f"{seeds} seeds; allowed: 1 and more")
    cases = cases_of(scenario, aqms)
    runs = run_cases(
        cases,
        range(1, seeds + 1),
        store=open_store(out),
        workers=workers,
        again=again,
        title=f"running {scenario.name}",
    )
    result = Result(cases[0].scenario.expand(), runs)
    if out:
        result.save(out)
    return result
