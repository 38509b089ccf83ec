# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A pool makes the runs of a batch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from itertools import islice
from queue import Empty, SimpleQueue

from sojourn.runs.batch import Batch, interrupts_held
from sojourn.runs.pools import Future, Pool

# How often the waiting side looks at its workers: Ctrl-C is answered within this and the
# engine's own 50 ms.
_POLL_S = 0.04
# Jobs submitted for each worker: enough that none waits, few enough that all others can be taken
# back at once and that finished runs do not pile up.
_AHEAD = 8


def collect(batch: Batch, pool: Pool, chosen: Iterable[int]) -> bool:
    """Submit these jobs, a few ahead of the workers, and file each that comes back; True where
    the pool broke."""
    rest = iter(chosen)
    waiting: dict[Future, int] = {}
    finished: SimpleQueue[Future] = SimpleQueue()
    broken = False
    try:
        while True:
            with interrupts_held():
                if not broken:
                    ahead = islice(rest, max(_AHEAD * pool.workers - len(waiting), 0))
                    broken = not _submit(batch, pool, ahead, waiting, finished)
                if not waiting:
                    break
                for future in _all_of(finished, _POLL_S):
                    broken |= _settle(batch, future, waiting.pop(future))
            for i, why in pool.give_up(waiting.values()).items():
                if i not in batch.settled:
                    batch.failed[i] = why
            _show(batch, pool, waiting.values())
    except BrokenExecutor:
        broken = True
    except KeyboardInterrupt:
        pool.stop(waiting)
        for future in _all_of(finished, 0):
            _settle(batch, future, waiting.pop(future))
        raise
    except BaseException:
        pool.stop(waiting)
        raise
    pool.close()
    return broken


def _submit(
    batch: Batch,
    pool: Pool,
    numbers: Iterator[int],
    waiting: dict[Future, int],
    finished: SimpleQueue[Future],
) -> bool:
    """Whether the pool took all of them; one that is broken takes none."""
    try:
        for i in numbers:
            future = pool.submit(i, batch.jobs[i])
            waiting[future] = i
            future.add_done_callback(finished.put)
    except BrokenExecutor:
        return False
    return True


def _settle(batch: Batch, future: Future, i: int) -> bool:
    """File what came back; True where it is that the pool broke."""
    try:
        packed = future.result()
    except BrokenExecutor:
        return True
    except Exception as error:
        batch.fail(i, error)
        return False
    batch.file(i, packed)
    return False


def _show(batch: Batch, pool: Pool, under_way: Collection[int]) -> None:
    shares = sum(pool.share(i) for i in under_way)
    batch.progress.update(len(batch.done) + len(batch.failed) + shares)


def _all_of(finished: SimpleQueue[Future], wait_s: float) -> Iterator[Future]:
    """What is there, and if nothing is, what comes within this time."""
    try:
        yield finished.get(timeout=wait_s) if wait_s else finished.get_nowait()
        while True:
            yield finished.get_nowait()
    except Empty:
        return
