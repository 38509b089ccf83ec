# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Pictures over time: delay, drops and marks, and the rate of each group of flows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.result.compare import Case
from sojourn.show.chart import Chart, Curve, Panel
from sojourn.show.measured import (
    BINS,
    BINS_OF_DROPS,
    DELAY,
    MAX_PANELS,
    Absent,
    Measured,
    Missing,
    seeds,
)
from sojourn.show.page import number


def delay(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the mean queue delay over time."""
    return _over_time(measured, cases, "delay", "Delay over time", {"queue_delay_ms": DELAY}, BINS)


def queue(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the mean queue length over time."""
    columns = {"queue_pkts": "queue (packets)"}
    return _over_time(measured, cases, "queue", "Queue length over time", columns, BINS)


def drops(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the shares of arriving packets that were dropped and marked, over time."""
    columns = {"drop_pct": "dropped (%)"}
    marked = (
        measured.over_time(c, q, "mark_pct", BINS_OF_DROPS)[1] for q, c in _each(measured, cases)
    )
    if any(np.nanmax(values, initial=0) > 0 for values in marked):
        columns["mark_pct"] = "marked (%)"
    return _over_time(measured, cases, "drops", "Drops over time", columns, BINS_OF_DROPS)


def probability(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the probability that the algorithm itself keeps, over time."""
    panels, clauses = [], []
    for queue in measured.queues:
        shown = [case for case in measured.having(queue) if case in cases]
        curves = _lines(measured, cases, shown, measured.statistic, queue, "prob", BINS)
        curves = [curve for curve in curves if len(curve.x)]
        if curves:
            end_s = max(measured.duration_s(case) for case in shown)
            axes = "time (s)", "probability"
            changes = measured.changes(queue)
            panels.append(Panel(queue, *axes, curves, x_right=end_s, changes=changes))
            clauses.append(f"{queue}, probability, mean and highest of all: {_curves(curves)}")
    if not panels:
        raise Absent(
            "probability: no queue's algorithm tells a probability over time (the statistic "
            "'prob' of statistics.parquet), as pie, red and duk do"
        )
    caption = _caption(measured, cases) + " Of a drop or a mark, as the algorithm itself has it."
    return Chart.described("probability", "Drop probability over time", caption, panels, clauses)


def _caption(measured: Measured, cases: Sequence[Case], bins: int = BINS) -> str:
    averages = sorted({measured.average_s(case, bins) for case in cases})
    over = " or ".join(f"{average:g} s" for average in averages)
    return f"{seeds(measured, cases)}, averaged over {over}."


def _each(measured: Measured, cases: Iterable[Case]) -> list[tuple[str, Case]]:
    chosen = list(cases)
    return [(q, c) for q in measured.queues for c in measured.having(q) if c in chosen]


def _over_time(
    measured: Measured,
    cases: Sequence[Case],
    name: str,
    title: str,
    columns: Mapping[str, str],
    bins: int,
) -> Chart:
    panels, clauses = [], []
    for queue in measured.queues:
        shown = [case for case in measured.having(queue) if case in cases]
        for column, label in columns.items():
            curves = _lines(measured, cases, shown, measured.over_time, queue, column, bins)
            if not any(len(curve.x) for curve in curves):
                continue
            end_s = max(measured.duration_s(case) for case in shown)
            changes = measured.changes(queue)
            panels.append(Panel(queue, "time (s)", label, curves, x_right=end_s, changes=changes))
            clauses.append(f"{queue}, {label}, mean and highest of all: {_curves(curves)}")
    if not panels:
        longest = max(measured.step_s(case) for case in cases)
        raise Missing(
            f"{name}: the series has no step; set record.series to less than the run, not "
            f"{longest:g} s"
        )
    return Chart.described(name, title, _caption(measured, cases, bins), panels, clauses)


def _lines(
    measured: Measured,
    cases: Sequence[Case],
    shown: Sequence[Case],
    read: Callable[[Case, str, str, int], tuple[Any, Any]],
    name: str,
    column: str,
    bins: int,
) -> list[Curve]:
    """Make a curve for each shown case, with its look among all cases."""
    return [Curve(measured.names[c], *read(c, name, column, bins), cases.index(c)) for c in shown]


def _curves(curves: Iterable[Curve]) -> str:
    clauses = []
    for curve in curves:
        if np.isnan(curve.y).all():
            clauses.append(f"{curve.name} none")
            continue
        top = int(np.nanargmax(curve.y))
        mean, highest = number(float(np.nanmean(curve.y))), number(float(curve.y[top]))
        clauses.append(f"{curve.name} {mean}, {highest} at {curve.x[top]:g} s")
    return ", ".join(clauses)


# A reader takes a peak above the link's rate for a fault otherwise.
_IN_ORDER = (
    "Payload counts once it is in order. A repaired loss releases at once all that waited behind "
    "it, so a step may be above the link's rate."
)


def rate(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the goodput of the flows of each name over time; without a series, in each window."""
    title = "Rate of each group of flows"
    chart = _of_groups(measured, cases, "rate", title, "goodput_mbps", "goodput (Mbit/s)")
    if chart is None:
        return _in_windows(measured, cases, title)
    return replace(chart, caption=f"{chart.caption} {_IN_ORDER}")


def cwnd(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the mean congestion window of the open connections of each group."""
    title = "Congestion window of each group of flows"
    chart = _of_groups(measured, cases, "cwnd", title, "cwnd_pkts", "mean window (packets)")
    return chart or _no_connections("cwnd")


def srtt(measured: Measured, cases: Sequence[Case]) -> Chart:
    """Plot the mean smoothed round trip of the open connections of each group."""
    title = "Round trip of each group of flows"
    chart = _of_groups(measured, cases, "srtt", title, "srtt_ms", "mean srtt (ms)")
    return chart or _no_connections("srtt")


def _no_connections(name: str) -> Chart:
    raise Absent(
        f"{name}: no connection of TCP was open at the end of a step of the series; set "
        "record.series to less"
    )


def _of_groups(
    measured: Measured, cases: Sequence[Case], name: str, title: str, column: str, label: str
) -> Chart | None:
    """Plot a column of the series of groups; return None where no group has a value."""
    groups = measured.groups()
    panels, clauses = [], []
    end_s = max(measured.duration_s(case) for case in cases)
    for group in groups[:MAX_PANELS]:
        curves = _lines(measured, cases, cases, measured.of_group, group, column, BINS)
        curves = [curve for curve in curves if not np.isnan(curve.y).all()]
        if curves:
            panels.append(Panel(f"flows '{group}'", "time (s)", label, curves, x_right=end_s))
            head = f"flows '{group}', {label}, mean and highest of all"
            clauses.append(f"{head}: {_curves(curves)}")
    if not panels:
        return None
    caption = _caption(measured, cases)
    if len(groups) > MAX_PANELS:
        caption += f" The first {MAX_PANELS} of {len(groups)} names of flows."
    return Chart.described(name, title, caption, panels, clauses)


def _in_windows(measured: Measured, cases: Sequence[Case], title: str) -> Chart:
    """Plot the goodput of the flows of each name in each window. Missing: there is only one
    window."""
    groups = measured.groups()
    if all(len(measured.spans(case)) < 2 for case in cases):
        raise Missing(
            "rate: the rate of flows is kept for each step of the series and each window, and "
            "there is one window and no step; set record.series to less than the run"
        )
    panels, clauses = [], []
    end_s = max(measured.duration_s(case) for case in cases)
    for group in groups[:MAX_PANELS]:
        curves, words = [], []
        for case in cases:
            steps = list(measured.goodput(case, group))
            if not steps:
                continue
            # Each window has a line of its own: they may have gaps, and may overlap.
            x = [t for span, _ in steps for t in (span.from_s, span.to_s, span.to_s)]
            y = [v for _, value in steps for v in (value, value, np.nan)]
            curves.append(Curve(measured.names[case], np.array(x), np.array(y), cases.index(case)))
            values = ", ".join(number(value) for _, value in steps[:MAX_PANELS])
            words.append(f"{measured.names[case]} {values}")
        if curves:
            axes = "time (s)", "goodput (Mbit/s)"
            panels.append(Panel(f"flows '{group}'", *axes, curves, x_right=end_s))
            clauses.append(f"flows '{group}', window by window: {'; '.join(words)}")
    caption = f"{seeds(measured, cases)}, over each window."
    if len(groups) > MAX_PANELS:
        caption += f" The first {MAX_PANELS} of {len(groups)} names of flows."
    return Chart.described("rate", title, caption, panels, clauses)
