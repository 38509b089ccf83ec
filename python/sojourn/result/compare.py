# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Differences between the scenarios of several results.

Each key with unequal values is listed with its value in each result. Keys are named as `--set`
names them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn import algorithms
from sojourn.core.errors import InputError
from sojourn.result.cases import Cases
from sojourn.result.result import Result
from sojourn.scenario.changes import apply, queues_under_test
from sojourn.scenario.links import TESTED
from sojourn.scenario.variant import read_value, write_value
from sojourn.store.store import digest

# Shown where a key is as by default.
UNSET = "–"
# A longer value, such as a trace, is replaced by its length and the start of its digest.
_LONGEST = 60


def scenario_differences(results: Mapping[str, Result]) -> dict[str, list[str]]:
    """List by key the value in each result, in their order; a default has no value."""
    each = [dict(_values(result)) for result in results.values()]
    keys = dict.fromkeys(key for values in each for key in values)
    rows = {key: [values.get(key, UNSET) for values in each] for key in keys}
    return {key: [_short(value) for value in row] for key, row in rows.items() if len(set(row)) > 1}


def _values(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of the scenario with the command's changes, and the other inputs of
    its numbers."""
    data = tomllib.loads(result.scenario)
    changes = {key: read_value(value) for key, value in result.meta.get("changes", {}).items()}
    yield from _effective(data, changes, by_command=bool(result.meta.get("aqms")))
    if "experiment" in result.meta:
        yield "experiment", str(result.meta["experiment"])
    yield "(seeds)", str(len({run.seed for run in result}))
    yield "(version)", str(result.meta.get("core", UNSET))
    for key, value in result.meta.get("host", {}).items():
        yield f"(machine: {key})", str(value)


def _effective(
    data: dict[str, Any], changes: Mapping[str, object], *, by_command: bool
) -> Iterator[tuple[str, str]]:
    for key, value in changes.items():
        try:
            apply(data, None, {key: value})
        except InputError:
            # The command's algorithm has this row, and the file's own lacks it.
            yield f"--set {key}", write_value(value)
    if by_command:
        # Each row of the table names its algorithm. Of the file's own algorithm, only the keys
        # that every queue has are kept.
        for queue in queues_under_test(data):
            for key in queue.keys() - {TESTED} - algorithms.queue_rows().keys():
                del queue[key]
    yield from _leaves(data, "")


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    entries: Mapping[str, Any] | None = None
    if isinstance(value, Mapping):
        entries = value
    elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        named = [str(entry.get("name", i)) for i, entry in enumerate(value)]
        entries = dict(zip(named, value, strict=True)) if len(set(named)) == len(named) else None
        entries = entries or {str(i): entry for i, entry in enumerate(value)}
    if entries is None:
        yield path, write_value(value)
        return
    for key, inner in entries.items():
        if not (path and key == "name"):
            yield from _leaves(inner, f"{path}.{key}" if path else key)


def _short(value: str) -> str:
    if len(value) <= _LONGEST:
        return value
    return f"{len(value)} characters, digest {digest(value.encode())[:8]}"


def to_json(results: Mapping[str, Result], by_case: Cases) -> dict[str, Any]:
    """Return the keys of `sojourn compare --json`."""
    from sojourn.result.differences import across, within

    found = across(by_case) if len(results) > 1 else within(by_case)
    return {
        "runs": [
            {**({"result": name} if name else {}), **run.to_json()}
            for name, result in results.items()
            for run in result
        ],
        "differences": [difference.to_json() for difference in found],
        "scenarios": {
            key: {
                name: None if value == UNSET else value
                for name, value in zip(results, values, strict=True)
            }
            for key, values in scenario_differences(results).items()
        },
    }
