# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Drawing of charts, wide or narrow, and their output as SVG, PNG and PDF."""

from __future__ import annotations

import sojourn.show.fonts  # noqa: F401, before Matplotlib

# isort: split
import io
import re
import textwrap
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np
from matplotlib import rc_context, rcParams
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from sojourn.show.chart import FONT_PT, WIDE_IN, Chart, Curve, Layout, Panel
from sojourn.show.theme import (
    GROUND,
    INK,
    LINE,
    SHADE,
    SOFT,
    colour,
    follow,
    marker,
    style_by_scheme,
)

_STYLES = ("-", "--", ":", "-.")
# The width of a letter of FONT_PT with its space, and the height of a line of the legend.
_LETTER_IN, _LINE_IN = 0.085, 0.22
# Of a panel, what title, numbers and label below take.
_BESIDE_AXES_IN = 0.6
# Intervals of several curves stand side by side, as far apart as these points of a page.
_APART_PT, _MOST_APART_PT = 4.0, 24.0
PNG_DPI = 200
# The height of the axes, of the highest value; texts of changes stand above the curves.
_ROOM, _ROOM_OF_CHANGES = 1.12, 1.3


def draw(chart: Chart, width_in: float = WIDE_IN, font_pt: float = FONT_PT) -> Figure:
    """Draw the panels under one legend; a narrow chart has one panel to a row. Heights are as the
    letters."""
    with rc_context({"font.size": font_pt}):
        return _draw(chart, width_in, font_pt / FONT_PT)


def _draw(chart: Chart, width_in: float, scale: float) -> Figure:
    layout, panels = chart.layout, chart.panels
    narrow = width_in < WIDE_IN
    columns = 1 if narrow else max(min(layout.columns, len(panels)), 1)
    rows = max(-(-len(panels) // columns), 1)
    letters = max(int(width_in / _LETTER_IN / scale) - 6, 8)
    names = [part.name for panel in panels for part in panel.parts if part.name]
    legend: dict[str, Any] = dict.fromkeys(textwrap.fill(verbatim(n), letters) for n in names)
    head_in = layout.head_in
    if head_in is None:
        legend_rows = _legend_rows(legend, _legend_columns(legend, letters))
        head_in = 0.4 + _LINE_IN * (legend_rows + bool(layout.legend_title))
    height_in = min(scale * (head_in + layout.panel_in * rows), layout.most_of_width * width_in)
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    places = figure.subplots(
        rows,
        columns,
        squeeze=False,
        sharex=layout.is_shared,
        sharey=layout.is_shared,
        width_ratios=layout.width_ratios[:columns] or None,
    ).ravel()
    tall_in = (height_in / scale - head_in) / rows - _BESIDE_AXES_IN
    tall = max(int(tall_in / _LETTER_IN), 8)
    for axes, panel in zip(places, panels, strict=False):
        _panel(axes, panel, layout, tall, narrow=narrow)
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            legend[textwrap.fill(name, letters)] = handle
    if layout.is_shared:
        _label_once(figure, places, panels, columns)
    _put_legend(figure, layout, legend, letters, narrow=narrow)
    return figure


def _legend_columns(legend: Iterable[str], letters: int) -> int:
    """Count the columns that fit."""
    names = list(legend)
    widest = max((len(line) for name in names for line in name.split("\n")), default=1)
    return max(min(len(names), letters // (widest + 6)), 1)


def _legend_rows(legend: Iterable[str], columns: int) -> float:
    return sum(name.count("\n") + 1 for name in legend) / columns + 1


def _put_legend(
    figure: Figure, layout: Layout, legend: dict[str, Any], letters: int, *, narrow: bool
) -> None:
    columns = _legend_columns(legend, letters)
    if layout.legend_columns:
        columns = layout.legend_columns[narrow]
    if columns:
        figure.legend(
            list(legend.values()),
            list(legend),
            title=verbatim(layout.legend_title) or None,
            loc="outside upper center",
            ncols=columns,
            frameon=False,
        )


def _label_once(figure: Figure, places: Any, panels: Any, columns: int) -> None:
    """Label axes that all panels share, with numbers below the lowest panel of each column."""
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    for column in range(min(columns, len(panels))):
        lowest = [n for n in range(len(panels)) if n % columns == column][-1]
        places[lowest].tick_params(labelbottom=True)
    figure.supxlabel(panels[0].x, fontsize="medium")
    figure.supylabel(panels[0].y, fontsize="medium")


def _panel(axes: Any, panel: Panel, layout: Layout, tall: int, *, narrow: bool) -> None:
    """Draw a panel, along whose height so many letters fit."""
    if panel.shaded:
        axes.axvspan(*panel.shaded, color=SHADE.light, zorder=0)
    with_intervals = [curve for curve in panel.curves if curve.reach]
    for curve in panel.curves:
        if curve.reach:
            _intervals(axes, curve, with_intervals.index(curve), len(with_intervals))
        else:
            _curve(axes, curve, is_step=panel.is_step)
    for point in panel.points:
        spread = {"xerr": point.x_half, "yerr": point.y_half, **_BARS}
        look = {"color": colour(point.look), "marker": marker(point.look), "markersize": 6}
        axes.errorbar(point.x, point.y, label=verbatim(point.name), ls="", **look, **spread)
    title = textwrap.fill(verbatim(panel.title), 45 if narrow else 90)
    axes.set_title(title, loc="left", fontsize="medium")
    # Some ticks are made only when the figure is written.
    axes.tick_params(which="both", labelsize=rcParams["font.size"])
    if not layout.is_shared:
        axes.set_xlabel(panel.x)
        axes.set_ylabel(textwrap.fill(panel.y, tall))
    if panel.x_log:
        axes.set_xscale("log")
    if panel.ticks:
        shown = _shown(len(panel.ticks), narrow)
        axes.set_xticks(*zip(*(panel.ticks[n] for n in shown), strict=True))
        axes.set_xticks([], minor=True)
    elif panel.x_log:
        _numbered(axes.xaxis, *axes.get_xlim())
    if not panel.x_log and (panel.x_right or not panel.ticks):
        axes.set_xlim(0, panel.x_right)
    if panel.y_log:
        axes.set_yscale("log")
        if panel.y_bottom:
            axes.set_ylim(bottom=panel.y_bottom)
        _numbered(axes.yaxis, *axes.get_ylim())
    else:
        room = _ROOM_OF_CHANGES if panel.changes else _ROOM
        axes.set_ylim(0, panel.y_top or axes.get_ylim()[1] * room)
    changes(axes, panel.changes, short=narrow)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color=LINE.light, linewidth=0.6)  # to read values by
    if panel.finish:
        panel.finish(axes, narrow)


# Bars of intervals are drawn above hollow markers, which would hide short ones.
_BARS = {"capsize": 2.5, "elinewidth": 1, "barsabove": True, "markerfacecolor": GROUND.light}


def _intervals(axes: Any, curve: Curve, number: int, count: int) -> None:
    """Draw a line with its intervals, beside those of the other curves at the same x."""
    apart_pt = min(_APART_PT, _MOST_APART_PT / count) * rcParams["font.size"] / FONT_PT
    aside_in = (number - (count - 1) / 2) * apart_pt / 72
    aside = ScaledTranslation(aside_in, 0, axes.figure.dpi_scale_trans)
    drawn = axes.errorbar(curve.x, curve.y, yerr=curve.reach, **_style(curve), **_BARS)
    # Only now: matplotlib finds no limits of what is drawn aside.
    for artist in drawn.get_children():
        artist.set_transform(axes.transData + aside)


def _style(curve: Curve) -> dict[str, Any]:
    return {
        "label": verbatim(curve.name) or "_nolegend_",
        "color": colour(curve.look),
        "linestyle": _STYLES[curve.look % len(_STYLES)],
        "linewidth": 1.6,
        **curve.style,
    }


def _curve(axes: Any, curve: Curve, *, is_step: bool) -> None:
    """Draw a line; a value without neighbours gets a dot, as a line would not show it."""
    style = {**({"drawstyle": "steps-post"} if is_step else {}), **_style(curve)}
    axes.plot(curve.x, curve.y, **style)
    alone = _alone(np.asarray(curve.y, float))
    if alone.any() and "marker" not in style:
        x, y = np.asarray(curve.x)[alone], np.asarray(curve.y)[alone]
        axes.plot(x, y, ".", color=style["color"])


def _alone(values: Any) -> Any:
    there = np.concatenate(([False], ~np.isnan(values), [False]))
    return there[1:-1] & ~there[:-2] & ~there[2:]


def _shown(count: int, narrow: bool) -> range:
    """Choose the ticks that have a number.

    Without room for all, the last tick has one, and the first where even steps allow it.
    """
    if not narrow or count <= 6:
        return range(count)
    step = next((step for step in (2, 3, 4) if (count - 1) % step == 0), 2)
    return range((count - 1) % step, count, step)


def number_at_1_2_5(axis: Any) -> None:
    """Number a logarithmic axis at 1, 2 and 5 of each power of ten."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _numbered(axis: Any, low: float, high: float) -> None:
    """Number a logarithmic axis; between few powers of ten 2 and 5 have numbers too."""
    axis.set_major_formatter("{x:g}")
    axis.set_tick_params(which="minor", pad=5)  # as far from the axis as behind longer ticks
    axis.set_minor_formatter(_between if high < 100 * low else NullFormatter())


def _between(value: float, _position: int) -> str:
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def verbatim(name: str) -> str:
    """Escape a name: in matplotlib a $ begins a formula, and a label that begins with _ is
    hidden."""
    name = name.replace("$", r"\$")
    return f"\u200b{name}" if name.startswith("_") else name


def changes(axes: Any, steps: Iterable[tuple[float, str]], *, short: bool = False) -> None:
    """Write the link's rate and other changes at their times; `short` puts one word on a line."""
    steps = list(steps)
    right_s = axes.get_xlim()[1]
    scale = rcParams["font.size"] / FONT_PT
    letters_per_s = axes.figure.get_figwidth() / _LETTER_IN / scale / right_s
    for number, (at_s, what) in enumerate(steps, 1):
        end_s = steps[number][0] if number < len(steps) else right_s
        letters = 1 if short else max(int(letters_per_s * (end_s - at_s)), 1)
        if at_s:
            axes.axvline(at_s, color=SOFT.light, linewidth=0.6, linestyle=(0, (2, 3)))
        axes.annotate(
            verbatim(_folded(what, letters)),
            (at_s, 1),
            xycoords=("data", "axes fraction"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=0.8 * rcParams["font.size"],
            color=SOFT.light,
        )


def _folded(text: str, letters: int) -> str:
    """Fold a text without breaking a word."""
    lines = (
        textwrap.fill(line, letters, break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )
    return "\n".join(lines)


def svg(figure: Figure, name: str, words: str) -> str:
    """Write the figure as an <svg> element, the same bytes each time.

    `name` keeps its ids distinct from those of other figures of the page. `words` is its text
    alternative.
    """
    text = _svg(figure)
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\1{name}-", text)
    # The page sets the width; text has the colour of the page's text.
    text = re.sub(
        r' width="[^"]*" height="[^"]*"',
        f' role="img" aria-label="{escape(words)}" style="fill: {INK.css}"',
        text,
        count=1,
    )
    return follow(text)


def svg_file(figure: Figure, words: str) -> bytes:
    """Write the figure as a file, on its own ground, which follows the reader's scheme; its letters
    are text."""
    text = _svg(figure, "none", facecolor=GROUND.light)
    head = f'<svg role="img" aria-label="{escape(words)}"'
    style = f"<style>{style_by_scheme()}</style>"
    return text.replace("<svg", head, 1).replace("<defs>", f"{style}<defs>", 1).encode()


def png_file(figure: Figure, words: str) -> bytes:
    """Write the figure as a PNG, on light ground."""
    sink = io.BytesIO()
    about = {"Software": None, "Description": words}
    figure.savefig(sink, format="png", dpi=PNG_DPI, metadata=about, facecolor=GROUND.light)
    return sink.getvalue()


def pdf_file(figure: Figure, words: str) -> bytes:
    """Write the figure as a PDF, the same bytes each time; its letters are text of TrueType fonts,
    as journals want them."""
    sink = io.BytesIO()
    about = {"Creator": None, "Producer": None, "CreationDate": None, "Subject": words}
    with rc_context({"pdf.fonttype": 42}):
        figure.savefig(sink, format="pdf", metadata=about)
    return sink.getvalue()


def _svg(figure: Figure, letters: str = "path", **ground: Any) -> str:
    sink = io.StringIO()
    with rc_context({"svg.fonttype": letters, "svg.hashsalt": "sojourn"}):
        how = ground or {"transparent": True}
        figure.savefig(sink, format="svg", metadata={"Date": None}, **how)
    text = sink.getvalue()
    return re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
