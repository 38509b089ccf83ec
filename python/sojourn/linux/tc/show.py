# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A qdisc as the words that tc prints, which can be typed again, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sojourn import algorithms
from sojourn.core.rows import Row
from sojourn.linux import rtnetlink as nl
from sojourn.linux.rtnetlink import Qdisc
from sojourn.linux.tc import tables, values
from sojourn.linux.tc.place import handle_text, place_text

_Rows = Sequence[tuple[Row, int]]
_ADDRESS6_BYTES = 16


def text(qdisc: Qdisc, device: str = "", *, stats: bool = False) -> str:
    """Its line, and below it its statistics."""
    words = [f"qdisc {qdisc.kind} {handle_text(qdisc.handle)}"]
    words += [f"dev {device}"] if device else []
    words += [place_text(qdisc.parent)] if qdisc.parent else []
    words += [f"refcnt {qdisc.references}"] if qdisc.references != 1 else []
    if qdisc.kind == tables.KIND:
        name, rows = _options(qdisc)
        words += [name, *_words(rows)]
        if six := _responder6(qdisc):
            words.append(f"responder {six}")
    below = [*_common_lines(qdisc), *_own_lines(qdisc)] if stats else []
    # tc puts a space behind each word, also the last.
    return "\n".join([" ".join(words) + " ", *below])


def data(qdisc: Qdisc, device: str = "", *, stats: bool = False) -> dict[str, Any]:
    """The same for JSON: each number in its row's own unit, but a share for a probability."""
    entry: dict[str, Any] = {"kind": qdisc.kind, "handle": handle_text(qdisc.handle)}
    if device:
        entry["dev"] = device
    if qdisc.parent == nl.ROOT:
        entry["root"] = True
    elif qdisc.parent:
        entry["parent"] = place_text(qdisc.parent).removeprefix("parent ")
    if qdisc.references != 1:
        entry["refcnt"] = qdisc.references
    entry["options"] = {}
    if qdisc.kind == tables.KIND:
        name, rows = _options(qdisc)
        entry["options"] = {"algorithm": name} | _numbers(rows)
        if six := _responder6(qdisc):
            entry["options"]["responder6"] = six
    if stats:
        entry |= _common_numbers(qdisc)
        if qdisc.own_stats and qdisc.kind == tables.KIND:
            entry["sojourn"] = _own_numbers(qdisc)
    return entry


# ---- rows ----


def _options(qdisc: Qdisc) -> tuple[str, _Rows]:
    parts = dict(nl.attributes(qdisc.options))
    name = nl.read_text(parts.get(tables.ALGO, b""))
    found: list[tuple[Row, int]] = []
    for nest, rows in tables.tables(name).items():
        found += _rows(rows, parts.get(nest, b""))
    return name, found


def _responder6(qdisc: Qdisc) -> str:
    """The IPv6 address, or nothing."""
    packed = dict(nl.attributes(qdisc.options)).get(tables.RESPONDER6, b"")
    return values.write_address6(packed) if len(packed) == _ADDRESS6_BYTES else ""


def _rows(rows: Sequence[Row], nest: bytes) -> _Rows:
    numbers = nl.numbers(nest)
    return [(row, numbers[row.attr]) for row in rows if row.attr in numbers]


def _words(rows: _Rows) -> Iterator[str]:
    for row, value in rows:
        if row.kind == "bool":
            yield row.name if value else f"no{row.name}"
        else:
            yield f"{row.name} {values.write(row, value)}"


def _numbers(rows: _Rows) -> dict[str, Any]:
    return {row.name: values.as_json(row, value) for row, value in rows}


# ---- statistics ----


def _common_lines(qdisc: Qdisc) -> Iterator[str]:
    dropped = f"dropped {qdisc.drops}, overlimits {qdisc.overlimits} requeues {qdisc.requeues}"
    yield f" Sent {qdisc.sent_bytes} bytes {qdisc.sent_pkts} pkt ({dropped}) "
    yield f" backlog {_size(qdisc.backlog)} {qdisc.qlen}p requeues {qdisc.requeues}"


def _size(number: int) -> str:
    """As tc rounds it."""
    for unit, letters, slack in ((1 << 20, "Mb", 1024), (1 << 10, "Kb", 16)):
        if number >= unit and abs(unit * round(number / unit) - number) < slack:
            return f"{number / unit:g}{letters}"
    return f"{number}b"


def _common_numbers(qdisc: Qdisc) -> dict[str, int]:
    return {
        "bytes": qdisc.sent_bytes,
        "packets": qdisc.sent_pkts,
        "drops": qdisc.drops,
        "overlimits": qdisc.overlimits,
        "requeues": qdisc.requeues,
        "backlog": qdisc.backlog,
        "qlen": qdisc.qlen,
    }


def _groups(parts: dict[int, bytes]) -> Iterator[tuple[str, dict[str, int]]]:
    for title, nest, names in tables.counters():
        if nest in parts:
            numbers = nl.numbers(parts[nest])
            yield title, {name: numbers[i] for i, name in enumerate(names, 1) if i in numbers}


def _algorithm(qdisc: Qdisc, parts: dict[int, bytes]) -> tuple[str, _Rows]:
    """Its own statistics, which come without its name."""
    name, _ = _options(qdisc)
    known = algorithms.algorithms().get(name)
    return name, _rows(known.stats if known else (), parts.get(tables.OWN, b""))


def _own_lines(qdisc: Qdisc) -> Iterator[str]:
    """Counters that are not zero, the algorithm's statistics, the memory."""
    if qdisc.kind != tables.KIND or not qdisc.own_stats:
        return
    parts = dict(nl.attributes(qdisc.own_stats))
    for title, counts in _groups(parts):
        if any(counts.values()):
            words = [f"{name} {value}" for name, value in counts.items() if value]
            yield f"  {' '.join([title, *words])} "
    name, rows = _algorithm(qdisc, parts)
    if rows:
        yield f"  {' '.join([name, *_words(rows)])} "
    memory = nl.numbers(qdisc.own_stats).get(tables.MEMORY)
    if memory is not None:
        yield f"  memory {memory}b"


def _own_numbers(qdisc: Qdisc) -> dict[str, Any]:
    parts = dict(nl.attributes(qdisc.own_stats))
    numbers: dict[str, Any] = dict(_groups(parts))
    _, rows = _algorithm(qdisc, parts)
    if rows:
        numbers["algorithm"] = _numbers(rows)
    memory = nl.numbers(qdisc.own_stats).get(tables.MEMORY)
    return numbers if memory is None else numbers | {"memory_bytes": memory}
