# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The swings of the queue of a stable loop, caused by its own signals.

Signals fall at random: C p of them a second, each of which halves one window. The sum of the
windows therefore has white noise about its mean, for every law. Its density is C p (W / 2)^2 = C /
2 packets^2 / s. The linear model gives the density of the queue: (C / 2) |G / (1 + L)|^2. G leads
from the sum of the windows to the queue. The model leaves out that packets come in bursts and that
windows differ. Some laws space their signals, which reduces the noise; the model leaves this out
too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.theory.models import Model

# A swing of so many standard deviations is frequent enough to be seen.
_REACH = 3


@dataclass(frozen=True)
class Noise:
    """The noise of the queue, one-sided: its integral over the frequency in Hz is the variance."""

    frequency_hz: Any
    density_pkts2_per_hz: Any
    deviation_pkts: float


def noise(model: Model) -> Noise | None:
    """Predict the noise; return None where there is no stable loop around a plant."""
    if not model.plant or not model.margins.is_stable:
        return None
    omega = model.loop.frequencies()
    s = 1j * omega
    to_queue = model.plant.of_windows(s) / (1 + model.loop.gain(s))
    capacity = model.at.network.capacity_pkts_s
    density = 2 * capacity / 2 * np.abs(to_queue) ** 2
    frequency = omega / math.tau
    variance = float(np.trapezoid(density, frequency))
    return Noise(frequency, density, math.sqrt(variance))


def swing_hz(model: Model) -> float:
    """Find the frequency at which its queue swings most.

    That of a stable loop is the peak of its noise. The bounds of p and of the queue hold an
    unstable loop. It swings where L is real and negative, since bounds reduce the gain and leave
    the phase.
    """
    if predicted := noise(model):
        return peak_hz(predicted.frequency_hz, predicted.density_pkts2_per_hz)
    margins = model.margins
    rad_s = margins.nearest_rad_s if margins.is_stable else margins.phase_crossover_rad_s
    return rad_s / math.tau


def notes(model: Model) -> list[str]:
    """List the effects on this network that the linear model leaves out."""
    sentences, predicted = list(model.notes), noise(model)
    if not predicted:
        return sentences
    reach, rests = _REACH * predicted.deviation_pkts, model.at.queue_pkts
    room = model.room_pkts
    swings = f"swings of ± {predicted.deviation_pkts:.1f} packets"
    if rests < room < rests + reach:
        sentences.append(f"{swings} reach its limit of {room}, where packets are lost together")
    if 0 < rests < reach:
        sentences.append(f"{swings} reach the empty queue, where they are not small any more")
    return sentences


def peak_hz(frequency_hz: Any, density: Any) -> float:
    """Find the frequency with most of the swing.

    There the density over the logarithm of the frequency, smoothed over a third of an octave, is
    largest.
    """
    third = np.array([2 ** (-1 / 6), 2 ** (1 / 6)])
    edges = np.searchsorted(frequency_hz, frequency_hz[:, None] * third)
    low, high = edges[:, 0], np.maximum(edges[:, 1], edges[:, 0] + 1)
    sums = np.concatenate(([0.0], np.cumsum(frequency_hz * density)))
    return float(frequency_hz[int(np.argmax((sums[high] - sums[low]) / (high - low)))])
