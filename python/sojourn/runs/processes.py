# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Worker processes of this machine. One that crashes breaks the whole pool; the run that did it is
found, and the others go on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.core.errors import RunError
from sojourn.runs.batch import Batch
from sojourn.runs.collect import collect
from sojourn.runs.job import Job, work
from sojourn.runs.pools import Future

if TYPE_CHECKING:
    from multiprocessing.context import SpawnContext
    from multiprocessing.process import BaseProcess
    from multiprocessing.synchronize import Event

# So long a run may take to end after a request to stop.
_GRACE_S = 1.0
# The engine looks up each 50 ms, unless an algorithm does not come back.
_STUCK_S = 30.0
# Why a worker may have ended so.
_ENDS = {
    signal.SIGKILL: "was killed twice (out of memory?)",
    signal.SIGFPE: "ended twice by SIGFPE (a division by zero?)",
    signal.SIGSEGV: "ended twice by SIGSEGV (a NULL pointer?)",
}


class _Worker:
    """What a worker and the waiting side both see: in a worker, a module's only one."""

    def __init__(self, stop: Event, shares: Any) -> None:
        # An array of doubles: the share done of each run, then when it was noted.
        self.stop, self.shares = stop, shares

    def watch(self, slot: int) -> Callable[[float], bool]:
        """How a run is watched."""

        def note(share: float) -> bool:
            self.shares[slot] = share
            self.shares[len(self.shares) // 2 + slot] = time.monotonic()
            return not self.stop.is_set()

        return note


_worker: _Worker | None = None


def _start_worker(stop: Event, shares: Any) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells its workers itself
    _worker = _Worker(stop, shares)
    threading.Thread(target=_end_with_parent, args=(stop,), daemon=True).start()


def _end_with_parent(stop: Event) -> None:
    """A command that is killed tells nobody, and its workers would wait for ever for work."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    assert parent
    wait([parent.sentinel])
    stop.set()
    time.sleep(_GRACE_S)
    os._exit(1)


def _work(slot: int, job: Job, scratch: Path) -> bytes:
    assert _worker
    return work(job, _worker.watch(slot), scratch)


class Processes:
    """A pool of processes for these jobs."""

    def __init__(
        self, context: SpawnContext, numbers: Sequence[int], workers: int, scratch: Path
    ) -> None:
        self.workers, self._scratch = min(workers, len(numbers)), scratch
        self._slots = {number: slot for slot, number in enumerate(numbers)}
        try:
            self._stop = context.Event()
            self._shares = context.Array("d", 2 * len(numbers), lock=False)
        except OSError as error:  # as in some containers
            raise RunError(
                f"several workers need shared memory, /dev/shm: {error.strerror}; mount it, or "
                "use --workers 1"
            ) from error
        self._executor = ProcessPoolExecutor(
            self.workers, context, _start_worker, (self._stop, self._shares)
        )
        # Runs that may not come back: with a user's file.
        self._risky: set[int] = set()
        self.last: list[BaseProcess] = []  # the workers, when the pool had ended

    def submit(self, number: int, job: Job) -> Future:
        """Have it run."""
        if job.files:
            self._risky.add(number)
        return self._executor.submit(_work, self._slots[number], job, self._scratch)

    def share(self, number: int) -> float:
        """How much of it is done."""
        return float(self._shares[self._slots[number]])

    def give_up(self, numbers: Collection[int]) -> Mapping[int, str]:
        """A run with a user's file that does not come back; its process is ended."""
        now = time.monotonic()
        half = len(self._slots)
        noted = {i: self._shares[half + self._slots[i]] for i in numbers if i in self._risky}
        stuck = [i for i, noted_s in noted.items() if noted_s and now - noted_s > _STUCK_S]
        if stuck:
            self._kill(self._workers())
        return dict.fromkeys(stuck, f"no progress for {_STUCK_S:.0f} s: an endless loop?")

    def stop(self, futures: Iterable[Future]) -> None:
        """End them; a process that does not heed it is killed."""
        self._stop.set()
        workers = self._workers()
        self._executor.shutdown(wait=not workers, cancel_futures=True)
        until = time.monotonic() + 2 * _GRACE_S
        for worker in workers:
            worker.join(max(0, until - time.monotonic()))
        self._kill(workers)

    def close(self) -> None:
        """All are done, or the pool broke."""
        self.last = self._workers()
        self._executor.shutdown()

    def _workers(self) -> list[BaseProcess]:
        return list((getattr(self._executor, "_processes", None) or {}).values())

    def _kill(self, workers: Sequence[BaseProcess]) -> None:
        for worker in workers:
            if worker.is_alive():
                worker.kill()


def run_apart(batch: Batch, workers: int) -> None:
    """A broken pool takes all its workers along: those under way are then run alone, where it is
    plain which one breaks it, and the rest goes on."""
    context = get_context("spawn")
    ends = _ENDS[signal.SIGKILL]
    suspects: set[int] = set()
    while rest := [i for i in batch.pending if i not in batch.settled | suspects]:
        begun, ends = _until_broken(batch, context, rest, workers, ends)
        suspects |= begun
    for i in sorted(suspects - batch.settled):
        begun, ends = _until_broken(batch, context, [i], 1, ends)
        if begun and i not in batch.failed:
            batch.failed[i] = f"its worker process {ends}"


def _until_broken(
    batch: Batch, context: SpawnContext, chosen: list[int], workers: int, ends: str
) -> tuple[set[int], str]:
    """Run these; the answer is which were under way when a worker was killed, and how it ended."""
    pool = Processes(context, chosen, workers, batch.scratch)
    if not collect(batch, pool, chosen):
        return set(), ends
    for worker in pool.last:
        if worker.exitcode in [-number for number in signal.Signals]:
            number = signal.Signals(-worker.exitcode)
            ends = _ENDS.get(number, f"ended twice by {number.name}")
    left = set(chosen) - batch.settled
    return {i for i in left if pool.share(i) > 0} or left, ends
