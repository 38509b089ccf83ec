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
COUNTS, DROPS, MARKS, BAD, OWN, MEMORY, PROBES = 1, 2, 3, 4, 5, 6, 7

# The package knows of the kernel only what it says to it: these rows stand in linux/qdisc/rows.c
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
    Row(
        name="respond",
        help="answer the probes of other queues that come to this namespace",
        unit="count",
        kind="bool",
        default=0,
        min=0,
        max=1,
        choices=(),
        fixed=False,
        attr=2,
    ),
    Row(
        name="responder",
        help="who answers this queue's IPv4 probes; 0.0.0.0: the next hop",
        unit="ipv4",
        kind="u32",
        default=0,
        min=0,
        max=2**32 - 1,
        choices=(),
        fixed=False,
        attr=3,
    ),
)

COUNT_NAMES = ("in_pkts", "in_bytes", "out_pkts", "out_bytes", "drop_bytes", "unmarkable")
PROBE_NAMES = (
    *("joined", "refused", "left", "freed", "answered"),
    *("unmade", "forgotten", "unheard"),
)


def tables(algorithm: str) -> Mapping[int, tuple[Row, ...]]:
    """The rows of each nest; of an algorithm that nobody knows here, those of every queue."""
    known = algorithms.algorithms().get(algorithm)
    return {
        HOST: HOST_ROWS,
        QUEUE: known.queue if known else tuple(algorithms.queue_rows().values()),
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
        ("probes", PROBES, PROBE_NAMES),
    )
