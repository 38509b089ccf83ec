# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The one function through which all runs go.

`run_all` looks each job up in the store, submits the rest to a pool, files each run as it comes
back, and answers with what the caller reads of each. So whatever ends the command keeps what was
finished, and the same command takes up from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sojourn.core.errors import InputError, Interrupted, RunError, StoreError
from sojourn.runs.batch import Batch
from sojourn.runs.job import Job, unpack
from sojourn.store.store import Entry, Store

# Failed runs that a message names.
_NAMED = 20

T = TypeVar("T")


def run_all(
    jobs: Sequence[Job],
    *,
    store: Store,
    read: Callable[[Entry], T],
    workers: int | None = None,
    again: bool = False,
    title: str = "running",
    processes: bool = False,
    client: Any = None,
) -> list[T]:
    """What `read` makes of each job's entry, in order; with `again`, those in the store are made
    anew. Several workers are threads, or with `processes` processes; or `client` runs them, which
    is anything with `submit` and futures: an executor of `concurrent.futures`, a client of Dask.

    RunError: some runs failed, the others are kept. Interrupted: Ctrl-C, finished runs are kept.
    """
    if workers is not None and workers < 1:
        raise InputError(f"{workers} workers; allowed: 1 and more")
    found: dict[str, T] = {}
    pending: dict[str, int] = {}
    for i, job in enumerate(jobs):
        if job.key in found or job.key in pending:
            continue
        if again:
            store.discard(job.key)
        entry = store.load(job.key)
        if entry:
            found[job.key] = read(entry)
        else:
            pending[job.key] = i

    def keep(job: Job, packed: bytes) -> None:
        store.save(job.key, unpack(packed))
        entry = store.load(job.key)
        if not entry:
            raise StoreError(f"{store.root}: the result of {job.title} was there and is gone")
        found[job.key] = read(entry)

    if pending:
        batch = Batch(jobs, list(pending.values()), keep, title, store.root)
        try:
            _run(batch, workers, processes, client)
        except KeyboardInterrupt:
            kept = sum(store.has(job.key) for job in jobs)
            raise Interrupted(
                f"interrupted: {kept} of {len(jobs)} runs are finished and kept in "
                f"{store.root}; the same command goes on from there"
            ) from None
    return [found[job.key] for job in jobs]


def _run(batch: Batch, workers: int | None, processes: bool, client: Any) -> None:
    only = batch.jobs[batch.pending[0]] if len(batch.pending) == 1 else None
    with batch.progress:
        if only and client is None and not only.files and not only.host:
            # Pools take longer to import than many a run to make.
            batch.make_here(batch.pending[0])
        else:
            _run_in_pool(batch, workers, processes, client)
    if batch.failed:
        lines = [f"  {batch.jobs[i].title}: {why}" for i, why in sorted(batch.failed.items())]
        if len(lines) > _NAMED:
            lines[_NAMED:] = [f"  and {len(lines) - _NAMED} more"]
        kept = len(batch.jobs) - len(batch.failed)
        raise RunError(
            f"{len(batch.failed)} of {len(batch.jobs)} runs failed; the other {kept} are kept:\n"
            + "\n".join(lines)
        )


def _run_in_pool(batch: Batch, workers: int | None, processes: bool, client: Any) -> None:
    from sojourn.runs.collect import collect
    from sojourn.runs.pools import Client, Threads, cores

    at_once = min(workers or cores(), len(batch.pending))
    # A user's file may end the process, or never come back.
    risky = any(batch.jobs[i].files for i in batch.pending)
    if client is not None:
        broken = collect(batch, Client(client, at_once), batch.pending)
        for i in set(batch.pending) - batch.settled if broken else ():
            batch.failed[i] = "its workers are gone"
    elif processes and (at_once > 1 or risky):
        from sojourn.runs.processes import run_apart

        run_apart(batch, at_once)
    else:
        collect(batch, Threads(at_once, batch.scratch), batch.pending)
