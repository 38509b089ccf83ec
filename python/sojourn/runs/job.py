# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A run as a job: the inputs that decide its outcome, and the function that makes it.

`work` is pure: it reads no store and files nothing. It therefore runs in a thread, in a process or
on another machine alike, and its caller files the answer. Only the table of transfers grows on the
disk during the run. If the caller names a folder of this machine, the answer names the file there;
otherwise it contains the table.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.store.store import Content, key_of, partial_of, write_errors

if TYPE_CHECKING:
    from sojourn.core.algorithm import Library

# For example the algorithm's name, the seed and the host.
Labels = Mapping[str, str | int]
# The watcher of a run: it gets the share that is done, and returns whether to go on.
Watch = Callable[[float], bool]


class Stopped(Exception):
    """The run was asked to stop."""


@dataclass(frozen=True)
class Job:
    """One run: an engine scenario (as JSON), a seed, and a title for messages."""

    scenario: str
    seed: int
    title: str
    # The host with the versions of all its parts; empty for the engine.
    host: str = ""
    # Users' files that it runs; the scenario names them by their content.
    files: tuple[Library, ...] = ()
    # For tables and files: the labels of the run, and the algorithm of each queue for which it
    # differs from the one in the labels.
    labels: Labels = field(default_factory=dict)
    queues: Mapping[str, str] = field(default_factory=dict)
    is_shorthand: bool = False  # the file has no links of its own

    @property
    def core(self) -> str:
        """Return the versions that decide the outcome, besides scenario and seed."""
        return " ".join(filter(None, (_native.core_version(), self.host)))

    @property
    def is_risky(self) -> bool:
        """Tell whether the run may crash or never end: a user's C file runs in the engine."""
        return bool(self.files) and not self.host

    @cached_property
    def key(self) -> str:
        """Return the key under which the store files the result."""
        return key_of(self.scenario, self.seed, self.core)


def unwatched(_: float) -> bool:
    """Ignore the share that is done, and never stop the run."""
    return True


_TRANSFERS = "transfers.parquet"


def work(job: Job, watch: Watch = unwatched, scratch: Path | None = None) -> bytes:
    """Make one run, and return its files packed as one piece for `unpack`.

    Stopped: `watch` returned false. With a folder `scratch`, the run may leave a file there, which
    the answer names.
    """
    watch(1e-9)  # begun
    scenario = json.loads(job.scenario)
    if not scenario["record"]["transfers"]:
        return pack(_made(job, scenario, watch, None))
    if scratch is None:
        with tempfile.TemporaryDirectory(prefix="sojourn-") as folder:
            path = Path(folder) / _TRANSFERS
            files = _made(job, scenario, watch, path)
            return pack({**files, _TRANSFERS: path.read_bytes()})
    path = partial_of(scratch, f"{job.key}-transfers")
    try:
        return pack({**_made(job, scenario, watch, path), _TRANSFERS: path})
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _made(
    job: Job, scenario: Mapping[str, Any], watch: Watch, transfers: Path | None
) -> dict[str, Content]:
    if job.files:
        from sojourn import algorithms

        algorithms.adopt(job.files)
    make = _on_linux if job.host else _simulate
    outcome = make(job, watch, transfers)
    if outcome is None:
        raise Stopped
    report, tables = outcome
    run = {"core": job.core, "seed": job.seed, "scenario": scenario, "report": report}
    if job.files:
        run["sources"] = {file.engine: file.sources() for file in job.files}
    watch(1.0)
    return {"run.json": json.dumps(run).encode(), **tables}


# The report, and tables by name.
_Outcome = tuple[dict[str, Any], dict[str, bytes]]


def _simulate(job: Job, watch: Watch, transfers: Path | None) -> _Outcome | None:
    # The engine runs in this thread.
    begun_s = time.thread_time()
    with write_errors(transfers or Path(_TRANSFERS), is_result=True):
        outcome = _native.run(job.scenario, job.seed, watch, transfers)
    cpu_s = time.thread_time() - begun_s
    if outcome is None:
        return None
    report, tables = outcome
    return {**json.loads(report), "cpu_s": cpu_s}, tables


def _on_linux(job: Job, watch: Watch, transfers: Path | None) -> _Outcome | None:
    from sojourn.linux import run  # most runs do without

    return run.run(job.scenario, job.seed, watch, transfers)


def pack(files: Mapping[str, Content]) -> bytes:
    """Pack files into one piece: a line with names and lengths, and then the contents.

    A file on the disk is packed as its path alone.
    """
    contents = [content for content in files.values() if isinstance(content, bytes)]
    lengths = {
        name: str(content) if isinstance(content, Path) else len(content)
        for name, content in files.items()
    }
    return b"".join([json.dumps(lengths).encode(), b"\n", *contents])


def unpack(packed: bytes) -> dict[str, Content]:
    """Return the packed files by name."""
    end = packed.index(b"\n") + 1
    files: dict[str, Content] = {}
    for name, length in json.loads(packed[:end]).items():
        if isinstance(length, str):
            files[name] = Path(length)
            continue
        files[name] = packed[end : end + length]
        end += length
    return files
