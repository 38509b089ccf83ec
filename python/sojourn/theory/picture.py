# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What the pictures of a study share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from sojourn.show.drawing import written

# Of a letter, with what is beside it.
_LETTER_IN = 0.085


@dataclass(frozen=True)
class Picture:
    """A figure, what stands below it, and its text alternative."""

    name: str
    title: str
    caption: str
    words: str
    draw: Callable[[float], Figure]


def new_figure(width_in: float, height_in: float, rows: int = 1, **how: Any) -> tuple[Figure, Any]:
    """A figure, and its axes one below the other."""
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False, **how).ravel()
    return figure, axes


def put_legend(figure: Figure, axes: Any, width_in: float, extra: Sequence[Any] = ()) -> None:
    """What the curves of these axes are, and patches beside them, above the figure."""
    handles, names = axes.get_legend_handles_labels()
    handles += list(extra)
    names += [one.get_label() for one in extra]
    letters = int(width_in / _LETTER_IN) - 6
    names = [textwrap.fill(name, letters) for name in names]
    longest = max((len(line) for name in names for line in name.split("\n")), default=1)
    columns = max(min(letters // (longest + 6), len(names)), 1)
    figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False)


def fullest(all_axes: Any) -> Any:
    """Of several, the axes whose legend serves all."""
    return max(all_axes, key=lambda axes: len(axes.get_legend_handles_labels()[0]))


def headed(name: str, width_in: float) -> str:
    """A name above axes, over several lines where it is long."""
    return textwrap.fill(written(name), int(width_in / _LETTER_IN))


def sentence(clauses: Iterable[str]) -> str:
    """The end of a text alternative."""
    return "; ".join(clauses) + "."
