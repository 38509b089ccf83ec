# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A command line read by typer, and run."""

from __future__ import annotations

from collections.abc import Sequence

import typer

# Those of `results` join the others as it is imported.
from sojourn.cli import linux, results  # noqa: F401
from sojourn.cli.commands import app
from sojourn.errors import Interrupted

app.add_typer(linux.app, name="linux")

# The base of everything typer says about a command line; it is exported under no name.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__bases__[0]


def run(words: Sequence[str]) -> int:
    """The status to end with."""
    try:
        outcome = app(list(words), prog_name="sojourn", standalone_mode=False, obj=words)
    except _UsageError as error:
        error.show()
        return error.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    if outcome == Interrupted.exit_status:
        # typer has taken the interrupt and said nothing.
        raise KeyboardInterrupt
    return outcome if isinstance(outcome, int) else 0
