# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Stored runs of cases, without running any: the seeds of each case from 1 on, without a gap."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.core.errors import RunError
from sojourn.core.hosts import HZ
from sojourn.result.result import Run
from sojourn.runs.run import Case, jobs_of
from sojourn.store.store import Store


def is_ready(host: str, hz: int = HZ) -> bool:
    """Tell whether runs of the host can be looked up.

    Runs of Linux are filed under its kernel, and a look-up builds no kernel.
    """
    if host == "sim":
        return True
    from sojourn.linux.kernel import examine

    return all(found for _, found, _ in examine(hz))


def _in_reach(cases: Sequence[Case], host: str) -> list[Case]:
    """Return the cases whose kernel is built: the store has no runs of others."""
    ready = {hz: is_ready(host, hz) for hz in {case.scenario.linux.hz for case in cases}}
    return [case for case in cases if ready[case.scenario.linux.hz]]


def count(cases: Sequence[Case], seeds: Sequence[int], store: Store, host: str) -> int:
    """Count the stored runs. InputError: the host cannot run one of them."""
    cases = _in_reach(cases, host)
    if not cases:
        return 0
    return sum(store.has(job.key) for job in jobs_of(cases, seeds, (host,)))


def runs_of(cases: Sequence[Case], seeds: Sequence[int], store: Store, host: str) -> list[Run]:
    """Return the runs of each case, in order, up to the first seed that is missing.

    All cases therefore share their first seeds. InputError: the host cannot run one of them.
    """
    cases = _in_reach(cases, host)
    if not cases:
        return []
    try:
        jobs = jobs_of(cases, seeds, (host,))
    except RunError:  # programs that a kernel needs are missing
        return []
    found: list[Run] = []
    for first in range(0, len(jobs), len(seeds)):
        for job in jobs[first : first + len(seeds)]:
            entry = store.load(job.key)
            if entry is None:
                break
            found.append(Run(job.labels, entry.report, entry, job.queues))
    return found
