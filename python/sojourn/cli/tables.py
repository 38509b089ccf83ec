# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The tables that `sojourn run` and `sojourn compare` print: a row for each algorithm, for each
queue and window."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.console import Console

from sojourn.cli.steps import steps
from sojourn.core.errors import InputError, nearest
from sojourn.core.hosts import BINNED
from sojourn.core.table import FORMATS, Column, Table
from sojourn.result.cases import Case, Cases, OwnNames, cases, labels, own_names
from sojourn.result.differences import Difference, across, within
from sojourn.result.metrics import GroupMetric, Metric
from sojourn.result.result import Result
from sojourn.scenario.trace import BIN_MS
from sojourn.show.summary import (
    NOTHING,
    at_place,
    columns,
    group_columns,
    groups,
    metrics_at,
    of_group,
    places,
    seeds_note,
)
from sojourn.show.tables import console, print_entries, print_line, print_table

if TYPE_CHECKING:
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
    """Print tables for a terminal, or in a form each below its title."""
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
    yield from steps(by_case, _labels)
    # The groups' own tables: where there are several.
    for of, window in groups(by_case):
        here = of_group(by_case, (of, window))
        title = f"flows '{of}', {window}: "
        shown = group_columns(here, of, window)
        yield Table(title + seeds_note(here), _labels(here), shown)
        of_flows = [d for d in found if d.of_group and (d.of, d.window) == (of, window)]
        yield from _all_differences(title, of_flows, {})


def _probes(by_case: Cases) -> Iterator[str]:
    """Write a line for each queue that probes: its counters but those that are zero, which balance
    only over whole runs, so all seeds are summed."""
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
    """Print the loads, in the unit of the one that was asked for, and the number of flows that
    offer it."""
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
    """Make a table for each thing that is set beside another."""
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
        # Where all are equal, as without a single mark, there is nothing to compare.
        if any(d.found.low or d.found.high for d in found if d.metric == metric)
    ]
    if not shown:
        return f"{title}: none, every value is equal\n"
    # One seed has a difference, and says nothing of how sure it is.
    how = ", seed by seed, mean and 95 % interval" if found[0].pairs > 1 else ", 1 seed"
    return Table(title + how, _labels(rows, own), shown)


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


def _labels(of: Sequence[Case] | Cases, own: OwnNames = MappingProxyType({})) -> list[Column]:
    return [Column(heading, texts) for heading, texts in labels(of, own).items()]
