# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Progress with the time left, on stderr, for anything that takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from sojourn.core.messages import tell

_QUIET_S = 2.0
_LINE_EVERY_S = 10.0


class Progress:
    """A bar on a terminal; elsewhere a line every ten seconds."""

    def __init__(self, title: str, total: float) -> None:
        self.title, self.total = title, total
        self._begun = time.monotonic()
        self._line_at = self._begun + _LINE_EVERY_S
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def update(self, done: float) -> None:
        """Show that `done` of `total` is finished."""
        now = time.monotonic()
        if now - self._begun < _QUIET_S:
            return
        if sys.stderr is None or not sys.stderr.isatty():
            self._line(now, done)
            return
        if not self._bar:
            self._start()
        self._bar.update(self._task, completed=done)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            TaskProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.title, total=self.total)

    def _line(self, now: float, done: float) -> None:
        if now < self._line_at or done <= 0:
            return
        self._line_at = now + _LINE_EVERY_S
        left = (now - self._begun) * (self.total - done) / done
        tell(f"{self.title}: {int(done)} of {int(self.total)}, about {left:.0f} s left")
