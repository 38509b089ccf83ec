# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the kernel's own qdiscs were given and gave, as tests/linux/witness.py has recorded it.

`python -m tests.linux.witness` records anew; everybody else only reads the files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
Words = tuple[tuple[str, int, str], ...]
# Of each kind's own statistics, those that are compared: name, place, type (linux/pkt_sched.h).
XSTATS: dict[str, Words] = {
    "codel": (("count", 4, "u4"), ("lastcount", 8, "u4"), ("dropping", 28, "u4")),
    "pie": (("prob", 0, "u8"), ("delay_us", 8, "u4"), ("marks", 36, "u4")),
}

Recorded = dict[str, NDArray[Any]]


def with_times(found: Recorded) -> Recorded:
    """And `ns`, the time of the child's first reading of the clock."""
    return found | {"ns": np.cumsum(found["step_ns"]) + np.uint64(CLOCK_NS)}


def load(name: str) -> Recorded:
    """The columns of one recording, and the kernel's release."""
    with np.load(FOLDER / f"{name}.npz") as kept:
        return with_times({column: kept[column] for column in kept.files})
