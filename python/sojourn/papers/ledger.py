# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The ledger: of every paper its experiments, claims by verdict and tables' cells on each host. It
has the command that repeats each, its seeds, the version that made it and the processor it ran on.

It is data (ledger.json), from which the index and docs/evidence/ledger.md are made. Below are the
forms on which readers of the data rely. A key that was added later has a default, because older
ledgers lack it. Keys that no reader knows are allowed.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from sojourn.core.errors import InputError
from sojourn.core.hosts import HOST_NAMES, HOSTS, machine, seeds_text
from sojourn.papers import answer
from sojourn.papers.claim import NOT_FOUND, NOT_RUN, UNEXPLAINED, VERDICTS, Claim
from sojourn.papers.claims import SEEDS, Judged
from sojourn.papers.experiment import Experiment, PaperFiles, experiments, find_one
from sojourn.papers.page import Line, answer_of, cores, lines, missed, tally
from sojourn.papers.paper import JudgedPaper, papers_of
from sojourn.papers.reasons import Measured, can_miss, counted, counts, standing
from sojourn.papers.reproduce import Reproduction, command_of
from sojourn.result.stats import Estimate
from sojourn.show.chart import Chart
from sojourn.show.page import render
from sojourn.store.store import read_json

Count = Annotated[StrictInt, Field(ge=0)]
Verdict = Annotated[StrictStr, Field(pattern="^(" + "|".join(VERDICTS) + ")$")]
Number = StrictInt | StrictFloat
# The mean and its interval; without a number where it is not finite.
Interval = tuple[Number | None, Number | None, Number | None]
Seeds = tuple[Count, Count]  # of the cell with the fewest, and of the one with the most
_NONE: dict[str, dict[str, int]] = {host: {} for host in HOSTS}


class _Form(BaseModel):
    """A part of the file; keys that no reader knows stay in it."""

    model_config = ConfigDict(extra="allow")


class _ByHost(_Form):
    """Values of every host."""

    @model_validator(mode="before")
    @classmethod
    def _every(cls, value: object) -> object:
        for name in ("verdicts", "measured", "seeds", "hosts", "causes"):
            by_host = value.get(name) if isinstance(value, dict) else None
            if isinstance(by_host, dict) and not by_host.keys() >= set(HOSTS):
                raise ValueError(f"{name} lacks a host")
        return value


class ClaimForm(_ByHost):
    """A claim's verdicts."""

    id: StrictStr
    text: StrictStr
    quote: StrictBool = False
    source: StrictStr
    cause: StrictStr = UNEXPLAINED
    why: StrictStr = ""
    contradicts: StrictStr = ""
    definition: StrictStr = ""  # none in an older ledger
    verdicts: dict[str, Verdict]
    measured: dict[str, StrictStr]
    seeds: dict[str, Count] = dict.fromkeys(HOSTS, 0)


class CellForm(_Form):
    """A cell of a table, with its estimate on each host that ran it."""

    cell: StrictStr
    algorithm: StrictStr
    metric: StrictStr
    published: Number | None = None
    sim: Interval | Literal["not run"]
    linux: Interval | Literal["not run"]


class FigureForm(_Form):
    """A figure's file of numbers, its cell, and the host that it shows."""

    file: StrictStr
    cell: StrictStr
    host: StrictStr


class HostForm(_Form):
    """An experiment on one host; `why` has words only where a cell did not run."""

    core: StrictStr | None
    seeds: Seeds | None = None  # an older ledger has one count for all hosts
    cells: dict[str, Count]
    can_miss: dict[str, Count] = {}  # of those that can miss
    verdicts: dict[str, Count]
    why: StrictStr


class ExperimentForm(_ByHost):
    """An experiment's part."""

    experiment: StrictStr
    title: StrictStr
    definition: StrictStr
    command: StrictStr
    seeds: Count
    hosts: dict[str, HostForm]
    claims: list[ClaimForm]
    cells: list[CellForm]
    figures: list[FigureForm]

    @model_validator(mode="after")
    def _filled(self) -> Self:
        """Give a host of an older ledger its counts."""
        for host in self.hosts.values():
            host.can_miss = host.can_miss or dict(host.cells)
            if host.seeds is None:
                host.seeds = (self.seeds, self.seeds) if host.core else (0, 0)
        return self

    def least(self, host: str) -> int:
        """Return the seeds of the cell with the fewest."""
        seeds = self.hosts[host].seeds
        return seeds[0] if seeds else 0


class RowForm(_Form):
    """A set-up of a search, and the count of printed numbers that it meets in each half."""

    which: StrictStr
    label: StrictStr
    searched: Count
    other: Count


class SearchForm(_Form):
    """The result of a search."""

    definition: StrictStr
    counts: StrictStr
    cells: dict[Literal["searched", "other"], Count]
    judged: list[RowForm]


class PaperForm(_ByHost):
    """A paper's part."""

    paper: StrictStr
    title: StrictStr
    source: StrictStr
    page: StrictStr
    verdicts: dict[str, dict[str, Count]]
    causes: dict[str, dict[str, Count]] = _NONE  # of the claims that are not found here
    answer: list[StrictStr] = []
    claims: list[ClaimForm]
    search: SearchForm | None = None
    experiments: list[ExperimentForm]


class MachineForm(_Form):
    """The machine that made it."""

    processor: StrictStr
    cores: Count
    system: StrictStr


class LedgerForm(_Form):
    """The whole file."""

    format: StrictInt
    quick: StrictBool
    machine: MachineForm
    papers: list[PaperForm]


FORMAT = 1
FILE = "ledger.json"
AND = " and "  # between the engines that the cells of a joined experiment come from


def begin(quick: bool) -> dict[str, Any]:
    """Make a ledger without a paper yet."""
    computer = machine()
    named = {key: computer[key] for key in ("processor", "cores", "system")}
    return {"format": FORMAT, "quick": quick, "machine": named, "papers": []}


def paper_part(
    reproductions: Sequence[Reproduction],
    judged_paper: JudgedPaper | None,
    charts: Sequence[Sequence[Chart]],
    search: Mapping[str, Any] | None = None,
    gaps: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Make a paper's part. `search` is the result of a search of its open points; `gaps` has what
    is missing, in words, by experiment and host."""
    first = reproductions[0].experiment
    paper = first.paper
    several = lines(judged_paper.judged) if judged_paper else []
    experiments = [_experiment(*both, gaps) for both in zip(reproductions, charts, strict=True)]
    every = [*several, *(line for r in reproductions for line in lines(r.judged))]
    return {
        "paper": paper,
        "title": first.home.title,
        "source": first.data["source"],
        "page": f"{paper}.html",
        "verdicts": tally(every),
        "causes": missed(every),
        "answer": answer_of(reproductions, every),
        "claims": [_claim(line) for line in several],
        "search": _search(search, first.home) if search else None,
        "experiments": experiments,
    }


def _search(data: Mapping[str, Any], paper: PaperFiles) -> dict[str, Any]:
    keys = ("which", "label", "searched", "other")
    return {
        "definition": open_points(paper),
        "counts": data["counts"],
        "cells": data["cells"],
        "judged": [{key: row[key] for key in keys} for row in data["judged"]],
    }


def open_points(paper: PaperFiles) -> str:
    """Return a digest of the paper's search.toml, without its comments."""
    return _digest([tomllib.loads(paper.search_path.read_text(encoding="utf-8"))])


def _experiment(
    reproduction: Reproduction, charts: Sequence[Chart], gaps: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    experiment = reproduction.experiment
    claims = lines(reproduction.judged)
    verdicts, made = tally(claims), cores(reproduction)
    in_print = {host: counted(reproduction, host) for host in HOSTS}
    cells = _cells(reproduction)
    has_gaps = {host: any(cell[host] == NOT_RUN for cell in cells) for host in HOSTS}
    return {
        "experiment": experiment.id,
        "title": experiment.title,
        "definition": definition(experiment),
        "command": reproduction.result.meta["command"],
        "seeds": len(reproduction.seeds),
        "hosts": {
            host: {
                "core": made.get(host),
                "seeds": list(reproduction.seeds_of(host)),
                "cells": counts(in_print[host]),
                "can_miss": counts([cell for cell in in_print[host] if cell.can_miss]),
                "verdicts": verdicts[host],
                "why": gaps.get((experiment.id, host), "") if has_gaps[host] else "",
            }
            for host in HOSTS
        },
        "claims": [_claim(line) for line in claims],
        "cells": cells,
        "figures": [
            {"file": chart.file, "cell": chart.cell, "host": chart.host} for chart in charts
        ],
    }


def _claim(line: Line) -> dict[str, Any]:
    claim = line.claim
    return {
        **claim.to_json(),
        "definition": claim_definition(claim),
        "verdicts": {host: judged.verdict for host, judged in line.by_host.items()},
        "measured": {host: _short(judged) for host, judged in line.by_host.items()},
        "seeds": {
            host: judged.decision.seeds if judged.decision else 0
            for host, judged in line.by_host.items()
        },
    }


def _short(judged: Judged) -> str:
    """Write the rule's verdict where the verdict is another, the counts, the cells that are not so,
    and what print has to do with it; or the measurement of a single cell."""
    if not judged.decision:
        return f"needs {', '.join(judged.missing)} too" if judged.missing else ""
    decision = judged.decision
    measured = [text for text in (decision.tally(), decision.against()) if text]
    one = [check.text() for check in decision.checks[:1]]
    words = "; ".join([*(measured or one), *decision.remarks()])
    return f"{decision.beside}. {words}" if decision.beside else words


def _cells(reproduction: Reproduction) -> list[dict[str, Any]]:
    """List each cell of the tables, with "not run" for a host where it did not run."""
    return [
        {
            "cell": signal,
            "algorithm": algorithm,
            "metric": metric,
            "published": by_host["sim"].published,
            **{host: _measured(cell) for host, cell in by_host.items()},
        }
        for signal, algorithm, metric in reproduction.experiment.table_cells()
        for by_host in [
            {host: reproduction.cell(host, signal, algorithm, metric) for host in HOSTS}
        ]
    ]


def _measured(cell: Measured) -> Any:
    return [cell.estimate.mean, *cell.interval] if cell.ran else NOT_RUN


def definition(experiment: Experiment) -> str:
    """Return a digest of an experiment's files, without their comments. Measurements under another
    digest do not count for this one."""
    own = (experiment.folder / name for name in ("published.toml", "claims.toml"))
    parts = [tomllib.loads(p.read_text(encoding="utf-8")) for p in (experiment.scenario_path, *own)]
    return _digest([dict(experiment.data), *parts])


def claim_definition(claim: Claim) -> str:
    """Return a digest of all that decides a claim, which its words do not. A verdict under another
    digest does not count for this one."""
    words = ("text", "source", "quote", "cause", "why")
    return _digest([{key: held for key, held in asdict(claim).items() if key not in words}])


def _digest(parts: Sequence[Any]) -> str:
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(path: Path) -> dict[str, Any]:
    """Read a ledger.json; InputError names the mistake and the remedy."""
    remedy = "`sojourn reproduce` writes it anew from the store, which has the runs"
    try:
        data = read_json(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {remedy}") from error
    except ValueError as error:
        raise InputError(f"{path}: is damaged ({error}); {remedy}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path}: is no ledger of format {FORMAT}; {remedy}")
    data = {key: _renamed(value) for key, value in data.items()}
    try:
        return LedgerForm.model_validate(data).model_dump(mode="json")
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: is damaged ({place}: {first['msg']}); {remedy}") from error


def joined(older: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Make one ledger of two. Of each experiment and host it has the one with more seeds, or the
    newer, and what did not run there from the other. Of each claim it has the verdict with more
    seeds. An older experiment whose files have changed counts for nothing. One that is no more is
    left out. InputError where one ledger alone is of --quick, whose runs are shorter."""
    first, second = (_of_today(LedgerForm.model_validate(one)) for one in (older, newer))
    if first.quick != second.quick:
        raise InputError("one of the two ledgers is of --quick, and runs of --quick are shorter")
    of_older, of_newer = ({paper.paper: paper for paper in one.papers} for one in (first, second))
    both = of_older | of_newer
    papers = [
        _joined_paper(of_older[name], of_newer[name], second.quick)
        if name in of_older and name in of_newer
        else both[name]
        for name in both
    ]
    processors = [first.machine.processor, second.machine.processor]
    if processors[1] not in processors[0]:
        processors = [" and ".join(processors)]
    machine = second.machine.model_copy(update={"processor": processors[0]})
    whole = second.model_copy(update={"machine": machine, "papers": papers})
    return whole.model_dump(mode="json")


def _of_today(ledger: LedgerForm) -> LedgerForm:
    """Leave out experiments, and papers, that are no more."""
    known = {experiment.id for experiment in experiments()}
    papers = [
        paper.model_copy(update={"experiments": there})
        for paper in ledger.papers
        for there in [[entry for entry in paper.experiments if entry.experiment in known]]
        if there
    ]
    return ledger.model_copy(update={"papers": papers})


def _joined_paper(older: PaperForm, newer: PaperForm, quick: bool) -> PaperForm:
    (paper,) = papers_of([find_one(entry.experiment) for entry in newer.experiments])
    of_older = {entry.experiment: entry for entry in older.experiments}
    entries, changed = [], set()
    for entry in newer.experiments:
        earlier = of_older.get(entry.experiment)
        if earlier and earlier.definition == entry.definition:
            entries.append(_joined_experiment(earlier, entry, quick))
        else:
            entries.append(entry)
            changed.add(entry.experiment)
    needed = {claim.id: paper.needed(claim) for claim in paper.claims()}
    own = {claim.id: claim.definition for claim in newer.claims}
    # Claims on several experiments of which neither these nor itself changed.
    kept = [
        claim
        for claim in older.claims
        if own.get(claim.id) == claim.definition
        and not changed.intersection(needed.get(claim.id, ()))
    ]
    claims = _joined_claims(kept, newer.claims)
    every = [*claims, *(claim for entry in entries for claim in entry.claims)]
    by_id = {claim.id: claim.verdicts["sim"] for claim in every}
    means = look([entry.model_dump() for entry in entries])
    said = {host: Counter(claim.verdicts[host] for claim in every) for host in HOSTS}
    verdicts = {host: {word: said[host][word] for word in VERDICTS} for host in HOSTS}
    causes = {
        host: dict(Counter(claim.cause for claim in every if claim.verdicts[host] == NOT_FOUND))
        for host in HOSTS
    }
    return newer.model_copy(
        update={
            "experiments": entries,
            "claims": claims,
            "verdicts": verdicts,
            "causes": causes,
            "answer": answer.sentences(paper.home, means, by_id),
            "search": newer.search or older.search,
        }
    )


def look(experiments: Iterable[Mapping[str, Any]]) -> answer.Look:
    """Return a function that finds the simulator's mean of a cell in these parts of a ledger."""
    means = {
        (part["experiment"], cell["cell"], cell["algorithm"], cell["metric"]): cell["sim"][0]
        for part in experiments
        for cell in part["cells"]
        if cell["sim"] != NOT_RUN
    }
    return lambda *cell: means.get(cell)


def _joined_experiment(older: ExperimentForm, newer: ExperimentForm, quick: bool) -> ExperimentForm:
    richer = {host: older if older.least(host) > newer.least(host) else newer for host in HOSTS}
    experiment = find_one(newer.experiment)
    derived = experiment.data.get("derived", ())
    hosts = {host: one.hosts[host].model_copy(deep=True) for host, one in richer.items()}
    cells = [cell.model_copy() for cell in newer.cells]
    for host, part in hosts.items():
        first, second = (older, newer) if richer[host] is older else (newer, older)
        cores, is_filled = dict.fromkeys((part.core or "").split(AND)), False
        for cell, held, other in zip(cells, first.cells, second.cells, strict=True):
            measured = getattr(held, host)
            if measured == NOT_RUN and getattr(other, host) != NOT_RUN:
                measured, is_filled = getattr(other, host), True
                cores |= dict.fromkeys((second.hosts[host].core or "").split(AND))
                if cell.published is not None and cell.metric not in derived:
                    _recount(part, cell.metric, cell.published, measured)
            setattr(cell, host, measured)
        part.core = AND.join(filter(None, cores)) or None
        if is_filled:
            ends = [n for one in (first, second) for n in one.hosts[host].seeds or () if n]
            part.seeds = (min(ends), max(ends))
        if all(getattr(cell, host) != NOT_RUN for cell in cells):
            part.why = ""
    claims = _joined_claims(older.claims, newer.claims)
    for host, part in hosts.items():
        said = Counter(claim.verdicts[host] for claim in claims)
        part.verdicts = {word: said[word] for word in VERDICTS}
    seeds = {host: part.seeds for host, part in hosts.items() if part.core and part.seeds}
    return newer.model_copy(
        update={
            "command": command_of(experiment, quick, list(seeds), seeds),
            "seeds": max((most for _, most in seeds.values()), default=newer.seeds),
            "hosts": hosts,
            "claims": claims,
            "cells": cells,
            "figures": [f for host, one in richer.items() for f in one.figures if f.host == host],
        }
    )


def _recount(part: HostForm, metric: str, published: float, measured: Interval) -> None:
    """Count a printed cell that comes from another ledger."""
    mean, low, high = (math.nan if number is None else number for number in measured)
    half = math.inf if math.isnan(low + high) else max(mean - low, high - mean)
    word = standing(metric, published, Estimate(mean, half))
    counted_cells = [part.cells]
    if can_miss(metric, published):
        counted_cells.append(part.can_miss)
    for cells in counted_cells:
        cells["not run"] -= 1
        cells[word] += 1


def _joined_claims(older: Sequence[ClaimForm], newer: Sequence[ClaimForm]) -> list[ClaimForm]:
    """Take of each claim and host the verdict that rests on more seeds, or the newer."""
    by_id = {claim.id: claim for claim in older}
    return [
        claim.model_copy(
            update={
                name: {
                    host: getattr(
                        earlier if earlier.seeds.get(host, 0) > claim.seeds.get(host, 0) else claim,
                        name,
                    )[host]
                    for host in HOSTS
                }
                for name in ("verdicts", "measured", "seeds")
            }
        )
        for claim in newer
        for earlier in [by_id.get(claim.id, claim)]
    ]


# Words of older ledgers.
_RENAMED = {"fails": NOT_FOUND}


def _renamed(value: Any) -> Any:
    """Replace the words of verdicts that older ledgers have."""
    if isinstance(value, dict):
        return {_RENAMED.get(key, key): _renamed(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_renamed(held) for held in value]
    return _RENAMED.get(value, value) if isinstance(value, str) else value


def index(ledger: Mapping[str, Any]) -> str:
    """Render one self-contained page, which links to the pages beside it."""
    papers = [{**paper, "by_verdict": by_verdict(claims_of(paper))} for paper in ledger["papers"]]
    return render(
        "ledger.html",
        ledger=ledger,
        papers=papers,
        total=total(ledger),
        causes={host: _summed([paper["causes"][host] for paper in papers]) for host in HOSTS},
        not_found=NOT_FOUND,
        hosts=HOST_NAMES,
        verdicts=VERDICTS,
        enough=SEEDS,
        seeds=seeds_text,
    )


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    words = dict.fromkeys(word for one in counts for word in one)
    return {word: sum(one.get(word, 0) for one in counts) for word in words}


def claims_of(paper: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the claims on several experiments, then those of each experiment."""
    return [
        *paper["claims"],
        *(claim for experiment in paper["experiments"] for claim in experiment["claims"]),
    ]


def by_verdict(claims: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Group claims by the simulator's verdict, in the order of verdicts."""
    groups: dict[str, list[Mapping[str, Any]]] = {verdict: [] for verdict in VERDICTS}
    for claim in claims:
        groups[claim["verdicts"]["sim"]].append(claim)
    return {verdict: group for verdict, group in groups.items() if group}


def total(ledger: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Sum the verdicts of all papers, by host."""
    return {
        host: {
            verdict: sum(paper["verdicts"][host].get(verdict, 0) for paper in ledger["papers"])
            for verdict in VERDICTS
        }
        for host in HOSTS
    }
