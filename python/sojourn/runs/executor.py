# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The executor, through which all runs go.

A `Runner` looks each job up in the store and has the missing runs made by workers. It files each
run as it comes back. An interrupted command therefore keeps its finished runs, and the same command
continues from them.

Workers are threads of this process, or those of a client. A pool of them puts the outcome of each
job into a queue; it knows neither store nor result.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from sojourn.core.errors import InputError, Interrupted, RunError, StoreError
from sojourn.core.progress import Progress
from sojourn.core.stops import STOPS
from sojourn.result.result import Run
from sojourn.runs.dask import Absence
from sojourn.runs.elsewhere import make, parcel
from sojourn.runs.job import Job, unpack, work
from sojourn.store.store import Entry, Store

if TYPE_CHECKING:
    from sojourn.runs.processes import Worker

# The caller shows progress and answers Ctrl-C at this interval; the engine reports each 50 ms.
_POLL_S = 0.04
# Jobs submitted for each worker: enough that none waits, few enough that all others can be taken
# back at once and that finished runs do not pile up.
_AHEAD = 8
# A message names at most so many failed runs.
_NAMED = 20

# A future that has ended is fetched for so long at first; the time doubles.
_FETCH_S = 1.0

T = TypeVar("T")
# The key of a job, and a function that returns its packed run or raises the error of the run.
Outcome = tuple[str, Callable[[], bytes]]


class _NotYet(Exception):
    """The outcome of a run is still to come."""


@dataclass(frozen=True)
class Runner:
    """The maker of runs: its store, its workers, their number, and whether stored runs are made
    again."""

    store: Store
    workers: int | None = None  # unless given, as many as processors
    # Others' workers: anything with `submit` and futures, such as an executor of
    # `concurrent.futures` or submitit, or a client of Dask. Unless given, threads of this process.
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
        entries = self.readings(jobs, title, lambda _, entry: entry)
        return tuple(
            Run(job.labels, entry.report, entry, job.queues)
            for job, entry in zip(jobs, entries, strict=True)
        )

    def readings(self, jobs: Sequence[Job], title: str, read: Callable[[Job, Entry], T]) -> list[T]:
        """Make the runs, and keep in memory only the values that `read` takes from each."""
        self.store.open()
        kept: dict[str, T] = {}
        missing: dict[str, Job] = {}
        with Progress(f"{title}, what is there", len(jobs)) as progress:
            for number, job in enumerate(jobs):
                progress.update(number)
                if job.key in kept or job.key in missing:
                    continue
                if self.again:
                    self.store.discard(job.key)
                entry = None if self.again else self.store.load(job.key)
                if entry:
                    kept[job.key] = read(job, entry)
                else:
                    missing[job.key] = job

        def keep(job: Job, packed: bytes) -> None:
            self.store.save(job.key, unpack(packed))
            entry = self.store.load(job.key)
            if not entry:
                raise StoreError(f"{self.store.root}: the result of {job.title} was there, is gone")
            kept[job.key] = read(job, entry)

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
        pool = (
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
                except _NotYet:
                    under_way[key] = job
                    settled -= 1
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
                    pool.attend()
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
    """Hold Ctrl-C and the like back until the end of the block. Threads that start within it never
    get these signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
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


def cores() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads of this process: the engine runs without Python's lock.

    A run with a user's C file may crash or never end. It is made in a process, for which its thread
    waits.
    """

    def __init__(self, workers: int, scratch: Path, outcomes: SimpleQueue[Outcome]) -> None:
        # Workers leave files in `scratch` that are too large for an answer.
        self._workers, self._scratch, self._outcomes = workers, scratch, outcomes
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()
        self._shares: dict[str, float] = {}

    def submit(self, job: Job) -> None:
        """Add a job; start another thread while there are fewer than workers."""
        self._jobs.put(job)
        if len(self._threads) < self._workers:
            self._threads.append(threading.Thread(target=self._work, daemon=True))
            self._threads[-1].start()

    def _work(self) -> None:
        process: Worker | None = None
        while (job := self._jobs.get()) and not self._stopped.is_set():
            try:
                if job.is_risky and not (process and process.is_alive):
                    from sojourn.runs.processes import Worker

                    process = Worker()
                worked = process.work if process and job.is_risky else work
                packed = worked(job, partial(self._watch, job.key), self._scratch)
            except BaseException as error:
                self._outcomes.put((job.key, partial(_fail, error)))
            else:
                self._outcomes.put((job.key, partial(bytes, packed)))
        if process and process.is_alive:
            process.close()

    def _watch(self, key: str, share: float) -> bool:
        self._shares[key] = share
        return not self._stopped.is_set()

    def share(self, key: str) -> float:
        """Tell the share of the job that is done."""
        return self._shares.get(key, 0.0)

    def attend(self) -> None:
        """Do nothing: threads report by themselves."""

    def lost(self) -> bool:
        """Return False: threads stay as long as the process."""
        return False

    def stop(self) -> None:
        """End the threads, and wait until all have ended."""
        self._stopped.set()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()


class Client:
    """Workers of a client with `submit`. The pool neither watches nor ends them, and leaves the
    client open."""

    def __init__(self, client: Any, outcomes: SimpleQueue[Outcome]) -> None:
        self._client, self._outcomes = client, outcomes
        self._futures: dict[str, Any] = {}
        # To be asked: those of submitit, which do not call back, and those of Dask that were lost.
        self._silent: dict[str, Callable[[], bytes]] = {}
        self._is_dask = hasattr(client, "ncores")
        self._absence = Absence(client)
        self._broken = False

    def submit(self, job: Job) -> None:
        """Submit a job to the client. RunError: the client refuses it."""
        from concurrent.futures import BrokenExecutor  # slow to import

        try:
            future = self._client.submit(make, parcel(job))
        except BrokenExecutor:
            self._broken = True
            return
        except Exception as error:
            raise RunError(f"the workers take no run: {error}") from error

        wait_s = _FETCH_S

        def result() -> bytes:
            nonlocal wait_s
            try:
                packed = bytes(future.result(timeout=wait_s) if self._is_dask else future.result())
            except TimeoutError:
                if self._is_dask and future.status != "error":
                    # It was lost with its worker, or it is large.
                    wait_s *= 2
                    self._silent[job.key] = result
                    raise _NotYet from None
                raise
            except BrokenExecutor:
                self._broken = True
                raise RunError("its workers are gone") from None
            finally:
                if job.key not in self._silent:
                    del self._futures[job.key]
            return packed

        self._futures[job.key] = future
        if hasattr(future, "add_done_callback"):
            future.add_done_callback(lambda _: self._outcomes.put((job.key, result)))
        else:
            self._silent[job.key] = result

    def attend(self) -> None:
        """Ask the futures that will not call back, and say when all workers are gone."""
        for key in [key for key in self._silent if self._futures[key].done()]:
            self._outcomes.put((key, self._silent.pop(key)))
        self._absence.look()

    def share(self, key: str) -> float:
        """Return 0: a client reports no progress."""
        return 0.0

    def lost(self) -> bool:
        """Tell whether the workers are gone.

        A client of Dask that lost its scheduler closes, and its futures never call back.
        """
        return self._broken or getattr(self._client, "status", "") == "closed"

    def stop(self) -> None:
        """Cancel the jobs that have not begun."""
        for future in self._futures.values():
            future.cancel()


def _fail(error: BaseException) -> bytes:
    raise error
