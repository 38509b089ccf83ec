# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""An algorithm: its rows, its hosts and the queues that it refuses. A user's file is a library that
the core has loaded; the kernel's own qdiscs are listed below."""

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
    params: tuple[Row, ...]
    stats: tuple[Row, ...] = ()
    samples: bool = False
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
        fault = None if self.alone else _native.check(self.engine, {**rate, **rows})
        row, reason, *_ = fault or ("", "")
        if row == "flows":
            return f"flows: '{self.name}' runs in one queue alone: {reason}; leave flows out"
        return f"{row}: {reason}" if row else reason


# Qdiscs of the kernel's own, to compare with ours: `kernel:codel` and others. They have no C file
# here, therefore their rows stand below, with the kernel's defaults. Where tc or the kernel has no
# default, or one that depends on the device, the row has its own and is always written. A row is
# named by tc's word, except where our row of that name has another unit.


STOCK_PREFIX = "kernel:"
_MAX_U32 = 2**32 - 1
_MS = 1_000_000


def _row(name: str, help_: str, unit: str, default: int, most: int = _MAX_U32) -> Row:
    kind = "bool" if most == 1 else "u32"
    return Row(name, help_, unit, kind, default, 0 if most == 1 else 1, most)


def _limit(default: int) -> Row:
    return _row("limit", "most packets in the queue", "pkts", default)


def _time(name: str, help_: str, default_ms: int) -> Row:
    return _row(name, help_, "ns", default_ms * _MS, 1000 * _MS)


def _ecn(default: int) -> Row:
    return _row("ecn", "mark packets that allow it", "count", default, 1)


def _flag(name: str, help_: str) -> Row:
    return _row(name, help_, "count", 0, 1)


def _share(name: str, help_: str, default: float) -> Row:
    return _row(name, help_, "q32", round(default * 2**32))


def _choice(name: str, help_: str, default: str, *choices: str) -> Row:
    number = choices.index(default)
    return Row(name, help_, "count", "choice", number, 0, len(choices) - 1, choices)


def _stock(name: str, brief: str, acts: tuple[str, ...], *rows: Row, like: str = "") -> Algorithm:
    source = f"the kernel's own sch_{name.replace('pfifo', 'fifo')}"
    return Algorithm(
        STOCK_PREFIX + name,
        brief,
        source,
        bool(acts),
        acts,
        rows,
        hosts=("linux",),
        alone=True,
        like=like or name,
    )


_TARGET = _time("target", "delay that is aimed at", 5)
_INTERVAL = _time("interval", "how long the delay may stay above", 100)
_FLOWS = _row("flows", "queues that flows are hashed into", "count", 1024, 65536)
_QUANTUM = _row("quantum", "bytes of a flow's turn", "bytes", 1514)
_PIE = (
    _time("target", "delay that is aimed at", 15),
    _time("tupdate", "time between updates", 15),
    _row("alpha", "gain on delay minus target, in 16ths of a hertz", "count", 2, 32),
    _row("beta", "gain on the change of delay, in 16ths of a hertz", "count", 20, 32),
    _ecn(0),
    _flag("bytemode", "a packet's probability goes by its size"),
    _flag("dq_rate_estimator", "delay from the rate of departures"),
)
_PROBABILITY = _share("probability", "of a signal at max", 0.02)

_QDISCS = (
    _stock("codel", "CoDel", ("dequeue",), _limit(1000), _TARGET, _INTERVAL, _ecn(0)),
    _stock(
        "fq_codel",
        "CoDel in each of many flows",
        ("dequeue",),
        _limit(10240),
        _FLOWS,
        _TARGET,
        _INTERVAL,
        _QUANTUM,
        _ecn(1),
    ),
    _stock("pfifo", "drop-tail", (), _limit(1000)),
    _stock("pie", "PIE", ("enqueue",), _limit(1000), *_PIE),
    _stock(
        "fq_pie",
        "PIE in each of many flows",
        ("enqueue",),
        _limit(10240),
        _FLOWS,
        _QUANTUM,
        *_PIE,
        _row("ecn_prob", "per cent above which packets are dropped, not marked", "count", 10, 100),
    ),
    _stock(
        "red",
        "RED, in bytes",
        ("enqueue",),
        _row("limit_bytes", "most bytes in the queue; tc has no default", "bytes", 1_500_000),
        _row("min", "average queue below which packets are let in", "bytes", 30_000),
        _row("max", "average queue from which on all get the signal", "bytes", 90_000),
        _row("avpkt", "mean packet; tc has no default", "bytes", 1000),
        _row("burst", "packets that may come at once: gives the average's weight", "count", 55),
        _PROBABILITY,
        _row("bandwidth", "rate of the link, for the decay while idle", "bytes/s", 1_250_000),
        _ecn(0),
        _flag("harddrop", "drop from max on, where a mark would be allowed"),
        _flag("adaptive", "max_p moves"),
    ),
    _stock(
        "choke",
        "CHOKe",
        ("enqueue",),
        _limit(1000),
        _row("min", "average queue below which packets are let in", "pkts", 83),
        _row("max", "average queue from which on all get the signal", "pkts", 250),
        _row("burst", "packets that may come at once: gives the average's weight", "count", 139),
        _PROBABILITY,
        _row("bandwidth", "rate of the link, for the decay while idle", "bytes/s", 1_250_000),
        _ecn(0),
    ),
    _stock(
        "sfb",
        "Stochastic Fair Blue",
        ("enqueue",),
        _limit(1000),
        _row("max", "most packets in a bin", "pkts", 25),
        _row("target", "packets in a bin from which on its probability rises", "pkts", 20),
        _share("increment", "rise of a bin's probability", 0.0005),
        _share("decrement", "fall of a bin's probability", 0.00005),
    ),
    _stock(
        "cake",
        "COBALT in each of many flows",
        ("dequeue",),
        _time("rtt", "interval of its AQM; the target is a twentieth", 100),
        _row("memlimit", "most memory that packets occupy", "bytes", 32 << 20),
        _choice(
            "isolation",
            "what is kept apart",
            "triple-isolate",
            "flowblind",
            "flows",
            "triple-isolate",
        ),
        _choice("tins", "queues by DSCP", "diffserv3", "besteffort", "diffserv3", "diffserv4"),
        _flag("raw", "count no more than a packet's bytes"),
        like="cobalt",
    ),
)

STOCK = {algorithm.name: algorithm for algorithm in _QDISCS}
