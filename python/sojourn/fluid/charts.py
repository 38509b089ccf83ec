# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The pictures of a study: Nyquist, Bode, maps, the queue over time and by frequency."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import LogLocator, NullFormatter

from sojourn.drawing import Curve, colour, lines, plain, written
from sojourn.fluid.grid import Map
from sojourn.fluid.models import Model
from sojourn.fluid.noise import swing_hz
from sojourn.fluid.study import Beside, Study
from sojourn.theme import INK, LINE, SHADE, SOFT

# Periods of the swing that the queue is shown for.
_PERIODS = 15
_LEVELS_DEG = (15, 30, 45, 60)
_UNITS = {"flows": "flows", "capacity_mbit_s": "capacity (Mbit/s)", "rtt_ms": "round trip (ms)"}


@dataclass(frozen=True)
class Picture:
    """A figure, what stands below it, and its text alternative."""

    name: str
    title: str
    caption: str
    words: str
    draw: Callable[[float], Figure]


def pictures(study: Study) -> list[Picture]:
    """Those that a study has."""
    models = study.models
    found = [_nyquist(models), _bode(models)]
    found += [_map(one, number) for number, one in enumerate(study.maps, 1)]
    if study.beside:
        found += [_queue(study.beside), _spectrum(study.beside)]
    return found


def _figure(width_in: float, height_in: float, rows: int = 1, **how: Any) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False, **how).ravel()
    return figure, axes


def _legend(figure: Figure, axes: Any, width_in: float, extra: Sequence[Any] = ()) -> None:
    handles, names = axes.get_legend_handles_labels()
    handles += list(extra)
    names += [one.get_label() for one in extra]
    longest = max(map(len, names), default=1)
    columns = max(min(int(width_in / 0.085 / (longest + 6)), len(names)), 1)
    figure.legend(handles, names, loc="outside upper center", ncols=columns, frameon=False)


def _fullest(all_axes: Any) -> Any:
    """Of several, the axes whose legend serves all."""
    return max(all_axes, key=lambda axes: len(axes.get_legend_handles_labels()[0]))


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
        figure, (axes,) = _figure(width_in, min(width_in, 5.6))
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
        _legend(figure, axes, width_in)
        return figure

    caption = (
        "L(jω) for ω above 0; the mirror image belongs to it. The dotted circle is |L| = 1. "
        "A loop without poles of its own on the right is unstable where the curve goes around -1."
    )
    words = "Nyquist curve: imaginary part of L against its real part. "
    return Picture("nyquist", "Nyquist", caption, words + _all(map(_verdict, models)), draw)


def _all(clauses: Any) -> str:
    return "; ".join(clauses) + "."


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
        figure, (above, below) = _figure(width_in, 5.6, 2, sharex=True)
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
        _legend(figure, above, width_in)
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
    return Picture("bode", "Bode", caption, words + _all(said), draw)


def _rad(value: float) -> str:
    return f"{value:.3g} rad/s" if math.isfinite(value) else "no frequency"


def _map(found: Map, number: int) -> Picture:
    def draw(width_in: float) -> Figure:
        figure, (axes,) = _figure(width_in, min(width_in * 0.8, 5.2))
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
        _legend(figure, axes, width_in, patches)
        return figure

    stable, unstable = (found.unstable == 0).sum(), (found.unstable > 0).sum()
    none = (found.unstable < 0).sum()
    where = f"{_UNITS[found.x.label]} and {_UNITS[found.y.label]}"
    caption = (
        "Lines join equal phase margins among stable cells; a cell is shaded by its own poles."
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


def _queue(beside: Sequence[Beside]) -> Picture:
    def draw(width_in: float) -> Figure:
        figure, all_axes = _figure(width_in, 0.7 + 2.4 * len(beside), len(beside))
        for axes, one in zip(all_axes, beside, strict=True):
            run, course = one.simulated, one.course
            swing = swing_hz(one.model)
            span_s = min(
                _PERIODS / swing if math.isfinite(swing) else math.inf,
                run.time_s[-1] * 2 / 3,
            )
            seen = run.time_s >= run.time_s[-1] - span_s
            time = run.time_s[seen] - (run.time_s[-1] - span_s)
            curves = [Curve("simulated", time, run.queue_pkts[seen], 0)]
            if course:
                begins_s = max(course.time_s[-1] - span_s, 0)
                tail = course.time_s >= begins_s
                queue = course.queue_pkts[tail, 0]
                curves.append(Curve("equations", course.time_s[tail] - begins_s, queue, 1))
            lines(axes, curves)
            rests = one.model.at.queue_pkts
            axes.axhline(rests, color=SOFT.light, linewidth=1, linestyle=":", label="equilibrium")
            axes.set_title(written(run.name), loc="left", fontsize=10)
            axes.set_xlim(0, span_s)
            axes.set_ylim(bottom=0)
            axes.set_ylabel("queue (packets)")
            plain(axes)
        all_axes[-1].set_xlabel("time (s)")
        _legend(figure, _fullest(all_axes), width_in)
        return figure

    said = (
        f"{one.simulated.name} rests at {one.model.at.queue_pkts:.1f} packets and is simulated "
        f"with a mean of {one.simulated.mean_pkts:.1f} ± {one.simulated.deviation_pkts:.1f}"
        for one in beside
    )
    caption = (
        "The simulated queue of the first seed, its mean over each step; the nonlinear equations, "
        "integrated with their delays, without noise. Their phases mean nothing."
    )
    return Picture("queue", "Queue", caption, "Queue over time. " + _all(said), draw)


def _spectrum(beside: Sequence[Beside]) -> Picture:
    def draw(width_in: float) -> Figure:
        figure, all_axes = _figure(width_in, 0.7 + 2.6 * len(beside), len(beside))
        for axes, one in zip(all_axes, beside, strict=True):
            run = one.simulated
            low, high = run.frequency_hz[0], run.frequency_hz[-1]
            curves = [Curve("simulated", run.frequency_hz, run.density_pkts2_per_hz, 0)]
            if one.noise:
                seen = (one.noise.frequency_hz >= low) & (one.noise.frequency_hz <= high)
                density = one.noise.density_pkts2_per_hz[seen]
                curves.append(Curve("predicted", one.noise.frequency_hz[seen], density, 1))
            lines(axes, curves)
            swing = swing_hz(one.model)
            axes.axvline(
                swing, color=SOFT.light, linewidth=1, linestyle=":", label="predicted swing"
            )
            axes.set_title(written(run.name), loc="left", fontsize=10)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(low, high)
            top = float(np.nanmax(run.density_pkts2_per_hz))
            axes.set_ylim(top * 1e-6, top * 10)
            axes.set_ylabel("density (packets²/Hz)")
            plain(axes)
        all_axes[-1].set_xlabel("frequency (Hz)")
        _legend(figure, _fullest(all_axes), width_in)
        return figure

    said = (
        f"{one.simulated.name} is predicted to swing at "
        f"{swing_hz(one.model):.3g} Hz and simulated with most power around "
        f"{one.simulated.peak_hz:.3g} Hz"
        for one in beside
    )
    caption = (
        "Power of the queue by frequency, after Welch, mean over the seeds; predicted for a stable "
        "loop from the noise of its own signals."
    )
    return Picture("spectrum", "Spectrum", caption, "Spectrum of the queue. " + _all(said), draw)
