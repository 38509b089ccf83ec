# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Files that a scenario, a sweep or a change names: traces, vectors and C files of algorithms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.user_aqm import library

# Keys whose value may be the path of a C file.
_ALGORITHMS = ("aqm", "queue", "algorithm")


def placed(value: Any, folder: Path, key: str = "") -> Any:
    """Make absolute the paths that the value of a key, or a table below it, gives from `folder`."""
    if isinstance(value, Mapping):
        return {inner: placed(part, folder, inner) for inner, part in value.items()}
    if isinstance(value, list):
        return [
            placed(part, folder) if isinstance(part, Mapping | list) else part for part in value
        ]
    is_file = isinstance(value, str) and _is_file(key.split(".")[-1], value)
    return str(library.absolute(value, folder)) if is_file else value


def _is_file(word: str, text: str) -> bool:
    if not text:
        return False
    if word == "vectors":
        # Vectors may also be lines in the scenario itself.
        return "\n" not in text
    return word == "trace" or (word in _ALGORITHMS and library.is_file(text))


def placed_variant(text: str, folder: Path) -> str:
    """Do the same for an algorithm in the form of `--aqm`, with rows behind a colon."""
    name, colon, rows = text.partition(":")
    return f"{placed(name.strip(), folder, 'aqm')}{colon}{rows}"
