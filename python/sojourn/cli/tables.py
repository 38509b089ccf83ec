# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The tables that `sojourn run` prints: a row for each algorithm, for each queue and window."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from rich.console import Console

from sojourn.differences import Difference, differences
from sojourn.metrics import GROUP_METRICS, GroupMetric, Metric, summary_of
from sojourn.result import Result, Run
from sojourn.runs import BINNED
from sojourn.scenario.trace import BIN_MS
from sojourn.tables import Column, console, print_columns, print_entries

if TYPE_CHECKING:
    from sojourn.calibrate import Calibration

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
    report = result.runs[0].report
    for queue in report["queues"]:
        for window in queue["windows"]:
            at = queue["name"], window["name"]
            columns = _columns(summary_of(report), cases, *at)
            title = f"{queue['name']}, {window['name']}: "
            print_columns(terminal, title + of, labels, columns)
            here = [d for d in found if not d.of_group and (d.of, d.window) == at]
            _print_all_differences(terminal, title, here)
    # The groups' own tables: where there are several.
    for window in report["transport"]:
        groups = [group["name"] for group in window["groups"]]
        for group in groups if len(groups) > 1 else []:
            at = group, window["name"]
            title = f"flows '{group}', {window['name']}: "
            print_columns(terminal, title + of, labels, _columns(GROUP_METRICS, cases, *at))
            here = [d for d in found if d.of_group and (d.of, d.window) == at]
            _print_all_differences(terminal, title, here)
    if out:
        terminal.print(f"result: {out}", soft_wrap=True, markup=False, highlight=False)


def print_calibration(found: Calibration) -> None:
    """What was measured, and the number that was asked for."""
    terminal = console()
    measured = [
        {
            "flows": str(of.flows),
            "Mbit/s": f"{fmean(of.mbps):.2f}",
            "least": f"{min(of.mbps):.2f}",
            "most": f"{max(of.mbps):.2f}",
        }
        for of in found.measured
    ]
    print_entries(terminal, f"'{found.group}' on uncongested links", measured)
    terminal.print(
        f"{found.flows} flows offer {found.load_mbps:g} Mbit/s: "
        f"--set flows.{found.group}.count={found.flows}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _print_all_differences(terminal: Console, title: str, found: Sequence[Difference]) -> None:
    """A table for each thing that is set beside another."""
    by_kind: dict[str, list[Difference]] = {}
    for difference in found:
        by_kind.setdefault(_kind(difference), []).append(difference)
    for kind, alike in by_kind.items():
        _print_differences(terminal, title + kind, alike)


def _kind(difference: Difference) -> str:
    host, to_host = difference.host, difference.to_host
    if host == to_host:
        return f"difference to {difference.to}"
    if to_host + BINNED == host:
        return f"a trace in bins of {BIN_MS} ms less packet by packet"
    return f"{host} less {to_host}"


def _print_differences(terminal: Console, title: str, found: Sequence[Difference]) -> None:
    cells: dict[Metric | GroupMetric, dict[tuple[str, str], str]] = {}
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
    if not columns:
        terminal.print(f"{title}: none, every value is equal\n", markup=False, soft_wrap=True)
        return
    # One seed has a difference, and says nothing of how sure it is.
    how = ", seed by seed, mean and 95 % interval" if found[0].pairs > 1 else ", 1 seed"
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
