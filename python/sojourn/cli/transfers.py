# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The table that `sojourn compare --transfers` prints."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.core.table import Column, Table
from sojourn.result.cases import names
from sojourn.result.transfers import SideBySide, Visit
from sojourn.show.summary import NOTHING

# More rows nobody reads; --json has all.
_MOST = 200
_HEADINGS = {
    "opened": "opened",
    "begun": "begun",
    "first_byte": "first byte",
    "last_byte": "last byte",
}


def of_visit(found: SideBySide, visit: Visit) -> Iterator[Table | str]:
    """Make a row for each transfer, four times for each case."""
    keys = list(found.rows)[:_MOST]
    parts = zip(*keys, strict=True)
    labels = [
        Column(name, [str(value) for value in values])
        for name, values in zip(("connection", "transfer", "bytes"), parts, strict=True)
    ]
    called = names(found.cases)
    columns = [
        Column(
            f"{called[case]}\n{heading} (ms)",
            [_cell(found.rows[key].get(case, {}).get(time)) for key in keys],
        )
        for case in found.cases
        for time, heading in _HEADINGS.items()
    ]
    title = f"flows '{visit.group}', flow {visit.index}, visit {visit.number}: seed {found.seed}"
    yield Table(title, labels, columns)
    if len(found.rows) > _MOST:
        yield f"and {len(found.rows) - _MOST} more; --json has all"


def _cell(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"
