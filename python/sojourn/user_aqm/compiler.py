# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The C compiler of this machine."""

from __future__ import annotations

import errno
import functools
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sojourn.core.errors import InputError, RunError, StoreError
from sojourn.store.store import default_root

# `cc` is the choice of the system's administrator.
_NAMES = ("cc", "gcc", "clang")
# The warnings of `crates/core/build.rs`, without those of unused code, which a first draft has;
# -g gives the line numbers of a crash.
_WARNINGS = ("-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused")
# A kernel saves no floating-point registers, so code that needs them would not build there.
_INTEGERS = ("-mgeneral-regs-only",) if platform.machine() in ("x86_64", "aarch64") else ()
FREESTANDING = (*_WARNINGS, "-O2", "-ffreestanding", "-fPIC", "-fvisibility=hidden", *_INTEGERS)
HOSTED = (*_WARNINGS, "-O1")
# Errors of a compiler in code that is C but no algorithm, each with a hint.
_HINTS = (
    (
        r"codel_dried|codel_lost|law/even\.h|\beven_\w+",
        "The core's interface 3 has other names: codel_dried is codel_on_empty, codel_lost is "
        "codel_on_gone, law/even.h is law/integral.h, and each even_NAME is integral_NAME.",
    ),
    (
        r"SSE|general-regs-only|[Ff]loating.point|undefined reference to `__\w+[sd]f",
        "An algorithm has no floating point, since a kernel has none for it: use whole numbers "
        "(muldiv64 and the other functions of fixed.h).",
    ),
    (
        r"undefined reference to|undefined symbol|implicit declaration of function",
        "An algorithm has no C library: it may call what aqm.h and the headers beside it define "
        "(random numbers: rng.h) and what is in its own file.",
    ),
)
# Longer lists of errors mostly repeat the first.
_LINES = 30


@functools.cache
def path() -> str:
    """Find the compiler that CC names, or the first one on PATH. Raise RunError if there is
    none."""
    named = os.environ.get("CC")
    for name in (named,) if named else _NAMES:
        compiler = shutil.which(name)
        if compiler:
            return compiler
    if named:
        raise RunError(f"CC={named}: there is no such compiler")
    raise RunError(
        f"no C compiler is on PATH (looked for {', '.join(_NAMES)}); an algorithm of your own "
        "needs one: apt install gcc"
    )


def is_there() -> bool:
    """Tell whether this machine has a compiler."""
    try:
        return bool(path())
    except RunError:
        return False


@functools.cache
def version() -> str:
    """Return the text that distinguishes this compiler's output from another's."""
    done = subprocess.run([path(), "--version"], capture_output=True, text=True, check=False)
    return f"{path()} {done.stdout.strip()}"


@functools.cache
def sources() -> Path:
    """Return the folder of the interface, the queue and the algorithms in this package."""
    return Path(__file__).parents[1] / "sources" / "aqm"


def include_flags(file: Path) -> list[str]:
    """List folders of headers as flags: those of the file, of the tree around it, and ours."""
    beside = [folder for folder in file.parents[:2] if (folder / "aqm.h").is_file()]
    return [f"-I{folder}" for folder in (*beside, sources())]


def shown(file: Path) -> str:
    """Write the path as a user in the current folder would type it."""
    relative = os.path.relpath(file)
    return str(file) if relative.startswith("..") else f".{os.sep}{relative}"


def run(words: Sequence[str | Path], file: Path) -> str:
    """Run the compiler on a user's file and return its output. InputError: the file has errors.
    StoreError: the compiler has no room."""
    done = subprocess.run(
        [path(), *words], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        if os.strerror(errno.ENOSPC) in done.stderr:
            raise StoreError(
                f"no room to compile {shown(file)}: the disk of {default_root().parent} or of "
                f"{tempfile.gettempdir()} is full; make room, or set XDG_CACHE_HOME and TMPDIR"
            )
        lines = done.stderr.strip().splitlines()
        more = [f"... and {len(lines) - _LINES} lines more"] * (len(lines) > _LINES)
        text = "\n".join(lines[:_LINES] + more)
        hints = [hint for pattern, hint in _HINTS if re.search(pattern, done.stderr)][:1]
        raise InputError("\n".join([f"{shown(file)} does not compile:", text, *hints]))
    return done.stdout
