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
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from sojourn.cli.options import Json, print_json, verbs
from sojourn.core.errors import InputError, RunError, SojournError, nearest

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
        float,
        typer.Option(
            "--older-than", metavar="DAYS", min=0, help="Only what is unchanged for so many days."
        ),
    ] = 0,
    as_json: Json = False,
) -> None:
    """Show what is kept in the cache folder, or remove it; all of it can be made again."""
    from sojourn.show.tables import console, print_entries
    from sojourn.store.store import default_root

    if clear is None and older_than:
        raise InputError("--older-than: says what --clear removes; name a part with --clear")
    folder = str(default_root().parent)
    if clear is not None:
        count, mb = _clear(clear, older_than)
        removed = f"removed {count} of {folder}, {mb:.1f} MB"
        print_json({"removed": count, "mb": mb}) if as_json else print(removed)
        return
    parts: list[dict[str, Any]] = []
    for part, about in _PARTS.items():
        things = _things(part)
        size_mb = sum(map(_size_mb, things))
        parts.append({"part": part, "count": len(things), "mb": size_mb, "help": about})
    if as_json:
        print_json({"folder": folder, "parts": parts})
        return
    entries = [
        {
            "part": part["part"],
            "count": str(part["count"]),
            "size": f"{part['mb']:.1f} MB",
            "help": part["help"],
        }
        for part in parts
    ]
    print_entries(console(), folder, entries)


# The parts that --clear may name, and their contents.
_PARTS = {
    "runs": "finished runs, from which a command takes what is there",
    "builds": "what --host linux and your C files were built into, and profiles of the compiler",
}
_DAY_S = 86_400


def _things(part: str) -> list[Path]:
    """List the runs, or the builds and their logs."""
    from sojourn.store.store import default_root

    root = default_root()
    if part == "runs":
        return sorted([*root.glob("??/*"), *root.glob("damaged/*")])
    return sorted(path for path in {*root.parent.glob("*")} - {root} if path.suffix != ".lock")


def _files(path: Path) -> list[Path]:
    return [path, *path.rglob("*")] if path.is_dir() else [path]


def _size_mb(path: Path) -> float:
    """Add what its files take on the disk; a file with two names counts once."""
    blocks = {stat.st_ino: stat.st_blocks for stat in (file.lstat() for file in _files(path))}
    return sum(blocks.values()) * 512 / 1e6


def _clear(part: str, older_than_days: float) -> tuple[int, float]:
    """Remove a part, or only its things that have not changed for `older_than_days`. Return the
    count of removed things and their MB. A build that is under way stays."""
    if part not in (*_PARTS, "all"):
        known = [*_PARTS, "all"]
        raise InputError(f"--clear {part}: there is no such part.{nearest(part, known)}")
    before_s = time.time() - older_than_days * _DAY_S
    sizes_mb = []
    for name in _PARTS if part == "all" else (part,):
        for path in _things(name):
            if older_than_days and max(file.lstat().st_mtime for file in _files(path)) > before_s:
                continue
            size_mb = _size_mb(path)
            if _remove(path, is_build=name == "builds"):
                sizes_mb.append(size_mb)
    return len(sizes_mb), sum(sizes_mb)


def _remove(path: Path, *, is_build: bool) -> bool:
    """Remove a run or a build; return False for a build whose lock another process holds."""
    from sojourn.store.store import write_errors

    with write_errors(path):
        if is_build:
            name = path.name.removesuffix(".new").removesuffix(".log")
            with (path.parent / f"{name}.lock").open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
                return _remove(path, is_build=False)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return True


# What verbs import when they need it; this file has imported the others.
_LIBRARIES = ("control", "jinja2", "matplotlib", "numpy", "pyarrow.parquet", "scipy", "tomlkit")
# The least free space that a full reproduction should find.
_FREE_MB = 200
_TOOLS = {
    "ns": "ns-2, for the comparison in `sojourn bench` (Debian: ns2)",
    "perf": "counts instructions in `sojourn bench` (Debian: linux-perf)",
    "valgrind": "counts instructions where perf cannot (Debian: valgrind)",
}


@app.command()
def doctor(
    device: Annotated[
        str | None,
        typer.Argument(help="A device of this machine whose queues are judged.", metavar="[DEV]"),
    ] = None,
    up: Annotated[str | None, typer.Option("--up", help="Rate of the line up, of DEV.")] = None,
    down: Annotated[
        str | None, typer.Option("--down", help="Rate of the line down, of DEV.")
    ] = None,
    probe: Annotated[
        str | None,
        typer.Option("--probe", help="Send 20 small datagrams to this address, through DEV."),
    ] = None,
    as_json: Json = False,
) -> int:
    """Check the installation and say what is missing; or with DEV, whether its AQM is on and
    marks."""
    if device is not None:
        return _judge(device, up, down, probe, as_json=as_json)
    for option, value in (("--up", up), ("--down", down), ("--probe", probe)):
        if value is not None:
            raise InputError(f"{option}: is of a device; write `sojourn doctor DEV {option} …`")
    checks = _checks()
    if as_json:
        print_json({"checks": checks})
    else:
        from sojourn.show.tables import console, print_entries

        entries = [
            {"check": check["name"], "state": _state(check), "found": check["found"]}
            for check in checks
        ]
        print_entries(console(), "", entries)
    return 0 if all(check["ok"] or not check["needed"] for check in checks) else 3


# Between two readings: statistics that stand still are told from slow ones.
_BETWEEN_S = 2.0


def _judge(
    device: str, up: str | None, down: str | None, probe: str | None, *, as_json: bool
) -> int:
    """Judge the queues of a device, print each fault, and return the status."""
    from dataclasses import asdict

    from sojourn.linux import doctor as judge
    from sojourn.linux.device import probe_with, read

    up_rate, down_rate = judge.rate_of("--up", up), judge.rate_of("--down", down)
    first = read(device)
    probed = probe_with(probe) if probe is not None else ""
    time.sleep(_BETWEEN_S)
    try:
        now = read(device)
    except InputError as error:
        raise RunError(f"{device}: vanished between two readings; run it again") from error
    verdicts = judge.examine(first, now, device, up_rate, down_rate, probed=probed)
    if as_json:
        print_json({"device": device, "faults": [asdict(verdict) for verdict in verdicts]})
    elif not verdicts:
        print(f"{device}: no fault seen")
    for verdict in [] if as_json else verdicts:
        print(f"{verdict.check}: {verdict.sentence}")
        print(f"    see   {verdict.show}")
        print(f"    mend  {verdict.mend}")
    return 1 if verdicts else 0


def _checks() -> list[dict[str, Any]]:
    """Check every part of the installation."""
    from sojourn import _native
    from sojourn.linux import kernel
    from sojourn.user_aqm import compiler

    checks = [
        _check("python", sys.version_info >= (3, 11), platform.python_version()),
        _check("core", True, _native.core_version()),
        _check_libraries(),
        _check_store(),
    ]
    try:
        checks.append(_check("compiler", True, compiler.path(), needed=False))
    except SojournError as error:
        checks.append(_check("compiler", False, str(error), needed=False))
    for tool, use in _TOOLS.items():
        path = shutil.which(tool)
        checks.append(_check(tool, path is not None, path or f"not found; {use}", needed=False))
    try:
        checks += [_check(*need, needed=False) for need in kernel.examine()]
    except (OSError, subprocess.CalledProcessError) as error:
        checks.append(_check("linux", False, str(error), needed=False))
    return checks


def _check(name: str, ok: bool, detail: str, *, needed: bool = True) -> dict[str, Any]:
    return {"name": name, "ok": ok, "needed": needed, "found": detail}


def _check_libraries() -> dict[str, Any]:
    """Import each library that the package needs."""
    import sojourn.show.fonts  # noqa: F401, before Matplotlib

    faults = []
    for name in _LIBRARIES:
        try:
            import_module(name)
        except ImportError as error:
            faults.append(f"{name}: {error}")
    found = "; ".join(faults) or "all here"
    return _check("libraries", not faults, found)


def _check_store() -> dict[str, Any]:
    from sojourn.store.store import Store, default_root, replaced

    root = default_root()
    for folder, reason in replaced:
        return _check("store", False, f"{folder}: cannot be written ({reason}); set XDG_CACHE_HOME")
    try:
        Store(root).open()
        free_mb = shutil.disk_usage(root).free // 10**6
    except (SojournError, OSError) as error:
        return _check("store", False, str(error))
    return _check("store", free_mb >= _FREE_MB, f"{root}, {free_mb} MB free")


def _state(check: dict[str, Any]) -> str:
    if check["ok"]:
        return "ok"
    return "missing" if check["needed"] else "not here (optional)"
