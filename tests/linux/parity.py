# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""parity.py: what a kernel's queues did, done again by the C library and by the Rust host.

    python -m tests.linux.parity

prints the table of docs/linux.md: each algorithm alone and in flows, recorded in a guest in
virtual time (parity_guest.py), replayed by replay.c and by crates/core/examples/replay.rs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linux.qdisc.build import module
from linux.uml import build as uml
from linux.uml.boot import boot
from tests.linux.cases import ALGORITHMS

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
FORMS = [(name, flows) for name in ALGORITHMS for flows in (0, 64)]
ROOM = 400_000

# struct sojourn_record, of linux/qdisc/record.h.
WIDE = ["now", "value"]
WORDS = ["queue", "packet", "inst", "flow", "len", "own", "pkts", "bytes"]
SMALL = ["what", "ev", "why", "ds", "act", "lane", "vqueue", "nvictims", "probe", "ok", "table"]
RECORD = np.dtype(
    [(name, "u8") for name in WIDE]
    + [(name, "u4") for name in WORDS]
    + [("name", "S32")]
    + [(name, "u1") for name in [*SMALL, "pad"]]
    + [("nth", "u2"), ("row", "u2")]
)
HEAD_BYTES = 32
ROW, INIT, CHANGE, RESET, EVENT, LOOK, NUMBER, STATE, JOINED, LEFT, FREED, MARKED = range(12)
ARRIVAL, WISH, ENQUEUE, OVERFLOW, DEQUEUE, GONE, TICK = range(7)
WHY = ["none", "early", "delay", "threshold", "match", "rate", "limit", "fat", "lowered", "reset"]


@dataclass(frozen=True)
class Seen:
    """What happened in a file of records."""

    records: int
    verdicts: int
    ticks: int
    victims: int
    marks: int
    changes: int
    resets: int
    drops: Counter[str]


def seen(path: Path) -> Seen:
    records = read(path)
    what = Counter(records["what"].tolist())
    events = records[records["what"] == EVENT]
    reasons = records[records["what"] == FREED]["why"].tolist()
    return Seen(
        records=len(records),
        verdicts=int(np.isin(events["ev"], (ENQUEUE, OVERFLOW, DEQUEUE)).sum()),
        ticks=int((events["ev"] == TICK).sum()),
        victims=int(events["nvictims"].sum()),
        marks=what[MARKED],
        changes=what[CHANGE],
        resets=what[RESET],
        drops=Counter(WHY[why] for why in reasons),
    )


def read(path: Path) -> np.ndarray[Any, np.dtype[np.void]]:
    return np.frombuffer(path.read_bytes(), RECORD, offset=HEAD_BYTES)


def c_replayer(folder: Path) -> Path:
    sources = [ROOT / "tests/linux/replay.c", *sorted((ROOT / "aqm").glob("*.c"))]
    include = [f"-I{ROOT / 'aqm'}", f"-I{ROOT / 'linux/qdisc'}"]
    subprocess.run(["gcc", *FLAGS, *include, *sources, "-o", folder / "replay"], check=True)
    return folder / "replay"


def rust_replayer() -> Path:
    """Built where cargo builds everything; it says itself where that is."""
    words = ["cargo", "build", "--release", "--locked", "--package", "sojourn-core"]
    words += ["--example", "replay", "--message-format", "json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    return next(Path(program) for program in built if program)


def record(built: uml.Built, traced: Path, name: str, flows: int, folder: Path) -> Path:
    """Run one form of an algorithm in a guest; its records."""
    job = folder / "job"
    words = f"-S -B -m tests.linux.parity_guest {name} {flows} {ROOM} {traced}"
    setting = f"PYTHONPATH={ROOT}:{ROOT / 'python'} TC_LIB_DIR={traced.parent}"
    job.write_text(f"#!/bin/sh\n{setting} exec {sys.executable} {words}\n")
    job.chmod(0o755)
    boot(built, folder, limit_s=300)
    return folder / "records"


def differences(replayer: Path, records: Path) -> list[str]:
    """The first difference of each queue that has one."""
    done = subprocess.run([replayer, records], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode > 1 or not lines:
        raise RuntimeError(f"{replayer.name} refused the records: {done.stderr.strip()}")
    return [line for line in lines if not line.endswith(" equal")]


HEADLINE = ["algorithm", "flows", "records", "verdicts", "ticks", "drops", "victims", "marks"]
HEADLINE += ["changes", "resets", "differences in C", "in Rust"]


def line(name: str, flows: int, found: Seen, c: list[str], rust: list[str]) -> str:
    counts = [found.records, found.verdicts, found.ticks, sum(found.drops.values())]
    counts += [found.victims, found.marks, found.changes, found.resets, len(c), len(rust)]
    return f"| `{name}` | {flows or 'one queue'} | {' | '.join(map(str, counts))} |"


def main() -> int:
    argparse.ArgumentParser(description="Print the table of parity.").parse_args()
    built = uml.build()
    traced = module(built, trace="events")
    print(f"| {' | '.join(HEADLINE)} |\n|{'---|' * 2}{'--:|' * (len(HEADLINE) - 2)}")
    sentences = []
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        replayers = [c_replayer(Path(scratch)), rust_replayer()]
        for name, flows in FORMS:
            folder = Path(scratch) / f"{name}-{flows}"
            folder.mkdir()
            path = record(built, traced, name, flows, folder)
            c, rust = (differences(replayer, path) for replayer in replayers)
            print(line(name, flows, seen(path), c, rust), flush=True)
            sentences += [f"{name}, {flows} flows: {sentence}" for sentence in c + rust]
            path.unlink()
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return bool(sentences)


if __name__ == "__main__":
    sys.exit(main())
