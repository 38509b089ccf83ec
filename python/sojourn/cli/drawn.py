# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Tables of runs that were drawn before, for pipes and files. How wide and colourful they are on a
terminal is seen there, each time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sojourn import memo
from sojourn.result import Result

# By these rich takes a pipe for a terminal, or for a page of some width.
_ASKED = {"COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS"}
# Of a report: not the same in each run of the same, and in no table.
_OF_A_MACHINE = ("cpu_s",)


def print_result(result: Result, out: Path | None) -> None:
    """As `sojourn.cli.tables` does."""
    if sys.stdout.isatty() or os.environ.keys() & _ASKED:
        from sojourn.cli import tables

        tables.print_result(result, out)
        return
    key = _key(result, out)
    text = memo.recall(key)
    if text is None:
        from sojourn.cli import tables

        text = tables.text_of_result(result, out)
        memo.keep(key, text)
    sys.stdout.write(text)


def _key(result: Result, out: Path | None) -> str:
    runs = [
        [
            list(run.labels.items()),
            {key: value for key, value in run.report.items() if key not in _OF_A_MACHINE},
        ]
        for run in result
    ]
    return memo.key_of("table", sys.stdout.encoding, str(out), runs)
