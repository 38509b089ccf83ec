# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pools of workers: threads of this process, or the workers of a client.

A pool puts the outcome of each job into a queue; it knows neither store nor result.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from sojourn.core.errors import RunError
from sojourn.runs.job import Job, work

if TYPE_CHECKING:
    from sojourn.runs.processes import Worker

# The key of a job, and a function that returns its packed run or raises the error of the run.
Outcome = tuple[str, Callable[[], bytes]]


class Pool(Protocol):
    """Workers that make several runs at once."""

    def submit(self, job: Job) -> None:
        """Add a job to those that the workers make."""
        ...

    def share(self, key: str) -> float:
        """Tell the share of a running job that is done; 0 where it is unknown."""
        ...

    def lost(self) -> bool:
        """Tell whether the workers are gone, and their unfinished jobs with them."""
        ...

    def stop(self) -> None:
        """Cancel the jobs that have not begun, and end the running ones."""
        ...


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
                make = process.work if process and job.is_risky else work
                packed = make(job, partial(self._watch, job.key), self._scratch)
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
        self._broken = False

    def submit(self, job: Job) -> None:
        """Submit a job to the client. RunError: the client refuses it."""
        from concurrent.futures import BrokenExecutor  # slow to import

        try:
            future = self._client.submit(work, job)
        except BrokenExecutor:
            self._broken = True
            return
        except Exception as error:
            raise RunError(f"the workers take no run: {error}") from error

        def result() -> bytes:
            del self._futures[job.key]
            try:
                return bytes(future.result())
            except BrokenExecutor:
                self._broken = True
                raise RunError("its workers are gone") from None

        self._futures[job.key] = future
        future.add_done_callback(lambda _: self._outcomes.put((job.key, result)))

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
