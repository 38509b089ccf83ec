# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What travels between the qdisc and whoever configures it, as linux/qdisc/sojourn.h says."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from sojourn import _native, algorithms
from sojourn.algorithms import Row

KIND = "sojourn"
# What `fq` stands for; a row `flows` says another number.
FQ_FLOWS = 1024

# In the options of the qdisc.
ALGO, HOST, QUEUE, PARAMS, ANEW = 1, 2, 3, 4, 5
# In its statistics.
COUNTS, DROPS, MARKS, BAD, OWN, MEMORY = 1, 2, 3, 4, 5, 6

# The package knows of the kernel only what it says to it: the row stands in linux/qdisc/rows.c
# too, and a test holds the two together.
HOST_ROWS = (
    Row(
        name="split_gso",
        help="split large segments into packets of the wire before they are queued",
        unit="count",
        kind="bool",
        default=1,
        min=0,
        max=1,
        choices=(),
        fixed=False,
        attr=1,
    ),
)

COUNT_NAMES = ("in_pkts", "in_bytes", "out_pkts", "out_bytes", "drop_bytes", "unmarkable")


def tables(algorithm: str) -> Mapping[int, tuple[Row, ...]]:
    """The rows of each nest; of an algorithm that nobody knows here, those of every queue."""
    known = algorithms.algorithms().get(algorithm)
    return {
        HOST: HOST_ROWS,
        QUEUE: tuple(algorithms.queue_rows().values()),
        PARAMS: known.params if known else (),
    }


@functools.cache
def counters() -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """Title and nest of each group of counters, with their names from number 1 on."""
    reasons = tuple(_native.reason_names())
    return (
        ("counts", COUNTS, COUNT_NAMES),
        ("drops", DROPS, reasons),
        ("marks", MARKS, reasons),
        ("bad", BAD, tuple(_native.bad_names())),
    )
