# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn sweep` and `sojourn calibrate`: runs over axes, and the search for a load."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.options import (
    Again,
    Json,
    Out,
    Workers,
    print_json,
    tell_broken,
    tell_ignored,
    verbs,
)
from sojourn.core.table import Column, Table

if TYPE_CHECKING:
    from sojourn.result.stats import Estimate
    from sojourn.runs.calibrate import Calibration
    from sojourn.sweeps.result import Mean, Swept

app = verbs()
_NOTHING = "–"
# Nobody reads more rows, and a table of so many takes a second.
_MOST_ROWS = 1000


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
    from sojourn.sweeps.run import sweep as run_sweep

    if dask is None:
        swept = run_sweep(file, out=out, workers=workers, again=again)
    else:
        from sojourn.runs.dask import client

        with client(dask) as (cluster, count):
            swept = run_sweep(file, out=out, workers=workers or count, again=again, client=cluster)
    tell_ignored(swept.odd)
    print_json(swept.to_json()) if as_json else _print_means(swept, out)
    _tell_counts(swept, out)
    return tell_broken(swept.odd)


def _tell_counts(swept: Swept, out: Path | None) -> None:
    """Print on stderr the number of runs, and how many of them were made now."""
    from sojourn.store.store import default_root
    from sojourn.sweeps.file import Until

    root = out / "runs" if out else default_root()
    there = len(swept.rows) - swept.made
    print(
        f"sojourn: {len(swept.spec.cells)} cells, {len(swept.rows)} runs: {there} were there, "
        f"{swept.made} made",
        file=sys.stderr,
    )
    until = swept.spec.seeds
    if isinstance(until, Until):
        metric, every = until.metric, len(swept.spec.cells)
        wide = {m.number for m in swept.means() if not until.is_known(m.values[metric])}
        if wide:
            wish = f"± {until.half_width:g} {metric.unit}".rstrip()
            print(
                f"sojourn: the interval of {metric.name} is wider than {wish} in {len(wide)} of "
                f"{every} cells, with the {until.at_most} seeds of at_most",
                file=sys.stderr,
            )
    if swept.damaged:
        print(
            f"sojourn: {swept.damaged} of them were damaged: moved to {root / 'damaged'}, and made "
            "again",
            file=sys.stderr,
        )


def _print_means(swept: Swept, out: Path | None) -> None:
    """Print a row for each cell and algorithm, with a column for each axis and metric."""
    from sojourn.show.tables import console, print_line, print_table

    terminal = console()
    every = swept.means()
    means = every[:_MOST_ROWS]
    seeds = sorted({mean.seeds for mean in means})
    count = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else f"{seeds[0]} seeds"
    of = "1 seed" if seeds == [1] else f"mean ± half of the 95 % interval, {count}"
    columns = [
        Column(metric.heading, [_text(mean.estimate(metric)) for mean in means])
        for metric in swept.spec.metrics
    ]
    columns = [column for column in columns if set(column.cells) != {_NOTHING}]
    print_table(terminal, Table(f"{swept.spec.name}: {of}", _labels(swept, means), columns))
    if len(every) > len(means):
        more = f"{len(every) - len(means)} more rows are in means.parquet of --out, and in --json"
        print_line(terminal, more)
    if out:
        print_line(terminal, f"result: {out}")


def _labels(swept: Swept, means: Sequence[Mean]) -> list[Column]:
    """Make the columns of the axes, and all others that tell two rows apart."""
    axes = [
        Column(name, [mean.cell.points[name].text for mean in means])
        for name in swept.spec.cells[0].points
    ]
    others: dict[str, Callable[[Mean], str]] = {
        "aqm": lambda mean: mean.own,
        "tested": lambda mean: mean.aqm,
        "host": lambda mean: mean.host,
        "queue": lambda mean: mean.queue,
        "window": lambda mean: mean.window,
        "seeds": lambda mean: str(mean.seeds),
    }
    found = [Column(name, [read(mean) for mean in means]) for name, read in others.items()]
    own, tested, *_ = found
    if own.cells == tested.cells:
        found.remove(tested)
    return axes + [column for column in found if _tells(column.heading, set(column.cells))]


def _tells(heading: str, cells: set[str]) -> bool:
    """Tell whether a column has news: several values, or one that differs from the expected
    value."""
    return heading == "aqm" or len(cells) > 1 or (heading == "host" and cells != {"sim"})


def _text(found: Estimate) -> str:
    if math.isnan(found.mean):
        return _NOTHING
    mean = f"{found.mean:.2f}"
    return mean if math.isinf(found.half) else f"{mean} ± {found.half:.2f}"


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
    print_json(found.to_json()) if as_json else _print_calibration(found, load)


def _print_calibration(found: Calibration, load: str) -> None:
    """Print the loads, in the unit of the requested load, and the number of flows that offer it."""
    from statistics import fmean

    from sojourn.runs.calibrate import amount, per_second
    from sojourn.show.tables import console, print_entries, print_line

    terminal = console()
    unit = per_second(load)
    measured = [
        {
            "flows": str(of.flows),
            f"load ({unit})": amount(fmean(of.mbps), unit),
            "least": amount(min(of.mbps), unit),
            "most": amount(max(of.mbps), unit),
        }
        for of in found.measured
    ]
    beside = f", with {_quoted(found.beside)}," if found.beside else ""
    title = f"'{found.group}'{beside} on uncongested links: the load of '{found.link}'"
    print_entries(terminal, title, measured)
    lines = [f"left aside, since only the network bounds their load: {_quoted(found.aside)}"]
    lines = lines if found.aside else []
    offer = f"1 flow{beside} offers" if found.flows == 1 else f"{found.flows} flows{beside} offer"
    lines.append(f"{offer} {load.strip()}: --set flows.{found.group}.count={found.flows}")
    for line in lines:
        print_line(terminal, line)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
