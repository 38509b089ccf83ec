# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Files that a command must not lose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sojourn.core.errors import InputError


def refuse_others(texts: Mapping[Path, bytes], remedy: str) -> None:
    """Raise InputError where a file of such a name holds something else than what is to be
    written."""
    for path, text in texts.items():
        if _holds_other(path, text):
            raise InputError(
                f"{path}: there is such a file with other content; nothing was written; {remedy}"
            )


def _holds_other(path: Path, text: bytes) -> bool:
    """Tell whether a file is there that is not known to have this text."""
    try:
        return path.is_file() and path.read_bytes() != text
    except OSError:
        return True
