# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What commands print besides tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sojourn.core import as_json

if TYPE_CHECKING:
    from sojourn.result.result import Run


def print_json(data: Any) -> None:
    """JSON on stdout; what was not measured is null."""
    print(as_json.spell(data))


def tell_note(sentence: str) -> None:
    """What a result does not show, on stderr."""
    print(f"sojourn: {sentence}", file=sys.stderr)


def tell_ignored(runs: Sequence[Run]) -> None:
    """What a host could not set or refused, on stderr."""
    from sojourn.runs.rules import ignored, refused

    for sentence in (*ignored(runs), *refused(runs)):
        tell_note(sentence)


def tell_broken(runs: Sequence[Run]) -> int:
    """What the algorithms did against the rules, on stderr; the status to end with."""
    from sojourn.runs.rules import broken

    sentences = broken(runs)
    for sentence in sentences:
        tell_note(sentence)
    return 3 if sentences else 0
