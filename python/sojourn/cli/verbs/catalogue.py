# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verbs on what there is: `list`, `show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli import complete
from sojourn.cli.options import Json, verbs
from sojourn.cli.output import print_json
from sojourn.core.errors import InputError

app = verbs()


@app.command("list")
def list_(
    what: Annotated[
        str,
        typer.Argument(
            help="algorithms, presets, tcp, experiments, scenarios or traffic",
            autocompletion=complete.lists,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """List algorithms, presets of them and of TCP, experiments, scenarios and kinds of traffic."""
    from sojourn.cli import show

    tables = show.listing(what)
    print_json(tables) if as_json else show.print_listing(tables)


@app.command("show")
def show_(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            help="An algorithm, a preset (of TCP too) or a C file.", autocompletion=complete.aqms
        ),
    ] = None,
    expand: Annotated[
        Path | None, typer.Option("--expand", help="A scenario to write out.")
    ] = None,
    tc: Annotated[
        bool, typer.Option("--tc", help="Its words for tc: what is not as by default.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show an algorithm's parameters or a preset, or a scenario with its shorthand written out."""
    from sojourn.cli import show

    if (algorithm is None) == (expand is None):
        raise InputError("show one of the two: an algorithm, or --expand SCENARIO.toml")
    if expand and tc:
        raise InputError("--tc: an algorithm is wanted before it")
    if expand:
        from sojourn.scenario import load

        graph = load(expand).expand()
        print_json(graph.to_engine()) if as_json else print(graph.to_toml(), end="")
    elif algorithm is not None and tc:
        words = show.tc(algorithm)
        print_json({"tc": words}) if as_json else print(words)
    elif algorithm is not None:
        table = show.table(algorithm)
        print_json(table) if as_json else show.print_table(table)
