# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The report of an experiment whose figures are over an axis: a row for each value of the axis.
Below them each ablation has a row beside its cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from sojourn.core.text import Column, Table
from sojourn.papers.axis_figure import rows_of, scale_of
from sojourn.show import tables
from sojourn.show.page import heading, number, spread

if TYPE_CHECKING:
    from sojourn.papers.experiment import Experiment, Signal
    from sojourn.papers.reproduce import Measured, Reproduction


def print_tables(
    reproduction: Reproduction, out: Console, name_of: Callable[[str], str] = str
) -> None:
    """Print every table whole at any width: columns that do not fit continue below."""
    for table in over(reproduction, name_of):
        tables.print_table(out, table)
    for cell, changed in ablations(reproduction.experiment).items():
        changes = [{"changed": _short(of, cell), "why": _why(of)} for of in changed]
        tables.print_entries(out, f"One thing changed at {cell}", changes)
    for table in ablated(reproduction, name_of):
        tables.print_table(out, table)


def ablations(experiment: Experiment) -> dict[str, list[Signal]]:
    """Group the ablations by their cell."""
    found: dict[str, list[Signal]] = {}
    for signal in experiment.signals():
        if signal.ablates:
            found.setdefault(signal.of, []).append(signal)
    return found


def _short(ablation: Signal, cell: str) -> str:
    return ablation.name.removeprefix(f"{cell}, ")


def _why(ablation: Signal) -> str:
    return ablation.title.removeprefix(f"{ablation.name}: ")


def over(reproduction: Reproduction, name_of: Callable[[str], str] = str) -> Iterator[Table]:
    """Make a table for each metric, of its values along the axis."""
    experiment = reproduction.experiment
    x = experiment.data["figure"]["x"]
    known = {signal.name: signal for signal in experiment.signals()}
    for along in rows_of(experiment):
        signals = [known[cell.label] for cell in along]
        rest = ", ".join(text for axis, text in along[0].texts.items() if axis != x)
        scale = scale_of(x, [cell.texts[x] for cell in along])
        rows = tuple(number_ if scale.is_numeric else text for text, number_ in _named(scale.texts))
        for metric in (*signals[0].metrics, *signals[0].beside):
            table = signals[0].table if metric in signals[0].metrics else "measured too"
            title = f"{heading(metric)} over {scale.label}, {rest} ({table})"
            yield _table(reproduction, metric, title, scale.label, rows, signals, name_of)


def _named(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair each value of the axis with its number alone."""
    return ((text, text.split()[0] if text.split() else text) for text in texts)


def ablated(reproduction: Reproduction, name_of: Callable[[str], str] = str) -> Iterator[Table]:
    """Make a table for each metric of a cell with ablations: the cell, then its ablations."""
    experiment = reproduction.experiment
    for cell, changed in ablations(experiment).items():
        (base,) = (signal for signal in experiment.signals() if signal.name == cell)
        for host in reproduction.hosts:
            found = [signal for signal in changed if host in reproduction.hosts_of(signal)]
            if not found:
                continue
            rows = ("as above", *(_short(signal, cell) for signal in found))
            for metric in (*base.metrics, *base.beside):
                title = f"{heading(metric)} at {cell}, with one thing changed"
                yield _table(
                    reproduction, metric, title, "changed", rows, [base, *found], name_of, host
                )


def _table(
    reproduction: Reproduction,
    metric: str,
    title: str,
    label: str,
    rows: tuple[str, ...],
    signals: Sequence[Signal],
    name_of: Callable[[str], str],
    host_alone: str = "",
) -> Table:
    columns = []
    several = len(reproduction.hosts) > 1
    hosts = (host_alone,) if host_alone else reproduction.hosts
    for contender in reproduction.experiment.contenders():
        name = contender.name
        if any(_cell(reproduction, hosts[0], s, name, metric, True) != "–" for s in signals):
            printed = [_cell(reproduction, hosts[0], s, name, metric, True) for s in signals]
            columns.append(Column(f"{name}\npublished", printed))
        for host in hosts:
            head = f"{name}\n{name_of(host)}" if several else name
            measured = [_cell(reproduction, host, s, name, metric) for s in signals]
            columns.append(Column(head, measured))
    return Table(title, [Column(label, rows)], columns)


def _cell(
    reproduction: Reproduction,
    host: str,
    signal: Signal,
    algorithm: str,
    metric: str,
    published: bool = False,
) -> str:
    """Write a number, or a dash where the algorithm did not run."""
    if signal.only and algorithm not in signal.only:
        return "–"
    cell: Measured = reproduction.cell(host, signal.name, algorithm, metric)
    return number(cell.published) if published else spread(cell.found)
