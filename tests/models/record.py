# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Arrivals and departures of closed-loop runs, kept as inputs for the comparison.

Random inputs do not answer a signal; TCP does. recorder.py makes the files; here they are read.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.models.library import EVENT, Events

DATA = Path(__file__).with_name("data")


def load(path: Path) -> Events:
    """A kept recording."""
    with np.load(path) as kept:
        found = np.zeros(len(kept["kind"]), EVENT)
        found["now_ns"] = np.cumsum(kept["step_ns"].astype(np.uint64))
        found["flow"] = kept["flows"][kept["flow"]]
        for column in ("kind", "len", "ds"):
            found[column] = kept[column]
    return found
