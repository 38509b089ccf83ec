# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What runs under every seed: a checked scenario, as the engine reads it, on a host."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sojourn.core.hosts import BINNED, HZ
from sojourn.result.result import Run
from sojourn.runs.executor import run_all
from sojourn.runs.job import Job
from sojourn.store.store import Store

if TYPE_CHECKING:
    from sojourn.core.algorithm import Library

# More would be a slip: all runs of a command are listed before the first one.
MAX_SEEDS = 1_000_000
# What a run is called in tables and files, seed and host included.
Labels = dict[str, str | int]


@dataclass(frozen=True)
class Form:
    """A scenario on a host, and the labels of its runs without the seed."""

    scenario: str  # the engine's, as JSON
    labels: Mapping[str, str | int]
    host: str  # as tables call it
    title: str  # in messages
    files: tuple[Library, ...] = ()  # users' own that it runs
    queues: Mapping[str, str] = field(default_factory=dict)  # as those of `Job`
    shorthand: bool = False  # the file has no links of its own


def jobs_of_forms(forms: Sequence[Form], seeds: Sequence[int]) -> list[tuple[Job, Labels]]:
    """Every form under every seed, in that order, and the labels of each run."""
    machines = [_machine(form) for form in forms]
    by_machine: dict[tuple[str, int], list[Form]] = {}
    for form, machine in zip(forms, machines, strict=True):
        by_machine.setdefault(machine, []).append(form)
    made_of = {machine: _made_of(*machine, of) for machine, of in by_machine.items()}
    return [
        (
            Job(
                form.scenario,
                seed,
                f"{form.title}, seed {seed}",
                made_of[machine],
                form.files,
                form.queues,
            ),
            {**form.labels, "seed": seed, "host": form.host},
        )
        for form, machine in zip(forms, machines, strict=True)
        for seed in seeds
    ]


def run_jobs(
    jobs: Sequence[tuple[Job, Labels]],
    *,
    store: Store,
    workers: int | None = None,
    again: bool = False,
    title: str = "running",
    processes: bool = False,
    client: Any = None,
) -> tuple[Run, ...]:
    """Each of them, in that order."""
    entries = run_all(
        [job for job, _ in jobs],
        store=store,
        read=lambda entry: entry,
        workers=workers,
        again=again,
        title=title,
        processes=processes,
        client=client,
    )
    return tuple(
        Run(labels, entry.report, entry, job.queues)
        for (job, labels), entry in zip(jobs, entries, strict=True)
    )


def _machine(form: Form) -> tuple[str, int]:
    """Where it runs: the host, and the ticks per second of its kernel."""
    host = form.host.removesuffix(BINNED)
    return host, HZ if host == "sim" else json.loads(form.scenario).get("hz", HZ)


def _made_of(host: str, hz: int, forms: Iterable[Form]) -> str:
    """What the host is made of, for the key of the store; a kernel is built where there is none."""
    if host == "sim":
        return ""
    from sojourn.linux import kernel

    ready = kernel.ready(hz=hz)
    for form in forms:
        kernel.module_for(ready, form.files)
    return ready.version
