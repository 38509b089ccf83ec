# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The forms of a paper's files, read and checked; every mistake is named with its line."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeGuard, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    RootModel,
    StrictBool,
    StrictInt,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from sojourn.core.errors import InputError, nearest, written
from sojourn.papers.claim import UNEXPLAINED, Cause, Relation
from sojourn.result.metrics import find as find_metric
from sojourn.scenario import toml
from sojourn.scenario.parts import Model, refusal
from sojourn.sweeps.model import AxisTable

Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[StrictInt, Field(ge=1, le=1_000_000)]
Rows = dict[str, Any]
M = TypeVar("M", bound=BaseModel)

# The end of a stand-in's name, in every table and figure.
STAND_IN = " (stand-in)"
# The keys that each experiment needs, in its own file or in its paper's.
REQUIRED = ("title", "source", "seeds", "quick_seeds", "queue", "window", "algorithms", "signals")


class AlgorithmTable(Model):
    """An algorithm under the name that the paper gives it."""

    name: Text
    algorithm: Text
    rows: Rows = Field({})
    about: str = ""
    # It is not the paper's algorithm: no claim is on it, and its name says so wherever it stands.
    stand_in: StrictBool = False

    @model_validator(mode="after")
    def _says_so(self) -> Self:
        if self.stand_in and not self.name.endswith(STAND_IN):
            reason = f"'{self.name}' is a stand-in's name; it ends with '{STAND_IN}'"
            raise refusal(reason, key="name")
        return self


class SignalTable(Model):
    """A cell: the keys that it sets, its metrics in print, and others measured beside them."""

    name: Text
    table: Text
    set: Rows = Field({})
    metrics: tuple[Text, ...]
    beside: tuple[Text, ...] = ()
    only: tuple[Text, ...] = ()


class AblationTable(Model):
    """One thing changed in a cell, and why; `point` names a value of search.toml."""

    of: Text
    name: Text
    why: Text
    set: Rows = Field({})
    point: Text | None = None
    only: tuple[Text, ...] = ()
    host: str = ""
    algorithm: str = ""


class QuickTable(Model):
    """The part of an experiment that --quick runs: some values of its axes, with these keys set."""

    where: dict[str, tuple[Text, ...]] = Field({})
    set: Rows = Field({})


class ExperimentTable(Model):
    """The keys of experiment.toml, each of which may stand in paper.toml for all experiments."""

    format: Literal[1] = 1
    title: Text | None = None
    source: Text | None = None
    seeds: Count | None = None
    quick_seeds: Count | None = None
    queue: Text | None = None
    scenario: Text | None = None  # of an experiment beside this one: it runs that one's network
    window: Text | None = None
    pieces: StrictBool = False
    quick: QuickTable | None = None
    peers: tuple[Text, ...] = ()
    derived: tuple[Text, ...] = ()  # metrics that print has as quotients of others
    algorithms: tuple[AlgorithmTable, ...] = ()
    also: tuple[AlgorithmTable, ...] = ()
    rows: dict[str, Rows] = Field({})
    signals: tuple[SignalTable, ...] = ()
    axes: tuple[AxisTable, ...] = ()
    ablations: tuple[AblationTable, ...] = ()
    figure: dict[str, Any] = Field({})
    answer: tuple[Text, ...] = ()  # of paper.toml alone: sojourn.papers.answer
    picture: Text | None = None


# Words about the whole paper, which are no part of an experiment.
_OF_PAPER = ("answer", "picture")


def _names(value: Any) -> Any:
    several = value if isinstance(value, list) and value else [value]
    if not all(isinstance(name, str) and name for name in several):
        raise refusal(f"{written(value)} is no name and no list of names")
    return value


# One name, or several.
_NAME = {"type": "string", "minLength": 1}
_EITHER = {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1}]}
Names = Annotated[Any, AfterValidator(_names), WithJsonSchema(_EITHER)]


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a finite number; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _factor(value: Any) -> Any:
    ends = value if isinstance(value, list) else [value]
    are_factors = all(is_number(end) and end > 0 for end in ends)
    if not are_factors or (value is ends and not (len(ends) == 2 and ends[0] < ends[1])):
        raise refusal(
            f"{written(value)}: a factor is a number above 0, as 0.5; with relation = 'between' "
            "two of them, [LEAST, MOST]"
        )
    return value


def _number(rule: str) -> AfterValidator:
    def check(value: Any) -> Any:
        if not is_number(value):
            raise refusal(f"{written(value)}: {rule}")
        return value

    return AfterValidator(check)


_ABOVE_0 = {"type": "number", "exclusiveMinimum": 0}
_TWO = {"type": "array", "items": _ABOVE_0, "minItems": 2, "maxItems": 2}
Factor = Annotated[Any, AfterValidator(_factor), WithJsonSchema({"anyOf": [_ABOVE_0, _TWO]})]
_NUMBER = WithJsonSchema({"type": "number"})
Margin = Annotated[Any, _number("a margin is a number in the metric's unit, as -5"), _NUMBER]
InPrint = Annotated[Any, _number("write the number alone, in the metric's unit, as 5.2"), _NUMBER]


class PublishedTable(RootModel[dict[str, dict[str, dict[str, InPrint]]]]):
    """The numbers in print, by cell, algorithm and metric."""


class ClaimTable(Model):
    """One sentence of a paper, and how it is read; sojourn.papers.claims_file has the forms."""

    id: Text
    text: Text
    source: Text
    metrics: tuple[Text, ...]
    relation: Relation
    pairs: tuple[tuple[Text, ...], ...] | None = None
    order: tuple[Names, ...] | None = None
    left: Names | None = None
    right: Names | None = None
    along: dict[str, tuple[Text, ...]] | None = None
    where: dict[str, Names] = Field({})
    factor: Factor | None = None
    margin: Margin | None = None
    # The forms of these depend on other keys: claims_file has them.
    value: Any = None
    quorum: Any = None
    turns: Any = None
    quote: StrictBool = False
    by_opponent: StrictBool = False
    spread: StrictBool = False
    cause: Cause = UNEXPLAINED
    why: Text | None = None
    contradicts: Text | None = None
    together: Text | None = None
    theory: dict[str, Any] | None = None


class ClaimsTable(Model):
    """The whole of claims.toml."""

    # Cell, algorithm and metric that settled a setting.
    calibrated: tuple[tuple[Text, Text, Text], ...] = ()
    claims: tuple[ClaimTable, ...] = ()

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids = [claim.id for claim in self.claims]
        problems = [
            (("claims", i, "id"), f"'{own}' is another claim's already; give each its own")
            for i, own in enumerate(ids)
            if own in ids[:i]
        ]
        if problems:
            raise refusal("; ".join(reason for _, reason in problems), problems=problems)
        return self


# More set-ups meet numbers by luck that none of them explains.
MAX_SETUPS = 64

# By experiment, '1', or by one of its cells, '1: drop': keys of the scenario and their values.
Settings = dict[str, dict[str, Any]]


class ValueTable(Model):
    """One value of an open point, and what it sets; nothing: as scenario.toml leaves it."""

    name: Text
    set: Settings = Field({})


class PointTable(Model):
    """A setting that the paper leaves open. One of its values is what scenario.toml has."""

    name: Text
    silent: Text  # the section that should say it, and what it says
    text: Text | None = None  # the value that the ledger had before a search replaced it
    only: tuple[Text, ...] = ()  # the algorithms that it is about; else all
    values: tuple[ValueTable, ...]


class OutsideTable(Model):
    """A set-up that the text excludes. It is tried under this label and never enters the ledger."""

    name: Text
    against: Text  # what the text says instead
    only: tuple[Text, ...] = ()
    set: Settings


class SearchTable(Model):
    """The whole of search.toml. A search may look at the experiments in `searched`, and ends before
    the others run."""

    format: StrictInt = 1
    searched: tuple[Text, ...]
    algorithms: tuple[Text, ...] = ()  # and looks at these; else at all in print
    setups: Annotated[int, Field(strict=True, ge=1, le=MAX_SETUPS)] = MAX_SETUPS
    seed: Annotated[int, Field(strict=True, ge=0)] = 1  # of the draws
    points: tuple[PointTable, ...]
    outside: tuple[OutsideTable, ...] = ()


def read_form(path: Path, form: type[M]) -> M:
    """Read a file as a form; InputError with the line of each mistake."""
    text = toml.read_text(path)
    return toml.modelled(toml.parse(text, str(path), form), form, str(path), text)


def read_file(path: Path, form: type[BaseModel] = ExperimentTable) -> dict[str, Any]:
    """Read a file as data that the form allows; InputError with the line of each mistake."""
    read_form(path, form)
    return toml.parse(toml.read_text(path), str(path))


def read_experiment(
    folder: Path, shared: Mapping[str, Any], search: SearchTable | None
) -> dict[str, Any]:
    """Read experiment.toml over the keys that its paper shares. An ablation with a `point` gets the
    keys of that value of search.toml. InputError for a key that neither file has, for a metric
    that does not exist, and for a point without such a value."""
    path = folder / "experiment.toml"
    of_all = {key: value for key, value in shared.items() if key not in _OF_PAPER}
    data = {**of_all, **read_file(path)}
    for key in REQUIRED:
        if not data.get(key):
            raise InputError(f"{path}: {key} is missing; write it here or in ../paper.toml")
    names = [signal["name"] for signal in data["signals"]]
    for i, signal in enumerate(data["signals"]):
        if signal["name"] in names[:i]:
            raise InputError(f"{path}: signals[{i}].name: '{signal['name']}' is there twice")
        for metric in (*signal["metrics"], *signal.get("beside", ())):
            try:
                find_metric(metric)
            except InputError as error:
                raise InputError(f"{path}: signals[{i}]: {error}") from error
        signal.setdefault("set", {})
    for name in data.get("derived", ()):
        try:
            find_metric(name)
        except InputError as error:
            raise InputError(f"{path}: derived: {error}") from error
    for i, ablation in enumerate(data.get("ablations", ())):
        try:
            if "point" in ablation:
                _take_point(ablation, folder.name, search)
        except InputError as error:
            raise InputError(f"{path}: ablations[{i}].point: {error}") from error
        ablation.setdefault("set", {})
    return data


def _take_point(ablation: dict[str, Any], experiment: str, search: SearchTable | None) -> None:
    """Replace the `point` of an ablation by the keys that this value sets in the experiment."""
    values: dict[str, tuple[Settings, tuple[str, ...]]] = {}
    if search:
        for point in search.points:
            values |= {f"{point.name}: {v.name}": (v.set, point.only) for v in point.values}
        values |= {outside.name: (outside.set, outside.only) for outside in search.outside}
    name = ablation.pop("point")
    if name not in values:
        raise InputError(f"search.toml has no '{name}'.{nearest(name, values)}")
    if "set" in ablation:
        raise InputError("stands beside `set`; leave one of them out")
    by_place, only = values[name]
    ablation["set"] = {
        key: value
        for place in (experiment, f"{experiment}: {ablation['of']}")
        for key, value in by_place.get(place, {}).items()
    }
    if not ablation["set"]:
        raise InputError(f"'{name}' sets nothing here")
    if only:
        ablation.setdefault("only", list(only))
