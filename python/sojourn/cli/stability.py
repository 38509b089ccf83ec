# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The table that `sojourn stability` prints: a row for each model."""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn.show.tables import Column, console, print_columns
from sojourn.theory.grid import counts
from sojourn.theory.study import Study
from sojourn.theory.table import columns, title


def print_study(study: Study, out: Path | None) -> None:
    """Equilibrium, margins and verdict; on stderr what the model does not know."""
    terminal = console()
    names = [Column("model", [model.name for model in study.models])]
    print_columns(terminal, title(study.network), names, columns(study))
    for found in counts(study.maps):
        terminal.print(
            f"map of {found['algorithm']}: {found['stable']} cells stable, {found['unstable']} "
            f"unstable, {found['no_equilibrium']} without equilibrium",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )
    if out:
        terminal.print(f"stability: {out}", soft_wrap=True, markup=False, highlight=False)
    for model in study.models:
        for note in study.notes(model):
            print(f"sojourn: {model.name}: {note}", file=sys.stderr)
