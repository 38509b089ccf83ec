# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The queue of theory on the axes of the simulated one, over time and by frequency."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from sojourn.show.drawing import Curve, lines, plain
from sojourn.show.theme import SOFT
from sojourn.theory.noise import swing_hz
from sojourn.theory.picture import Picture, fullest, headed, new_figure, put_legend, sentence
from sojourn.theory.study import Beside

# Periods of the swing that the queue is shown for.
_PERIODS = 15


def queue(beside: Sequence[Beside]) -> Picture:
    """Over time: simulated, integrated, and where it would rest."""

    def draw(width_in: float) -> Figure:
        figure, all_axes = new_figure(width_in, 0.7 + 2.4 * len(beside), len(beside))
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
                values = course.queue_pkts[tail, 0]
                curves.append(Curve("equations", course.time_s[tail] - begins_s, values, 1))
            lines(axes, curves)
            rests = one.model.at.queue_pkts
            axes.axhline(rests, color=SOFT.light, linewidth=1, linestyle=":", label="equilibrium")
            axes.set_title(headed(run.name, width_in), loc="left", fontsize=10)
            axes.set_xlim(0, span_s)
            axes.set_ylim(bottom=0)
            axes.set_ylabel("queue (packets)")
            plain(axes)
        all_axes[-1].set_xlabel("time (s)")
        put_legend(figure, fullest(all_axes), width_in)
        return figure

    said = (
        f"{one.simulated.name} rests at {one.model.at.queue_pkts:.1f} packets and is simulated "
        f"with a mean of {one.simulated.mean_pkts:.1f} ± {one.simulated.deviation_pkts:.1f}"
        for one in beside
    )
    caption = (
        "The simulated queue of the first seed, its mean over each step; the nonlinear equations, "
        "integrated with their delays, without noise. The two are not aligned in time."
    )
    return Picture("queue", "Queue", caption, "Queue over time. " + sentence(said), draw)


def spectrum(beside: Sequence[Beside]) -> Picture:
    """By frequency: simulated, and predicted of a stable loop."""

    def draw(width_in: float) -> Figure:
        figure, all_axes = new_figure(width_in, 0.7 + 2.6 * len(beside), len(beside))
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
            axes.set_title(headed(run.name, width_in), loc="left", fontsize=10)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlim(low, high)
            top = float(np.nanmax(run.density_pkts2_per_hz))
            axes.set_ylim(top * 1e-6, top * 10)
            axes.set_ylabel("density (packets²/Hz)")
            plain(axes)
        all_axes[-1].set_xlabel("frequency (Hz)")
        put_legend(figure, fullest(all_axes), width_in)
        return figure

    said = (
        f"{one.simulated.name} is predicted to swing at "
        f"{swing_hz(one.model):.3g} Hz and simulated with most power around "
        f"{one.simulated.peak_hz:.3g} Hz"
        for one in beside
    )
    caption = (
        "Power of the queue by frequency, by Welch's method, mean over the seeds; predicted for a "
        "stable loop from the noise of its own signals. The swing is where density times "
        "frequency is highest."
    )
    return Picture(
        "spectrum", "Spectrum", caption, "Spectrum of the queue. " + sentence(said), draw
    )
