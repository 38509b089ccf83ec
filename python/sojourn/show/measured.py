# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The data of pictures, read from results: by case, each with its queue and window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sojourn.core.errors import InputError, nearest
from sojourn.core.units import Rate
from sojourn.result.columns import spell
from sojourn.result.compare import Case, Cases, cases, names
from sojourn.result.distribution import Distribution, measured
from sojourn.result.metrics import METRICS
from sojourn.result.result import Result, Run
from sojourn.scenario.ends import link_of, queue_rates

# Readers would not look at more panels.
MAX_PANELS = 12
# Points of a curve over time; fewer for drops, which are rare.
BINS, BINS_OF_DROPS = 200, 50
# More changes than this are not written above the curves.
_MAX_STEPS = 8


# A logarithmic axis shows more where the largest value is more than so many times the least.
WIDE_RANGE = 20
DELAY = "queue delay (ms)"

NO_QUEUE = "no queue was recorded: one is measured where its link has a rate or a trace"


class Missing(InputError):
    """The results lack the data of a picture; the message names the key of the scenario that
    records it."""


class Absent(Missing):
    """The run itself has no such data, whatever it records."""


@dataclass(frozen=True)
class Span:
    """A window."""

    name: str
    from_s: float
    to_s: float

    @property
    def text(self) -> str:
        """Return the window as titles write it."""
        return f"{self.name}, {self.from_s:g} to {self.to_s:g} s"


class Measured:
    """Results, with the queues and the window to show."""

    def __init__(
        self,
        results: Mapping[str, Result],
        queue: str | None = None,
        window: str | None = None,
        *,
        log: bool = False,
    ) -> None:
        self.results = results
        self.log = log  # whether axes of delays and times are logarithmic
        self.by_case: Cases = cases(results)
        self.names = names(self.by_case)
        every = list(dict.fromkeys(name for case in self.by_case for name in self._queues(case)))
        if not every:
            raise InputError(NO_QUEUE)
        if queue is not None and queue not in every:
            raise InputError(f"--queue {queue}: no result has it.{nearest(queue, every)}")
        if queue is None and len(every) > MAX_PANELS:
            raise InputError(
                f"{len(every)} queues were recorded; name one with --queue, such as {every[0]}"
            )
        self.queues = [queue] if queue is not None else every
        spans = {span.name for case in self.by_case for span in self.spans(case)}
        if window is not None and window not in spans:
            raise InputError(f"--window {window}: no result has it.{nearest(window, spans)}")
        self._window = window
        # Results do not change, and a picture may ask twice.
        self.distribution = cache(self._distribution)
        self.over_time = cache(self._over_time)
        self.statistic = cache(self._statistic)
        self.of_group = cache(self._of_group)
        self._columns_of_groups = cache(self._read_groups)
        self.scenario = cache(self._scenario)

    def _queues(self, case: Case) -> list[str]:
        return [queue["name"] for queue in self._first(case).report["queues"]]

    def _first(self, case: Case) -> Run:
        return self.by_case[case][0]

    def _scenario(self, case: Case) -> dict[str, Any]:
        """Read the scenario as it was run, in base units."""
        return self._first(case).entry.scenario()

    def spans(self, case: Case) -> list[Span]:
        """List all windows of a case that the run finished."""
        queues = self._first(case).report["queues"]
        windows = queues[0]["windows"] if queues else []
        return [Span(w["name"], w["from_s"], w["to_s"]) for w in windows]

    def span(self, case: Case) -> Span | None:
        """Return the window to show: that of --window, else the first."""
        spans = [s for s in self.spans(case) if self._window in (None, s.name)]
        return spans[0] if spans else None

    def having(self, queue: str) -> list[Case]:
        """List the cases that have the queue."""
        return [case for case in self.by_case if queue in self._queues(case)]

    def shown(self, queue: str) -> list[Case]:
        """List the cases that have the queue and the window to show."""
        return [case for case in self.having(queue) if self.span(case)]

    def where(self, queue: str) -> str:
        """Write queue and window for a title."""
        return f"{queue}, {self.spans_of(self.shown(queue))}"

    def spans_of(self, cases: Iterable[Case]) -> str:
        """Write the windows of the cases for a title."""
        spans = {span.text for case in cases if (span := self.span(case))}
        return " or ".join(sorted(spans))

    def duration_s(self, case: Case) -> float:
        """Return the simulated time of a case."""
        return float(self.scenario(case)["duration"]) / 1e9

    def step_s(self, case: Case) -> float:
        """Return the step of the series."""
        return float(self.scenario(case)["record"]["series"]) / 1e9

    def _over_time(self, case: Case, queue: str, column: str, bins: int) -> tuple[Any, Any]:
        """Read a column of the series: the mean over the seeds, averaged over time."""
        series = [raw(run, queue, column) for run in self.by_case[case]]
        return self._together(case, series, bins)

    def _statistic(self, case: Case, queue: str, name: str, bins: int) -> tuple[Any, Any]:
        """Read a statistic of the queue's algorithm likewise; empty where it has none of
        this name."""
        tables = [table for run in self.by_case[case] if (table := run.statistics()) is not None]
        words = {"queue": queue, "statistic": name}
        return self._together(case, [rows(table, words, "value") for table in tables], bins)

    def _of_group(self, case: Case, group: str, column: str, bins: int) -> tuple[Any, Any]:
        """Read a column of the series of groups likewise."""
        tables = (self._columns_of_groups(case, n) for n in range(len(self.by_case[case])))
        columns = [table[group] for table in tables if group in table]
        return self._together(case, [(c["t_s"], c[column]) for c in columns], bins)

    def _read_groups(self, case: Case, number: int) -> dict[str, dict[str, Any]]:
        """Read the series of groups of one run, once, by group and column."""
        table = self.by_case[case][number].group_series()
        if table is None:
            return {}
        names = np.array(table["group"].to_pylist())
        columns = {name: table[name].to_numpy() for name in table.column_names if name != "group"}
        return {
            group: {name: values[names == group] for name, values in columns.items()}
            for group in self.groups()[:MAX_PANELS]
        }

    def _together(
        self, case: Case, series: Sequence[tuple[Any, Any]], bins: int
    ) -> tuple[Any, Any]:
        """Average series over the seeds, and over time."""
        series = [(time, values) for time, values in series if len(time)]
        if not series:
            return np.empty(0), np.empty(0)
        time, values = (np.concatenate(parts) for parts in zip(*series, strict=True))
        # With very many groups, not every step was recorded.
        return averaged(time, values, max(self.average_s(case, bins), float(time.min())))

    def average_s(self, case: Case, bins: int) -> float:
        """Return the time over which curves are averaged: whole steps of the series."""
        step_s = self.step_s(case)
        return step_s * max(round(self.duration_s(case) / step_s / bins), 1)

    def _distribution(self, case: Case, quantity: str, name: str) -> Distribution | None:
        """Read the distribution of a queue or a group in the window, all seeds together.

        Return None where a run has none.
        """
        span = self.span(case)
        if span is None:
            return None
        return measured(self.by_case[case], quantity, name, span.name)

    def values(self, case: Case, queue: str, metric: str) -> Any:
        """Read a metric in the window for each seed."""
        span = self.span(case)
        if span is None:
            return np.empty(0)
        number = METRICS[metric]
        return np.array([number.measure_run(run, queue, span.name) for run in self.by_case[case]])

    def pings(self, case: Case) -> dict[str, tuple[Any, Any]]:
        """Read the pings of a case by group, all seeds together: when each was sent, and its round
        trip in ms; NaN where it has not come back."""
        parts: dict[str, list[Any]] = {}
        for run in self.by_case[case]:
            for of in run.report.get("echoes", ()):
                pair = np.array([of["sent_s"], of["rtt_ms"]], float)
                parts.setdefault(of["name"], []).append(pair)
        return {
            group: (together[0], together[1])
            for group, arrays in parts.items()
            for together in [np.concatenate(arrays, axis=1)]
        }

    def groups(self) -> list[str]:
        """List the names of flows of all cases."""
        return list(
            dict.fromkeys(
                group["name"]
                for case in self.by_case
                for window in self._first(case).report["transport"]
                for group in window["groups"]
            )
        )

    def whole_groups(self) -> list[str]:
        """List the groups of all cases by which times of transfers and pages are kept."""
        flows = (flow for case in self.by_case for flow in self.scenario(case)["flows"])
        return list(dict.fromkeys(flow.get("part_of") or flow["name"] for flow in flows))

    def goodput(self, case: Case, group: str) -> Iterator[tuple[Span, float]]:
        """Yield each window and the goodput of the flows of one name in it, as the mean over the
        seeds."""
        for number, span in enumerate(self.spans(case)):
            rates = [
                entry["goodput_mbps"]
                for run in self.by_case[case]
                for entry in run.report["transport"][number]["groups"]
                if entry["name"] == group
            ]
            if rates:
                yield span, float(np.mean(rates))

    def changes(self, queue: str) -> list[tuple[float, str]]:
        """List the times at which the link's rate or anything else changes, with the changes.

        The list is empty where cases differ, or where there are too many changes.
        """
        every = {
            tuple(_changes(self.scenario(c), self.by_case[c][0], queue)) for c in self.having(queue)
        }
        if len(every) != 1:
            return []
        (steps,) = every
        return list(steps) if len(steps) <= _MAX_STEPS else []


def _changes(scenario: Mapping[str, Any], run: Run, queue: str) -> Iterator[tuple[float, str]]:
    """Yield each time of a change, and a text with a line for each change at that time."""
    rates = list(_rates(scenario, queue))
    lines = {at_s: [rate] for at_s, rate in rates} if len(rates) > 1 else {}
    (entry,) = (entry for entry in run.report["queues"] if entry["name"] == queue)
    for step in entry.get("steps", ()):
        others = [c for c in step["changes"] if (c["kind"], c["of"]) != ("rate", queue)]
        if others:
            lines.setdefault(step["at_s"], []).append(spell(others).replace(", ", "\n"))
    yield from ((at_s, "\n".join(lines[at_s])) for at_s in sorted(lines))


def _rates(scenario: Mapping[str, Any], queue: str) -> Iterator[tuple[float, str]]:
    link, media = link_of(scenario["links"], queue), scenario.get("media", ())
    for at_ns, rate_bps in queue_rates(link, queue, media):
        yield at_ns / 1e9, str(Rate(rate_bps))


# The end of a caption whose picture would be clearer so.
FAR_APART = " Values are far apart: --log draws them on a logarithmic {}."


def is_wide(values: Iterable[float]) -> bool:
    """Tell whether these values are far apart for a linear axis."""
    positive = [value for value in values if value > 0]
    return bool(positive) and max(positive) > WIDE_RANGE * min(positive)


def seeds(measured: Measured, cases: Iterable[Case]) -> str:
    """Write the start of a caption: the number of seeds."""
    counts = sorted({len(measured.by_case[case]) for case in cases})
    return "One seed" if counts == [1] else f"Mean over {' or '.join(map(str, counts))} seeds"


def together(measured: Measured, cases: Iterable[Case]) -> str:
    """Write the number of seeds whose packets are in a distribution."""
    counts = sorted({len(measured.by_case[case]) for case in cases})
    return "one seed" if counts == [1] else f"{' or '.join(map(str, counts))} seeds together"


def raw(run: Run, queue: str, column: str) -> tuple[Any, Any]:
    """Read the times (the ends of the steps) and values of a series."""
    return rows(run.series(), {"queue": queue}, column)


def rows(table: Any, where: Mapping[str, str], column: str) -> tuple[Any, Any]:
    """Select the times and values of the rows that have these words."""
    chosen = np.ones(len(table), bool)
    for key, word in where.items():
        chosen &= np.array(table[key].to_pylist(), str) == word
    return table["t_s"].to_numpy()[chosen], table[column].to_numpy()[chosen]


def averaged(time: Any, values: Any, average_s: float) -> tuple[Any, Any]:
    """Average values over bins of `average_s`; return times and means. Empty cells do not count."""
    if not len(time):
        return np.empty(0), np.empty(0)
    bins = np.ceil(time / average_s - 1e-9).astype(int) - 1
    bins = np.clip(bins, 0, None)
    good = ~np.isnan(values)
    count = np.bincount(bins[good], minlength=bins.max() + 1)
    total = np.bincount(bins[good], weights=values[good], minlength=bins.max() + 1)
    with np.errstate(invalid="ignore"):
        return (np.arange(len(count)) + 0.5) * average_s, total / count
