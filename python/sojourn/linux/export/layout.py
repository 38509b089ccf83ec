# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The kernel's layout: tabs, 80 columns, comments above the line and open on a line of their own.

clang-format lays out the code; it has no word for comments.
"""

from __future__ import annotations

import re
import shutil
import subprocess

from sojourn.core.errors import RunError
from sojourn.linux.uml.module import SOURCES

_STYLE = (SOURCES / "linux/export/kernel.clang-format").resolve()
_NAMES = ("clang-format", "clang-format-16", "clang-format-19")
# Of a line with code, or some lines that begin with code.
_BEHIND = re.compile(
    r"^([ \t]*)([^\s/*#][^\n]*?[;,{])[ \t]+(/\*(?:(?!\*/).)*\*/)[ \t]*$", re.M | re.S
)
_LONG = re.compile(r"^([ \t]*)/\*(?!\n)((?:(?!\*/).)*\n(?:(?!\*/).)*)\*/$", re.M | re.S)


def kernel(text: str) -> str:
    """Lay a file out."""
    text = _BEHIND.sub(r"\1\3\n\1\2", text)
    return _opened(_formatted(_opened(text)))


def _opened(text: str) -> str:
    """Give a comment of several lines its own first and last line."""

    def new(found: re.Match[str]) -> str:
        indent, words = found[1], found[2]
        lines = [re.sub(r"^\s*\*? ?", "", line).rstrip() for line in words.strip().splitlines()]
        inner = "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines)
        return f"{indent}/*\n{inner}{indent} */"

    return _LONG.sub(new, text)


def _formatted(text: str) -> str:
    program = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise RunError("missing programs; install them: apt install clang-format")
    words = [program, f"--style=file:{_STYLE}", "--assume-filename=sch.c"]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout
