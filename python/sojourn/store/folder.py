# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The folder of a result. It belongs to Sojourn alone: one that holds anything else is refused. A
file in it that someone changed is moved to `aside/` before it is written anew.

    DIR/.sojourn.json   says so, with the digests of what Sojourn wrote here
       /.sojourn.lock   is held while a command writes the result
       /.gitignore      keeps results out of a repository, unless it is deleted
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sojourn.core.errors import InputError, StoreError
from sojourn.store.store import (
    Content,
    content_digest,
    digest_of,
    is_partial,
    partial_name,
    read_json,
    set_aside,
    write_errors,
    write_whole,
)

MARK = ".sojourn.json"
_LOCK = ".sojourn.lock"
# Some shared disks have no locks; two commands there must not write one folder at once.
_LOCKLESS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_SHOWN = 3
_IGNORED = """\
# Results are large and can be made again. Delete this file to keep them in the repository.
*
"""


@dataclass(frozen=True)
class Folder:
    """A folder that belongs to Sojourn."""

    path: Path
    digests: dict[str, str] = field(default_factory=dict)  # of its files, by name

    @property
    def is_new(self) -> bool:
        """Tell whether nothing has been written into it."""
        return not self.digests

    @contextmanager
    def held(self) -> Iterator[Folder]:
        """Hold the folder against other commands, and yield it as it is now. A command that is
        killed lets it go; one that is stopped leaves no part of a file."""
        with write_errors(self.path):
            lock = (self.path / _LOCK).open("w")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in _LOCKLESS:
                    raise
            try:
                yield claim(self.path)
            finally:
                for part in self.path.glob(partial_name(Path("*")).name):
                    part.unlink()

    def write(self, name: str, content: Content) -> None:
        """Write a file of the result; a path as content is moved into its place. A file of this
        name that differs from the last one written is first moved aside."""
        new_digest = content_digest(content)
        path = self.path / name
        with write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and digest_of(path) != self.digests.get(name):
                set_aside(path, self.path / "aside")
        if isinstance(content, Path):
            with write_errors(path, is_result=True):
                content.replace(path)
        else:
            write_whole(path, content, is_result=True)
        self.digests[name] = new_digest
        self._mark()

    def write_all(
        self, contents: Mapping[str, Content], sources: Mapping[str, Mapping[str, str]]
    ) -> dict[str, str]:
        """Write the files of a result, and below `own/` the users' C files that ran. Return the
        digests."""
        files: dict[str, Content] = dict(contents)
        for library, texts in sources.items():
            files |= {f"own/{library}/{path}": text.encode() for path, text in texts.items()}
        for name, content in files.items():
            self.write(name, content)
        return {name: self.digests[name] for name in files}

    def _mark(self) -> None:
        mark = {"about": "Sojourn writes this folder", "files": self.digests}
        write_whole(self.path / MARK, json.dumps(mark, indent=1).encode())


def claim(path: str | Path, beside: Collection[str] = ()) -> Folder:
    """Take a folder for a result; make it if there is none. Raise as `examine` does."""
    folder = examine(path, beside)
    if not (folder.path / MARK).exists():
        with write_errors(folder.path):
            folder.path.mkdir(parents=True, exist_ok=True)
        folder._mark()
        if folder.is_new:
            write_whole(folder.path / ".gitignore", _IGNORED.encode())
    return folder


def examine(path: str | Path, beside: Collection[str] = ()) -> Folder:
    """Return the folder that a result would take, and write nothing: a command may still be
    refused. Raise InputError if it holds other files than those that may be `beside` a result.
    Raise StoreError if it cannot be written or its mark cannot be read."""
    path = Path(path)
    mark = path / MARK
    with write_errors(path):
        names = _names(path)
    if MARK in names:
        try:
            return Folder(path, dict(read_json(mark)["files"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{mark}: cannot be read; name another folder with --out") from error
    digests = _result_digests(path) if names else {}
    names = [name for name in names if name not in beside]
    if names and not digests:
        more = ", ..." if len(names) > _SHOWN else ""
        raise InputError(
            f"{path}: holds what is no part of a result ({', '.join(names[:_SHOWN])}{more}); "
            f"a result takes a folder of its own: --out {path / 'result'}"
        )
    return Folder(path, digests)


def _names(path: Path) -> list[str]:
    """List what a folder holds, besides parts of commands; nothing of one that could be made."""
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not there.is_dir():
        wrong = FileExistsError if there == path else NotADirectoryError
        raise wrong(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(there, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if there != path:
        return []
    names = (entry.name for entry in path.iterdir())
    return sorted(name for name in names if name != _LOCK and not is_partial(name))


def _result_digests(path: Path) -> dict[str, str]:
    """Read the digests in `result.json`, for a folder that lost its mark in copying; else return
    none."""
    try:
        result = path / "result.json"
        head = read_json(result)
        return {**head["files"], result.name: digest_of(result)} if head["core"] else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
