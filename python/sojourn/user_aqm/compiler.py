# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The C compiler of this machine."""

from __future__ import annotations

import functools
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sojourn.core.errors import InputError, RunError

# `cc` is what the system's administrator has chosen.
_NAMES = ("cc", "gcc", "clang")
# As `crates/core/build.rs` compiles ours, but for what is unused, as in a first draft; -g for the
# line numbers of a crash.
_WARNINGS = ("-std=c11", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused")
# A kernel saves no floating-point registers, so code that needs them would not build there.
_INTEGERS = ("-mgeneral-regs-only",) if platform.machine() in ("x86_64", "aarch64") else ()
FREESTANDING = (*_WARNINGS, "-O2", "-ffreestanding", "-fPIC", "-fvisibility=hidden", *_INTEGERS)
HOSTED = (*_WARNINGS, "-O1")
# What a compiler says of code that is C, and no algorithm.
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
# Longer complaints are mostly repetitions of the first.
_LINES = 30


@functools.cache
def path() -> str:
    """The compiler that CC names, or the first one on PATH."""
    named = os.environ.get("CC")
    for name in (named,) if named else _NAMES:
        found = shutil.which(name)
        if found:
            return found
    if named:
        raise RunError(f"CC={named}: there is no such compiler")
    raise RunError(
        f"no C compiler is on PATH (looked for {', '.join(_NAMES)}); an algorithm of your own "
        "needs one: apt install gcc"
    )


def is_there() -> bool:
    """Whether this machine has one."""
    try:
        return bool(path())
    except RunError:
        return False


@functools.cache
def version() -> str:
    """What distinguishes its output from another compiler's."""
    done = subprocess.run([path(), "--version"], capture_output=True, text=True, check=False)
    return f"{path()} {done.stdout.strip()}"


@functools.cache
def sources() -> Path:
    """The interface, the queue, the algorithms, as they came with this package."""
    return Path(__file__).parents[1] / "sources" / "aqm"


def include_flags(file: Path) -> list[str]:
    """Where to look for headers: beside the file, in the tree that it is part of, in ours."""
    beside = [folder for folder in file.parents[:2] if (folder / "aqm.h").is_file()]
    return [f"-I{folder}" for folder in (*beside, sources())]


def shown(file: Path) -> str:
    """The path as a user would type it here."""
    relative = os.path.relpath(file)
    return str(file) if relative.startswith("..") else f".{os.sep}{relative}"


def run(words: Sequence[str | Path], file: Path) -> str:
    """The output of the compiler on a user's file; its complaint becomes an InputError."""
    done = subprocess.run(
        [path(), *words], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        more = [f"... and {len(lines) - _LINES} lines more"] * (len(lines) > _LINES)
        text = "\n".join(lines[:_LINES] + more)
        hints = [hint for said, hint in _HINTS if re.search(said, done.stderr)][:1]
        raise InputError("\n".join([f"{shown(file)} does not compile:", text, *hints]))
    return done.stdout
