# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A reproduction for readers: tables on the terminal, and a folder with its page and numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from sojourn.core.errors import InputError
from sojourn.core.hosts import EXPERIMENTS_SEEDS, HOST_NAMES, HOSTS, seeds_text
from sojourn.core.text import NOTHING, Column, Table, json_text
from sojourn.papers import curve_figure
from sojourn.papers.axis_figure import rows_of, scale_of
from sojourn.papers.claim import CONTRADICTED, NOT_FOUND, NOT_IN_PRINT, NOT_RUN, VERDICTS
from sojourn.papers.claims import SEEDS, Decision, count
from sojourn.papers.experiment import Experiment, Signal
from sojourn.papers.figures import kind_of
from sojourn.papers.page import abouts, write_page
from sojourn.papers.paper import JudgedPaper, papers_of
from sojourn.papers.reasons import Measured
from sojourn.papers.reproduce import Reproduction, seeds_on
from sojourn.papers.search import stored_search
from sojourn.result.result import read_request
from sojourn.show.page import heading, number, spread
from sojourn.show.tables import fits, print_entries, print_table, print_whole
from sojourn.store.folder import claim, examine

_STYLES = {
    "holds": "green",
    NOT_FOUND: "red",
    "undecided": "yellow",
    NOT_IN_PRINT: "magenta",
    CONTRADICTED: "magenta",
    "calibrated": "cyan",
}


# The width of a verdict and the space behind it.
_WORD = 2 + max(map(len, VERDICTS))
# With so many claims a summary of one experiment fits on a screen of 24 lines.
_SUMMARY_CLAIMS = 12


def seeds_note(reproduction: Reproduction) -> str:
    """Write the number of seeds, and whether they are enough to decide."""
    note = (
        "system delay is the time in the queue and being sent, which papers call queuing delay; "
        f"{reproduction.describe_seeds()}, 95 % t-intervals"
    )
    if reproduction.is_provisional:
        reason = "--quick: " if reproduction.quick else ""
        note += f"; {reason}fewer than the {SEEDS} that a verdict needs are provisional"
    return note


def print_tables(reproduction: Reproduction, console: Console) -> None:
    """Print measured beside published, the ablations, and at the end the claims, where a terminal
    stops."""
    experiment = reproduction.experiment
    console.print(f"\n[bold]{experiment.title}[/bold]\n{seeds_note(reproduction)}")
    for name, about in abouts(experiment):
        console.print(f"{name}: {about}", markup=False, highlight=False)
    kind = kind_of(experiment)
    if kind == "axis":
        for table in over(reproduction):
            print_table(console, table)
        for cell, changed in _ablations(experiment).items():
            changes = [{"changed": signal.short, "why": signal.why} for signal in changed]
            print_entries(console, f"One thing changed at {cell}", changes)
        for table in ablated(reproduction):
            print_table(console, table)
    else:
        there = [signal for signal in experiment.signals() if reproduction.hosts_of(signal)]
        for signal in sorted(there, key=lambda signal: bool(signal.ablates)):
            _print_signal(reproduction, signal, console)
    if kind == "curve":
        for work in curve_figure.works(reproduction):
            for line in curve_figure.summary(work):
                console.print(line, markup=False, highlight=False)
    for host in reproduction.hosts:
        if reproduction.decisions_on(host):
            console.print(_claims(reproduction, host))


def _print_signal(reproduction: Reproduction, signal: Signal, console: Console) -> None:
    """Print a row for each metric and algorithm, as a terminal has no room for more columns. A
    narrower terminal gets a table for each metric."""
    title = f"{signal.title} ({signal.table})"
    metrics = (*signal.metrics, *signal.beside)
    names = [contender.name for contender in reproduction.experiment.contenders(signal)]
    hosts = reproduction.hosts_of(signal)
    is_simulated = reproduction.hosts == ("sim",)

    def columns(metrics: Sequence[str]) -> list[Column]:
        cells = [
            [reproduction.cell(host, signal.name, name, metric) for host in hosts]
            for metric in metrics
            for name in names
        ]
        return [
            Column("algorithm", names * len(metrics)),
            Column("published", [number(by_host[0].published) for by_host in cells]),
            *(
                Column(
                    "measured" if is_simulated else HOST_NAMES[host],
                    [spread(by_host[n].estimate) for by_host in cells],
                )
                for n, host in enumerate(hosts)
            ),
        ]

    algorithms, *numbers = columns(metrics)
    words = [word for metric in metrics for word in heading(metric).split()]
    if not fits(console.width, [Column("metric", words), algorithms, *numbers]):
        for metric in metrics:
            algorithms, *numbers = columns([metric])
            print_table(console, Table(f"{title}: {heading(metric)}", [algorithms], numbers))
        return
    table = Grid(title=Text(title), title_justify="left")
    table.add_column("metric", overflow="fold")
    table.add_column("algorithm", no_wrap=True)
    for column in numbers:
        style = "dim" if column.heading == "published" else None
        table.add_column(column.heading, justify="right", style=style, no_wrap=True)
    rows = zip(*(column.cells for column in (algorithms, *numbers)), strict=True)
    for row, cells in enumerate(rows):
        n, place = divmod(row, len(names))
        label = "" if place else heading(metrics[n])
        table.add_row(label, *map(Text, cells), end_section=place == len(names) - 1)
    print_whole(console, table)


def print_summary(reproduction: Reproduction, console: Console) -> None:
    """Print the counts of verdicts and the claims that do not hold, a line each."""
    experiment = reproduction.experiment
    runs = len(reproduction.result.runs)
    console.print(
        f"{experiment.id}, {experiment.title}: {runs} runs, {reproduction.describe_seeds()}",
        markup=False,
        highlight=False,
    )
    for host in reproduction.hosts:
        judged = reproduction.judged[host]
        counts = ", ".join(f"{word} {n}" for word, n in count(judged).items() if n)
        if counts:
            console.print(f"{HOST_NAMES[host]}: {counts}", highlight=False)
        others = [j for j in judged if j.verdict not in ("holds", NOT_RUN)]
        for other in others[:_SUMMARY_CLAIMS]:
            line = f"  {other.verdict:{_WORD}}{other.claim.said}"
            console.print(line, markup=False, highlight=False, overflow="ellipsis", no_wrap=True)
        if len(others) > _SUMMARY_CLAIMS:
            console.print(f"  and {len(others) - _SUMMARY_CLAIMS} more", highlight=False)


def print_paper(paper: JudgedPaper, console: Console) -> None:
    """Print the claims of a paper on several experiments, for each host."""
    for host, judged in paper.judged.items():
        title = f"claims of {paper.paper} on several experiments"
        table = _claims_table(title if tuple(paper.judged) == ("sim",) else f"{title}, {host}")
        for entry in judged:
            decision = entry.decision
            words = (
                (verdict(decision), _lines(decision))
                if decision
                else (NOT_RUN, f"needs {', '.join(entry.missing)} too")
            )
            table.add_row(entry.claim.said, *words)
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
    # A heading takes a line for each word: a terminal is narrow.
    numbers = [
        Column(word.replace(" ", "\n"), [str(counts[word]) for *_, counts in rows])
        for word in VERDICTS
    ]
    last = [n for n, (_, host, _) in enumerate(rows) if host == HOST_NAMES[HOSTS[-1]]]
    print_table(console, Table("claims by verdict", labels, numbers, lines_below=last))


def _claims(reproduction: Reproduction, host: str) -> Grid:
    title = "claims" if reproduction.hosts == ("sim",) else f"claims, {HOST_NAMES[host]}"
    table = _claims_table(title)
    for decision in reproduction.decisions_on(host):
        table.add_row(decision.claim.said, verdict(decision), _lines(decision))
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
    if decision.beside:
        word, _, rule = decision.beside.partition(": ")
        text += f"\n{word}: [{_STYLES[rule]}]{rule}[/{_STYLES[rule]}]"
    return text


def _lines(decision: Decision) -> str:
    several = len(decision.checks) > 1
    texts = (check.text() + f": {check.verdict}" * several for check in decision.checks)
    lines = [decision.tally(), *decision.remarks(), *texts]
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
    examine(folder)
    if read_request(folder, experiments=True):
        raise InputError(f"{folder}: holds what `sojourn run` made; name another folder with --out")
    try:
        text = (folder / "reproduction.json").read_bytes()
        earlier = dict(part for entry in json.loads(text)["experiments"] for part in _parts(entry))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
    planned = {
        (e.id, host): len(seeds_on(e, host, quick, seeds)) for e in experiments for host in hosts
    }
    missing = {part: count for part, count in earlier.items() if planned.get(part, -1) < count}
    if missing:
        parts = [
            f"{name} --host {host}, {seeds_text(count, count)}"
            for (name, host), count in sorted(missing.items())
        ]
        raise InputError(
            f"{folder}: holds a report that has more ({'; '.join(parts)}); ask for that too, or "
            f"name another folder: --out {folder}-2"
        )


def _parts(entry: dict[str, Any]) -> list[tuple[tuple[str, str], int]]:
    """Count the seeds of each experiment and host."""
    name = f"{entry['paper']}/{entry['experiment']}"
    default = entry.get("seeds", 0 if entry["quick"] else SEEDS)
    most = {host: most for host, (_, most) in entry.get("seeds_of", {}).items()}
    return [((name, str(host)), most.get(host, default)) for host in entry["hosts"]]


def write_all(
    reproductions: Sequence[Reproduction],
    judged_papers: Sequence[JudgedPaper],
    data: dict[str, Any],
    folder: Path,
) -> Path:
    """Write report.html, reproduction.json and the numbers of each figure, figures/NAME.csv, to the
    folder. Return the path of the report."""
    own = claim(folder)
    experiments = [reproduction.experiment for reproduction in reproductions]
    reported = {experiment.id for experiment in experiments}
    whole = [p for p in papers_of(experiments) if {e.id for e in p.experiments} <= reported]
    searches = {paper.name: stored_search(paper.home) for paper in whole}
    write_page(own, "report.html", reproductions, judged_papers, searches)
    own.write("reproduction.json", json_text(data).encode())
    return folder / "report.html"


def _ablations(experiment: Experiment) -> dict[str, list[Signal]]:
    """Group the ablations by their cell."""
    by_cell: dict[str, list[Signal]] = {}
    for signal in experiment.signals():
        if signal.ablates:
            by_cell.setdefault(signal.base, []).append(signal)
    return by_cell


def over(reproduction: Reproduction) -> Iterator[Table]:
    """Make a table for each metric, of its values along the axis."""
    experiment = reproduction.experiment
    x = experiment.data["figure"]["x"]
    for along in rows_of(experiment):
        signals = [experiment.signal_of[cell.label] for cell in along]
        rest = ", ".join(text for axis, text in along[0].texts.items() if axis != x)
        scale = scale_of(x, [cell.texts[x] for cell in along])
        # The heading has the unit.
        values = tuple(text.split()[0] if scale.is_numeric else text for text in scale.texts)
        for metric in (*signals[0].metrics, *signals[0].beside):
            table = signals[0].table if metric in signals[0].metrics else "measured too"
            title = f"{heading(metric)} over {scale.label}, {rest} ({table})"
            rows = Column(scale.label, values)
            yield Table(title, [rows], _columns(reproduction, metric, signals, reproduction.hosts))


def ablated(reproduction: Reproduction) -> Iterator[Table]:
    """Make a table for each metric of a cell with ablations: the cell, then its ablations."""
    experiment = reproduction.experiment
    for cell, changed in _ablations(experiment).items():
        (base,) = (signal for signal in experiment.signals() if signal.name == cell)
        for host in reproduction.hosts:
            signals = [signal for signal in changed if host in reproduction.hosts_of(signal)]
            rows = Column("changed", ["as above", *(signal.short for signal in signals)])
            for metric in (*base.metrics, *base.beside) if signals else ():
                title = f"{heading(metric)} at {cell}, with one thing changed"
                columns = _columns(reproduction, metric, [base, *signals], [host])
                yield Table(title, [rows], columns)


def _columns(
    reproduction: Reproduction, metric: str, signals: Sequence[Signal], hosts: Sequence[str]
) -> list[Column]:
    """Make a column of published numbers, where there is one, and one for each host, for each
    algorithm of these signals; a dash where it did not run."""
    columns = []
    for contender in reproduction.experiment.contenders():
        name = contender.name
        if all(signal.only and name not in signal.only for signal in signals):
            continue
        printed, *measured = (
            [
                NOTHING
                if signal.only and name not in signal.only
                else write(reproduction.cell(host, signal.name, name, metric))
                for signal in signals
            ]
            for host, write in [(hosts[0], _published), *((host, _measured) for host in hosts)]
        )
        if set(printed) != {NOTHING}:
            columns.append(Column(f"{name}\npublished", printed))
        for host, cells in zip(hosts, measured, strict=True):
            head = f"{name}\n{HOST_NAMES[host]}" if len(reproduction.hosts) > 1 else name
            columns.append(Column(head, cells))
    return columns


def _published(cell: Measured) -> str:
    return number(cell.published)


def _measured(cell: Measured) -> str:
    return spread(cell.estimate)
