# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""boot.py: run one job in the virtual-time kernel and bring back its console.

    python -m sojourn.linux.uml.boot 'uname -r; tc qdisc show'

A job is a folder with an executable `job`. Inside the guest it is the current folder,
/run/job; files that the job writes there are ordinary files of the host.

The kernel's command line is mixed into the guest's random pool. So command line and
environment are the same for every job, but for the guest's memory and its shown folders.
Two runs of one job with one seed and one memory give the same bytes, from any folder, on
any machine. The kernel's own addresses are not randomised, since the heap takes its place
among the guest's memory. linux/uml/host.c handles the other differences between hosts.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux.memory import USUAL_MB
from sojourn.linux.uml.build import BuildError, Built, build, cache_root

# 2026-01-01T00:00:00Z: a round number to read logs by.
EPOCH_S = 1_767_225_600
COMMAND_LINE = [
    "root=/dev/root",
    "rootfstype=hostfs",
    "rootflags=/proc/self/cwd/.",
    "rw",
    "time-travel=inf-cpu",
    f"time-travel-start={EPOCH_S}000000000",
    "seccomp=auto",
    "con=null",
    "con0=null,fd:1",
    "con1=null",
    "ssl=null",
    "quiet",
    "loglevel=4",
    "norandmaps",
    "panic=-1",
    "init=/init",
]
# Names under which the guest sees the host's folders, and the folder that holds them.
JOB, PROGRAMS, MODULE = "job", "programs", "module"
SHOWN = Path("/run")
# The name of the setting in a result, and its numbers for personality(2).
FIXED_ADDRESSES = "fixed addresses"
ADDR_NO_RANDOMIZE, QUERY = 0x0040000, 0xFFFFFFFF
# A line of a stack trace, or of the stack itself.
STACK = re.compile(r"\[ *\d+\.\d+\] +(\[<|([0-9a-f]{8,16} ?)+$)")

Watch = Callable[[Path], bool]


class BootError(Exception):
    """The guest did not finish its job; the message holds the end of its console."""


@dataclass(frozen=True)
class Outcome:
    """A finished job: its console and the CPU time the whole guest took."""

    console: str
    cpu_s: float
    fixed_addresses: bool  # without them the guest's memory may differ between starts


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End the kernel and each process of its guest: they share one process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Stopped(BootError):
    """The function that watches the guest stopped the run."""


# Seconds between two calls of the function that watches a guest.
LOOK_S = 0.05


def wait(process: subprocess.Popen[bytes], console: Path, limit_s: float, watch: Watch) -> None:
    """Wait for the guest's end; raise BootError after `limit_s`, Stopped if `watch` says no."""
    end_s = time.monotonic() + limit_s
    while process.poll() is None:
        if time.monotonic() > end_s:
            raise BootError(f"no end after {limit_s:g} s:\n{tail(console)}")
        if not watch(console):
            raise Stopped("stopped")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)


@contextlib.contextmanager
def fixed_addresses() -> Iterator[bool]:
    """Start programs without randomised addresses; yield false where the host refuses it. The
    system-call filters of many containers do. The setting is the calling thread's alone."""
    libc = ctypes.CDLL(None)
    before = libc.personality(ctypes.c_ulong(QUERY))
    fixed = before != -1 and libc.personality(ctypes.c_ulong(before | ADDR_NO_RANDOMIZE)) != -1
    try:
        yield fixed
    finally:
        if fixed:
            libc.personality(ctypes.c_ulong(before))


def lay_out(stage: Path, built: Built, shown: Mapping[str, Path]) -> None:
    """Fill the folder that the kernel starts in, as linux/uml/init.c says. Its names are relative:
    no path of the host is on the kernel's stack."""
    shutil.copy(built.programs / "init", stage)
    (stage / "root").mkdir()
    (stage / "linux").symlink_to(built.kernel)
    for name, folder in shown.items():
        (stage / name).symlink_to(folder.resolve())


@contextlib.contextmanager
def own_processor() -> Iterator[list[str]]:
    """Yield words that keep a command on a processor that no other guest has; none where all are
    taken. A kernel and the processes of its guest run in turns, never together. On one processor
    they take turns twice as fast."""
    folder = cache_root() / "processors"
    folder.mkdir(parents=True, exist_ok=True)
    for processor in sorted(os.sched_getaffinity(0), reverse=True):
        with (folder / str(processor)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield ["taskset", "--cpu-list", str(processor)]
            return
    yield []


def boot(
    built: Built,
    folder: Path,
    seed: int = 1,
    limit_s: float = 600,
    watch: Watch = lambda console: True,
    real_time: bool = False,
    memory_mb: int = USUAL_MB,
    module: Path | None = None,
) -> Outcome:
    """Run the folder's job; raise BootError with its console when it hangs, panics or fails.

    `watch` gets the console's file again and again, and tells whether to go on. In real time
    the guest's clock is the host's, for a job that measures the kernel itself. The guest sees
    the folder of a `module` as /run/module.
    """
    shown = {JOB: folder, PROGRAMS: built.programs}
    if module:
        shown[MODULE] = module.parent
    environment = {
        "HOME": JOB,
        "PATH": "/usr/bin:/bin",
        "LD_PRELOAD": f"{PROGRAMS}/shim.so",
        "SOJOURN_SEED": str(seed),
    }
    console = folder / "console.txt"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [f"mem={memory_mb}M", *COMMAND_LINE, f"shown={':'.join(shown)}"]
    words = [word for word in words if not (real_time and word.startswith("time-travel"))]
    # setpriv ends the kernel too if this program itself is killed.
    command = ["setpriv", "--pdeathsig", "KILL", "./linux", *words]
    with (
        tempfile.TemporaryDirectory(prefix="sojourn-guest-") as stage,
        console.open("wb") as out,
        own_processor() as on_it,
    ):
        lay_out(Path(stage), built, shown)
        with fixed_addresses() as fixed:
            process = subprocess.Popen(
                [*on_it, *command],
                cwd=stage,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        try:
            wait(process, console, limit_s, watch)
        finally:
            stop_group(process)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = console.read_text(errors="replace").replace("\r\n", "\n")
    if "job status 0\n" not in text:
        raise BootError(f"the job failed:\n{tail(console)}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Outcome(text, spent, fixed)


def tail(console: Path, lines: int = 15) -> str:
    """Return the console's end without stacks. A panic prints its stack after its reason."""
    said = console.read_text(errors="replace").splitlines()
    last = [line for line in said if not STACK.match(line)][-lines:]
    return "\n".join(line[:200] for line in last)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a shell command in virtual time.")
    parser.add_argument("--seed", type=int, default=1, help="of the guest's random pool")
    parser.add_argument("--limit", type=float, default=600, help="wall-clock seconds allowed")
    parser.add_argument("command", help="for /bin/sh, in a scratch folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sojourn-") as scratch:
        job = Path(scratch) / "job"
        job.write_text(f"#!/bin/sh\n{options.command}\n")
        job.chmod(0o755)
        try:
            print(boot(build(), Path(scratch), options.seed, options.limit).console, end="")
        except (BootError, BuildError) as error:
            print(f"boot: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
