# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A chart as data: panels of curves and points, its text alternative, and its numbers.

`sojourn.show.drawing` draws it. Nothing here imports matplotlib, which is slow to import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from sojourn.core.errors import InputError
from sojourn.core.text import csv_text
from sojourn.core.units import UnitError, split

# A chart is drawn twice, for a page and for a telephone: its letters keep their size.
WIDE_IN = 7.2
NARROW_IN = 3.9
FONT_PT = 10.0
_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
_POINTS = {"pt": 1.0}


@dataclass(frozen=True)
class Size:
    """The width of a chart, and the size of its letters."""

    width_in: float = WIDE_IN
    font_pt: float = FONT_PT

    @classmethod
    def read(cls, width: str | None, font: str | None) -> Self:
        """Read the words of a command, such as 3.5in and 8pt. InputError: they are wrong."""
        return cls(
            _read("--width", width, _INCHES, (1, 40), WIDE_IN),
            _read("--font", font, _POINTS, (4, 40), FONT_PT),
        )


# That of charts on pages.
OF_PAGE = Size()


def _read(
    option: str,
    text: str | None,
    units: Mapping[str, float],
    ends: tuple[float, float],
    default: float,
) -> float:
    if text is None:
        return default
    try:
        number, unit = split(text)
        value = float(number) * units[unit]
    except (UnitError, KeyError):
        wanted = " or ".join(units)
        raise InputError(f"{option} {text}: a number and {wanted} are wanted") from None
    if not ends[0] <= value <= ends[1]:
        least, most = (f"{end:g} {next(iter(units))}" for end in ends)
        raise InputError(f"{option} {text}: allowed: {least} to {most}")
    return value


# Colours and dashes together; more curves would look like earlier ones.
LOOKS = 12


@dataclass(frozen=True)
class Curve:
    """One line of a panel; without a name it has no entry in the legend."""

    name: str
    x: Any
    y: Any
    look: int = 0  # its colour and dashes among those of the chart
    reach: tuple[Any, Any] | None = None  # of an interval, below and above each value
    # Matplotlib's words for the differences from the look.
    style: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """List x and y of each point."""
        return list(zip(self.x, self.y, strict=True))

    @property
    def ends(self) -> list[tuple[Any, ...]]:
        """List the ends of the interval of each point, where there are any."""
        if not self.reach:
            return [()] * len(self.pairs)
        low, high = self.reach
        return [(y - a, y + b) for y, a, b in zip(self.y, low, high, strict=True)]


@dataclass(frozen=True)
class Point:
    """Two means of one algorithm, with the halves of their 95 % intervals."""

    name: str
    x: float
    y: float
    x_half: float
    y_half: float
    look: int

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """List the pair of both means."""
        return [(self.x, self.y)]

    @property
    def ends(self) -> list[tuple[float, ...]]:
        """List the ends of both intervals; a single seed has none."""
        if not (self.x_half or self.y_half):
            return [()]
        of_y = self.y - self.y_half, self.y + self.y_half
        return [(*of_y, self.x - self.x_half, self.x + self.x_half)]


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve] = ()
    points: Sequence[Point] = ()
    x_right: float | None = None  # the end of the axis
    x_log: bool = False
    y_log: bool = False
    y_top: float | None = None
    y_bottom: float | None = None  # of a logarithmic axis
    is_step: bool = False
    changes: Sequence[tuple[float, str]] = ()  # of the scenario: time, and the state from then on
    shaded: tuple[float, float] | None = None  # the span of x that tables measure
    ticks: Sequence[tuple[float, str]] = ()  # of x, in place of those from 0 on
    # Draws additions of this panel on its axes, last; the flag tells that the chart is narrow.
    finish: Callable[[Any, bool], None] | None = None

    @property
    def parts(self) -> list[Curve | Point]:
        """List curves and points."""
        return [*self.curves, *self.points]


@dataclass(frozen=True)
class Layout:
    """The places of panels and legend. Pairs are for a wide chart and a narrow one."""

    columns: int = 1  # of panels, where the chart is wide
    width_ratios: tuple[float, ...] = ()
    is_shared: bool = False  # all panels have the same axes, which are labelled once
    head_in: float | None = None  # above the panels; by default, as the legend needs
    panel_in: float = 2.7
    most_of_width: float = float("inf")  # bounds the height
    legend_columns: tuple[int, int] | None = None  # 0: no legend; by default, as many as fit
    legend_title: str = ""


@dataclass(frozen=True)
class Chart:
    """The content of one file or one figure of a page: curves, words and numbers."""

    name: str  # of its files
    title: str
    caption: str
    panels: Sequence[Panel]
    words: str  # the text alternative
    layout: Layout = Layout()
    # The cell and the host of an experiment; empty where the chart shows all.
    cell: str = ""
    host: str = ""
    # Its numbers, if they differ from those of the curves.
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[Any, ...]] = ()
    few: str = ""  # which of its quantiles rest on too few values, beside the caption

    @classmethod
    def described(
        cls, name: str, title: str, caption: str, panels: Sequence[Panel], clauses: Sequence[str]
    ) -> Self:
        """Make a chart; its words are its title, its axes, and the clauses with its numbers."""
        words = f"{title}: {panels[0].y} against {panels[0].x}. " + "; ".join(clauses) + "."
        return cls(name, title, caption, panels, words)

    def with_title(self, title: str) -> Chart:
        """Return the chart with another title, in its words too."""
        return replace(self, title=title, words=self.words.replace(self.title, title, 1))

    @property
    def file(self) -> str:
        """Name the file of its numbers."""
        return f"{self.name}.csv"

    def csv(self) -> str:
        """Write its numbers: a row for each point, in six digits, with the ends of its
        intervals."""
        columns, rows = self.columns, self.rows
        if not columns:
            points = [
                (", ".join(filter(None, (panel.title, panel.y))), part.name, *pair, *ends)
                for panel in self.panels
                for part in panel.parts
                for pair, ends in zip(part.pairs, part.ends, strict=True)
            ]
            width = max(map(len, points), default=4)
            columns = ("panel", "curve", "x", "y", "y_low", "y_high", "x_low", "x_high")[:width]
            rows = [(*point, *[float("nan")] * (width - len(point))) for point in points]
        return csv_text(columns, (map(_digits, row) for row in rows))


def _digits(value: Any) -> str:
    """Write a number in six digits; a missing number is empty."""
    if isinstance(value, str):
        return value
    return f"{float(value):.6g}" if value == value else ""


def file_name(*words: str) -> str:
    """Join words to the name of a chart's files: duk-1-drop-sim."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


_UNITS = {"pkts": "packets", "pct": "%"}


def axis_label(column: str) -> str:
    """Make the label of an axis from a column, such as system_delay_ms."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')} ({_UNITS.get(unit, unit)})"


def and_last(texts: Sequence[str]) -> str:
    """Join with commas, the last with "and"."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
