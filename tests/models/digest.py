# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Digests of long tests: the run, its inputs, and whether they are still those of the tree.

The hash is of programs, not of files: C without comments and spaces, Python as its syntax tree.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.models.library import ROOT
from tests.models.mutate import TOKEN

LICENCE = (
    # REUSE-IgnoreStart
    "# SPDX-FileCopyrightText: 2026 The Sojourn authors\n"
    "# SPDX-License-Identifier: MIT OR GPL-2.0-only\n"
    # REUSE-IgnoreEnd
)


def program(path: Path) -> bytes:
    """The program in a file."""
    if path.suffix == ".npz":
        return path.read_bytes()
    text = path.read_text()
    if path.suffix == ".py":
        return ast.dump(ast.parse(text)).encode()
    if path.suffix in (".c", ".h"):
        return " ".join(m[0] for m in TOKEN.finditer(text) if not m["skip"]).encode()
    return text.encode()


def hash_of(paths: Iterable[Path], *more: object) -> str:
    """One hash of many files, and of what else there is."""
    digest = hashlib.sha256()
    for thing in more:
        digest.update(repr(thing).encode() + b"\0")
    for path in sorted(set(paths)):
        digest.update(path.name.encode() + b"\0" + program(path) + b"\0")
    return digest.hexdigest()


@dataclass(frozen=True)
class Digest:
    """A result file, and the command that renews it."""

    file: Path
    made_by: str

    def fresh(self, covers: str) -> bool:
        """Does the digest belong to this tree?"""
        if not self.file.exists():
            return False
        return bool(tomllib.loads(self.file.read_text())["covers"] == covers)

    def write(self, covers: str, seconds: float, numbers: dict[str, int]) -> None:
        """Keep a result."""
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()
        lines = "".join(f'"{name}" = {n}\n' for name, n in sorted(numbers.items()))
        self.file.write_text(
            f"{LICENCE}# Made by `{self.made_by}`.\n"
            f'commit = "{commit}"\nseconds = {seconds:.0f}\ncovers = "{covers}"\n\n'
            f"[counts]\n{lines}"
        )
