# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The executor, through which all runs go.

A `Runner` looks each job up in the store and has the missing runs made by workers
(`sojourn.runs.pools`). It files each run as it comes back. An interrupted command therefore keeps
its finished runs, and the same command continues from them.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sojourn.core.errors import InputError, Interrupted, RunError, StoreError
from sojourn.core.progress import Progress
from sojourn.result.result import Run
from sojourn.runs.job import Job, unpack
from sojourn.runs.pools import Client, Outcome, Pool, Threads, cores
from sojourn.store.store import Entry, Store

# The caller shows progress and answers Ctrl-C at this interval; the engine reports each 50 ms.
_POLL_S = 0.04
# Jobs submitted for each worker: enough that none waits, few enough that all others can be taken
# back at once and that finished runs do not pile up.
_AHEAD = 8
# A message names at most so many failed runs.
_NAMED = 20

T = TypeVar("T")


@dataclass(frozen=True)
class Runner:
    """The maker of runs: its store, its workers, their number, and whether stored runs are made
    again."""

    store: Store
    workers: int | None = None  # unless given, as many as processors
    # Others' workers: anything with `submit` and futures, such as an executor of
    # `concurrent.futures` or a client of Dask. Unless given, threads of this process.
    client: Any = None
    again: bool = False  # make also those that the store has

    def __post_init__(self) -> None:
        """Refuse a number of workers below 1."""
        if self.workers is not None and self.workers < 1:
            raise InputError(f"{self.workers} workers; allowed: 1 and more")

    def run(self, jobs: Sequence[Job], title: str) -> tuple[Run, ...]:
        """Make the run of each job, in their order; `title` is for progress.

        RunError: some runs failed, the others are kept. Interrupted: Ctrl-C, finished runs are
        kept.
        """
        entries = self.readings(jobs, title, lambda entry: entry)
        return tuple(
            Run(job.labels, entry.report, entry, job.queues)
            for job, entry in zip(jobs, entries, strict=True)
        )

    def readings(self, jobs: Sequence[Job], title: str, read: Callable[[Entry], T]) -> list[T]:
        """Make the runs, and keep in memory only the values that `read` takes from each."""
        kept: dict[str, T] = {}
        missing: dict[str, Job] = {}
        for job in jobs:
            if job.key in kept or job.key in missing:
                continue
            if self.again:
                self.store.discard(job.key)
            entry = self.store.load(job.key)
            if entry:
                kept[job.key] = read(entry)
            else:
                missing[job.key] = job

        def keep(job: Job, packed: bytes) -> None:
            self.store.save(job.key, unpack(packed))
            entry = self.store.load(job.key)
            if not entry:
                raise StoreError(f"{self.store.root}: the result of {job.title} was there, is gone")
            kept[job.key] = read(entry)

        try:
            failed = self._make(list(missing.values()), title, keep) if missing else {}
        except KeyboardInterrupt:
            count = sum(self.store.has(job.key) for job in jobs)
            raise Interrupted(
                f"interrupted: {count} of {len(jobs)} runs are finished and kept in "
                f"{self.store.root}; the same command goes on from there"
            ) from None
        if failed:
            raise _failure(missing.values(), failed, len(jobs))
        return [kept[job.key] for job in jobs]

    def _make(
        self, jobs: Sequence[Job], title: str, keep: Callable[[Job, bytes], None]
    ) -> dict[str, str]:
        """Have workers make these jobs, and return the reason of each failure by key."""
        workers = min(self.workers or cores(), len(jobs))
        outcomes: SimpleQueue[Outcome] = SimpleQueue()
        pool: Pool = (
            Threads(workers, self.store.root, outcomes)
            if self.client is None
            else Client(self.client, outcomes)
        )
        waiting = iter(jobs)
        under_way: dict[str, Job] = {}
        failed: dict[str, str] = {}
        settled = 0

        def settle(wait_s: float) -> None:
            nonlocal settled
            for key, packed in _arrived(outcomes, wait_s):
                job = under_way.pop(key)
                settled += 1
                try:
                    run = packed()
                except Exception as error:
                    failed[job.key] = str(error) or type(error).__name__
                else:
                    # A failure of the disk goes up: no further run could be kept either.
                    keep(job, run)

        try:
            with Progress(title, len(jobs)) as progress:
                while True:
                    with _interrupts_held():
                        for job in islice(waiting, max(_AHEAD * workers - len(under_way), 0)):
                            under_way[job.key] = job
                            pool.submit(job)
                        if not under_way:
                            break
                        settle(_POLL_S)
                    if pool.lost():
                        lost = [*under_way, *(job.key for job in waiting)]
                        return failed | dict.fromkeys(lost, "its workers are gone")
                    progress.update(settled + sum(map(pool.share, under_way)))
        except KeyboardInterrupt:
            pool.stop()
            settle(0)
            raise
        except BaseException:
            pool.stop()
            raise
        pool.stop()
        return failed


def _failure(jobs: Iterable[Job], failed: Mapping[str, str], count: int) -> RunError:
    lines = [f"  {job.title}: {failed[job.key]}" for job in jobs if job.key in failed]
    if len(lines) > _NAMED:
        lines[_NAMED:] = [f"  and {len(lines) - _NAMED} more"]
    return RunError(
        f"{len(failed)} of {count} runs failed; the other {count - len(failed)} are kept:\n"
        + "\n".join(lines)
    )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block. Threads that start within it never get the
    signal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _arrived(outcomes: SimpleQueue[Outcome], wait_s: float) -> Iterator[Outcome]:
    """Take the outcomes in the queue; if it is empty, wait this long for the first one."""
    try:
        yield outcomes.get(timeout=wait_s) if wait_s else outcomes.get_nowait()
        while True:
            yield outcomes.get_nowait()
    except Empty:
        return
