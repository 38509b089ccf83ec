# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Charts as files: one page with all of them, or SVG, PNG and numbers one by one."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sojourn.core.errors import InputError
from sojourn.core.progress import Progress
from sojourn.core.text import Column, Table
from sojourn.result.compare import labels, scenario_differences
from sojourn.result.result import Result
from sojourn.show.chart import Chart
from sojourn.show.drawing import draw, png_file, svg_file
from sojourn.show.figures import FIGURES, charts
from sojourn.show.measured import Measured
from sojourn.show.page import drawn, render
from sojourn.show.summary import at_place, columns, metrics_at, seeds_note
from sojourn.store.store import write_whole

_FILES: Mapping[str, Callable[[Chart], bytes]] = {
    ".svg": lambda chart: svg_file(draw(chart), chart.words),
    ".png": lambda chart: png_file(draw(chart), chart.words),
    ".csv": lambda chart: chart.csv().encode(),
}
SUFFIXES = (".html", *_FILES)


def check_name(out: Path) -> None:
    """Check that the suffix of the name is that of a picture; InputError if not."""
    if out.suffix not in SUFFIXES:
        raise InputError(f"{out}: a picture's name ends in {', '.join(SUFFIXES)}")


def write(
    results: Mapping[str, Result],
    out: Path,
    wanted: Sequence[str] = (),
    queue: str | None = None,
    window: str | None = None,
    lead: str = "",
) -> tuple[list[Path], list[str]]:
    """Write the files; return their paths, and a sentence for each missing picture.

    Several pictures as SVG, PNG or CSV take a file each, with the picture's name at the end of the
    stem. A page begins with `lead`.
    """
    check_name(out)
    measured = Measured(results, queue, window)
    with Progress("reading for pictures", len(set(wanted) or FIGURES)) as progress:
        found, sentences = charts(measured, wanted, progress.update)
    if out.suffix == ".html":
        contents = {out: html(measured, found, sentences, lead).encode()}
    else:
        make = _FILES[out.suffix]
        one = len(found) == 1
        contents = {
            out if one else out.with_name(f"{out.stem}-{chart.name}{out.suffix}"): make(chart)
            for chart in found
        }
    for path, content in contents.items():
        write_whole(path, content)
    return list(contents), sentences


def html(
    measured: Measured, found: Sequence[Chart], sentences: Sequence[str], lead: str = ""
) -> str:
    """Write one self-contained page: the pictures, the numbers of their windows, and the
    differences of the scenarios."""
    results = measured.results
    several = len(results) > 1
    return render(
        "plot.html",
        title=" and ".join(dict.fromkeys(map(_name, results.values()))),
        lead=lead,
        results=list(results) if several else [],
        runs=sum(map(len, results.values())),
        charts=list(map(drawn, found)),
        sentences=sentences,
        tables=[table for queue in measured.queues for table in _tables(measured, queue)],
        different=_different(results) if several else None,
    )


def _different(results: Mapping[str, Result]) -> Table | None:
    rows = [(key, *values) for key, values in scenario_differences(results).items()]
    return Table.of_rows("what differs in the scenarios", ("key", *results), rows) if rows else None


def _name(result: Result) -> str:
    return str(tomllib.loads(result.scenario)["name"])


def _tables(measured: Measured, queue: str) -> list[Table]:
    """Make the tables of a queue: one for each window that is shown for any case."""
    spans = dict.fromkeys(span.name for c in measured.having(queue) if (span := measured.span(c)))
    tables = []
    for window in spans:
        here = {
            case: runs
            for case, runs in at_place(measured.by_case, (queue, window)).items()
            if (span := measured.span(case)) and span.name == window
        }
        names = [Column(heading, texts) for heading, texts in labels(here).items()]
        numbers = columns(metrics_at(here), here, queue, window)
        tables.append(Table(f"{queue}, {window}", names, numbers, seeds_note(here)))
    return tables
