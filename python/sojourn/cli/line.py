# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A command line read by typer, and run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from sojourn.cli.options import HELP
from sojourn.cli.verbs import catalogue, linux, own, results, runs, stability, upkeep
from sojourn.core.errors import Interrupted

app = typer.Typer(
    name="sojourn",
    help="Active queue management: simulate, compare, reproduce.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
# In this order `--help` has them.
for group in (catalogue, own, runs, stability, upkeep, results):
    app.add_typer(group.app)
app.add_typer(linux.app, name="linux")

# The base of everything typer says about a command line; it is exported under no name.
_UsageError: type[typer.BadParameter] = typer.BadParameter.__bases__[0]


def _print_version(wanted: bool) -> None:
    if wanted:
        from sojourn import _native

        print("sojourn", _native.core_version())
        raise typer.Exit


@app.callback()
def _every_command(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and stop."),
    ] = False,
) -> None:
    pass


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
