# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""play.py: seeds and steps of the storm, played in a guest, and what came of them."""

from __future__ import annotations

import contextlib
import re
import shlex
import socket
import struct
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from sojourn.linux.uml.boot import BootError, Stopped, boot
from sojourn.linux.uml.build import Built, cache_root, compiler_version, digest, kept, run
from sojourn.linux.uml.module import core_sources

from tests.linux.aftermath import REFERENCES, SPLATS
from tests.models.library import ROOT

HERE = Path(__file__).resolve().parent
WORDS = "|".join((*SPLATS, *REFERENCES))
# Nothing that a step may do takes so long; what does is a hang.
QUIET_S = 60.0
LIMIT_S = 900.0
STEP = re.compile(r"^STEP (\d+) (\d+) (\w+)$", re.M)
FAIL = re.compile(r"^FAIL (\d+) (\d+): (.*)$", re.M)
WORLD = re.compile(r"^WORLD (\d+) (.*)$", re.M)
ENDS = re.compile(r"^ENDS (.*)$", re.M)
# What a guest that hangs tells of its tasks, and those of the kernel's own words that name us.
HANGS = re.compile(r"^HANGS .*$|^.*\[sch_sojourn\].*$|^.*(?:soft lockup|blocked for more).*$", re.M)
ASKED = "sysrq: Loglevel set to 9"
# How long a kernel that hangs may take to tell of its tasks.
TELL_S = 10.0
PANIC = re.compile(r"Kernel panic - not syncing: (.*)")


@dataclass(frozen=True)
class Fault:
    """Something was wrong: in which seed, after which step (-1: at the end), and what."""

    seed: int
    step: int
    sentence: str

    @property
    def likeness(self) -> str:
        """The sentence without names and numbers: two faults that share it are one."""
        return re.sub(r"[0-9a-f]*\d[0-9a-f]*", "#", self.sentence.rsplit(": ", 1)[-1])


@dataclass
class Played:
    """A guest that has ended."""

    console: str
    fault: Fault | None
    counts: Counter[str] = field(default_factory=Counter)


def storm(kernel_module: Path) -> Path:
    """The program, made from the tables that the module was made from."""
    made_of = kernel_module.parent
    own = sorted(HERE.glob("*.c"))
    core = core_sources(made_of / "aqm")
    tables = [*(file for file in core if file.suffix == ".c"), made_of / "rows.c"]
    headers = [*HERE.glob("*.h"), *(file for file in core if file.suffix == ".h")]
    content = [*own, *tables, *sorted(headers), made_of / "sojourn.h"]
    folder = cache_root() / f"storm-{digest(content, [compiler_version()])}"

    def make(work: Path) -> None:
        flags: list[str | Path] = ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
        flags += ["-static", f"-I{made_of / 'aqm'}", f"-I{made_of}"]
        run(["gcc", *flags, "-o", work / "storm", *own, *tables], work / "build.log")

    return kept(folder, make) / "storm"


@dataclass(frozen=True)
class Manner:
    """How a guest is played. `ends` is a storm of probes between two namespaces; `plain`: the
    kernel's own queues stand where ours would; with `round_ms` several processes act at once,
    and the guest's clock is the host's."""

    sanitizers: bool = False
    plain: bool = False
    ends: bool = False
    round_ms: int = 0

    def words(self, kernel_module: str | Path) -> list[str]:
        words = [str(self.round_ms)] * bool(self.round_ms) + ["plain"] * self.plain
        return words + (["ends", f"module={kernel_module}"] if self.ends else [])


USUAL = Manner()


def script(program: Path, kernel_module: Path, words: list[str], sanitizers: bool) -> str:
    lines = ["#!/bin/sh", "echo >/proc/sys/kernel/modprobe", f"insmod {kernel_module} || exit"]
    lines += [f"{program} {shlex.join(words)} || exit", "echo END of the storm"]
    if sanitizers:
        lines += [f"export PYTHONPATH={ROOT}:{ROOT / 'python'}"]
        lines += [f"{sys.executable} -S -B -m tests.linux.aftermath"]
    else:
        lines += ["rmmod sch_sojourn"]
    return "\n".join([*lines, ""])


def numbers(words: str) -> list[int]:
    """As the storm reads them: 0,7,30-35."""
    found: list[int] = []
    for word in words.split(","):
        first, _, last = word.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def ask_where_it_hangs(folder: Path) -> None:
    """Of a guest that says nothing any more: its kernel tells of all tasks and work items, where
    it still takes the host's questions."""
    for name in folder.glob(".uml/*/mconsole"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
            ours.bind(str(folder / "asking"))
            ours.settimeout(TELL_S)
            for key in "9wpt":
                words = f"sysrq {key}".encode()
                head = struct.pack("=III", 0xCAFEBABE, 2, len(words))
                with contextlib.suppress(OSError):
                    ours.sendto(head + words.ljust(512, b"\0"), str(name))
                    ours.recv(1 << 16)


class Watch:
    """Ends a guest that has said nothing for too long, and asks it before where it hangs."""

    def __init__(self, quiet_s: float) -> None:
        self.quiet_s = quiet_s
        self.size, self.since_s = 0, time.monotonic()

    def __call__(self, console: Path) -> bool:
        size = console.stat().st_size
        if size != self.size:
            self.size, self.since_s = size, time.monotonic()
        if time.monotonic() - self.since_s < self.quiet_s:
            return True
        ask_where_it_hangs(console.parent)
        return False


def fault_in(console: str, trouble: str) -> Fault | None:
    """What a console tells of a guest that did not end well."""
    if found := FAIL.search(console):
        return Fault(int(found[1]), int(found[2]), found[3])
    if not trouble:
        return None
    steps = STEP.findall(console)
    seed, step = (int(steps[-1][0]), int(steps[-1][1])) if steps else (-1, -1)
    # A kernel that is asked for its tasks may stumble over the one that runs.
    if panic := PANIC.search(console.partition(ASKED)[0]):
        return Fault(seed, step, f"the kernel panics: {panic[1]}")
    if trouble == "hang":
        return Fault(seed, step, "the guest hangs")
    last = [line for line in console.splitlines() if line.startswith("AssertionError")]
    return Fault(seed, -1, last[-1] if last else f"the guest failed: {trouble[-300:]}")


def count(console: str) -> Counter[str]:
    """The sums over all worlds."""
    counts: Counter[str] = Counter()
    for _, words in WORLD.findall(console):
        counts["seeds"] += 1
        for word in words.split():
            name, value = word.split("=")
            if name in ("place", "user"):
                counts[f"{name} {value}"] += 1
            elif name == "kinds":
                counts.update(f"trees with {kind}" for kind in value.split(",") if kind)
            elif name != "mtu":
                counts[name] += int(value)
    for words in ENDS.findall(console):
        for word in words.split():
            name, value = word.split("=")
            counts[f"ends {name}"] += int(value)
    return +counts


def hangs(console: str, most: int = 80) -> str:
    """The lines that tell where a guest hangs; nothing: it did not."""
    return "\n".join(found[0] for found in list(HANGS.finditer(console))[:most])


def play(
    built: Built,
    kernel_module: Path,
    seeds: range,
    steps: str,
    manner: Manner = USUAL,
    *,
    program: Path | None = None,
    quiet_s: float = QUIET_S,
) -> Played:
    """Play the steps of each seed in one guest. `program` is the storm with the tables of
    another module."""
    words = [str(seeds.start), str(seeds.stop - 1), steps, WORDS, *manner.words(kernel_module)]
    real_time = manner.round_ms > 0
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        job = Path(scratch) / "job"
        job.write_text(
            script(program or storm(kernel_module), kernel_module, words, manner.sanitizers)
        )
        job.chmod(0o755)
        trouble = ""
        try:
            watch = Watch(quiet_s)
            boot(built, Path(scratch), limit_s=LIMIT_S, watch=watch, real_time=real_time)
        except Stopped:
            trouble = "hang"
        except BootError as error:
            trouble = "hang" if str(error).startswith("no end after") else str(error)
        console = (Path(scratch) / "console.txt").read_text(errors="replace")
    console = console.replace("\r\n", "\n")
    return Played(console, fault_in(console, trouble), count(console))
