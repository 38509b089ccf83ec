# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A sweep's folder, read back as tables for pictures and comparisons."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sojourn.core.errors import InputError, StoreError
from sojourn.result.metrics import Metric, find
from sojourn.store.store import digest_of
from sojourn.sweeps.result import FORMAT

if TYPE_CHECKING:
    from sojourn.result.compare import Results

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Kept:
    """The tables of a finished sweep, without its runs."""

    folder: Path
    head: Mapping[str, Any]
    cells: Sequence[Row]  # a run each
    means: Sequence[Row]
    metrics: tuple[Metric, ...]

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a folder. InputError: it holds no sweep. StoreError: it is not whole."""
        from sojourn.store import arrow

        head = _head(folder)
        if head is None:
            said = "holds no sweep" if folder.exists() else "is not there; it is to be a sweep"
            raise InputError(f"{folder}: {said}, as another of these does")
        if head.get("format") != FORMAT:
            raise StoreError(
                f"{folder}: format {head.get('format')!r} of a sweep is not known; this version "
                f"reads {FORMAT}: run its command again"
            )
        for name in ("cells.parquet", "means.parquet", "scenario.toml", "sweep.toml"):
            if not (folder / name).exists() or digest_of(folder / name) != head["files"][name]:
                raise StoreError(
                    f"{folder}: this sweep is not whole: {name} was changed. Run "
                    f"sojourn sweep {folder}/sweep.toml --out {folder}: no run is made again"
                )
        cells, means = (
            arrow.read(folder / f"{name}.parquet").to_pylist() for name in ("cells", "means")
        )
        metrics = [name.removesuffix("_ci95") for name in means[0] if name.endswith("_ci95")]
        return cls(folder, head, cells, means, tuple(map(find, metrics)))

    @property
    def name(self) -> str:
        """Return the name of the sweep."""
        return str(self.head["sweep"])

    @property
    def columns(self) -> dict[str, str]:
        """List the column of each axis; one that moves several keys has the first one's."""
        return {axis["name"]: axis["columns"][0] for axis in self.head["axes"]}

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
        raise InputError(
            f"{option} {name}: the sweep has no such metric; add it to `metrics` of "
            f"{self.folder / 'sweep.toml'} and sweep again: no run is made again. It has: "
            + ", ".join(metric.name for metric in self.metrics)
        )


def is_sweep(folder: Path) -> bool:
    """Tell whether a folder holds a finished sweep."""
    return _head(folder) is not None


def folders_of_sweeps(results: Results) -> list[Path]:
    """List the folders that are given, if one of them holds a sweep; otherwise none."""
    if isinstance(results, str | Path):
        results = [results]
    if not isinstance(results, Sequence):
        return []
    folders = list(map(Path, results))
    return folders if any(map(is_sweep, folders)) else []


def _head(folder: Path) -> dict[str, Any] | None:
    try:
        head: dict[str, Any] = json.loads((folder / "result.json").read_bytes())
    except (OSError, ValueError):
        return None
    return head if isinstance(head, dict) and "sweep" in head else None
