# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims as an experiment's claims.toml has them. Each names its algorithms in one of three ways:

pairs = [[CELL, LEFT, RIGHT], …]           one by one
order = [A, B, C]                          A beside B and B beside C, in every cell
left = A, right = [B, C]                   A beside each of the others, in every cell

`where = { AXIS = VALUE or [VALUES] }` leaves cells out; `quorum` says how many of them must hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from sojourn.claims import QUORUMS, Cell, Claim, Pair
from sojourn.errors import InputError, nearest
from sojourn.metrics import find as find_metric


def read(
    data: dict[str, Any], cells: Mapping[str, Mapping[str, str]] = MappingProxyType({})
) -> tuple[list[Claim], set[Cell]]:
    """The claims of a claims.toml and the cells that settled a setting; `cells` are those that a
    claim may speak of: the value on each axis, by label."""
    calibrated = {tuple(cell) for cell in data.get("calibrated", [])}
    claims = [_read(entry, cells) for entry in data["claims"]]
    ids = [claim.id for claim in claims]
    if len(set(ids)) != len(ids):
        raise InputError("two claims have one id")
    return claims, calibrated


# What is read into pairs.
_FORMS = ("pairs", "order", "left", "right", "where")


def _read(entry: Mapping[str, Any], cells: Mapping[str, Mapping[str, str]]) -> Claim:
    where = entry.get("where", {})
    for axis, values in where.items():
        known = dict.fromkeys(on_axes[axis] for on_axes in cells.values() if axis in on_axes)
        for value in _several(values):
            if known and value not in known:
                raise InputError(
                    f"claim {entry['id']}: where.{axis}: no cell has '{value}'."
                    + nearest(value, known)
                )
    labels = [
        label
        for label, on_axes in cells.items()
        if all(on_axes.get(axis) in _several(value) for axis, value in where.items())
    ]
    if "pairs" in entry:
        pairs = tuple(Pair(*pair) for pair in entry["pairs"])
    elif "order" in entry:
        pairs = tuple(Pair(cell, *two) for cell in labels for two in pairwise(entry["order"]))
    else:
        rights = _several(entry["right"])
        pairs = tuple(Pair(cell, entry["left"], right) for cell in labels for right in rights)
    if not pairs:
        raise InputError(f"claim {entry['id']}: there is no cell {dict(where)}")
    for metric in entry["metrics"]:
        find_metric(metric)
    rest = {key: value for key, value in entry.items() if key not in _FORMS}
    rest |= {
        "metrics": tuple(entry["metrics"]),
        "quorum": _quorum(entry.get("quorum", "every"), entry["id"]),
        "more_than": entry.get("quorum") == "most",
        "factor": _factor(entry),
    }
    return Claim(pairs=pairs, **rest)


def _several(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _quorum(value: object, id_: str) -> float:
    if isinstance(value, str) and value in QUORUMS:
        return QUORUMS[value]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    raise InputError(
        f"claim {id_}: quorum = {value!r}; allowed: a share of the cells above 0 and up to 1, or "
        + ", ".join(map(repr, QUORUMS))
    )


def _factor(entry: Mapping[str, Any]) -> float | tuple[float, float]:
    factor, between = entry.get("factor", 1.0), entry["relation"] == "between"
    two = isinstance(factor, list) and len(factor) == 2 and 0 < factor[0] < factor[1]
    if two != between or isinstance(factor, list) != two or (between and "margin" in entry):
        raise InputError(
            f"claim {entry['id']}: relation = 'between' and factor = [LEAST, MOST] go together"
        )
    return (float(factor[0]), float(factor[1])) if two else factor
