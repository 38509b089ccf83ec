# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Output of commands besides tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.core.text import json_text

if TYPE_CHECKING:
    from sojourn.result.result import Run


def print_json(data: Any) -> None:
    """Print JSON on stdout; a value that was not measured is null."""
    print(json_text(data))


def tell_note(sentence: str) -> None:
    """Print a note on stderr, such as a limit of a result."""
    print(f"sojourn: {sentence}", file=sys.stderr)


def tell_ignored(runs: Sequence[Run]) -> None:
    """Print on stderr the settings that a host could not make or refused."""
    from sojourn.runs.rules import ignored, refused

    for sentence in (*ignored(runs), *refused(runs)):
        tell_note(sentence)


def tell_broken(runs: Sequence[Run]) -> int:
    """Print on stderr the rules that algorithms broke. Return the exit status."""
    from sojourn.runs.rules import broken

    sentences = broken(runs)
    for sentence in sentences:
        tell_note(sentence)
    return 3 if sentences else 0
