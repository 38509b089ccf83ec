# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The pictures of a study: Nyquist, Bode, maps, and those of the queue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import LogLocator, NullFormatter

from sojourn.show.drawing import Curve, colour, lines, plain
from sojourn.show.theme import INK, LINE, SHADE, SOFT
from sojourn.theory.grid import Map
from sojourn.theory.models import Model
from sojourn.theory.picture import Picture, new_figure, put_legend, sentence
from sojourn.theory.queue_charts import queue, spectrum
from sojourn.theory.study import Study

_LEVELS_DEG = (15, 30, 45, 60)
_UNITS = {"flows": "flows", "capacity_mbit_s": "capacity (Mbit/s)", "rtt_ms": "round trip (ms)"}


def pictures(study: Study) -> list[Picture]:
    """Those that a study has."""
    models = study.models
    found = [_nyquist(models), _bode(models)]
    found += [_map(one, number) for number, one in enumerate(study.maps, 1)]
    if study.beside:
        found += [queue(study.beside), spectrum(study.beside)]
    return found


def _verdict(model: Model) -> str:
    margins = model.margins
    if not margins.is_stable:
        return f"{model.name} unstable, {margins.unstable} poles on the right"
    if not math.isfinite(margins.phase_deg):
        return f"{model.name} stable, |L| is nowhere 1"
    return f"{model.name} stable, phase margin {margins.phase_deg:.0f}°"


def _nyquist(models: Sequence[Model]) -> Picture:
    crossings = [1 / m.margins.gain for m in models if math.isfinite(m.margins.gain)]
    reach = min(max([1.4 * max(crossings, default=1), 2.0]), 12.0)

    def draw(width_in: float) -> Figure:
        figure, (axes,) = new_figure(width_in, min(width_in, 5.6))
        curves = []
        for look, model in enumerate(models):
            values = model.loop.gain(1j * model.loop.frequencies())
            values = np.where(np.abs(values) > 40 * reach, np.nan, values)
            curves.append(Curve(model.name, values.real, values.imag, look))
        turn = np.exp(1j * np.linspace(0, math.tau, 200))
        axes.plot(turn.real, turn.imag, color=SOFT.light, linewidth=0.8, linestyle=":")
        axes.axhline(0, color=LINE.light, linewidth=0.6)
        axes.axvline(0, color=LINE.light, linewidth=0.6)
        lines(axes, curves)
        axes.plot(-1, 0, "+", color=INK.light, markersize=11, markeredgewidth=1.8, label="-1")
        axes.set_xlim(-reach, 0.7 * reach)
        axes.set_ylim(-0.9 * reach, 0.6 * reach)
        axes.set_aspect("equal")
        axes.set_xlabel("real part of L")
        axes.set_ylabel("imaginary part of L")
        plain(axes)
        put_legend(figure, axes, width_in)
        return figure

    caption = (
        "L(jω) for ω above 0; below 0 it is the mirror image. The dotted circle is |L| = 1. "
        "A loop without poles of its own on the right is unstable where the curve goes around -1."
    )
    words = "Nyquist curve: imaginary part of L against its real part. "
    return Picture("nyquist", "Nyquist", caption, words + sentence(map(_verdict, models)), draw)


def _shown(models: Sequence[Model]) -> tuple[float, float]:
    """Of the frequency axis of Bode's curves, in rad/s."""
    marks = [
        mark
        for m in models
        for mark in (m.margins.crossover_rad_s, m.margins.phase_crossover_rad_s)
        if math.isfinite(mark)
    ] or [1 / m.at.round_trip_s for m in models]
    last = min(m.loop.last_rad_s for m in models)
    return min(marks) / 30, min(max(marks) * 30, max(last, max(marks) * 2))


def _bode(models: Sequence[Model]) -> Picture:
    low, high = _shown(models)

    def draw(width_in: float) -> Figure:
        figure, (above, below) = new_figure(width_in, 5.6, 2, sharex=True)
        sizes, angles = [], []
        for look, model in enumerate(models):
            omega = model.loop.frequencies()
            values = model.loop.gain(1j * omega)
            angle = np.degrees(np.unwrap(np.angle(values)))
            seen = (omega >= low) & (omega <= high)
            sizes.append(Curve(model.name, omega[seen], np.abs(values[seen]), look))
            angle = np.where(angle < -720, np.nan, angle)
            angles.append(Curve(model.name, omega[seen], angle[seen], look))
        lines(above, sizes)
        lines(below, angles)
        for look, model in enumerate(models):
            margins = model.margins
            mark = {"color": colour(look), "markersize": 6}
            above.plot(margins.crossover_rad_s, 1, "o", **mark)
            if math.isfinite(margins.gain):
                above.plot(margins.phase_crossover_rad_s, 1 / margins.gain, "s", **mark)
        above.axhline(1, color=SOFT.light, linewidth=0.8, linestyle=":")
        below.axhline(-180, color=SOFT.light, linewidth=0.8, linestyle=":")
        above.set_xscale("log")
        above.set_yscale("log")
        above.set_ylabel("|L|")
        below.set_ylabel("phase of L (degrees)")
        below.set_xlabel("frequency (rad/s)")
        below.set_yticks(np.arange(-720, 91, 90))
        for axes in (above, below):
            axes.set_xlim(low, high)
            plain(axes)
        below.set_ylim(-560, 10)
        put_legend(figure, above, width_in)
        return figure

    caption = (
        "A disc is where |L| is 1, a square where L is real and negative: the swing of a loop "
        "that is unstable."
    )
    said = (
        f"{m.name} crosses 1 at {_rad(m.margins.crossover_rad_s)} and -180° at "
        f"{_rad(m.margins.phase_crossover_rad_s)}"
        for m in models
    )
    words = "Bode curves: |L| and phase against frequency. "
    return Picture("bode", "Bode", caption, words + sentence(said), draw)


def _rad(value: float) -> str:
    return f"{value:.3g} rad/s" if math.isfinite(value) else "no frequency"


def _map(found: Map, number: int) -> Picture:
    def draw(width_in: float) -> Figure:
        figure, (axes,) = new_figure(width_in, min(width_in * 0.8, 5.2))
        x, y = found.x.values, found.y.values
        kind = np.where(found.unstable < 0, 2.0, np.where(found.unstable > 0, 1.0, 0.0))
        # Cells are drawn from edge to edge, so that what is unstable is what was counted so.
        areas = ((1, SHADE, "unstable"), (2, LINE, "no equilibrium"))
        for value, ground, _ in areas:
            cells = np.ma.masked_not_equal(kind, value)
            for j, i in zip(*np.nonzero(~np.ma.getmaskarray(cells)), strict=True):
                axes.add_patch(_cell(x, y, i, j, ground.light))
        # Negative where it is unstable, so that lines end at the edge and not a cell before it.
        safe = np.minimum(found.phase_deg, 180)
        safe = np.where(found.unstable > 0, -np.abs(safe), safe)
        for look, level in enumerate(_LEVELS_DEG):
            _level(axes, x, y, safe, level, colour(look), ("-", "--", ":", "-.")[look])
            axes.plot(
                [],
                [],
                color=colour(look),
                linestyle=("-", "--", ":", "-.")[look],
                label=f"{level}° margin",
            )
        there = [v for v, *_ in areas if (kind == v).any()]
        patches = [
            Patch(facecolor=ground.light, edgecolor=SOFT.light, label=label)
            for value, ground, label in areas
            if value in there
        ]
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(x[0], x[-1])
        axes.set_ylim(y[0], y[-1])
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(lambda v, _: f"{v:g}")
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(_UNITS[found.x.label])
        axes.set_ylabel(_UNITS[found.y.label])
        axes.spines[["top", "right"]].set_visible(False)
        put_legend(figure, axes, width_in, patches)
        return figure

    stable, unstable = (found.unstable == 0).sum(), (found.unstable > 0).sum()
    none = (found.unstable < 0).sum()
    where = f"{_UNITS[found.x.label]} and {_UNITS[found.y.label]}"
    caption = (
        "Lines join equal phase margins among stable cells. A shaded cell is unstable by Nyquist's "
        "criterion."
    )
    words = (
        f"Map of {found.name} over {where}: {stable} cells are stable, {unstable} unstable, in "
        f"{none} nothing rests."
    )
    name = f"map-{number}"
    return Picture(name, f"{found.name} over {where}", caption, words, draw)


def _edges(values: Any, i: int) -> tuple[float, float]:
    low = math.sqrt(values[max(i - 1, 0)] * values[i])
    high = math.sqrt(values[min(i + 1, len(values) - 1)] * values[i])
    return low, high


def _cell(x: Any, y: Any, i: int, j: int, ground: str) -> Any:
    (left, right), (bottom, top) = _edges(x, i), _edges(y, j)
    return Rectangle((left, bottom), right - left, top - bottom, facecolor=ground, linewidth=0)


def _level(axes: Any, x: Any, y: Any, values: Any, level: float, shade: str, dashes: str) -> None:
    if np.nanmin(values) < level < np.nanmax(values):
        axes.contour(x, y, values, [level], colors=[shade], linestyles=[dashes], linewidths=1.6)
