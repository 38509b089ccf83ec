# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Inputs and outputs of other programs' queues: of the kernel's own qdiscs, as recorded by
tests/linux/witness.py, and of ns-2's queues, by tests/models/ns2.py.

`python -m tests.linux.witness` and `python -m tests.models.ns2` record anew; everybody else only
reads the files. `Witnessed` is what a module of tests/algorithms says of such a queue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from models.queue import Discipline, Judge

FOLDER = Path(__file__).with_name("witnessed")
ARRIVED, ASKED, BEGAN = range(3)
# In virtual time a reading of the clock takes so long: the child's is the next one.
CLOCK_NS = 256

COLUMNS = {
    "step_ns": "u8",
    "jiffies": "u4",
    "packet": "u4",
    "len": "u4",
    "flow": "u4",
    "drops": "u4",
    "held": "u4",
    "kind": "u1",
    "let_in": "u1",
    "ecn_before": "u1",
    "ecn_after": "u1",
}
# What tests/linux/witness.c shows of a child, added up, and where that lies in a record.
XSTATS, RED, FLOW_KEYS, HASHES = 1, 2, 4, 8
SHOWN_BYTES = 108
# Name, place, type: of what is shown that which is compared.
Words = tuple[tuple[str, int, str], ...]
RED_WORDS: Words = (
    ("average", 64, "u8"),
    ("idle_since_ns", 72, "i8"),
    ("count", 80, "i4"),
    ("drawn", 84, "u4"),
    ("max_p", 88, "u4"),
)
CHOKE_WORDS: Words = (("victim", 92, "u4"), ("keys", 96, "u4"))
SFB_WORDS: Words = (("hash0", 100, "u4"), ("hash1", 104, "u4"))

Row = dict[str, int]
Recorded = dict[str, NDArray[Any]]


def with_times(found: Recorded) -> Recorded:
    """And `ns`, the time of the child's first reading of the clock."""
    return found | {"ns": np.cumsum(found["step_ns"]) + np.uint64(CLOCK_NS)}


def load(name: str) -> Recorded:
    """The columns of one recording, and the kernel's release."""
    with np.load(FOLDER / f"{name}.npz") as kept:
        return with_times({column: kept[column] for column in kept.files})


@dataclass(frozen=True)
class Child:
    """A qdisc of the kernel's own as it is recorded, with netlink's numbers of its options."""

    options: Mapping[int, int | bytes]
    ecn: bool = False
    each: int = 1  # connections of each of the four kinds
    segments: bool = True  # larger than an MTU, that is than a flow's quantum
    seconds: int = 12


class AsRecorded(Judge):
    """Decides by chance as the kernel did. A sum at its bound is a tie."""

    slack = 1e-7

    def __init__(self) -> None:
        self.signalled = False
        self.draws: list[tuple[float, bool]] = []

    def below(self, what: str, value: float, bound: float) -> bool:
        if what == "signal":
            self.draws.append((bound, self.signalled))
            return self.signalled
        if what.startswith("sum") and abs(value - bound) < self.slack:
            return self.signalled == (what == "sum-high")
        return value < bound


LINUX, NS2 = "linux", "ns2"


class Witnessed(ABC):
    """How a model follows another program's queue, mostly the kernel's qdisc of the same name."""

    # Whose it is.
    of: ClassVar[str] = LINUX
    # By the names of their recordings.
    children: ClassVar[Mapping[str, Child]]
    shows: ClassVar[int] = XSTATS
    words: ClassVar[Words] = ()
    # The kernel's unit of time.
    clock_ns: ClassVar[int] = 1
    # What must be noticed: a column, the records that are changed, by how much.
    changes: ClassVar[tuple[tuple[str, int, int], ...]] = (
        ("ns", ASKED, 2_000_000),
        ("ns", ARRIVED, 2_000_000),
        ("packet", ASKED, 1),
        ("drops", ASKED, 1),
    )

    def judge(self) -> AsRecorded:
        """Decides where chance does."""
        return AsRecorded()

    @abstractmethod
    def model(self, rows: list[Row], child: Child, judge: AsRecorded) -> Discipline:
        """With the settings that the kernel's was given."""

    def flow(self, row: Row) -> int:
        """The identity of a flow."""
        return row["flow"]

    def now_ns(self, row: Row) -> int:
        """The time that the kernel's qdisc read."""
        return row["ns"] // self.clock_ns * self.clock_ns

    def begin(self, model: Any, row: Row) -> None:
        """Before an event."""
        return

    def check(self, model: Any, row: Row) -> None:
        """Behind an event: the state that the kernel shows."""
        return

    def figures(self, model: Any) -> str:
        """What a replay tells beyond its counts, for the algorithm's page."""
        return ""
