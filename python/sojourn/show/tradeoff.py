# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Throughput against delay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sojourn.result.compare import Case
from sojourn.show.chart import Chart, Panel, Point
from sojourn.show.measured import DELAY, Measured, Missing, is_wide, seeds
from sojourn.show.page import number


def tradeoff(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot throughput against delay."""
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
    return Chart.described("tradeoff", "Throughput against delay", caption, panels, clauses)


def _point(measured: Measured, case: Case, queue: str, look: int) -> Point:
    delays, rates = (
        measured.values(case, queue, metric) for metric in ("queue_delay_mean_ms", "goodput_mbps")
    )
    (x, x_sd), (y, y_sd) = _mean(delays), _mean(rates)
    return Point(measured.names[case], x, y, x_sd, y_sd, look)


def _mean(values: Any) -> tuple[float, float]:
    """Calculate mean and standard deviation of the measured values."""
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0
