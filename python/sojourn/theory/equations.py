# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The nonlinear equations, integrated with their delays: a check of the linear model.

Steps are fixed, by the midpoint rule; values a round trip ago are interpolated between two steps. A
law with updates makes them when they are due and holds its probability between them. Many networks
with the same law are integrated at once, as columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from sojourn.theory.laws import Law, Seen
from sojourn.theory.models import Model

# The least number of steps in the shortest round trip, and the most steps of all.
_IN_A_ROUND_TRIP = 100
_MOST_STEPS = 200_000


@dataclass(frozen=True)
class Course:
    """Values over time, with a column for each model."""

    time_s: Any
    queue_pkts: Any
    window_pkts: Any
    signal: Any


def integrate(models: Sequence[Model], duration_s: float, push: float = 0.01) -> Course | None:
    """Integrate from the equilibrium, with a queue longer by the share `push`.

    Return None where a round trip has too many updates: the integration would take minutes.
    """
    law = _stacked([model.law for model in models if model.law])
    at = [model.at for model in models]
    trip_0 = np.array([point.round_trip_s for point in at])
    network = [point.network for point in at]
    flows = np.array([point.flows for point in network], float)
    capacity = np.array([point.capacity_pkts_s for point in network])
    base = np.array([point.rtt_s for point in network])

    step, every = _step(law, float(trip_0.min()))
    count = math.ceil(duration_s / step)
    # The history covers the delay of a signal behind a queue of four times its length.
    past = math.ceil(4 * float(trip_0.max()) / step) + 2
    if count + past > _MOST_STEPS:
        return None
    columns = np.arange(len(models))
    queue = np.empty((past + count, len(models)))
    window, signal = np.empty_like(queue), np.empty_like(queue)
    queue[:past] = [point.queue_pkts for point in at]
    window[:past] = [point.window_pkts for point in at]
    signal[:past] = [point.signal for point in at]
    queue[past - 1] = queue[past - 1] * (1 + push)
    states = [model.law.start(model.at) for model in models if model.law]
    state = {key: np.array([point[key] for point in states], float) for key in states[0]}

    def before(values: Any, row: int, late: Any) -> Any:
        """Interpolate each column's value `late` seconds before a row; take the oldest where there
        is none."""
        place = np.clip(row - late / step, 0, row)
        low = np.minimum(place.astype(int), row - 1)
        part = place - low
        return values[low, columns] * (1 - part) + values[low + 1, columns] * part

    queue_before = queue[past - 2].copy()
    waited = queue_before / capacity
    for row in range(past - 1, past + count - 1):
        q, w = queue[row], window[row]
        if (row - past + 1) % every == 0:
            waited = before(queue, row, waited) / capacity
            seen = Seen(q, queue_before, waited * capacity, capacity, step)
            signal[row] = law.update(state, seen)
            queue_before = q
        p = signal[row]

        def slopes(q: Any, w: Any, row: int, ahead_s: float) -> tuple[Any, Any]:
            trip = base + q / capacity
            late = np.maximum(trip - ahead_s, 0)
            q_late, w_late = before(queue, row, late), before(window, row, late)
            trip_late = base + q_late / capacity
            cut = w * w_late / (2 * trip_late) * before(signal, row, late)
            return flows * w / trip - capacity, 1 / trip - cut

        to_q, to_w = slopes(q, w, row, 0)
        half_q, half_w = np.maximum(q + step / 2 * to_q, 0), np.maximum(w + step / 2 * to_w, 1)
        to_q, to_w = slopes(half_q, half_w, row, step / 2)
        queue[row + 1] = np.maximum(q + step * to_q, 0)
        window[row + 1] = np.maximum(w + step * to_w, 1)
        signal[row + 1] = p
    kept = slice(past - 1, None)
    time = np.arange(count + 1) * step
    return Course(time, queue[kept], window[kept], signal[kept])


def _step(law: Law, trip_s: float) -> tuple[float, int]:
    """Return the step in seconds, and the number of steps between two updates."""
    longest = trip_s / _IN_A_ROUND_TRIP
    if not law.sampled_s:
        return longest, 1
    every = math.ceil(law.sampled_s / longest)
    return law.sampled_s / every, every


def _stacked(laws: Sequence[Law]) -> Law:
    """Make one law whose numbers are those of several, as arrays."""
    first = laws[0]
    if {law.sampled_s for law in laws} != {first.sampled_s}:
        raise ValueError("laws with several intervals")
    numbers: dict[str, Any] = {
        field.name: np.array([getattr(law, field.name) for law in laws])
        for field in fields(first)
        if isinstance(getattr(first, field.name), float) and field.name != "sampled_s"
    }
    return replace(first, **numbers)


def growth_per_s(course: Course, column: int, rests_pkts: float) -> float:
    """Measure the growth of a small swing of the queue: the slope of the logarithm of its size.

    The fit uses the sizes in the last three quarters.
    """
    apart = course.queue_pkts[:, column] - rests_pkts
    parts = np.array_split(apart, 16)
    times = [float(part.mean()) for part in np.array_split(course.time_s, 16)]
    sizes = [float(np.abs(part).max()) for part in parts]
    return float(np.polyfit(times[4:], np.log(np.maximum(sizes[4:], 1e-12)), 1)[0])
