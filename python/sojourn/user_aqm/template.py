# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The file that `sojourn new` writes: a small algorithm that controls delay, explained."""

from __future__ import annotations

import re
from pathlib import Path

from sojourn import _native
from sojourn.core.errors import InputError
from sojourn.store.store import write_errors
from sojourn.user_aqm.compiler import shown
from sojourn.user_aqm.library import absolute

_TEMPLATE = Path(__file__).with_name("template.c")


def text(name: str) -> str:
    """Fill in the template for an algorithm of this name. It has no licence: its author chooses
    one."""
    lines = _TEMPLATE.read_text(encoding="utf-8").splitlines(keepends=True)
    body = "".join(line for line in lines if "SPDX-" not in line)
    return body.replace("NAME", name)


def write(path: Path) -> Path:
    """Write the template to a new file. Raise InputError if there is such a file or algorithm, or
    if C has no such name."""
    file = absolute(path)
    name = file.stem
    if file.suffix != ".c" or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(
            f"{path}: an algorithm is named by its file: write NAME.c, NAME of a-z, 0-9 and _"
        )
    if name in (raw["name"] for raw in _native.algorithms()):
        raise InputError(f"{path}: '{name}' is an algorithm of Sojourn's; choose another name")
    with write_errors(file):
        try:
            with file.open("x", encoding="utf-8") as out:
                out.write(text(name))
        except FileExistsError:
            raise InputError(f"{shown(file)}: there is such a file; nothing was written") from None
    return file
