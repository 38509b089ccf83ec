# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a search has settled. Where an open point of a search.toml names in `text` the value that
the ledger had before, and scenario.toml now has another, the searched experiments prove nothing
more: their printed cells are calibrated."""

from __future__ import annotations

import tomllib
from pathlib import Path

from sojourn import claims
from sojourn.experiment import Experiment
from sojourn.search import file


def claims_of(experiment: Experiment) -> tuple[list[claims.Claim], set[claims.Cell]]:
    """An experiment's claims, and the cells that settled a setting."""
    found, calibrated = experiment.claims()
    if experiment.name in _searched_of(experiment.folder.parent):
        calibrated |= set(experiment.published)
    return found, calibrated


def _searched_of(paper: Path) -> tuple[str, ...]:
    """The experiments that settled a value of the ledger; none where nothing was replaced."""
    path = paper / "search.toml"
    if not path.is_file():
        return ()
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    if not any("text" in point for point in data.get("points", ())):
        return ()
    found = file.load(paper.name)
    return found.searched if found.replaced else ()
