# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Options that several verbs have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli import complete

HELP = {"help_option_names": ["-h", "--help"]}

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[Path | None, typer.Option("--out", help="Folder for the result.")]
Host = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        help="Where it runs: sim or linux; repeat for both.",
        autocompletion=complete.hosts,
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Runs at once; unless given, cores.")
]
Again = Annotated[bool, typer.Option("--again", help="Run even what is already there.")]


def verbs() -> typer.Typer:
    """Make an app for the verbs of a file; `sojourn.cli.line` puts these together."""
    return typer.Typer(rich_markup_mode=None, context_settings=HELP)
