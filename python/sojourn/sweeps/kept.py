# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A sweep as tables, for pictures and comparisons: its folder, or the object that made them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sojourn.core.errors import InputError, StoreError
from sojourn.core.hosts import made_by
from sojourn.result.compare import check_known, entries
from sojourn.result.inputs import Inputs
from sojourn.result.metrics import Metric, find, misplaced, places_of
from sojourn.scenario import toml
from sojourn.scenario.model import Scenario
from sojourn.store.store import digest_of, read_json
from sojourn.sweeps.result import FORMAT, Swept, head_of, texts

if TYPE_CHECKING:
    from sojourn.result.compare import One

    # As `Results` of runs.
    Given = One | Swept | Mapping[str, One | Swept] | Sequence[One | Swept]

Row = Mapping[str, Any]
_TEXTS = ("scenario.toml", "sweep.toml")
_ALIKE = "name sweeps alone, or results of sojourn run alone"


@dataclass(frozen=True, repr=False)
class Kept:
    """The tables of a finished sweep, without its runs."""

    place: Path  # its folder, or the file that it was swept from
    file: Path  # that a metric can be added to
    texts: Mapping[str, str]  # of the files that repeat it
    head: Mapping[str, Any]
    cells: Sequence[Row]  # a run each
    means: Sequence[Row]
    metrics: tuple[Metric, ...]
    scenario: Callable[[], Scenario]  # reads it where an error needs it

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a folder. InputError: it holds no sweep. StoreError: it is not whole."""
        from sojourn.store import arrow

        head = _head(folder)
        if head is None:
            if not folder.exists():
                raise InputError(
                    f"{folder}: is not there; sojourn sweep SWEEP.toml --out {folder} makes it"
                )
            raise InputError(f"{folder}: holds no sweep, as another of these does; {_ALIKE}")
        if head.get("format") != FORMAT:
            raise StoreError(
                f"{folder}: format {head.get('format')!r} of a sweep is not known; this version "
                f"reads {FORMAT}: run its command again"
            )
        for name in ("cells.parquet", "means.parquet", *_TEXTS):
            if not (folder / name).exists() or digest_of(folder / name) != head["files"][name]:
                raise StoreError(
                    f"{folder}: this sweep is not whole: {name} was changed. Run "
                    f"sojourn sweep {folder}/sweep.toml --out {folder}: no run is made again"
                )
        cells, means = (
            arrow.read(folder / f"{name}.parquet").to_pylist() for name in ("cells", "means")
        )
        metrics = [name.removesuffix("_ci95") for name in means[0] if name.endswith("_ci95")]
        written = {name: (folder / name).read_text(encoding="utf-8") for name in _TEXTS}
        file = folder / "sweep.toml"
        found = tuple(map(find, metrics))
        scenario = partial(toml.load, folder / "scenario.toml")
        return cls(folder, file, written, head, cells, means, found, scenario)

    @classmethod
    def of(cls, swept: Swept) -> Self:
        """Take the tables of a sweep that a script holds."""
        spec = swept.spec
        file = Path(spec.source)
        cells, means = swept.cells_table().to_pylist(), swept.means_table().to_pylist()
        written = texts(spec, Inputs(file.parent))
        head = head_of(swept, made_by())
        return cls(file, file, written, head, cells, means, spec.metrics, lambda: spec.scenario)

    def __repr__(self) -> str:
        return f"<Kept: {self.name} of {self.place}>"

    @property
    def name(self) -> str:
        """Return the name of the sweep."""
        return str(self.head["sweep"])

    @property
    def columns(self) -> dict[str, str]:
        """List the column of each axis; one that moves several keys has the first one's."""
        return {axis["name"]: axis["columns"][0] for axis in self.head["axes"]}

    def of_aqms(self, aqms: Sequence[str]) -> Self:
        """Leave out other algorithms under test, if some are named. InputError: it has none."""
        if not aqms:
            return self
        check_known("--aqm", aqms, list(dict.fromkeys(str(row["tested"]) for row in self.means)))
        cells, means = (
            [row for row in rows if row["tested"] in aqms] for rows in (self.cells, self.means)
        )
        return replace(self, cells=cells, means=means)

    def axis(self, option: str, name: str) -> str:
        """Find the column of an axis by its name, by a key of it, or by the column's own name."""
        columns = self.columns
        if name in columns.values():
            return name
        by_key = {key: axis["name"] for axis in self.head["axes"] for key in axis["keys"]}
        name = by_key.get(name, name)
        if name not in columns:
            raise InputError(f"{option} {name}: no such axis; there is {' and '.join(columns)}")
        return columns[name]

    def metric(self, option: str, name: str) -> Metric:
        """Find a metric among those of the sweep, in either spelling."""
        wanted = find(name)
        for metric in self.metrics:
            if (metric.kind, metric.place) == (wanted.kind, wanted.place):
                return metric
        # An axis may change which queues are recorded, but not the flows.
        if wanted.places != "queues":
            places = places_of(self.scenario().expand())
            if reason := misplaced(wanted, places):
                raise InputError(f"{option}: {reason}")
        raise InputError(
            f"{option} {name}: the sweep has no such metric; add it to `metrics` of "
            f"{self.file} and sweep again: no run is made again. It has: "
            + ", ".join(metric.name for metric in self.metrics)
        )


# Units at the end of a column's name, as people write them.
_UNITS = {
    "ms": "ms",
    "mbps": "Mbit/s",
    "bytes": "bytes",
    "pkts": "packets",
    "pct": "%",
    "hz": "Hz",
}


def named_unit(column: str) -> tuple[str, str]:
    """Split the column of an axis into its name, in words, and its unit, if it has one."""
    name, _, unit = column.rpartition("_")
    known = name and unit in _UNITS
    return (name if known else column).replace("_", " "), _UNITS[unit] if known else ""


def worded(column: str, value: Any) -> tuple[str, str]:
    """Write the name of a column, and a value with its unit as `sojourn sweep` prints it."""
    name, unit = named_unit(column)
    if isinstance(value, str | bool) or value is None:
        return name, str(value)
    return name, f"{value:g} {unit}".rstrip()


def has_sweep(results: Given) -> bool:
    """Tell whether one of what is given is a sweep; no table is read."""
    return any(map(_is, entries(results).values()))


def sweeps(results: Given) -> dict[str, Kept]:
    """Read what is given by name, if one of it is a sweep; otherwise nothing."""
    if not has_sweep(results):
        return {}
    return {name: _read(one) for name, one in entries(results).items()}


def _is(one: object) -> bool:
    """Tell whether it is a finished sweep, or a folder that holds one."""
    return _head(Path(one)) is not None if isinstance(one, str | Path) else isinstance(one, Swept)


def _read(one: object) -> Kept:
    if isinstance(one, str | Path):
        return Kept.load(Path(one))
    if not isinstance(one, Swept):
        raise InputError(f"{one!r}: is no sweep, as another of these is; {_ALIKE}")
    return Kept.of(one)


def _head(folder: Path) -> dict[str, Any] | None:
    try:
        head: dict[str, Any] = read_json(folder / "result.json")
    except (OSError, ValueError):
        return None
    return head if isinstance(head, dict) and "sweep" in head else None
