# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A paper's open points, as search.toml lists them, and the set-ups that they make.

This module has the data first, then their reader, which names each mistake with its line, and then
the set-ups. An ablation may name a value of a point: both change the same keys.

A value of a point is the ledger's if the same scenario runs with it and without it. A search tries
the text's own set-up and those with one thing changed. It tries all others too, where `setups` of
the file allows so many. Else it draws as many as are allowed, as a Latin hypercube. A point that
sets nothing in the searched half keeps the text's value: the search cannot tell its values apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from math import prod
from pathlib import Path

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest
from sojourn.papers.claim import Cell, Claim
from sojourn.papers.experiment import Contender, Experiment, PaperFiles, Signal
from sojourn.papers.forms import PointTable, Settings
from sojourn.runs.run import Case
from sojourn.scenario import toml
from sojourn.scenario.ends import queues
from sojourn.sweeps.axes import Axis, Point, Source, check_quoted, grid, same_key
from sojourn.sweeps.file import Mistake

# The number of the text's own set-up, in tables and JSON.
TEXT = 1


@dataclass(frozen=True)
class Value:
    """One value of an open point, or a set-up outside the text: the keys that it sets, and the
    algorithms that it is for (none: all)."""

    name: str
    set: Settings
    only: tuple[str, ...] = ()
    is_ledger: bool = False  # scenario.toml has this value
    against: str = ""  # the words of the text that excludes it

    def at(self, experiment: str, signal: str, algorithm: str) -> dict[str, object]:
        """Return the keys that it sets in a cell."""
        if self.only and algorithm not in self.only:
            return {}
        places = (experiment, f"{experiment}: {signal}")
        return {key: value for place in places for key, value in self.set.get(place, {}).items()}

    def touches(self, names: Sequence[str]) -> bool:
        """Tell whether it sets anything in one of these experiments."""
        return any(place.partition(": ")[0] in names for place in self.set)


@dataclass(frozen=True)
class OpenPoint:
    """A setting that the paper leaves open."""

    name: str
    silent: str  # the section that should say it, and what it says
    values: tuple[Value, ...]
    ledger: str  # the value of scenario.toml
    text: str  # the value before any search

    @property
    def others(self) -> list[str]:
        """List the values that are not the text's."""
        return [value.name for value in self.values if value.name != self.text]

    def value(self, name: str) -> Value:
        """Find a value by its name."""
        return next(value for value in self.values if value.name == name)

    def touches(self, names: Sequence[str]) -> bool:
        """Tell whether a value of it sets anything in one of these experiments."""
        return any(value.touches(names) for value in self.values)


@dataclass(frozen=True)
class Part:
    """The numbers in print of an experiment that are of one half of a search."""

    experiment: Experiment
    numbers: Mapping[Cell, float]
    is_rest: bool = False  # the searched half has others of this experiment

    @property
    def label(self) -> str:
        """Name it."""
        return self.experiment.name + (" (the other algorithms)" if self.is_rest else "")

    def algorithms(self, signal: str) -> list[Contender]:
        """List the paper's own algorithms that have a number under a signal."""
        names = {algorithm for of_signal, algorithm, _ in self.numbers if of_signal == signal}
        return [one for one in self.experiment.contenders() if one.name in names]


@dataclass(frozen=True)
class Search:
    """A search as its file asks for it."""

    paper: str
    path: Path
    experiments: tuple[Experiment, ...]  # those with numbers in print
    searched: tuple[str, ...]  # the experiments that the search looks at
    algorithms: tuple[str, ...]  # and their algorithms; none: all
    setups: int  # the most that it tries
    seed: int  # of the Latin hypercube
    points: tuple[OpenPoint, ...]
    outside: tuple[Value, ...]

    @property
    def half(self) -> tuple[Part, ...]:
        """List the numbers that the search looks at."""
        return self._parts(searched=True)

    @property
    def other(self) -> tuple[Part, ...]:
        """List the numbers that the search does not look at."""
        return self._parts(searched=False)

    def _parts(self, *, searched: bool) -> tuple[Part, ...]:
        parts = []
        for experiment in self.experiments:
            numbers = printed(experiment)
            looked_at = looked_at_of(numbers, self.algorithms)
            if experiment.name not in self.searched:
                looked_at = set()
            chosen = {cell: n for cell, n in numbers.items() if (cell in looked_at) == searched}
            if chosen:
                parts.append(Part(experiment, chosen, bool(looked_at) and not searched))
        return tuple(parts)

    @property
    def searched_points(self) -> list[OpenPoint]:
        """List the points that set anything in the searched half."""
        return [
            point
            for point in self.points
            if any(
                value.touches(self.searched) and (not value.only or self._looks_at(value.only))
                for value in point.values
            )
        ]

    def _looks_at(self, algorithms: Sequence[str]) -> bool:
        return not self.algorithms or bool({*algorithms} & {*self.algorithms})


@dataclass(frozen=True)
class Setup:
    """A value of each open point; or the text's values, with one thing that the text excludes."""

    number: int  # from 1, the text's own
    values: Mapping[str, Value]  # by point
    changed: Mapping[str, str] = field(default_factory=dict)  # points that differ from the text
    outside: Value | None = None

    @property
    def label(self) -> str:
        """Name the changes from the text."""
        if self.outside:
            return f"outside the text: {self.outside.name}"
        changes = "; ".join(f"{point}: {value}" for point, value in self.changed.items())
        return changes or "the text's own"

    @property
    def applied(self) -> list[Value]:
        """List the values that it sets, in this order. The scenario has the ledger's own values
        already."""
        points = [value for value in self.values.values() if not value.is_ledger]
        return [*points, *([self.outside] if self.outside else [])]

    def touches(self, experiment: str) -> bool:
        """Tell whether a change from the text sets anything in an experiment."""
        changed = [self.values[point] for point in self.changed]
        changed += [self.outside] if self.outside else []
        return any(value.touches([experiment]) for value in changed)


def load(folder: Path) -> Search:
    """Read the search of the paper in a folder; InputError for a missing file, and for a mistake
    with its line."""
    return search_of(PaperFiles(folder))


def search_of(paper: PaperFiles) -> Search:
    """Check the search of a paper; InputError for a missing file, and for a mistake with its
    line."""
    path, table = paper.search_path, paper.search
    if table is None:
        raise InputError(
            f"{paper.name}: has no {path.name}; its open points would stand in {path}, and none is "
            "searched without it"
        )
    with _placed(path):
        if table.format != 1:
            raise Mistake(("format",), f"{table.format} is not known; this version reads 1")
        _check_algorithms(table.algorithms, paper.experiments)
        in_print = tuple(experiment for experiment in paper.experiments if printed(experiment))
        ledger = _Ledger(paper.experiments)
        _check_searched(table.searched, list(ledger.experiments), [e.name for e in in_print])
        if not table.points:
            raise Mistake(("points",), "is empty; write each open point as [[points]]")
        _check_names([point.name for point in table.points], ("points",))
        _check_names([outside.name for outside in table.outside], ("outside",))
        points = tuple(_point(i, point, ledger) for i, point in enumerate(table.points))
        for (i, point), (_, other) in combinations(enumerate(points), 2):
            _check_apart(i, point, other)
        outside = tuple(Value(o.name, o.set, o.only, against=o.against) for o in table.outside)
        for i, value in enumerate(outside):
            if ledger.has(value, ("outside", i, "set")):
                reason = "is what scenario.toml has; it should set something else"
                raise Mistake(("outside", i), reason)
        search = Search(
            paper.name,
            path,
            in_print,
            table.searched,
            table.algorithms,
            table.setups,
            table.seed,
            points,
            outside,
        )
        if in_print and not search.half:
            names = ", ".join(table.searched)
            raise Mistake(("algorithms",), f"none has a number in print in {names}; name others")
        if in_print and not search.searched_points:
            names = ", ".join(table.searched)
            raise Mistake(("searched",), f"no point sets anything in {names}; what is tried?")
        return search


def check_search(paper: PaperFiles) -> None:
    """Raise InputError for a mistake in the search.toml of a paper, if it has one."""
    if paper.search is not None:
        spec = search_of(paper)
        if spec.experiments:
            setups(spec)


def claims_of(experiment: Experiment) -> tuple[list[Claim], set[Cell]]:
    """Read an experiment's claims, and the cells that settled a setting. Its own file names those.
    Its printed cells are among them where a search has looked at them and settled a setting."""
    claims, calibrated = experiment.claims()
    table = experiment.home.search
    if table and experiment.name in settled(experiment.home):
        calibrated |= looked_at_of(printed(experiment), table.algorithms)
    return claims, calibrated


def settled(paper: PaperFiles) -> tuple[str, ...]:
    """List the searched experiments, if the ledger's value of an open point differs from its
    `text`. Empty where no point has a `text`, or there is no file."""
    table = paper.search
    if table is None or not any(point.text for point in table.points):
        return ()
    with _placed(paper.search_path):
        ledger = _Ledger(paper.experiments)
        points = [_point(i, point, ledger) for i, point in enumerate(table.points) if point.text]
    return table.searched if any(point.ledger != point.text for point in points) else ()


@contextmanager
def _placed(path: Path) -> Iterator[None]:
    """Turn a mistake into an InputError with its file, line and key."""
    try:
        yield
    except Mistake as error:
        line = toml.line_of(toml.read_text(path), error.path)
        place = f"{path}:{line}" if line else str(path)
        raise InputError(f"{place}: {toml.spell(error.path)}: {error}") from error


def _check_searched(searched: Sequence[str], known: Sequence[str], in_print: Sequence[str]) -> None:
    if not in_print and not searched:
        return
    if not searched:
        raise Mistake(("searched",), "is empty; name the experiments that the search may look at")
    for name in searched:
        if name not in known:
            raise Mistake(("searched",), f"there is no experiment '{name}'.{nearest(name, known)}")
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


def _check_algorithms(names: Sequence[str], experiments: Sequence[Experiment]) -> None:
    known = {c.name for experiment in experiments for c in experiment.contenders()}
    for i, name in enumerate(names):
        if name not in known:
            reason = f"there is no algorithm '{name}'.{nearest(name, known)}"
            raise Mistake(("algorithms", i), reason)


def _check_names(names: Sequence[str], path: toml.Keys) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise Mistake((*path, i, "name"), f"'{name}' is there twice; give it another name")


def _point(i: int, table: PointTable, ledger: _Ledger) -> OpenPoint:
    path: toml.Keys = ("points", i, "values")
    names = [value.name for value in table.values]
    if len(names) < 2:
        raise Mistake(path, "an open point has two values at least")
    _check_names(names, path)
    values = [Value(value.name, value.set, table.only) for value in table.values]
    alike = [v.name for j, v in enumerate(values) if ledger.has(v, (*path, j, "set"))]
    if len(alike) != 1:
        which = f"both {' and '.join(map(repr, alike))} are" if alike else "none of them is"
        remedy = "leave one out" if alike else "add the value that the ledger has"
        raise Mistake(path, f"{which} what scenario.toml and paper.toml have; {remedy}")
    text = table.text or alike[0]
    if text not in names:
        reason = f"there is no value '{text}'.{nearest(text, names)}"
        raise Mistake(("points", i, "text"), reason)
    for j, value in enumerate(values):
        if value.name != text and not value.set:
            reason = f"'{value.name}' is not the text's value; write what it sets, to be told apart"
            raise Mistake((*path, j), reason)
    marked = tuple(replace(value, is_ledger=value.name == alike[0]) for value in values)
    return OpenPoint(table.name, table.silent, marked, alike[0], text)


def _check_apart(i: int, point: OpenPoint, other: OpenPoint) -> None:
    """Raise a mistake where two points set one key, since they would hide each other."""
    only, only_other = set(point.values[0].only), set(other.values[0].only)
    if only and only_other and not only & only_other:
        return
    for (place, key), (place_other, key_other) in product(_keys(point), _keys(other)):
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
    keys = [
        (place, key) for value in point.values for place in value.set for key in value.set[place]
    ]
    return list(dict.fromkeys(keys))


class _Ledger:
    """The experiments of a paper as their files have them."""

    def __init__(self, experiments: Sequence[Experiment]) -> None:
        self.experiments = {experiment.name: experiment for experiment in experiments}
        self._forms: dict[tuple[str, str, str], str] = {}

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
        if name not in self.experiments:
            near = nearest(name, self.experiments)
            raise Mistake(path, f"there is no experiment '{name}'.{near}")
        check_quoted(keys, path, Mistake)
        if not keys:
            raise Mistake(path, "is empty; what does it set?")
        experiment = self.experiments[name]
        signals = [signal for signal in experiment.signals() if not signal.ablates]
        chosen = [signal for signal in signals if cell in ("", signal.name)]
        if not chosen:
            names = [signal.name for signal in signals]
            raise Mistake(path, f"'{name}' has no cell '{cell}'.{nearest(cell, names)}")
        contenders = paper_own(experiment)
        names = [contender.name for contender in contenders]
        for only in value.only:
            if only not in names:
                reason = f"'{experiment.name}' has no '{only}' of the paper's."
                raise Mistake((*path[:2], "only"), reason + nearest(only, names))
        return any(
            _engine_form(_tried(experiment, signal, contender, keys, path))
            != self._form(experiment, signal, contender)
            for signal in chosen
            for contender in contenders
            if not value.only or contender.name in value.only
        )

    def _form(self, experiment: Experiment, signal: Signal, contender: Contender) -> str:
        key = experiment.name, signal.name, contender.name
        if key not in self._forms:
            self._forms[key] = _engine_form(experiment.case(contender, signal))
        return self._forms[key]


def paper_own(experiment: Experiment) -> list[Contender]:
    """List the algorithms of which the paper prints numbers. Our variants are not among them. A
    paper that prints no numbers has all."""
    names = {algorithm for _, algorithm, _ in printed(experiment)}
    every = experiment.contenders()
    return [c for c in every if c.name in names] or every


def printed(experiment: Experiment) -> dict[Cell, float]:
    """Read the numbers in print that a search is about: of the cells of a shorter run where the
    experiment has one, else all."""
    cells = experiment.quick_cells
    return {
        cell: value
        for cell, value in experiment.published.items()
        if cells is None or cell[0] in cells
    }


def looked_at_of(numbers: Iterable[Cell], algorithms: Sequence[str]) -> set[Cell]:
    """Choose the cells of a searched experiment at which a search of these algorithms looks."""
    return {cell for cell in numbers if not algorithms or cell[1] in algorithms}


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
        reason = re.sub(r"--set ([^:=]+)(=[^:]*)?: ", r"\1: ", str(error))
        twice = r"--aqm (\S+) sets it too; leave one out"
        raise Mistake(path, re.sub(twice, r"paper.toml has it of '\1'", reason)) from error


def _engine_form(case: Case) -> str:
    """Write the scenario as the engine reads it, with every row of its queues."""
    data = case.scenario.to_engine()
    for link in data["links"]:
        for _, _, table in queues(link):
            rows = algorithms.find(table["queue"]["algorithm"]).rows.values()
            table["queue"] = {row.name: row.default for row in rows} | table["queue"]
    return json.dumps(data, sort_keys=True)


def setups(search: Search) -> list[Setup]:
    """List the set-ups that are tried on the searched half, those outside the text last; InputError
    where `setups` is too small, or where a paper prints no numbers."""
    if not search.experiments:
        raise InputError(
            f"{search.paper}: prints no number that a search could meet; `sojourn reproduce "
            f"{search.paper}` measures what the points of {search.path} do"
        )
    first = {point.name: point.text for point in search.points}
    chosen = [first, *_singles(first, search.searched_points)]
    fewest = len(chosen) + len(search.outside)
    if fewest > search.setups:
        raise InputError(
            f"{search.path}: setups: {search.setups} are too few for the text's own, each other "
            f"value alone and those outside the text, {fewest}; allow more (up to 64), or leave "
            "values out"
        )
    for choice in _drawn(search):
        if len(chosen) + len(search.outside) == search.setups:
            break
        if (whole := {**first, **choice}) not in chosen:
            chosen.append(whole)
    within = [_setup(search, number, choice) for number, choice in enumerate(chosen, start=TEXT)]
    return within + [
        Setup(number, within[0].values, outside=outside)
        for number, outside in enumerate(search.outside, start=len(within) + TEXT)
    ]


def count(search: Search) -> int:
    """Count the set-ups of these values that a search can tell apart."""
    return prod(len(point.values) for point in search.searched_points)


def alone(search: Search, start: int) -> list[Setup]:
    """List the set-ups with one changed point that sets nothing in the searched half. They are
    reasons, not candidates."""
    points = [point for point in search.points if point not in search.searched_points]
    choices = _singles({point.name: point.text for point in search.points}, points)
    return [_setup(search, number, choice) for number, choice in enumerate(choices, start=start)]


def _singles(first: Mapping[str, str], points: Sequence[OpenPoint]) -> list[dict[str, str]]:
    """List the choices with one of these points changed."""
    return [{**first, point.name: name} for point in points for name in point.others]


def _setup(search: Search, number: int, choice: Mapping[str, str]) -> Setup:
    return Setup(
        number,
        {point.name: point.value(choice[point.name]) for point in search.points},
        {p.name: choice[p.name] for p in search.points if choice[p.name] != p.text},
    )


def _drawn(search: Search) -> Iterator[dict[str, str]]:
    """Yield set-ups: a small grid whole and in its order, else one Latin hypercube after the other,
    without end."""
    axes = [
        Axis(point.name, tuple(Point(value.name, {}) for value in point.values))
        for point in search.searched_points
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
