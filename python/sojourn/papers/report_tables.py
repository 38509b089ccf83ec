# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The tables of a paper's page: which cells share one, and what its rows and columns are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.core.hosts import HOSTS
from sojourn.papers.experiment import Signal
from sojourn.papers.reproduce import Measured, Reproduction
from sojourn.show.page import heading

# Cells of a table that each have a block of rows.
_MANY = 4


@dataclass(frozen=True)
class Group:
    """Cells that share a table: one for each value of the further axes."""

    title: str
    table: str
    metrics: tuple[str, ...]
    beside: tuple[str, ...]
    signals: tuple[Signal, ...]

    @property
    def is_long(self) -> bool:
        """Too many cells for a block of rows each."""
        return len(self.signals) > _MANY


# For each row its name, and what was measured on each host in each column.
Rows = list[tuple[str, list[dict[str, Measured]]]]


@dataclass(frozen=True)
class Grid:
    """A table of numbers: columns that each have those of print and of both hosts."""

    label: str
    corner: str
    headings: tuple[str, ...]
    blocks: list[tuple[str, Rows]]

    @property
    def printed(self) -> bool:
        """Any number of it is in print."""
        cells = (of for _, rows in self.blocks for _, row in rows for of in row)
        return any(of["sim"].published is not None for of in cells)


def groups_of(reproduction: Reproduction) -> list[Group]:
    """Tables, in the order of the signals."""
    found: dict[tuple[str, str], list[Signal]] = {}
    for signal in reproduction.experiment.signals():
        if not signal.ablates:
            found.setdefault((signal.name.partition(", ")[0], signal.table), []).append(signal)
    return [
        Group(title, table, of[0].metrics, of[0].beside, tuple(of))
        for (title, table), of in found.items()
    ]


def grids(reproduction: Reproduction, group: Group, metrics: Sequence[str]) -> list[Grid]:
    """A row for each algorithm; where there are many cells, as along an axis, a row for each cell,
    and a table for each metric."""
    contenders = reproduction.experiment.contenders(group.signals[0])

    def cell(signal: Signal, algorithm: str, metric: str) -> dict[str, Measured]:
        return {host: reproduction.cell(host, signal.name, algorithm, metric) for host in HOSTS}

    if not group.is_long:
        several = len(group.signals) > 1
        blocks = [
            (
                signal.name if several else "",
                [
                    (c.name, [cell(signal, c.name, metric) for metric in metrics])
                    for c in contenders
                ],
            )
            for signal in group.signals
        ]
        return [Grid(group.title, "algorithm", tuple(map(heading, metrics)), blocks)]
    names = tuple(contender.name for contender in contenders)
    return [
        Grid(
            heading(metric),
            heading(metric),
            names,
            [("", [(_rest(s), [cell(s, n, metric) for n in names]) for s in group.signals])],
        )
        for metric in metrics
    ]


def _rest(signal: Signal) -> str:
    """Without what the title says of all of them."""
    return signal.name.partition(", ")[2] or signal.name


def peers(reproduction: Reproduction, group: Group) -> list[dict[str, Any]]:
    """Ours beside the kernel's own, of each cell."""
    columns = reproduction.beside_kernel()
    if not columns:
        return []
    return [
        {
            "title": signal.name,
            "columns": columns,
            "rows": [
                (
                    metric,
                    [
                        [reproduction.cell(host, signal.name, name, metric) for host, name in of]
                        for of in columns
                    ],
                )
                for metric in (*group.metrics, *group.beside)
            ],
        }
        for signal in group.signals
    ]
