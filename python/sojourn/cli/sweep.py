# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn sweep` and `sojourn calibrate`: runs over axes, and the search for a load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sojourn.cli.options import (
    SEEDS_HELP,
    Again,
    Aqm,
    Dask,
    Form,
    Json,
    Out,
    Scenario,
    Set,
    Workers,
    check_form,
    print_json,
    tell_broken,
    tell_ignored,
    tell_note,
    verbs,
)
from sojourn.core.hosts import seeds_text
from sojourn.core.text import Column, Table

if TYPE_CHECKING:
    from sojourn.runs.calibrate import Calibration
    from sojourn.sweeps.result import Mean, Swept

app = verbs()
# Nobody reads more rows, and a table of so many takes a second.
_MOST_ROWS = 1000


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="A sweep in TOML.", metavar="SWEEP.toml")],
    aqm: Aqm = None,
    set_: Set = None,
    seeds: Annotated[str | None, typer.Option("--seeds", help=SEEDS_HELP)] = None,
    out: Out = None,
    workers: Workers = None,
    dask: Dask = None,
    again: Again = False,
    form: Form = None,
    as_json: Json = False,
) -> int:
    """Run a scenario over the values of axes; options go before the keys of the file."""
    from sojourn.scenario.variant import read_assignments
    from sojourn.sweeps.run import sweep as run_sweep

    check_form(form, as_json=as_json)
    run_asked = partial(
        run_sweep,
        file,
        aqms=aqm or [],
        changes=read_assignments(set_ or []),
        seeds=seeds,
        out=out,
        again=again,
    )
    if dask is None:
        swept = run_asked(workers=workers)
    else:
        from sojourn.runs.dask import client

        with client(dask) as (cluster, count):
            swept = run_asked(workers=workers or count, client=cluster)
    tell_ignored(swept.odd)
    print_json(swept.to_json()) if as_json else _print_means(swept, out, form)
    _tell_counts(swept, out)
    return tell_broken(swept.odd)


def _tell_counts(swept: Swept, out: Path | None) -> None:
    """Print on stderr the number of runs, and how many of them were made now."""
    from sojourn.store.store import default_root
    from sojourn.sweeps.file import Until

    cells = len(swept.spec.cells)
    there = len(swept.rows) - swept.made
    tell_note(f"{cells} cells, {len(swept.rows)} runs: {there} were there, {swept.made} made")
    if swept.changed:
        tell_note(
            f"{', '.join(swept.changed)}: changed since {out} was written, and the rows of the "
            "earlier version are gone from its tables; sweep that with another --out to have both"
        )
    if out is None and swept.made:
        key = swept.rows[0].key
        for place in sorted(Path().glob(f"*/runs/{key[:2]}/{key}")):
            folder = place.parents[2]
            tell_note(f"{folder} has such runs too: --out {folder} takes them, and makes the rest")
    until = swept.spec.seeds
    if isinstance(until, Until):
        metric = until.metric
        wide = {m.number for m in swept.means() if not until.is_known(m.values[metric])}
        if wide:
            wish = f"± {until.half_width:g} {metric.unit}".rstrip()
            tell_note(
                f"the interval of {metric.name} is wider than {wish} in {len(wide)} of {cells} "
                f"cells, with the {until.at_most} seeds of at_most"
            )
    if swept.damaged:
        damaged = (out / "runs" if out else default_root()) / "damaged"
        tell_note(f"{swept.damaged} of them were damaged: moved to {damaged}, and made again")


def _print_means(swept: Swept, out: Path | None, form: str | None) -> None:
    """Print a row for each cell and algorithm, with a column for each axis and metric."""
    from sojourn.cli.tables import print_parts
    from sojourn.result.metrics import few
    from sojourn.show.tables import NOTHING, interval

    all_means = swept.means()
    means = all_means if form else all_means[:_MOST_ROWS]
    seeds = sorted({mean.seeds for mean in means})
    how = "" if seeds == [1] else "mean ± half of the 95 % interval, "
    title = f"{swept.spec.name}: {how}{seeds_text(seeds[0], seeds[-1])}"
    columns = [
        Column(
            metric.heading,
            [interval(mean.estimate(metric), is_count=metric.is_count) for mean in means],
        )
        for metric in swept.spec.metrics
    ]
    columns = [column for column in columns if set(column.cells) != {NOTHING}]
    note = few(
        (metric, f"{mean.cell.label}, {mean.aqm}", mean.fewest(count) or 0)
        for metric, count in swept.spec.counts.items()
        for mean in means
    )
    parts: list[Table | str] = [Table(title, _labels(swept, means), columns, note)]
    if len(all_means) > len(means):
        more = (
            f"{len(all_means) - len(means)} more rows are in means.parquet of --out, and in --json"
        )
        parts.append(more)
    if out:
        parts.append(f"result: {out}")
    print_parts(parts, form)


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
    columns = [Column(name, [read(mean) for mean in means]) for name, read in others.items()]
    own, tested, *_ = columns
    if own.cells == tested.cells:
        columns.remove(tested)
    return axes + [column for column in columns if _tells(column.heading, set(column.cells))]


def _tells(heading: str, cells: set[str]) -> bool:
    """Tell whether a column has news: several values, or one that differs from the expected
    value."""
    return heading == "aqm" or len(cells) > 1 or (heading == "host" and cells != {"sim"})


@app.command()
def calibrate(
    scenario: Scenario,
    flows: Annotated[str, typer.Argument(help="A group of its flows, or 'A + B'.")],
    load: Annotated[str, typer.Argument(help="What all flows together shall offer: '100 Mbit/s'.")],
    is_ip: Annotated[
        bool, typer.Option("--ip", help="Count packets of IP, without a link's headers.")
    ] = False,
    seeds: Annotated[int, typer.Option("--seeds", help="Seeds 1 to N.")] = 3,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Find how many flows of a group offer a load with the others, on uncongested links."""
    from sojourn.runs.calibrate import calibrate as find_flows
    from sojourn.scenario import load as read

    calibration = find_flows(read(scenario), flows, load, is_ip=is_ip, seeds=seeds, workers=workers)
    print_json(calibration.to_json()) if as_json else _print_calibration(calibration, load)


def _print_calibration(calibration: Calibration, load: str) -> None:
    """Print the loads, in the unit of the requested load, and the number of flows that offer it."""
    import shlex
    from statistics import fmean

    from sojourn.runs.calibrate import amount, per_second
    from sojourn.show.tables import console, print_entries, print_line

    terminal = console()
    unit = per_second(load)
    entries = [
        {
            "flows": str(step.flows),
            f"load ({unit})": amount(fmean(step.mbps), unit),
            "least": amount(min(step.mbps), unit),
            "most": amount(max(step.mbps), unit),
        }
        for step in calibration.measured
    ]
    group, flows = calibration.group, calibration.flows
    beside = f", with {_quoted(calibration.beside)}," if calibration.beside else ""
    title = f"'{group}'{beside} on uncongested links: the load of '{calibration.link}'"
    print_entries(terminal, title, entries)
    if calibration.aside:
        aside = _quoted(calibration.aside)
        print_line(terminal, f"left aside, since only the network bounds their load: {aside}")
    each = " of each" if len(calibration.groups) > 1 else ""
    offer = f"1 flow{each}{beside} offers" if flows == 1 else f"{flows} flows{each}{beside} offer"
    sets = " ".join(
        f"--set {shlex.quote(f'flows.{name}.count={flows}')}" for name in calibration.groups
    )
    print_line(terminal, f"{offer} {load.strip()}: {sets}")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
