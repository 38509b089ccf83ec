# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's answer for a person: three sentences and one picture, before all tables.

paper.toml has them:

answer = ["…", "…", "…"]      what is claimed, and what is found
picture = "EXPERIMENT/FIGURE" a figure of an experiment, as its file has it: "up/peak-rtt"

No measured number is typed there. A place in braces is filled from the simulator's cells or
verdicts:

{PAPER/EXPERIMENT: CELL: ALGORITHM: METRIC}    the mean, with its unit
{claims}, {claims: VERDICT}                    the count of all claims, or of those of a verdict
{CLAIM: VERDICT}                               nothing; where the verdict is another, that one

A finding in words has a place of the third kind behind it. It shows a verdict that has changed, and
no change of cells under the same verdict. A sentence that lacks a number or a verdict gives way to
one that names the experiments or claims it needs. A count says how many claims did not run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import HOSTS
from sojourn.core.text import rounded
from sojourn.papers import figures
from sojourn.papers.claim import NOT_RUN, VERDICTS
from sojourn.papers.experiment import PaperFiles
from sojourn.papers.paper import Paper
from sojourn.result.metrics import METRICS
from sojourn.scenario.toml import line_of, read_text
from sojourn.show.chart import Chart, file_name

SENTENCES = 3
CLAIMS = "claims"  # the word of a place that is a count
_PLACE = re.compile(r"\{([^{}]*)\}")
# The value of a cell: experiment, cell, algorithm, metric. None where it did not run.
Look = Callable[[str, str, str, str], float | None]


def sentences(paper: PaperFiles, look: Look, verdicts: Mapping[str, str]) -> list[str]:
    """Write the sentences, with numbers of these cells and the verdicts of these claims."""
    cells = _cells(paper)
    return [_filled(text, cells, look, verdicts) for text in paper.shared.get("answer", ())]


def _cells(paper: PaperFiles) -> dict[str, tuple[str, str, str, str]]:
    """List the cells that a place may name, by its text. A name may have a colon itself."""
    cells = [(e.id, *cell) for e in paper.experiments for cell in e.table_cells()]
    return {": ".join(cell): cell for cell in cells}


def _filled(
    text: str,
    cells: Mapping[str, tuple[str, str, str, str]],
    look: Look,
    verdicts: Mapping[str, str],
) -> str:
    counts = Counter(verdicts.values())
    lacking: dict[str, None] = {}  # experiments and claims that did not run, as the text has them

    def fill(place: re.Match[str]) -> str:
        if place[1] == CLAIMS:
            return str(len(verdicts))
        if place[1] not in cells:
            claim, _, said = place[1].rpartition(": ")
            if claim == CLAIMS:
                return str(counts[said])
            verdict = verdicts.get(claim, NOT_RUN)
            if verdict == NOT_RUN:
                lacking[f"claim {claim}"] = None
            return "" if verdict == said else f" (here: {verdict})"
        experiment, cell, algorithm, metric = cells[place[1]]
        value = look(experiment, cell, algorithm, metric)
        if value is None:
            lacking[experiment] = None
            return ""
        # Three digits are as many as a reader keeps. No line ends between a number and its unit.
        return f"{rounded(value, 3):,.10g}\N{NO-BREAK SPACE}{METRICS[metric].unit}".rstrip()

    filled = _PLACE.sub(fill, text)
    if lacking:
        needed = " and ".join(lacking)
        return f"A finding is missing here: it needs runs of {needed} in the simulator."
    gone = counts[NOT_RUN]
    if gone and f"{{{CLAIMS}" in text:
        return f"{filled.rstrip('.')} ({gone} claims {NOT_RUN})."
    return filled


def picture(paper: PaperFiles, charts: Mapping[str, Sequence[Chart]]) -> Chart | None:
    """Find the picture among the charts, which are given by experiment. The simulator's comes
    first. None where it has none, or its experiment did not run."""
    experiment, _, figure = str(paper.shared.get("picture", "")).partition("/")
    by_name = {chart.name: chart for chart in charts.get(experiment, ())}
    names = (file_name(paper.name, experiment, figure, host) for host in HOSTS)
    return next((by_name[name] for name in names if name in by_name), None)


def check(paper: PaperFiles) -> None:
    """Raise InputError where the answer is no three sentences, or names what is not there."""
    path = paper.folder / "paper.toml"
    texts = paper.shared.get("answer", ())
    if texts and len(texts) != SENTENCES:
        raise InputError(f"{path}: answer: it has {len(texts)} sentences; {SENTENCES} are allowed")
    claims = [claim for experiment in paper.experiments for claim in experiment.claims()[0]]
    claims += Paper(paper.name, paper.experiments).claims()
    ids = [CLAIMS, *(claim.id for claim in claims)]
    for id_ in ids:
        if ids.count(id_) > 1:
            raise InputError(f"{path}: claim {id_}: give each claim of the paper an id of its own")
    known = {
        CLAIMS,
        *(f"{id_}: {verdict}" for id_ in ids for verdict in VERDICTS),
        *_cells(paper),
    }
    for text in texts:
        for place in _PLACE.findall(text):
            if place not in known:
                near = nearest(place, known)
                raise InputError(f"{path}: answer: there is no {{{place}}}.{near}")
    _check_picture(paper)


def _check_picture(paper: PaperFiles) -> None:
    name = str(paper.shared.get("picture", ""))
    if not name:
        return
    path = paper.folder / "paper.toml"
    place = f"{path}:{line_of(read_text(path), ('picture',))}: picture"
    by_name = {experiment.name: experiment for experiment in paper.experiments}
    experiment, _, figure = name.partition("/")
    if experiment not in by_name:
        near = nearest(experiment, by_name)
        raise InputError(f"{place}: there is no experiment '{experiment}'.{near}")
    known = figures.names(by_name[experiment])
    if file_name(figure) not in known:
        near = nearest(figure, known)
        raise InputError(f"{place}: experiment '{experiment}' has no figure '{figure}'.{near}")
