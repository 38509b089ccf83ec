# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The tables that `sojourn run` and `sojourn compare` print: a row for each algorithm, for each
queue and window."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sojourn.cli.options import check_form
from sojourn.core.hosts import BINNED
from sojourn.core.text import FORMATS, MINUS, Cell, Column, Table
from sojourn.result.columns import class_rows, spell
from sojourn.result.compare import (
    Case,
    Cases,
    Difference,
    OwnNames,
    across,
    cases,
    labels,
    names,
    own_names,
    scenario_differences,
    within,
)
from sojourn.result.metrics import GROUP_METRICS, STEP_METRICS, Metric, StepMetric, few
from sojourn.result.result import Result, Run
from sojourn.scenario.trace import BIN_MS
from sojourn.show.tables import (
    NOTHING,
    by_group,
    by_place,
    columns,
    console,
    few_note,
    group_columns,
    interval,
    mean,
    metrics_at,
    print_line,
    print_table,
    seeds_note,
    speech_notes,
)

if TYPE_CHECKING:
    from sojourn.result.stats import Estimate
    from sojourn.result.transfers import SideBySide, Visit
    from sojourn.sweeps.compare import Pair, SweepComparison


# Tables, and lines between them.
Parts = Iterator[Table | str]


def print_result(result: Result, out: Path | None, form: str | None = None) -> None:
    """Print means over the seeds, with their intervals where there are several."""
    by_case = cases({"": result})
    print_parts(_case_parts(by_case, within(by_case)), form)
    if out and form is None:
        print_line(console(), f"result: {out}")


def _print(terminal: Console, parts: Iterable[Table | str]) -> None:
    for part in parts:
        print_line(terminal, part) if isinstance(part, str) else print_table(terminal, part)


def print_parts(parts: Iterable[Table | str], form: str | None) -> None:
    """Print tables for a terminal, or in a form with each below its title."""
    if form is None:
        _print(console(), parts)
        return
    check_form(form)
    for part in parts:
        if isinstance(part, Table):
            title, table = _TITLES[form].format(part.title), FORMATS[form](part)
            note = _NOTES[form].format(part.note) if part.note else ""
            # Readers of CSV skip remarks above the heading alone.
            print(
                *filter(None, (title, note, table) if form == "csv" else (title, table, note)),
                sep="\n",
            )


_NOTES = {"markdown": "{}\n", "csv": "# {}", "latex": "% {}\n"}
_TITLES = {"markdown": "**{}**\n", "csv": "# {}", "latex": "% {}"}


def result_parts(results: Mapping[str, Result]) -> Parts:
    """Set several results in one table, and list how their scenarios differ."""
    by_case = cases(results)
    if len(results) == 1:
        yield from _case_parts(by_case, within(by_case))
        return
    yield from _case_parts(by_case, across(by_case))
    different = scenario_differences(results)
    if not different:
        yield "scenarios: they do not differ"
        return
    rows = [(key, *values) for key, values in different.items()]
    yield Table.of_rows("what differs in the scenarios", ("key", *results), rows)


def _case_parts(by_case: Cases, differences: Sequence[Difference]) -> Parts:
    for (queue, window), at_queue in by_place(by_case).items():
        own = own_names(at_queue, queue)
        metrics = metrics_at(at_queue)
        cells = columns(metrics, at_queue, queue, window)
        note = few_note(metrics, at_queue, queue, window)
        title = f"{queue}, {window}: "
        yield Table(title + seeds_note(at_queue), _labels(at_queue, own), cells, note)
        yield from _all_differences(title, differences, (False, queue, window), own)
    yield from _probes(by_case)
    yield from _classes(by_case)
    yield from responses(by_case, _labels)
    # Groups have tables of their own where there are several.
    for (group, window), with_group in by_group(by_case).items():
        cells = group_columns(with_group, group, window)
        title = f"flows '{group}', {window}: "
        note = few_note(GROUP_METRICS, with_group, group, window)
        labels_of = _labels(with_group)
        yield Table(title + seeds_note(with_group), labels_of, cells, note, is_brief=True)
        yield from speech_notes(with_group, group, window)
        yield from _all_differences(title, differences, (True, group, window), {})


def _probes(by_case: Cases) -> Iterator[str]:
    """Write a line for each queue that probes, with its counters except zeros. All seeds are
    summed, since the counters balance only over whole runs."""
    texts = zip(*labels(by_case).values(), strict=True)
    for label, runs in zip(map(", ".join, texts), by_case.values(), strict=True):
        sums: dict[str, Counter[str]] = {}
        for queue in (queue for run in runs for queue in run.report["queues"]):
            for counter, count in queue.get("probes", {}).items():
                if counter.endswith("_pkts"):
                    sums.setdefault(queue["name"], Counter())[counter.removesuffix("_pkts")] += (
                        count
                    )
        seeds = "1 seed" if len(runs) == 1 else f"all {len(runs)} seeds"
        for queue_name, counts in sums.items():
            words = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
            yield f"probes of {queue_name} ({label}, {seeds}): {words or 'none'}"


_CLASS_COLUMNS = {
    "rate_mbps": "sent (Mbit/s)",
    "lent_pkts": "lent (packets)",
    "borrowed_pkts": "borrowed (packets)",
    "can_send_pct": "could send (%)",
    "may_borrow_pct": "could borrow (%)",
    "cannot_send_pct": "could do neither (%)",
    "backlog_pkts": "waiting (packets)",
}


def _classes(by_case: Cases) -> Parts:
    """Make a table of classes and rings for each case and window: means over the seeds."""
    texts = zip(*labels(by_case).values(), strict=True)
    for label, runs in zip(map(", ".join, texts), by_case.values(), strict=True):
        by_window: dict[str, dict[tuple[str, str], list[dict[str, float]]]] = {}
        for row in class_rows(runs):
            rows = by_window.setdefault(row["window"], {})
            rows.setdefault((row["class"], row["kind"]), []).append(row)
        for window, rows in by_window.items():
            heads = ("class", "kind", *_CLASS_COLUMNS.values())
            lines = [
                (*of, *(_mean(seen, key) for key in _CLASS_COLUMNS)) for of, seen in rows.items()
            ]
            seeds = "1 seed" if len(runs) == 1 else f"{len(runs)} seeds"
            title = f"classes ({label}), {window}: {seeds}"
            yield Table.of_rows(title, heads, lines)


def _mean(rows: Sequence[Mapping[str, float | None]], key: str) -> str:
    values = [value for row in rows if (value := row[key]) is not None]
    if not values:
        return ""
    mean = sum(values) / len(values)
    return Cell(f"{mean:,.2f}", mean)


def _all_differences(
    title: str, differences: Sequence[Difference], place: tuple[bool, str, str], own: OwnNames
) -> Parts:
    """Make a table for each pair of things that are compared at a place."""
    by_kind: dict[str, list[Difference]] = {}
    for difference in differences:
        if (difference.of_group, difference.place, difference.window) == place:
            by_kind.setdefault(_kind(difference), []).append(difference)
    for kind, alike in by_kind.items():
        yield _difference_table(title + kind, alike, own)


def _kind(difference: Difference) -> str:
    host, to_host = difference.case.host, difference.less.host
    if difference.case.result != difference.less.result:
        return f"{difference.case.result}{MINUS}{difference.less.result}"
    if host == to_host:
        return f"difference to {difference.less.aqm}"
    if to_host + BINNED == host:
        return f"a trace in bins of {BIN_MS} ms{MINUS}its opportunities"
    return f"{host}{MINUS}{to_host}"


def _difference_table(title: str, differences: Sequence[Difference], own: OwnNames) -> Table | str:
    # The title names the results.
    own = {replace(case, result=""): name for case, name in own.items()}
    by_metric: dict[Metric, dict[Case, Difference]] = {}
    for difference in differences:
        case = replace(difference.case, result="")
        by_metric.setdefault(difference.metric, {})[case] = difference
    rows = list(dict.fromkeys(replace(difference.case, result="") for difference in differences))
    cells = [
        Column(
            metric.heading,
            [
                _interval(by_case[case].estimate, by_case[case].pairs)
                if case in by_case
                else NOTHING
                for case in rows
            ],
        )
        for metric, by_case in by_metric.items()
        # Where all values are equal, as without a single mark, there is nothing to compare.
        if any(
            difference.estimate.low or difference.estimate.high for difference in by_case.values()
        )
    ]
    if not cells:
        return f"{title}: none, every value is equal\n"
    # A single seed has a difference, but no interval.
    how = ", seed by seed, mean and 95 % interval" if differences[0].pairs > 1 else ", 1 seed"
    note = _by_chance(sum(cell != NOTHING for column in cells for cell in column.cells))
    return Table(
        title + how,
        _labels(rows, own),
        cells,
        note if differences[0].pairs > 1 else "",
        is_brief=differences[0].of_group,
    )


def _by_chance(intervals: int) -> str:
    """Say how many of several 95 % intervals miss their value by chance."""
    if intervals < 2:
        return ""
    return f"of {intervals} intervals at 95 %, {0.05 * intervals:.2g} miss by chance, on average"


def _interval(estimate: Estimate, pairs: int) -> Cell:
    if pairs == 1:
        # A small difference keeps a digit, and none has no sign.
        small = f"{estimate.mean:+.1g}" if estimate.mean else "0"
        text = f"{estimate.mean:+.2f}" if abs(estimate.mean) >= 0.005 else small
        return Cell(text, estimate.mean)
    half = (estimate.high - estimate.low) / 2
    # Two digits of the half width: a mean beside zero then shows as such.
    digits = min(max(1 - math.floor(math.log10(half)), 2), 6) if half else 2
    # An interval that ends beside zero must not show an end at zero.
    while estimate.low * estimate.high > 0 and digits < 12:
        if float(f"{estimate.low:.{digits}f}") and float(f"{estimate.high:.{digits}f}"):
            break
        digits += 1
    ends = estimate.low, estimate.high
    mean, low, high = (f"{number:+.{digits}f}" for number in (estimate.mean, *ends))
    return Cell(f"{mean}\n[{low}, {high}]", estimate.mean, *ends)


def _labels(rows: Sequence[Case] | Cases, own: OwnNames = MappingProxyType({})) -> list[Column]:
    return [Column(heading, texts) for heading, texts in labels(rows, own).items()]


def sweep_parts(comparison: SweepComparison) -> Parts:
    """Make a table for each metric of two sweeps, or of two algorithms of one, and list how the
    sweeps differ."""
    from sojourn.sweeps.kept import named_unit, worded

    by_metric: dict[tuple[Metric, str, str], list[Pair]] = {}
    for pair in comparison.differences:
        by_metric.setdefault((pair.metric, pair.result, pair.less), []).append(pair)
    for (metric, result, less), rows in by_metric.items():
        own = [str(pair.labels.get("aqm")) for pair in rows]
        labels = [
            Column(named_unit(key)[0], texts)
            for key in rows[0].labels
            for texts in [[worded(key, pair.labels[key])[1] for pair in rows]]
            if key == "aqm" or (len(set(texts)) > 1 and texts != own)
        ]
        cells = {
            less: [interval(pair.first) for pair in rows],
            result: [interval(pair.other) for pair in rows],
            "difference": [_interval(pair.estimate, pair.pairs) for pair in rows],
        }
        columns = [Column(f"{name}:\n{metric.heading}", of_name) for name, of_name in cells.items()]
        places = map(", ".join, zip(*(column.cells for column in labels), strict=True))
        fewest = few((metric, place, pair.fewest) for place, pair in zip(places, rows, strict=True))
        chance = _by_chance(sum(pair.pairs > 1 for pair in rows))
        note = "; ".join(filter(None, (fewest, chance)))
        title = f"{' '.join(metric.heading.split(chr(10)))}: {result}{MINUS}{less}, seed by seed"
        yield Table(title, labels, columns, note)
    lines = [(key, *values) for key, values in comparison.scenarios.items()]
    if lines:
        heads = ("key", *comparison.sweeps)
        yield Table.of_rows("what differs in the scenarios and sweeps", heads, lines)
    elif len(comparison.sweeps) > 1:
        yield "scenarios and sweeps: they do not differ"


# A schedule of many rates is too long a table for people.
_SHOWN = 20

# Queue, time, changes.
_Change = tuple[str, float, str]


def responses(
    by_case: Cases, labels: Callable[[Sequence[Case], OwnNames], list[Column]]
) -> Iterator[Table | str]:
    """Make a table for each queue, of the first changes where there are many."""
    by_change = {case: _responses(runs) for case, runs in by_case.items()}
    changes = dict.fromkeys(change for steps in by_change.values() for change in steps)
    for queue in dict.fromkeys(change[0] for change in changes):
        queue_changes = sorted(change for change in changes if change[0] == queue)
        rows = [
            (change, case)
            for change in queue_changes[:_SHOWN]
            for case in by_case
            if change in by_change[case]
        ]
        # A change is named once, in the first of its rows.
        first = [i == 0 or change != rows[i - 1][0] for i, (change, _) in enumerate(rows)]
        named = [change if new else None for (change, _), new in zip(rows, first, strict=True)]
        names = [
            Column("at (s)", [f"{change[1]:g}" if change else "" for change in named]),
            Column("change", [change[2] if change else "" for change in named]),
            *labels([case for _, case in rows], own_names(by_case, queue)),
        ]
        steps_of_rows = [by_change[case][change] for change, case in rows]
        cells = [
            Column(metric.heading, [_response(metric, steps) for steps in steps_of_rows])
            for metric in STEP_METRICS
        ]
        counts = sorted({len(runs) for runs in by_case.values()})
        how = f"mean ± half of the 95 % interval, {' or '.join(map(str, counts))} seeds"
        title = f"{queue}, after each change: {'1 seed' if counts == [1] else how}"
        yield Table(title, names, cells)
        if len(queue_changes) > _SHOWN:
            left = len(queue_changes) - _SHOWN
            yield f"{left} more changes are in steps.parquet of --out, and in --json"


def _responses(runs: Sequence[Run]) -> dict[_Change, list[Mapping[str, Any]]]:
    by_change: dict[_Change, list[Mapping[str, Any]]] = {}
    for run in runs:
        for queue in run.report["queues"]:
            for step in queue.get("steps", ()):
                change = queue["name"], step["at_s"], spell(step["changes"])
                by_change.setdefault(change, []).append(step)
    return by_change


def _response(metric: StepMetric, steps: Sequence[Mapping[str, Any]]) -> str:
    """Write the mean over the seeds in which it was measured, and the number of seeds without it:
    "never" for a time that did not end, a dash without packets."""
    any_left = any(step["later_delay_ms"] is not None for step in steps)
    unmeasured = "never" if metric.unit == "s" and any_left else NOTHING
    values = [value for step in steps if (value := metric.value(step)) == value]
    if not values:
        return unmeasured
    text = mean(values)
    missing = len(steps) - len(values)
    remark = f"{unmeasured} in {missing} of {len(steps)}" if missing else ""
    return Cell(text, *text.numbers, remark=remark)


# Nobody reads more rows; --json has all.
_MOST_TRANSFERS = 200
_TRANSFER_TIMES = {
    "opened": "opened",
    "begun": "begun",
    "first_byte": "first byte",
    "last_byte": "last byte",
}


def visit_parts(times: SideBySide, visit: Visit) -> Iterator[Table | str]:
    """Make a row for each transfer, with four times for each case."""
    keys = list(times.rows)[:_MOST_TRANSFERS]
    labels = [
        Column(name, [str(value) for value in values])
        for name, values in zip(
            ("connection", "transfer", "bytes"), zip(*keys, strict=True), strict=True
        )
    ]
    case_names = names(times.cases)
    columns = [
        Column(
            f"{case_names[case]}\n{heading} (ms)",
            [_time(times.rows[key].get(case, {}).get(event)) for key in keys],
        )
        for case in times.cases
        for event, heading in _TRANSFER_TIMES.items()
    ]
    title = f"flows '{visit.group}', flow {visit.index}, visit {visit.number}: seed {times.seed}"
    yield Table(title, labels, columns)
    if len(times.rows) > _MOST_TRANSFERS:
        yield f"and {len(times.rows) - _MOST_TRANSFERS} more; --json has all"


def _time(value: float | None) -> str:
    return NOTHING if value is None else Cell(f"{value:.2f}", value)
