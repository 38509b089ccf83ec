# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Results: the runs with their request and their numbers. They do not change after they are made.

    DIR/result.json      format, command, seeds, versions, host, and the aggregates of every run
       /scenario.toml    the scenario, before the changes of the command
       /windows.parquet  one row for each run, queue and window
       /series.parquet   one row for each run, queue and time: the raw series
       /group_series.parquet   one row for each run, name of flows and time
       /statistics.parquet     one row for each run, queue, statistic of its algorithm and time
       /flows.parquet    one row for each run, flow and window
       /groups.parquet   one row for each run, window and name of flows
       /distributions.parquet  one row for each cell of a histogram of delays or times
       /pings.parquet      one row for each ping, where there are any
       /transfers.parquet  one row for each transfer, where the scenario asks for them
       /classes.parquet  one row for each run, window, and class or ring at a link's end, if any
       /steps.parquet    one row for each run, queue and change of the scenario, if it has any
       /own/             C files, traces and vectors of yours, as they were run
       /README.md        a description of the folder
       /runs/            the store: finished runs, from which the same command continues

result.json is written last, with the digests of the others. If a folder lacks it, or the digests do
not match, the folder was not finished.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from sojourn.core.arguments import checked
from sojourn.core.errors import InputError, SojournError, StoreError
from sojourn.result import columns
from sojourn.store.folder import MARK
from sojourn.store.store import (
    Content,
    Entry,
    Store,
    digest,
    digest_of,
    partial_name,
    read_json,
    write_errors,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.result.request import Request
    from sojourn.scenario.model import Scenario
    from sojourn.store.folder import Folder

_NONE: Mapping[str, Content] = MappingProxyType({})
_README = """\
# A result of Sojourn

{again}* `result.json`: version, command, host, seeds, and the aggregates of every run (`runs`)
* `scenario.toml`: the scenario, before the changes of the command
{tables}{own}{more}\
* `runs/`: each finished run with its scenario in full; the same command goes on here

    import pandas;  pandas.read_parquet("windows.parquet")
    import polars;  polars.read_parquet("series.parquet")
    import duckdb;  duckdb.sql("select aqm, avg(utilisation_pct) from 'windows.parquet' group by 1")

Delays are in milliseconds, rates in Mbit/s; drops and marks in percent of arriving
packets, utilisation in percent of what the link could have sent.
`sojourn verify .` makes every run anew and compares it, also in a folder without `runs/`. It names
files that are missing or were changed, with status 1.
Made by Sojourn {core}.
"""
_OF_OWN = """\
* `own/`: files of yours, as they were run, each under its name and the digest of its content;
  `--aqm ./own/.../NAME.c` runs a C file again
"""
_OF_EXPERIMENTS = """\
* `report.html`, `reproduction.json`: measured beside published, and a verdict for each claim
* `figures/`: the numbers of the report's figures
"""
_AGAIN = """\
In this folder, this command repeats it:

    {command}

"""

# 2: a column of a table has the name of its metric (queue_delay_mean_ms; before,
# queue_delay_ms_mean). Results are read from their runs, which are the same in both.
FORMAT = 2
_READ = (1, FORMAT)


@dataclass(frozen=True, repr=False)
class Run:
    """One run: its labels, and the engine's report."""

    labels: Mapping[str, str | int]
    report: Mapping[str, Any]
    entry: Entry
    # The algorithm of each queue for which it differs from the one in the labels.
    queues: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Run: {', '.join(f'{key} {value}' for key, value in self.labels.items())}>"

    @property
    def seed(self) -> int:
        """Return its seed."""
        return int(self.labels["seed"])

    def aqm_of(self, queue: str) -> str:
        """Name the algorithm of a queue as tables do."""
        return self.queues.get(queue, str(self.labels["aqm"]))

    def series(self) -> pa.Table:
        """Read the time series of the recorded queues."""
        return self.entry.series()

    def group_series(self) -> pa.Table | None:
        """Read the time series of groups of flows; None where no step was recorded."""
        return self.entry.group_series()

    def statistics(self) -> pa.Table | None:
        """Read the algorithms' statistics over time; None where none was recorded."""
        return self.entry.statistics()

    def events(self) -> pa.Table | None:
        """Read every packet that left the recorded queues; None if they were not kept."""
        return self.entry.events()

    def transfers(self) -> pa.Table | None:
        """Read every transfer; None if they were not kept."""
        return self.entry.transfers()

    def to_json(self) -> dict[str, Any]:
        """Return one element of `runs` in `sojourn run --json`."""
        tested = self.labels["aqm"]
        queues = [
            {"aqm": self.aqm_of(queue["name"]), "tested": tested, **queue}
            for queue in self.report["queues"]
        ]
        return {**self.labels, **self.report, "queues": queues}


@dataclass(frozen=True, repr=False)
class Result:
    """Several runs that belong together."""

    graph: Scenario | str  # before the changes of the command; or the TOML of that
    runs: tuple[Run, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        aqms = dict.fromkeys(str(run.labels["aqm"]) for run in self.runs)
        seeds = {run.seed for run in self.runs}
        return f"<Result: {len(self.runs)} runs of {', '.join(aqms)}; {len(seeds)} seeds>"

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def scenario(self) -> str:
        """Return the scenario before the changes of the command, in TOML."""
        return self.graph if isinstance(self.graph, str) else self.graph.to_toml()

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn run --json`."""
        return {"runs": [run.to_json() for run in self.runs]}

    def windows(self) -> pa.Table:
        """Tabulate the aggregates: one row for each run, queue and window."""
        return _table(columns.window_rows(self.runs))

    def flows(self) -> pa.Table:
        """Tabulate the flows: one row for each run, flow and window."""
        return _table(columns.flow_rows(self.runs))

    def groups(self) -> pa.Table:
        """Tabulate counts, fairness and completion times: one row for each run, window and name of
        flows."""
        return _table(columns.group_rows(self.runs))

    def steps(self) -> pa.Table:
        """Tabulate the response to each change of the scenario: one row for each run, queue and
        time.

        The table is empty where nothing changes.
        """
        return _table(columns.step_rows(self.runs))

    def classes(self) -> pa.Table:
        """Tabulate classes and rings at the ends of links: one row for each run, window and class.

        The table is empty where no link with an `end` is recorded.
        """
        return _table(columns.class_rows(self.runs))

    def pings(self) -> pa.Table:
        """Tabulate the pings: one row for each run and ping.

        The table is empty where no traffic is `ping`.
        """
        import pyarrow as pa

        from sojourn.store import arrow

        tables = [
            arrow.labelled(
                pa.table({key: pa.array(of[key], pa.float64()) for key in ("sent_s", "rtt_ms")}),
                {**run.labels, "flow": of["name"], "index": of["index"]},
            )
            for run in self.runs
            for of in run.report.get("echoes", ())
        ]
        return pa.concat_tables(tables) if tables else pa.table({})

    def series(self) -> pa.Table:
        """Join the raw series of all runs, with the labels of each run as columns."""
        return self._together(Run.series)

    def group_series(self) -> pa.Table:
        """Join the time series of groups of flows likewise."""
        return self._together(Run.group_series)

    def statistics(self) -> pa.Table:
        """Join the algorithms' statistics over time likewise."""
        return self._together(Run.statistics)

    def distributions(self) -> pa.Table:
        """Join the cells of the delays and times of all runs likewise."""
        return self._together(lambda run: run.entry.distributions())

    def _together(self, read: Callable[[Run], pa.Table | None]) -> pa.Table:
        import pyarrow as pa

        from sojourn.store import arrow

        tables = [
            arrow.label_queues(table, run.labels, run.queues)
            if {"queue", "quantity"} & {*table.column_names}
            else arrow.labelled(table, run.labels)
            for run in self.runs
            if (table := read(run)) is not None
        ]
        return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})

    def transfers(self) -> Iterator[pa.Table]:
        """Yield the transfers of all runs that kept them, with labels as columns, piece by piece.

        All transfers together may exceed the memory.
        """
        import pyarrow as pa

        from sojourn.store import arrow

        for run in self.runs:
            for batch in run.entry.transfer_batches() or ():
                yield arrow.labelled(pa.Table.from_batches([batch]), run.labels)

    @checked
    def save(self, folder: str | Path) -> None:
        """Write the folder; it counts as finished only with its last file."""
        from sojourn.store.folder import claim

        with claim(folder).held() as own:
            self.write(own, self.scenario)

    def write(self, own: Folder, scenario: str, inputs: Mapping[str, Content] = _NONE) -> None:
        """Write the folder, which this command holds, with the scenario and the files that it
        names."""
        from sojourn.core.hosts import made_by
        from sojourn.store.arrow import parquet_bytes

        store = Store(own.path / "runs")
        for run in self.runs:
            store.adopt(run.entry)
        contents: dict[str, Content] = {"scenario.toml": scenario.encode(), **inputs}
        for tabulate in (
            *(self.windows, self.series, self.group_series, self.statistics),
            *(self.flows, self.groups, self.distributions),
        ):
            contents[f"{tabulate.__name__}.parquet"] = parquet_bytes(tabulate())
        for tabulate in (self.steps, self.classes, self.pings):
            if len(table := tabulate()):
                contents[f"{tabulate.__name__}.parquet"] = parquet_bytes(table)
        contents |= self._transfers_in(own.path)
        made = made_by()
        contents["README.md"] = self._readme(contents, made).encode()
        sources = {name: files for run in self.runs for name, files in run.entry.sources.items()}
        head = {
            "format": FORMAT,
            **made,
            "seeds": sorted({run.seed for run in self.runs}),
            **self.meta,
            "files": own.write_all(contents, sources),
            "keys": [run.entry.key for run in self.runs],
            "labels": [dict(run.labels) for run in self.runs],
            **self.to_json(),
        }
        own.write("result.json", json.dumps(head, indent=1).encode())

    def _readme(self, names: Collection[str], made: Mapping[str, Any]) -> str:
        """Describe the folder with these files, and name the command that repeats the result."""
        command = self.meta.get("command")
        has_own = any(run.entry.sources for run in self) or any(
            name.startswith("own/") for name in names
        )
        tables = [
            f"* `{name}`: {columns.TABLES[name][0]}\n" for name in names if name in columns.TABLES
        ]
        return _README.format(
            again=_AGAIN.format(command=command) if command else "",
            tables="".join(tables),
            own=_OF_OWN if has_own else "",
            more=_OF_EXPERIMENTS if "experiment" in self.meta else "",
            core=version_text(made),
        )

    def _transfers_in(self, folder: Path) -> dict[str, Content]:
        """Write the file of all transfers beside its final place; return nothing where no run kept
        any."""
        from sojourn.store.arrow import write_all

        name = "transfers.parquet"
        beside = partial_name(folder / name)
        with write_errors(folder / name, is_result=True):
            return {name: beside} if write_all(beside, self.transfers()) else {}

    @classmethod
    @checked
    def load(cls, folder: str | Path) -> Self:
        """Read a folder back. StoreError: it is not whole. InputError: it holds no result."""
        folder = Path(folder)
        if folder.is_file():
            raise InputError(f"{folder}: is a file; name the folder of a result")
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; {_makes(folder)}")
        try:
            head = read_json(folder / "result.json")
            digests = {name: digest_of(folder / name) for name in head["files"]}
            scenario = (folder / "scenario.toml").read_bytes()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _no_result(folder) from error
        if "sweep" in head:
            keys = (key for axis in head["axes"] for key in axis["keys"])
            cell = " ".join(("--aqm AQM --seeds N", *(f"--set {key}=VALUE" for key in keys)))
            raise InputError(
                f"{folder}: holds a sweep; `plot` and `compare` take it, alone or beside sweeps, "
                f'and sojourn.sweep("{folder}/sweep.toml", out="{folder}") reads it. A result of '
                f"one cell: sojourn run {folder}/scenario.toml {cell} --out cell"
            )
        if head.get("format") not in _READ:
            is_newer = isinstance(head.get("format"), int) and head["format"] > FORMAT
            raise StoreError(
                f"{folder}: format {head.get('format')!r} is "
                f"{'of a newer Sojourn' if is_newer else 'not known'}; this version reads 1 to "
                f"{FORMAT}, and writes {FORMAT} when its command is run again"
            )
        if digests != head["files"] or digest(scenario) != digests["scenario.toml"]:
            raise StoreError(_unfinished(folder))
        store = Store(folder / "runs")
        entries = [store.load(key) for key in head["keys"]]
        if None in entries:
            raise StoreError(_unfinished(folder))
        runs = tuple(
            Run(labels, entry.report, entry, _own_names(labels, run))
            for labels, run, entry in zip(head["labels"], head["runs"], entries, strict=True)
            if entry
        )
        meta = {key: head[key] for key in _META if key in head}
        return cls(scenario.decode(), runs, meta)


def version_text(made: Mapping[str, Any]) -> str:
    """Name the version that made a result, and its commit where it is known."""
    return f"{made['core']}, commit {made['commit']}" if "commit" in made else str(made["core"])


def _table(rows: Iterable[dict[str, Any]]) -> pa.Table:
    from sojourn.store import arrow

    return arrow.long_table(rows)


def _own_names(labels: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, str]:
    """Name the algorithm of each queue for which it differs from the one in the labels of
    the run."""
    names = {queue["name"]: queue.get("aqm", labels["aqm"]) for queue in run["queues"]}
    return {queue: name for queue, name in names.items() if name != labels["aqm"]}


# The keys of `result.json` that describe the whole result, besides the runs.
_META = ("made", "core", "commit", "host", "command", "aqms", "changes", "hosts", "experiment")


def read_request(folder: str | Path, *, experiments: bool = False) -> Request | None:
    """Read the request of the result in a folder; None where there is no readable result.

    InputError: the folder holds the result of an experiment. With `experiments`, return None for it
    too.
    """
    from sojourn.result.request import Request

    folder = Path(folder)
    try:
        head = read_json(folder / "result.json")
        scenario = (folder / "scenario.toml").read_text(encoding="utf-8")
        if digest(scenario.encode()) != head["files"]["scenario.toml"]:
            return None
        request = Request.from_json(head, scenario)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if request is None and not (experiments and "experiment" in head):
        raise InputError(
            f"{folder}: holds what another command made; name another folder with --out"
        )
    return request


# Nobody reads a longer list.
_SHOWN = 10


def _no_result(folder: Path) -> SojournError:
    """Make the error of a folder that cannot be read: one of a command has its mark or its runs."""
    if any((folder / name).exists() for name in ("result.json", "runs", MARK)):
        return StoreError(_unfinished(folder))
    here = sorted(str(path.parent) for path in folder.glob("*/result.json"))
    more = ", ..." * (len(here) > _SHOWN)
    found = f"these do: {', '.join(here[:_SHOWN])}{more}" if here else _makes(Path("FOLDER"))
    return InputError(f"{folder}: holds no result; {found}")


def _makes(folder: Path) -> str:
    return f"'sojourn run SCENARIO.toml --out {folder}' makes one"


def _unfinished(folder: Path) -> str:
    return (
        f"{folder}: this result is not whole (its command failed or was stopped, or a file was cut "
        "off). Run the same command again: what was finished is kept"
    )
