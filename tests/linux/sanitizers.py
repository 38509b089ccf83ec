# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The qdisc in a kernel that watches memory, locks and undefined behaviour.

`python -m tests.linux.sanitizers` puts mistakes into the module, which the kernel must
report, then runs every case, the traffic of every parity record, and failing allocations. Results
go to tests/linux/sanitizers.digest.toml, an entry for each run. One whose inputs have not changed
since is fresh, and is not run again (`--check` names the others).
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import Built, build, run
from sojourn.linux.uml.module import module

from tests.algorithms import ALGORITHMS
from tests.linux import parity
from tests.linux.guest import CASES, OWN, REAL_TIME
from tests.linux.sources import algorithm_sources, commit, queue_sources
from tests.models.digest import LICENCE, hash_of
from tests.models.library import ROOT

HERE = Path(__file__).resolve().parent
DIGEST = HERE / "sanitizers.digest.toml"
MADE_BY = "python -m tests.linux.sanitizers"
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
        real_time = job.split()[-1] in REAL_TIME
        return watched(built, kernel_module, command, Path(scratch), real_time=real_time)


def watched(
    built: Built, kernel_module: Path, command: str, folder: Path, *, real_time: bool = False
) -> str:
    """The console of a command that left nothing behind; BootError otherwise."""
    path = folder / "job"
    path.write_text(script(kernel_module, command))
    path.chmod(0o755)
    try:
        return boot(built, folder, limit_s=LIMIT_S, real_time=real_time).console
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


def notices(spoil: Spoil, built: Built) -> int:
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


def stays_silent(trace: str, job: str, built: Built) -> int:
    """No message is printed; the number of allocations made to fail."""
    kernel_module = module(built, OWN, trace=trace)
    failed = re.search(r"^FAILED (\d+)$", guest(built, kernel_module, job), re.M)
    return int(failed[1]) if failed else 0


def plays_silently(name: str, flows: int, built: Built) -> int:
    """A parity record's traffic gives no message either."""
    traced = module(built, trace="events")
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        parity.lay(built, traced, name, flows, Path(scratch))
        watched(built, traced, "./script", Path(scratch))
    return 0


@dataclass(frozen=True)
class Task:
    """One guest, what its result counts as, and what it rests on beside the queue."""

    kind: str
    name: str
    work: Callable[[Built], int]
    files: frozenset[Path]
    more: object = None

    @property
    def title(self) -> str:
        return f"{self.kind}: {self.name}"

    def covers(self) -> str:
        """Hash of the result's inputs."""
        return hash_of([*queue_sources(), *self.files], self.kind, self.name, self.more)


def of_guests(*names: str) -> frozenset[Path]:
    """The guest's programs, with these modules."""
    common = ("aftermath", "frames", "guest", "net", "netlink", "probes", "rtnetlink", "trees")
    return frozenset(HERE / f"{name}.py" for name in (*common, *names)) | frozenset(OWN)


def of_cases(*texts: str) -> tuple[frozenset[Path], object]:
    """A run rests on its cases, on what their files share, and on all algorithms if it goes
    through them; not on the text of other cases."""
    files = of_guests() | every_algorithm() if "ALGORITHMS" in "".join(texts) else of_guests()
    return files, (shared(), *(ast.dump(ast.parse(text)) for text in texts))


@cache
def shared() -> str:
    """Files of cases, without the cases."""
    trees = [ast.parse(path.read_text()) for path in sorted(HERE.glob("cases*.py"))]
    for tree in trees:
        tree.body = [node for node in tree.body if getattr(node, "name", "") not in CASES]
    return "".join(ast.dump(tree) for tree in trees)


def text_of(case: str) -> str:
    return inspect.getsource(CASES[case])


def every_algorithm() -> frozenset[Path]:
    return frozenset(path for name in ALGORITHMS for path in algorithm_sources(name))


def tasks() -> Iterator[Task]:
    for spoil in SPOILS:
        files, more = of_cases(*(text_of(word) for word in spoil.job.split() if word in CASES))
        yield Task("spoils", spoil.name, partial(notices, spoil), files, (spoil, more))
    starved = of_guests("starved") | every_algorithm()
    work = partial(stays_silent, "", "starved")
    yield Task("starved", "allocations fail", work, starved, shared())
    # The measuring of a far end takes minutes here, and its packets are those of other cases. So
    # are the 70,000 of the last flow, for which this kernel has no memory.
    left_out = ("a_far_end", "the_last_of_65536")
    for case in sorted(name for name in CASES if not name.startswith(left_out)):
        files, more = of_cases(text_of(case))
        yield Task("cases", case, partial(stays_silent, "", f"guest {case}"), files, more)
    load = "every_algorithm_holds_a_load_alone_and_in_flows"
    files, more = of_cases(text_of(load))
    work = partial(stays_silent, "packets", f"guest {load}")
    yield Task("cases", f"{load}, logged", work, files, more)
    player = of_guests("parity_traffic", "play") | {HERE / "player.c"}
    for name, flows in parity.FORMS:
        files = player | algorithm_sources(name)
        signalling = ALGORITHMS[name].signalling
        play = partial(plays_silently, name, flows)
        yield Task("parity", f"{name} {flows}", play, files, signalling)


def kept() -> dict[str, dict[str, str | int]]:
    """Results, by title."""
    return tomllib.loads(DIGEST.read_text()) if DIGEST.exists() else {}


def stale() -> list[Task]:
    """What has to run again."""
    results = kept()
    return [t for t in tasks() if results.get(t.title, {}).get("covers") != t.covers()]


def write(results: dict[str, dict[str, str | int]]) -> None:
    """Of the tasks that there are."""
    text = f"{LICENCE}# Made by `{MADE_BY}`.\n"
    for task in tasks():
        if task.title in results:
            rows = (f"{key} = {json.dumps(value)}" for key, value in results[task.title].items())
            text += f"\n[{json.dumps(task.title)}]\n" + "\n".join(rows) + "\n"
    DIGEST.write_text(text)


def outcome(built: Built, task: Task) -> tuple[float, int, str]:
    """Seconds, what to count, and why it failed."""
    began, count, trouble = time.monotonic(), 0, ""
    try:
        count = task.work(built)
    except BootError as error:
        trouble = str(error)
    return time.monotonic() - began, count, trouble


def run_all(chosen: list[Task], jobs: int) -> int:
    """Each result is kept at once; how many failed."""
    built, failures, counts = build(sanitizers=True), 0, Counter[str]()
    before = {task.title: task.covers() for task in chosen}
    with ThreadPoolExecutor(jobs) as pool:
        for task, found in zip(chosen, pool.map(partial(outcome, built), chosen), strict=True):
            seconds, count, trouble = found
            print(f"{'FAILS' if trouble else 'ok':5} {seconds:4.0f} s  {task.title}", flush=True)
            counts[task.kind] += 1
            if trouble:
                print(trouble, file=sys.stderr, flush=True)
                failures += 1
                continue
            entry: dict[str, str | int] = {"covers": before[task.title], "commit": commit()}
            if count and task.kind == "starved":
                entry["failed_allocations"] = count
            write(kept() | {task.title: entry})
    print(f"sanitizers: {dict(counts)}, {failures} failed")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("only", nargs="?", default="", help="of spoils, starved, cases, parity")
    parser.add_argument("--check", action="store_true", help="only name what is stale")
    parser.add_argument("--anew", action="store_true", help="run what is fresh, too")
    parser.add_argument("--jobs", type=int, default=2, help="guests side by side (default 2)")
    options = parser.parse_args()
    chosen = list(tasks()) if options.anew else stale()
    chosen = [task for task in chosen if options.only in task.title]
    if options.check:
        print(f"stale: {titles(chosen)}: run `{MADE_BY}`" if chosen else "fresh")
        return int(bool(chosen))
    return int(run_all(chosen, options.jobs) > 0)


def titles(some: Iterable[Task]) -> str:
    """In one line."""
    return ", ".join(task.title for task in some)


if __name__ == "__main__":
    sys.exit(main())
