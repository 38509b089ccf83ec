# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The C core as a shared library that replays a list of events (host.c)."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sojourn.linux.uml.module import core_sources

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "aqm"
BUILD = ROOT / "build" / "models"
HOST = Path(__file__).with_name("host.c")
# The core's own, and what feeds laws by themselves.
SOURCES = [path for path in core_sources(CORE) if path.suffix == ".c"]
LAWS = sorted((ROOT / "tests" / "algorithms").rglob("*.c"))

EVENT = np.dtype(
    [("now_ns", "u8"), ("kind", "u4"), ("flow", "u4"), ("len", "u4"), ("ds", "u4")], align=True
)
OUT = np.dtype(
    [("event", "u4"), ("packet", "u4"), ("what", "u1"), ("why", "u1"), ("pad", "u2")], align=True
)
ARRIVE, REQUEST, LIMIT, RESET, LOOK, ANSWER, ROW = range(7)
DROPPED, MARKED, SENT = range(3)
BAD_KINDS = 8

# As host.c: the rate of a case that does not say it, for whom must know it.
LINK_BYTES_S = 1_250_000

Events = NDArray[np.void]


@dataclass(frozen=True)
class Case:
    """One run: an algorithm, its rows in canonical units, what happens to it."""

    name: str
    algorithm: str
    rows: dict[str, int]
    events: Events
    seed: int = 1
    mtu: int = 1514
    start_ns: int = 0


@dataclass(frozen=True)
class Replay:
    """The core's result of a case: outcomes, and the statistics after each event."""

    out: NDArray[np.void]
    stats: NDArray[np.uint64]
    names: tuple[str, ...]
    reasons: tuple[str, ...]


class CoreError(Exception):
    """The core refused the rows, or broke a rule of its own."""


class Core:
    """One build of the core."""

    def __init__(self, path: Path) -> None:
        lib = ctypes.CDLL(str(path))
        text, pointer = ctypes.c_char_p, ctypes.c_void_p
        u32, u64 = ctypes.c_uint32, ctypes.c_uint64
        lib.tm_open.restype = pointer
        lib.tm_open.argtypes = [text, pointer, pointer, u32, u32, u64, u64, u32]
        lib.tm_sentence.restype = text
        lib.tm_sentence.argtypes = [pointer]
        lib.tm_close.argtypes = [pointer]
        lib.tm_run.restype = ctypes.c_int64
        lib.tm_run.argtypes = [pointer, pointer, u32, pointer, u32, pointer]
        lib.tm_bad.restype = u64
        lib.tm_bad.argtypes = [pointer, u32]
        lib.tm_stats.restype = u32
        lib.tm_stats.argtypes = [text]
        lib.tm_default.restype = u64
        lib.tm_default.argtypes = [text, text]
        lib.tm_row.restype = u32
        lib.tm_row.argtypes = [text, text]
        lib.tm_probes.restype = ctypes.c_bool
        lib.tm_probes.argtypes = [text]
        lib.tm_stat_name.restype = text
        lib.tm_stat_name.argtypes = [text, u32]
        lib.tm_whys.restype = u32
        lib.tm_whys.argtypes = []
        lib.tm_why_name.restype = text
        lib.tm_why_name.argtypes = [u32]
        self.lib = lib

    def statistics(self, algorithm: str) -> tuple[str, ...]:
        """Names of an algorithm's statistics rows."""
        key = algorithm.encode()
        names = (self.lib.tm_stat_name(key, n) for n in range(self.lib.tm_stats(key)))
        return tuple(name.decode() for name in names)

    def reasons(self) -> tuple[str, ...]:
        """Names of the reasons, by number."""
        return tuple(self.lib.tm_why_name(why).decode() for why in range(self.lib.tm_whys()))

    def probes(self, algorithm: str) -> bool:
        """Whether it asks for probes."""
        return bool(self.lib.tm_probes(algorithm.encode()))

    def default(self, algorithm: str, row: str) -> int:
        """A row's default."""
        return int(self.lib.tm_default(algorithm.encode(), row.encode()))

    def row(self, algorithm: str, row: str) -> int:
        """A row's number in an event ROW."""
        return int(self.lib.tm_row(algorithm.encode(), row.encode()))

    def replay(self, case: Case) -> Replay:
        """Run a case from a fresh queue."""
        names = (ctypes.c_char_p * len(case.rows))(*(name.encode() for name in case.rows))
        values = (ctypes.c_uint64 * len(case.rows))(*case.rows.values())
        arrivals = int((case.events["kind"] == ARRIVE).sum())
        queue = self.lib.tm_open(
            case.algorithm.encode(),
            names,
            values,
            len(case.rows),
            case.mtu,
            case.seed,
            case.start_ns,
            arrivals,
        )
        try:
            sentence = self.lib.tm_sentence(queue)
            if sentence:
                raise CoreError(f"{case.name}: {sentence.decode()}")
            return self._run(queue, case, arrivals)
        finally:
            self.lib.tm_close(queue)

    def _run(self, queue: int, case: Case, arrivals: int) -> Replay:
        columns = self.statistics(case.algorithm)
        # Each packet may be marked before it is lost or sent, and have a probe behind it.
        out = np.zeros(3 * arrivals + 1, OUT)
        stats = np.zeros((len(case.events), len(columns)), np.uint64)
        found = self.lib.tm_run(
            queue,
            case.events.ctypes.data,
            len(case.events),
            out.ctypes.data,
            len(out),
            stats.ctypes.data,
        )
        if found < 0:
            raise CoreError(f"{case.name}: packets were not conserved")
        bad = [self.lib.tm_bad(queue, kind) for kind in range(BAD_KINDS)]
        if any(bad):
            raise CoreError(f"{case.name}: bad verdicts {bad}")
        return Replay(out[:found], stats, columns, self.reasons())

    def dump_coverage(self) -> None:
        """Write the branch counts of this process now, not at its end."""
        self.lib.tm_dump_coverage()


def source_of(algorithm: str) -> Path:
    """Its C file."""
    return next(path for path in SOURCES if path.stem == algorithm)


def build(to: Path, *flags: str) -> Path:
    """Compile aqm/ with the host around it."""
    to.mkdir(parents=True, exist_ok=True)
    target = to / "core.so"
    command = [
        "gcc",
        "-std=c11",
        "-fPIC",
        "-shared",
        "-g",
        *flags,
        f"-I{CORE}",
        *map(str, (HOST, *LAWS, *SOURCES)),
    ]
    subprocess.run([*command, "-o", str(target)], check=True, cwd=to)
    return target


@cache
def core() -> Core:
    """The core as it stands in the tree."""
    return Core(build(BUILD / "plain", "-O2"))
