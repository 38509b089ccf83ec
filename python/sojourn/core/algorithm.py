# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""An algorithm: its rows, the hosts that it runs on, the queues that it refuses; and a user's file
as a library that the core has loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sojourn import _native
from sojourn.core.hosts import HOSTS
from sojourn.core.rows import Row

# Holds, in the folder of a library, the texts that it was compiled from.
SOURCE = "source"


@dataclass(frozen=True)
class Library:
    """An algorithm from a file, compiled."""

    file: Path
    name: str  # the one that the file gives it
    digest: str
    folder: Path
    # Files that it was made of, in the order of the compiler's list, the first its own.
    parts: tuple[Path, ...]
    raw: _native.Algorithm = field(hash=False)

    @property
    def engine(self) -> str:
        """What scenarios of the engine call it."""
        return f"{self.file.stem}.c@{self.digest}"

    def sources(self) -> dict[str, str]:
        """Texts that it was compiled from, by path: the file, and headers but Sojourn's."""
        root = self.folder / SOURCE
        files = (path for path in sorted(root.rglob("*")) if path.is_file())
        return {str(path.relative_to(root)): path.read_text(errors="replace") for path in files}


@dataclass(frozen=True)
class Algorithm:
    """One entry of the registry."""

    name: str  # in a scenario; of a user's file its path
    brief: str
    source: str
    ecn: bool
    acts: tuple[str, ...]
    samples: bool
    params: tuple[Row, ...]
    stats: tuple[Row, ...]
    queue: tuple[Row, ...] = ()  # the queue's rows with this algorithm's defaults
    probes: bool = False  # it asks for probes, which a node beyond the link must answer
    needs_rate: bool = False  # refused while the row bandwidth is 0
    hosts: tuple[str, ...] = HOSTS
    alone: bool = False  # a queue by itself: without the rows that the queue has around others
    like: str = ""  # the algorithm of the core that this is another form of
    file: Library | None = None

    @property
    def rows(self) -> dict[str, Row]:
        """All rows that a queue of it takes: its own and the queue's."""
        return {row.name: row for row in (*self.queue, *self.params)}

    @property
    def engine(self) -> str:
        """What scenarios of the engine call it: content and all."""
        return self.file.engine if self.file else self.name

    @property
    def inside(self) -> str:
        """What it calls itself, in C and in a kernel."""
        return self.file.name if self.file else self.name

    def refusal(self, rows: Mapping[str, int]) -> str:
        """Why no queue can be made of these; empty where one can."""
        # Whether the link's rate is known is the host's to say.
        rate = {"bandwidth": 1} if self.needs_rate else {}
        found = None if self.alone else _native.check(self.engine, {**rate, **rows})
        if found and found[0] == "flows":
            return f"flows: '{self.name}' runs in one queue alone: {found[1]}; leave flows out"
        return f"{found[0]}: {found[1]}" if found and found[0] else found[1] if found else ""
