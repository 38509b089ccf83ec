# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The charts of a result by name, and their files: a page with all, or pictures and numbers.

Each function of a chart takes cases that fit into one. Otherwise it raises a sentence that names
the missing key of the scenario.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sojourn.core.errors import InputError, nearest
from sojourn.core.progress import Progress
from sojourn.core.text import Column, Table
from sojourn.result.compare import Case, labels, scenario_differences
from sojourn.result.metrics import GROUP_METRICS
from sojourn.result.result import Result
from sojourn.show.chart import LOOKS, OF_PAGE, Chart, Size
from sojourn.show.drawing import draw, pdf_file, png_file, svg_file
from sojourn.show.flows import fairness
from sojourn.show.lead import lead as words_of
from sojourn.show.measured import MAX_PANELS, Absent, Measured, Missing
from sojourn.show.network_page import of_results
from sojourn.show.over_time import cwnd, delay, drops, probability, queue, rate, srtt
from sojourn.show.page import drawn, render
from sojourn.show.pings import ping
from sojourn.show.tables import (
    by_group,
    by_place,
    columns,
    few_note,
    group_columns,
    metrics_at,
    seeds_note,
    speech_notes,
)
from sojourn.show.windows import ccdf, cdf, fct, page, tradeoff
from sojourn.store.store import check_place, write_whole

FIGURES: Mapping[str, Callable[[Measured, Sequence[Case]], Chart]] = {
    "delay": delay,
    "queue": queue,
    "cdf": cdf,
    "ccdf": ccdf,
    "ping": ping,
    "fct": fct,
    "page": page,
    "rate": rate,
    "cwnd": cwnd,
    "srtt": srtt,
    "fairness": fairness,
    "drops": drops,
    "probability": probability,
    "tradeoff": tradeoff,
}


def charts(
    measured: Measured, wanted: Sequence[str] = (), progress: Callable[[int], None] = lambda _: None
) -> tuple[list[Chart], list[str]]:
    """Make the wanted pictures, or all of them, and a sentence for each that cannot be made.

    If a picture has fewer looks than cases, the cases are spread over several pictures. `progress`
    gets the number of finished pictures.
    """
    chosen = list(dict.fromkeys(wanted)) or list(FIGURES)
    for name in chosen:
        if "," in name:
            each = " ".join(f"--figure {part.strip()}" for part in name.split(","))
            raise InputError(f"--figure {name}: name each by itself: {each}")
        if name not in FIGURES:
            raise InputError(f"--figure {name}: there is no such figure.{nearest(name, FIGURES)}")
    made, sentences = [], []
    parts = _parts(list(measured.by_case))
    for done, name in enumerate(chosen, 1):
        drawable: list[Chart] = []
        missing: list[str] = []
        for title, part in parts:
            try:
                chart = FIGURES[name](measured, part)
                drawable.append(chart.with_title(f"{chart.title}: {title}") if title else chart)
            except Missing as sentence:
                # A picture that the traffic cannot have is reported only if it is asked for.
                if wanted or not isinstance(sentence, Absent):
                    missing.append(str(sentence))
        # If only some cases lack it, the caption of the others' picture names them.
        sentences += missing[:1] if not drawable else []
        progress(done)
        if len(drawable) > 1:
            made += [replace(c, name=f"{c.name}-{n}") for n, c in enumerate(drawable, 1)]
        else:
            made += drawable
    if not made:
        raise InputError("; ".join(sentences))
    return made, sentences


def _parts(cases: list[Case]) -> list[tuple[str, list[Case]]]:
    """Group the cases that fit into one picture, each group with a title.

    The title names the labels that the cases have in common, and a part number where it is needed.
    It is empty where all cases fit.
    """
    if len(cases) <= LOOKS:
        return [("", cases)]
    alike: dict[Case, list[Case]] = {}
    for case in cases:
        alike.setdefault(replace(case, aqm=""), []).append(case)
    words_by_key = labels(alike)
    parts = []
    for number, of_picture in enumerate(alike.values()):
        words = [
            words_by_key[key][number] for key in ("result", "signal", "host") if key in words_by_key
        ]
        count = -(-len(of_picture) // LOOKS)
        for i in range(count):
            part = f"part {i + 1} of {count}"
            title = ", ".join([*words, *([part] if count > 1 else [])])
            parts.append((title, of_picture[i * LOOKS : (i + 1) * LOOKS]))
    return parts


_DRAWN = {".pdf": pdf_file, ".svg": svg_file, ".png": png_file}
SUFFIXES = (".html", *_DRAWN, ".csv")


def check_name(out: Path, size: Size = OF_PAGE) -> None:
    """Check that the suffix of the name is one of ours, that it has a size, and that its place can
    be written; InputError or StoreError if not."""
    pictures = ", ".join(_DRAWN)
    if out.suffix not in SUFFIXES:
        raise InputError(
            f"{out}: its name ends in .html (a page), {pictures} (pictures) or .csv (their numbers)"
        )
    if size != OF_PAGE and out.suffix not in _DRAWN:
        raise InputError(f"{out}: --width and --font are of pictures: {pictures}")
    check_place(out)


def files(made: Sequence[Chart], out: Path, size: Size) -> dict[Path, bytes]:
    """Make the files of pictures or of their numbers; of several, each has the picture's name at
    the end of the stem."""

    def content(chart: Chart) -> bytes:
        if out.suffix == ".csv":
            return chart.csv().encode()
        return _DRAWN[out.suffix](draw(chart, size.width_in, size.font_pt), chart.words)

    if len(made) == 1:
        return {out: content(made[0])}
    return {out.with_name(f"{out.stem}-{chart.name}{out.suffix}"): content(chart) for chart in made}


def few_of(made: Sequence[Chart]) -> list[str]:
    """List what charts say of too few values, each with the chart's title."""
    return [f"{chart.title}: {chart.few}" for chart in made if chart.few]


def write(
    results: Mapping[str, Result],
    out: Path,
    wanted: Sequence[str] = (),
    queue: str | None = None,
    window: str | None = None,
    lead: str = "",
    *,
    size: Size = OF_PAGE,
    log: bool = False,
) -> tuple[list[Path], list[str]]:
    """Write the files; return their paths, and a sentence for each missing picture, and for each
    that has too few values.

    A page begins with `lead`, or with what was run and what came of it. With `log` axes of delays
    and times are logarithmic.
    """
    check_name(out, size)
    measured = Measured(results, queue, window, log=log)
    with Progress("reading for pictures", len(set(wanted) or FIGURES)) as progress:
        made, sentences = charts(measured, wanted, progress.update)
    if out.suffix == ".html":
        contents = {out: html(measured, made, sentences, lead).encode()}
    else:
        contents = files(made, out, size)
    for path, content in contents.items():
        write_whole(path, content)
    return list(contents), [*sentences, *few_of(made)]


def html(
    measured: Measured, made: Sequence[Chart], sentences: Sequence[str], lead: str = ""
) -> str:
    """Write one self-contained page: the pictures, the numbers of their windows, and the
    differences of the scenarios."""
    results = measured.results
    several = len(results) > 1
    names = (str(tomllib.loads(result.scenario)["name"]) for result in results.values())
    differences = scenario_differences(results) if several else {}
    return render(
        "plot.html",
        title=" and ".join(dict.fromkeys(names)),
        lead=lead or words_of(measured),
        results=list(results) if several else [],
        commands=[r.meta["command"] for r in results.values() if "command" in r.meta],
        runs=sum(map(len, results.values())),
        networks=of_results(measured),
        charts=list(map(drawn, made)),
        sentences=sentences,
        tables=[
            *(table for queue in measured.queues for table in _tables(measured, queue)),
            *_tables_of_groups(measured),
        ],
        different=Table.of_rows(
            "what differs in the scenarios",
            ("key", *results),
            [(key, *values) for key, values in differences.items()],
        )
        if differences
        else None,
    )


def _tables(measured: Measured, queue: str) -> list[Table]:
    """Make the tables of a queue: one for each window that is shown for any case."""
    spans = dict.fromkeys(span.name for c in measured.having(queue) if (span := measured.span(c)))
    tables, placed = [], by_place(measured.by_case)
    for window in spans:
        shown = {
            case: runs
            for case, runs in placed.get((queue, window), {}).items()
            if (span := measured.span(case)) and span.name == window
        }
        names = [Column(heading, texts) for heading, texts in labels(shown).items()]
        metrics = metrics_at(shown)
        numbers = columns(metrics, shown, queue, window)
        note = "; ".join(filter(None, (seeds_note(shown), few_note(metrics, shown, queue, window))))
        tables.append(Table(f"{queue}, {window}", names, numbers, note))
    return tables


def _tables_of_groups(measured: Measured) -> Iterator[Table]:
    """Make a table for the flows of each name, where there are several, in the windows shown."""
    shown = {
        (group, window): with_group
        for (group, window), with_group in by_group(measured.by_case).items()
        if any((span := measured.span(case)) and span.name == window for case in with_group)
    }
    for (group, window), with_group in list(shown.items())[:MAX_PANELS]:
        names = [Column(heading, texts) for heading, texts in labels(with_group).items()]
        notes = [
            seeds_note(with_group),
            few_note(GROUP_METRICS, with_group, group, window),
            *speech_notes(with_group, group, window),
        ]
        numbers = group_columns(with_group, group, window)
        note = "; ".join(filter(None, notes))
        yield Table(f"flows '{group}', {window}", names, numbers, note)
