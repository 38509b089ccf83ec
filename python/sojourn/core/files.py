# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Files that a command must not lose."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sojourn.core.errors import InputError


def refuse_others(texts: Mapping[Path, bytes], remedy: str) -> None:
    """Raise InputError where a file of such a name is not known to hold what is to be written."""
    for path, text in texts.items():
        if os.path.lexists(path) and not _holds(path, text):
            raise InputError(f"{path}: is there with other content; nothing was written; {remedy}")


def _holds(path: Path, text: bytes) -> bool:
    """Tell whether it is a file with this text: a folder, a pipe or a link to nothing is not."""
    try:
        return path.is_file() and path.read_bytes() == text
    except OSError:
        return False
