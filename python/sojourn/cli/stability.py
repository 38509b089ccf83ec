# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The table that `sojourn stability` prints: a row for each model."""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn.show.tables import console, print_line, print_table
from sojourn.theory.maps import counts
from sojourn.theory.study import Study, table


def print_study(study: Study, out: Path | None) -> None:
    """Print equilibrium, margins and verdict; on stderr the limits of each model."""
    terminal = console()
    print_table(terminal, table(study))
    for found in counts(study.maps):
        print_line(
            terminal,
            f"map of {found['algorithm']}: {found['stable']} cells stable, {found['unstable']} "
            f"unstable, {found['no_equilibrium']} without equilibrium",
        )
    if out:
        print_line(terminal, f"stability: {out}")
    for model in study.models:
        for note in study.notes(model):
            print(f"sojourn: {model.name}: {note}", file=sys.stderr)
