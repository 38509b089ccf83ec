# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn reproduce`: the experiments that are named, or all papers. With `--search`, the open
points of a paper and the tables of their search."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sojourn.cli import options
from sojourn.cli.options import (
    Again,
    Dask,
    Host,
    Json,
    Out,
    Workers,
    print_json,
    tell_broken,
    verbs,
)
from sojourn.core.errors import InputError, nearest
from sojourn.core.messages import tell

if TYPE_CHECKING:
    from rich.console import Console

    from sojourn.papers.experiment import Experiment, PaperFiles
    from sojourn.papers.reproduce import Reproduction
    from sojourn.papers.search import Searched
    from sojourn.result.result import Run

app = verbs()
# The table lists so many of the best set-ups, and those outside the text. The JSON has all.
_BEST = 10


@app.command()
def reproduce(
    context: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHAT",
            help="PAPER or PAPER/EXPERIMENT",
            autocompletion=options.experiments,
        ),
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
    dask: Dask = None,
    again: Again = False,
    full: Annotated[
        bool, typer.Option("--full", help="Print every table, not the summary alone.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Run a paper's experiments: measured beside published, a verdict for each claim. Without a
    name: those of all papers, and an index of them."""
    from sojourn.core.hosts import check_hosts, read_seeds
    from sojourn.papers import answer, report
    from sojourn.papers.experiment import find
    from sojourn.papers.ledger_run import missing
    from sojourn.papers.paper import judge_papers
    from sojourn.papers.points import check_search
    from sojourn.papers.reproduce import reading
    from sojourn.papers.reproduce import reproduce as run_experiment
    from sojourn.show.tables import console, print_line
    from sojourn.store.folder import claim

    if search:
        options_set = {
            "--quick": quick,
            "--host": host,
            "--seeds": seeds,
            "--stored": stored,
            "--dask": dask,
            "--again": again,
        }
        refused = [word for word, value in options_set.items() if value]
        return _search(what or [], refused=refused, out=out, workers=workers, json=as_json)
    if quick and seeds:
        raise InputError("--quick and --seeds both say how many seeds; leave one of them out")
    hosts = check_hosts(host or [])
    seeds_by_host = read_seeds(seeds or [], hosts)
    cluster = None
    if dask:
        from sojourn.runs.dask import client

        # It is left when the command ends.
        cluster, count = context.with_resource(client(dask))
        workers = workers or count
    if not what:
        if again:
            raise InputError("--again: name the experiments to be run again")
        return _reproduce_all(quick, hosts, seeds_by_host, stored, out, workers, as_json, cluster)
    for name, count in seeds_by_host.items():
        if name not in hosts:
            raise InputError(f"--seeds {name}={count}: add --host {name}")
    chosen = find(what)
    folder = out or Path("sojourn-" + _name_of(chosen))
    for experiment in chosen:
        experiment.check()
    for home in {experiment.home.folder: experiment.home for experiment in chosen}.values():
        answer.check(home)
        check_search(home)
    check = partial(report.check_folder, folder, chosen, quick, hosts, seeds_by_host)
    check()
    if out and len(chosen) > 1 and not stored:
        claim(folder)  # results of single experiments come into it first
    reproductions = []
    with reading(len(chosen), is_shown=stored) as tell_of:
        for number, experiment in enumerate(chosen):
            own_folder = out / experiment.id if out and len(chosen) > 1 else out
            reproduction = run_experiment(
                experiment,
                quick=quick,
                out=None if stored else own_folder,
                workers=workers,
                hosts=hosts,
                looked_up=hosts if stored else (),
                seeds=seeds_by_host,
                client=cluster,
                again=again,
                tell=tell_of(number),
            )
            if own_folder and own_folder != folder and not stored:
                with claim(own_folder).held() as own:
                    reproduction.write(own)
            # The flows of a whole paper would take gigabytes.
            is_alone = len(chosen) == 1
            reproductions.append(reproduction if is_alone else reproduction.without_flows())
    papers = judge_papers(reproductions)
    data = {
        "experiments": [reproduction.to_json() for reproduction in reproductions],
        "papers": [paper.to_json() for paper in papers],
    }
    with claim(folder).held() as own:
        check()  # another command may have put more into it meanwhile
        if own_folder == folder and not stored:
            reproductions[-1].write(own)
        report_path = report.write_all(reproductions, papers, data, folder)
    if as_json:
        print_json(data)
    else:
        terminal = console()
        for reproduction in reproductions:
            (report.print_tables if full else report.print_summary)(reproduction, terminal)
        for paper in papers if full else ():
            report.print_paper(paper, terminal)
        for gap in missing(chosen, quick, hosts, hosts, seeds_by_host) if stored else ():
            print_line(terminal, gap.text())
        more = "" if full else "; all tables here: the same command with --full"
        print_line(terminal, f"report: {report_path}{more}")
    return tell_broken([run for reproduction in reproductions for run in reproduction.result])


def _name_of(chosen: Sequence[Experiment]) -> str:
    """Name a paper of which all experiments are chosen, and each experiment of any other."""
    names: dict[str, None] = {}
    for experiment in chosen:
        home = experiment.home
        is_whole = 1 < len(home.experiments) == sum(one.home is home for one in chosen)
        names[home.name if is_whole else experiment.id.replace("/", "-")] = None
    return "-".join(names)


def _reproduce_all(
    quick: bool,
    hosts: Sequence[str],
    seeds: Mapping[str, int],
    stored: bool,
    out: Path | None,
    workers: int | None,
    as_json: bool,
    cluster: Any,
) -> int:
    """Reproduce all papers into a ledger. Hosts that were not asked for have the runs in the
    store."""
    from sojourn.core.hosts import HOSTS
    from sojourn.papers import ledger_run, report
    from sojourn.runs.rules import breaks
    from sojourn.show.tables import console, print_line

    begun_s = time.monotonic()
    folder = out or ledger_run.folder_name(quick)
    broken: list[Run] = []

    def note_broken(reproductions: list[Reproduction]) -> None:
        broken.extend(
            run
            for reproduction in reproductions
            for run in reproduction.result
            if breaks(run.report)
        )

    data = ledger_run.run(
        folder,
        quick=quick,
        hosts=HOSTS,
        looked_up=[host for host in HOSTS if stored or host not in hosts],
        workers=workers,
        say=tell,
        seeds=seeds,
        done=note_broken,
        client=cluster,
    )
    if as_json:
        print_json(data)
    else:
        terminal = console()
        report.print_ledger(data, terminal)
        for line in ledger_run.not_there(data):
            print_line(terminal, line)
        took_s = time.monotonic() - begun_s
        print_line(terminal, f"index: {folder / 'index.html'}, in {took_s:.0f} s")
    return tell_broken(broken)


def _search(
    what: Sequence[str],
    *,
    refused: Sequence[str],
    out: Path | None,
    workers: int | None,
    json: bool,
) -> int:
    """Search one paper, keep the result and print it. Return the exit status. InputError for
    options that a search does not take."""
    from sojourn.papers.points import search_of, setups
    from sojourn.papers.search import search as run_search
    from sojourn.show.tables import console, print_line
    from sojourn.store.folder import examine

    spec = search_of(_find_paper(what))
    if refused:
        raise InputError(
            f"--search has three seeds in the simulator: leave {' and '.join(refused)} out"
        )
    setups(spec)  # reports a mistake of the file before a search begins
    folder = out or Path(f"sojourn-{spec.paper}-search")
    examine(folder)
    searched = run_search(spec, out=out, workers=workers)
    _keep_search(searched, folder)
    if json:
        print_json(searched.to_json())
        return 0
    terminal = console()
    print_search(searched, terminal)
    print_line(terminal, f"search: {folder}")
    return 0


def _find_paper(what: Sequence[str]) -> PaperFiles:
    """Find the paper that is named; InputError for none, several or an unknown one."""
    from sojourn.papers.experiment import PaperFiles, papers

    known = {paper.name: paper for paper in papers()}
    if len(what) != 1:
        with_points = [n for n, paper in known.items() if paper.search and paper.search.searched]
        example = (with_points or sorted(known))[0]
        raise InputError(f"--search is of one paper: sojourn reproduce {example} --search")
    name = what[0]
    paper = name.partition("/")[0]
    if paper in known and "/" in name:
        raise InputError(
            f"{name}: --search is of a whole paper, whose search.toml says which experiments it "
            f"may look at: sojourn reproduce {paper} --search"
        )
    if name in known:
        return known[name]
    if (Path(name) / "paper.toml").is_file():
        return PaperFiles(Path(name))
    raise InputError(f"there is no paper '{name}'.{nearest(name, known)}")


def _keep_search(searched: Searched, folder: Path) -> None:
    from sojourn.core.text import json_text
    from sojourn.papers.search import html
    from sojourn.store.arrow import parquet_bytes, table
    from sojourn.store.folder import claim

    own = claim(folder)
    own.write("search.parquet", parquet_bytes(table(list(searched.rows()))))
    own.write("search.html", html(searched).encode())
    own.write("search.json", json_text(searched.to_json()).encode())


def print_search(searched: Searched, terminal: Console) -> None:
    """Print the judged set-ups first, where luck shows. Then print all set-ups, the effect of each
    changed thing, and why numbers differ."""
    from rich.text import Text

    from sojourn.papers.reasons import RULE
    from sojourn.papers.search import NAMES
    from sojourn.show.page import number, spread
    from sojourn.show.tables import Column, print_columns

    ranked, spec = searched.ranked, searched.search
    terminal.print(Text(f"\n{spec.paper}: the search for what is not in print", style="bold"))
    terminal.print(Text(searched.counts()), soft_wrap=True)
    terminal.print(Text(RULE), soft_wrap=True)
    half, other = searched.cells
    judged = searched.judged()
    print_columns(
        terminal,
        "how many printed numbers are met",
        [Column("which", [NAMES[which] for which, *_ in judged])],
        [
            Column("set-up", [str(setup.number) for _, setup, *_ in judged]),
            Column(f"searched\nof {half}", [str(count) for *_, count, _ in judged]),
            Column(f"other\nof {other}", [str(count) for *_, count in judged]),
        ],
    )
    shown = [*ranked.order[:_BEST], *ranked.outside]
    if ranked.text not in shown:
        shown.insert(_BEST, ranked.text)
    _sentences(
        terminal,
        f"set-ups, the best {min(_BEST, len(ranked.order))} of {len(ranked.order)}",
        {
            "set-up": [str(setup.number) for setup in shown],
            "searched": [str(ranked.count(setup)) for setup in shown],
            "what is not as in the text": [setup.label for setup in shown],
        },
    )
    for is_half, title in ((True, "searched half"), (False, "other half, after the search")):
        effects = searched.effects(half=is_half)
        if effects:
            _sentences(
                terminal,
                f"one thing changed: {title}",
                {
                    "set-up": [str(effect.setup.number) for effect in effects],
                    "met": [f"+{effect.gained} −{effect.lost}" for effect in effects],
                    "changed": [effect.setup.label for effect in effects],
                    "what moves most": [effect.words() for effect in effects],
                },
            )
    if searched.reasons:
        _sentences(
            terminal,
            "why a number differs under the text's own set-up",
            {
                "number": [off.base.cell.label for off in searched.reasons],
                "print": [number(off.base.published) for off in searched.reasons],
                "ours": [spread(off.base.estimate) for off in searched.reasons],
                "reason": [off.text()[0] for off in searched.reasons],
            },
        )
    _tell_adopted(searched, terminal)


def _sentences(terminal: Console, title: str, columns: dict[str, list[str]]) -> None:
    """Print a table in which the last column, and the longest labels, are folded."""
    from rich.table import Table
    from rich.text import Text

    from sojourn.show.tables import print_whole

    table = Table(title=Text(title), title_justify="left")
    for name in columns:
        short = name in ("set-up", "searched", "met", "print", "ours")
        table.add_column(name, overflow="fold", no_wrap=short, justify="right" if short else "left")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(Text, row))
    print_whole(terminal, table)


def _tell_adopted(searched: Searched, terminal: Console) -> None:
    """Print the settings that the ledger would need for the best set-up: a search changes nothing
    itself."""
    from rich.text import Text

    from sojourn.scenario.variant import write_value

    adopt = searched.adopt()
    spec = searched.search
    if not adopt:
        best = searched.ranked.best
        name = "the text's own set-up" if not best.changed else f"set-up {best.number}"
        note = f"{name} is the best that was tried, and the ledger has it: it stays as it is"
        terminal.print(Text(note), soft_wrap=True)
        return
    lines = [
        "the search changes nothing; to have the best set-up in the ledger, set for all algorithms:"
    ]
    lines += [f"  {entry['in']}: {entry['key']} = {write_value(entry['to'])}" for entry in adopt]
    for point in dict.fromkeys(str(entry["point"]) for entry in adopt):
        text = next(p.text for p in spec.points if p.name == point)
        lines.append(f"  search.toml: text = {text!r} of '{point}'")
    lines.append(f"then the printed cells of {', '.join(spec.searched)} are calibrated")
    for line in lines:
        terminal.print(Text(line), soft_wrap=True)
