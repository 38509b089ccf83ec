# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Runs that are still to be made, whoever makes them: a pool (`sojourn.runs.collect`), or for a
single one this thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sojourn.core.progress import Progress
from sojourn.runs.job import Job, work


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the end of this. Submitting starts workers, which inherit it: a Ctrl-C
    that meets one before it can ignore them would kill it, and the pool with it."""
    import signal  # slow to import

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
        scratch: Path,
    ) -> None:
        # `scratch` is where workers of this machine leave what is too large for an answer.
        self.jobs, self.pending, self.keep = jobs, pending, keep
        self.scratch = scratch
        self.done: set[int] = set()
        self.failed: dict[int, str] = {}
        self.progress = Progress(title, len(pending))

    @property
    def settled(self) -> set[int]:
        """Those that need no further try."""
        return self.done | set(self.failed)

    def make_here(self, number: int) -> None:
        """In this thread: the engine lets Ctrl-C through wherever it looks up, each 50 ms."""
        job = self.jobs[number]

        def watch(share: float) -> bool:
            self.progress.update(share)
            return True

        try:
            packed = work(job, watch, self.scratch)
        except Exception as error:
            self.fail(number, error)
            return
        with interrupts_held():
            self.file(number, packed)

    def fail(self, number: int, error: Exception) -> None:
        """Note why."""
        self.failed[number] = str(error) or type(error).__name__

    def file(self, number: int, packed: bytes) -> None:
        """What came back. A failure of the disk goes up: no further run could be kept either."""
        self.keep(self.jobs[number], packed)
        self.done.add(number)
