# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn doctor`: checks whether this machine has the tools that the commands use."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from typing import Any

from sojourn import _native
from sojourn.core.errors import SojournError
from sojourn.show.tables import console, print_entries
from sojourn.store.store import Store, default_root

# The least free space that a full reproduction should find.
_FREE_MB = 200
_TOOLS = {
    "ns": "ns-2, for the comparison in `sojourn bench` (Debian: ns2)",
    "perf": "counts instructions in `sojourn bench` (Debian: linux-perf)",
    "valgrind": "counts instructions where perf cannot (Debian: valgrind)",
}


def examine() -> list[dict[str, Any]]:
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


def print_found(checks: list[dict[str, Any]]) -> None:
    """Print the checks as a table."""
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
