# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The one function through which all runs go.

`run_all` looks each job up in the store, submits the rest to a pool, files each run as it comes
back, and answers with what the caller reads of each. So whatever ends the command keeps what was
finished, and the same command takes up from there.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sojourn.errors import InputError, Interrupted, RunError, StoreError
from sojourn.job import Job, unpack
from sojourn.pools import Client, Future, Pool, Threads, cores
from sojourn.progress import Progress
from sojourn.store import Entry, Store

# How often the waiting side looks at its workers: Ctrl-C is answered within this and the
# engine's own 50 ms.
_POLL_S = 0.04
# Jobs submitted for each worker: enough that none waits, few enough that all others can be taken
# back at once and that finished runs do not pile up.
_AHEAD = 8
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
        at_once = min(workers or cores(), len(pending))
        batch = Batch(jobs, list(pending.values()), keep, title)
        try:
            _run(batch, at_once, processes, client)
        except KeyboardInterrupt:
            kept = sum(store.has(job.key) for job in jobs)
            raise Interrupted(
                f"interrupted: {kept} of {len(jobs)} runs are finished and kept in "
                f"{store.root}; the same command goes on from there"
            ) from None
    return [found[job.key] for job in jobs]


def _run(batch: Batch, workers: int, processes: bool, client: Any) -> None:
    with batch.progress:
        # A user's file may end the process, or never come back.
        risky = any(batch.jobs[i].files for i in batch.pending)
        if client is not None:
            broken = batch.collect(Client(client, workers), batch.pending)
            for i in set(batch.pending) - batch.settled if broken else ():
                batch.failed[i] = "its workers are gone"
        elif processes and (workers > 1 or risky):
            from sojourn.processes import run_apart  # a single run does without

            run_apart(batch, workers)
        else:
            batch.collect(Threads(workers), batch.pending)
    if batch.failed:
        lines = [f"  {batch.jobs[i].title}: {why}" for i, why in sorted(batch.failed.items())]
        if len(lines) > _NAMED:
            lines[_NAMED:] = [f"  and {len(lines) - _NAMED} more"]
        kept = len(batch.jobs) - len(batch.failed)
        raise RunError(
            f"{len(batch.failed)} of {len(batch.jobs)} runs failed; the other {kept} are kept:\n"
            + "\n".join(lines)
        )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the end of this. Submitting starts workers, which inherit it: a Ctrl-C
    that meets one before it can ignore them would kill it, and the pool with it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Batch:
    """The runs that are still to be made, whatever pool makes them."""

    def __init__(
        self,
        jobs: Sequence[Job],
        pending: Sequence[int],
        keep: Callable[[Job, bytes], None],
        title: str,
    ) -> None:
        self.jobs, self.pending, self.keep = jobs, pending, keep
        self.done: set[int] = set()
        self.failed: dict[int, str] = {}
        self.progress = Progress(title, len(pending))

    @property
    def settled(self) -> set[int]:
        """Those that need no further try."""
        return self.done | set(self.failed)

    def collect(self, pool: Pool, chosen: Iterable[int]) -> bool:
        """Submit these jobs, a few ahead of the workers, and file each that comes back; True where
        the pool broke."""
        rest = iter(chosen)
        waiting: dict[Future, int] = {}
        finished: SimpleQueue[Future] = SimpleQueue()
        broken = False
        try:
            while True:
                with _interrupts_held():
                    if not broken:
                        ahead = islice(rest, max(_AHEAD * pool.workers - len(waiting), 0))
                        broken = not self._submit(pool, ahead, waiting, finished)
                    if not waiting:
                        break
                    for future in _all_of(finished, _POLL_S):
                        broken |= self._settle(future, waiting.pop(future))
                for i, why in pool.give_up(waiting.values()).items():
                    if i not in self.settled:
                        self.failed[i] = why
                self._show(pool, waiting.values())
        except BrokenExecutor:
            broken = True
        except KeyboardInterrupt:
            pool.stop(waiting)
            for future in _all_of(finished, 0):
                self._settle(future, waiting.pop(future))
            raise
        except BaseException:
            pool.stop(waiting)
            raise
        pool.close()
        return broken

    def _submit(
        self,
        pool: Pool,
        numbers: Iterator[int],
        waiting: dict[Future, int],
        finished: SimpleQueue[Future],
    ) -> bool:
        """Whether the pool took all of them; one that is broken takes none."""
        try:
            for i in numbers:
                future = pool.submit(i, self.jobs[i])
                waiting[future] = i
                future.add_done_callback(finished.put)
        except BrokenExecutor:
            return False
        return True

    def _settle(self, future: Future, i: int) -> bool:
        """File what came back; True where it is that the pool broke."""
        try:
            packed = future.result()
        except BrokenExecutor:
            return True
        except Exception as error:
            self.failed[i] = str(error) or type(error).__name__
            return False
        # A failure of the disk goes up: no further run could be kept either.
        self.keep(self.jobs[i], packed)
        self.done.add(i)
        return False

    def _show(self, pool: Pool, under_way: Collection[int]) -> None:
        shares = sum(pool.share(i) for i in under_way)
        self.progress.update(len(self.done) + len(self.failed) + shares)


def _all_of(finished: SimpleQueue[Future], wait_s: float) -> Iterator[Future]:
    """What is there, and if nothing is, what comes within this time."""
    try:
        yield finished.get(timeout=wait_s) if wait_s else finished.get_nowait()
        while True:
            yield finished.get_nowait()
    except Empty:
        return
