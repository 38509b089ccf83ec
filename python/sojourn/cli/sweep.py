# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn sweep`: runs a sweep, here or on a cluster, and prints its means."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sojourn.core.text import Column, Table
from sojourn.result.stats import Estimate
from sojourn.show.tables import console, print_line, print_table
from sojourn.store.store import default_root
from sojourn.sweeps.file import Until
from sojourn.sweeps.result import Mean, Swept
from sojourn.sweeps.run import sweep

_NOTHING = "–"
# Nobody reads more rows, and a table of so many takes a second.
_MOST_ROWS = 1000


def run(
    file: Path, *, out: Path | None, workers: int | None, dask: str | None, again: bool
) -> Swept:
    """Run a sweep on the workers of this machine, or on those of a Dask scheduler."""
    if dask is None:
        return sweep(file, out=out, workers=workers, again=again)
    from sojourn.runs.dask import client

    with client(dask) as (found, count):
        return sweep(file, out=out, workers=workers or count, again=again, client=found)


def tell(swept: Swept, out: Path | None) -> None:
    """Print on stderr the number of runs, and how many of them were made now."""
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


def print_means(swept: Swept, out: Path | None) -> None:
    """Print a row for each cell and algorithm, with a column for each axis and metric."""
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
