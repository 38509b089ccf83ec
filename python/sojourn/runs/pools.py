# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Who makes runs: threads of this process, or somebody else's workers. A pool puts the outcome of
each job into a queue; it knows neither store nor result."""

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

# The key of a job, and a function that answers with its run or raises why there is none.
Outcome = tuple[str, Callable[[], bytes]]


class Pool(Protocol):
    """Runs jobs, several at once."""

    def submit(self, job: Job) -> None:
        """Have it made."""
        ...

    def share(self, key: str) -> float:
        """Tell how much of a run under way is done; 0 where nobody knows."""
        ...

    def lost(self) -> bool:
        """Tell whether the workers are gone, with all that is under way."""
        ...

    def stop(self) -> None:
        """Take back what has not begun, and end what is under way."""
        ...


def cores() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """Threads of this process: the engine holds no lock of Python's. A run with a user's C file,
    which may crash or never come back, is made in a process, for which its thread waits."""

    def __init__(self, workers: int, scratch: Path, outcomes: SimpleQueue[Outcome]) -> None:
        # Workers leave in `scratch` what is too large for an answer.
        self._workers, self._scratch, self._outcomes = workers, scratch, outcomes
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()
        self._shares: dict[str, float] = {}

    def submit(self, job: Job) -> None:
        """Have it made."""
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
        """Tell how much of it is done."""
        return self._shares.get(key, 0.0)

    def lost(self) -> bool:
        """Threads are never gone."""
        return False

    def stop(self) -> None:
        """End them; the answer comes when they have."""
        self._stopped.set()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()


class Client:
    """Somebody else's workers, through `submit`. They are neither watched nor ended from here, and
    the client stays open."""

    def __init__(self, client: Any, outcomes: SimpleQueue[Outcome]) -> None:
        self._client, self._outcomes = client, outcomes
        self._futures: dict[str, Any] = {}
        self._broken = False

    def submit(self, job: Job) -> None:
        """Have it made."""
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
        """Nobody tells."""
        return 0.0

    def lost(self) -> bool:
        """Tell whether they are gone. A client of Dask that lost its scheduler closes, and its
        futures never call."""
        return self._broken or getattr(self._client, "status", "") == "closed"

    def stop(self) -> None:
        """Take back what has not begun."""
        for future in self._futures.values():
            future.cancel()


def _fail(error: BaseException) -> bytes:
    raise error
