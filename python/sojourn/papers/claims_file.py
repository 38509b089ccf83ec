# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Claims as an experiment's claims.toml has them. Each names its algorithms in one of these ways:

pairs = [[CELL, LEFT, RIGHT], …]           one by one; a fourth is the cell of RIGHT
order = [A, [B, C], D]                     each beside the next, in every cell; B and C are a tie
left = A, right = [B, C]                   A beside each of the others, in every cell
left = A, value = 50                       A beside a number that the text gives, in every cell;
                                           with relation = "between" value = [LEAST, MOST];
                                           or a number for each value of an axis, AXIS = { … }
left = A, along = { AXIS = [V, W, X] }     A beside itself: in cell V beside W, in W beside X

A and B may be lists. `where = { AXIS = VALUE or [VALUES] }` keeps only the cells with these values.
`quorum` is the share of them that must hold. Of `order`, only those pairs are compared that print
tells apart by more than one run varies.

Each claim is tried on the numbers in print first (sojourn.papers.in_print). And it may have:

quote = true                               `text` is the paper's words
cause = "…", why = "…"                     why it is not found here, should it not be
contradicts = "…"                          the numbers or the algorithm in print that contradict it
turns = { axis = AXIS, values = [V, W] }   decided once for each value of what print leaves open;
                                           where the verdicts differ, it is not in print
turns = { algorithm = A, values = [A, B] } the same, with each of these in the place of A; a list
                                           of such tables tries each value with each other one
theory = { flows = N, capacity = "…", packet = "…", rtt = [R, S] }
                                           no run decides it, but the unstable_poles of a loop
                                           on this network (sojourn.papers.calculated)
together = METRIC                          the claim is on the rank correlation of its one metric
                                           with this one over all cells, above or below `value`
by_opponent = true                         of a loose sentence: the count beside each opponent, or
                                           of each algorithm beside a single one
spread = true                              `value` is of the mean distance of a run from the mean of
                                           all, in percent of it
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sojourn.core.errors import InputError, nearest
from sojourn.papers import calculated, in_print
from sojourn.papers.claim import (
    QUORUMS,
    Cell,
    Claim,
    Pair,
    Print,
    Turns,
)
from sojourn.papers.forms import ClaimsTable, is_number, read_file
from sojourn.result.metrics import find as find_metric

_NO_CELLS: Mapping[str, Mapping[str, str]] = MappingProxyType({})
_NO_PRINT: Print = MappingProxyType({})


def load(
    path: Path,
    cells: Mapping[str, Mapping[str, str]],
    published: Print = _NO_PRINT,
    stand_ins: Collection[str] = (),
) -> tuple[list[Claim], set[Cell]]:
    """Read the claims of a file, and the cells that settled a setting; none where there is no file.
    InputError names the file."""
    if not path.is_file():
        return [], set()
    try:
        return read(read_file(path, ClaimsTable), cells, published, stand_ins)
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from error


def read(
    data: dict[str, Any],
    cells: Mapping[str, Mapping[str, str]] = _NO_CELLS,
    published: Print = _NO_PRINT,
    stand_ins: Collection[str] = (),
) -> tuple[list[Claim], set[Cell]]:
    """Read the claims of data that has the form of a claims.toml, and the cells that settled a
    setting. `cells` are those that a claim may name: by label, the value on each axis. It may not
    name `stand_ins`: a result of theirs is none of the paper's."""
    calibrated = {tuple(cell) for cell in data.get("calibrated", [])}
    entries = data.get("claims", [])
    claims = [_read(entry, cells) for entry in entries]
    for claim in claims:
        for name in sorted({name for _, name, _ in claim.cells()} & set(stand_ins)):
            raise InputError(
                f"claim {claim.id}: '{name}' is a stand-in, of which no claim of the paper can be "
                "judged; leave it out"
            )
    in_print.check(claims, published)
    return claims, calibrated


# These keys become `pairs`.
_FORMS = ("pairs", "order", "left", "right", "along", "where")
# `left` goes with one of these.
_BESIDE = ("right", "value", "along")


def _read(entry: Mapping[str, Any], cells: Mapping[str, Mapping[str, str]]) -> Claim:
    _check_words(entry)
    if "theory" in entry:
        cells = calculated.cells(entry)
    where = entry.get("where", {})
    for axis, values in where.items():
        _check_values(f"claim {entry['id']}: where.{axis}", axis, _several(values), cells)
    kept = {
        label: on_axes
        for label, on_axes in cells.items()
        if all(on_axes.get(axis) in _several(value) for axis, value in where.items())
    }
    _check_forms(entry)
    turns = _turns(entry, kept, cells) if "turns" in entry else None
    if turns:
        pairs = tuple(dict.fromkeys(pair for each in turns.pairs.values() for pair in each))
    else:
        pairs = _pairs(entry, kept)
    for metric in entry["metrics"]:
        if "theory" not in entry:
            find_metric(metric)
    if "together" in entry:
        find_metric(entry["together"])
        numbers = {pair.value for pair in pairs if pair.right is None}
        if (
            len(entry["metrics"]) != 1
            or len(pairs) < 2
            or len(numbers) != 1
            or not all(isinstance(number, float) for number in numbers)
        ):
            raise InputError(
                f"claim {entry['id']}: together goes with one metric, `left` in two cells or more, "
                "and one number as `value`, which the rank correlation is above or below"
            )
    rest = {key: value for key, value in entry.items() if key not in _FORMS}
    rest |= {
        "metrics": tuple(entry["metrics"]),
        "quorum": _quorum(entry.get("quorum", "every"), entry["id"]),
        "more_than": entry.get("quorum") == "most",
        "factor": _factor(entry),
        "turns": turns,
        "is_order": "order" in entry,
    }
    rest.pop("value", None)
    return Claim(pairs=pairs, **rest)


def _check_words(entry: Mapping[str, Any]) -> None:
    """Raise InputError for keys that exclude or need each other."""
    head = f"claim {entry['id']}:"
    if entry.get("spread") and "value" not in entry:
        raise InputError(f"{head} spread goes with left and value, the most in percent")
    if "contradicts" in entry and "turns" in entry:
        raise InputError(f"{head} contradicts and turns exclude each other; leave one out")


def _pairs(entry: Mapping[str, Any], cells: Mapping[str, Mapping[str, str]]) -> tuple[Pair, ...]:
    """Pair both sides in each of these cells. The form `pairs` names its cells itself."""
    if "pairs" in entry:
        pairs = tuple(Pair(*pair) for pair in entry["pairs"])
    elif "order" in entry:
        ranks = pairwise(map(_several, entry["order"]))
        beside = [pair for rank, after in ranks for pair in product(rank, after)]
        pairs = tuple(Pair(cell, *two) for cell in cells for two in beside)
    else:
        pairs = _of_left(entry, cells)
    if not pairs:
        raise InputError(f"claim {entry['id']}: there is no cell {dict(entry.get('where', {}))}")
    return pairs


def _turns(
    entry: Mapping[str, Any],
    kept: Mapping[str, Mapping[str, str]],
    cells: Mapping[str, Mapping[str, str]],
) -> Turns:
    """Pair both sides for each value of what print leaves open, or for each value of two such
    quantities together."""
    turns = entry["turns"] if isinstance(entry["turns"], list) else [entry["turns"]]
    head = f"claim {entry['id']}: turns"
    names = []
    for table in turns:
        keys = table.keys() if isinstance(table, Mapping) else set()
        if keys not in ({"axis", "values"}, {"algorithm", "values"}):
            raise InputError(
                f"{head} = {{ axis = AXIS, values = [VALUES] }} has these two keys, or `algorithm` "
                "in place of `axis`"
            )
        if not isinstance(table["values"], list) or len(table["values"]) < 2:
            raise InputError(f"{head}.values: it needs two values or more")
        if "axis" in table:
            _check_axis(entry, table["axis"], table["values"], cells)
        names.append(table.get("axis") or table["algorithm"])
    by_value = _turned(entry, turns, kept, cells)
    for table in turns:
        name = table.get("algorithm")
        if name and not any(name in (p.left, p.right) for p in _pairs(entry, kept)):
            raise InputError(f"{head}.algorithm: the claim does not name '{name}'")
    return Turns(" and ".join(names), by_value)


def _check_axis(
    entry: Mapping[str, Any],
    axis: str,
    values: Sequence[str],
    cells: Mapping[str, Mapping[str, str]],
) -> None:
    """Raise InputError where the cells do not have these values of an axis, or not all of them."""
    head = f"claim {entry['id']}: turns"
    if axis in entry.get("where", {}):
        raise InputError(f"{head}.axis: where.{axis} chooses its value already; leave one out")
    _check_values(f"{head}: {axis}", axis, values, cells)


def _check_values(
    head: str, axis: str, values: Sequence[str], cells: Mapping[str, Mapping[str, str]]
) -> None:
    """Raise InputError for an axis that no cell has, or a value of it that none has."""
    axes = dict.fromkeys(axis for on_axes in cells.values() for axis in on_axes)
    if axis not in axes:
        raise InputError(f"{head}: no cell has this axis.{nearest(axis, axes)}")
    known = dict.fromkeys(on_axes[axis] for on_axes in cells.values() if axis in on_axes)
    for value in values:
        if value not in known:
            raise InputError(f"{head}: no cell has '{value}'.{nearest(str(value), known)}")


def _turned(
    entry: Mapping[str, Any],
    turns: Sequence[Mapping[str, Any]],
    kept: Mapping[str, Mapping[str, str]],
    cells: Mapping[str, Mapping[str, str]],
) -> dict[str, tuple[Pair, ...]]:
    """Pair both sides for each value of the first quantity with each of the others. A cell without
    the axis belongs to each of its values; an algorithm takes the place of the one named."""
    if not turns:
        return {"": _pairs(entry, kept)}
    (table, *others), by_value = turns, {}
    for value in table["values"]:
        here = kept
        if "axis" in table:
            here = {k: on for k, on in kept.items() if on.get(table["axis"], value) == value}
        for rest, pairs in _turned(entry, others, here, cells).items():
            by_value[f"{value} beside {rest}" if rest else value] = tuple(
                _of_value(pair, table, value, cells) for pair in pairs
            )
    return by_value


def _of_value(
    pair: Pair, table: Mapping[str, Any], value: str, cells: Mapping[str, Mapping[str, str]]
) -> Pair:
    """Give a pair one value of what turns."""
    if "axis" in table:
        right = pair.right_signal and _at(pair.right_signal, table["axis"], value, cells)
        return replace(
            pair, signal=_at(pair.signal, table["axis"], value, cells), right_signal=right
        )
    name = table["algorithm"]
    return replace(
        pair,
        left=value if pair.left == name else pair.left,
        right=value if pair.right == name else pair.right,
    )


def _at(label: str, axis: str, value: str, cells: Mapping[str, Mapping[str, str]]) -> str:
    """Name the cell that differs from this one by its value on an axis, if it has that axis."""
    on_axes = cells.get(label, {})
    if axis not in on_axes:
        return label
    wanted = {**on_axes, axis: value}
    return next((other for other, there in cells.items() if there == wanted), label)


def _several(value: str | Sequence[str]) -> Sequence[str]:
    return [value] if isinstance(value, str) else value


def _check_forms(entry: Mapping[str, Any]) -> None:
    """Raise InputError unless the claim has exactly one form."""
    heads = [key for key in ("pairs", "order", "left") if key in entry]
    if len(heads) != 1:
        raise InputError(
            f"claim {entry['id']}: it needs one of pairs, order, left, and has "
            + (" and ".join(heads) or "none")
        )
    if heads == ["pairs"] and "where" in entry:
        raise InputError(f"claim {entry['id']}: pairs name their cells; leave `where` out")
    given = [key for key in _BESIDE if key in entry]
    wanted = 1 if heads == ["left"] else 0
    if len(given) != wanted:
        rule = f"left goes with one of {', '.join(_BESIDE)}" if wanted else f"{heads[0]} says all"
        raise InputError(f"claim {entry['id']}: {rule}; it has {' and '.join(given) or 'none'}")


def _of_left(entry: Mapping[str, Any], cells: Mapping[str, Mapping[str, str]]) -> tuple[Pair, ...]:
    """Pair each of `left` with others, with a number, or with itself in the next cell of an
    axis."""
    lefts = _several(entry["left"])
    if "along" in entry:
        return tuple(
            Pair(cell, left, left, other) for cell, other in _along(entry, cells) for left in lefts
        )
    if "value" in entry:
        return tuple(
            Pair(cell, left, None, value=_value(entry, on_axes))
            for cell, on_axes in cells.items()
            for left in lefts
        )
    rights = _several(entry["right"])
    return tuple(Pair(cell, left, right) for cell in cells for left in lefts for right in rights)


def _along(
    entry: Mapping[str, Any], cells: Mapping[str, Mapping[str, str]]
) -> list[tuple[str, str]]:
    """Pair each cell with the one that differs from it by the next value of one axis."""
    along = entry["along"]
    if len(along) != 1:
        raise InputError(f"claim {entry['id']}: along = {{ AXIS = [VALUES] }} has one axis")
    ((axis, values),) = along.items()
    if isinstance(values, str) or len(values) < 2:
        raise InputError(f"claim {entry['id']}: along.{axis} needs two values or more")
    _check_values(f"claim {entry['id']}: along.{axis}", axis, values, cells)
    return [
        (label, other)
        for value, after in pairwise(values)
        for label, on_axes in cells.items()
        for other, there in cells.items()
        if on_axes.get(axis) == value and there == {**on_axes, axis: after}
    ]


def _quorum(value: object, id_: str) -> float:
    if isinstance(value, str) and value in QUORUMS:
        return QUORUMS[value]
    if is_number(value) and 0 < value <= 1:
        return float(value)
    raise InputError(
        f"claim {id_}: quorum = {value!r}; allowed: a share of the cells above 0 and up to 1, or "
        + ", ".join(map(repr, QUORUMS))
    )


def _value(
    entry: Mapping[str, Any], on_axes: Mapping[str, str]
) -> float | tuple[float, float] | None:
    """Read the number that a claim is about in a cell, or the two that it lies between."""
    value = entry["value"]
    if isinstance(value, Mapping):
        value = _of_cell(entry["id"], value, on_axes)
    two = isinstance(value, list)
    ends = value if two else [value]
    are_numbers = all(map(is_number, ends))
    if two != (entry["relation"] == "between") or not are_numbers or (two and not _rises(value)):
        raise InputError(
            f"claim {entry['id']}: value = {value!r}; it is a number, or with "
            "relation = 'between' [LEAST, MOST]"
        )
    if "factor" in entry or "margin" in entry:
        raise InputError(f"claim {entry['id']}: value goes with neither factor nor margin")
    return (float(value[0]), float(value[1])) if two else float(value)


def _of_cell(id_: str, by_axis: Mapping[str, Any], on_axes: Mapping[str, str]) -> Any:
    """Choose the number of a cell from `AXIS = { VALUE = NUMBER }`."""
    if len(by_axis) != 1 or not isinstance(next(iter(by_axis.values())), Mapping):
        raise InputError(f"claim {id_}: value = {{ AXIS = {{ VALUE = NUMBER }} }} has one axis")
    ((axis, numbers),) = by_axis.items()
    if on_axes.get(axis) not in numbers:
        raise InputError(
            f"claim {id_}: value.{axis} has no number for '{on_axes.get(axis)}'; add it, or leave "
            "the cell out with `where`"
        )
    return numbers[on_axes[axis]]


def _rises(ends: Sequence[float]) -> bool:
    return len(ends) == 2 and ends[0] < ends[1]


def _factor(entry: Mapping[str, Any]) -> float | tuple[float, float]:
    if "value" in entry:
        return 1.0
    factor, between = entry.get("factor", 1.0), entry["relation"] == "between"
    two = isinstance(factor, list)
    if two != between or (between and "margin" in entry):
        raise InputError(
            f"claim {entry['id']}: relation = 'between' and factor = [LEAST, MOST] go together"
        )
    return (float(factor[0]), float(factor[1])) if two else factor
