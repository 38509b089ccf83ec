# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verbs on finished results: `plot`, `compare`, `verify`, `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.options import (
    Form,
    Json,
    Workers,
    check_form,
    one_of,
    print_json,
    tell_files,
    tell_note,
    verbs,
)
from sojourn.core.errors import InputError

app = verbs()


def _figures(incomplete: str) -> list[str]:
    from sojourn.show.figures import FIGURES

    return one_of(FIGURES)(incomplete)


def _formats(incomplete: str) -> list[str]:
    from sojourn.result.export import FORMATS

    return one_of(FORMATS)(incomplete)


Results = Annotated[
    list[Path],
    typer.Argument(metavar="RESULT", help="Folders that --out made.", show_default=False),
]


@app.command()
def plot(
    results: Results,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            "--figure",
            metavar="FIGURE",
            help="delay, queue, cdf, ccdf, ping, fct, page, rate, cwnd, srtt, fairness, drops, "
            "probability or tradeoff; repeat for more. Unless given, all.",
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
        typer.Option(
            "--out", help="A page (.html), pictures (.pdf, .svg, .png), or numbers (.csv)."
        ),
    ] = Path("sojourn-plot.html"),
    width: Annotated[
        str | None, typer.Option("--width", help="Of pictures: 3.5in, 89mm; unless given, 7.2in.")
    ] = None,
    font: Annotated[
        str | None, typer.Option("--font", help="Of their letters: 8pt; unless given, 10pt.")
    ] = None,
    x: Annotated[str, typer.Option("--x", help="Of a sweep: the axis; else the first.")] = "",
    y: Annotated[
        str, typer.Option("--y", help="Of a sweep: the metric, else all; with --z another axis.")
    ] = "",
    z: Annotated[
        str, typer.Option("--z", help="Of a sweep: the metric of a heat map over --x and --y.")
    ] = "",
    log: Annotated[
        bool, typer.Option("--log", help="Draw delays, times and --x on logarithmic axes.")
    ] = False,
    aqm: Annotated[
        list[str] | None, typer.Option("--aqm", metavar="AQM", help="Of these alone; repeat.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw results: delay, its distribution, rates, drops; or metrics of a sweep over its axes."""
    from sojourn.show.chart import Size
    from sojourn.sweeps.figures import Wish, write_any
    from sojourn.sweeps.kept import has_sweep

    wish = Wish(x, y, z, queue, window, log, aqm or [])
    files, missing = write_any(results, out, figure or [], wish, Size.read(width, font))
    one = "--y METRIC" if has_sweep(results) else "--figure NAME"
    tell_files([] if as_json else files, missing, f"{one} writes one")
    if as_json:
        print_json({"files": [str(path) for path in files], "missing": missing})


@app.command()
def compare(
    results: Results,
    transfers: Annotated[
        str | None,
        typer.Option("--transfers", help="In place of that, the transfers of flows of this name."),
    ] = None,
    flow: Annotated[
        int, typer.Option("--flow", metavar="N", min=0, help="Which of them, from 0.")
    ] = 0,
    visit: Annotated[
        int,
        typer.Option(
            "--visit", metavar="N", min=1, help="Which visit of it, such as a page, from 1."
        ),
    ] = 1,
    form: Form = None,
    as_json: Json = False,
) -> None:
    """Set results side by side: their numbers, and what differs in their scenarios."""
    from sojourn.cli.tables import print_parts, result_parts, sweep_parts, visit_parts
    from sojourn.result.compare import cases, named
    from sojourn.result.transfers import Visit, side_by_side
    from sojourn.sweeps.compare import SweepComparison
    from sojourn.sweeps.compare import compare as side
    from sojourn.sweeps.kept import has_sweep

    check_form(form, as_json=as_json)
    if transfers is None:
        if (flow, visit) != (0, 1):
            raise InputError("--flow, --visit: they choose of --transfers; name flows with that")
        found = side(results)
        if as_json:
            print_json(found.to_json())
        elif isinstance(found, SweepComparison):
            print_parts(sweep_parts(found), form)
        else:
            print_parts(result_parts(found.results), form)
        return
    if has_sweep(results):
        raise InputError("--transfers: a sweep keeps none; name results of sojourn run")
    loaded = named(results)
    chosen = Visit(transfers, flow, visit)
    times = side_by_side(cases(loaded), chosen)
    print_json(times.to_json()) if as_json else print_parts(visit_parts(times, chosen), form)


# Of the runs that differ, so many are named.
_NAMED = 20


@app.command()
def verify(
    result: Annotated[Path, typer.Argument(help="A folder that --out made.", show_default=False)],
    workers: Workers = None,
    as_json: Json = False,
) -> int:
    """Repeat a result by its own command, and say whether every run did the same."""
    from sojourn.runs.verify import odd_files
    from sojourn.runs.verify import verify as repeat

    verified = repeat(result, workers=workers)
    data, status = verified.to_json(), 0 if verified.is_same else 1
    if data["made_by"] != data["repeated_by"]:
        tell_note(f"{result} was made by {data['made_by']}; this is {data['repeated_by']}")
    if as_json:
        print_json(data)
        return status
    names = [str(run) for run in verified.different]
    for said in odd_files(verified.changed, verified.missing):
        print(said)
    if names:
        print(f"{len(names)} of {verified.count} fingerprints differ:")
        print("\n".join(f"  {name}" for name in names[:_NAMED]))
        if len(names) > _NAMED:
            print(f"  and {len(names) - _NAMED} more")
    else:
        is_one = verified.count == 1
        all_of = "the fingerprint is" if is_one else f"all {verified.count} fingerprints are"
        print(f"{all_of} the same{'' if verified.is_same else ', but not all files'}")
    return status


@app.command()
def export(
    result: Annotated[Path, typer.Argument(help="A folder that --out made.", show_default=False)],
    form: Annotated[
        str, typer.Option("--format", help="flent or pcapng.", autocompletion=_formats)
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the files.")],
    aqm: Annotated[
        list[str] | None, typer.Option("--aqm", metavar="AQM", help="Of these alone; repeat.")
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", metavar="SEED", help="Of these alone; repeat.")
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
