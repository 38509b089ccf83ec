# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Experiments of papers, as data in papers/PAPER/, or in a folder of the same form anywhere:

paper.toml        the keys that all its experiments share: algorithms under the paper's names, with
                  `about` for one that is not the paper's, and `stand_in` for one of which too
                  little is in print; seeds, and those of our algorithms that are set beside the
                  kernel's own on Linux
claims.toml       its claims on several experiments (sojourn.papers.paper)
search.toml       its open points, and where a search may look (sojourn.papers.points)

and in PAPER/EXPERIMENT/:

experiment.toml   signals and further axes, metrics and the place of measurement; its keys replace
                  the paper's. A metric may name another place (sojourn.result.metrics).
                  [rows.ALGORITHM] has rows that differ in each experiment, such as a buffer;
                  [[also]] are algorithms that run beside those of the paper
scenario.toml     the network and its traffic
published.toml    the numbers in print, by cell, algorithm and metric
claims.toml       the claims of text and tables on this experiment

scenario          another experiment of the paper, whose scenario.toml this one runs too
pieces            true: the pieces of the window, whose values are measurements as those of seeds
                  are
[quick]           what --quick runs: `where` keeps values of axes, `set` has keys of a shorter run

[[ablations]]     one thing changed in a cell, and why: `set`, a C file as `algorithm`, or a value
                  of search.toml, `point = "POINT: VALUE"`, whose keys it sets. One with `host`
                  is about a feature of that host alone, and runs there and nowhere else

An experiment is a sweep with published numbers and claims. Its first axis is the signal, which has
the metrics in print; [[axes]] are further ones, as in a SWEEP.toml. The values of a cell are its
name: 'drop', or 'drop, 25 ms'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import HOSTS
from sojourn.papers import claims_file
from sojourn.papers.claim import Cell as ClaimedCell
from sojourn.papers.claim import Claim
from sojourn.papers.forms import PublishedTable, SearchTable, read_experiment, read_file, read_form
from sojourn.result.metrics import find as find_metric
from sojourn.result.metrics import misplaced, places_of
from sojourn.runs.run import Case, changed
from sojourn.scenario.ends import recorded
from sojourn.scenario.model import Scenario
from sojourn.scenario.parts import Window
from sojourn.scenario.toml import Keys, line_of, load, read_text, spell
from sojourn.scenario.variant import Variant
from sojourn.sweeps.axes import Axis, Cell, Point, grid
from sojourn.sweeps.axes import axes as read_axes
from sojourn.sweeps.model import AxisTable
from sojourn.user_aqm import compiler, library

ROOT = Path(__file__).parents[1] / "sources" / "papers"
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Contender:
    """An algorithm, or a preset of one, under the name the paper gives it."""

    name: str
    algorithm: str
    rows: Mapping[str, Any]
    about: str = ""  # describes one that the paper has not
    stand_in: bool = False  # no claim is on it


@dataclass(frozen=True)
class Signal:
    """A cell of the experiment with its table, or an ablation of a cell. It has the signal (packets
    are dropped, or marked) and values of further axes."""

    name: str
    table: str
    set: Mapping[str, Any]
    metrics: tuple[str, ...]  # those in print
    beside: tuple[str, ...]  # measured too
    title: str
    base: str  # the cell of its printed numbers: itself, or the base of an ablation
    only: tuple[str, ...] = ()  # the algorithms that it runs; empty: all
    algorithm: str = ""  # of an ablation: a C file that runs in their place
    host: str = ""  # of an ablation: the host that runs it; empty: the first

    @property
    def ablates(self) -> bool:
        """Tell whether it shows the effect of one setting; no claim is judged on it."""
        return self.base != self.name

    @property
    def short(self) -> str:
        """Name an ablation without its cell."""
        return self.name.removeprefix(f"{self.base}, ")

    @property
    def why(self) -> str:
        """Return the reason of an ablation."""
        return self.title.removeprefix(f"{self.name}: ")


@dataclass(frozen=True, eq=False)
class PaperFiles:
    """A paper's folder. Each of its files is read once."""

    folder: Path

    @property
    def name(self) -> str:
        """Name the paper as the command line does."""
        return self.folder.absolute().name

    @property
    def title(self) -> str:
        """Name the paper as people do; by its folder where it has no other name."""
        return str(self.shared.get("title", self.name))

    @cached_property
    def shared(self) -> dict[str, Any]:
        """Read the keys that all its experiments share."""
        return read_file(self.folder / "paper.toml")

    @property
    def search_path(self) -> Path:
        """Return the place of its open points."""
        return self.folder / "search.toml"

    @cached_property
    def search(self) -> SearchTable | None:
        """Read its open points; None where it lists none."""
        return read_form(self.search_path, SearchTable) if self.search_path.is_file() else None

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        """Read its experiments; InputError where it has none."""
        folders = [path.parent for path in sorted(self.folder.glob("*/experiment.toml"))]
        if not folders:
            raise InputError(
                f"{self.folder}: has no experiment; each is a folder in it, with experiment.toml "
                "and scenario.toml"
            )
        return tuple(
            Experiment(self, folder, read_experiment(folder, self.shared, self.search))
            for folder in folders
        )


@dataclass(frozen=True)
class Experiment:
    """One experiment of one paper."""

    home: PaperFiles
    folder: Path
    data: Mapping[str, Any]

    @property
    def paper(self) -> str:
        """Name its paper."""
        return self.home.name

    @property
    def name(self) -> str:
        """Name it within its paper."""
        return self.folder.name

    @property
    def id(self) -> str:
        """Name it as tables and folders do: duk/1."""
        return f"{self.paper}/{self.name}"

    @property
    def argument(self) -> str:
        """Name it as the command line does: duk/1, or the folder where it is the user's."""
        return str(self.folder) if self.is_users else self.id

    @property
    def is_users(self) -> bool:
        """Tell whether it is of a paper of the user's."""
        return not self.folder.is_relative_to(ROOT)

    @property
    def title(self) -> str:
        """Return its title, one line."""
        return str(self.data["title"])

    @cached_property
    def scenario(self) -> Scenario:
        """Load the scenario, without an algorithm and a signal."""
        return load(self.scenario_path)

    @property
    def scenario_path(self) -> Path:
        """Return the place of its scenario, or of that of the experiment that it names; InputError
        where that one has no scenario of its own."""
        name = str(self.data.get("scenario", self.name))
        wanted = {
            one.name: str(one.data.get("scenario", one.name)) for one in self.home.experiments
        }
        own = [one for one, other in wanted.items() if one == other != self.name]
        is_shared = self.home.shared.get("scenario") == name
        reason = ""
        if name not in wanted:
            reason = f"the paper has no experiment '{name}'.{nearest(name, own)}"
        elif name == self.data.get("scenario") == self.name and not is_shared:
            reason = "it names itself; leave the key out, and it runs its own scenario.toml"
        elif wanted[name] != name:
            near = f"name one with a scenario.toml of its own.{nearest(name, own)}"
            reason = f"'{name}' runs that of '{wanted[name]}' itself; {near}"
        if reason:
            raise self._wrong(("scenario",), reason)
        return self.home.folder / name / "scenario.toml"

    @cached_property
    def window(self) -> Window:
        """Find the window that the tables measure."""
        # Written out, a window has no pieces but is beside them.
        windows = (*self.scenario.record.windows, *self.scenario.expand().record.windows)
        return next(window for window in windows if window.name == self.data["window"])

    @property
    def pieces(self) -> tuple[str, ...]:
        """List the windows whose values are measurements of a cell, each run's one after the
        other."""
        names = self.window.piece_names() if self.data.get("pieces") else ()
        return names or (self.window.name,)

    @cached_property
    def _own(self) -> dict[str, Any]:
        """Read the keys of its own file, which replace the paper's."""
        return read_file(self.folder / "experiment.toml")

    @cached_property
    def published(self) -> dict[ClaimedCell, float]:
        """Read the numbers in print."""
        path = self.folder / "published.toml"
        table = read_form(path, PublishedTable).root if path.exists() else {}
        return {
            (signal, algorithm, metric): float(value)
            for signal, algorithms in table.items()
            for algorithm, metrics in algorithms.items()
            for metric, value in metrics.items()
        }

    def check(self) -> None:
        """Raise InputError where a file names an algorithm, a window, a queue or a cell that does
        not exist."""
        for i, entry in enumerate(self.data["algorithms"]):
            try:
                algorithms.find_preset(entry["algorithm"])
            except InputError as error:
                raise self._wrong(("algorithms", i, "algorithm"), str(error)) from error
        graph = self.scenario.expand()
        places = {
            "window": [window.name for window in graph.record.windows],
            "queue": recorded(graph.links, graph.record.queues),
        }
        for key, names in places.items():
            if self.data[key] not in names:
                near = nearest(str(self.data[key]), names)
                raise self._wrong((key,), f"the scenario has no '{self.data[key]}'.{near}")
        if self.data.get("pieces") and not self.window.piece_names():
            reason = f"window '{self.window.name}' is whole; write `pieces = 10` in the scenario's"
            raise self._wrong(("pieces",), reason)
        self._check_quick()
        self._check_metrics()
        self._check_axes()
        measured = {
            (signal.name, contender.name, metric)
            for signal in self.signal_of.values()
            for contender in self.contenders(signal)
            for metric in (*signal.metrics, *signal.beside)
        }
        for cell in self.published:
            if cell not in measured:
                place = _place(self.folder / "published.toml", cell)
                raise InputError(f"{place}: {self._unmeasured(cell)}")
        for i, claim in enumerate(self.claims()[0]):
            for cell in claim.cells():
                if cell not in measured:
                    place = _place(self.folder / "claims.toml", ("claims", i))
                    raise InputError(f"{place}: claim {claim.id}: {self._unmeasured(cell)}")

    def _unmeasured(self, cell: ClaimedCell) -> str:
        """Say which of cell, algorithm and metric there is not."""
        label, algorithm, metric = cell
        signal = self.signal_of.get(label)
        if not signal:
            values = "; ".join(
                f"{axis.name}: {', '.join(point.text for point in axis.points)}"
                for axis in self._axes()
            )
            return f"no cell is '{label}'.{nearest(label, self.signal_of)} The axes have {values}"
        names = [contender.name for contender in self.contenders(signal)]
        if algorithm not in names:
            return f"no algorithm '{algorithm}'; there are {', '.join(names)}"
        return (
            f"'{metric}' is not measured in cell '{label}'; add it to `metrics` or `beside` in "
            "experiment.toml"
        )

    def _check_quick(self) -> None:
        """Raise InputError where [quick] names a value that no axis has."""
        for axis, values in self._quick.get("where", {}).items():
            known = dict.fromkeys(cell.texts.get(axis, "") for cell in self.cells())
            for value in values:
                if value not in known:
                    reason = f"no cell has '{value}'.{nearest(value, known)}"
                    raise self._wrong(("quick", "where", axis), reason)

    def _check_metrics(self) -> None:
        """Raise InputError where the scenario lacks the place of a metric."""
        places = places_of(self.scenario.expand())
        for i, entry in enumerate(self.data["signals"]):
            for name in (*entry["metrics"], *entry.get("beside", ())):
                if reason := misplaced(find_metric(name), places):
                    raise self._wrong(("signals", i), reason)

    def _check_axes(self) -> None:
        """Raise InputError for a value of an axis that the scenario refuses. The first cell with
        each value is tried."""
        cells = self.cells()
        for i, axis in enumerate(self._axes()[1:]):
            for point in axis.points:
                label = next(c.label for c in cells if c.texts[axis.name] == point.text)
                for contender in self.contenders(self.signal_of[label])[:1]:
                    try:
                        self.case(contender, self.signal_of[label])
                    except InputError as error:
                        # A wrong row of paper.toml is no mistake of the axis.
                        if not any(key.split(".")[-1] in str(error) for key in point.changes):
                            raise
                        raise self._wrong(("axes", i), str(error)) from error

    def claims(self) -> tuple[list[Claim], set[ClaimedCell]]:
        """Read the claims, and the cells that settled a setting according to the file. Cells that a
        search has settled come on top (sojourn.papers.points)."""
        cells = {cell.label: cell.texts for cell in self.cells()}
        path = self.folder / "claims.toml"
        return claims_file.load(path, cells, self.published, self.stand_ins)

    @property
    def stand_ins(self) -> set[str]:
        """Name the algorithms that are not the paper's, though they have its name."""
        return {c.name for c in self.contenders() if c.stand_in}

    def table_cells(self) -> Iterator[tuple[str, str, str]]:
        """Name the cell, algorithm and metric of each place in the tables; no ablation has any."""
        for signal in self.signals():
            if not signal.ablates:
                for contender in self.contenders(signal):
                    for metric in signal.metrics:
                        yield signal.name, contender.name, metric

    def cells(self) -> list[Cell]:
        """List every signal with every point of the other axes."""
        return list(grid(self._axes()))

    def _axes(self) -> list[Axis]:
        """List the signal, then the further axes."""
        signals = tuple(Point(entry["name"], entry["set"]) for entry in self.data["signals"])
        tables = [AxisTable.model_validate(table) for table in self.data.get("axes", ())]
        others = [Axis(source.name, source.points()) for source in read_axes(tables, self._wrong)]
        return [Axis("signal", signals), *others]

    def _wrong(self, path: Keys, reason: str) -> InputError:
        is_shared = path[0] in self.home.shared and path[0] not in self._own
        file = self.home.folder / "paper.toml" if is_shared else self.folder / "experiment.toml"
        return InputError(f"{_place(file, path)}: {spell(path)}: {reason}")

    def contenders(self, signal: Signal | None = None) -> list[Contender]:
        """List the algorithms, or those that run under a signal; InputError for rows of an unknown
        one."""
        names = [entry["name"] for entry in self.data["algorithms"]]
        own = self.data.get("rows", {})
        for name in own:
            if name not in names:
                reason = f"there is no such algorithm.{nearest(name, names)}"
                raise self._wrong(("rows", name), reason)
        return [
            Contender(
                entry["name"],
                entry["algorithm"],
                {**entry.get("rows", {}), **own.get(entry["name"], {})},
                entry.get("about", ""),
                entry.get("stand_in", False),
            )
            for entry in (*self.data["algorithms"], *self.data.get("also", ()))
            if signal is None or not signal.only or entry["name"] in signal.only
        ]

    @cached_property
    def signal_of(self) -> dict[str, Signal]:
        """Give cells and ablations by name."""
        return {signal.name: signal for signal in self.signals()}

    def signals(self) -> list[Signal]:
        """List the cells, then their ablations; InputError for an ablation of no cell."""
        entries = {entry["name"]: entry for entry in self.data["signals"]}
        signals = [
            Signal(
                cell.label,
                entry["table"],
                cell.changes,
                tuple(entry["metrics"]),
                tuple(entry.get("beside", ())),
                cell.label,
                cell.label,
                tuple(entry.get("only", ())),
            )
            for cell in self.cells()
            for entry in [entries[cell.texts["signal"]]]
        ]
        by_name = {signal.name: signal for signal in signals}
        return [*signals, *(self._ablation(*place, by_name) for place in self._ablations)]

    @property
    def _ablations(self) -> list[tuple[int, dict[str, Any]]]:
        entries = enumerate(self.data.get("ablations", ()))
        # Without a compiler only the ablations of a C file cannot run.
        return [(i, e) for i, e in entries if "algorithm" not in e or compiler.is_there()]

    def _ablation(self, i: int, entry: dict[str, Any], cells: Mapping[str, Signal]) -> Signal:
        path: Keys = ("ablations", i)
        if entry["of"] not in cells:
            near = nearest(entry["of"], cells)
            raise self._wrong((*path, "of"), f"there is no cell '{entry['of']}'.{near}")
        host = str(entry.get("host", ""))
        if host and host not in HOSTS:
            near = nearest(host, HOSTS)
            raise self._wrong((*path, "host"), f"'{host}': there is no such host.{near}")
        base = cells[entry["of"]]
        name = f"{base.name}, {entry['name']}"
        return replace(
            base,
            name=name,
            set={**base.set, **entry["set"]},
            only=tuple(entry.get("only", base.only)),
            algorithm=entry.get("algorithm", ""),
            host=host,
            title=f"{name}: {entry['why']}",
        )

    def runs_on(self, host: str, hosts: Sequence[str]) -> list[Signal]:
        """List the cells and ablations that one of several hosts runs. The first host runs all
        ablations that name no host."""
        return [s for s in self.signals() if not s.ablates or (s.host or hosts[0]) == host]

    def peers(self) -> list[tuple[Contender, Contender]]:
        """Pair ours with the kernel's own under the same rows, for a comparison on Linux."""
        printed = {contender.algorithm: contender for contender in self.contenders()}
        ours = [printed.get(name, Contender(name, name, {})) for name in self.data.get("peers", ())]
        return [(own, _other_form(own)) for own in ours]

    def cases(self) -> list[Case]:
        """List every algorithm under every signal."""
        return self._cases(self.contenders(), self.signals())

    def cases_on(self, host: str, hosts: Sequence[str], quick: bool = False) -> list[Case]:
        """List the cases that one of several hosts runs."""
        return self._cases(self.contenders(), self.runs_on(host, hosts), quick)

    def peer_cases(self, host: str, quick: bool = False) -> list[Case]:
        """List the further cases that a host needs to set ours beside the kernel's own."""
        wanted = [own for own, _ in self.peers() if own not in self.contenders()]
        wanted += [theirs for _, theirs in self.peers()] if host == "linux" else []
        signals = [signal for signal in self.signals() if not signal.ablates]
        return self._cases(wanted, signals, quick)

    def _cases(
        self, contenders: Sequence[Contender], signals: Sequence[Signal], quick: bool = False
    ) -> list[Case]:
        cells = self.quick_cells if quick else None
        changes = self.quick_set if quick else _NONE
        return [
            self.case(contender, signal, changes)
            for signal in signals
            if cells is None or (signal.base in cells and not signal.ablates)
            for contender in contenders
            if not signal.only or contender.name in signal.only
        ]

    @property
    def _quick(self) -> Mapping[str, Any]:
        return self.data.get("quick") or _NONE

    @property
    def quick_set(self) -> Mapping[str, Any]:
        """Return the keys of a shorter run."""
        return dict(self._quick.get("set", _NONE))

    @property
    def quick_cells(self) -> set[str] | None:
        """Name the cells that --quick runs; None for all, and their ablations."""
        where = self._quick.get("where")
        if not where:
            return None
        return {
            cell.label
            for cell in self.cells()
            if all(cell.texts.get(axis) in values for axis, values in where.items())
        }

    def case(
        self, contender: Contender, signal: Signal, changes: Mapping[str, Any] = _NONE
    ) -> Case:
        """Put one algorithm under one signal into the scenario, with further changes."""
        changed_signal = replace(signal, set={**signal.set, **changes})
        return Case(
            self._variant(contender, changed_signal),
            {
                "aqm": signal.algorithm or contender.algorithm,
                "algorithm": contender.name,
                "signal": signal.name,
            },
        )

    def _variant(self, contender: Contender, signal: Signal) -> Scenario:
        algorithm, chosen = algorithms.find_preset(contender.algorithm)
        # An ablation's value of a row replaces the paper's.
        rows = {k: v for k, v in contender.rows.items() if f"queue.{k}" not in signal.set}
        variant = Variant(algorithm, rows, preset=chosen)
        if signal.algorithm:
            rows = {k: v for k, v in variant.all_rows.items() if f"queue.{k}" not in signal.set}
            variant = Variant(str(library.absolute(signal.algorithm, self.folder)), rows)
        source = f"{self.id}, {signal.name}, {contender.name}"
        return changed(self.scenario, variant, signal.set, source)


def _other_form(own: Contender) -> Contender:
    every = algorithms.every().values()
    name = next(other.name for other in every if other.like == own.algorithm)
    # The kernel's own has the kernel's arithmetic, and no row for it.
    rows = {row: value for row, value in own.rows.items() if (row, value) != ("form", "linux")}
    return replace(own, name=name, algorithm=name, rows=rows)


def papers() -> list[PaperFiles]:
    """List the papers that come with Sojourn."""
    return [PaperFiles(path.parent) for path in sorted(ROOT.glob("*/paper.toml"))]


def experiments() -> list[Experiment]:
    """Read every experiment of the papers that come with Sojourn."""
    return [experiment for paper in papers() for experiment in paper.experiments]


def find_one(name: str) -> Experiment:
    """Find an experiment, such as 'duk/1'. InputError for an unknown name, or one of several."""
    chosen = find([name])
    if len(chosen) > 1:
        raise InputError(f"{name}: has several experiments: {', '.join(e.id for e in chosen)}")
    return chosen[0]


def find(names: Sequence[str]) -> list[Experiment]:
    """Find the experiments meant by 'duk/1', 'duk', or the folder of a paper or an experiment.
    Without names return all of ours. InputError for an unknown name."""
    known = experiments()
    chosen: list[Experiment] = []
    for name in names:
        meant = [e for e in known if name in (e.id, e.paper)]
        if not meant and name and Path(name).is_dir():
            meant = _in_folder(Path(name))
        if not meant:
            valid = {e.id for e in known} | {e.paper for e in known}
            own = [e.name for e in known if e.paper == name.partition("/")[0]]
            has = f" '{name.partition('/')[0]}' has {', '.join(own)}." if own else ""
            raise InputError(f"there is no experiment '{name}'.{nearest(name, valid)}{has}")
        for experiment in meant:
            same = next((e for e in chosen if e.id == experiment.id), None)
            if same and same.folder != experiment.folder:
                raise InputError(f"{experiment.folder} and {same.folder}: two are {same.id}")
            if not same:
                chosen.append(experiment)
    return chosen or known


def _in_folder(folder: Path) -> list[Experiment]:
    if (folder / "paper.toml").is_file():
        return list(PaperFiles(folder).experiments)
    if (folder / "experiment.toml").is_file() and (folder / ".." / "paper.toml").is_file():
        whole = folder.absolute()
        return [e for e in PaperFiles(whole.parent).experiments if e.name == whole.name]
    raise InputError(
        f"{folder}: is not a paper's folder; a paper has paper.toml, and a folder for each "
        "experiment with experiment.toml and scenario.toml"
    )


def _place(file: Path, path: Keys) -> str:
    """Name a file, with the line of the key."""
    line = line_of(read_text(file), path)
    return f"{file}{f':{line}' if line else ''}"
