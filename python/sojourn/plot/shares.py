# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures of a window: how delays are distributed, and throughput against delay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.cases import Case
from sojourn.distribution import Distribution
from sojourn.drawing import Curve
from sojourn.page import number
from sojourn.plot.chart import Chart, Panel, Point
from sojourn.plot.common import DELAY, Missing, is_wide, seeds, together
from sojourn.plot.measured import Measured

# In a logarithmic picture, packets that did not wait stand here.
_LEAST_MS = 0.01


def cdf(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Share of packets at or below each queue delay."""
    return _shares(measured, cases, "cdf", "Distribution of the delay", (0.5, 0.95), above=False)


def ccdf(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Share of packets above each queue delay: the tail."""
    return _shares(measured, cases, "ccdf", "Tail of the delay", (0.99, 0.999), above=True)


def _shares(
    measured: Measured,
    cases: Sequence[Case],
    name: str,
    title: str,
    said: tuple[float, float],
    *,
    above: bool,
) -> Chart:
    panels, clauses, left_out = [], [], 0
    kept: set[Case] = set()
    for queue in measured.queues:
        found = {
            case: distribution
            for case in measured.shown(queue)
            if case in cases and (distribution := measured.distribution(case, queue))
        }
        if not found:
            continue
        kept |= found.keys()
        left_out += sum(measured.left_out(case, queue) for case in found)
        log = is_wide([of.quantile_ms(0.5) for of in found.values()])
        curves, words = [], []
        for case, of in found.items():
            delays, shares = _curve(of, above=above)
            if log:
                delays = np.maximum(delays, _LEAST_MS)
            curves.append(Curve(measured.names[case], delays, shares, cases.index(case)))
            low, high = (number(of.quantile_ms(share)) for share in said)
            words.append(f"{measured.names[case]} " + (f"{low} and {high}" if of.count else "none"))
        # A logarithm of no packets cannot be drawn.
        tail = above and any(len(curve.y) > 0 for curve in curves)
        panels.append(
            Panel(
                measured.where(queue),
                f"{DELAY}, log" if log else DELAY,
                f"share above{', log' if tail else ''}" if above else "share at or below",
                curves,
                x_log=log,
                y_log=tail,
                y_top=1.03,
                is_step=True,
            )
        )
        low, high = (f"{100 * share:g}" for share in said)
        at = f"{low} % and {high} % of packets are at or below"
        clauses.append(f"{queue}, {at}: {', '.join(words)}")
    if not panels:
        raise Missing(
            f"{name}: a run keeps every packet's delay where the scenario says record.events = "
            "true; run it again with --set record.events=true and another --out"
        )
    caption = f"Every packet that left the queue, {together(measured, cases)}."
    if any(panel.x_log for panel in panels):
        caption += f" What is below {_LEAST_MS:g} ms stands there."
    asked = {case for queue in measured.queues for case in measured.shown(queue)}
    if lacking := [measured.names[c] for c in cases if c in asked and c not in kept]:
        caption += f" Without record.events = true, and so not here: {', '.join(lacking)}."
    if left_out:
        caption += f" {left_out} packets at the ends of runs were too many to keep."
    return Chart(name, title, caption, panels, clauses)


def _curve(of: Distribution, *, above: bool) -> tuple[Any, Any]:
    """Delays, and the share at or below or above each, from the least delay on."""
    delays, shares = of.curve()
    delays, shares = np.concatenate((delays[:1], delays)), np.concatenate(([0.0], shares))
    if above:
        # None is above the last: no logarithm shows that.
        return delays[:-1], 1 - shares[: len(delays) - 1]
    return delays, shares[: len(delays)]


def tradeoff(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Throughput against delay."""
    panels, clauses = [], []
    for queue in measured.queues:
        points = [
            _point(measured, case, queue, cases.index(case))
            for case in measured.shown(queue)
            if case in cases
        ]
        points = [point for point in points if np.isfinite([point.x, point.y]).all()]
        if not points:
            continue
        log = is_wide([point.x for point in points])
        panels.append(
            Panel(
                measured.where(queue),
                f"mean {DELAY}, log" if log else f"mean {DELAY}",
                "goodput (Mbit/s)",
                points=points,
                x_log=log,
            )
        )
        said = (
            f"{p.name} {number(p.x)} ± {number(p.x_sd)} ms and {number(p.y)} ± {number(p.y_sd)} "
            "Mbit/s"
            for p in points
        )
        clauses.append(f"{queue}: {', '.join(said)}")
    if not panels:
        raise Missing(
            "tradeoff: no packet left a queue in the window; name another with --window, or set "
            "record.windows"
        )
    one = all(len(measured.by_case[case]) == 1 for case in cases)
    bars = "" if one else "; bars are one standard deviation to each side"
    caption = (
        f"{seeds(measured, cases)}{bars}. Goodput is of all flows. Less delay is to the left, "
        "more throughput above."
    )
    return Chart("tradeoff", "Throughput against delay", caption, panels, clauses)


def _point(measured: Measured, case: Case, queue: str, look: int) -> Point:
    delays, rates = (
        measured.values(case, queue, metric) for metric in ("queue_delay_mean_ms", "goodput_mbps")
    )
    (x, x_sd), (y, y_sd) = _mean(delays), _mean(rates)
    return Point(measured.names[case], x, y, x_sd, y_sd, look)


def _mean(values: Any) -> tuple[float, float]:
    """Mean and standard deviation of what was measured."""
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0
