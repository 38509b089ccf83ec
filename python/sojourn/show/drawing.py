# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What all figures share: their widths, curves, axes, and how they become SVG and PNG."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from sojourn.show.theme import CURVES, GROUND, INK, LINE, SOFT, follow, style_by_scheme

if TYPE_CHECKING:
    from sojourn.result.result import Run

_STYLES = ("-", "--", ":", "-.")
_MARKERS = "os^DvPX*<>hp"
# Colours and styles together; more curves would look like earlier ones.
LOOKS = 12
# Of a letter above the curves, with what is beside the axes.
_LETTER_IN = 0.085
# A figure is drawn twice, for a page and for a telephone, so that its letters keep their size.
WIDE_IN = 7.2
NARROW_IN = 3.9
PNG_DPI = 200


@dataclass(frozen=True)
class Curve:
    """What is drawn of one algorithm; `look` tells it from the others of its figure."""

    name: str
    x: Any
    y: Any
    look: int = 0


def raw(run: Run, queue: str, column: str) -> tuple[Any, Any]:
    """Time (the ends of the steps) and values of a series."""
    return rows(run.series(), {"queue": queue}, column)


def rows(table: Any, where: Mapping[str, str], column: str) -> tuple[Any, Any]:
    """Time and values of the rows that have these words."""
    chosen = np.ones(len(table), bool)
    for key, word in where.items():
        chosen &= np.array(table[key].to_pylist(), str) == word
    return table["t_s"].to_numpy()[chosen], table[column].to_numpy()[chosen]


def averaged(time: Any, values: Any, average_s: float) -> tuple[Any, Any]:
    """Time and mean over bins of `average_s`; empty cells do not count."""
    if not len(time):
        return np.empty(0), np.empty(0)
    bins = np.ceil(time / average_s - 1e-9).astype(int) - 1
    bins = np.clip(bins, 0, None)
    good = ~np.isnan(values)
    count = np.bincount(bins[good], minlength=bins.max() + 1)
    total = np.bincount(bins[good], weights=values[good], minlength=bins.max() + 1)
    with np.errstate(invalid="ignore"):
        return (np.arange(len(count)) + 0.5) * average_s, total / count


def written(name: str) -> str:
    """A name as it is: to matplotlib a $ begins a formula, and a label after _ is none."""
    name = name.replace("$", r"\$")
    return f"\u200b{name}" if name.startswith("_") else name


def colour(look: int) -> str:
    """Of a curve or a point, on light ground."""
    return CURVES[look % len(CURVES)].light


def marker(look: int) -> str:
    """Of a point."""
    return _MARKERS[look % len(_MARKERS)]


def lines(axes: Any, curves: Iterable[Curve], **style: Any) -> None:
    """The curves; a value that has no neighbours, which no line would show, gets a dot."""
    for curve in curves:
        look = colour(curve.look)
        axes.plot(
            curve.x,
            curve.y,
            label=written(curve.name),
            color=look,
            linestyle=_STYLES[curve.look % len(_STYLES)],
            linewidth=1.6,
            **style,
        )
        alone = _alone(np.asarray(curve.y, float))
        if alone.any():
            axes.plot(np.asarray(curve.x)[alone], np.asarray(curve.y)[alone], ".", color=look)


def _alone(values: Any) -> Any:
    there = np.concatenate(([False], ~np.isnan(values), [False]))
    return there[1:-1] & ~there[:-2] & ~there[2:]


_UNITS = {"pkts": "packets", "pct": "%"}


def axis_of(column: str) -> str:
    """What stands beside the axis of a series, such as system_delay_ms."""
    name, _, unit = column.rpartition("_")
    return f"{name.replace('_', ' ')} ({_UNITS.get(unit, unit)})"


def plain(axes: Any) -> None:
    """No frame, and lines to read values by."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=LINE.light, linewidth=0.6)


def changes(axes: Any, steps: Iterable[tuple[float, str]], *, short: bool = False) -> None:
    """The link's rate and what else changes, written where it does; `short`: a word to a line."""
    found = list(steps)
    right_s = axes.get_xlim()[1]
    letters_per_s = axes.figure.get_figwidth() / _LETTER_IN / right_s
    for number, (at_s, what) in enumerate(found, 1):
        end_s = found[number][0] if number < len(found) else right_s
        letters = 1 if short else max(int(letters_per_s * (end_s - at_s)), 1)
        if at_s:
            axes.axvline(at_s, color=SOFT.light, linewidth=0.6, linestyle=(0, (2, 3)))
        axes.annotate(
            written(_folded(what, letters)),
            (at_s, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=SOFT.light,
        )


def _folded(text: str, letters: int) -> str:
    """No word is broken."""
    lines = (
        textwrap.fill(line, letters, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )
    return "\n".join(lines)


def svg(figure: Figure, name: str, words: str) -> str:
    """The figure as an <svg> element, the same bytes each time. `name` keeps its ids apart from
    those of other figures of the page, `words` is for whoever does not see it."""
    text = _svg(figure)
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\1{name}-", text)
    # The page decides how wide it is; text has the colour of the page's.
    text = re.sub(
        r' width="[^"]*" height="[^"]*"',
        f' role="img" aria-label="{escape(words)}" style="fill: {INK.css}"',
        text,
        count=1,
    )
    return follow(text)


def svg_file(figure: Figure, words: str) -> bytes:
    """The figure as a file of its own, on its own ground, which follows the reader's scheme."""
    text = _svg(figure, facecolor=GROUND.light)
    head = f'<svg role="img" aria-label="{escape(words)}"'
    style = f"<style>{style_by_scheme()}</style>"
    return text.replace("<svg", head, 1).replace("<defs>", f"{style}<defs>", 1).encode()


def png_file(figure: Figure, words: str) -> bytes:
    """The figure as a PNG, on light ground."""
    sink = io.BytesIO()
    about = {"Software": None, "Description": words}
    figure.savefig(sink, format="png", dpi=PNG_DPI, metadata=about, facecolor=GROUND.light)
    return sink.getvalue()


def _svg(figure: Figure, **ground: Any) -> str:
    import matplotlib

    sink = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "sojourn"}):
        how = ground or {"transparent": True}
        figure.savefig(sink, format="svg", metadata={"Date": None}, **how)
    text = sink.getvalue()
    return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
