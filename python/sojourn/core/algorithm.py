# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""An algorithm: its rows, its hosts and the queues that it refuses. A user's file is a library that
the core has loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sojourn import _native
from sojourn.core.hosts import HOSTS
from sojourn.core.rows import Row

# The folder, inside that of a library, for the texts that the library was compiled from.
SOURCE = "source"


@dataclass(frozen=True)
class Library:
    """A compiled algorithm from a file."""

    file: Path
    name: str  # as the file defines it
    digest: str
    folder: Path
    # Files that it was made of, in the order of the compiler's list; its own file is the first.
    parts: tuple[Path, ...]
    raw: _native.Algorithm = field(hash=False)

    @cached_property
    def engine(self) -> str:
        """Return its name in scenarios of the engine: the name of the file and a digest."""
        return f"{self.file.stem}.c@{self.digest}"

    def sources(self) -> dict[str, str]:
        """Read the texts that it was compiled from, by path: the file and its headers, without
        Sojourn's."""
        root = self.folder / SOURCE
        files = (path for path in sorted(root.rglob("*")) if path.is_file())
        return {str(path.relative_to(root)): path.read_text(errors="replace") for path in files}


@dataclass(frozen=True)
class Algorithm:
    """One entry of the registry."""

    name: str  # its name in a scenario; the path of a user's file
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
    alone: bool = False  # a whole queue, without the rows of the queue around other algorithms
    like: str = ""  # the algorithm of the core of which this is another form
    file: Library | None = None

    @property
    def rows(self) -> dict[str, Row]:
        """Return all rows that a queue with this algorithm takes: its own and the queue's."""
        return {row.name: row for row in (*self.queue, *self.params)}

    @property
    def engine(self) -> str:
        """Return its name in scenarios of the engine; that of a user's file includes a digest."""
        return self.file.engine if self.file else self.name

    @property
    def inside(self) -> str:
        """Return the name that it has in its own C code and in a kernel."""
        return self.file.name if self.file else self.name

    def refusal(self, rows: Mapping[str, int]) -> str:
        """Tell why no queue can be made of these rows; the text is empty if one can."""
        # The host decides whether the link's rate is known.
        rate = {"bandwidth": 1} if self.needs_rate else {}
        found = None if self.alone else _native.check(self.engine, {**rate, **rows})
        if found and found[0] == "flows":
            return f"flows: '{self.name}' runs in one queue alone: {found[1]}; leave flows out"
        return f"{found[0]}: {found[1]}" if found and found[0] else found[1] if found else ""
