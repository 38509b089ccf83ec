# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn reproduce`: the experiments that are named, or the ledger of all papers."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn.cli.output import print_json, tell_broken
from sojourn.core.errors import InputError
from sojourn.core.hosts import HOSTS, check_hosts, read_seeds
from sojourn.papers import ledger_run, report
from sojourn.papers.experiment import find
from sojourn.papers.paper import judge_papers
from sojourn.papers.reproduce import Reproduction, reproduce
from sojourn.result.result import Run
from sojourn.runs.rules import breaks
from sojourn.show.tables import console


def run(
    what: Sequence[str],
    *,
    quick: bool,
    hosts: Sequence[str],
    seeds: Sequence[str],
    stored: bool,
    out: Path | None,
    workers: int | None,
    as_json: bool,
    full: bool = False,
) -> int:
    """Reproduce the named experiments, or without names all papers, and print the results. Return
    the exit status. InputError for options that exclude each other."""
    if quick and seeds:
        raise InputError("--quick and --seeds both say how many seeds; leave one of them out")
    hosts = check_hosts(hosts)
    of_host = read_seeds(seeds, hosts)
    if not what:
        return _ledger(quick, hosts, of_host, stored, out, workers, as_json)
    for host in of_host:
        if host not in hosts:
            raise InputError(f"--seeds {host}={of_host[host]}: add --host {host}")
    chosen = find(what)
    folder = out or Path("sojourn-" + "-".join(e.id.replace("/", "-") for e in chosen))
    for experiment in chosen:
        experiment.check()
    report.check_folder(folder, chosen, quick, hosts, of_host)
    done = []
    for experiment in chosen:
        kept = out / experiment.id if out and len(chosen) > 1 else out
        done.append(
            reproduce(
                experiment,
                quick=quick,
                out=None if stored else kept,
                workers=workers,
                hosts=hosts,
                looked_up=hosts if stored else (),
                seeds=of_host,
            )
        )
        if kept and not stored:
            done[-1].result.save(kept)
    of_papers = judge_papers(done)
    data = {
        "experiments": [reproduction.to_json() for reproduction in done],
        "papers": [of_paper.to_json() for of_paper in of_papers],
    }
    report_path = report.write_all(done, of_papers, data, folder)
    if as_json:
        print_json(data)
    else:
        terminal = console()
        for reproduction in done:
            (report.print_tables if full else report.print_summary)(reproduction, terminal)
        for of_paper in of_papers if full else ():
            report.print_paper(of_paper, terminal)
        more = "" if full else "; all tables here: the same command with --full"
        line = f"report: {report_path}{more}"
        terminal.print(line, soft_wrap=True, markup=False, highlight=False)
    return tell_broken([run for reproduction in done for run in reproduction.result])


def _ledger(
    quick: bool,
    asked: Sequence[str],
    seeds: Mapping[str, int],
    stored: bool,
    out: Path | None,
    workers: int | None,
    as_json: bool,
) -> int:
    """Reproduce all papers into a ledger. Hosts that were not asked for have the runs in the
    store."""
    begun_s = time.monotonic()
    folder = out or ledger_run.folder_name(quick)
    broken: list[Run] = []

    def done(found: list[Reproduction]) -> None:
        broken.extend(run for one in found for run in one.result if breaks(run.report))

    data = ledger_run.run(
        folder,
        quick=quick,
        hosts=HOSTS,
        looked_up=[host for host in HOSTS if stored or host not in asked],
        workers=workers,
        say=lambda text: print(text, file=sys.stderr),
        seeds=seeds,
        done=done,
    )
    if as_json:
        print_json(data)
    else:
        terminal = console()
        report.print_ledger(data, terminal)
        for line in ledger_run.not_there(data):
            terminal.print(line, soft_wrap=True, markup=False, highlight=False)
        took_s = time.monotonic() - begun_s
        said = f"index: {folder / 'index.html'}, in {took_s:.0f} s"
        terminal.print(said, soft_wrap=True, markup=False, highlight=False)
    return tell_broken(broken)
