# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verbs on finished results: `plot`, `compare`, `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.options import Form, Json, draw, one_of, print_json, verbs
from sojourn.core.errors import InputError

app = verbs()


def _figures(incomplete: str) -> list[str]:
    from sojourn.show.figures import FIGURES

    return one_of(FIGURES)(incomplete)


def _formats(incomplete: str) -> list[str]:
    from sojourn.result.export import FORMATS

    return one_of(FORMATS)(incomplete)


Results = Annotated[list[Path], typer.Argument(help="Folders that --out made.", show_default=False)]


@app.command()
def plot(
    results: Results,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            help="delay, cdf, ccdf, fct, page, rate, drops or tradeoff; repeat for more. Unless "
            "given, all.",
            autocompletion=_figures,
        ),
    ] = None,
    queue: Annotated[
        str | None, typer.Option("--queue", help="One of the queues; unless given, all.")
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", help="Of distributions and means; else the first.")
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", help="A page (.html), pictures (.svg, .png), or numbers (.csv)."),
    ] = Path("sojourn-plot.html"),
    as_json: Json = False,
) -> None:
    """Draw results: delay, its distribution, rates, drops, throughput against delay."""
    from sojourn.result.compare import load_all
    from sojourn.show.figures import check_name

    check_name(out)
    files, sentences = draw(load_all(results), out, figure or [], queue, window, silent=as_json)
    if as_json:
        print_json({"files": [str(path) for path in files], "missing": sentences})


@app.command()
def compare(
    results: Results,
    transfers: Annotated[
        str | None,
        typer.Option("--transfers", help="In place of that, the transfers of flows of this name."),
    ] = None,
    flow: Annotated[int, typer.Option("--flow", min=0, help="Which of them, from 0.")] = 0,
    visit: Annotated[
        int, typer.Option("--visit", min=1, help="Which visit of it, such as a page, from 1.")
    ] = 1,
    form: Form = None,
    as_json: Json = False,
) -> None:
    """Set results side by side: their numbers, and what differs in their scenarios."""
    from sojourn.cli.tables import print_parts, result_parts, visit_parts
    from sojourn.result.compare import cases, load_all, to_json
    from sojourn.result.transfers import Visit, side_by_side

    loaded = load_all(results)
    if transfers is None:
        if (flow, visit) != (0, 1):
            raise InputError("--flow, --visit: they choose of --transfers; name flows with that")
        if as_json:
            print_json(to_json(loaded, cases(loaded)))
        else:
            print_parts(result_parts(loaded), form)
        return
    chosen = Visit(transfers, flow, visit)
    times = side_by_side(cases(loaded), chosen)
    print_json(times.to_json()) if as_json else print_parts(visit_parts(times, chosen), form)


@app.command()
def export(
    result: Annotated[Path, typer.Argument(help="A folder that --out made.", show_default=False)],
    form: Annotated[
        str, typer.Option("--format", help="flent or pcapng.", autocompletion=_formats)
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    aqm: Annotated[
        list[str] | None, typer.Option("--aqm", help="Of these alone; repeat for more.")
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", help="Of these alone; repeat for more.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write runs for other programs: data files of flent, captures with each packet's verdict."""
    from sojourn.result.export import export as write_files
    from sojourn.result.result import Result

    files = [
        str(path) for path in write_files(Result.load(result), form, out, aqm or [], seed or [])
    ]
    print_json({"files": files}) if as_json else print("\n".join(files))
