# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""boot.py: run one job in the virtual-time kernel and bring back its console.

    python -m sojourn.linux.uml.boot 'uname -r; tc qdisc show'

A job is a folder with an executable `job`; inside the guest it is the current folder,
and files that it writes there are ordinary files of the host. The kernel's command
line and environment are the same for every job, but for the guest's memory, because
the command line is mixed into the guest's random pool: two runs of one job with one
seed and one memory give the same bytes, from whatever folder, on whatever machine.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn.linux.memory import USUAL_MB
from sojourn.linux.uml.build import BuildError, Built, build, cache_root

# 2026-01-01T00:00:00Z: a round number to read logs by.
EPOCH_S = 1_767_225_600
COMMAND_LINE = [
    "root=/dev/root",
    "rootfstype=hostfs",
    "rootflags=/",
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
    "init=/proc/self/cwd/init",
]
# Here the guest has file systems of its own, and the host's are not seen.
COVERED = [Path(folder) for folder in ("/dev", "/proc", "/run", "/sys")]
# A line of a stack trace, or of the stack itself.
STACK = re.compile(r"\[ *\d+\.\d+\] +(\[<|([0-9a-f]{8,16} ?)+$)")

Watch = Callable[[Path], bool]


class BootError(Exception):
    """The guest did not finish its job; the message holds the end of its console."""


@dataclass(frozen=True)
class Outcome:
    """What a finished job left: its console and the CPU time the whole guest took."""

    console: str
    cpu_s: float


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """End the kernel and each process of its guest: they share one process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Stopped(BootError):
    """Whoever watched the guest did not want its end."""


# How often who watches a guest is asked whether to go on.
LOOK_S = 0.05


def wait(process: subprocess.Popen[bytes], console: Path, limit_s: float, watch: Watch) -> None:
    """Wait for the end of the guest, and end the waiting where it should not go on."""
    end_s = time.monotonic() + limit_s
    while process.poll() is None:
        if time.monotonic() > end_s:
            raise BootError(f"no end after {limit_s:g} s:\n{tail(console)}")
        if not watch(console):
            raise Stopped("stopped")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)


def require_seen(folder: Path, name: str) -> None:
    """Say which variable to set where the guest could not see the host's folder."""
    if any(folder.resolve().is_relative_to(covered) for covered in COVERED):
        raise BootError(f"{folder} lies where the guest has its own files; set {name} to another")


@contextlib.contextmanager
def own_processor() -> Iterator[list[str]]:
    """Words that keep a command on a processor that no other guest has; none where all are
    taken. A kernel and the processes of its guest run in turns, never together, and on one
    processor they take turns twice as fast."""
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
) -> Outcome:
    """Run the folder's job; raise with its console when it hangs, panics or fails. `watch`
    gets the console's file again and again, and says whether to go on. In real time
    the guest's clock is the host's: for a job that measures the kernel itself."""
    require_seen(folder, "TMPDIR")
    require_seen(built.programs, "XDG_CACHE_HOME")
    init = folder / "init"
    init.unlink(missing_ok=True)
    init.symlink_to(built.programs / "init")
    environment = {
        "HOME": str(folder),
        "PATH": "/usr/bin:/bin",
        "LD_PRELOAD": str(built.programs / "shim.so"),
        "SOJOURN_SEED": str(seed),
    }
    console = folder / "console.txt"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [f"mem={memory_mb}M", *COMMAND_LINE]
    words = [word for word in words if not (real_time and word.startswith("time-travel"))]
    # setpriv: should this program itself be killed, the kernel goes with it.
    command = ["setpriv", "--pdeathsig", "KILL", str(built.kernel), *words]
    with console.open("wb") as out, own_processor() as on_it:
        process = subprocess.Popen(
            [*on_it, *command],
            cwd=folder,
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
    return Outcome(text, spent)


def tail(console: Path, lines: int = 15) -> str:
    """The console's end. What a panic prints last is a stack; why it did stands above."""
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
