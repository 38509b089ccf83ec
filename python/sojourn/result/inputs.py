# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The files that a command names, as a result keeps them: below `own/`, each under its name and the
digest of its content. A result that names them so runs in any place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError
from sojourn.scenario.toml import with_files
from sojourn.scenario.variant import Variant
from sojourn.store.store import digest
from sojourn.user_aqm import library

_FOLDER = "./own/"
_SHORT = 16
_VERSION = re.compile(rf"(?<={re.escape(_FOLDER)})([^/\"]+)@[0-9a-f]{{{_SHORT}}}")


class Inputs:
    """Files that a command names from one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}
        # By their names in the result. A scenario may name a file that no run uses.
        self.files: dict[str, bytes] = {}

    def name(self, path: str) -> str:
        """Return the name of a file from the folder of the result."""
        file = str(library.absolute(path, self._folder))
        if file not in self._names:
            self._names[file] = f"{_FOLDER}{self._kept(file)}"
        return self._names[file]

    def _kept(self, file: str) -> str:
        if library.is_file(file) and file.endswith(".c"):
            found = library.find(file)
            texts = found.sources().items()
            self.files |= {f"own/{found.engine}/{part}": text.encode() for part, text in texts}
            return library.kept_name(found)
        # What is no plain file is refused when the scenario is laid out.
        path = Path(file)
        content = path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else b""
        name = f"{Path(file).name.partition('@')[0]}@{digest(content)[:_SHORT]}"
        self.files[f"own/{name}"] = content
        return name

    def value(self, value: Any, key: str = "") -> Any:
        """Return the value of a key, or a table, with these names of its files."""
        return with_files(value, self.name, key)

    def variant(self, variant: Variant) -> str:
        """Write the choice of an algorithm, whose file has such a name."""
        is_file = library.is_file(variant.algorithm)
        return variant.called(self.name(variant.algorithm)) if is_file else str(variant)


def unversioned(text: str) -> str:
    """Leave the digests of files out of a text: a file that changed is still the same input."""
    return _VERSION.sub(r"\1", text)


def copied(folder: Path, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a user's folder, such as a paper, by their names below `own/NAME`.

    Results of Sojourn and hidden files in it are left out.
    """
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or (path / ".sojourn.json").exists():
            continue
        if path.is_dir():
            yield from copied(path, f"{name}/{path.name}")
        else:
            try:
                yield f"own/{name}/{path.name}", path.read_bytes()
            except OSError as error:
                raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
