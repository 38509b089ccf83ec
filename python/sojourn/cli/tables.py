# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The tables that `sojourn run` prints: a row for each algorithm, for each queue and window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev

from rich.console import Console

from sojourn.differences import Difference, differences
from sojourn.metrics import GROUP_METRICS, METRICS, SUMMARY, GroupMetric, Metric
from sojourn.result import Result, Run
from sojourn.scenario.trace import BIN_MS
from sojourn.tables import Column, console, print_columns

_NOTHING = "–"


def print_result(result: Result, out: Path | None) -> None:
    """Means over the seeds, with the standard deviation where there are several."""
    terminal = console()
    seeds = len({run.seed for run in result})
    of = "1 seed" if seeds == 1 else f"mean ± standard deviation of {seeds} seeds"
    by_case: dict[tuple[str, str], list[Run]] = {}
    for run in result:
        by_case.setdefault((str(run.labels["aqm"]), str(run.labels["host"])), []).append(run)
    labels, cases = _labels(list(by_case)), list(by_case.values())
    found = differences(result)
    for queue in result.runs[0].report["queues"]:
        for window in queue["windows"]:
            at = queue["name"], window["name"]
            columns = _columns([METRICS[name] for name in SUMMARY], cases, *at)
            title = f"{queue['name']}, {window['name']}: "
            print_columns(terminal, title + of, labels, columns)
            here = [d for d in found if (d.queue, d.window) == at]
            apart = [d for d in here if d.host == d.to_host]
            if apart:
                _print_differences(terminal, f"{title}difference to {apart[0].to}", apart)
            binned = [d for d in here if d.host != d.to_host]
            if binned:
                of_bins = f"difference of a trace in bins of {BIN_MS} ms to packet by packet"
                _print_differences(terminal, title + of_bins, binned)
    # Groups are told apart where there are several.
    for window in result.runs[0].report["transport"]:
        groups = [group["name"] for group in window["groups"]]
        for group in groups if len(groups) > 1 else []:
            columns = _columns(GROUP_METRICS, cases, group, window["name"])
            print_columns(terminal, f"flows '{group}', {window['name']}: {of}", labels, columns)
    if out:
        terminal.print(f"result: {out}", soft_wrap=True, markup=False, highlight=False)


def _print_differences(terminal: Console, title: str, found: Sequence[Difference]) -> None:
    cells: dict[Metric, dict[tuple[str, str], str]] = {}
    for difference in found:
        row = cells.setdefault(difference.metric, {})
        row[difference.aqm, difference.host] = _difference(difference)
    cases = list(dict.fromkeys((difference.aqm, difference.host) for difference in found))
    columns = [
        Column(metric.heading, [of.get(case, _NOTHING) for case in cases])
        for metric, of in cells.items()
        # Where all are equal, as without a single mark, there is nothing to compare.
        if any(d.found.low or d.found.high for d in found if d.metric == metric)
    ]
    # One seed has a difference, and says nothing of how sure it is.
    how = " seed by seed, mean and 95 % interval" if found[0].pairs > 1 else ", 1 seed"
    print_columns(terminal, title + how, _labels(cases), columns)


def _difference(difference: Difference) -> str:
    found = difference.found
    if difference.pairs == 1:
        return f"{found.mean:+.2f}"
    half = (found.high - found.low) / 2
    # Two digits of the half width, so that what is beside zero looks so.
    digits = min(max(1 - math.floor(math.log10(half)), 2), 6) if half else 2
    # An interval that ends beside zero does not look as if it ended there.
    while found.low * found.high > 0 and digits < 12:
        if float(f"{found.low:.{digits}f}") and float(f"{found.high:.{digits}f}"):
            break
        digits += 1
    mean = f"{found.mean:+.{digits}f}" if difference.is_shown else "no difference\nshown"
    return f"{mean}\n[{found.low:+.{digits}f}, {found.high:+.{digits}f}]"


def _labels(cases: Sequence[tuple[str, str]]) -> list[Column]:
    """The algorithm, and the host where there is something to say about it."""
    aqms, hosts = ([case[i] for case in cases] for i in (0, 1))
    return [Column("aqm", aqms), *([Column("host", hosts)] if set(hosts) != {"sim"} else [])]


def _columns(
    metrics: Iterable[Metric | GroupMetric], cases: Sequence[Sequence[Run]], of: str, window: str
) -> list[Column]:
    """A column for each metric that was measured: of a queue, or of the flows of one name."""
    columns = [
        Column(
            metric.heading, [_mean([metric.of(run.report, of, window) for run in c]) for c in cases]
        )
        for metric in metrics
    ]
    return [column for column in columns if set(column.cells) != {_NOTHING}]


def _mean(values: Sequence[float]) -> str:
    values = [value for value in values if value == value]
    if not values:
        return _NOTHING
    mean = f"{fmean(values):.2f}"
    return mean if len(values) == 1 else f"{mean} ± {stdev(values):.2f}"
