# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""parity.py: replays a kernel's queues in the C library and in the Rust host.

    python -m tests.linux.parity
    python -m tests.linux.parity --renew
    python -m tests.linux.parity --only codel-64 --keep FOLDER

prints the table of docs/evidence/parity.md, or renews it there: each algorithm alone and in flows,
recorded in a guest in virtual time (parity_traffic.py), replayed by replay.c and by
crates/core/examples/replay.rs. The records themselves can be kept.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sojourn import _native
from sojourn.algorithms import algorithms, queue_rows
from sojourn.linux.uml import build as uml
from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.module import core_sources, module

from tests.linux import parity_traffic
from tests.linux.net import unwelcome
from tests.linux.netlink import QUEUE
from tests.linux.play import Script

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/evidence/parity.md"
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]
# All sources from which the core builds a queue.
FORMS = [
    (name, flows)
    for name in algorithms()
    for flows in (0, parity_traffic.FLOWS[0])
    if _native.check(name, {"flows": flows, "bandwidth": 1}) is None
]
ROOM = 400_000
# As the engine's bulk flows write them.
ENDLESS_BYTES = (2**64 - 1) // 4

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
ARRIVAL, REQUEST, ENQUEUE, OVERFLOW, DEQUEUE, GONE, TICK, PROBE, ECHO = range(9)
WHY = ["none", "early", "delay", "threshold", "match", "rate", "limit", "fat", "lowered", "reset"]


@dataclass(frozen=True)
class Seen:
    """Counts of the events in a file of records."""

    records: int
    verdicts: int
    ticks: int
    probes: int
    answers: int
    victims: int
    marks: int
    changes: int
    resets: int
    drops: Counter[str]
    mtus: set[int]
    flows: set[int]


def seen(path: Path) -> Seen:
    records = read(path)
    what = Counter(records["what"].tolist())
    events = records[records["what"] == EVENT]
    reasons = records[records["what"] == FREED]["why"].tolist()
    rows = records[(records["what"] == ROW) & (records["table"] == QUEUE)]
    return Seen(
        records=len(records),
        verdicts=int(np.isin(events["ev"], (ENQUEUE, OVERFLOW, DEQUEUE)).sum()),
        ticks=int((events["ev"] == TICK).sum()),
        probes=int((events["ev"] == PROBE).sum()),
        answers=int((events["ev"] == ECHO).sum()),
        victims=int(events["nvictims"].sum()),
        marks=what[MARKED],
        changes=what[CHANGE],
        resets=what[RESET],
        drops=Counter(WHY[why] for why in reasons),
        mtus=set(records[records["what"] == INIT]["len"].tolist()),
        flows=set(rows[rows["row"] == queue_rows()["flows"].attr]["value"].tolist()),
    )


def read(path: Path) -> np.ndarray[Any, np.dtype[np.void]]:
    return np.frombuffer(path.read_bytes(), RECORD, offset=HEAD_BYTES)


def kernel() -> uml.Built:
    """Debian's, or the one that is named, as for the tests."""
    source = os.environ.get("SOJOURN_KERNEL_SOURCE")
    return uml.build(Path(source) if source else None)


def compiled(folder: Path, source: Path, *more: str | Path) -> Path:
    program = folder / source.stem
    subprocess.run(["gcc", *FLAGS, *more, source, "-o", program], check=True)
    return program


def c_replayer(folder: Path) -> Path:
    include = [f"-I{ROOT / 'aqm'}", f"-I{ROOT / 'linux/qdisc'}", "-Wno-unused-function"]
    core = [file for file in core_sources(ROOT / "aqm") if file.suffix == ".c"]
    return compiled(folder, ROOT / "tests/linux/replay.c", *include, *core)


def rust_replayer() -> Path:
    """Built in cargo's own folder, as cargo reports it."""
    words = ["cargo", "build", "--release", "--locked", "--package", "sojourn-core"]
    words += ["--example", "replay", "--message-format", "json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = [json.loads(line).get("executable") for line in done.stdout.splitlines()]
    return next(Path(program) for program in built if program)


def lay(built: uml.Built, traced: Path, name: str, flows: int, folder: Path) -> None:
    """The files that a job needs to run `./script`: one form of an algorithm."""
    traffic = parity_traffic.traffic(name, flows, ROOM)
    lay_player(traffic.script, folder)
    lay_connections(built, traffic.connections(), folder)
    (folder / "sch_sojourn.ko").symlink_to(traced)


def lay_connections(built: uml.Built, lines: str, folder: Path) -> None:
    """Endless connections, which `start traffic flows` of a script plays."""
    flows = []
    for line in lines.splitlines():
        if not line.startswith("flow "):
            flows.append(line)
            continue
        *ends, _, _, start_ns, stop_ns, _ = line.split()[1:]
        number = sum(before.startswith("flow ") for before in flows)
        words = [str(number), str(1024 + number), *ends, start_ns, stop_ns]
        flows += [f"flow {' '.join(words)}", "source 0 0 0", "visit 0 0", "talk 0 -1 -1 0 0"]
        flows += [f"move 0 0 0 {ENDLESS_BYTES} -1 0"]
    (folder / "flows").write_text("\n".join([*flows, ""]))
    (folder / "traffic").symlink_to(built.programs / "play")


def lay_player(script: Script, folder: Path) -> None:
    """A script that can be executed, where its player lies beside it."""
    (folder / "script").write_text(str(script))
    (folder / "script").chmod(0o755)
    compiled(folder, ROOT / "tests/linux/player.c")


def record(built: uml.Built, traced: Path, name: str, flows: int, folder: Path) -> Path:
    """Run one form of an algorithm in a guest; its records."""
    lay(built, traced, name, flows, folder)
    (folder / "job").symlink_to("script")
    boot(built, folder, limit_s=300)
    if heard := unwelcome((folder / "kernel.log").read_text(errors="replace")):
        raise BootError("\n".join(heard))
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
HEAD = [f"| {' | '.join(HEADLINE)} |", f"|{'---|' * 2}{'--:|' * (len(HEADLINE) - 2)}"]


def line(name: str, flows: int, found: Seen, c: list[str], rust: list[str]) -> str:
    counts = [found.records, found.verdicts, found.ticks, sum(found.drops.values())]
    counts += [found.victims, found.marks, found.changes, found.resets, len(c), len(rust)]
    return f"| `{name}` | {flows or 'one queue'} | {' | '.join(map(str, counts))} |"


def origin(built: uml.Built) -> str:
    """Inputs of the counts, beside this folder."""
    return f"Linux {built.release}, gcc {uml.compiler_version()}."


RENEW = "the table of docs/evidence/parity.md is an older one: python -m tests.linux.parity --renew"
TABLE = re.compile(r"(<!-- parity: [^>]*-->\n).*?(<!-- end of parity -->\n)", re.S)


def documented() -> list[str]:
    """The lines of the table in docs/evidence/parity.md, and its origin."""
    found = TABLE.search(PAGE.read_text())
    assert found
    return [line for line in found[0].splitlines()[1:-1] if line]


def renew(table: list[str], made_from: str) -> None:
    inside = "\n".join([*table, "", made_from, ""])
    PAGE.write_text(TABLE.sub(rf"\g<1>{inside}\g<2>", PAGE.read_text()))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Print the table of parity.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--renew", action="store_true", help=f"write it into {PAGE.name}")
    names = [form_name(*form) for form in FORMS]
    what.add_argument("--only", metavar="FORM", choices=names, help="one, as codel-64")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to leave the records")
    return parser.parse_args()


def form_name(name: str, flows: int) -> str:
    return f"{name}-{flows}"


def main() -> int:
    options = parse()
    built = kernel()
    traced = module(built, trace="events")
    table = list(HEAD)
    print(*table, sep="\n")
    sentences = []
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        replayers = [c_replayer(Path(scratch)), rust_replayer()]
        for form in FORMS:
            name = form_name(*form)
            if options.only not in (None, name):
                continue
            (folder := Path(scratch) / name).mkdir()
            path = record(built, traced, *form, folder)
            c, rust = (differences(replayer, path) for replayer in replayers)
            table.append(line(*form, seen(path), c, rust))
            print(table[-1], flush=True)
            sentences += [f"{name}: {sentence}" for sentence in c + rust]
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.move(path, options.keep / name)
            shutil.rmtree(folder)
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    if options.renew and not sentences:
        renew(table, origin(built))
    return bool(sentences)


if __name__ == "__main__":
    sys.exit(main())
