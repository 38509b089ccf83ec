# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The cost of an algorithm's law: its divisions and multiplications in machine code, and its
evaluations in a second of this machine.

sojourn/laws/NAME.c wraps the C core's law in a function named `law`. The counts are those of its
instructions as the compiler leaves them at -O2, all branches together. A division by a power of two
is a shift in machine code. On other processors than x86-64 they are not counted.
"""

from __future__ import annotations

import atexit
import functools
import platform
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sojourn.core.errors import RunError
from sojourn.user_aqm import compiler

LAWS = Path(__file__).parents[1] / "laws"
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")


@dataclass(frozen=True)
class Cost:
    """The cost of one evaluation; NaN where it cannot be counted."""

    divisions: float
    multiplications: float
    million_per_s: float


def known() -> list[str]:
    """List the algorithms whose law has a file of its own."""
    return sorted(path.stem for path in LAWS.glob("*.c"))


@functools.cache
def cost(algorithm: str, repetition: int = 1) -> Cost | None:
    """Measure the cost once for each repetition.

    Return None where the law has no file, and where there is no compiler. The other numbers of a
    paper need no compiler.
    """
    if algorithm not in known() or not _can_compile():
        return None
    program, counts = _compiled(algorithm)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    million_per_s, _ = map(float, printed.split())
    return Cost(*counts, million_per_s)


def _can_compile() -> bool:
    try:
        compiler.path()
    except RunError:
        return False
    return True


@functools.cache
def _compiled(algorithm: str) -> tuple[Path, tuple[float, float]]:
    """Compile the law; return the program, which stays as long as this process, and its counts."""
    folder = Path(tempfile.mkdtemp(prefix="sojourn-law-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = LAWS / f"{algorithm}.c"
    _compile(source, folder / "law")
    return folder / "law", _counts(source, folder / "law.s")


def _compile(source: Path, to: Path, *flags: str) -> None:
    include = f"-I{compiler.sources()}"
    words = [compiler.path(), *_FLAGS, *flags, include, str(source), "-o", str(to)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"{source.name} does not compile here: {done.stderr.strip()}")


def _counts(source: Path, assembly: Path) -> tuple[float, float]:
    """Count the divisions and multiplications of the function."""
    if platform.machine() != "x86_64":
        return float("nan"), float("nan")
    _compile(source, assembly, "-S")
    # A compiler that cuts a function to its use calls it law.constprop.0 or the like.
    function = re.search(r"^law(\.\S+)?:$(.*?)\.size\s+law", assembly.read_text(), re.S | re.M)
    if not function:
        raise RunError(f"{source.name}: the compiler left no function 'law'")
    body = function[2]
    return (
        float(len(re.findall(r"^\s+i?div[bwlq]?\s", body, re.M))),
        float(len(re.findall(r"^\s+i?mulx?[bwlq]?\s", body, re.M))),
    )
