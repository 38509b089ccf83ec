# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A run as a job: what its outcome depends on, and the function that makes it.

`work` is pure: it reads no store and writes none, so it runs in a thread, a process or on another
machine alike. What it answers with is filed by whoever asked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.store import key_of

if TYPE_CHECKING:
    from sojourn.own.library import Library

# How a run is watched: it tells the share that is done, and hears whether to go on.
Watch = Callable[[float], bool]


class Stopped(Exception):
    """The run was asked to stop."""


@dataclass(frozen=True)
class Job:
    """One run: an engine scenario (as JSON), a seed, and what to call it in messages."""

    scenario: str
    seed: int
    title: str
    # What runs it, in full: empty for the engine, else the host with all that it is made of.
    host: str = ""
    # Users' files that it runs; the scenario names them by their content.
    files: tuple[Library, ...] = ()

    @property
    def core(self) -> str:
        """What decides its outcome, besides scenario and seed."""
        return " ".join(filter(None, (_native.core_version(), self.host)))

    @cached_property
    def key(self) -> str:
        """Where its result is filed."""
        return key_of(self.scenario, self.seed, self.core)


def unwatched(_: float) -> bool:
    """Nobody looks, nobody stops it."""
    return True


def work(job: Job, watch: Watch = unwatched) -> bytes:
    """One run: its files as one piece, for `unpack`. Stopped where `watch` says so."""
    watch(1e-9)  # begun
    if job.files:
        from sojourn import algorithms

        algorithms.adopt(job.files)
    outcome = _on_linux(job, watch) if job.host else _simulate(job, watch)
    if outcome is None:
        raise Stopped
    report, series, events, others = outcome
    run = {
        "core": job.core,
        "seed": job.seed,
        "scenario": json.loads(job.scenario),
        "report": report,
    }
    if job.files:
        run["sources"] = {file.engine: file.sources() for file in job.files}
    files = {"run.json": json.dumps(run, indent=1).encode(), "series.parquet": series, **others}
    if events is not None:
        files["events.parquet"] = events
    watch(1.0)
    return pack(files)


_Outcome = tuple[dict[str, Any], bytes, bytes | None, dict[str, bytes]]


def _simulate(job: Job, watch: Watch) -> _Outcome | None:
    # The engine runs in this thread.
    begun_s = time.thread_time()
    outcome = _native.run(job.scenario, job.seed, watch)
    cpu_s = time.thread_time() - begun_s
    if outcome is None:
        return None
    report, series, events, others = outcome
    return {**json.loads(report), "cpu_s": cpu_s}, series, events, others


def _on_linux(job: Job, watch: Watch) -> _Outcome | None:
    from sojourn.linux import run  # most runs do without

    return run.run(job.scenario, job.seed, watch)


def pack(files: Mapping[str, bytes]) -> bytes:
    """A line with names and lengths, and then the contents."""
    lengths = {name: len(content) for name, content in files.items()}
    return b"".join([json.dumps(lengths).encode(), b"\n", *files.values()])


def unpack(packed: bytes) -> dict[str, bytes]:
    """The files in it, by name."""
    end = packed.index(b"\n") + 1
    files = {}
    for name, length in json.loads(packed[:end]).items():
        files[name] = packed[end : end + length]
        end += length
    return files
