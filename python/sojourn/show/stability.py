# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The charts of a study of stability, and its files.

Charts: Nyquist, Bode, maps, and the queues of theory and simulation. The two queues share their
axes, over time and by frequency. Files: a page, each chart as SVG and PNG, and its numbers as CSV.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.core.text import csv_text, json_text
from sojourn.show.chart import Chart, Curve, Layout, Panel
from sojourn.show.drawing import draw, png_file, svg_file
from sojourn.show.page import drawn, render
from sojourn.show.theme import INK, LINE, SHADE, SOFT, colour
from sojourn.store.folder import claim
from sojourn.theory.maps import Map
from sojourn.theory.models import Model
from sojourn.theory.noise import swing_hz
from sojourn.theory.study import Beside, Study, table, title

_LEVELS_DEG = (15, 30, 45, 60)
_DASHES = ("-", "--", ":", "-.")
_UNITS = {"flows": "flows", "capacity_mbit_s": "capacity (Mbit/s)", "rtt_ms": "round trip (ms)"}
# The queue is shown for so many periods of the swing.
_PERIODS = 15
_DOTTED = {"color": SOFT.light, "linewidth": 1, "linestyle": ":"}
_THIN = {"color": SOFT.light, "linewidth": 0.8, "linestyle": ":"}


def charts(study: Study) -> list[Chart]:
    """Make all charts of a study."""
    made = [_nyquist(study.models), _bode(study.models)]
    made += [_map(area, number) for number, area in enumerate(study.maps, 1)]
    if study.beside:
        made += [_queue(study.beside), _spectrum(study.beside)]
    return made


def _sentence(clauses: Iterable[str]) -> str:
    return "; ".join(clauses) + "."


def _verdict(model: Model) -> str:
    margins = model.margins
    if not margins.is_stable:
        return f"{model.name} unstable, {margins.unstable} poles on the right"
    if not math.isfinite(margins.phase_deg):
        return f"{model.name} stable, |L| is nowhere 1"
    return f"{model.name} stable, phase margin {margins.phase_deg:.0f}°"


def _nyquist(models: Sequence[Model]) -> Chart:
    crossings = [1 / m.margins.gain for m in models if math.isfinite(m.margins.gain)]
    reach = min(max([1.4 * max(crossings, default=1), 2.0]), 12.0)
    turn = np.exp(1j * np.linspace(0, math.tau, 200))
    curves = [Curve("", turn.real, turn.imag, style=_THIN)]
    for look, model in enumerate(models):
        values = model.loop.gain(1j * model.loop.frequencies())
        values = np.where(np.abs(values) > 40 * reach, np.nan, values)
        curves.append(Curve(model.name, values.real, values.imag, look))
    cross = {"color": INK.light, "marker": "+", "markersize": 11, "markeredgewidth": 1.8}
    curves.append(Curve("-1", [-1], [0], style={**cross, "linestyle": "none"}))

    def finish(axes: Any, _narrow: bool) -> None:
        for line in (axes.axhline, axes.axvline):
            line(0, color=LINE.light, linewidth=0.6, zorder=1.5)
        axes.set_xlim(-reach, 0.7 * reach)
        axes.set_ylim(-0.9 * reach, 0.6 * reach)
        axes.set_aspect("equal")

    axes = "real part of L", "imaginary part of L"
    return Chart(
        "nyquist",
        "Nyquist",
        "L(jω) for ω above 0; below 0 it is the mirror image. The dotted circle is |L| = 1. "
        "A loop without poles of its own on the right is unstable where the curve goes around -1.",
        [Panel("", *axes, curves, finish=finish)],
        "Nyquist curve: imaginary part of L against its real part. "
        + _sentence(map(_verdict, models)),
        Layout(head_in=0, panel_in=5.6, most_of_width=1),
    )


def _shown(models: Sequence[Model]) -> tuple[float, float]:
    """Bound the frequency axis of Bode's curves, in rad/s."""
    marks = [
        mark
        for m in models
        for mark in (m.margins.crossover_rad_s, m.margins.phase_crossover_rad_s)
        if math.isfinite(mark)
    ] or [1 / m.at.round_trip_s for m in models]
    last = min(m.loop.last_rad_s for m in models)
    return min(marks) / 30, min(max(marks) * 30, max(last, max(marks) * 2))


def _bode(models: Sequence[Model]) -> Chart:
    low, high = _shown(models)
    gains, phases, marks = [], [], []
    for look, model in enumerate(models):
        omega, margins = model.loop.frequencies(), model.margins
        values = model.loop.gain(1j * omega)
        angle = np.degrees(np.unwrap(np.angle(values)))
        shown = (omega >= low) & (omega <= high)
        gains.append(Curve(model.name, omega[shown], np.abs(values[shown]), look))
        angle = np.where(angle < -720, np.nan, angle)
        phases.append(Curve(model.name, omega[shown], angle[shown], look))
        crossings = [("o", margins.crossover_rad_s, 1.0)]
        if math.isfinite(margins.gain):
            crossings.append(("s", margins.phase_crossover_rad_s, 1 / margins.gain))
        marks += [
            Curve("", [x], [y], look, style={"marker": shape, "markersize": 6})
            for shape, x, y in crossings
        ]

    def finish(axes: Any, _narrow: bool, *, level: float) -> None:
        axes.axhline(level, **_THIN)
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        if level == 1:
            axes.set_yscale("log")
            axes.autoscale(axis="y")
            axes.tick_params(labelbottom=False)
        else:
            axes.set_yticks(np.arange(-720, 91, 90))
            axes.set_ylim(-560, 10)

    clauses = (
        f"{m.name} crosses 1 at {_rad(m.margins.crossover_rad_s)} and -180° at "
        f"{_rad(m.margins.phase_crossover_rad_s)}"
        for m in models
    )
    x, phase = "frequency (rad/s)", "phase of L (degrees)"
    return Chart(
        "bode",
        "Bode",
        "A disc is where |L| is 1, a square where L is real and negative: the swing of a loop "
        "that is unstable.",
        [
            Panel("", "", "|L|", [*gains, *marks], finish=partial(finish, level=1)),
            Panel("", x, phase, phases, finish=partial(finish, level=-180)),
        ],
        "Bode curves: |L| and phase against frequency. " + _sentence(clauses),
        Layout(head_in=0, panel_in=2.8),
    )


def _rad(value: float) -> str:
    return f"{value:.3g} rad/s" if math.isfinite(value) else "no frequency"


def _map(area: Map, number: int) -> Chart:
    where = f"{_UNITS[area.x.label]} and {_UNITS[area.y.label]}"
    stable, unstable = (area.unstable == 0).sum(), (area.unstable > 0).sum()
    none = (area.unstable < 0).sum()
    levels = [
        Curve(f"{level}° margin", [], [], look, style={"linewidth": 1.5})
        for look, level in enumerate(_LEVELS_DEG)
    ]
    axes = _UNITS[area.x.label], _UNITS[area.y.label]
    return Chart(
        f"map-{number}",
        f"{area.name} over {where}",
        "Lines join equal phase margins among stable cells. A shaded cell is unstable by Nyquist's "
        "criterion.",
        [Panel("", *axes, levels, finish=partial(_fill, area))],
        f"Map of {area.name} over {where}: {stable} cells are stable, {unstable} unstable, in "
        f"{none} nothing rests.",
        Layout(head_in=0, panel_in=5.2, most_of_width=0.8),
    )


def _fill(area: Map, axes: Any, _narrow: bool) -> None:
    """Shade the cells of a map, and join equal margins."""
    from matplotlib.patches import Rectangle

    from sojourn.show.drawing import number_at_1_2_5

    x, y = area.x.values, area.y.values
    axes.set_xscale("log")
    axes.set_yscale("log")
    for counted, ground, label in (
        (area.unstable > 0, SHADE.light, "unstable"),
        (area.unstable < 0, LINE.light, "no equilibrium"),
    ):
        # Each cell is filled from edge to edge: exactly the counted cells are shaded.
        for j, i in zip(*np.nonzero(counted), strict=True):
            (left, right), (bottom, top) = _edges(x, i), _edges(y, j)
            size = right - left, top - bottom
            axes.add_patch(Rectangle((left, bottom), *size, facecolor=ground, linewidth=0))
        if counted.any():
            entry = Rectangle((x[0], y[0]), 0, 0, facecolor=ground, edgecolor=SOFT.light)
            entry.set_label(label)
            axes.add_patch(entry)
    # Margins are negative where the loop is unstable: lines end at the edge, not a cell before it.
    safe = np.minimum(area.phase_deg, 180)
    safe = np.where(area.unstable > 0, -np.abs(safe), safe)
    for look, level in enumerate(_LEVELS_DEG):
        if np.nanmin(safe) < level < np.nanmax(safe):
            style = {"colors": [colour(look)], "linestyles": [_DASHES[look]], "linewidths": 1.6}
            axes.contour(x, y, safe, [level], **style)
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(y[0], y[-1])
    axes.grid(visible=False)
    number_at_1_2_5(axes.xaxis)
    number_at_1_2_5(axes.yaxis)


def _edges(values: Any, i: int) -> tuple[float, float]:
    low = math.sqrt(values[max(i - 1, 0)] * values[i])
    high = math.sqrt(values[min(i + 1, len(values) - 1)] * values[i])
    return low, high


def _queue(beside: Sequence[Beside]) -> Chart:
    clauses = (
        f"{row.simulated.name} rests at {row.model.at.queue_pkts:.1f} packets and is simulated "
        f"with a mean of {row.simulated.mean_pkts:.1f} ± {row.simulated.deviation_pkts:.1f}"
        for row in beside
    )
    return Chart(
        "queue",
        "Queue",
        "The simulated queue of the first seed, its mean over each step; the nonlinear equations, "
        "integrated with their delays, without noise. The two are not aligned in time.",
        _one_below_the_other([_queue_panel(row) for row in beside]),
        "Queue over time. " + _sentence(clauses),
        Layout(head_in=0.7, panel_in=2.4),
    )


def _queue_panel(row: Beside) -> Panel:
    """Make the panel of a queue: simulated, integrated, and in equilibrium."""
    run, course = row.simulated, row.course
    swing = swing_hz(row.model)
    periods_s = _PERIODS / swing if math.isfinite(swing) else math.inf
    span_s = min(periods_s, run.time_s[-1] * 2 / 3)
    shown = run.time_s >= run.time_s[-1] - span_s
    time_s = run.time_s[shown] - (run.time_s[-1] - span_s)
    curves = [Curve("simulated", time_s, run.queue_pkts[shown], 0)]
    if course:
        begin_s = max(course.time_s[-1] - span_s, 0)
        tail = course.time_s >= begin_s
        queue_pkts = course.queue_pkts[tail, 0]
        curves.append(Curve("equations", course.time_s[tail] - begin_s, queue_pkts, 1))
    rest = [row.model.at.queue_pkts] * 2
    curves.append(Curve("equilibrium", [0, span_s], rest, style=_DOTTED))
    return Panel(run.name, "time (s)", "queue (packets)", curves, x_right=span_s)


def _spectrum(beside: Sequence[Beside]) -> Chart:
    clauses = (
        f"{row.simulated.name} is predicted to swing at "
        f"{swing_hz(row.model):.3g} Hz and simulated with most power around "
        f"{row.simulated.peak_hz:.3g} Hz"
        for row in beside
    )
    return Chart(
        "spectrum",
        "Spectrum",
        "Power of the queue by frequency, by Welch's method, mean over the seeds; predicted for a "
        "stable loop from the noise of its own signals. The swing is where density times "
        "frequency is highest.",
        _one_below_the_other([_spectrum_panel(row) for row in beside]),
        "Spectrum of the queue. " + _sentence(clauses),
        Layout(head_in=0.7, panel_in=2.6),
    )


def _spectrum_panel(row: Beside) -> Panel:
    """Make the panel of the density: simulated, and predicted for a stable loop."""
    run, noise = row.simulated, row.noise
    low, high = run.frequency_hz[0], run.frequency_hz[-1]
    top = float(np.nanmax(run.density_pkts2_per_hz))
    curves = [Curve("simulated", run.frequency_hz, run.density_pkts2_per_hz, 0)]
    if noise:
        shown = (noise.frequency_hz >= low) & (noise.frequency_hz <= high)
        frequency_hz = noise.frequency_hz[shown]
        curves.append(Curve("predicted", frequency_hz, noise.density_pkts2_per_hz[shown], 1))
    ends = top * 1e-6, top * 10
    curves.append(Curve("predicted swing", [swing_hz(row.model)] * 2, ends, style=_DOTTED))

    def finish(axes: Any, _narrow: bool) -> None:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(low, high)
        axes.set_ylim(*ends)

    return Panel(run.name, "frequency (Hz)", "density (packets²/Hz)", curves, finish=finish)


def _one_below_the_other(panels: Sequence[Panel]) -> list[Panel]:
    """Keep only the label below the lowest panel."""
    return [*(replace(panel, x="") for panel in panels[:-1]), panels[-1]]


def write(study: Study, out: Path) -> list[str]:
    """Write the files of a study into a folder of Sojourn's, and return their names."""
    folder = claim(out)
    made = charts(study)
    files = {f"{name}.csv": _csv(rows) for name, rows in _tables(study).items()}
    for chart in made:
        figure = draw(chart)
        files[f"{chart.name}.svg"] = svg_file(figure, chart.words)
        files[f"{chart.name}.png"] = png_file(figure, chart.words)
    files["stability.json"] = json_text(study.to_json()).encode()
    files["stability.html"] = _page(study, made).encode()
    if study.result:
        files["scenario.toml"] = study.result.scenario.encode()
    for name, content in files.items():
        folder.write(name, content)
    return list(files)


def _csv(rows: Sequence[Mapping[str, object]]) -> bytes:
    return csv_text(rows[0], (map(_cell, row.values()) for row in rows)).encode()


def _cell(value: object) -> object:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.9g}"
    return value


def _tables(study: Study) -> dict[str, list[Mapping[str, object]]]:
    """Collect the numbers of each picture, by the name of its file."""
    tables: dict[str, list[Mapping[str, object]]] = {"response": list(_responses(study))}
    if study.maps:
        tables |= {f"map-{n}": list(area.rows()) for n, area in enumerate(study.maps, 1)}
    if study.beside:
        tables["queue"] = list(_queues(study))
        tables["spectrum"] = list(_spectra(study))
    return tables


def _responses(study: Study) -> Iterable[Mapping[str, object]]:
    for model in study.models:
        omega = model.loop.frequencies()
        values = model.loop.gain(1j * omega)
        phase = np.degrees(np.unwrap(np.angle(values)))
        for at, value, angle in zip(omega.tolist(), values.tolist(), phase.tolist(), strict=True):
            yield {
                "model": model.name,
                "frequency_rad_s": at,
                "gain": abs(value),
                "phase_deg": angle,
                "real": value.real,
                "imaginary": value.imag,
            }


def _queues(study: Study) -> Iterable[Mapping[str, object]]:
    for row in study.beside:
        run, course = row.simulated, row.course
        sources = [("simulated", run.time_s, run.queue_pkts)]
        if course:
            # The integration's own steps are finer than a picture can show.
            thin = max(len(course.time_s) // 4000, 1)
            sources.append(("equations", course.time_s[::thin], course.queue_pkts[::thin, 0]))
        for source, times, queue in sources:
            for at, value in zip(times.tolist(), queue.tolist(), strict=True):
                yield {"model": run.name, "source": source, "t_s": at, "queue_pkts": value}


def _spectra(study: Study) -> Iterable[Mapping[str, object]]:
    for row in study.beside:
        run = row.simulated
        sources = [("simulated", run.frequency_hz, run.density_pkts2_per_hz)]
        if row.noise:
            sources.append(("predicted", row.noise.frequency_hz, row.noise.density_pkts2_per_hz))
        for source, frequency, density in sources:
            for at, value in zip(frequency.tolist(), density.tolist(), strict=True):
                yield {
                    "model": run.name,
                    "source": source,
                    "frequency_hz": at,
                    "density_pkts2_per_hz": value,
                }


def _page(study: Study, made: Sequence[Chart]) -> str:
    return render(
        "stability.html",
        title=title(study.network),
        charts=list(map(drawn, made)),
        table=table(study),
        notes=[f"{m.name}: {note}" for m in study.models for note in study.notes(m)],
    )
