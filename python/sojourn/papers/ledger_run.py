# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Every experiment of every paper, one after the other. Runs in the store are taken from there, the
rest is run, and pages and ledger are written paper by paper. So an interrupted command has lost
nothing, and the same command goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from sojourn.core import as_json
from sojourn.core.errors import InputError, Interrupted
from sojourn.core.hosts import EXPERIMENTS_SEEDS, HOSTS, seeds_text
from sojourn.papers import ledger, ledger_page
from sojourn.papers.experiment import Experiment
from sojourn.papers.figures import figures
from sojourn.papers.paper import Paper, judge, papers
from sojourn.papers.report_page import html
from sojourn.papers.reproduce import Reproduction, reproduce, seeds_on
from sojourn.papers.search import stored as of_search
from sojourn.runs.run import count_stored, open_store
from sojourn.store.folder import Folder, claim

_LOOK = "`sojourn reproduce --stored` shows what is there"


@dataclass(frozen=True)
class Missing:
    """The number of runs that the store has for an experiment on a host, and the number wanted."""

    experiment: str
    host: str
    there: int
    wanted: int
    why: str = ""  # why the host cannot run it

    def text(self) -> str:
        """Write one line."""
        if self.why:
            return f"{self.experiment} on {self.host}: {self.why}"
        gone = self.wanted - self.there
        return f"{self.experiment} on {self.host}: {gone} of {self.wanted} runs are missing"


def missing(
    of: Iterable[Experiment],
    quick: bool,
    hosts: Sequence[str],
    asked: Sequence[str],
    seeds: Mapping[str, int],
) -> list[Missing]:
    """List the runs that the store lacks, experiment by experiment, of those `hosts` that are
    `asked`."""
    found = []
    store = open_store(None)
    for experiment in of:
        for host in asked:
            cases = experiment.cases_on(host, hosts)
            of_host = seeds_on(experiment, host, quick, seeds)
            wanted = len(cases) * len(of_host)
            try:
                there = count_stored(cases, of_host, store, host)
            except InputError as error:
                found.append(Missing(experiment.id, host, 0, wanted, str(error)))
                continue
            if there < wanted:
                found.append(Missing(experiment.id, host, there, wanted))
    return found


def run(
    folder: Path,
    *,
    quick: bool,
    hosts: Sequence[str],
    looked_up: Collection[str],
    workers: int | None,
    say: Callable[[str], None],
    seeds: Mapping[str, int] = EXPERIMENTS_SEEDS,
    done: Callable[[list[Reproduction]], None] = lambda found: None,
) -> dict[str, Any]:
    """Write the ledger, its index and a page for each paper to the folder, and return the ledger.
    Nothing is run on the hosts `looked_up`."""
    own = claim(folder)
    check_folder(folder, quick, seeds)
    asked = [host for host in hosts if host not in looked_up]
    every = papers()
    whole = [experiment for paper in every for experiment in paper.experiments]
    for one in missing(whole, quick, hosts, asked, seeds):
        say(one.text())
    data = ledger.begin(quick)
    for paper in every:
        try:
            found = [
                reproduce(
                    experiment,
                    quick=quick,
                    workers=workers,
                    hosts=hosts,
                    looked_up=looked_up,
                    seeds=seeds,
                )
                for experiment in paper.experiments
            ]
        except Interrupted as stop:
            rest = missing(_from(every, paper), quick, hosts, asked, seeds)
            left = [one.text() for one in rest]
            raise Interrupted("\n  ".join([f"{stop}. {_LOOK}; to be run:", *left])) from None
        done(found)
        write_paper(own, paper, found, data)
    own.write("index.html", ledger_page.index(data).encode())
    return data


def write_paper(own: Folder, paper: Paper, found: list[Reproduction], data: dict[str, Any]) -> None:
    """Write a paper's page, the numbers of its figures, and the ledger up to it."""
    charts = [figures(reproduction) for reproduction in found]
    several = judge(found)
    for chart in chain.from_iterable(charts):
        own.write(f"figures/{chart.file}", chart.csv().encode())
    searched = of_search.found(paper.folder)
    searches = {paper.name: searched} if searched else {}
    page = html(found, several, charts, searches=searches)
    own.write(f"{paper.name}.html", page.encode())
    data["papers"].append(ledger.of_paper(found, next(iter(several), None), charts, searched))
    own.write(ledger.FILE, as_json.spell(data).encode())
    own.write("index.html", ledger_page.index(data).encode())


def check_folder(folder: Path, quick: bool, seeds: Mapping[str, int]) -> None:
    """Raise InputError where this ledger would replace a fuller one. A fuller one has all seeds
    while this is provisional, or more seeds than are asked for. A damaged one is moved aside when
    the new one is written."""
    try:
        had = json.loads((folder / ledger.FILE).read_bytes())
        fuller = quick and not had["quick"]
        more = [host for host, count in seeds.items() if _most(had, host) > count]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return
    if fuller:
        raise InputError(
            f"{folder}: holds a ledger without --quick, which --quick would replace; name another "
            f"folder: --out {folder}-quick"
        )
    if more:
        raise InputError(
            f"{folder}: holds a ledger of more seeds on {more[0]}, which --seeds would replace; "
            f"name another folder: --out {folder}-{seeds[more[0]]}"
        )


def _most(had: Mapping[str, Any], host: str) -> int:
    """Count the seeds of the experiment that has the most. An older form has one count for all
    hosts that ran."""
    entries = [entry for paper in had["papers"] for entry in paper["experiments"]]
    ran = [entry for entry in entries if entry["hosts"][host]["core"]]
    return max((int(e["hosts"][host].get("seeds", [0, e["seeds"]])[1]) for e in ran), default=0)


def folder_name(quick: bool) -> Path:
    """Name the folder of the ledger for a command without --out."""
    return Path("sojourn-papers-quick" if quick else "sojourn-papers")


def not_there(data: dict[str, Any]) -> list[str]:
    """List the gaps of the ledger, a line for each experiment and host."""
    return [
        f"{experiment['experiment']} on {host}: {'; '.join(found)}"
        for paper in data["papers"]
        for experiment in paper["experiments"]
        for host in HOSTS
        for found in [_lacks(experiment, host)]
        if found
    ]


def _lacks(experiment: dict[str, Any], host: str) -> list[str]:
    cells, of_host = experiment["cells"], experiment["hosts"][host]
    gone = sum(cell[host] == "not run" for cell in cells)
    said = [f"{gone} of {len(cells)} cells not run"] if gone else []
    least, most = of_host["seeds"]
    if 0 < least < experiment["seeds"]:
        said.append(f"{seeds_text(least, most)} of {experiment['seeds']}")
    return [*said, *([of_host["why"]] if gone and of_host["why"] else [])]


def _from(every: Sequence[Paper], paper: Paper) -> list[Experiment]:
    later = every[list(every).index(paper) :]
    return [experiment for one in later for experiment in one.experiments]
