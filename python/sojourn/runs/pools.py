# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Where runs are made: threads here, processes (`sojourn.runs.processes`), or whatever else has
`submit` and futures. A pool runs `job.work` and knows neither store nor result."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from sojourn.core.errors import RunError
from sojourn.runs.job import Job, work


class Future(Protocol):
    """What `concurrent.futures` and Dask have in common."""

    def result(self) -> bytes:
        """The run, or what it raised."""
        ...

    def add_done_callback(self, fn: Callable[[Any], object], /) -> None:
        """Call this with the future when it is done, from any thread."""
        ...

    def cancel(self) -> object:
        """Take it back, if it has not begun."""
        ...


class Pool(Protocol):
    """Runs jobs, several at once; a job has a number by which it is spoken of."""

    workers: int

    def submit(self, number: int, job: Job) -> Future:
        """Have it run; BrokenExecutor where no worker is left."""
        ...

    def share(self, number: int) -> float:
        """How much of a run under way is done; 0 where nobody can tell."""
        ...

    def give_up(self, numbers: Collection[int]) -> Mapping[int, str]:
        """Those of the runs under way that will not come back, and why; BrokenExecutor where none
        will."""
        ...

    def stop(self, futures: Iterable[Future]) -> None:
        """End these, and take back what has not begun."""
        ...

    def close(self) -> None:
        """All are done."""
        ...


def cores() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Threads:
    """The engine holds no lock of Python's. A thread cannot be ended: it heeds the request."""

    def __init__(self, workers: int, scratch: Path) -> None:
        self.workers, self._scratch = workers, scratch
        self._executor = ThreadPoolExecutor(workers)
        self._stop = threading.Event()
        self._shares: dict[int, float] = {}

    def submit(self, number: int, job: Job) -> Future:
        """Have it run."""
        watch = partial(self._watch, number)
        return self._executor.submit(work, job, watch, self._scratch)

    def _watch(self, number: int, share: float) -> bool:
        self._shares[number] = share
        return not self._stop.is_set()

    def share(self, number: int) -> float:
        """How much of it is done."""
        return self._shares.get(number, 0.0)

    def give_up(self, numbers: Collection[int]) -> Mapping[int, str]:
        """None: there is no way to end one."""
        return {}

    def stop(self, futures: Iterable[Future]) -> None:
        """End them; the answer comes when they have."""
        self._stop.set()
        self._executor.shutdown(cancel_futures=True)

    def close(self) -> None:
        """All are done."""
        self._executor.shutdown()


class Client:
    """Somebody else's workers, through `submit`. They are neither watched nor ended from here."""

    def __init__(self, client: Any, workers: int) -> None:
        self._client, self.workers = client, workers

    def submit(self, number: int, job: Job) -> Future:
        """Have it run."""
        try:
            future: Future = self._client.submit(work, job)
            return future
        except BrokenExecutor:
            raise
        except Exception as error:
            raise RunError(f"the workers take no run: {error}") from error

    def share(self, number: int) -> float:
        """Nobody tells."""
        return 0.0

    def give_up(self, numbers: Collection[int]) -> Mapping[int, str]:
        """None. A client of Dask that lost its scheduler closes, and its futures never call."""
        if getattr(self._client, "status", "") == "closed":
            raise BrokenExecutor
        return {}

    def stop(self, futures: Iterable[Future]) -> None:
        """Take back what has not begun."""
        for future in futures:
            future.cancel()

    def close(self) -> None:
        """The client stays open: it is not ours."""
