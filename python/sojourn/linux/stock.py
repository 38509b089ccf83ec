# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Qdiscs of the kernel's own, to stand beside ours: `kernel:codel` and others.

They have no C file here, so their rows, with the kernel's defaults, are written down.
"""

from __future__ import annotations

from sojourn.algorithms import Algorithm, Row

PREFIX = "kernel:"
_MAX_U32 = 2**32 - 1
_MS = 1_000_000


def _row(name: str, help_: str, unit: str, default: int, most: int = _MAX_U32) -> Row:
    kind = "bool" if most == 1 else "u32"
    return Row(name, help_, unit, kind, default, 0 if most == 1 else 1, most, (), False, 0)


def _limit(default: int) -> Row:
    return _row("limit", "most packets in the queue", "pkts", default)


def _time(name: str, help_: str, default_ms: int) -> Row:
    return _row(name, help_, "ns", default_ms * _MS, 1000 * _MS)


def _ecn(default: int) -> Row:
    return _row("ecn", "mark packets that allow it", "count", default, 1)


def _stock(name: str, brief: str, acts: tuple[str, ...], *rows: Row) -> Algorithm:
    source = f"the kernel's own sch_{name.replace('pfifo', 'fifo')}"
    return Algorithm(
        PREFIX + name,
        brief,
        source,
        bool(acts),
        acts,
        False,
        rows,
        (),
        hosts=("linux",),
        alone=True,
        like=name,
    )


_TARGET = _time("target", "delay that is aimed at", 5)
_INTERVAL = _time("interval", "how long the delay may stay above", 100)

STOCK = {
    algorithm.name: algorithm
    for algorithm in (
        _stock("codel", "CoDel", ("dequeue",), _limit(1000), _TARGET, _INTERVAL, _ecn(0)),
        _stock(
            "fq_codel",
            "CoDel in each of many flows",
            ("dequeue",),
            _limit(10240),
            _row("flows", "queues that flows are hashed into", "count", 1024, 65536),
            _TARGET,
            _INTERVAL,
            _row("quantum", "bytes of a flow's turn", "bytes", 1514),
            _ecn(1),
        ),
        _stock("pfifo", "drop-tail", (), _limit(1000)),
        _stock(
            "pie",
            "PIE",
            ("enqueue",),
            _limit(1000),
            _time("target", "delay that is aimed at", 15),
            _time("tupdate", "time between updates", 15),
            _ecn(0),
        ),
    )
}
