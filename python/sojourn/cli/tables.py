# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The tables that `sojourn run` and `sojourn compare` print: a row for each algorithm, for each
queue and window."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rich.console import Console

from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import BINNED
from sojourn.core.table import FORMATS, Column, Table
from sojourn.result.cases import Case, Cases, OwnNames, cases, labels, names, own_names
from sojourn.result.differences import Difference, across, within
from sojourn.result.metrics import STEP_METRICS, GroupMetric, Metric, StepMetric
from sojourn.result.result import Result, Run
from sojourn.result.steps import spell
from sojourn.scenario.trace import BIN_MS
from sojourn.show.tables import (
    NOTHING,
    at_place,
    columns,
    console,
    group_columns,
    groups,
    metrics_at,
    of_group,
    places,
    print_entries,
    print_line,
    print_table,
    seeds_note,
)

if TYPE_CHECKING:
    from sojourn.result.transfers import SideBySide, Visit
    from sojourn.runs.calibrate import Calibration


# Tables, and lines between them.
Parts = Iterator[Table | str]


def print_result(result: Result, out: Path | None) -> None:
    """Print means over the seeds, with the standard deviation where there are several."""
    terminal = console()
    by_case = cases({"": result})
    _print(terminal, _of_cases(by_case, within(by_case)))
    if out:
        print_line(terminal, f"result: {out}")


def _print(terminal: Console, parts: Parts) -> None:
    for part in parts:
        print_line(terminal, part) if isinstance(part, str) else print_table(terminal, part)


def print_compared(results: Mapping[str, Result], form: str | None = None) -> None:
    """Print several results in one table, and how their scenarios differ."""
    print_parts(_of_results(results), form)


def print_parts(parts: Parts, form: str | None) -> None:
    """Print tables for a terminal, or in a form with each below its title. InputError for an
    unknown form."""
    if form is None:
        _print(console(), parts)
        return
    if form not in FORMATS:
        raise InputError(f"--format {form}: there is no such format.{nearest(form, FORMATS)}")
    for part in parts:
        if isinstance(part, Table):
            print(_TITLES[form].format(part.title), FORMATS[form](part), sep="\n")


_TITLES = {"markdown": "**{}**\n", "csv": "# {}", "latex": "% {}"}


def _of_results(results: Mapping[str, Result]) -> Parts:
    from sojourn.result.compare import scenario_differences

    by_case = cases(results)
    yield from _of_cases(by_case, across(by_case) if len(results) > 1 else within(by_case))
    if len(results) == 1:
        return
    different = scenario_differences(results)
    if not different:
        yield "scenarios: they do not differ"
        return
    rows = [(key, *values) for key, values in different.items()]
    yield Table.of_rows("what differs in the scenarios", ("key", *results), rows)


def _of_cases(by_case: Cases, found: Sequence[Difference]) -> Parts:
    for of, window in places(by_case):
        here = at_place(by_case, (of, window))
        title = f"{of}, {window}: "
        shown = columns(metrics_at(here), here, of, window)
        own = own_names(here, of)
        yield Table(title + seeds_note(here), _labels(here, own), shown)
        of_queue = [d for d in found if not d.of_group and (d.of, d.window) == (of, window)]
        yield from _all_differences(title, of_queue, own)
    yield from _probes(by_case)
    yield from responses(by_case, _labels)
    # Groups have tables of their own where there are several.
    for of, window in groups(by_case):
        here = of_group(by_case, (of, window))
        title = f"flows '{of}', {window}: "
        shown = group_columns(here, of, window)
        yield Table(title + seeds_note(here), _labels(here), shown)
        of_flows = [d for d in found if d.of_group and (d.of, d.window) == (of, window)]
        yield from _all_differences(title, of_flows, {})


def _probes(by_case: Cases) -> Iterator[str]:
    """Write a line for each queue that probes, with its counters except zeros. All seeds are
    summed, since the counters balance only over whole runs."""
    texts = zip(*labels(by_case).values(), strict=True)
    for label, runs in zip(map(", ".join, texts), by_case.values(), strict=True):
        sums: dict[str, Counter[str]] = {}
        for queue in (queue for run in runs for queue in run.report["queues"]):
            if "probes" in queue:
                sums.setdefault(queue["name"], Counter()).update(_packets(queue["probes"]))
        seeds = "1 seed" if len(runs) == 1 else f"all {len(runs)} seeds"
        for queue_name, counts in sums.items():
            words = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
            yield f"probes of {queue_name} ({label}, {seeds}): {words or 'none'}"


def _packets(probes: Mapping[str, int]) -> dict[str, int]:
    """Keep the counters of packets, under the names that `tc` has for them."""
    unit = "_pkts"
    return {name.removesuffix(unit): n for name, n in probes.items() if name.endswith(unit)}


def print_calibration(found: Calibration, load: str) -> None:
    """Print the loads, in the unit of the requested load, and the number of flows that offer it."""
    from sojourn.runs.calibrate import amount, per_second

    terminal = console()
    unit = per_second(load)
    measured = [
        {
            "flows": str(of.flows),
            f"load ({unit})": amount(fmean(of.mbps), unit),
            "least": amount(min(of.mbps), unit),
            "most": amount(max(of.mbps), unit),
        }
        for of in found.measured
    ]
    beside = f", with {_quoted(found.beside)}," if found.beside else ""
    title = f"'{found.group}'{beside} on uncongested links: the load of '{found.link}'"
    print_entries(terminal, title, measured)
    lines = [f"left aside, since only the network bounds their load: {_quoted(found.aside)}"]
    lines = lines if found.aside else []
    offer = f"1 flow{beside} offers" if found.flows == 1 else f"{found.flows} flows{beside} offer"
    lines.append(f"{offer} {load.strip()}: --set flows.{found.group}.count={found.flows}")
    for line in lines:
        print_line(terminal, line)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _all_differences(title: str, found: Sequence[Difference], own: OwnNames) -> Parts:
    """Make a table for each pair of things that are compared."""
    by_kind: dict[str, list[Difference]] = {}
    for difference in found:
        by_kind.setdefault(_kind(difference), []).append(difference)
    for kind, alike in by_kind.items():
        yield _differences(title + kind, alike, own)


def _kind(difference: Difference) -> str:
    host, to_host = difference.host, difference.to_host
    if difference.case.result != difference.less.result:
        return f"{difference.case.result} less {difference.less.result}"
    if host == to_host:
        return f"difference to {difference.to}"
    if to_host + BINNED == host:
        return f"a trace in bins of {BIN_MS} ms less its opportunities"
    return f"{host} less {to_host}"


def _differences(title: str, found: Sequence[Difference], own: OwnNames) -> Table | str:
    # The title names the results.
    own = {replace(case, result=""): name for case, name in own.items()}
    found = [replace(d, case=replace(d.case, result="")) for d in found]
    cells: dict[Metric | GroupMetric, dict[Case, str]] = {}
    for difference in found:
        cells.setdefault(difference.metric, {})[difference.case] = _difference(difference)
    rows = list(dict.fromkeys(difference.case for difference in found))
    shown = [
        Column(metric.heading, [of.get(case, NOTHING) for case in rows])
        for metric, of in cells.items()
        # Where all values are equal, as without a single mark, there is nothing to compare.
        if any(d.found.low or d.found.high for d in found if d.metric == metric)
    ]
    if not shown:
        return f"{title}: none, every value is equal\n"
    # A single seed has a difference, but no interval.
    how = ", seed by seed, mean and 95 % interval" if found[0].pairs > 1 else ", 1 seed"
    return Table(title + how, _labels(rows, own), shown)


def _difference(difference: Difference) -> str:
    found = difference.found
    if difference.pairs == 1:
        return f"{found.mean:+.2f}"
    half = (found.high - found.low) / 2
    # Two digits of the half width: a mean beside zero then shows as such.
    digits = min(max(1 - math.floor(math.log10(half)), 2), 6) if half else 2
    # An interval that ends beside zero must not show an end at zero.
    while found.low * found.high > 0 and digits < 12:
        if float(f"{found.low:.{digits}f}") and float(f"{found.high:.{digits}f}"):
            break
        digits += 1
    mean = f"{found.mean:+.{digits}f}" if difference.is_shown else "no difference\nshown"
    return f"{mean}\n[{found.low:+.{digits}f}, {found.high:+.{digits}f}]"


def _labels(of: Sequence[Case] | Cases, own: OwnNames = MappingProxyType({})) -> list[Column]:
    return [Column(heading, texts) for heading, texts in labels(of, own).items()]


# A schedule of many rates is too long a table for people.
_SHOWN = 20

_Response = Mapping[str, Any]
# Queue, time, changes.
_Change = tuple[str, float, str]


def responses(
    by_case: Cases, labels: Callable[[Sequence[Case], OwnNames], list[Column]]
) -> Iterator[Table | str]:
    """Make a table for each queue, of the first changes where there are many."""
    found = {case: _responses(runs) for case, runs in by_case.items()}
    changes = dict.fromkeys(change for of in found.values() for change in of)
    for queue in dict.fromkeys(change[0] for change in changes):
        here = sorted(change for change in changes if change[0] == queue)
        rows = [
            (change, case) for change in here[:_SHOWN] for case in by_case if change in found[case]
        ]
        names = [
            Column("at (s)", [f"{at:g}" for (_, at, _), _ in rows]),
            Column("change", [what for (_, _, what), _ in rows]),
            *labels([case for _, case in rows], own_names(by_case, queue)),
        ]
        of_rows = [found[case][change] for change, case in rows]
        columns = [_response_column(metric, of_rows) for metric in STEP_METRICS]
        title = f"{queue}, after each change: {_seeds_of_responses(by_case)}"
        yield Table(title, _unrepeated(names), columns)
        if len(here) > _SHOWN:
            left = len(here) - _SHOWN
            yield f"{left} more changes are in steps.parquet of --out, and in --json"


def _responses(runs: Sequence[Run]) -> dict[_Change, list[_Response]]:
    found: dict[_Change, list[_Response]] = {}
    for run in runs:
        for queue in run.report["queues"]:
            for step in queue.get("steps", ()):
                change = queue["name"], step["at_s"], spell(step["changes"])
                found.setdefault(change, []).append(step)
    return found


def _response_column(metric: StepMetric, of_rows: Sequence[Sequence[_Response]]) -> Column:
    cells = [
        _response([metric.value(step) for step in steps], _unmeasured(metric, steps))
        for steps in of_rows
    ]
    return Column(metric.heading, cells)


def _unmeasured(metric: StepMetric, steps: Sequence[_Response]) -> str:
    """Write the sign for a missing value: "never" for a time that did not end, a dash without
    packets."""
    any_left = any(step["later_delay_ms"] is not None for step in steps)
    return "never" if metric.unit == "s" and any_left else NOTHING


def _response(values: Sequence[float], none: str) -> str:
    """Write the mean over the seeds in which it was measured, and the number of seeds without
    it."""
    measured = [value for value in values if value == value]
    if not measured:
        return none
    text = _mean_and_half(measured)
    missing = len(values) - len(measured)
    return f"{text}\n{none} in {missing} of {len(values)}" if missing else text


def _mean_and_half(values: Sequence[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.2f}"
    from sojourn.result.stats import estimate  # a single seed does not need it

    found = estimate(values)
    return f"{found.mean:.2f} ± {found.half:.2f}"


def _seeds_of_responses(by_case: Cases) -> str:
    counts = sorted({len(runs) for runs in by_case.values()})
    if counts == [1]:
        return "1 seed"
    return f"mean ± half of its 95 % interval, {' or '.join(map(str, counts))} seeds"


def _unrepeated(names: Sequence[Column]) -> list[Column]:
    """Name a change once, in the first of its rows."""
    rows = list(zip(*(column.cells for column in names[:2]), strict=True))
    first = [i == 0 or row != rows[i - 1] for i, row in enumerate(rows)]
    once = [
        Column(c.heading, [text if new else "" for text, new in zip(c.cells, first, strict=True)])
        for c in names[:2]
    ]
    return [*once, *names[2:]]


# Nobody reads more rows; --json has all.
_MOST_TRANSFERS = 200
_TRANSFER_TIMES = {
    "opened": "opened",
    "begun": "begun",
    "first_byte": "first byte",
    "last_byte": "last byte",
}


def of_visit(found: SideBySide, visit: Visit) -> Iterator[Table | str]:
    """Make a row for each transfer, with four times for each case."""
    keys = list(found.rows)[:_MOST_TRANSFERS]
    parts = zip(*keys, strict=True)
    labels = [
        Column(name, [str(value) for value in values])
        for name, values in zip(("connection", "transfer", "bytes"), parts, strict=True)
    ]
    called = names(found.cases)
    columns = [
        Column(
            f"{called[case]}\n{heading} (ms)",
            [_time(found.rows[key].get(case, {}).get(time)) for key in keys],
        )
        for case in found.cases
        for time, heading in _TRANSFER_TIMES.items()
    ]
    title = f"flows '{visit.group}', flow {visit.index}, visit {visit.number}: seed {found.seed}"
    yield Table(title, labels, columns)
    if len(found.rows) > _MOST_TRANSFERS:
        yield f"and {len(found.rows) - _MOST_TRANSFERS} more; --json has all"


def _time(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"
