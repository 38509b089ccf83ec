# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""docs/reference/columns.md, the page of every column of a result, made from the tables of columns.

`python -m sojourn.result.columns_page [--check] [FILE]` writes the page, or with --check tells
whether the file equals it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn.core.hosts import HOSTS
from sojourn.core.text import markdown, write_page
from sojourn.result import columns
from sojourn.result.columns import Column

DEFAULT = Path("docs/reference/columns.md")

_HEAD = """\
<!-- SPDX-FileCopyrightText: 2026 The Sojourn authors -->
<!-- SPDX-License-Identifier: MIT OR GPL-2.0-only -->
# Every column of a result

<!-- Made from the tables by `python -m sojourn.result.columns_page`; edit those, not this. -->

[Results](../guide/results.md) has the files and [defines the numbers](../guide/results.md#numbers).
A number that was not measured is null, in a series NaN. Where no host is named, both have it.
Experiments add their own labels as columns. The last cell has the label of printed tables. A column
of `windows.parquet` or `steps.parquet` that has one is a metric of claims and sweeps.
"""
_TABLES: tuple[tuple[str, str, tuple[Column, ...]], ...] = (
    ("`windows.parquet`", "One row for each run, queue and window.", columns.WINDOWS),
    ("`series.parquet`", "One row for each run, queue and step of the grid.", columns.SERIES),
    (
        "`group_series.parquet`",
        "One row for each run, name of flows and step of the grid.",
        columns.GROUP_SERIES,
    ),
    (
        "`statistics.parquet`",
        "One row for each run, queue, statistic of its algorithm and step of the grid.",
        columns.STATISTICS,
    ),
    ("`flows.parquet`", "One row for each run, flow and window.", columns.FLOWS),
    ("`groups.parquet`", "One row for each run, window and name of flows.", columns.GROUPS),
    (
        "`steps.parquet`",
        "One row for each run, queue and change of the scenario; written where it changes.",
        columns.STEPS,
    ),
    (
        "`distributions.parquet`",
        "One row for each run, window, and cell of a histogram in which there is any.",
        columns.DISTRIBUTIONS,
    ),
    (
        "`transfers.parquet`",
        "With `record.transfers`: one row for each run and transfer, in the order of their ends; "
        "one that has none stands where it was given up, or behind all others.",
        columns.TRANSFERS,
    ),
    (
        "`events.parquet` of a run",
        "One row for each packet that left a recorded queue or was dropped there.",
        columns.EVENTS,
    ),
    ("`runs` of `result.json`", "The keys of an entry, as of `--json`.", columns.RUN),
    ("`queues` of an entry", "The keys of each.", columns.QUEUE),
)


def text() -> str:
    """Write the page as it is published."""
    return "\n".join([_HEAD, *(_table(*table) for table in _TABLES)])


def _table(title: str, rows: str, table: tuple[Column, ...]) -> str:
    lines = []
    for column in table:
        hosts = "" if column.hosts == HOSTS else ", ".join(f"`{host}`" for host in column.hosts)
        lines.append((f"`{column.name}`", column.unit, hosts, column.meaning, column.label))
    head = ("column", "unit", "host", "what", "label")
    return "\n".join([f"## {title}", "", rows, "", markdown(head, lines)])


if __name__ == "__main__":
    sys.exit(write_page(sys.argv[1:], DEFAULT, text))
