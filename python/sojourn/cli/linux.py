# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn linux …`: what concerns a running kernel. Nothing of it is imported until it is used."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="Queues of a running Linux.", no_args_is_help=True, rich_markup_mode=None)


@app.command(
    context_settings={
        # The words are tc's: none of them is an option of ours, not even --help.
        "ignore_unknown_options": True,
        "allow_interspersed_args": False,
        "help_option_names": [],
    }
)
def tc(
    words: Annotated[list[str] | None, typer.Argument(help="As behind tc.", metavar="...")] = None,
) -> None:
    """Make, change and show sojourn's queues as tc does where its plugin cannot load."""
    from sojourn.linux.tc.command import run

    said = run(words or [])
    if said:
        print(said)
