# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn bench`, `sojourn cache` and `sojourn doctor`: the installation itself."""

from __future__ import annotations

import fcntl
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn import _native
from sojourn.cli.options import Json, print_json, verbs
from sojourn.core.errors import InputError, SojournError, nearest
from sojourn.store.store import Store, default_root, write_errors

app = verbs()


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="A short simulated time, once.")] = False,
    as_json: Json = False,
) -> None:
    """Time the engine beside ns-2, where it is installed, and browsers beside real time."""
    from sojourn.bench import measure, print_measured

    measured = measure(quick=quick)
    print_json(measured) if as_json else print_measured(measured)


@app.command()
def cache(
    clear: Annotated[
        str | None,
        typer.Option("--clear", help="Remove runs, builds or all.", show_default=False),
    ] = None,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, help="Only what is unchanged for so many days.")
    ] = 0,
    as_json: Json = False,
) -> None:
    """Show what is kept in the cache folder, or remove it; all of it can be made again."""
    from sojourn.store.store import default_root

    if clear is None and older_than:
        raise InputError("--older-than: says what --clear removes; name a part with --clear")
    if clear is not None:
        count, size = clear_cache(clear, older_than)
        if as_json:
            print_json({"removed": count, "mb": size / 1e6})
        else:
            print(f"removed {count} of {default_root().parent}, {size / 1e6:.1f} MB")
        return
    parts = _examine_cache()
    if as_json:
        print_json({"folder": str(default_root().parent), "parts": parts})
        return
    from sojourn.show.tables import console, print_entries

    entries = [
        {key: f"{value:.1f}" if key == "mb" else str(value) for key, value in part.items()}
        for part in parts
    ]
    print_entries(console(), str(default_root().parent), entries)


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


def _kept(part: str) -> list[Kept]:
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


def _examine_cache() -> list[dict[str, Any]]:
    """Return, for each part, the count of its things and their size together."""
    entries = []
    for part, about in PARTS.items():
        kept = _kept(part)
        size = sum(one.bytes for one in kept)
        entries.append({"part": part, "count": len(kept), "mb": size / 1e6, "help": about})
    return entries


def clear_cache(part: str, older_than_days: float = 0) -> tuple[int, int]:
    """Remove a part, or only its things that have not changed for `older_than_days`. Return the
    count of removed things and their bytes. A build that is under way stays. InputError for an
    unknown part."""
    if part not in (*PARTS, "all"):
        raise InputError(f"--clear {part}: there is no such part.{nearest(part, [*PARTS, 'all'])}")
    before_s = time.time() - older_than_days * _DAY_S
    count = size = 0
    for name in PARTS if part == "all" else (part,):
        for kept in _kept(name):
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


@app.command()
def doctor(as_json: Json = False) -> int:
    """Check the installation and say what is missing."""
    found = _checks()
    print_json({"checks": found}) if as_json else _print_checks(found)
    return 0 if all(check["ok"] or not check["needed"] for check in found) else 3


# The least free space that a full reproduction should find.
_FREE_MB = 200
_TOOLS = {
    "ns": "ns-2, for the comparison in `sojourn bench` (Debian: ns2)",
    "perf": "counts instructions in `sojourn bench` (Debian: linux-perf)",
    "valgrind": "counts instructions where perf cannot (Debian: valgrind)",
}


def _checks() -> list[dict[str, Any]]:
    """List the checks, each with its name, whether it is needed, whether it went well, and its
    result."""
    checks = [
        _check("python", sys.version_info >= (3, 11), platform.python_version()),
        _check("core", True, _native.core_version()),
        _store(),
    ]
    checks.append(_compiler())
    for tool, use in _TOOLS.items():
        path = shutil.which(tool)
        checks.append(_check(tool, path is not None, path or f"not found; {use}", needed=False))
    checks += [_check(*found, needed=False) for found in _linux()]
    return checks


def _compiler() -> dict[str, Any]:
    """Check the compiler of users' algorithms."""
    from sojourn.user_aqm import compiler

    try:
        return _check("compiler", True, compiler.path(), needed=False)
    except SojournError as error:
        return _check("compiler", False, str(error), needed=False)


def _linux() -> list[tuple[str, bool, str]]:
    """Check the needs of --host linux."""
    from sojourn.linux import kernel

    try:
        return kernel.examine()
    except (OSError, subprocess.CalledProcessError) as error:
        return [("linux", False, str(error))]


def _check(name: str, ok: bool, found: str, *, needed: bool = True) -> dict[str, Any]:
    return {"name": name, "ok": ok, "needed": needed, "found": found}


def _store() -> dict[str, Any]:
    root = default_root()
    try:
        Store(root)
        free_mb = shutil.disk_usage(root).free // 10**6
    except (SojournError, OSError) as error:
        return _check("store", False, str(error))
    return _check("store", free_mb >= _FREE_MB, f"{root}, {free_mb} MB free")


def _print_checks(checks: list[dict[str, Any]]) -> None:
    """Print the checks as a table."""
    from sojourn.show.tables import console, print_entries

    print_entries(
        console(),
        "",
        [
            {"check": check["name"], "state": _state(check), "found": str(check["found"])}
            for check in checks
        ],
    )


def _state(check: dict[str, Any]) -> str:
    if check["ok"]:
        return "ok"
    return "missing" if check["needed"] else "not here (optional)"
