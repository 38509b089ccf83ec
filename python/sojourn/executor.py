# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The one function through which all runs go.

`run_all` looks each job up in the store, gives the rest to a `concurrent.futures` executor, and
answers with the entries. Workers file their own results, so whatever ends the command keeps what
was finished, and the same command takes up from there.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sojourn import _native
from sojourn.errors import InputError, Interrupted, RunError, StoreError
from sojourn.own.library import Library
from sojourn.progress import Progress
from sojourn.store import Entry, Store, key_of

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext
    from multiprocessing.process import BaseProcess

# How often the waiting side looks at its workers: Ctrl-C is answered within this and the
# engine's own 50 ms.
_POLL_S = 0.04
# Jobs submitted for each worker: enough that none waits, few enough that waiting for them is cheap
# and that all others can be taken back at once.
_AHEAD = 8
# So long a run may take to put its files away after a request to stop.
_GRACE_S = 1.0
# The engine looks up each 50 ms, unless an algorithm does not come back.
_STUCK_S = 30.0
# Why a worker may have ended so.
_ENDS = {
    signal.SIGKILL: "was killed twice (out of memory?)",
    signal.SIGFPE: "ended twice by SIGFPE (a division by zero?)",
    signal.SIGSEGV: "ended twice by SIGSEGV (a NULL pointer?)",
}


@dataclass(frozen=True)
class Job:
    """One run: an engine scenario (as JSON), a seed, and what to call it in messages."""

    scenario: str
    seed: int
    title: str
    # What runs it, in full: empty for the engine, else the host with all that it is made of.
    host: str = ""
    # Users' files that it runs; the scenario names them by their content.
    files: tuple[Library, ...] = ()

    @property
    def core(self) -> str:
        """What decides its outcome, besides scenario and seed."""
        return " ".join(filter(None, (_native.core_version(), self.host)))

    @cached_property
    def key(self) -> str:
        """Where its result is filed."""
        return key_of(self.scenario, self.seed, self.core)


class _Flag(Protocol):
    def is_set(self) -> bool: ...
    def set(self) -> None: ...


@dataclass
class _Shared:
    """What a worker and the waiting side both see."""

    stop: _Flag
    shares: Any  # an array of doubles: the share done of each job, then when it was noted


_shared: _Shared | None = None


def _start_worker(stop: _Flag, shares: Any) -> None:
    global _shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells its workers itself
    _shared = _Shared(stop, shares)
    threading.Thread(target=_end_with_parent, args=(stop,), daemon=True).start()


def _end_with_parent(stop: _Flag) -> None:
    """A command that is killed tells nobody, and its workers would wait for ever for work."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    assert parent
    wait([parent.sentinel])
    stop.set()
    time.sleep(_GRACE_S)
    os._exit(1)


def _work_in_process(index: int, job: Job, root: Path) -> bool:
    assert _shared
    return work(job, root, _shared.stop.is_set, lambda share: _note(_shared, index, share))


def _note(shared: _Shared | None, index: int, share: float) -> None:
    assert shared
    shared.shares[index] = share
    shared.shares[len(shared.shares) // 2 + index] = time.monotonic()


def work(job: Job, root: Path, stopped: Callable[[], bool], note: Callable[[float], None]) -> bool:
    """One run, filed in the store at `root`; False after a request to stop."""

    def progress(share: float) -> bool:
        note(share)
        return not stopped()

    note(1e-9)  # begun
    if job.files:
        from sojourn import algorithms

        algorithms.adopt(job.files)
    outcome = _on_linux(job, progress) if job.host else _simulate(job, progress)
    if outcome is None:
        return False
    report, series, events = outcome
    run = {
        "core": job.core,
        "seed": job.seed,
        "scenario": json.loads(job.scenario),
        "report": report,
    }
    if job.files:
        run["sources"] = {file.engine: file.sources() for file in job.files}
    tables = {"series": series}
    if events is not None:
        tables["events"] = events
    Store(root).save(job.key, run, tables)
    note(1.0)
    return True


_Outcome = tuple[dict[str, Any], bytes, bytes | None]


def _simulate(job: Job, progress: Callable[[float], bool]) -> _Outcome | None:
    # The engine runs in this thread.
    begun_s = time.thread_time()
    outcome = _native.run(job.scenario, job.seed, progress)
    cpu_s = time.thread_time() - begun_s
    if outcome is None:
        return None
    report, series, events = outcome
    return {**json.loads(report), "cpu_s": cpu_s}, series, events


def _on_linux(job: Job, progress: Callable[[float], bool]) -> _Outcome | None:
    from sojourn.linux import run  # most runs do without

    return run.run(job.scenario, job.seed, progress)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the end of this. Submitting starts workers, which inherit it: a Ctrl-C
    that meets one before it can ignore them would kill it, and the pool with it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(executor: Executor, stop: _Flag) -> None:
    """Stop what is under way. A process that does not heed it is ended; a thread cannot be."""
    stop.set()
    workers = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=not workers, cancel_futures=True)
    until = time.monotonic() + 2 * _GRACE_S
    for worker in workers:
        worker.join(max(0, until - time.monotonic()))
    _kill(executor, workers)


def _kill(executor: Executor, workers: Sequence[BaseProcess] = ()) -> None:
    for worker in workers or list((getattr(executor, "_processes", None) or {}).values()):
        if worker.is_alive():
            worker.kill()


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    jobs: Sequence[Job],
    *,
    store: Store,
    workers: int | None = None,
    again: bool = False,
    title: str = "running",
    processes: bool = False,
) -> list[Entry]:
    """The entries of all jobs, in order; with `again`, those in the store are made anew.
    Several workers are threads, or with `processes` processes.

    RunError: some runs failed, the others are kept. Interrupted: Ctrl-C, finished runs are kept.
    """
    if workers is not None and workers < 1:
        raise InputError(f"{workers} workers; allowed: 1 and more")
    if again:
        for job in jobs:
            store.discard(job.key)
    todo = [i for i, job in enumerate(jobs) if store.load(job.key) is None]
    first = {jobs[i].key: i for i in reversed(todo)}
    pending = sorted(first.values())
    if pending:
        at_once = min(workers or cores(), len(pending))
        _Batch(jobs, pending, store, at_once, title, processes).run()
    entries = [store.load(job.key) for job in jobs]
    lost = [job.title for job, entry in zip(jobs, entries, strict=True) if entry is None]
    if lost:
        raise StoreError(f"{store.root}: results were there and are gone: {', '.join(lost[:3])}")
    return [entry for entry in entries if entry is not None]


def _submit(
    submit: Callable[[int], Future[bool]], jobs: Iterator[int], waiting: dict[Future[bool], int]
) -> bool:
    """Whether the pool took all of them; one that is broken takes none."""
    try:
        for i in jobs:
            waiting[submit(i)] = i
    except BrokenExecutor:
        return False
    return True


class _Batch:
    """The runs that are still to be made."""

    def __init__(
        self,
        jobs: Sequence[Job],
        pending: list[int],
        store: Store,
        workers: int,
        title: str,
        processes: bool,
    ) -> None:
        self.jobs, self.pending, self.store = jobs, pending, store
        self.workers, self.processes = workers, processes
        self.failed: dict[int, str] = {}
        self.done: set[int] = set()
        self.ended = _ENDS[signal.SIGKILL]  # how the last worker did
        self.progress = Progress(title, len(pending))

    def run(self) -> None:
        with self.progress:
            # A user's file may end the process, or never come back.
            risky = any(self.jobs[i].files for i in self.pending)
            if self.processes and (self.workers > 1 or risky):
                self._in_processes()
            else:
                self._in_threads()
        if self.failed:
            lines = [f"  {self.jobs[i].title}: {why}" for i, why in sorted(self.failed.items())]
            kept = len(self.jobs) - len(self.failed)
            raise RunError(
                f"{len(self.failed)} of {len(self.jobs)} runs failed; the other {kept} are kept:\n"
                + "\n".join(lines)
            )

    def _in_threads(self) -> None:
        stop, shares = threading.Event(), dict.fromkeys(self.pending, 0.0)
        with ThreadPoolExecutor(self.workers) as executor:

            def submit(i: int) -> Future[bool]:
                note = partial(shares.__setitem__, i)
                return executor.submit(work, self.jobs[i], self.store.root, stop.is_set, note)

            self._collect(executor, submit, self.pending, stop, shares)

    def _in_processes(self) -> None:
        """A broken pool takes all its workers along: those under way are then run alone, where
        it is plain which one breaks it, and the rest goes on."""
        import multiprocessing  # a single run does without

        context = multiprocessing.get_context("spawn")
        suspects = self._pool(context, self.pending, self.workers)
        while rest := [i for i in self.pending if i not in self._settled() | suspects]:
            suspects |= self._pool(context, rest, self.workers)
        for i in sorted(suspects - self._settled()):
            if self._pool(context, [i], 1) and i not in self.failed:
                self.failed[i] = f"its worker process {self.ended}"

    def _settled(self) -> set[int]:
        return self.done | set(self.failed)

    def _pool(self, context: SpawnContext, chosen: list[int], workers: int) -> set[int]:
        """Run these jobs; the answer is which ones were under way when a worker was killed."""
        from concurrent.futures import ProcessPoolExecutor

        try:
            stop, shares = context.Event(), context.Array("d", 2 * len(self.jobs), lock=False)
        except OSError as error:  # as in some containers
            raise RunError(
                f"several workers need shared memory, /dev/shm: {error.strerror}; mount it, or "
                "use --workers 1"
            ) from error
        with ProcessPoolExecutor(
            min(workers, len(chosen)), context, _start_worker, (stop, shares)
        ) as executor:

            def submit(i: int) -> Future[bool]:
                return executor.submit(_work_in_process, i, self.jobs[i], self.store.root)

            broken = self._collect(executor, submit, chosen, stop, shares)
            workers_left = list((executor._processes or {}).values()) if broken else []
        for worker in workers_left:
            if worker.exitcode in [-number for number in signal.Signals]:
                number = signal.Signals(-worker.exitcode)
                self.ended = _ENDS.get(number, f"ended twice by {number.name}")
        begun = {i for i in chosen if shares[i] > 0 and i not in self._settled()}
        if broken and not begun:
            begun = set(chosen) - self._settled()
        return begun if broken else set()

    def _collect(
        self,
        executor: Executor,
        submit: Callable[[int], Future[bool]],
        chosen: list[int],
        stop: _Flag,
        shares: Any,
    ) -> bool:
        """Submit these jobs, a few ahead of the workers, and wait for all; True when the pool
        broke."""
        broken, rest = False, iter(chosen)
        waiting: dict[Future[bool], int] = {}
        try:
            while True:
                # `wait` takes the lock of each future; an interrupt half-way would keep some.
                with _interrupts_held():
                    if not broken:
                        ahead = islice(rest, _AHEAD * self.workers - len(waiting))
                        broken = not _submit(submit, ahead, waiting)
                    finished, _ = wait(waiting, _POLL_S, FIRST_COMPLETED)
                for future in finished:
                    broken |= self._settle(future, waiting.pop(future))
                self._end_stuck(executor, waiting, shares)
                under_way = sum(shares[i] for i in waiting.values())
                self.progress.update(len(self.done) + len(self.failed) + under_way)
                if not waiting:
                    break
        except KeyboardInterrupt:
            _end(executor, stop)
            kept = sum(self.store.load(job.key) is not None for job in self.jobs)
            raise Interrupted(
                f"interrupted: {kept} of {len(self.jobs)} runs are finished and kept in "
                f"{self.store.root}; the same command goes on from there"
            ) from None
        except BaseException:
            _end(executor, stop)
            raise
        return broken

    def _end_stuck(
        self, executor: Executor, waiting: Mapping[Future[bool], int], shares: Any
    ) -> None:
        """A run with a user's file that does not come back is given up, its process ended."""
        for i in waiting.values():
            noted_s = shares[len(shares) // 2 + i] if len(shares) > len(self.jobs) else 0
            if not (noted_s and self.jobs[i].files and i not in self._settled()):
                continue
            if time.monotonic() - noted_s > _STUCK_S:
                self.failed[i] = f"no progress for {_STUCK_S:.0f} s: an endless loop?"
                _kill(executor)

    def _settle(self, future: Future[bool], i: int) -> bool:
        try:
            future.result()
            self.done.add(i)
        except BrokenExecutor:
            return True
        except StoreError:
            raise  # the disk: no further run could be kept either
        except Exception as error:
            self.failed[i] = str(error) or type(error).__name__
        return False
