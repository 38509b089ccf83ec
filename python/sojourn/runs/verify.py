# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A result repeated: its own command runs again, elsewhere, and every run must have the same
fingerprint. Only the files that the command reads, and the fingerprints, need be there."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, RunError, StoreError

# The verbs that make results.
_VERBS = ("run", "sweep", "reproduce")
_CELLS = "cells.parquet"


@dataclass(frozen=True)
class Fingerprint:
    """What a run did, in short."""

    labels: Mapping[str, str | int]
    text: str

    def __str__(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.labels.items())


@dataclass(frozen=True)
class Verified:
    """A result beside its repetition."""

    head: Mapping[str, Any]  # of the result
    again: Mapping[str, Any]  # of the repetition
    count: int
    different: tuple[Fingerprint, ...]  # runs of the result


def verify(folder: Path, workers: int | None = None) -> Verified:
    """Repeat the result in a folder, and compare the runs one by one.

    InputError: the folder names no command that repeats it. RunError: the command fails, or makes
    other runs.
    """
    head = _head(folder)
    words = shlex.split(str(head.get("command", "")))
    if words[:1] != ["sojourn"] or words[1:2] not in [[verb] for verb in _VERBS]:
        raise InputError(f"{folder}: its result.json names no command of Sojourn that repeats it")
    before = _fingerprints(folder, head)
    with tempfile.TemporaryDirectory(prefix="sojourn-verify-") as scratch:
        out = Path(scratch) / "result"
        words = [*words[1:], "--again", "--out", str(out)]
        words += ["--workers", str(workers)] if workers else []
        # Its status may be that of a rule which the runs broke, then as now.
        done = subprocess.run(
            [sys.executable, "-m", "sojourn", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if not (out / "result.json").exists():
            raise RunError(f"{folder}: its command ended with status {done.returncode}")
        again = _head(out)
        after = _fingerprints(out, again)
    if len(after) != len(before):
        raise RunError(
            f"{folder}: has {len(before)} runs, and its command makes {len(after)}; "
            "a file that it reads was changed"
        )
    pairs = zip(before, after, strict=True)
    return Verified(head, again, len(before), tuple(a for a, b in pairs if a.text != b.text))


def _head(folder: Path) -> dict[str, Any]:
    try:
        return dict(json.loads((folder / "result.json").read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder}: has no readable result.json, as a result has") from error


def _fingerprints(folder: Path, head: Mapping[str, Any]) -> list[Fingerprint]:
    """List the runs of a result in the order of its command."""
    try:
        found = _of_sweep(folder) if "sweep" in head else _of_runs(head)
        return list(found)
    except (OSError, LookupError, TypeError) as error:
        raise StoreError(
            f"{folder}: the fingerprints of its runs cannot be read; "
            "an older version made it, or a file was cut off"
        ) from error


def _of_runs(head: Mapping[str, Any]) -> Iterator[Fingerprint]:
    for labels, run in zip(head["labels"], head["runs"], strict=True):
        yield Fingerprint(labels, str(run["fingerprint"]))


def _of_sweep(folder: Path) -> Iterator[Fingerprint]:
    """List the runs of a sweep, which have a row for each queue and window."""
    from sojourn.store import arrow

    columns = ["cell", "tested", "host", "seed", "fingerprint"]
    table = arrow.read(folder / _CELLS).select(columns)
    rows = zip(*(table[name].to_pylist() for name in columns), strict=True)
    for row in dict.fromkeys(rows):
        yield Fingerprint(dict(zip(columns[:-1], row[:-1], strict=True)), str(row[-1]))
