# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The store of finished runs. A run is filed whole or not at all, under all that it depends on.

    <root>/ab/abcdef…/run.json         scenario, seed, version of the core, report
                     /series.parquet   its time series
                     /group_series.parquet, /statistics.parquet   those of groups of flows and of
                                       the algorithms' statistics, where there are any
                     /distributions.parquet  cells of its delays and times
                     /events.parquet   every packet, where the scenario asks for it
                     /transfers.parquet  every transfer, likewise
                     /complete.json    digests and sizes of the others; written last
    <root>/damaged/…                   entries that were not whole, moved aside

An entry is written in a folder beside its place and renamed. So a killed process leaves a
`.partial-…` folder, never an entry that looks finished. It is not forced onto the disk, which took
half of a sweep of short runs. A file that was cut off later (a full disk, a power cut) shows by its
size. A table is compared with its digest when it is read. Either way the run is made again. The
search for an entry looks at its folder, not at its contents.
"""

from __future__ import annotations

import atexit
import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import platformdirs

from sojourn.core.errors import StoreError
from sojourn.core.messages import tell

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
_DAMAGED = "damaged"


def default_root() -> Path:
    """Return the folder that keeps runs unless --out names another."""
    folder = Path(platformdirs.user_cache_dir("sojourn"))
    reason = why_not(folder)
    return (_scratch(folder, reason) if reason else folder) / "runs"


def why_not(folder: Path) -> str:
    """Make a folder, and say why it cannot be written; empty where it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return str(error.strerror)
    return "" if os.access(folder, os.W_OK) else os.strerror(errno.EACCES)


# What `_scratch` has replaced in this process, and why.
replaced: list[tuple[Path, str]] = []


@lru_cache
def _scratch(instead_of: Path, reason: str) -> Path:
    """Make a cache folder that goes with this process, and say so. The environment names it for
    builds, Matplotlib and other processes."""
    folder = Path(tempfile.mkdtemp(prefix="sojourn-"))
    replaced.append((instead_of, reason))
    # A forked worker ends without this.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["XDG_CACHE_HOME"] = str(folder)
    os.environ.setdefault("MPLCONFIGDIR", str(folder / "matplotlib"))
    tell(
        f"sojourn: {instead_of}: cannot be written ({reason}); nothing is kept for later but what "
        "--out names; set XDG_CACHE_HOME to a folder of yours"
    )
    return folder / "sojourn"


def key_of(scenario: str, seed: int, core: str) -> str:
    """Compute one digest of everything that decides a run's outcome; the scenario is JSON."""
    parts = {"core": json.dumps(core), "scenario": _canonical(scenario), "seed": seed}
    text = ",".join(f'"{name}":{part}' for name, part in {**parts, "store": FORMAT}.items())
    return hashlib.sha256(f"{{{text}}}".encode()).hexdigest()


# Many seeds share one scenario, and a scenario with a trace has megabytes.
@lru_cache(maxsize=64)
def _canonical(scenario: str) -> str:
    return json.dumps(json.loads(scenario), sort_keys=True, separators=(",", ":"))


@contextmanager
def write_errors(path: Path, *, is_result: bool = False) -> Iterator[None]:
    """Turn failures of the file system into StoreError with a sentence. Of a result, the runs that
    were made are kept."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            kept = "what was finished is kept. Make room, or name another folder with --out, and "
            raise StoreError(
                f"{path}: the disk is full; {kept if is_result else 'make room, and '}"
                "run the same command again"
            ) from error
        if isinstance(error, FileExistsError) and path.exists() and not path.is_dir():
            raise StoreError(f"{path}: is a file; name a folder, or another name") from error
        if isinstance(error, FileNotFoundError) and not path.parent.exists():
            raise StoreError(
                f"{path}: there is no folder {path.parent}; make it, or name another place"
            ) from error
        if isinstance(error, NotADirectoryError) or path.parent.is_file():
            file = next((parent for parent in path.parents if parent.is_file()), path.parent)
            raise StoreError(f"{path}: {file} is a file; name another place") from error
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error


def check_place(path: Path) -> None:
    """Check that a file can be written, before the work that fills it. StoreError: it cannot."""
    beside = partial_name(path)
    with write_errors(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        beside.touch()
        beside.unlink()


def write_whole(path: Path, content: bytes, *, is_result: bool = False) -> None:
    """Write a file, which has its old content or the new one, never a part of it. Fail as
    `write_errors` does."""
    with write_errors(path, is_result=is_result), replacing(path) as file:
        file.write(content)


def read_json(path: Path) -> Any:
    """Read a JSON file; ValueError: it is none."""
    try:
        return json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError(f"{path}: brackets are nested too deeply") from error


def set_aside(path: Path, aside: Path) -> None:
    """Move a file or folder into the folder `aside`, under a name that is free there."""
    aside.mkdir(exist_ok=True)
    number = 0
    while (aside / f"{path.name}-{number}").exists():
        number += 1
    path.rename(aside / f"{path.name}-{number}")


def is_partial(name: str) -> bool:
    """Tell whether a name is that of an unfinished file of a command, which may have been
    killed."""
    return bool(re.fullmatch(r"\..+\.partial-\d+", name))


def partial_name(path: Path) -> Path:
    """Return the path at which a file is written before it takes its place."""
    return path.with_name(f".{path.name}.partial-{os.getpid()}")


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces the one of this name when all of it is written."""
    beside = partial_name(path)
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def digest(content: bytes) -> str:
    """Compute the SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def digest_of(path: Path) -> str:
    """Compute the SHA-256 of a file, which may be larger than the memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Bytes to write, or a file that has them and is moved into place.
Content = bytes | Path


def partial_of(root: Path, key: str) -> Path:
    """Return the path for the unfinished parts of an entry of the store. Its name has machine and
    process; leftovers of a killed process are recognized by it."""
    return root / f".partial-{os.uname().nodename}-{os.getpid()}-{key}"


def content_digest(content: Content) -> str:
    """Compute the digest of bytes or of a file."""
    return digest_of(content) if isinstance(content, Path) else digest(content)


@lru_cache(maxsize=2)
def _table(path: Path, of_digest: str) -> pa.Table:
    """Read a table of this digest. Each metric of a run asks for the same one."""
    from sojourn.store import arrow  # slow to import

    return arrow.read(path)


@dataclass(frozen=True)
class Entry:
    """One finished run in the store."""

    key: str
    folder: Path
    report: Mapping[str, Any]
    # Users' C files as they ran, with their headers: for each engine's name, texts by path.
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)

    def series(self) -> pa.Table:
        """Read the time series of the recorded queues."""
        return self._read("series.parquet")

    def events(self) -> pa.Table | None:
        """Read every packet that left the recorded queues; None if they were not kept."""
        return self._read_if_there("events.parquet")

    def group_series(self) -> pa.Table | None:
        """Read the time series of groups of flows; None if no step was recorded."""
        return self._read_if_there("group_series.parquet")

    def statistics(self) -> pa.Table | None:
        """Read the algorithms' statistics over time; None if none was recorded."""
        return self._read_if_there("statistics.parquet")

    def transfers(self) -> pa.Table | None:
        """Read every transfer; None if they were not kept."""
        return self._read_if_there("transfers.parquet")

    def distributions(self) -> pa.Table | None:
        """Read cells of the delays and times of each window; None in runs of older versions."""
        name = "distributions.parquet"
        if not (self.folder / name).exists():
            return None
        return _table(self._whole(name), self.digests[name])

    def _read_if_there(self, name: str) -> pa.Table | None:
        return self._read(name) if (self.folder / name).exists() else None

    def _read(self, name: str) -> pa.Table:
        from sojourn.store import arrow  # slow to import

        return arrow.read(self._whole(name))

    def _whole(self, name: str) -> Path:
        """Find a file of the run that is as it was written; raise StoreError where it is not."""
        path = self.folder / name
        if digest_of(path) != self.digests.get(name):
            with write_errors(self.folder):
                set_aside(self.folder, self.folder.parent.parent / _DAMAGED)
            raise StoreError(
                f"{path}: is damaged, and moved aside with its run; the same command makes it again"
            )
        return path

    def event_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch] | None:
        """Read these columns of `events` piece by piece; None if they were not kept."""
        return self._batches("events.parquet", columns)

    def transfer_batches(
        self, columns: Sequence[str] | None = None
    ) -> Iterator[pa.RecordBatch] | None:
        """Read these columns of `transfers`, or all, piece by piece; None if they were not kept."""
        return self._batches("transfers.parquet", columns)

    def _batches(self, name: str, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch] | None:
        from sojourn.store import arrow

        path = self.folder / name
        return arrow.batches(path, columns) if path.exists() else None

    def event_count(self) -> int:
        """Count the packets that were kept."""
        from sojourn.store import arrow

        return arrow.rows_in(self.folder / "events.parquet")

    def core(self) -> str:
        """Read the version that made the run; on Linux, also the kernel and all else that decides
        an outcome."""
        return str(read_json(self.folder / "run.json")["core"])

    def scenario(self) -> dict[str, Any]:
        """Read the scenario as it ran, in base units; StoreError if an older version made the run,
        whose keys were others."""
        path = self.folder / "run.json"
        scenario: dict[str, Any] = read_json(path)["scenario"]
        if "duration" not in scenario:
            raise StoreError(
                f"{path}: an older version made this run, whose scenario has other keys; "
                "run its scenario.toml again, or read it with that version"
            )
        return scenario


class Store:
    """Finished runs in a folder; several processes may use it at once. Those that it lacks are
    copied from the store `other`, where that has them.

    The folder is made before the first run: a command that is refused leaves none behind. `claim`
    marks the folder around it then.
    """

    def __init__(
        self, root: Path, other: Store | None = None, claim: Callable[[], object] = lambda: None
    ) -> None:
        self.root = root
        self._other = other
        self._claim = claim
        self._is_open = False
        self.damaged = 0  # entries that were not whole, and were moved aside
        self._sweep()

    def open(self) -> None:
        """Make the folder, unless it is there."""
        if not self._is_open:
            self._claim()
            with write_errors(self.root):
                self.root.mkdir(parents=True, exist_ok=True)
            self._is_open = True

    def folder(self, key: str) -> Path:
        """Return the place of an entry, which may be missing."""
        return self.root / key[:2] / key

    def has(self, key: str) -> bool:
        """Tell whether an entry exists; it may have been damaged since."""
        there = (self.folder(key) / "complete.json").exists()
        return there or (self._other is not None and self._other.has(key))

    def load(self, key: str) -> Entry | None:
        """Load an entry, or return None if there is no whole one. A damaged entry is moved
        aside."""
        folder = self.folder(key)
        if not folder.exists() and not self._copied(key):
            return None
        try:
            complete = read_json(folder / "complete.json")
            digests, sizes = complete["files"], complete.get("bytes", {})
            for name in digests.keys() - {"run.json"}:
                _check(folder / name, digests[name], sizes.get(name))
            content = (folder / "run.json").read_bytes()
            if digest(content) != digests["run.json"]:
                raise ValueError("the run differs from its digest")
            run = json.loads(content)
            return Entry(key, folder, run["report"], run.get("sources", {}), digests)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._set_aside(folder)
            self.damaged += 1
            return None

    def _copied(self, key: str) -> bool:
        """Copy an entry from the other store; tell whether it is there."""
        entry = self._other.load(key) if self._other else None
        if entry:
            self.adopt(entry)
        return entry is not None

    def save(self, key: str, files: Mapping[str, Content]) -> None:
        """File a run: `run.json`, which has its report, and its tables as Parquet files. A second
        process with the same run changes nothing. A path as content is moved from its place."""
        self.open()
        folder = self.folder(key)
        beside = partial_of(self.root, key)
        with write_errors(self.root, is_result=True):
            try:
                complete = {
                    "format": FORMAT,
                    "files": {name: content_digest(content) for name, content in files.items()},
                    "bytes": {
                        name: c.stat().st_size if isinstance(c, Path) else len(c)
                        for name, c in files.items()
                    },
                }
                beside.mkdir(parents=True, exist_ok=True)
                for name, content in files.items():
                    if isinstance(content, Path):
                        content.replace(beside / name)
                    else:
                        (beside / name).write_bytes(content)
                (beside / "complete.json").write_bytes(json.dumps(complete).encode())
                folder.parent.mkdir(exist_ok=True)
                if not folder.exists():
                    beside.rename(folder)
            except FileExistsError:
                pass
            except OSError as error:
                # Another process was first with the same entry.
                if error.errno != errno.ENOTEMPTY:
                    raise
            finally:
                if beside.exists():
                    shutil.rmtree(beside, ignore_errors=True)

    def adopt(self, entry: Entry) -> None:
        """Copy an entry into this store, unless it is there. It may be in another store."""
        place = self.folder(entry.key)
        if place.exists():
            return
        self.open()
        partial = partial_of(self.root, entry.key)
        with write_errors(place, is_result=True):
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                partial.mkdir(exist_ok=True)
                for file in entry.folder.iterdir():
                    shutil.copy2(file, partial)
                partial.rename(place)
            finally:
                shutil.rmtree(partial, ignore_errors=True)

    def discard(self, key: str) -> None:
        """Delete an entry."""
        with write_errors(self.folder(key)):
            if self.folder(key).exists():
                shutil.rmtree(self.folder(key))

    def _set_aside(self, folder: Path) -> None:
        with write_errors(folder):
            set_aside(folder, self.root / _DAMAGED)

    def _sweep(self) -> None:
        """Move aside the partial folders of processes on this machine that have ended."""
        head = f".partial-{os.uname().nodename}-"
        for folder in self.root.glob(f"{head}*"):
            pid = folder.name.removeprefix(head).split("-")[0]
            if pid.isdigit() and not _alive(int(pid)):
                self._set_aside(folder)


def _check(path: Path, known_digest: str, size: int | None) -> None:
    """Raise ValueError if a file was cut off. Entries of older versions have no sizes, but
    digests."""
    whole = digest_of(path) == known_digest if size is None else path.stat().st_size == size
    if not whole:
        raise ValueError(f"{path} is not as it was written")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
