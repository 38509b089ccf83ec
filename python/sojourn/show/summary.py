# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The cells of tables of runs: a metric's mean over the seeds, with their standard deviation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sojourn.core.text import Column
from sojourn.result.compare import Cases
from sojourn.result.metrics import GROUP_METRICS, GroupMetric, Metric, summary_of
from sojourn.result.result import Run

NOTHING = "–"


def places(by_case: Cases) -> list[tuple[str, str]]:
    """List the queues and windows of all cases."""
    return list(
        dict.fromkeys(
            (queue["name"], window["name"])
            for runs in by_case.values()
            for queue in runs[0].report["queues"]
            for window in queue["windows"]
        )
    )


def groups(by_case: Cases) -> list[tuple[str, str]]:
    """List the names of flows and the windows of cases that have flows of several names."""
    return list(
        dict.fromkeys(
            (group["name"], window["name"])
            for runs in by_case.values()
            for window in runs[0].report["transport"]
            if len(window["groups"]) > 1
            for group in window["groups"]
        )
    )


def at_place(by_case: Cases, place: tuple[str, str]) -> Cases:
    """Select the cases that have this queue and window."""
    return {case: runs for case, runs in by_case.items() if place in places({case: runs})}


def of_group(by_case: Cases, place: tuple[str, str]) -> Cases:
    """Select the cases that have these flows, beside others, and this window."""
    return {case: runs for case, runs in by_case.items() if place in groups({case: runs})}


def metrics_at(by_case: Cases) -> list[Metric]:
    """Select the metrics of a queue that every case has."""
    of_cases = [summary_of(runs[0].report) for runs in by_case.values()]
    return [metric for metric in of_cases[0] if all(metric in of for of in of_cases)]


def columns(
    metrics: Iterable[Metric | GroupMetric], by_case: Cases, of: str, window: str
) -> list[Column]:
    """Make a column for each measured metric: of a queue, or of the flows of one name."""
    found = [
        Column(metric.heading, list(_cells(metric, by_case.values(), of, window)))
        for metric in metrics
    ]
    return [column for column in found if set(column.cells) != {NOTHING}]


def group_columns(by_case: Cases, group: str, window: str) -> list[Column]:
    """Make the columns of the flows of one name."""
    return columns(GROUP_METRICS, by_case, group, window)


def _cells(
    metric: Metric | GroupMetric, of_cases: Iterable[Sequence[Run]], of: str, window: str
) -> Iterator[str]:
    for runs in of_cases:
        yield mean([metric.of_run(run, of, window) for run in runs])


def mean(values: Sequence[float]) -> str:
    """Write the mean of the measured values, with their deviation if there are several."""
    values = [value for value in values if value == value]
    if not values:
        return NOTHING
    if len(values) == 1:
        return f"{sum(values):.2f}"
    from statistics import fmean, stdev  # slow to import

    return f"{fmean(values):.2f} ± {stdev(values):.2f}"


def seeds_note(by_case: Cases) -> str:
    """Write the number of seeds of a table's means."""
    counts = sorted({len(runs) for runs in by_case.values()})
    if counts == [1]:
        return "1 seed"
    return f"mean ± standard deviation of {' or '.join(map(str, counts))} seeds"
