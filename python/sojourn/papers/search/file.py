# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's search.toml, read and checked; every mistake is named with its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

from sojourn.core.errors import InputError, nearest
from sojourn.papers.claims import Cell, Claim
from sojourn.papers.experiment import Contender, Experiment, Signal, experiments_in
from sojourn.papers.search.ledger import Ledger
from sojourn.papers.search.model import OutsideTable, PointTable, SearchTable, Set
from sojourn.scenario import toml
from sojourn.sweeps.axes import same_key
from sojourn.sweeps.file import Mistake


@dataclass(frozen=True)
class Value:
    """One value of an open point, or a set-up outside the text: the keys that it sets, and the
    algorithms it is for."""

    name: str
    set: Set
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
        return _read(_table(path), path)


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
    table = _table(path)
    asked = [(i, point) for i, point in enumerate(table.points) if point.text]
    if not asked:
        return ()
    every = _every(paper)
    with _placed(path):
        points = [_point(i, point, Ledger(every)) for i, point in asked]
    return table.searched if any(point.ledger != point.text for point in points) else ()


def _table(path: Path) -> SearchTable:
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
