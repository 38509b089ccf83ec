# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The messages between the qdisc and its configuring program, as linux/qdisc/sojourn.h has them."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from sojourn import _native, algorithms
from sojourn.core.rows import Row

KIND = "sojourn"
# `fq` means this number of flows; a row `flows` gives another number.
FQ_FLOWS = 1024

# In the options of the qdisc.
ALGO, HOST, QUEUE, PARAMS, ANEW, RESPONDER6 = 1, 2, 3, 4, 5, 6
# In its statistics; the last is of a class.
COUNTS, DROPS, MARKS, BAD, OWN, MEMORY, PROBES, FLOWS, DEFICIT = 1, 2, 3, 4, 5, 6, 7, 8, 9

_LARGEST = {"bool": 1, "u32": 2**32 - 1}


def _row(
    attr: int, kind: str, name: str, unit: str, help_: str, *, default: int = 0, choices: str = ""
) -> Row:
    """Make a row that takes every value of its kind, at any time."""
    words = tuple(choices.split())
    largest = len(words) - 1 if words else _LARGEST[kind]
    return Row(name, help_, unit, kind, default, 0, largest, words, fixed=False, attr=attr)


# The row that takes one address of each family.
RESPONDER = "responder"

# linux/qdisc/rows.c has the same rows; a test compares the two.
HOST_ROWS = (
    _row(
        1,
        "bool",
        "split_gso",
        "count",
        "split large segments into packets of the wire before they are queued",
        default=1,
    ),
    _row(
        2,
        "bool",
        "respond",
        "count",
        "answer the experimental probes of neighbours that come to this namespace",
    ),
    _row(
        3,
        "u32",
        RESPONDER,
        "ipv4",
        "who answers this queue's IPv4 probes; 0.0.0.0: the next hop",
    ),
    _row(
        4,
        "choice",
        "probe",
        "count",
        "an echo request, which any host answers, or protocol 253, which respond answers",
        choices="echo experimental",
    ),
)

COUNT_NAMES = ("in_pkts", "in_bytes", "out_pkts", "out_bytes", "drop_bytes", "unmarkable")
PROBE_NAMES = (
    *("joined", "refused", "left", "freed", "answered"),
    *("unmade", "forgotten", "unheard", "left_bytes"),
    *("asked", "ready", "strayed", "waited_ns", "waited_max_ns"),
)
FLOW_NAMES = (
    *("new_flow_count", "new_flows_len", "old_flows_len", "collisions"),
    *("delay_mean_ns", "delay_sparse_ns", "delay_peak_ns", "memory_used_bytes"),
)


def tables(algorithm: str) -> Mapping[int, tuple[Row, ...]]:
    """Return the rows of each nest; an unknown algorithm has the rows of every queue."""
    known = algorithms.algorithms().get(algorithm)
    return {
        HOST: HOST_ROWS,
        QUEUE: known.queue if known else tuple(algorithms.queue_rows().values()),
        PARAMS: known.params if known else (),
    }


@functools.cache
def counters() -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """List title and nest of each group of counters, with their names from number 1 on."""
    reasons = tuple(_native.reason_names())
    return (
        ("counts", COUNTS, COUNT_NAMES),
        ("drops", DROPS, reasons),
        ("marks", MARKS, reasons),
        ("bad", BAD, tuple(_native.bad_names())),
        ("probes", PROBES, PROBE_NAMES),
        ("flows", FLOWS, FLOW_NAMES),
    )
