# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The result of a search: the count of numbers as printed under each set-up, in the half that the
search looked at and in the other, where luck shows. It has reasons too, and the changes of the
ledger that the best set-up needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sojourn.papers.search import setups as of_setups
from sojourn.papers.search.file import Search, Value
from sojourn.papers.search.inside import RULE
from sojourn.papers.search.measure import SEEDS, Cell, Cells, Found
from sojourn.papers.search.reasons import Effect, Reason, cell_json, effect, reasons
from sojourn.papers.search.setups import TEXT, Setup


@dataclass(frozen=True)
class Ranked:
    """The set-ups after the search, before the other half has run."""

    search: Search
    setups: tuple[Setup, ...]
    half: Mapping[int, Cells]  # the searched cells, by set-up

    def count(self, setup: Setup) -> int:
        """Count the numbers of the searched half that are as printed."""
        return inside(self.half[setup.number])

    @cached_property
    def order(self) -> list[Setup]:
        """Sort the set-ups that the text allows, the best first. Among equals the one that changes
        fewer things leads, and then the one that was tried first."""
        within = [setup for setup in self.setups if not setup.outside]
        return sorted(within, key=lambda s: (-self.count(s), len(s.changed), s.number))

    @property
    def text(self) -> Setup:
        """Return the published text's own set-up."""
        return self.setups[0]

    @property
    def best(self) -> Setup:
        """Return the first in order."""
        return self.order[0]

    @property
    def median(self) -> Setup:
        """Return the middle of the order; of two, the one that ranks lower."""
        return self.order[len(self.order) // 2]

    @property
    def outside(self) -> list[Setup]:
        """List the set-ups that the text excludes."""
        return [setup for setup in self.setups if setup.outside]

    @property
    def judged(self) -> dict[str, Setup]:
        """Return the set-ups that run on the other half: the text's own, the best and the
        median."""
        return {"text": self.text, "best": self.best, "median": self.median}


@dataclass(frozen=True)
class Searched:
    """A search that has ended."""

    ranked: Ranked
    other: Mapping[int, Cells]  # cells of the other half, for the set-ups judged on it
    alone: tuple[tuple[Setup, Cells], ...]  # one thing changed, and all cells that it touches

    @property
    def search(self) -> Search:
        """Return the request."""
        return self.ranked.search

    @cached_property
    def text(self) -> Cells:
        """Return every printed number under the text's own set-up."""
        return {**self.ranked.half[TEXT], **self.other[TEXT]}

    def judged(self) -> list[tuple[str, Setup, int, int]]:
        """Count the numbers as printed in each half, for the text's own set-up, the best and the
        median."""
        ranked = self.ranked
        return [
            (name, setup, ranked.count(setup), inside(self.other[setup.number]))
            for name, setup in ranked.judged.items()
        ]

    @property
    def cells(self) -> tuple[int, int]:
        """Count the numbers in print, in each half."""
        return len(self.ranked.half[TEXT]), len(self.other[TEXT])

    def effects(self, half: bool) -> list[Effect]:
        """List the effect of each thing changed alone, in the searched half or in the other."""
        found = []
        for setup, cells in self.alone:
            here = {c: v for c, v in cells.items() if (c in self.ranked.half[TEXT]) == half}
            if here:
                found.append(effect(setup, self.text, here))
        return found

    @cached_property
    def reasons(self) -> list[Reason]:
        """Find the reason of every number that is not as printed under the text's own set-up."""
        singles = {setup.number for setup, _ in self.alone}
        several = [
            (setup, {**self.ranked.half[setup.number], **self.other.get(setup.number, {})})
            for setup in self.ranked.setups
            if setup.number not in singles and setup.number != TEXT
        ]
        return reasons(self.text, self.alone, several)

    def adopt(self) -> list[dict[str, object]]:
        """List the keys that the ledger would have to set for the best set-up; none where that is
        the text's own."""
        values = self.ranked.best.values
        found = [
            {"point": point, "value": values[point].name, "in": file, "key": key, "to": to}
            for point in self.ranked.best.changed
            for place, keys in values[point].set.items()
            for file in _files(values[point], place)
            for key, to in keys.items()
        ]
        # paper.toml has a row once for all experiments.
        return [entry for n, entry in enumerate(found) if entry not in found[:n]]

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn reproduce --search --json`."""
        ranked, search = self.ranked, self.search
        return {
            "paper": search.paper,
            "searched": list(search.searched),
            "seeds": len(SEEDS),
            "rule": RULE,
            "cells": dict(zip(("searched", "other"), self.cells, strict=True)),
            "possible": of_setups.count(search),
            "points": [
                {
                    "name": point.name,
                    "silent": point.silent,
                    "ledger": point.ledger,
                    "text": point.text,
                    "values": [value.name for value in point.values],
                    "searched": point.touches(search.searched),
                }
                for point in search.points
            ],
            "judged": [
                {"which": which, "setup": setup.number, "searched": half, "other": other}
                for which, setup, half, other in self.judged()
            ],
            "setups": [self._setup_json(setup) for setup in ranked.setups],
            "effects": {
                "searched": [found.to_json() for found in self.effects(half=True)],
                "other": [found.to_json() for found in self.effects(half=False)],
            },
            "reasons": [reason.to_json() for reason in self.reasons],
            "adopt": self.adopt(),
        }

    def _setup_json(self, setup: Setup) -> dict[str, Any]:
        return {
            "setup": setup.number,
            "name": setup.label,
            "outside": setup.outside.against if setup.outside else None,
            "values": {point: value.name for point, value in setup.values.items()},
            "inside": self.ranked.count(setup),
        }

    def rows(self) -> list[dict[str, Any]]:
        """List a row for each set-up and printed number, for a table of numbers."""
        return list(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        ranked = self.ranked
        every: list[tuple[Setup, Sequence[Found]]] = [
            (setup, list(ranked.half[setup.number].values())) for setup in ranked.setups
        ]
        seen = {(setup.number, found.cell) for setup, of in every for found in of}
        every += [(setup, list(self.other[setup.number].values())) for setup in _once(ranked)]
        every += [(setup, list(cells.values())) for setup, cells in self.alone]
        for n, (setup, of_setup) in enumerate(every):
            for found in of_setup:
                key = setup.number, found.cell
                if n >= len(ranked.setups) and key in seen:
                    continue
                seen.add(key)
                yield {
                    "setup": setup.number,
                    "name": setup.label,
                    "outside": bool(setup.outside),
                    "half": "searched" if found.cell in ranked.half[TEXT] else "other",
                    **cell_json(found.cell),
                    "published": found.published,
                    "measured": _finite(found.found.mean),
                    "ci95": _finite(found.found.half),
                    "inside": found.inside,
                }


def _files(value: Value, place: str) -> list[str]:
    """Name the files of a change: one for some algorithms alone is a row of theirs."""
    if value.only:
        return [f"paper.toml, rows of {name}" for name in value.only]
    experiment, _, cell = place.partition(": ")
    return [f"{experiment}/experiment.toml, cell {cell}" if cell else f"{experiment}/scenario.toml"]


def _once(ranked: Ranked) -> list[Setup]:
    return list({setup.number: setup for setup in ranked.judged.values()}.values())


def inside(cells: Mapping[Cell, Found]) -> int:
    """Count the numbers that are as printed."""
    return sum(found.inside for found in cells.values())


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
