# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A reproduction for readers: tables on the terminal, and a folder with its page and numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from sojourn import as_json, over_curve, report_axis
from sojourn.claims import SEEDS, Decision
from sojourn.errors import InputError
from sojourn.experiment import Experiment, Signal
from sojourn.folder import claim
from sojourn.hosts import HOSTS
from sojourn.judged import VERDICTS, Judged
from sojourn.page import heading, number, spread
from sojourn.paper import OfPaper
from sojourn.pictures import kind_of, pictures_of
from sojourn.reproduce import Measured, Reproduction
from sojourn.result import read_request

_STYLES = {"holds": "green", "fails": "red", "undecided": "yellow", "calibrated": "cyan"}


def seeds_note(reproduction: Reproduction) -> str:
    """How many seeds, and whether they are enough to decide."""
    count = len(reproduction.seeds)
    note = (
        "system delay is the time in the queue and being sent, which papers call queuing delay; "
        f"{count} seeds, 95 % t-intervals"
    )
    if reproduction.quick:
        note += f"; --quick: fewer than the {SEEDS} that a verdict needs, so these are provisional"
    return note


def rows(reproduction: Reproduction, signal: Signal) -> list[tuple[str, list[list[Measured]]]]:
    """For each metric of a signal, and for each algorithm, the cells of all hosts."""
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


_HOSTS = {"sim": "simulated", "linux": "Linux"}


def headings(reproduction: Reproduction, signal: Signal) -> list[str]:
    """Of the measured columns: the host, where there are several or it is not the simulator."""
    if reproduction.hosts == ("sim",):
        return ["measured"]
    return [_HOSTS[host] for host in reproduction.hosts_of(signal)]


def print_tables(reproduction: Reproduction, console: Console) -> None:
    """Measured beside published, the ablations, and last, where a terminal stays, the claims."""
    experiment = reproduction.experiment
    console.print(f"\n[bold]{experiment.title}[/bold]\n{seeds_note(reproduction)}")
    kind = kind_of(experiment)
    if kind == "axis":
        report_axis.print_tables(reproduction, console, _HOSTS.__getitem__)
    else:
        for signal in sorted(experiment.signals(), key=lambda signal: bool(signal.ablates)):
            console.print(_table(reproduction, signal))
    if kind == "curve":
        for drawing in over_curve.drawings(reproduction):
            for line in over_curve.summary(drawing):
                console.print(line, markup=False, highlight=False)
    for host in reproduction.hosts:
        if reproduction.judged[host]:
            console.print(_claims(reproduction, host))


def _table(reproduction: Reproduction, signal: Signal) -> Table:
    """A row for each metric and algorithm: a terminal is not wide enough for more columns."""
    table = Table(title=f"{signal.title} ({signal.table})", title_justify="left")
    table.add_column("metric", overflow="fold")
    table.add_column("algorithm", overflow="fold")
    table.add_column("published", justify="right", style="dim", no_wrap=True)
    for heading_of_host in headings(reproduction, signal):
        table.add_column(heading_of_host, justify="right", no_wrap=True)
    for metric, of_algorithms in rows(reproduction, signal):
        for n, cells in enumerate(of_algorithms):
            first = n == 0
            last = n == len(of_algorithms) - 1
            texts = [number(cells[0].published), *(spread(cell.found) for cell in cells)]
            name = heading(metric) if first else ""
            table.add_row(name, cells[0].algorithm, *texts, end_section=last)
    return table


def print_paper(of_paper: OfPaper, console: Console) -> None:
    """What a paper claims of several experiments, for each host."""
    for host, judged in of_paper.judged.items():
        title = f"claims of {of_paper.paper} on several experiments"
        table = _claims_table(title if tuple(of_paper.judged) == ("sim",) else f"{title}, {host}")
        for found in judged:
            table.add_row(found.claim.text, *_found(found))
        console.print(table)


def print_ledger(data: dict[str, Any], console: Console) -> None:
    """Claims by verdict, a row for each paper and host."""
    table = Table(title="claims by verdict", title_justify="left")
    for column in ("paper", "host"):
        table.add_column(column)
    for verdict_ in VERDICTS:
        table.add_column(verdict_, justify="right")
    for paper in data["papers"]:
        for host, counts in paper["verdicts"].items():
            row = [str(counts[verdict_]) for verdict_ in VERDICTS]
            table.add_row(paper["title"], _HOSTS[host], *row, end_section=host == HOSTS[-1])
    console.print(table)


def _found(judged: Judged) -> tuple[str, str]:
    """Verdict and measurement; or what has to run first."""
    if judged.decision:
        return verdict(judged.decision), _lines(judged.decision)
    return "not run", f"needs {', '.join(judged.missing)} too"


def _claims(reproduction: Reproduction, host: str) -> Table:
    title = "claims" if reproduction.hosts == ("sim",) else f"claims, {_HOSTS[host]}"
    table = _claims_table(title)
    for decision in reproduction.judged[host]:
        table.add_row(decision.claim.text, verdict(decision), _lines(decision))
    return table


def _claims_table(title: str) -> Table:
    table = Table(title=title, title_justify="left", show_lines=True)
    for column in ("claim", "verdict", "measured"):
        table.add_column(column, overflow="fold", no_wrap=column == "verdict")
    return table


def verdict(decision: Decision) -> str:
    """What a table says of a claim."""
    style = _STYLES[decision.verdict]
    text = f"[{style}]{decision.verdict}[/{style}]"
    if decision.verdict == "calibrated":
        text += f"\notherwise: [{_STYLES[decision.rule]}]{decision.rule}[/{_STYLES[decision.rule]}]"
    return text


def _lines(decision: Decision) -> str:
    several = len(decision.checks) > 1
    texts = (check.text() + f": {check.verdict}" * several for check in decision.checks)
    lines = [decision.tally(), *texts]
    return "\n".join(line for line in lines if line).replace("[", r"\[")


def check_folder(
    folder: Path, experiments: Sequence[Experiment], quick: bool, hosts: Sequence[str]
) -> None:
    """InputError where these would replace what has more."""
    claim(folder)
    if read_request(folder, experiments=True):
        raise InputError(f"{folder}: holds what `sojourn run` made; name another folder with --out")
    try:
        text = (folder / "reproduction.json").read_bytes()
        had = {_part(entry) for entry in json.loads(text)["experiments"]}
    except (OSError, ValueError, KeyError):
        return
    has = {(e.paper, e.name, quick, host) for e in experiments for host in hosts}
    fuller = {(paper, name, True, host) for paper, name, _, host in has} if not quick else set()
    missing = {part for parts in had for part in parts} - has - fuller
    if missing:
        said = sorted(
            f"{paper}/{name}{' --quick' * its_quick} --host {host}"
            for paper, name, its_quick, host in missing
        )
        raise InputError(
            f"{folder}: holds a report that has more ({'; '.join(said)}); ask for that too, or "
            f"name another folder: --out {folder}-2"
        )


def _part(entry: dict[str, Any]) -> tuple[tuple[str, str, bool, str], ...]:
    where = entry["paper"], entry["experiment"], bool(entry["quick"])
    return tuple((*where, str(host)) for host in entry["hosts"])


def write_all(
    reproductions: Sequence[Reproduction],
    of_papers: Sequence[OfPaper],
    data: dict[str, Any],
    folder: Path,
) -> Path:
    """report.html, reproduction.json and the numbers of each figure, figures/NAME.csv, in the
    folder; answers where the report is."""
    from sojourn.report_page import of_pictures

    own = claim(folder)
    pictures = [pictures_of(reproduction) for reproduction in reproductions]
    for picture in (picture for of in pictures for picture in of):
        own.write(f"figures/{picture.file}", picture.csv().encode())
    page = of_pictures(reproductions, of_papers, pictures, searches=_searches(reproductions))
    own.write("report.html", page.encode())
    own.write("reproduction.json", as_json.spell(data).encode())
    return folder / "report.html"


def _searches(reproductions: Sequence[Reproduction]) -> dict[str, Any]:
    """Of each paper that is there as a whole what a search found, if one was made."""
    from sojourn.paper import papers
    from sojourn.search import stored

    here = {reproduction.experiment.id for reproduction in reproductions}
    whole = [paper for paper in papers() if {one.id for one in paper.experiments} <= here]
    found = {paper.name: stored.found(paper.name, paper.folder) for paper in whole}
    return {name: search for name, search in found.items() if search}
