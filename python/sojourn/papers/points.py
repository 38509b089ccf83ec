# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's open points, as search.toml lists them, and the set-ups that they make; every mistake
is named with its line.

A value of a point is the ledger's if with it and without it the same scenario runs, word by word.
A search tries the text's own set-up and those with one thing changed. Of all others it tries as
many as the file allows, drawn as a Latin hypercube, or every one where there are so few. Points
that set nothing in the searched half keep the text's value, for nothing there can choose it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, StrictStr

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest
from sojourn.papers.claims import Cell, Claim
from sojourn.papers.experiment import Contender, Experiment, Signal, experiments_in
from sojourn.runs.run import Case
from sojourn.scenario import toml
from sojourn.scenario.base import Model
from sojourn.sweeps.axis import Axis, Point, grid
from sojourn.sweeps.file import Mistake
from sojourn.sweeps.plan import check_quoted
from sojourn.sweeps.source import Source, same_key

# More set-ups meet numbers by luck that none of them explains.
MAX_SETUPS = 64

Text = Annotated[StrictStr, Field(min_length=1, max_length=200)]
# By experiment, '1', or by one of its cells, '1: drop': keys of the scenario and their values.
Settings = dict[str, dict[str, Any]]


class ValueTable(Model):
    """One value of an open point."""

    name: Text = Field(description="in tables")
    set: Settings = Field(
        {}, description="what it sets, by experiment or cell; nothing: as scenario.toml leaves it"
    )


class PointTable(Model):
    """A setting that the paper leaves open."""

    name: Text = Field(description="in tables")
    silent: Text = Field(description="the section that should say it, and what it says")
    text: Text | None = Field(
        None, description="the value that the ledger had before a search replaced it"
    )
    only: tuple[Text, ...] = Field((), description="the algorithms that it is about; else all")
    values: tuple[ValueTable, ...] = Field(description="one is what scenario.toml has")


class OutsideTable(Model):
    """A set-up that the text excludes. It is tried under this label and never enters the ledger."""

    name: Text = Field(description="in tables")
    against: Text = Field(description="what the text says instead")
    only: tuple[Text, ...] = Field((), description="the algorithms that it is about; else all")
    set: Settings = Field(description="what it sets, by experiment or cell")


class SearchTable(Model):
    """The whole file."""

    format: StrictInt = Field(1, description="of the file")
    searched: tuple[Text, ...] = Field(
        description="the experiments that the search may look at; it ends before the others run"
    )
    setups: Annotated[int, Field(strict=True, ge=1, le=MAX_SETUPS)] = Field(
        MAX_SETUPS, description="how many are tried at most"
    )
    seed: Annotated[int, Field(strict=True, ge=0)] = Field(1, description="of the draws")
    points: tuple[PointTable, ...] = Field(description="what is open")
    outside: tuple[OutsideTable, ...] = Field((), description="what the text excludes")


@dataclass(frozen=True)
class Value:
    """One value of an open point, or a set-up outside the text: the keys that it sets, and the
    algorithms it is for."""

    name: str
    set: Settings
    only: tuple[str, ...] = ()
    is_ledger: bool = False  # scenario.toml has it

    def at(self, experiment: Experiment, signal: Signal, contender: Contender) -> dict[str, object]:
        """Return the keys that it sets in a run."""
        if self.only and contender.name not in self.only:
            return {}
        places = (experiment.name, f"{experiment.name}: {signal.name}")
        return {key: value for place in places for key, value in self.set.get(place, {}).items()}

    def touches(self, names: Sequence[str]) -> bool:
        """Tell whether it sets anything in one of these experiments."""
        return any(_experiment_of(place) in names for place in self.set)


@dataclass(frozen=True)
class OpenPoint:
    """A setting that the paper leaves open."""

    name: str
    silent: str
    values: tuple[Value, ...]
    ledger: str  # the value of scenario.toml
    text: str  # the value before any search

    def value(self, name: str) -> Value:
        """Find a value by its name."""
        return next(value for value in self.values if value.name == name)

    def touches(self, names: Sequence[str]) -> bool:
        """Tell whether a value of it sets anything in one of these experiments."""
        return any(value.touches(names) for value in self.values)


@dataclass(frozen=True)
class Outside:
    """A set-up that the text excludes, and the words of the text."""

    value: Value
    against: str


@dataclass(frozen=True)
class Search:
    """The request of a file."""

    paper: str
    path: Path
    experiments: tuple[Experiment, ...]  # those with numbers in print
    searched: tuple[str, ...]
    setups: int
    seed: int
    points: tuple[OpenPoint, ...]
    outside: tuple[Outside, ...]

    @property
    def half(self) -> tuple[Experiment, ...]:
        """List the experiments that the search looks at."""
        return tuple(found for found in self.experiments if found.name in self.searched)

    @property
    def other(self) -> tuple[Experiment, ...]:
        """List the experiments that the search does not look at."""
        return tuple(found for found in self.experiments if found.name not in self.searched)


def load(folder: Path) -> Search:
    """Read the search of the paper in a folder; InputError for a missing file, and for a mistake
    with its line."""
    path = folder / "search.toml"
    paper = folder.absolute().name
    if not path.is_file():
        raise InputError(
            f"{paper}: has no {path.name}; its open points would stand in {path}, and none is "
            "searched without it"
        )
    with _placed(path):
        return _read(_read_table(path), path)


def claims_of(experiment: Experiment) -> tuple[list[Claim], set[Cell]]:
    """Read an experiment's claims, and the cells that settled a setting. Its own file names those.
    Its printed cells are among them where a search has looked at them and settled a setting."""
    found, calibrated = experiment.claims()
    if experiment.name in settled(experiment.folder.parent):
        calibrated |= set(experiment.published)
    return found, calibrated


def settled(paper: Path) -> tuple[str, ...]:
    """List the searched experiments, if the ledger's value of an open point differs from its
    `text`. Empty where no point has a `text`, or there is no file."""
    path = paper / "search.toml"
    if not path.is_file():
        return ()
    table = _read_table(path)
    asked = [(i, point) for i, point in enumerate(table.points) if point.text]
    if not asked:
        return ()
    every = _every(paper)
    with _placed(path):
        points = [_point(i, point, Ledger(every)) for i, point in asked]
    return table.searched if any(point.ledger != point.text for point in points) else ()


def _read_table(path: Path) -> SearchTable:
    text = toml.read_text(path)
    return toml.modelled(toml.parse(text, str(path)), SearchTable, str(path), text)


@contextmanager
def _placed(path: Path) -> Iterator[None]:
    """Turn a mistake into an InputError with its file, line and key."""
    try:
        yield
    except Mistake as error:
        line = toml.line_of(toml.read_text(path), error.path)
        place = f"{path}:{line}" if line else str(path)
        raise InputError(f"{place}: {toml.spell(error.path)}: {error}") from error


def _every(folder: Path) -> dict[str, Experiment]:
    return {experiment.name: experiment for experiment in experiments_in(folder)}


def _read(table: SearchTable, path: Path) -> Search:
    if table.format != 1:
        raise Mistake(("format",), f"{table.format} is not known; this version reads 1")
    every = _every(path.parent)
    in_print = tuple(found for found in every.values() if found.published)
    _check_searched(table.searched, every, [found.name for found in in_print])
    if not table.points:
        raise Mistake(("points",), "is empty; write each open point as [[points]]")
    _check_names([point.name for point in table.points], ("points",))
    _check_names([outside.name for outside in table.outside], ("outside",))
    ledger = Ledger(every)
    points = tuple(_point(i, point, ledger) for i, point in enumerate(table.points))
    for (i, one), (_, other) in combinations(enumerate(points), 2):
        _check_apart(i, one, other)
    if not any(point.touches(table.searched) for point in points):
        raise Mistake(
            ("searched",), f"no point sets anything in {', '.join(table.searched)}; what is tried?"
        )
    outside = tuple(_outside(i, found, ledger) for i, found in enumerate(table.outside))
    paper = path.parent.absolute().name
    return Search(paper, path, in_print, table.searched, table.setups, table.seed, points, outside)


def _check_searched(
    searched: Sequence[str], every: Mapping[str, Experiment], in_print: Sequence[str]
) -> None:
    if not searched:
        raise Mistake(("searched",), "is empty; name the experiments that the search may look at")
    for name in searched:
        if name not in every:
            raise Mistake(("searched",), f"there is no experiment '{name}'.{nearest(name, every)}")
        if name not in in_print:
            raise Mistake(
                ("searched",),
                f"experiment '{name}' has no numbers in print to be met; leave it out",
            )
    if set(in_print) <= set(searched):
        raise Mistake(
            ("searched",),
            "has every experiment with numbers in print; leave some out, on which luck is seen",
        )


def _check_names(names: Sequence[str], path: toml.Keys) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise Mistake((*path, i, "name"), f"'{name}' is there twice; give it another name")


def _point(i: int, table: PointTable, ledger: Ledger) -> OpenPoint:
    path: toml.Keys = ("points", i)
    names = [value.name for value in table.values]
    if len(names) < 2:
        raise Mistake((*path, "values"), "an open point has two values at least")
    _check_names(names, (*path, "values"))
    values = tuple(Value(value.name, value.set, table.only) for value in table.values)
    alike = [
        value.name
        for j, value in enumerate(values)
        if ledger.has(value, (*path, "values", j, "set"))
    ]
    if len(alike) != 1:
        said = f"both {' and '.join(map(repr, alike))} are" if alike else "none of them is"
        remedy = "leave one out" if alike else "add the value that the ledger has"
        raise Mistake((*path, "values"), f"{said} what scenario.toml and paper.toml have; {remedy}")
    text = table.text or alike[0]
    if text not in names:
        raise Mistake((*path, "text"), f"there is no value '{text}'.{nearest(text, names)}")
    values = tuple(replace(value, is_ledger=value.name == alike[0]) for value in values)
    return OpenPoint(table.name, table.silent, values, alike[0], text)


def _check_apart(i: int, one: OpenPoint, other: OpenPoint) -> None:
    """Raise a mistake where two points set one key, since they would hide each other."""
    only, only_other = set(one.values[0].only), set(other.values[0].only)
    if only and only_other and not only & only_other:
        return
    for (place, key), (place_other, key_other) in product(_keys(one), _keys(other)):
        if _meet(place.split(": "), place_other.split(": ")) and _meet(
            same_key(key).split("."), same_key(key_other).split(".")
        ):
            raise Mistake(
                ("points", i),
                f"'{key}' of {place} is set by '{other.name}' too; make one point of the two",
            )


def _meet(path: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether one path is the other, or within it."""
    words = zip(path, other, strict=False)
    return all(word == word_other or "*" in (word, word_other) for word, word_other in words)


def _keys(point: OpenPoint) -> list[tuple[str, str]]:
    found = [
        (place, key) for value in point.values for place in value.set for key in value.set[place]
    ]
    return list(dict.fromkeys(found))


def _outside(i: int, table: OutsideTable, ledger: Ledger) -> Outside:
    value = Value(table.name, table.set, table.only)
    if ledger.has(value, ("outside", i, "set")):
        raise Mistake(("outside", i), "is what scenario.toml has; it should set something else")
    return Outside(value, table.against)


def _experiment_of(place: str) -> str:
    return place.partition(": ")[0]


class Ledger:
    """The experiments of a paper as their files have them."""

    def __init__(self, every: Mapping[str, Experiment]) -> None:
        self._every = every
        self._written: dict[tuple[str, str, str], str] = {}

    def has(self, value: Value, path: toml.Keys) -> bool:
        """Tell whether a value changes no run of any experiment. All its keys are tried, and a
        Mistake names the place of one that cannot be set."""
        changes = [
            self._changes(value, place, keys, (*path, place)) for place, keys in value.set.items()
        ]
        return not any(changes)

    def _changes(
        self, value: Value, place: str, keys: Mapping[str, object], path: toml.Keys
    ) -> bool:
        name, _, cell = place.partition(": ")
        if name not in self._every:
            raise Mistake(path, f"there is no experiment '{name}'.{nearest(name, self._every)}")
        check_quoted(keys, path, Mistake)
        if not keys:
            raise Mistake(path, "is empty; what does it set?")
        experiment = self._every[name]
        signals = [signal for signal in experiment.signals() if not signal.ablates]
        meant = [signal for signal in signals if cell in ("", signal.name)]
        if not meant:
            known = [signal.name for signal in signals]
            raise Mistake(path, f"'{name}' has no cell '{cell}'.{nearest(cell, known)}")
        contenders = _contenders(value, experiment, path)
        found = [
            _written(_tried(experiment, signal, contender, keys, path))
            != self._as_it_is(experiment, signal, contender)
            for signal in meant
            for contender in contenders
        ]
        return any(found)

    def _as_it_is(self, experiment: Experiment, signal: Signal, contender: Contender) -> str:
        key = experiment.name, signal.name, contender.name
        if key not in self._written:
            self._written[key] = _written(experiment.case(contender, signal))
        return self._written[key]


def paper_own(experiment: Experiment, signal: str = "") -> list[Contender]:
    """List the algorithms of which the paper prints numbers, or does so under one signal. Our
    variants are not among them. Without a signal, a paper that prints no numbers has all."""
    printed = {
        algorithm for of_signal, algorithm, _ in experiment.published if signal in ("", of_signal)
    }
    every = experiment.contenders()
    return [found for found in every if found.name in printed] or ([] if signal else every)


def _contenders(value: Value, experiment: Experiment, path: toml.Keys) -> list[Contender]:
    """List the algorithms of the paper that the value is for."""
    here = paper_own(experiment)
    names = [contender.name for contender in here]
    for name in value.only:
        if name not in names:
            raise Mistake(
                (*path[:2], "only"),
                f"'{experiment.name}' has no '{name}' of the paper's.{nearest(name, names)}",
            )
    return [contender for contender in here if not value.only or contender.name in value.only]


def _tried(
    experiment: Experiment,
    signal: Signal,
    contender: Contender,
    keys: Mapping[str, object],
    path: toml.Keys,
) -> Case:
    try:
        return experiment.case(contender, signal, keys)
    except InputError as error:
        # The command line's --set is a key of the file here.
        said = re.sub(r"--set ([^:=]+)(=[^:]*)?: ", r"\1: ", str(error))
        said = re.sub(r"--aqm (\S+) sets it too; leave one out", r"paper.toml has it of '\1'", said)
        raise Mistake(path, said) from error


def _written(case: Case) -> str:
    """Write the scenario as the engine reads it, with every row of its queues."""
    data = case.scenario.to_engine()
    for link in data["links"]:
        queue = link["queue"]
        rows = algorithms.find(queue["algorithm"]).rows.values()
        queue["rows"] = {row.name: row.default for row in rows} | queue["rows"]
    return json.dumps(data, sort_keys=True)


# The text's own set-up, in tables and JSON.
TEXT = 1


@dataclass(frozen=True)
class Setup:
    """A value of each open point; or the text's values, with one thing that the text excludes."""

    number: int  # from 1, the text's own
    values: Mapping[str, Value]  # by point
    changed: Mapping[str, str] = field(default_factory=dict)  # points that differ from the text
    outside: Outside | None = None

    @property
    def label(self) -> str:
        """Name the changes from the text."""
        if self.outside:
            return f"outside the text: {self.outside.value.name}"
        told = "; ".join(f"{point}: {value}" for point, value in self.changed.items())
        return told or "the text's own"

    @property
    def applied(self) -> list[Value]:
        """List the values that it sets, in this order. The scenario has the ledger's own values
        already."""
        points = [value for value in self.values.values() if not value.is_ledger]
        return [*points, *([self.outside.value] if self.outside else [])]


def setups(search: Search) -> list[Setup]:
    """List the set-ups that are tried on the searched half, those outside the text last; InputError
    where `setups` is too small."""
    points = [point for point in search.points if point.touches(search.searched)]
    first = {point.name: point.text for point in search.points}
    singles = [{**first, point.name: name} for point in points for name in _others(point)]
    chosen = [first, *singles]
    fewest = len(chosen) + len(search.outside)
    if fewest > search.setups:
        raise InputError(
            f"{search.path}: setups: {search.setups} are too few for the text's own, each other "
            f"value alone and those outside the text, {fewest}; allow more (up to 64), or leave "
            "values out"
        )
    for choice in _drawn(search, points):
        if len(chosen) + len(search.outside) == search.setups:
            break
        if (whole := {**first, **choice}) not in chosen:
            chosen.append(whole)
    found = [_setup(search, number, choice) for number, choice in enumerate(chosen, start=TEXT)]
    return found + [
        Setup(len(found) + n, found[0].values, outside=outside)
        for n, outside in enumerate(search.outside, start=1)
    ]


def count(search: Search) -> int:
    """Count the set-ups of these values that a search can tell apart."""
    found = 1
    for point in search.points:
        found *= len(point.values) if point.touches(search.searched) else 1
    return found


def alone(search: Search, start: int) -> list[Setup]:
    """List the set-ups with one changed point that sets nothing in the searched half. They are
    reasons, not candidates."""
    points = [point for point in search.points if not point.touches(search.searched)]
    choices = [
        {point.name: point.text for point in search.points} | {of.name: name}
        for of in points
        for name in _others(of)
    ]
    return [_setup(search, number, choice) for number, choice in enumerate(choices, start=start)]


def _others(point: OpenPoint) -> list[str]:
    return [value.name for value in point.values if value.name != point.text]


def _setup(search: Search, number: int, choice: Mapping[str, str]) -> Setup:
    return Setup(
        number,
        {point.name: point.value(choice[point.name]) for point in search.points},
        {p.name: choice[p.name] for p in search.points if choice[p.name] != p.text},
    )


def _drawn(search: Search, points: Sequence[OpenPoint]) -> Iterator[dict[str, str]]:
    """Yield set-ups: a small grid whole and in its order, else one Latin hypercube after the other,
    without end."""
    axes = [
        Axis(point.name, tuple(Point(value.name, {}) for value in point.values)) for point in points
    ]
    if count(search) + len(search.outside) <= search.setups:
        yield from (cell.texts for cell in grid(axes))
        return
    from scipy.stats import qmc

    sources = [Source(axis.name, (), (), named=axis.points) for axis in axes]
    drawing = qmc.LatinHypercube(len(axes), rng=search.seed)
    while True:
        sample = drawing.random(search.setups)
        drawn = [source.drawn(sample[:, i].tolist()) for i, source in enumerate(sources)]
        for row in zip(*drawn, strict=True):
            yield {axis.name: point.text for axis, point in zip(axes, row, strict=True)}
