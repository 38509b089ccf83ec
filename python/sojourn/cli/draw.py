# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures of results, for `run --plot` and `plot`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.result.result import Result


def draw(
    results: Mapping[str, Result],
    out: Path,
    figures: Sequence[str] = (),
    queue: str | None = None,
    window: str | None = None,
    *,
    silent: bool = False,
) -> tuple[list[Path], list[str]]:
    """Write the files, name them, and report missing pictures on stderr. Return the files and these
    sentences."""
    from sojourn.show.figures import write
    from sojourn.show.tables import console

    files, sentences = write(results, out, figures, queue, window)
    for sentence in sentences:
        print(f"sojourn: {sentence}", file=sys.stderr)
    for path in [] if silent else files:
        console().print(f"plot: {path}", soft_wrap=True, markup=False, highlight=False)
    return files, sentences
