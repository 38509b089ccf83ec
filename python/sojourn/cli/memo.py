# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What was worked out before, kept in the cache folder under all that it depends on: a command line
as it was read, a scenario as it was checked, a table as it was drawn.

    <cache>/requests/abcdef…   a digest of key and answer, and in the next line the answer as JSON

The key is a digest too: of the question, and of what answers it, which is each file of this package
and what is installed beside it. An answer that is missing, damaged or another version's is worked
out again, and one that cannot be kept is not kept; so nothing here can fail a command.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn import _native
from sojourn.store.store import default_root, digest

# Reading more takes longer than working it out.
_MOST_BYTES = 16 << 20


def folder() -> Path:
    """Where answers are kept."""
    return default_root().parent / "requests"


def key_of(*question: Any) -> str:
    """A name for the answer to this question."""
    return digest(json.dumps([_made_by(), *question]).encode())


def recall(key: str) -> Any:
    """The answer, or None."""
    try:
        sum_, _, answer = (folder() / key).read_bytes().partition(b"\n")
    except OSError:
        return None
    return json.loads(answer) if sum_ == _sum(key, answer) else None


def keep(key: str, answer: Any) -> None:
    """Have the answer ready for the next time."""
    content = json.dumps(answer).encode()
    if len(content) > _MOST_BYTES:
        return
    place = folder() / key
    beside = place.with_name(f".{key}.partial-{os.getpid()}")
    # Whatever the disk has of it after a power cut, the digest tells.
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(_sum(key, content) + b"\n" + content)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)


def _sum(key: str, answer: bytes) -> bytes:
    return digest(key.encode() + answer).encode()


@functools.cache
def _made_by() -> str:
    """Changes whenever one of the package's files does, and when a library is installed."""
    files = sorted(_files(os.path.dirname(os.path.dirname(__file__))))  # noqa: PTH120
    installed = [os.stat(path).st_mtime_ns for path in sys.path if _is_of_libraries(path)]  # noqa: PTH116
    made_by = sys.version, _native.core_version(), files, installed
    return digest(repr(made_by).encode())


def _is_of_libraries(path: str) -> bool:
    return path.endswith(("site-packages", "dist-packages")) and os.path.isdir(path)  # noqa: PTH112


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    # Users' C files are compiled with what is in `sources`, and named by the digest of that.
    for entry in os.scandir(folder):
        if not entry.is_dir(follow_symlinks=False):
            state = entry.stat()
            yield entry.path, state.st_mtime_ns, state.st_size
        elif entry.name not in ("__pycache__", "sources"):
            yield from _files(entry.path)
