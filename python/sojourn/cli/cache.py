# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The user's cache folder, shown and cleared: finished runs, and the builds of --host linux and of
users' C files. All of it can be made again."""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, nearest
from sojourn.store.store import default_root, write_errors

# The parts that --clear may name, and their contents.
PARTS = {
    "runs": "finished runs, from which a command takes what is there",
    "builds": "what --host linux and your C files were built into, and profiles of the compiler",
}
_DAY_S = 86_400


@dataclass(frozen=True)
class Kept:
    """One thing in the cache: a run or a build."""

    path: Path
    bytes: int
    used_s: float  # since the epoch


def find(part: str) -> list[Kept]:
    """List everything of a part."""
    root = default_root()
    if part == "runs":
        paths = [*root.glob("??/*"), *root.glob("damaged/*")]
    else:
        beside = set(root.parent.glob("*")) - {root}
        paths = [path for path in beside if path.suffix != ".lock"]
    return [_measured(path) for path in sorted(paths)]


def _measured(path: Path) -> Kept:
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    stats = [file.lstat() for file in files]
    used = {stat.st_ino: stat.st_blocks * 512 for stat in stats}
    return Kept(path, sum(used.values()), max(stat.st_mtime for stat in stats))


def examine() -> list[dict[str, Any]]:
    """Return, for each part, the count of its things and their size together."""
    entries = []
    for part, about in PARTS.items():
        kept = find(part)
        size = sum(one.bytes for one in kept)
        entries.append({"part": part, "count": len(kept), "mb": size / 1e6, "help": about})
    return entries


def clear(part: str, older_than_days: float = 0) -> tuple[int, int]:
    """Remove a part, or only its things that have not changed for `older_than_days`. Return the
    count of removed things and their bytes. A build that is under way stays. InputError for an
    unknown part."""
    if part not in (*PARTS, "all"):
        raise InputError(f"--clear {part}: there is no such part.{nearest(part, [*PARTS, 'all'])}")
    before_s = time.time() - older_than_days * _DAY_S
    count = size = 0
    for name in PARTS if part == "all" else (part,):
        for kept in find(name):
            if older_than_days and kept.used_s > before_s:
                continue
            if name == "builds":
                with _unused(kept.path) as unused:
                    if not unused:
                        continue
                    _remove(kept.path)
            else:
                _remove(kept.path)
            count, size = count + 1, size + kept.bytes
    return count, size


@contextmanager
def _unused(path: Path) -> Iterator[bool]:
    """Hold the lock that a build of this folder takes; yield False where a build has it."""
    name = path.name.removesuffix(".new").removesuffix(".log")
    with write_errors(path), (path.parent / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _remove(path: Path) -> None:
    with write_errors(path):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
