# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Reproduces every experiment of every paper, one after the other, and writes the ledger.

Runs in the store are taken from there, and the rest is run. Pages and ledger are written paper by
paper. So an interrupted command has lost nothing, and the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, TypedDict

from sojourn.core.errors import InputError, Interrupted
from sojourn.core.hosts import EXPERIMENTS_SEEDS, HOSTS, seeds_text
from sojourn.core.text import json_text, rounded
from sojourn.papers import ledger
from sojourn.papers.claim import NOT_RUN
from sojourn.papers.experiment import Experiment
from sojourn.papers.page import picture_of, write_page
from sojourn.papers.paper import Paper, judge_papers, papers
from sojourn.papers.reproduce import Reproduction, make_runs, reading, reproduce, seeds_on
from sojourn.papers.search import stored_search
from sojourn.runs.run import count_stored, open_store, seconds_stored
from sojourn.store.folder import Folder, claim
from sojourn.store.store import read_json

_LOOK = "`sojourn reproduce --stored` shows what is there"


@dataclass(frozen=True)
class Missing:
    """The number of runs that the store has for an experiment on a host, and the number wanted."""

    experiment: str
    host: str
    there: int
    wanted: int
    why: str = ""  # why the host cannot run it
    cpu_s: float | None = None  # of one run, as the store has it
    simulated_s: float | None = None  # of the same run in the simulator
    others_ratio: float | None = None  # of other experiments; it gave cpu_s

    @property
    def ratio(self) -> float | None:
        """Divide a run's processor time by that of the simulator; None where one has no run."""
        return self.cpu_s / self.simulated_s if self.cpu_s and self.simulated_s else None

    def timed_by(self, ratio: float) -> Missing:
        """Estimate the time of a run that the store has in the simulator alone, by the ratio of
        other experiments."""
        if self.cpu_s or not self.simulated_s:
            return self
        return replace(self, cpu_s=ratio * self.simulated_s, others_ratio=ratio)

    def text(self) -> str:
        """Write one line."""
        return f"{self.experiment} on {self.host}: {self.words()}"

    def words(self) -> str:
        """Write why the runs are missing, or how many are and the time that they take."""
        if self.why:
            return self.why
        gone = self.wanted - self.there
        text = f"{gone} of {self.wanted} runs are missing"
        if self.cpu_s is None:
            return text
        hours = gone * self.cpu_s / 3600
        text += f", about {rounded(hours, 2):g} hours of processor time"
        if self.others_ratio is None:
            return text
        times = f"{rounded(self.others_ratio, 2):g} times the simulator's"
        return f"{text} at {times}, as other experiments take"


def missing(
    experiments: Iterable[Experiment],
    quick: bool,
    hosts: Sequence[str],
    wanted_hosts: Sequence[str],
    seeds: Mapping[str, int],
    ratios: dict[tuple[str, str], float] | None = None,
) -> list[Missing]:
    """List the runs that the store lacks, experiment by experiment, on the `wanted_hosts` among
    `hosts`. `ratios` has a host's processor time divided by the simulator's, by experiment and
    host, and gets each one that is found. For an experiment that has not run on a host, the median
    of that host's ratios gives the time."""
    gaps = []
    ratios = {} if ratios is None else ratios
    store = open_store(None)
    for experiment in experiments:
        for host in wanted_hosts:
            cases = experiment.cases_on(host, hosts, quick)
            numbers = seeds_on(experiment, host, quick, seeds)
            wanted = len(cases) * len(numbers)
            try:
                there, why = count_stored(cases, numbers, store, host), ""
            except InputError as error:
                there, why = 0, str(error)
            cpu_s = simulated_s = None
            if not why and (there < wanted or host != "sim"):
                cpu_s = seconds_stored(cases, numbers, store, host) if there else None
            if not why and host != "sim":
                # The simulator may have more ablations than the host; they are left out. Where an
                # experiment has begun to run on the host, only the cases with a run there count.
                ran = [
                    case.labels
                    for case in cases
                    if there and count_stored([case], numbers, store, host)
                ]
                same = experiment.cases_on("sim", (host, "sim"), quick)
                same = [case for case in same if case.labels in ran or not ran]
                of_sim = seeds_on(experiment, "sim", quick, seeds)
                simulated_s = seconds_stored(same, of_sim, store, "sim")
            gap = Missing(experiment.id, host, there, wanted, why, cpu_s, simulated_s)
            if gap.ratio:
                ratios[experiment.id, host] = gap.ratio
            if why or there < wanted:
                gaps.append(gap)
    known = {host: [r for (_, of), r in ratios.items() if of == host] for host in wanted_hosts}
    return [gap.timed_by(median(known[gap.host])) if known[gap.host] else gap for gap in gaps]


class _Asked(TypedDict):
    """What a ledger asks of each paper's runs."""

    quick: bool
    workers: int | None
    hosts: Sequence[str]
    looked_up: Collection[str]
    seeds: Mapping[str, int]
    client: Any


def run(
    folder: Path,
    *,
    quick: bool,
    hosts: Sequence[str],
    looked_up: Collection[str],
    workers: int | None,
    say: Callable[[str], None],
    seeds: Mapping[str, int] = EXPERIMENTS_SEEDS,
    done: Callable[[list[Reproduction]], None] = lambda reproductions: None,
    client: Any = None,
) -> dict[str, Any]:
    """Write the ledger, its index and a page for each paper to the folder, and return the ledger.
    Nothing is run on the hosts `looked_up`; `client` runs the rest, if given."""
    check_folder(folder, quick, seeds)
    own = claim(folder)
    wanted = [host for host in hosts if host not in looked_up]
    rest = papers()
    ratios: dict[tuple[str, str], float] = {}

    def gaps() -> list[str]:
        left = [experiment for paper in rest for experiment in paper.experiments]
        return [gap.text() for gap in missing(left, quick, hosts, wanted, seeds, ratios)]

    for line in gaps():
        say(line)
    data = ledger.begin(quick)
    asked = _Asked(
        quick=quick, workers=workers, hosts=hosts, looked_up=looked_up, seeds=seeds, client=client
    )
    every = [experiment.id for paper in rest for experiment in paper.experiments]
    with reading(len(every), is_shown=not wanted) as tell_of:
        while rest:
            paper = rest[0]
            try:
                refused = make_runs(paper.experiments, f"reproducing {paper.name}", **asked)
                reproductions = [
                    reproduce(
                        experiment,
                        **_asked_of(experiment, asked, refused),
                        tell=tell_of(every.index(experiment.id)),
                    )
                    for experiment in paper.experiments
                ]
            except Interrupted as stop:
                text = "\n  ".join([f"{stop}. {_LOOK}; to be run:", *gaps()])
                raise Interrupted(text) from None
            done(reproductions)
            gone = missing(paper.experiments, quick, hosts, hosts, seeds, ratios)
            write_paper(own, paper, reproductions, data, gone)
            del rest[0]
    return data


def _asked_of(
    experiment: Experiment, asked: _Asked, refused: Collection[tuple[str, str]]
) -> _Asked:
    """Look up the runs of a host that cannot run the experiment: there are none, and its page has
    the reason."""
    cannot = [host for host in asked["hosts"] if (experiment.id, host) in refused]
    own = asked.copy()
    own["looked_up"] = [*asked["looked_up"], *cannot]
    return own


def write_paper(
    own: Folder,
    paper: Paper,
    reproductions: list[Reproduction],
    data: dict[str, Any],
    gaps: Iterable[Missing],
) -> None:
    """Write a paper's page, the picture of its answer, the numbers of its figures, and the ledger
    up to it."""
    from sojourn.show.drawing import draw, svg_file

    several = judge_papers(reproductions)
    search = stored_search(paper.home)
    name = f"{paper.name}.html"
    charts = write_page(own, name, reproductions, several, {paper.name: search})
    if picture := picture_of(reproductions, charts):
        own.write(f"{paper.name}.svg", svg_file(draw(picture), picture.words))
    words = {(gap.experiment, gap.host): gap.words() for gap in gaps}
    part = ledger.paper_part(reproductions, next(iter(several), None), charts, search, words)
    data["papers"].append(part)
    own.write(ledger.FILE, json_text(data).encode())
    own.write("index.html", ledger.index(data).encode())


def check_folder(folder: Path, quick: bool, seeds: Mapping[str, int]) -> None:
    """Raise InputError where this ledger would replace a fuller one. A fuller one was made without
    --quick while this is made with it, or has more seeds than are asked for. A damaged one is moved
    aside when the new one is written."""
    try:
        earlier = read_json(folder / ledger.FILE)
        fuller = quick and not earlier["quick"]
        more = [host for host, count in seeds.items() if _most(earlier, host) > count]
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


def _most(data: Mapping[str, Any], host: str) -> int:
    """Count the seeds of the experiment that has the most. An older form has one count for all
    hosts that ran."""
    entries = [entry for paper in data["papers"] for entry in paper["experiments"]]
    ran = [entry for entry in entries if entry["hosts"][host]["core"]]
    return max((int(e["hosts"][host].get("seeds", [0, e["seeds"]])[1]) for e in ran), default=0)


def folder_name(quick: bool) -> Path:
    """Name the folder of the ledger for a command without --out."""
    return Path("sojourn-papers-quick" if quick else "sojourn-papers")


def not_there(data: dict[str, Any]) -> list[str]:
    """List the gaps of the ledger, a line for each experiment and host."""
    return [
        f"{experiment['experiment']} on {host}: {'; '.join(gaps)}"
        for paper in data["papers"]
        for experiment in paper["experiments"]
        for host in HOSTS
        for gaps in [_gaps(experiment, host)]
        if gaps
    ]


def _gaps(experiment: dict[str, Any], host: str) -> list[str]:
    cells, ran = experiment["cells"], experiment["hosts"][host]
    gone = sum(cell[host] == NOT_RUN for cell in cells)
    gaps = [f"{gone} of {len(cells)} cells not run"] if gone else []
    least, most = ran["seeds"]
    if 0 < least < experiment["seeds"]:
        gaps.append(f"{seeds_text(least, most)} of {experiment['seeds']}")
    return [*gaps, *([ran["why"]] if ran["why"] else [])]
