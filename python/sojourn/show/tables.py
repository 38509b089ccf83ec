# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Tables on a terminal, complete at any width.

A number is never cut: columns that do not fit go into a further block, with the labels again. A
pipe or a file gets all columns side by side.

The cells of tables of runs have a metric's mean over the seeds, and half of its 95 % interval.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from sojourn.core.text import BESIDE, NOTHING, Cell, Column, Table
from sojourn.result.compare import Cases, names
from sojourn.result.metrics import Metric, few, summary_of, telling
from sojourn.result.result import Run
from sojourn.result.stats import Estimate

__all__ = [
    "NOTHING",
    "Column",
    "Table",
    "console",
    "fits",
    "print_columns",
    "print_entries",
    "print_line",
    "print_table",
    "print_whole",
]

# Two spaces and a line beside each cell.
_BESIDE = 3
_NO_END = 100_000


def console() -> Console:
    """Make a console for stdout; it has no limit of width where stdout is no terminal."""
    # The table of emojis' names is slow to import; numbers in sentences need no colour.
    # rich lets FORCE_COLOR win over NO_COLOR, which takes colours alone and leaves bold.
    plain = os.environ.get("NO_COLOR") and not sys.stdout.isatty()
    made = Console(emoji=False, highlight=False, force_terminal=False if plain else None)
    columns = os.environ.get("COLUMNS", "")
    is_wide = not made.is_terminal and not (columns.isdecimal() and int(columns))
    # rich takes a terminal without signs, TERM=dumb, for one of 80 unless it has both sizes.
    made.size = _NO_END if is_wide else shutil.get_terminal_size().columns, made.height
    return made


def _width(column: Column) -> int:
    """Measure the widest line of a column, with the space beside it."""
    texts = (column.heading, *column.cells)
    return _BESIDE + max(Text(line).cell_len for text in texts for line in _lines(text))


def _lines(text: str) -> list[str]:
    return text.splitlines() or [""]


def print_columns(
    out: Console, title: str, labels: Sequence[Column], columns: Sequence[Column]
) -> None:
    """Print columns of numbers beside columns of labels."""
    print_table(out, Table(title, labels, columns))


def print_table(out: Console, table: Table) -> None:
    """Print a table; its labels take at most a third of the width.

    They take less where all columns then fit. Headings are folded where more columns then fit.
    """
    columns = table.columns
    labels, short = (_all_folded(table.labels, most) for most in (out.width // 3, 0))
    blocks = _blocks(out.width, labels, columns)
    if len(blocks) > 1 and fits(out.width, [*short, *columns]):
        labels, blocks = short, [list(columns)]
    folded = _blocks(out.width, labels, list(map(_narrow, columns)))
    if len(folded) < len(blocks) or (table.is_brief and len(folded[0]) > len(blocks[0])):
        blocks = folded
    if table.is_brief and len(blocks) > 1:
        shown, *others = blocks
        rest = [" ".join(column.heading.split("\n")) for block in others for column in block]
        listed = ", ".join(rest)
        left_out = f"this terminal is too narrow for: {listed}; add --format csv to see all columns"
        blocks = [shown]
    else:
        left_out = ""
    for number, block in enumerate(blocks):
        grid = Grid(title=Text(table.title) if number == 0 else None, title_justify="left")
        for label in labels:
            grid.add_column(Text(label.heading), overflow="fold")
        for column in block:
            grid.add_column(Text(column.heading), justify="right", no_wrap=True)
        rows = zip(*(column.cells for column in (*labels, *block)), strict=True)
        for row, cells in enumerate(rows):
            grid.add_row(*map(Text, cells), end_section=row in table.lines_below)
        print_whole(out, grid)
    for line in filter(None, (left_out, table.note)):
        out.print(Text(line))


def _narrow(column: Column) -> Column:
    """Fold each line of a heading at its spaces, to the width of its longest word or cell."""
    lines = column.heading.split("\n")
    cells = (line for cell in column.cells for line in _lines(cell))
    width = max(map(len, (*" ".join(lines).split(), *cells)), default=1)
    folded = (part for line in lines for part in wrap(line, width, break_on_hyphens=False))
    return Column("\n".join(folded), column.cells)


def fits(width: int, columns: Sequence[Column]) -> bool:
    """Tell whether the columns fit side by side with nothing folded."""
    return 1 + sum(map(_width, columns)) <= width


# Columns of sentences. All others hold names and numbers, which stay whole.
_SENTENCES = ("brief", "source", "help", "found", "keys", "claim", "measured", "why")
# Below this width a sentence is a tower of words.
_READABLE = 20


def print_entries(out: Console, title: str, entries: Sequence[Mapping[str, str]]) -> None:
    """Print a row for each entry, with a column for each of its keys; on a narrow terminal, lines
    for each entry."""
    if entries and out.width < _entries_width(entries):
        if title:
            print_line(out, title)
        for entry in entries:
            name, *_ = entry.values()
            out.print(Text(name), *(Padding(Text(of), (0, 0, 0, 2)) for of in _told(entry)))
        return
    grid = Grid(title=Text(title) if title else None, title_justify="left")
    for key in entries[0] if entries else ():
        sentence = key in _SENTENCES
        grid.add_column(Text(key), overflow="fold", no_wrap=not sentence)
    for entry in entries:
        grid.add_row(*map(Text, entry.values()))
    print_whole(out, grid)


# Sentences that tell by themselves what they say of a name.
_PLAIN = ("brief", "help", "found")


def _told(entry: Mapping[str, str]) -> Iterator[str]:
    """Write what there is behind the name: a line for each sentence, and one of short values."""
    _, *others = ((key, " ".join(value.split())) for key, value in entry.items())
    for key, value in others:
        if value and key in _SENTENCES:
            yield value if key in _PLAIN else f"{key}: {value}"
    if short := [f"{key}: {of}" for key, of in others if of and key not in _SENTENCES]:
        yield "; ".join(short)


def _entries_width(entries: Sequence[Mapping[str, str]]) -> int:
    """Add what columns take that are not folded, and what a sentence needs to be read."""
    columns = [Column(key, [entry[key] for entry in entries]) for key in entries[0]]
    return sum(_READABLE if c.heading in _SENTENCES else _width(c) for c in columns)


def _all_folded(labels: Sequence[Column], width: int) -> list[Column]:
    return [
        Column(label.heading, [_folded(cell, width) for cell in label.cells]) for label in labels
    ]


def _folded(label: str, width: int) -> str:
    """Fold a label that is too long at its commas."""
    lines = [""]
    for part in label.replace(",", ",\0").split("\0"):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("  ")
            part = part.lstrip()
        lines[-1] += part
    return "\n".join(lines)


def print_whole(out: Console, grid: Grid) -> None:
    """Print a table whose title is not folded to the width of a narrow body."""
    title, grid.title = grid.title, None
    if title:
        out.print(title, style="italic", soft_wrap=True)
    out.print(grid)


def print_line(out: Console, text: str) -> None:
    """Print a text as it is, on as many lines as it takes."""
    out.print(text, soft_wrap=True, markup=False, highlight=False)


def _blocks(width: int, labels: Sequence[Column], columns: Sequence[Column]) -> list[list[Column]]:
    """Divide the columns into blocks that fit the width.

    Labels are folded where a column would not fit beside them.
    """
    widest = max(map(_width, columns), default=0)
    beside = min(1 + sum(map(_width, labels)), max(width - widest, 0))
    blocks: list[list[Column]] = [[]]
    used = beside
    for column in columns:
        if blocks[-1] and used + _width(column) > width:
            blocks.append([])
            used = beside
        blocks[-1].append(column)
        used += _width(column)
    return blocks


def by_place(by_case: Cases) -> dict[tuple[str, str], Cases]:
    """Sort cases by their queues and windows."""
    found: dict[tuple[str, str], Cases] = {}
    for case, runs in by_case.items():
        for queue in runs[0].report["queues"]:
            for window in queue["windows"]:
                found.setdefault((queue["name"], window["name"]), {})[case] = runs
    return found


def by_group(by_case: Cases) -> dict[tuple[str, str], Cases]:
    """Sort cases that have flows of several names by these and the windows."""
    found: dict[tuple[str, str], Cases] = {}
    for case, runs in by_case.items():
        for window in runs[0].report["transport"]:
            for group in window["groups"] if len(window["groups"]) > 1 else ():
                found.setdefault((group["name"], window["name"]), {})[case] = runs
    return found


def metrics_at(by_case: Cases) -> list[Metric]:
    """Select the metrics of a queue that every case has."""
    of_cases = [summary_of(runs[0].report) for runs in by_case.values()]
    return [metric for metric in of_cases[0] if all(metric in metrics for metrics in of_cases)]


def columns(metrics: Iterable[Metric], by_case: Cases, name: str, window: str) -> list[Column]:
    """Make a column for each measured metric: of a queue, or of the flows of one name."""
    every = [
        Column(metric.heading, list(_cells(metric, by_case.values(), name, window)))
        for metric in metrics
    ]
    return [column for column in every if set(column.cells) != {NOTHING}]


def group_columns(by_case: Cases, group: str, window: str) -> list[Column]:
    """Make the columns of the flows of one name."""
    reports = [run.report for runs in by_case.values() for run in runs]
    return columns(telling(reports, group, window), by_case, group, window)


def few_note(metrics: Iterable[Metric], by_case: Cases, name: str, window: str) -> str:
    """Say which quantiles of a table rest on too few values."""
    rows = names(by_case)
    return few(
        (metric, rows[case] if len(rows) > 1 else "", metric.count_run(run, name, window))
        for metric in metrics
        if metric.wanted
        for case, runs in by_case.items()
        for run in runs
    )


def speech_notes(by_case: Cases, group: str, window: str) -> Iterator[str]:
    """Write from what the scores of calls were calculated: codecs and constants."""
    transports = (run.report["transport"] for runs in by_case.values() for run in runs)
    entries = (
        speech
        for transport in transports
        for span in transport
        for entry in span["groups"]
        if (span["name"], entry["name"]) == (window, group) and (speech := entry.get("speech"))
    )
    codecs = dict.fromkeys((of["codec"], of["ie"], of["bpl"]) for of in entries)
    for codec, ie, bpl in codecs:
        yield (
            f"mean opinion score of '{group}': E-model of ITU-T G.107, R = 93.2 - Idd - Ie,eff; "
            f"codec {codec} (Ie {ie:g}, Bpl {bpl:g}); delay: 99th percentile and one datagram of "
            "speech; loss: what was lost, and 1 % that is later"
        )


def _cells(
    metric: Metric, of_cases: Iterable[Sequence[Run]], name: str, window: str
) -> Iterator[str]:
    for runs in of_cases:
        values = [metric.measure_run(run, name, window) for run in runs]
        yield mean(values, is_count=metric.is_count)


def mean(values: Sequence[float], *, is_count: bool = False) -> Cell:
    """Write the mean of the measured values, with its interval if there are several."""
    from sojourn.result.stats import estimate

    return interval(estimate([value for value in values if value == value]), is_count=is_count)


# More digits behind the point nobody reads.
_MOST_DIGITS = 6


def interval(estimate: Estimate, *, is_count: bool = False) -> Cell:
    """Write a mean and half of its 95 % interval; a single seed has none."""
    if math.isnan(estimate.mean):
        return Cell(NOTHING)
    # Three digits of a small mean, such as that of a probability.
    size = abs(estimate.mean)
    digits = min(2 - math.floor(math.log10(size)), _MOST_DIGITS) if 0 < size < 0.1 else 2
    if is_count:  # a few are not whole as a mean: 0.5 packets lost
        digits = int(size < 10 and not size.is_integer())
    if math.isinf(estimate.half):
        return Cell(f"{estimate.mean:.{digits}f}", estimate.mean)
    # An interval is not shown as none, unless it is one.
    needed = -math.floor(math.log10(estimate.half)) if estimate.half else 0
    digits = max(digits, needed) if needed <= _MOST_DIGITS else digits
    text = f"{estimate.mean:.{digits}f}{BESIDE}{estimate.half:.{digits}f}"
    return Cell(text, estimate.mean, estimate.half)


def seeds_note(by_case: Cases) -> str:
    """Write the number of seeds of a table's means."""
    counts = sorted({len(runs) for runs in by_case.values()})
    if counts == [1]:
        return "1 seed"
    return f"mean ± half of the 95 % interval, {' or '.join(map(str, counts))} seeds"
