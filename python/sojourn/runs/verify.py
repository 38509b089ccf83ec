# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A result repeated: its own command runs again, elsewhere, and every run must have the same
fingerprint. The command needs the files that it reads, and the comparison the fingerprints; other
files that are missing are named.

A result may come from anybody. So its command may only make runs, from files of its own folder, and
no Python is imported from there. A C file in it is compiled and run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, RunError, SojournError, StoreError
from sojourn.result.result import version_text
from sojourn.store.folder import MARK
from sojourn.store.store import digest_of, read_json

# The verbs that make results.
_VERBS = ("run", "sweep", "reproduce")
# What their commands hold: no option that writes elsewhere, or calls another machine.
_OPTIONS = ("--aqm", "--set", "--seeds", "--host", "--quick")
_OUTSIDE = re.compile(r"(^|[^\w.])(/|~)|(^|[^\w.])\.\.(/|$)|\0")
_CELLS = "cells.parquet"
# What its command reads: the files that it names, and the scenario and the sweep.
_READ = re.compile(r"own/.|[^/]+\.toml$")
# A C file among the algorithms of a label, which has its path where two have one name.
_C_FILE = re.compile(r"[^+]*/(?:.*?/)??([^/]+)\.c(?=[:+]|$)", re.DOTALL)
# What `result.json` has, as far as it is read here.
_KINDS = {"files": dict, "keys": list, "labels": list, "runs": list, "core": str, "commit": str}


class IncompleteError(StoreError):
    """A result without a file that its command reads."""

    exit_status = 1


@dataclass(frozen=True)
class Fingerprint:
    """What a run did, in short."""

    labels: Mapping[str, str | int]
    text: str

    def __str__(self) -> str:
        return ", ".join(f"{key} {value}" for key, value in self.labels.items())

    def is_same(self, other: Fingerprint) -> bool:
        """Tell whether both runs did the same, under the same labels. The place of a C file is
        another in each folder."""
        return (_unplaced(self.labels), self.text) == (_unplaced(other.labels), other.text)


def _unplaced(labels: Mapping[str, Any]) -> dict[str, str]:
    """Write C files of labels by their names alone."""
    names = {key: _C_FILE.sub(r"\1", str(value)) for key, value in labels.items()}
    # Two files of the same content are one in the repetition.
    return {key: "+".join(dict.fromkeys(name.split("+"))) for key, name in names.items()}


@dataclass(frozen=True)
class Verified:
    """A result beside its repetition."""

    head: Mapping[str, Any]  # of the result
    again: Mapping[str, Any]  # of the repetition
    count: int
    different: tuple[Fingerprint, ...]  # runs of the result
    changed: tuple[str, ...]  # its files that are not as they were written
    missing: tuple[str, ...] = ()  # its files, and runs, that are not there

    @property
    def is_same(self) -> bool:
        """Tell whether every run did the same, and no file was changed or is missing."""
        return not (self.different or self.changed or self.missing)

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn verify --json`."""
        return {
            "runs": {"all": self.count, "different": [dict(run.labels) for run in self.different]},
            "changed": list(self.changed),
            "missing": list(self.missing),
            "made_by": version_text(self.head),
            "repeated_by": version_text(self.again),
        }


def verify(result: str | Path, *, workers: int | None = None) -> Verified:
    """Repeat the result in a folder, and compare the runs one by one. `workers` runs go at once.

    InputError: the folder names no command that repeats it. IncompleteError: a file that the
    command reads is missing, or one was changed and the command fails or makes other runs.
    RunError: it does so with no file changed.
    """
    folder = Path(result)
    head = _head(folder)
    words = _words(folder, head)
    lacks = [name for name in _written(head) if _READ.match(name) and not _is_file(folder / name)]
    if lacks:
        raise IncompleteError(
            f"{folder}: lacks {', '.join(lacks)}; ask its sender for the whole folder"
        )
    odd = list(_odd(folder, head))
    changed = tuple(name for name in odd if _holds(Path.exists, folder / name))
    missing = tuple(name for name in odd if name not in changed)
    try:
        before = _fingerprints(folder, head)
    except StoreError as error:
        if not odd:
            raise
        raise _failed(folder, changed, missing, "no fingerprint can be read") from error
    with tempfile.TemporaryDirectory(prefix="sojourn-verify-") as scratch:
        out = Path(scratch) / "result"
        words = [*words, "--again", "--out", str(out)]
        words += ["--workers", str(workers)] if workers else []
        # Its status may be that of a rule which the runs broke, then as now.
        done = subprocess.run(
            [sys.executable, "-P", "-m", "sojourn", *words],
            cwd=folder,
            env=_surroundings(),
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if not (out / "result.json").exists():
            raise _failed(
                folder, changed, missing, f"its command ended with status {done.returncode}"
            )
        again = _head(out)
        after = _fingerprints(out, again)
    if len(after) != len(before):
        said = f"it has {len(before)} runs, and its command makes {len(after)}"
        raise _failed(folder, changed, missing, said)
    pairs = zip(before, after, strict=True)
    different = tuple(a for a, b in pairs if not a.is_same(b))
    return Verified(head, again, len(before), different, changed, missing)


def _failed(
    folder: Path, changed: Sequence[str], missing: Sequence[str], said: str
) -> SojournError:
    """Make the error of a repetition that cannot be compared; it names the files that may be the
    reason."""
    reasons = "; ".join((*odd_files(changed, missing), said))
    wrong = IncompleteError if changed or missing else RunError
    return wrong(f"{folder}: {reasons}")


def odd_files(changed: Sequence[str], missing: Sequence[str]) -> Iterator[str]:
    """Name the files of a result that are not as they were written, and those that are missing."""
    for said, names in (("not as the result was written", changed), ("missing", missing)):
        if names:
            yield f"{said}: {', '.join(names)}"


def _words(folder: Path, head: Mapping[str, Any]) -> list[str]:
    """Return the words of the command behind `sojourn`. InputError: it is none that makes runs from
    the files of this folder."""
    wrong = f"{folder}: its result.json names no command of Sojourn that repeats it"
    try:
        program, *words = shlex.split(str(head.get("command", ""))) or [""]
    except ValueError as error:
        raise InputError(wrong) from error
    if program != "sojourn" or words[:1] not in [[verb] for verb in _VERBS]:
        raise InputError(wrong)
    for word in words:
        option = word.partition("=")[0]
        if (word.startswith("-") and option not in _OPTIONS) or _OUTSIDE.search(word):
            raise InputError(f"{wrong} from its own files alone: '{word}'")
    return words


def _surroundings() -> dict[str, str]:
    """Return the environment without a way to import from the folder of the result."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths))}


def _written(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the digests of the files of a result, by their names in its folder."""
    files = head.get("files", {})
    return {name: written for name, written in files.items() if not _OUTSIDE.search(name)}


def _odd(folder: Path, head: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files of a result that are missing, or not as its own digests say, those of its
    runs too. A folder may come without any of its runs."""
    written = dict(_written(head))
    with suppress(OSError, ValueError, TypeError, LookupError):
        written["result.json"] = read_json(folder / MARK)["files"]["result.json"]
    yield from (name for name in written if not _is_as_written(folder / name, written[name]))
    runs = folder / "runs"
    for run in sorted(runs.glob("??/*/")):
        yield from (str((run / name).relative_to(folder)) for name in _damaged(run))
    if runs.is_dir():
        keys = map(str, head.get("keys", ()))
        names = (f"{key[:2]}/{key}" for key in keys)
        yield from (f"runs/{name}" for name in names if not _holds(Path.is_dir, runs / name))


def _damaged(run: Path) -> list[str]:
    """List the files of a run that are missing, or not as they were written."""
    try:
        files = read_json(run / "complete.json")["files"].items()
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return ["complete.json"]
    return [name for name, written in files if not _is_as_written(run / name, written)]


def _is_as_written(path: Path, written: object) -> bool:
    return _is_file(path) and digest_of(path) == written


def _is_file(path: Path) -> bool:
    return _holds(Path.is_file, path)


def _holds(true_of: Callable[[Path], bool], path: Path) -> bool:
    """Ask it of a path, whose name may be one that no file can have."""
    try:
        return true_of(path)
    except (OSError, ValueError):
        return False


def _head(folder: Path) -> dict[str, Any]:
    """Read what a result says of itself. InputError: it cannot be read, or is none of a result."""
    wrong = InputError(f"{folder}: has no readable result.json; name the folder of a result")
    try:
        head = {"core": "an unknown version", **read_json(folder / "result.json")}
    except (OSError, ValueError, TypeError) as error:
        raise wrong from error
    if any(not isinstance(head[key], kind) for key, kind in _KINDS.items() if key in head):
        raise wrong
    return head


def _fingerprints(folder: Path, head: Mapping[str, Any]) -> list[Fingerprint]:
    """List the runs of a result in the order of its command."""
    try:
        found = _of_sweep(folder) if "sweep" in head else _of_runs(head)
        return list(found)
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise StoreError(
            f"{folder}: the fingerprints of its runs cannot be read; "
            "an older version made it, or a file was cut off"
        ) from error


def _of_runs(head: Mapping[str, Any]) -> Iterator[Fingerprint]:
    for labels, run in zip(head["labels"], head["runs"], strict=True):
        yield Fingerprint(dict(labels), str(run["fingerprint"]))


def _of_sweep(folder: Path) -> Iterator[Fingerprint]:
    """List the runs of a sweep, which have a row for each queue and window."""
    from sojourn.store import arrow

    columns = ["cell", "tested", "host", "seed", "fingerprint"]
    table = arrow.read(folder / _CELLS).select(columns)
    rows = zip(*(table[name].to_pylist() for name in columns), strict=True)
    for row in dict.fromkeys(rows):
        yield Fingerprint(dict(zip(columns[:-1], row[:-1], strict=True)), str(row[-1]))
