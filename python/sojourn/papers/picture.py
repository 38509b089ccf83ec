# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A figure of a paper redrawn: how it is drawn, what it says in words, and the numbers in it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sojourn.show.page import drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.papers.experiment import Experiment


@dataclass(frozen=True)
class Picture:
    """One figure: how it is drawn at a width, in words, and as numbers."""

    name: str  # of its files
    signal: str  # what it shows; empty where it shows all of them
    host: str  # empty where it shows several
    caption: str
    words: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    draw: Callable[[float], Figure]

    @property
    def file(self) -> str:
        """Of its numbers."""
        return f"{self.name}.csv"

    def csv(self) -> str:
        """What it draws: a row for each point, numbers in six digits."""
        sink = io.StringIO()
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_spelt(value) for value in row] for row in self.rows)
        return sink.getvalue()

    def of_page(self, prefix: str = "") -> dict[str, Any]:
        """For a template: drawn in both widths, and its numbers as a link that holds them; the
        prefix keeps it apart from others of a page."""
        return {
            **drawn(self.draw, f"{prefix}{self.name}", self.words),
            "host": self.host,
            "caption": self.caption,
            "file": self.file,
            "link": f"data:text/csv;charset=utf-8,{quote(self.csv(), safe=',.-+:()/')}",
        }


def _spelt(value: Any) -> str:
    """Nothing where there is no number."""
    if isinstance(value, str):
        return value
    return f"{float(value):.6g}" if value == value else ""


def named(experiment: Experiment, *parts: str) -> str:
    """Of a figure's files: duk-1-drop-sim."""
    words = re.sub(r"[^a-z0-9]+", "-", " ".join((experiment.id, *parts)).lower())
    return words.strip("-")
