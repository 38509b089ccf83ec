# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The qdisc in a kernel that watches memory, locks and undefined behaviour.

`python -m tests.linux.sanitizers` puts mistakes into the module, which the kernel must
report, then runs every case, the traffic of every parity record, and failing allocations. The
result goes to tests/linux/sanitizers.digest.toml, which is stale as soon as one of its inputs
changes (`--check` tells).
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import SANITIZERS, Built, build, run
from sojourn.linux.uml.module import core_sources, module

from tests.algorithms import ALGORITHMS
from tests.linux import parity
from tests.linux.guest import CASES, OWN
from tests.models.digest import Digest, hash_of
from tests.models.library import ROOT

HERE = Path(__file__).resolve().parent
DIGEST = Digest(HERE / "sanitizers.digest.toml", "python -m tests.linux.sanitizers")
# The longest case takes a few minutes here.
LIMIT_S = 1800
PYTHON = f"{sys.executable} -S -B -m tests.linux"


@dataclass(frozen=True)
class Spoil:
    """A planted mistake, the job that meets it, and the kernel's expected message."""

    name: str
    right: str
    wrong: str
    job: str
    said: str


TRAFFIC = "guest a_root_passes_packets_and_counts_them"
SPOILS = [
    Spoil(
        "memory used after it was freed",
        "\tkvfree(s->queue);\n",
        "\tkvfree(s->queue);\n\ts->queue->pkts++;\n",
        TRAFFIC,
        "BUG: KASAN: slab-use-after-free in sojourn_destroy",
    ),
    Spoil(
        "memory written beyond its end",
        "\ts->queue_bytes = made->bytes;\n",
        "\ts->queue_bytes = made->bytes;\n\t((char *)s->queue)[made->bytes] = 1;\n",
        TRAFFIC,
        "BUG: KASAN: slab-out-of-bounds in ",
    ),
    Spoil(
        "memory that is never freed",
        "\tkvfree(s->queue);\n",
        "",
        TRAFFIC,
        "unreferenced object",
    ),
    Spoil(
        "a packet that is never freed",
        "\tconsume_skb(skb);\n",
        "",
        "guest segments_are_split_into_packets_of_the_wire",
        "unreferenced object",
    ),
    Spoil(
        "a shift by more than a word",
        "STATS_MEMORY, s->queue_bytes) ||\n",
        "STATS_MEMORY, s->queue_bytes + (1 << (s->queue_bytes & 1 ? 1 : 40))) ||\n",
        TRAFFIC,
        "UBSAN: shift-out-of-bounds",
    ),
    Spoil(
        "sleeping under a spinlock",
        "\tsch_tree_lock(sch);\n\terr = put_stats",
        "\tsch_tree_lock(sch);\n\tmight_sleep();\n\terr = put_stats",
        TRAFFIC,
        "BUG: sleeping function called from invalid context",
    ),
    Spoil(
        "a lock that an interrupt may ask for again",
        "\tsch_tree_lock(sch);\n"
        "\terr = put_stats(skb, qdisc_priv(sch));\n"
        "\tsch_tree_unlock(sch);\n",
        "\tspin_lock(qdisc_lock(qdisc_root_sleeping(sch)));\n"
        "\terr = put_stats(skb, qdisc_priv(sch));\n"
        "\tspin_unlock(qdisc_lock(qdisc_root_sleeping(sch)));\n",
        "guest marks_reach_the_receiver_and_no_copy_of_the_packet",
        "WARNING: inconsistent lock state",
    ),
    Spoil(
        "a failed allocation that is not noticed",
        "\tif (!made->queue)\n\t\treturn -ENOMEM;\n",
        "",
        "starved",
        "Oops|Kernel mode fault|null-ptr-deref",
    ),
]


def script(kernel_module: Path, command: str) -> str:
    """A job, and the checks after it."""
    setting = f"export PYTHONPATH={ROOT}:{ROOT / 'python'} TC_LIB_DIR={kernel_module.parent}"
    lines = ["#!/bin/sh", setting, f"{command} || exit", f"{PYTHON}.aftermath"]
    return "\n".join([*lines, ""])


def guest(built: Built, kernel_module: Path, job: str) -> str:
    """The console of a job of a module of Python."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        command = f"{PYTHON}.{job} {kernel_module}"
        return watched(built, kernel_module, command, Path(scratch))


def watched(built: Built, kernel_module: Path, command: str, folder: Path) -> str:
    """The console of a command that left nothing behind; BootError otherwise."""
    path = folder / "job"
    path.write_text(script(kernel_module, command))
    path.chmod(0o755)
    try:
        return boot(built, folder, limit_s=LIMIT_S).console
    except BootError:
        console = (folder / "console.txt").read_text(errors="replace")
        raise BootError(console.replace("\r\n", "\n")) from None


def spoiled(built: Built, spoil: Spoil, work: Path) -> Path:
    """The module with a mistake in it, made from a copy of its sources."""
    for folder in ("aqm", "linux/qdisc"):
        shutil.copytree(ROOT / folder, work / folder)
    source = work / "linux/qdisc/sch_sojourn.c"
    text = source.read_text()
    assert text.count(spoil.right) == 1, spoil
    source.write_text(text.replace(spoil.right, spoil.wrong))
    make: list[str | Path] = ["make", "-C", source.parent, "ARCH=um", f"KERNEL={built.objects}"]
    run([*make, f"BUILD={work / 'build'}"], work / "build.log")
    return work / "build" / "sch_sojourn.ko"


def notices(built: Built, spoil: Spoil) -> int:
    """The kernel must report the fault, and the job must fail by it."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        kernel_module = spoiled(built, spoil, Path(scratch))
        try:
            console = guest(built, kernel_module, spoil.job)
        except BootError as error:
            if re.search(spoil.said, str(error)):
                return 1
            raise
    raise BootError(f"nobody noticed {spoil.name}:\n{console[-3000:]}")


def stays_silent(built: Built, kernel_module: Path, job: str) -> int:
    """No message is printed; the number of allocations made to fail."""
    failed = re.search(r"^FAILED (\d+)$", guest(built, kernel_module, job), re.M)
    return int(failed[1]) if failed else 0


def plays_silently(built: Built, traced: Path, name: str, flows: int) -> int:
    """A parity record's traffic gives no message either."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        parity.lay(built, traced, name, flows, Path(scratch))
        watched(built, traced, "./script", Path(scratch))
    return 0


@dataclass(frozen=True)
class Task:
    """One guest, and what its result counts as."""

    kind: str
    name: str
    work: Callable[[], int]


def tasks(built: Built) -> Iterator[Task]:
    for spoil in SPOILS:
        yield Task("spoils", spoil.name, partial(notices, built, spoil))
    plain = module(built, OWN)
    yield Task("starved", "allocations fail", partial(stays_silent, built, plain, "starved"))
    for case in sorted(CASES):
        yield Task("cases", case, partial(stays_silent, built, plain, f"guest {case}"))
    logging = module(built, OWN, trace="packets")
    load = "every_algorithm_holds_a_load_alone_and_in_flows"
    yield Task("cases", f"{load}, logged", partial(stays_silent, built, logging, f"guest {load}"))
    traced = module(built, trace="events")
    for name, flows in parity.FORMS:
        play = partial(plays_silently, built, traced, name, flows)
        yield Task("parity", f"{name} {flows}", play)


def covers() -> str:
    """Hash of the result's inputs."""
    core = core_sources(ROOT / "aqm")
    qdisc = [*(ROOT / "linux/qdisc").glob("*.[ch]"), ROOT / "linux/qdisc/Kbuild"]
    guests = [*HERE.glob("cases*.py"), HERE / "player.c", *OWN]
    names = (
        "aftermath",
        "frames",
        "guest",
        "net",
        "netlink",
        "parity_traffic",
        "play",
        "sanitizers",
    )
    own = [HERE / f"{name}.py" for name in (*names, "starved", "trees")]
    files = [*core, *qdisc, *guests, *own, *SANITIZERS.parent.glob("*.config")]
    return hash_of(files, {name: how.signalling for name, how in ALGORITHMS.items()})


def outcome(task: Task) -> tuple[str, int, str]:
    """A line to print, what to count, and why it failed."""
    began = time.monotonic()
    try:
        count, trouble = task.work(), ""
    except BootError as error:
        count, trouble = 0, str(error)
    word = "FAILS" if trouble else "ok"
    return f"{word:5} {time.monotonic() - began:4.0f} s  {task.kind}: {task.name}", count, trouble


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("only", nargs="?", default="", help="of spoils, starved, cases, parity")
    parser.add_argument("--check", action="store_true", help="only tell if the digest is fresh")
    parser.add_argument("--jobs", type=int, default=2, help="guests side by side (default 2)")
    options = parser.parse_args()
    if options.check:
        fresh = DIGEST.fresh(covers())
        print("fresh" if fresh else f"stale: run `{DIGEST.made_by}`")
        return int(not fresh)
    began, before = time.monotonic(), covers()
    built = build(sanitizers=True)
    chosen = [t for t in tasks(built) if options.only in f"{t.kind}: {t.name}"]
    counts: dict[str, int] = {}
    failures = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for task, (line, count, trouble) in zip(chosen, pool.map(outcome, chosen), strict=True):
            print(line, flush=True)
            counts[task.kind] = counts.get(task.kind, 0) + 1
            if count and task.kind == "starved":
                counts["failed allocations"] = count
            if trouble:
                print(trouble, file=sys.stderr, flush=True)
                failures += 1
    seconds = time.monotonic() - began
    print(f"sanitizers: {counts} in {seconds:.0f} s, {failures} failed")
    if not failures and not options.only:
        DIGEST.write(before, seconds, counts)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
