# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Paths of a sweep's file that is copied: they name the same files from its new folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sojourn.scenario.toml import placed


def place_in(document: Any, folder: Path) -> None:
    """Make paths absolute in the axes, cells and seeds of a sweep's file, which keeps its form."""
    for axis in document.get("axes", []):
        values = axis.get("values", [])
        keys = axis.get("keys") or [axis.get("key", "")]
        for i, value in enumerate(values):
            if isinstance(value, Mapping) and "set" in value:
                _replace(value["set"], folder)
            elif isinstance(value, list):
                for n, (key, own) in enumerate(zip(keys, value, strict=True)):
                    _put(value, n, placed(own, folder, key))
            else:
                _put(values, i, placed(value, folder, keys[0]))
    plan = document.get("plan")
    listed = plan.get("cells") if isinstance(plan, Mapping) else None
    seeds = document.get("seeds")
    for rows in (listed, seeds):
        for row in rows if isinstance(rows, list) else []:
            _replace(row, folder)


def _replace(table: Any, folder: Path) -> None:
    for key in list(table):
        _put(table, key, placed(table[key], folder, key))


def _put(holder: Any, key: Any, value: Any) -> None:
    # An equal value keeps its form in the file.
    if holder[key] != value:
        holder[key] = value
