# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The table that `sojourn run` prints: a column for each algorithm, for each queue and window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev

from rich.console import Console
from rich.table import Table

from sojourn.metrics import METRICS
from sojourn.result import Result, Run

_ROWS = (
    "system_delay_mean_ms",
    "queue_delay_mean_ms",
    "queue_delay_p95_ms",
    "utilisation_pct",
    "drop_pct",
    "mark_pct",
    "goodput_mbps",
    "jain",
    "fct_p75_s",
)


def print_result(result: Result, out: Path | None) -> None:
    """Means over the seeds, with the standard deviation where there are several."""
    console = Console(emoji=False)  # the table of their names is slow to import
    seeds = len({run.seed for run in result})
    hosts = {str(run.labels["host"]) for run in result}
    by_aqm: dict[str, list[Run]] = {}
    for run in result:
        by_aqm.setdefault(_column(run, hosts), []).append(run)
    first = result.runs[0].report
    for queue in first["queues"]:
        for window in queue["windows"]:
            at = queue["name"], window["name"]
            console.print(_table(by_aqm, *at, seeds))
    if out:
        console.print(f"result: {out}", soft_wrap=True)


def _column(run: Run, hosts: set[str]) -> str:
    """The algorithm, and the host where there is something to say about it."""
    aqm, host = str(run.labels["aqm"]), str(run.labels["host"])
    return aqm if hosts == {"sim"} else f"{aqm}\n{host}"


def _table(by_aqm: dict[str, list[Run]], queue: str, window: str, seeds: int) -> Table:
    of = "1 seed" if seeds == 1 else f"mean and standard deviation of {seeds} seeds"
    table = Table(title=f"{queue}, {window}: {of}", title_justify="left")
    table.add_column("")
    for aqm in by_aqm:
        table.add_column(aqm, justify="right", no_wrap=True)
    for name in _ROWS:
        cells = [_cell(runs, name, queue, window) for runs in by_aqm.values()]
        if set(cells) != {_NOTHING}:
            metric = METRICS[name]
            unit = f" ({metric.unit})" if metric.unit else ""
            table.add_row(metric.label + unit, *cells)
    return table


_NOTHING = "–"


def _cell(runs: Sequence[Run], metric: str, queue: str, window: str) -> str:
    values = [METRICS[metric].of(run.report, queue, window) for run in runs]
    values = [value for value in values if value == value]
    if not values:
        return _NOTHING
    mean = fmean(values)
    return f"{mean:.2f}" if len(values) == 1 else f"{mean:.2f} ± {stdev(values):.2f}"
