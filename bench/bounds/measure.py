# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The guest's job for the rows of a part, and what it brings back.

A guest in virtual time does the same in each boot, to the last packet; only the processor is
another's now and then. So each try is the least of several boots, and the worst of all tries
counts.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import BuildError, Built, cache_root, digest, kept, run

from bench.bounds.plan import PARTS, Row, Sizes, boots_of

HERE = Path(__file__).resolve().parent
SOURCES = ("Kbuild", "bounds.c", "job.h", "packets.h")
ATTEMPT = struct.Struct("=QII")
LIMIT_S = 7200
SETUP = """#!/bin/sh -e
export TC_LIB_DIR={folder}
insmod {module}
insmod {bounds}
mount -t debugfs none /sys/kernel/debug
bounds=/sys/kernel/debug/bounds
mount -o remount,size={warm}m /run
head -c {warm}M /dev/zero >/run/warm
rm /run/warm
ip link add d0 type dummy
memory=
if tc qdisc add dev d0 root sojourn help 2>&1 | grep -q memory_limit; then
	memory='memory_limit 1024mb'
fi
ip link del d0
# As many flows of an algorithm as a queue takes.
most() {{
	flows={flows}
	until tc qdisc add dev d0 root sojourn fq $1 flows $flows 2>/dev/null; do
		flows=$((flows - 256))
	done
	tc qdisc del dev d0 root
}}
"""


@dataclass(frozen=True)
class Attempt:
    cycles: int
    lost: int
    held: int


@dataclass(frozen=True)
class Module:
    """What is measured: a build of the qdisc, and its name in the tables."""

    name: str
    path: Path


@dataclass(frozen=True)
class Result:
    """Of a row the least of all boots, try by try."""

    row: Row
    module: Module
    flows: int
    attempts: tuple[Attempt, ...]


def measuring_module(built: Built) -> Path:
    """bounds.ko for this kernel, from the cache if it is there."""
    key = digest([HERE / name for name in SOURCES], [built.kernel.parent.name])
    folder = cache_root() / f"bounds-{key}"

    def make(work: Path) -> None:
        for name in SOURCES:
            shutil.copy(HERE / name, work)
        command: list[str | Path] = ["make", "-C", built.objects, "ARCH=um", f"M={work}", "modules"]
        run(command, work / "build.log")

    return kept(folder, make) / "bounds.ko"


def module_of(revision: str, built: Built) -> Module:
    """The qdisc as it was at a revision of this repository."""
    git = ["git", "-C", str(HERE.parents[1])]
    try:
        commit = subprocess.check_output(
            [*git, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], text=True
        ).strip()
        tree = subprocess.check_output([*git, "archive", commit, "aqm", "linux"])
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(f"{revision} is no revision of a repository here") from error
    folder = cache_root() / f"module-{digest([], [commit, built.kernel.parent.name])}"

    def make(work: Path) -> None:
        subprocess.run(["tar", "-x", "-C", work], input=tree, check=True)
        kernel = ["ARCH=um", f"KERNEL={built.objects}", f"BUILD={work / 'build'}"]
        run(["make", "-C", work / "linux/qdisc", *kernel], work / "build.log")
        run(["make", "-C", work / "linux/tc", f"BUILD={work / 'tc'}"], work / "build.log")
        (work / "tc/q_sojourn.so").rename(work / "build/q_sojourn.so")

    return Module(revision, kept(folder, make) / "build/sch_sojourn.ko")


def cycles_per_second(work: Path) -> int:
    """Of the host's cycle counter, which must count evenly."""
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    if not flags or "constant_tsc" not in flags[1].split():
        raise BuildError("this processor has no cycle counter that counts evenly")
    run(["gcc", "-O2", "-o", work / "tsc", HERE / "tsc.c"], work / "build.log")
    return int(subprocess.check_output([work / "tsc"], text=True))


def lines(nth: int, row: Row) -> Iterator[str]:
    yield "ip link add d0 type dummy"
    if row.algorithm:
        yield f"most {row.algorithm}"
    for place, qdisc in zip(("root ", ""), row.tc, strict=False):
        yield f"tc qdisc add dev d0 {place}{qdisc}"
    if row.changes:
        yield "echo options d0 >$bounds/run"
        yield from (f"tc qdisc change dev d0 root {change}" for change in row.changes)
    verb, numbers = row.part, row.command
    yield f'echo "{verb} d0 {numbers}" >$bounds/run'
    yield f"cat $bounds/tries >{nth}.tries"
    yield f"echo row {nth} flows {row.flows}"
    yield "ip link del d0"


def job(built: Built, module: Module, rows: Sequence[Row], sizes: Sizes) -> str:
    setup = SETUP.format(
        folder=module.path.parent,
        module=module.path,
        bounds=measuring_module(built),
        warm=0 if rows[0].part == "packet" else sizes.warm_mb,
        flows=sizes.flows,
    )
    return setup + "".join(f"{line}\n" for nth, row in enumerate(rows) for line in lines(nth, row))


def one_boot(built: Built, module: Module, rows: Sequence[Row], sizes: Sizes) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="sojourn-bench-") as scratch:
        folder = Path(scratch)
        script = folder / "job"
        script.write_text(job(built, module, rows, sizes))
        script.chmod(0o755)
        console = boot(built, folder, limit_s=LIMIT_S).console
        results = []
        for nth, row in enumerate(rows):
            [flows] = re.findall(rf"^row {nth} flows (\d+)$", console, re.M)
            numbers = ATTEMPT.iter_unpack((folder / f"{nth}.tries").read_bytes())
            attempts = tuple(Attempt(*n) for n in numbers)
            results.append(Result(row, module, int(flows), attempts))
        return results


def least(boots: Sequence[Result]) -> Result:
    """The least of each try; all else must be the same in all boots."""
    tries = list(zip(*(result.attempts for result in boots), strict=True))
    for attempts in tries:
        if len({(attempt.lost, attempt.held) for attempt in attempts}) != 1:
            row = boots[0].row
            raise BootError(f"{row.part}, {row.queue}, {row.state}: two boots differ")
    fastest = tuple(min(attempts, key=lambda attempt: attempt.cycles) for attempts in tries)
    return replace(boots[0], attempts=fastest)


def measure(built: Built, modules: Sequence[Module], part: str, sizes: Sizes) -> list[Result]:
    """The rows of a part. What is the kernel's own is measured with the first module; boots
    of all modules take turns."""
    rows = {
        module: [row for row in PARTS[part](sizes) if row.ours or module == modules[0]]
        for module in modules
    }
    turns = [
        [result for module in modules for result in one_boot(built, module, rows[module], sizes)]
        for _ in range(boots_of(sizes, part))
    ]
    return [least(boots) for boots in zip(*turns, strict=True)]
