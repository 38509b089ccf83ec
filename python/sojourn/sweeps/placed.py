# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Files that a sweep names: traces, vectors and C files, from the sweep's folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.own import library

_ALGORITHMS = ("aqm", "queue", "algorithm")


def value_of(folder: Path, key: str, value: Any) -> Any:
    """The value of a key as it is found from anywhere."""
    word = key.split(".")[-1]
    if isinstance(value, Mapping):
        return {inner: value_of(folder, f"{key}.{inner}", of) for inner, of in value.items()}
    if not isinstance(value, str):
        return value
    is_file = (
        word == "trace"
        or (word == "vectors" and "\n" not in value)
        or (word in _ALGORITHMS and library.is_file(value))
    )
    return str(library.absolute(value, folder)) if is_file else value


def changes_of(folder: Path, changes: Mapping[str, object]) -> dict[str, object]:
    """Those of a cell."""
    return {key: value_of(folder, key, value) for key, value in changes.items()}


def place_in(document: Any, folder: Path) -> None:
    """The same in what a sweep's file holds, axes, cells and seeds, which keeps its form."""
    for axis in document.get("axes", []):
        values = axis.get("values", [])
        keys = axis.get("keys") or [axis.get("key", "")]
        for i, value in enumerate(values):
            if isinstance(value, Mapping) and "set" in value:
                _replace(value["set"], folder)
            elif isinstance(value, list):
                for n, (key, own) in enumerate(zip(keys, value, strict=True)):
                    _put(value, n, value_of(folder, key, own))
            else:
                _put(values, i, value_of(folder, keys[0], value))
    plan = document.get("plan")
    listed = plan.get("cells") if isinstance(plan, Mapping) else None
    seeds = document.get("seeds")
    for rows in (listed, seeds):
        for row in rows if isinstance(rows, list) else []:
            _replace(row, folder)


def _replace(table: Any, folder: Path) -> None:
    for key in list(table):
        _put(table, key, value_of(folder, key, table[key]))


def _put(holder: Any, key: Any, value: Any) -> None:
    # What is as it was keeps how it was written.
    if holder[key] != value:
        holder[key] = value
