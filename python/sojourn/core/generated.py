# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pages that are generated from tables. They are written, or compared with fresh ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def main(arguments: Sequence[str], default: Path, text: Callable[[], str]) -> int:
    """Write the page, or with `--check` compare it; the arguments are `[--check] [FILE]`. Return 0
    when the page is written or fresh, else 1."""
    names = [name for name in arguments if name != "--check"]
    path = Path(names[0]) if names else default
    if "--check" not in arguments:
        path.write_text(text(), encoding="utf-8")
        return 0
    if path.exists() and path.read_text(encoding="utf-8") == text():
        return 0
    print(f"{path} is stale: run `make generate`", file=sys.stderr)
    return 1
