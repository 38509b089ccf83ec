# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Command lines that were read before. What a line says depends on its words alone, so that typer,
whose import takes as long as a short run, is left to those that are new."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.cli import memo

_PATHS = ("scenario", "out", "plot")
# In there typer is asked to complete a line, not to read it.
_COMPLETES = "_SOJOURN_COMPLETE"


def recall(words: Sequence[str]) -> dict[str, Any] | None:
    """The options of `sojourn.cli.run` that these words mean."""
    if words[:1] != ["run"] or _COMPLETES in os.environ:
        return None
    options = memo.recall(_key(words))
    if options is None:
        return None
    return {
        key: Path(value) if key in _PATHS and value else value for key, value in options.items()
    }


def keep(words: Sequence[str], options: Mapping[str, Any]) -> None:
    """Have them ready for the next time."""
    memo.keep(
        _key(words),
        {key: str(value) if isinstance(value, Path) else value for key, value in options.items()},
    )


def _key(words: Sequence[str]) -> str:
    return memo.key_of("words", list(words))
