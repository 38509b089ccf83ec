# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A reproduction for readers: tables on the terminal, and a folder with its page and numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from sojourn.core import as_json
from sojourn.core.errors import InputError
from sojourn.core.hosts import EXPERIMENTS_SEEDS, HOST_NAMES, HOSTS, seeds_text
from sojourn.core.table import Column, Table
from sojourn.papers import curve_figure
from sojourn.papers.axis_figure import rows_of, scale_of
from sojourn.papers.claims import NOT_RUN, SEEDS, VERDICTS, Decision, Judged, count
from sojourn.papers.experiment import Experiment, Signal
from sojourn.papers.page import abouts, figures, kind_of
from sojourn.papers.paper import OfPaper
from sojourn.papers.reasons import Measured
from sojourn.papers.reproduce import Reproduction, seeds_on
from sojourn.result.result import read_request
from sojourn.show.page import heading, number, spread
from sojourn.show.tables import fits, print_entries, print_table, print_whole
from sojourn.store.folder import claim

_STYLES = {"holds": "green", "fails": "red", "undecided": "yellow", "calibrated": "cyan"}


# With so many claims a summary of one experiment fits on a screen of 24 lines.
_SUMMARY_CLAIMS = 12


def seeds_note(reproduction: Reproduction) -> str:
    """Write the number of seeds, and whether they are enough to decide."""
    note = (
        "system delay is the time in the queue and being sent, which papers call queuing delay; "
        f"{reproduction.seeds_said()}, 95 % t-intervals"
    )
    if reproduction.is_provisional:
        asked = "--quick: " if reproduction.quick else ""
        note += f"; {asked}fewer than the {SEEDS} that a verdict needs are provisional"
    return note


def rows(reproduction: Reproduction, signal: Signal) -> list[tuple[str, list[list[Measured]]]]:
    """List the cells of all hosts, for each metric of a signal and each algorithm."""
    return [
        (
            metric,
            [
                [
                    reproduction.cell(host, signal.name, contender.name, metric)
                    for host in reproduction.hosts_of(signal)
                ]
                for contender in reproduction.experiment.contenders(signal)
            ],
        )
        for metric in (*signal.metrics, *signal.beside)
    ]


def headings(reproduction: Reproduction, signal: Signal) -> list[str]:
    """Name the measured columns: by host, or "measured" where only the simulator ran."""
    if reproduction.hosts == ("sim",):
        return ["measured"]
    return [HOST_NAMES[host] for host in reproduction.hosts_of(signal)]


def print_tables(reproduction: Reproduction, console: Console) -> None:
    """Print measured beside published, the ablations, and at the end the claims, where a terminal
    stops."""
    experiment = reproduction.experiment
    console.print(f"\n[bold]{experiment.title}[/bold]\n{seeds_note(reproduction)}")
    for name, about in abouts(experiment):
        console.print(f"{name}: {about}", markup=False, highlight=False)
    kind = kind_of(experiment)
    if kind == "axis":
        _print_over_axis(reproduction, console, HOST_NAMES.__getitem__)
    else:
        there = [signal for signal in experiment.signals() if reproduction.hosts_of(signal)]
        for signal in sorted(there, key=lambda signal: bool(signal.ablates)):
            _print_signal(reproduction, signal, console)
    if kind == "curve":
        for work in curve_figure.works(reproduction):
            for line in curve_figure.summary(work):
                console.print(line, markup=False, highlight=False)
    for host in reproduction.hosts:
        if reproduction.judged[host]:
            console.print(_claims(reproduction, host))


def _print_signal(reproduction: Reproduction, signal: Signal, console: Console) -> None:
    """Print a row for each metric and algorithm, as a terminal has no room for more columns. A
    narrower terminal gets a table for each metric."""
    title = f"{signal.title} ({signal.table})"
    of_metrics = {
        heading(metric): _columns(reproduction, signal, cells)
        for metric, cells in rows(reproduction, signal)
    }
    words = Column("metric", [word for name in of_metrics for word in name.split()])
    joined = [
        Column(parts[0].heading, [cell for part in parts for cell in part.cells])
        for parts in zip(*of_metrics.values(), strict=True)
    ]
    if not fits(console.width, [words, *joined]):
        for name, (algorithms, *numbers) in of_metrics.items():
            print_table(console, Table(f"{title}: {name}", [algorithms], numbers))
        return
    table = Grid(title=Text(title), title_justify="left")
    table.add_column("metric", overflow="fold")
    table.add_column("algorithm", no_wrap=True)
    table.add_column("published", justify="right", style="dim", no_wrap=True)
    for column in joined[2:]:
        table.add_column(column.heading, justify="right", no_wrap=True)
    for name, columns in of_metrics.items():
        count = len(columns[0].cells)
        for n, cells in enumerate(zip(*(column.cells for column in columns), strict=True)):
            label = name if n == 0 else ""
            table.add_row(label, *map(Text, cells), end_section=n == count - 1)
    print_whole(console, table)


def _columns(
    reproduction: Reproduction, signal: Signal, cells: list[list[Measured]]
) -> list[Column]:
    """Make the columns of one metric: the algorithms, the published numbers, and those of each
    host."""
    names = headings(reproduction, signal)
    return [
        Column("algorithm", [of_hosts[0].algorithm for of_hosts in cells]),
        Column("published", [number(of_hosts[0].published) for of_hosts in cells]),
        *(
            Column(name, [spread(of_hosts[n].found) for of_hosts in cells])
            for n, name in enumerate(names)
        ),
    ]


def print_summary(reproduction: Reproduction, console: Console) -> None:
    """Print the counts of verdicts and the claims that do not hold, a line each."""
    experiment = reproduction.experiment
    runs = len(reproduction.result.runs)
    console.print(
        f"{experiment.id}, {experiment.title}: {runs} runs, {reproduction.seeds_said()}",
        markup=False,
        highlight=False,
    )
    for host in reproduction.hosts:
        judged = reproduction.claims_of(host)
        counts = ", ".join(f"{word} {n}" for word, n in count(judged).items() if n)
        if counts:
            console.print(f"{HOST_NAMES[host]}: {counts}", highlight=False)
        others = [one for one in judged if one.verdict not in ("holds", NOT_RUN)]
        for one in others[:_SUMMARY_CLAIMS]:
            line = f"  {one.verdict:11}{one.claim.text}"
            console.print(line, markup=False, highlight=False, overflow="ellipsis", no_wrap=True)
        if len(others) > _SUMMARY_CLAIMS:
            console.print(f"  and {len(others) - _SUMMARY_CLAIMS} more", highlight=False)


def print_paper(of_paper: OfPaper, console: Console) -> None:
    """Print the claims of a paper on several experiments, for each host."""
    for host, judged in of_paper.judged.items():
        title = f"claims of {of_paper.paper} on several experiments"
        table = _claims_table(title if tuple(of_paper.judged) == ("sim",) else f"{title}, {host}")
        for found in judged:
            table.add_row(found.claim.text, *_found(found))
        console.print(table)


def print_ledger(data: dict[str, Any], console: Console) -> None:
    """Print the claims by verdict, a row for each paper and host."""
    rows = [
        (paper["title"], HOST_NAMES[host], counts)
        for paper in data["papers"]
        for host, counts in paper["verdicts"].items()
    ]
    labels = [
        Column("paper", [title for title, *_ in rows]),
        Column("host", [host for _, host, _ in rows]),
    ]
    numbers = [Column(word, [str(counts[word]) for *_, counts in rows]) for word in VERDICTS]
    last = [n for n, (_, host, _) in enumerate(rows) if host == HOST_NAMES[HOSTS[-1]]]
    print_table(console, Table("claims by verdict", labels, numbers, lines_below=last))


def _found(judged: Judged) -> tuple[str, str]:
    """Return verdict and measurement, or the runs that are needed first."""
    if judged.decision:
        return verdict(judged.decision), _lines(judged.decision)
    return "not run", f"needs {', '.join(judged.missing)} too"


def _claims(reproduction: Reproduction, host: str) -> Grid:
    title = "claims" if reproduction.hosts == ("sim",) else f"claims, {HOST_NAMES[host]}"
    table = _claims_table(title)
    for decision in reproduction.judged[host]:
        table.add_row(decision.claim.text, verdict(decision), _lines(decision))
    return table


def _claims_table(title: str) -> Grid:
    table = Grid(title=title, title_justify="left", show_lines=True)
    for column in ("claim", "verdict", "measured"):
        table.add_column(column, overflow="fold", no_wrap=column == "verdict")
    return table


def verdict(decision: Decision) -> str:
    """Write the verdict on a claim for a table, with its seeds where these are few."""
    style = _STYLES[decision.verdict]
    text = f"[{style}]{decision.verdict}[/{style}]"
    if decision.is_provisional:
        text += f"\n{seeds_text(decision.seeds, decision.seeds)}"
    if decision.verdict == "calibrated":
        text += f"\notherwise: [{_STYLES[decision.rule]}]{decision.rule}[/{_STYLES[decision.rule]}]"
    return text


def _lines(decision: Decision) -> str:
    several = len(decision.checks) > 1
    texts = (check.text() + f": {check.verdict}" * several for check in decision.checks)
    lines = [decision.tally(), *texts]
    return "\n".join(line for line in lines if line).replace("[", r"\[")


def check_folder(
    folder: Path,
    experiments: Sequence[Experiment],
    quick: bool,
    hosts: Sequence[str],
    seeds: Mapping[str, int] = EXPERIMENTS_SEEDS,
) -> None:
    """Raise InputError where this report would replace one that has more runs, or results of
    `sojourn run`."""
    claim(folder)
    if read_request(folder, experiments=True):
        raise InputError(f"{folder}: holds what `sojourn run` made; name another folder with --out")
    try:
        text = (folder / "reproduction.json").read_bytes()
        had = dict(part for entry in json.loads(text)["experiments"] for part in _parts(entry))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
    has = {
        (e.id, host): len(seeds_on(e, host, quick, seeds)) for e in experiments for host in hosts
    }
    missing = {part: count for part, count in had.items() if has.get(part, -1) < count}
    if missing:
        said = [
            f"{name} --host {host}, {seeds_text(count, count)}"
            for (name, host), count in sorted(missing.items())
        ]
        raise InputError(
            f"{folder}: holds a report that has more ({'; '.join(said)}); ask for that too, or "
            f"name another folder: --out {folder}-2"
        )


def _parts(entry: dict[str, Any]) -> list[tuple[tuple[str, str], int]]:
    """Count the seeds of each experiment and host."""
    name = f"{entry['paper']}/{entry['experiment']}"
    asked = entry.get("seeds", 0 if entry["quick"] else SEEDS)
    most = {host: of[1] for host, of in entry.get("seeds_of", {}).items()}
    return [((name, str(host)), most.get(host, asked)) for host in entry["hosts"]]


def write_all(
    reproductions: Sequence[Reproduction],
    of_papers: Sequence[OfPaper],
    data: dict[str, Any],
    folder: Path,
) -> Path:
    """Write report.html, reproduction.json and the numbers of each figure, figures/NAME.csv, to the
    folder. Return the path of the report."""
    from sojourn.papers.page import html

    own = claim(folder)
    charts = [figures(reproduction) for reproduction in reproductions]
    for chart in chain.from_iterable(charts):
        own.write(f"figures/{chart.file}", chart.csv().encode())
    page = html(reproductions, of_papers, charts, searches=_searches(reproductions))
    own.write("report.html", page.encode())
    own.write("reproduction.json", as_json.spell(data).encode())
    return folder / "report.html"


def _searches(reproductions: Sequence[Reproduction]) -> dict[str, Any]:
    """Find the result of a search, if it was made, for each paper with all its experiments."""
    from sojourn.papers.paper import papers_of
    from sojourn.papers.search import stored_search

    experiments = [reproduction.experiment for reproduction in reproductions]
    here = {experiment.id for experiment in experiments}
    whole = [p for p in papers_of(experiments) if {one.id for one in p.experiments} <= here]
    found = {paper.name: stored_search(paper.home) for paper in whole}
    return {name: search for name, search in found.items() if search}


def _print_over_axis(
    reproduction: Reproduction, out: Console, name_of: Callable[[str], str] = str
) -> None:
    """Print every table whole at any width: columns that do not fit continue below."""
    for table in over(reproduction, name_of):
        print_table(out, table)
    for cell, changed in ablations(reproduction.experiment).items():
        changes = [{"changed": of.short, "why": of.why} for of in changed]
        print_entries(out, f"One thing changed at {cell}", changes)
    for table in ablated(reproduction, name_of):
        print_table(out, table)


def ablations(experiment: Experiment) -> dict[str, list[Signal]]:
    """Group the ablations by their cell."""
    found: dict[str, list[Signal]] = {}
    for signal in experiment.signals():
        if signal.ablates:
            found.setdefault(signal.of, []).append(signal)
    return found


def over(reproduction: Reproduction, name_of: Callable[[str], str] = str) -> Iterator[Table]:
    """Make a table for each metric, of its values along the axis."""
    experiment = reproduction.experiment
    x = experiment.data["figure"]["x"]
    known = {signal.name: signal for signal in experiment.signals()}
    for along in rows_of(experiment):
        signals = [known[cell.label] for cell in along]
        rest = ", ".join(text for axis, text in along[0].texts.items() if axis != x)
        scale = scale_of(x, [cell.texts[x] for cell in along])
        rows = tuple(number_ if scale.is_numeric else text for text, number_ in _named(scale.texts))
        for metric in (*signals[0].metrics, *signals[0].beside):
            table = signals[0].table if metric in signals[0].metrics else "measured too"
            title = f"{heading(metric)} over {scale.label}, {rest} ({table})"
            yield _table(reproduction, metric, title, scale.label, rows, signals, name_of)


def _named(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair each value of the axis with its number alone."""
    return ((text, text.split()[0] if text.split() else text) for text in texts)


def ablated(reproduction: Reproduction, name_of: Callable[[str], str] = str) -> Iterator[Table]:
    """Make a table for each metric of a cell with ablations: the cell, then its ablations."""
    experiment = reproduction.experiment
    for cell, changed in ablations(experiment).items():
        (base,) = (signal for signal in experiment.signals() if signal.name == cell)
        for host in reproduction.hosts:
            found = [signal for signal in changed if host in reproduction.hosts_of(signal)]
            if not found:
                continue
            rows = ("as above", *(signal.short for signal in found))
            for metric in (*base.metrics, *base.beside):
                title = f"{heading(metric)} at {cell}, with one thing changed"
                yield _table(
                    reproduction, metric, title, "changed", rows, [base, *found], name_of, host
                )


def _table(
    reproduction: Reproduction,
    metric: str,
    title: str,
    label: str,
    rows: tuple[str, ...],
    signals: Sequence[Signal],
    name_of: Callable[[str], str],
    host_alone: str = "",
) -> Table:
    columns = []
    several = len(reproduction.hosts) > 1
    hosts = (host_alone,) if host_alone else reproduction.hosts
    for contender in reproduction.experiment.contenders():
        name = contender.name
        if any(_cell(reproduction, hosts[0], s, name, metric, True) != "–" for s in signals):
            printed = [_cell(reproduction, hosts[0], s, name, metric, True) for s in signals]
            columns.append(Column(f"{name}\npublished", printed))
        for host in hosts:
            head = f"{name}\n{name_of(host)}" if several else name
            measured = [_cell(reproduction, host, s, name, metric) for s in signals]
            columns.append(Column(head, measured))
    return Table(title, [Column(label, rows)], columns)


def _cell(
    reproduction: Reproduction,
    host: str,
    signal: Signal,
    algorithm: str,
    metric: str,
    published: bool = False,
) -> str:
    """Write a number, or a dash where the algorithm did not run."""
    if signal.only and algorithm not in signal.only:
        return "–"
    cell: Measured = reproduction.cell(host, signal.name, algorithm, metric)
    return number(cell.published) if published else spread(cell.found)
