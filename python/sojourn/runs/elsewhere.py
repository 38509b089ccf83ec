# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A run on a machine that shares neither disk nor cache with this one.

A parcel holds a job, the version that must make it, and the compiled libraries of users' C files
with their sources. The other machine therefore needs no compiler, but the same kind of processor.
There too a run with such a file has a process of its own.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import _native
from sojourn.core.errors import RunError
from sojourn.runs.job import Job, pack, unpack, unwatched, work
from sojourn.user_aqm import library

if TYPE_CHECKING:
    from sojourn.runs.processes import Worker


@dataclass(frozen=True)
class Parcel:
    """A job with all that it needs."""

    job: Job
    core: str
    libraries: Mapping[str, bytes]  # by digest


def parcel(job: Job) -> Parcel:
    """Pack a job for another machine."""
    libraries = {file.digest: _packed(file.folder) for file in job.files}
    return Parcel(job, _native.core_version(), libraries)


# All runs of a command share a few files.
@lru_cache(maxsize=64)
def _packed(folder: Path) -> bytes:
    paths = [path for path in library.files_of(folder) if path.is_file()]
    return pack({str(path.relative_to(folder)): path.read_bytes() for path in paths})


_here = threading.local()


def make(sent: Parcel) -> bytes:
    """Make the run of a parcel as `sojourn.runs.job.work` does.

    RunError: this machine has another version, or the run failed.
    """
    if sent.core != _native.core_version():
        raise RunError(
            f"{platform.node()} has Sojourn {_native.core_version()}, wanted is {sent.core}; "
            "install the same on all"
        )
    files = tuple(
        replace(file, folder=library.unpacked(file.digest, unpack(sent.libraries[file.digest])))
        for file in sent.job.files
    )
    job = replace(sent.job, files=files)
    return _process().work(job, unwatched, None) if job.is_risky else work(job)


def _process() -> Worker:
    """Return the process of this thread, which may have had to be started anew."""
    from sojourn.runs.processes import Worker

    process: Worker | None = getattr(_here, "process", None)
    if process is None or not process.is_alive:
        process = _here.process = Worker()
    return process
