# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the store has of cases, without running any: whole cells alone, with every seed."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn.errors import RunError
from sojourn.result import Run
from sojourn.runs import Case, jobs_of
from sojourn.store import Store


def is_ready(host: str) -> bool:
    """Whether runs of the host can be looked up: those of Linux are filed under its kernel, which
    is not built only to look."""
    if host == "sim":
        return True
    from sojourn.linux.kernel import examine

    return all(found for _, found, _ in examine())


def count(cases: Sequence[Case], seeds: Sequence[int], store: Store, host: str) -> int:
    """How many of the runs there are. InputError where the host cannot run one of them."""
    if not cases or not is_ready(host):
        return 0
    return sum(store.has(job.key) for job, _ in jobs_of(cases, seeds, (host,)))


def runs_of(cases: Sequence[Case], seeds: Sequence[int], store: Store, host: str) -> list[Run]:
    """The runs of each case that has all its seeds, in order. InputError where the host cannot run
    one of them."""
    if not cases or not is_ready(host):
        return []
    try:
        jobs = jobs_of(cases, seeds, (host,))
    except RunError:  # programs that a kernel needs are missing here
        return []
    found: list[Run] = []
    for first in range(0, len(jobs), len(seeds)):
        of_case = jobs[first : first + len(seeds)]
        if not all(store.has(job.key) for job, _ in of_case):
            continue
        entries = [store.load(job.key) for job, _ in of_case]
        pairs = zip(of_case, entries, strict=True)
        runs = [Run(labels, entry.report, entry) for (_, labels), entry in pairs if entry]
        found += runs if len(runs) == len(seeds) else []
    return found
