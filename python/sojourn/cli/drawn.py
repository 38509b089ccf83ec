# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Tables of runs that were drawn before. rich draws them, and takes as long to import as the rest
of a short run; so what it drew is found by the numbers in it and by all that rich looks at."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sojourn.cli import memo
from sojourn.result.result import Result

# What rich takes width and colours from, besides the terminal.
_ASKED = (
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "JUPYTER_COLUMNS",
    "LINES",
    "NO_COLOR",
    "TERM",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)
# Of a report, and in no table: what another run of the same has otherwise, and what is long.
_UNSHOWN = ("cpu_s", "flows")


def print_result(result: Result, out: Path | None) -> None:
    """As `sojourn.cli.tables` does."""
    key = memo.key_of("table", _output(), str(out), _numbers(result))
    text = memo.recall(key)
    if text is None:
        from sojourn.cli.tables import text_of_result

        text = text_of_result(result, out)
        memo.keep(key, text)
    sys.stdout.write(text)


def _output() -> list[object]:
    """How wide it is, and what it can show."""
    words = [os.environ.get(name) for name in _ASKED]
    return [sys.stdout.isatty(), sys.stdout.encoding, *words, *map(_size, range(3))]


def _size(descriptor: int) -> list[int]:
    """Of the terminal at one of the standard streams."""
    try:
        return list(os.get_terminal_size(descriptor))
    except OSError:
        return []


def _numbers(result: Result) -> list[object]:
    return [
        [
            list(run.labels.items()),
            list(run.queues.items()),
            {key: value for key, value in run.report.items() if key not in _UNSHOWN},
        ]
        for run in result
    ]
