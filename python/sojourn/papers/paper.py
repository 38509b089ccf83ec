# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper: its experiments, and its claims on several of them.

Such claims stand in papers/PAPER/claims.toml, in the form of an experiment's own. A cell is named
by its experiment and its values, '1: drop', and the experiment is one more axis: `where = {
experiment = ["1", "2"] }`. They are judged once, over the cells of all the experiments that they
name, and only where each of those was run.

papers/PAPER/figures.toml lists every numbered figure and table:

[[figures]]
number = "Figure 5(a)"       as printed
caption = "…"                its content, in our own words
experiments = ["1"]          those that answer it
cell = "drop"                and their cell: a signal, or one with the values of further axes
command = "…"                or a command that draws it
not = "…"                    or the reason why none answers it
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn.core.errors import InputError, nearest
from sojourn.papers import claims_file
from sojourn.papers.claim import Cell, Claim
from sojourn.papers.claims import Judged
from sojourn.papers.experiment import Experiment, PaperFiles, experiments
from sojourn.papers.forms import ClaimsTable, ExperimentTable, PublishedTable, SearchTable
from sojourn.papers.points import claims_of
from sojourn.papers.reasons import Measured
from sojourn.papers.reproduce import SEPARATOR, Reproduction, judge
from sojourn.scenario.known import SCHEMA, without_licence
from sojourn.scenario.reference import published, schema_text
from sojourn.user_aqm.library import new_folder


@dataclass(frozen=True)
class Paper:
    """A paper's experiments, and its claims on several of them."""

    name: str
    experiments: tuple[Experiment, ...]

    @property
    def home(self) -> PaperFiles:
        """Return the files of the paper."""
        return self.experiments[0].home

    @cached_property
    def _read(self) -> tuple[list[Claim], set[Cell]]:
        cells = {
            _label(experiment, cell.label): {"experiment": experiment.name, **cell.texts}
            for experiment in self.experiments
            for cell in experiment.cells()
        }
        stand_ins = {name for experiment in self.experiments for name in experiment.stand_ins}
        path = self.home.folder / "claims.toml"
        return claims_file.load(path, cells, self.published, stand_ins)

    @cached_property
    def published(self) -> dict[Cell, float]:
        """Read the numbers in print of all its experiments."""
        return {
            (_label(experiment, signal), algorithm, metric): number
            for experiment in self.experiments
            for (signal, algorithm, metric), number in experiment.published.items()
        }

    def claims(self) -> list[Claim]:
        """List the claims on several experiments."""
        return self._read[0]

    def calibrated(self) -> set[Cell]:
        """List the cells that settled a setting, as its own file and those of its experiments name
        them."""
        of_experiments = {
            (_label(experiment, signal), algorithm, metric)
            for experiment in self.experiments
            for signal, algorithm, metric in claims_of(experiment)[1]
        }
        return self._read[1] | of_experiments

    def needed(self, claim: Claim) -> list[str]:
        """List the experiments that a claim names, as the command line has them."""
        names = {signal.partition(SEPARATOR)[0] for signal, _, _ in claim.cells()}
        return [e.id for e in self.experiments if e.name in names]


@dataclass(frozen=True)
class JudgedPaper:
    """The verdicts on a paper's claims on several experiments."""

    paper: str
    judged: Mapping[str, tuple[Judged, ...]]  # by host

    @property
    def is_decided(self) -> bool:
        """Tell whether at least one claim is decided."""
        return any(judged.decision for entries in self.judged.values() for judged in entries)

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --json`."""
        claims = [judged.to_json() for entries in self.judged.values() for judged in entries]
        return {"paper": self.paper, "claims": claims}


def papers() -> list[Paper]:
    """Read every paper that comes with Sojourn."""
    return papers_of(experiments())


def papers_of(chosen: Sequence[Experiment]) -> list[Paper]:
    """List the whole papers that these experiments belong to."""
    homes = {experiment.home.folder.absolute(): experiment.home for experiment in chosen}
    return [Paper(home.name, home.experiments) for home in homes.values()]


def judge_papers(reproductions: Sequence[Reproduction]) -> list[JudgedPaper]:
    """Judge the claims of each paper that has one of these experiments."""
    return [
        JudgedPaper(
            paper.name,
            _judge(paper, [r for r in reproductions if r.experiment.paper == paper.name]),
        )
        for paper in papers_of([reproduction.experiment for reproduction in reproductions])
        if paper.claims()
    ]


def _judge(paper: Paper, reproductions: Sequence[Reproduction]) -> dict[str, tuple[Judged, ...]]:
    calibrated = paper.calibrated()
    measured: dict[str, dict[str, Mapping[Cell, Measured]]] = {}  # by host and experiment
    for reproduction in reproductions:
        for host in reproduction.hosts:
            cells = reproduction.cells_on(host)
            measured.setdefault(host, {})[reproduction.experiment.name] = cells
    return {
        host: tuple(
            judge(host, claim, paper.experiments, by_name, calibrated, is_papers=True)
            for claim in paper.claims()
        )
        for host, by_name in measured.items()
    }


def _label(experiment: Experiment, cell: str) -> str:
    return f"{experiment.name}{SEPARATOR}{cell}"


FIGURES = "figures.toml"
_KEYS = {"number", "caption", "experiments", "cell", "network", "command", "not"}


@dataclass(frozen=True)
class InPrint:
    """One figure or table."""

    number: str
    caption: str
    experiments: tuple[str, ...]  # as the command line has them
    cell: str  # empty: all of them
    is_network: bool  # the picture of their network answers it
    why_not: str
    command: str  # draws it, in place of an experiment


def figures_in_print(paper: Paper) -> list[InPrint]:
    """Read the figures and tables of a paper, in its order; InputError for a wrong entry."""
    path = paper.home.folder / FIGURES
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["figures"]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError) as error:
        raise InputError(f"{path}: is no list of [[figures]]: {error}") from error
    figures = [_figure_in_print(paper, path, entry) for entry in entries]
    numbers = [figure.number for figure in figures]
    for number in numbers:
        if numbers.count(number) > 1:
            raise InputError(f"{path}: {number} is there twice")
    return figures


def _figure_in_print(paper: Paper, path: Path, entry: Mapping[str, Any]) -> InPrint:
    number = str(entry.get("number", "a figure without number"))
    where = f"{path}: {number}"
    for key in entry.keys() - _KEYS:
        raise InputError(f"{where}: there is no key '{key}'.{nearest(key, _KEYS)}")
    for key in ("number", "caption"):
        if not str(entry.get(key, "")).strip():
            raise InputError(f"{where}: has no {key}")
    answers = entry.keys() & {"experiments", "command", "not"}
    if len(answers) != 1:
        raise InputError(
            f"{where}: needs one of experiments = [NAMES], command = COMMAND and not = REASON"
        )
    for key in {"not", "command"} & answers:
        if not str(entry[key]).strip() or "cell" in entry:
            raise InputError(f"{where}: {key} is a text, and goes with no cell")
    is_network = entry.get("network", False)
    if is_network is not False and (
        is_network is not True or {"not", "command", "cell"} & entry.keys()
    ):
        raise InputError(f"{where}: network = true goes with experiments = [NAMES] alone")
    known = {experiment.name: experiment for experiment in paper.experiments}
    names = entry.get("experiments", [])
    if not isinstance(names, list) or ("experiments" in entry and not names):
        raise InputError(f"{where}: experiments = {names!r}; it is a list of names")
    cell = str(entry.get("cell", ""))
    for name in names:
        if name not in known:
            raise InputError(f"{where}: there is no experiment '{name}'.{nearest(name, known)}")
        labels = [known_cell.label for known_cell in known[name].cells()]
        # A cell goes by its whole label, or by some of its values.
        if cell and not any(set(cell.split(", ")) <= set(text.split(", ")) for text in labels):
            raise InputError(
                f"{where}: experiment '{name}' has no cell '{cell}'.{nearest(cell, labels)}"
            )
    ids = tuple(known[name].id for name in names)
    why_not = str(entry.get("not", ""))
    command = str(entry.get("command", ""))
    return InPrint(number, str(entry["caption"]), ids, cell, is_network, why_not, command)


SAMPLE = Path(__file__).parent / "sample"


# The schema by which an editor checks a file; a key of an experiment may stand in paper.toml.
_OF_EXPERIMENT, _OF_CLAIMS = "experiment.schema.json", "claims.schema.json"
_OF_PRINT, _OF_SEARCH = "published.schema.json", "search.schema.json"
_SCHEMAS = {
    "scenario.toml": SCHEMA,
    "experiment.toml": _OF_EXPERIMENT,
    "paper.toml": _OF_EXPERIMENT,
    "claims.toml": _OF_CLAIMS,
    "published.toml": _OF_PRINT,
}


def write_sample(folder: Path) -> Path:
    """Write a paper of one experiment into a new folder, with schemas for editors. InputError where
    there is such a thing."""
    if folder.exists():
        raise InputError(
            f"{folder}: there is such a file or folder; nothing was written; give another name"
        )
    texts = {
        SCHEMA: schema_text(),
        _OF_EXPERIMENT: published(ExperimentTable.model_json_schema(by_alias=True)),
        _OF_CLAIMS: published(ClaimsTable.model_json_schema()),
        _OF_PRINT: published(PublishedTable.model_json_schema()),
        _OF_SEARCH: published(SearchTable.model_json_schema()),
    }
    for path in sorted(SAMPLE.rglob("*.toml")):
        place = path.relative_to(SAMPLE)
        text = without_licence(path.read_text(encoding="utf-8"))
        if path.name in _SCHEMAS:
            up = "../" * len(place.parent.parts) or "./"
            text = f"#:schema {up}{_SCHEMAS[path.name]}\n{text}"
        texts[str(place)] = text
    with new_folder(folder) as beside:
        for name, text in texts.items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            (beside / name).write_text(text, encoding="utf-8")
    return folder
