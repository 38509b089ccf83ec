# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The verbs that run scenarios: `run`, `demo`, `sweep`, `calibrate`, `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli import complete
from sojourn.cli.options import Again, Host, Json, Out, Workers, verbs
from sojourn.cli.output import print_json, tell_broken, tell_ignored

app = verbs()


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(help="A scenario in TOML.")],
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            "--aqm",
            help="NAME, NAME@PRESET, either with :key=value,...; NAME may be a C file of yours; "
            "repeat for more.",
            autocompletion=complete.aqms,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="key=value, in the scenario or in every queue under test."),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 1 to N.")] = 1,
    host: Host = None,
    out: Out = None,
    workers: Workers = None,
    again: Again = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw it: a page (.html), or .svg, .png.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Run a scenario."""
    from sojourn.cli.run import run as run_scenario

    return run_scenario(
        scenario=scenario,
        aqms=aqm or [],
        assignments=set_ or [],
        seeds=seeds,
        hosts=host or [],
        out=out,
        workers=workers,
        again=again,
        plot=plot,
        as_json=as_json,
    )


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for the page.")] = Path("results/demo"),
) -> None:
    """Show bufferbloat and its cure: a home link with fifo, codel and fq_codel."""
    from sojourn.cli.demo import demo as show_demo

    show_demo(out)


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="A sweep in TOML.", metavar="SWEEP.toml")],
    out: Out = None,
    workers: Workers = None,
    dask: Annotated[
        str | None, typer.Option("--dask", help="Address of a Dask scheduler that runs it.")
    ] = None,
    again: Again = False,
    as_json: Json = False,
) -> int:
    """Run a scenario over the values of axes."""
    from sojourn.cli import sweep as of_sweeps

    swept = of_sweeps.run(file, out=out, workers=workers, dask=dask, again=again)
    tell_ignored(swept.odd)
    print_json(swept.to_json()) if as_json else of_sweeps.print_means(swept, out)
    of_sweeps.tell(swept, out)
    return tell_broken(swept.odd)


@app.command()
def calibrate(
    scenario: Annotated[Path, typer.Argument(help="A scenario in TOML.")],
    flows: Annotated[str, typer.Argument(help="The name of a group of its flows.")],
    load: Annotated[str, typer.Argument(help="What all flows together shall offer: '100 Mbit/s'.")],
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 1 to N.")] = 3,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Find how many flows of a group offer a load with the others, on uncongested links."""
    from sojourn.runs.calibrate import calibrate as find
    from sojourn.scenario import load as read

    found = find(read(scenario), flows, load, seeds=seeds, workers=workers)
    if as_json:
        print_json(found.to_json())
        return
    from sojourn.cli.tables import print_calibration

    print_calibration(found, load)


@app.command()
def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="PAPER or PAPER/EXPERIMENT", autocompletion=complete.experiments),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds; verdicts provisional.")
    ] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing: what the store has, and what it has not.")
    ] = False,
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            "--seeds",
            help="How many of each run, as 3, or of one host, as linux=3; unless given, the "
            "experiment's.",
            metavar="N",
        ),
    ] = None,
    search: Annotated[
        bool,
        typer.Option(
            "--search", help="Try what a paper leaves open: which set-ups meet its numbers."
        ),
    ] = False,
    host: Host = None,
    out: Out = None,
    workers: Workers = None,
    full: Annotated[
        bool, typer.Option("--full", help="Print every table, not the summary alone.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Run a paper's experiments: measured beside published, a verdict for each claim. Without a
    name: those of all papers, and an index of them."""
    if search:
        from sojourn.cli import search as of_search

        given = {"--quick": quick, "--host": host, "--seeds": seeds, "--stored": stored}
        refused = [word for word, is_given in given.items() if is_given]
        return of_search.run(what or [], refused=refused, out=out, workers=workers, json=as_json)
    from sojourn.cli.reproduce import run as run_experiments

    return run_experiments(
        what or [],
        quick=quick,
        hosts=host or [],
        seeds=seeds or [],
        stored=stored,
        out=out,
        workers=workers,
        as_json=as_json,
        full=full,
    )
