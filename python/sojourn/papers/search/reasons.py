# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Why a number differs. A reason is a run with one thing changed, and its figure. A number that no
such run brings to print is explained by several changed things at best, or by none. A run that
moves the number by less than half the aim is no reason: seeds do as much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sojourn.papers.search.measure import Cell, Cells, Found
from sojourn.papers.search.setups import Setup

Tried = tuple[Setup, Cells]


@dataclass(frozen=True)
class Effect:
    """The effect of one changed thing on all numbers."""

    setup: Setup
    gained: int  # cells that it brings inside
    lost: int  # cells that it takes outside
    cells: int  # on which it was run
    most: tuple[Found, Found] | None  # before and after, of the cell that moves most

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        most = None
        if self.most:
            before, after = self.most
            most = {
                **cell_json(before.cell),
                "published": before.published,
                "from": before.found.mean,
                "to": after.found.mean,
            }
        return {
            "setup": self.setup.number,
            "name": self.setup.label,
            "outside": bool(self.setup.outside),
            "gained": self.gained,
            "lost": self.lost,
            "cells": self.cells,
            "moves_most": most,
        }


@dataclass(frozen=True)
class Reason:
    """Why one number is not as printed, as far as the set-ups show."""

    text: Found  # under the text's own set-up
    alone: tuple[tuple[Setup, Found], ...]  # one changed thing brings it inside; the nearest first
    several: tuple[tuple[Setup, Found], ...]  # only several together do
    nearest: tuple[Setup, Found] | None  # of the set-ups with one thing changed

    @property
    def said(self) -> str:
        """Name the kind of reason."""
        if any(not setup.outside for setup, _ in self.alone):
            return "one thing"
        if self.several:
            return "several things"
        return "outside the text" if self.alone else "unexplained"

    @property
    def by(self) -> tuple[Setup, Found] | None:
        """Return the run that is the reason; without a reason, the run that comes nearest."""
        inside = [pair for pair in self.alone if not pair[0].outside]
        chosen = inside or self.several or self.alone
        return chosen[0] if chosen else self.nearest

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        by = self.by
        return {
            **cell_json(self.text.cell),
            "published": self.text.published,
            "measured": self.text.found.mean,
            "ci95": [*self.text.interval],
            "reason": self.said,
            "setup": by[0].number if by else None,
            "changed": by[0].label if by else None,
            "then": by[1].found.mean if by else None,
            "then_ci95": [*by[1].interval] if by else None,
        }


def cell_json(cell: Cell) -> dict[str, str]:
    """Return a cell's keys."""
    return {
        "experiment": cell.experiment,
        "signal": cell.signal,
        "algorithm": cell.algorithm,
        "metric": cell.metric,
    }


def effect(setup: Setup, before: Cells, after: Cells) -> Effect:
    """Compare a set-up with one thing changed with the text's own."""
    gained = sum(after[cell].inside and not before[cell].inside for cell in after)
    lost = sum(before[cell].inside and not after[cell].inside for cell in after)
    moved = [(before[cell], after[cell]) for cell in after]
    most = max(moved, key=_way, default=None)
    return Effect(setup, gained, lost, len(after), most if most and _way(most) > 0 else None)


def _way(pair: tuple[Found, Found]) -> float:
    """Measure the move of a cell, in aims; 0 where it is not measured in both."""
    before, after = pair
    if math.isinf(before.off) or math.isinf(after.off):
        return 0.0
    one_sided = (before.found.mean - before.published) * (after.found.mean - after.published) >= 0
    return abs(before.off - after.off) if one_sided else before.off + after.off


def reasons(text: Cells, alone: Sequence[Tried], several: Sequence[Tried]) -> list[Reason]:
    """Find the reason of every cell that is not inside under the text's own set-up."""
    return [
        _reason(cell, found, alone, several) for cell, found in text.items() if not found.inside
    ]


def _reason(cell: Cell, found: Found, alone: Sequence[Tried], several: Sequence[Tried]) -> Reason:
    nearer = sorted(_nearer(cell, found, alone), key=lambda pair: pair[1].off)
    together = [
        (_of_cell(setup, cell), measured) for setup, measured in _nearer(cell, found, several)
    ]
    return Reason(
        found,
        tuple(pair for pair in nearer if pair[1].inside),
        tuple(
            pair
            for pair in sorted(together, key=lambda pair: (len(pair[0].changed), pair[1].off))
            if pair[1].inside and len(pair[0].changed) > 1
        ),
        nearer[0] if nearer else None,
    )


_LEAST = 0.5


def _nearer(cell: Cell, found: Found, tried: Sequence[Tried]) -> list[tuple[Setup, Found]]:
    """List the runs that bring a number nearer to print by more than seeds do."""
    return [
        (setup, cells[cell])
        for setup, cells in tried
        if cell in cells and found.off - cells[cell].off >= _LEAST
    ]


def _of_cell(setup: Setup, cell: Cell) -> Setup:
    """Reduce the set-up to those of its changes that set something in a cell's runs."""
    changed = {
        point: name
        for point, name in setup.changed.items()
        if setup.values[point].touches([cell.experiment])
        and (not setup.values[point].only or cell.algorithm in setup.values[point].only)
    }
    return replace(setup, changed=changed)
