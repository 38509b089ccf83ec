# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The algorithms, their rows, ranges and defaults, in the units of tc."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn import algorithms
from sojourn.core.rows import SCALES, Row
from sojourn.linux.tc import tables, values


def lines(algorithm: str = "") -> Iterator[str]:
    """Of one algorithm, or what every queue has."""
    known = algorithms.algorithms()
    if algorithm:
        found = known[algorithm]
        yield f"{found.name}: {found.brief} ({found.source})"
        yield from _rows(found.params)
        own = [
            row for row in found.queue if row.default != algorithms.queue_rows()[row.name].default
        ]
        if own:
            yield "Of the rows of every queue, with defaults of its own:"
            yield from _rows(own)
        return
    yield "Usage: ... sojourn [ [ fq ] ALGORITHM [ ROW VALUE | ROW | noROW ] ... ]"
    yield "       ... sojourn ALGORITHM help"
    yield "Algorithms (without one: the parameter `default` of the module):"
    for found in known.values():
        yield f"  {found.name:<9} {found.brief}"
    yield f"Rows of every queue (fq: {tables.FQ_FLOWS} flows):"
    every = tables.tables("")
    yield from _rows([*every[tables.QUEUE], *every[tables.HOST]])


def _rows(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.kind == "bool":
            off = "" if row.default else "no"
            yield f"  {row.name} | no{row.name} (default {off}{row.name})"
        elif row.kind == "choice":
            yield f"  {row.name} {' | '.join(row.choices)} (default {row.choices[row.default]})"
        else:
            min_, max_, default = (values.write(row, n) for n in (row.min, row.max, row.default))
            yield f"  {row.name} {min_} to {max_} (default {default})"
        note = f" ({SCALES[row.unit].note})" if SCALES[row.unit].note else ""
        yield f"      {row.help}{note}{'; cannot be changed later' if row.fixed else ''}"
        if row.name == tables.RESPONDER:
            yield "      also an IPv6 address, for its IPv6 probes; `::`: the next hop"
