# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A loop opened at the signal: its margins and its poles.

A loop is a function of s that contains its dead time exactly, as exp(-s R): no polynomial
approximates it. Margins are python-control's, of the frequency response. Nyquist's criterion counts
the poles of the closed loop in the right half-plane. The contour has the integrators at s = 0 on
its left. Along it, 1 + L turns around 0 once for each pole, less the poles of L itself.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Points of a contour on its quarter circle around 0, and for each factor of ten on the axis.
_AROUND = 60
_PER_DECADE = 200
# In units of 1 / R: the start of the linear part of the frequency axis, its step, and its end.
_KNEE, _STEP, _END = 20, 0.1, 400
# 1 + L may turn by no more than this from one point to the next; otherwise points are added.
_MOST_TURN = 0.5
_MOST_POINTS = 400_000


@dataclass(frozen=True)
class Loop:
    """L(s), with the times and frequencies that decide its range of frequencies."""

    name: str
    gain: Callable[[Any], Any] = field(repr=False)
    round_trip_s: float
    slowest_rad_s: float  # of its poles and zeros
    fastest_rad_s: float
    sampled_s: float = 0.0  # time between two updates of the law; 0: it never stops
    open_unstable: int = 0  # poles of L in the right half-plane

    @property
    def last_rad_s(self) -> float:
        """Return the end of the frequency axis: half the law's own frequency, or far beyond all
        poles."""
        if self.sampled_s:
            return math.pi / self.sampled_s
        return 1000 * max(self.fastest_rad_s, 1 / self.round_trip_s)

    @property
    def first_rad_s(self) -> float:
        """Return a frequency below all of its poles and zeros."""
        return min(self.slowest_rad_s, 1 / self.round_trip_s) / 1000

    def frequencies(self, per_decade: int = _PER_DECADE) -> Any:
        """List frequencies in rad/s: evenly on a logarithmic axis, and then evenly on a linear one.

        The linear part begins where the dead time turns L around.
        """
        low, high = self.first_rad_s, self.last_rad_s
        knee, end = min(_KNEE / self.round_trip_s, high), min(_END / self.round_trip_s, high)
        grid = np.geomspace(low, knee, int(per_decade * math.log10(knee / low)) + 2)
        count = int((end - knee) * self.round_trip_s / _STEP)
        return np.concatenate((grid, np.linspace(knee, end, count + 2)[1:])) if count else grid


@dataclass(frozen=True)
class Margins:
    """The distances between a loop and -1; infinite where there is no crossing."""

    gain: float  # the factor by which it may grow, or below 1 must shrink
    phase_deg: float
    delay_s: float  # the most that may be added to the round trip
    crossover_rad_s: float  # where |L| is 1; NaN where it is never 1
    phase_crossover_rad_s: float  # where L is real and negative
    nearest: float  # least |1 + L|
    nearest_rad_s: float
    unstable: int  # poles of the closed loop in the right half-plane

    @property
    def is_stable(self) -> bool:
        """Tell whether the loop is stable by Nyquist's criterion."""
        return self.unstable == 0

    def to_json(self) -> dict[str, float | int | bool]:
        """Return the keys of `sojourn stability --json`."""
        return {
            "stable": self.is_stable,
            "unstable_poles": self.unstable,
            "gain_margin": self.gain,
            "phase_margin_deg": self.phase_deg,
            "delay_margin_s": self.delay_s,
            "crossover_rad_s": self.crossover_rad_s,
            "crossover_hz": self.crossover_rad_s / math.tau,
            "phase_crossover_rad_s": self.phase_crossover_rad_s,
            "phase_crossover_hz": self.phase_crossover_rad_s / math.tau,
            "nearest_to_minus_1": self.nearest,
        }


def margins(loop: Loop, per_decade: int = _PER_DECADE, within: float = math.inf) -> Margins:
    """Calculate the margins of a loop.

    Only frequencies count at which |L| differs from 1 by no more than the factor `within`.
    """
    unstable = closed_unstable(loop, per_decade)
    return Margins(**_distances(loop, per_decade, within, not unstable), unstable=unstable)


def _distances(loop: Loop, per_decade: int, within: float, is_stable: bool) -> dict[str, float]:
    import control  # takes a second, with all that it imports

    omega = loop.frequencies(per_decade)
    values = loop.gain(1j * omega)
    near = np.flatnonzero((np.abs(values) <= within) & (np.abs(values) >= 1 / within))
    if len(near) >= 4:
        omega, values = omega[near[0] : near[-1] + 1], values[near[0] : near[-1] + 1]
    response = control.FrequencyResponseData(values, omega, smooth=True)
    with warnings.catch_warnings():
        # The warning of a division by an |L| of 0, which is an infinite margin.
        warnings.simplefilter("ignore")
        gains, phases, nears, at_180, at_1, at_near = control.stability_margins(
            response, returnall=True
        )
    distances = {
        "gain": math.inf,
        "phase_deg": math.inf,
        "delay_s": math.inf,
        "crossover_rad_s": math.nan,
        "phase_crossover_rad_s": math.nan,
        "nearest": math.nan,
        "nearest_rad_s": math.nan,
    }
    if len(gains):
        # Of several, a stable loop has the margin nearest to 1. An unstable one must shrink below
        # all of them, and has the least.
        i = int(np.argmin(np.abs(np.log(gains)) if is_stable else gains))
        distances |= {"gain": float(gains[i]), "phase_crossover_rad_s": float(at_180[i])}
    if len(phases):
        i = int(np.argmin(np.abs(phases)))
        delays = np.radians(np.mod(phases, 360)) / at_1
        phase_deg = float(phases[i])
        if not is_stable:
            # Angles repeat: the turns since low frequencies give the missing multiples of 360.
            angle = np.interp(at_1[i], omega, np.unwrap(np.angle(values)))
            phase_deg += 360 * round((180 + math.degrees(float(angle)) - phase_deg) / 360)
        distances |= {
            "phase_deg": phase_deg,
            "crossover_rad_s": float(at_1[i]),
            "delay_s": float(delays.min()) if is_stable else math.nan,
        }
    if len(nears):
        i = int(np.argmin(nears))
        distances |= {"nearest": float(nears[i]), "nearest_rad_s": float(at_near[i])}
    return distances


def closed_unstable(loop: Loop, per_decade: int = _PER_DECADE) -> int:
    """Count the poles of the closed loop in the right half-plane: those of L, less the turns of 1 +
    L."""
    return loop.open_unstable - turns(lambda s: 1 + loop.gain(s), loop, per_decade)


def turns(function: Callable[[Any], Any], loop: Loop, per_decade: int = _PER_DECADE) -> int:
    """Count the turns of a function around 0, against the clock, along the contour of a loop.

    The contour is a quarter circle around s = 0, then the axis, and the mirror image of both.
    """
    first = loop.first_rad_s
    around = first * np.exp(1j * np.linspace(0, math.pi / 2, _AROUND))
    axis = 1j * np.geomspace(first, loop.last_rad_s, int(per_decade * 6))
    points = np.concatenate((around, axis[1:]))
    values = function(points)
    while True:
        turned = np.abs(np.angle(values[1:] / values[:-1]))
        coarse = np.flatnonzero(turned > _MOST_TURN)
        if not len(coarse) or len(points) > _MOST_POINTS:
            break
        between = (points[coarse] + points[coarse + 1]) / 2
        if np.all(np.abs(points[coarse + 1] - points[coarse]) < 1e-12 * np.abs(between)):
            break
        points = np.insert(points, coarse + 1, between)
        values = np.insert(values, coarse + 1, function(between))
    half = float(np.sum(np.angle(values[1:] / values[:-1])))
    return round(half / math.pi)
