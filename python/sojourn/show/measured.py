# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What pictures show, read from results: by case, each with its queue and window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sojourn.core.errors import InputError, nearest
from sojourn.core.units import Rate
from sojourn.result.cases import Case, Cases, cases, names
from sojourn.result.distribution import Distribution, measured
from sojourn.result.metrics import METRICS
from sojourn.result.result import Result, Run
from sojourn.result.steps import spell

# More panels would not be looked at.
MAX_PANELS = 12
# Points of a curve over time; of drops, which are few, less.
BINS, BINS_OF_DROPS = 200, 50
# More changes than this are not written above the curves.
_MAX_STEPS = 8


# Where the largest is that many times the least, an axis is logarithmic.
WIDE_RANGE = 20
DELAY = "queue delay (ms)"

NO_QUEUE = "no queue was recorded: one is measured where its link has a rate or a trace"


class Missing(InputError):
    """The results lack what a picture shows; says which key of the scenario records it."""


class Absent(Missing):
    """The run itself has nothing of the kind, whatever it records."""


@dataclass(frozen=True)
class Span:
    """A window."""

    name: str
    from_s: float
    to_s: float

    @property
    def text(self) -> str:
        """As a title has it."""
        return f"{self.name}, {self.from_s:g} to {self.to_s:g} s"


class Measured:
    """Results, and of which queue and window they are to be shown."""

    def __init__(
        self, results: Mapping[str, Result], queue: str | None = None, window: str | None = None
    ) -> None:
        self.results = results
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
        """As it was run, in base units."""
        return self._first(case).entry.scenario()

    def spans(self, case: Case) -> list[Span]:
        """All windows of a case that the run came to the end of."""
        queues = self._first(case).report["queues"]
        windows = queues[0]["windows"] if queues else []
        return [Span(w["name"], w["from_s"], w["to_s"]) for w in windows]

    def span(self, case: Case) -> Span | None:
        """The window to be shown: that of --window, else the first."""
        spans = [s for s in self.spans(case) if self._window in (None, s.name)]
        return spans[0] if spans else None

    def having(self, queue: str) -> list[Case]:
        """The cases that have the queue."""
        return [case for case in self.by_case if queue in self._queues(case)]

    def shown(self, queue: str) -> list[Case]:
        """The cases that have the queue and the window to be shown."""
        return [case for case in self.having(queue) if self.span(case)]

    def where(self, queue: str) -> str:
        """Queue and window, as a title has them."""
        return f"{queue}, {self.spans_of(self.shown(queue))}"

    def spans_of(self, cases: Iterable[Case]) -> str:
        """Their windows, as a title has them."""
        spans = {span.text for case in cases if (span := self.span(case))}
        return " or ".join(sorted(spans))

    def duration_s(self, case: Case) -> float:
        """Simulated time of a case."""
        return float(self.scenario(case)["duration_ns"]) / 1e9

    def step_s(self, case: Case) -> float:
        """Of the series."""
        return float(self.scenario(case)["record"]["series_ns"]) / 1e9

    def _over_time(self, case: Case, queue: str, column: str, bins: int) -> tuple[Any, Any]:
        """A column of the series: the mean over the seeds, averaged over time."""
        series = [raw(run, queue, column) for run in self.by_case[case]]
        time, values = (np.concatenate(parts) for parts in zip(*series, strict=True))
        return averaged(time, values, self.average_s(case, bins))

    def _statistic(self, case: Case, queue: str, name: str, bins: int) -> tuple[Any, Any]:
        """A statistic of the queue's algorithm, likewise; empty where it has none of the name."""
        found = []
        for run in self.by_case[case]:
            table = run.statistics()
            if table is not None:
                found.append(rows(table, {"queue": queue, "statistic": name}, "value"))
        return self._together(case, found, bins)

    def _of_group(self, case: Case, group: str, column: str, bins: int) -> tuple[Any, Any]:
        """A column of the series of groups, likewise."""
        found = []
        for number in range(len(self.by_case[case])):
            columns = self._columns_of_groups(case, number)
            if group in columns:
                found.append((columns[group]["t_s"], columns[group][column]))
        return self._together(case, found, bins)

    def _read_groups(self, case: Case, number: int) -> dict[str, dict[str, Any]]:
        """By group and column; of one run, read once."""
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
        """The mean over the seeds, averaged over time."""
        series = [(time, values) for time, values in series if len(time)]
        if not series:
            return np.empty(0), np.empty(0)
        time, values = (np.concatenate(parts) for parts in zip(*series, strict=True))
        # Of very many groups not every step was recorded.
        return averaged(time, values, max(self.average_s(case, bins), float(time.min())))

    def average_s(self, case: Case, bins: int) -> float:
        """Over how much time curves are averaged: whole steps of the series."""
        step_s = self.step_s(case)
        return step_s * max(round(self.duration_s(case) / step_s / bins), 1)

    def _distribution(self, case: Case, quantity: str, of: str) -> Distribution | None:
        """Of a queue or a group in the window, all seeds together; None where a run has none."""
        span = self.span(case)
        if span is None:
            return None
        return measured(self.by_case[case], quantity, of, span.name)

    def values(self, case: Case, queue: str, metric: str) -> Any:
        """A metric in the window, of each seed."""
        span = self.span(case)
        if span is None:
            return np.empty(0)
        of = METRICS[metric]
        return np.array([of.of_run(run, queue, span.name) for run in self.by_case[case]])

    def groups(self) -> list[str]:
        """Names of flows."""
        return list(
            dict.fromkeys(
                group["name"]
                for case in self.by_case
                for window in self._first(case).report["transport"]
                for group in window["groups"]
            )
        )

    def goodput(self, case: Case, group: str) -> Iterator[tuple[Span, float]]:
        """Of the flows of one name, in each window: the mean over the seeds."""
        for number, span in enumerate(self.spans(case)):
            found = [
                of["goodput_mbps"]
                for run in self.by_case[case]
                for of in run.report["transport"][number]["groups"]
                if of["name"] == group
            ]
            if found:
                yield span, float(np.mean(found))

    def changes(self, queue: str) -> list[tuple[float, str]]:
        """From which second the link has which rate, where it changes, and what else changes then;
        where all cases agree."""
        every = {
            tuple(_changes(self.scenario(c), self.by_case[c][0], queue)) for c in self.having(queue)
        }
        if len(every) != 1:
            return []
        (steps,) = every
        return list(steps) if len(steps) <= _MAX_STEPS else []


def _changes(scenario: Mapping[str, Any], run: Run, queue: str) -> Iterator[tuple[float, str]]:
    """By time, a line for each change that is at once with others."""
    rates = list(_rates(scenario, queue))
    found = {at_s: [rate] for at_s, rate in rates} if len(rates) > 1 else {}
    (entry,) = (entry for entry in run.report["queues"] if entry["name"] == queue)
    for step in entry.get("steps", ()):
        others = [c for c in step["changes"] if (c["kind"], c["of"]) != ("rate", queue)]
        if others:
            found.setdefault(step["at_s"], []).append(spell(others).replace(", ", "\n"))
    yield from ((at_s, "\n".join(found[at_s])) for at_s in sorted(found))


def _rates(scenario: Mapping[str, Any], queue: str) -> Iterator[tuple[float, str]]:
    link = next(link for link in scenario["links"] if link["name"] == queue)
    if link["rate_bps"] is None:
        return
    yield 0.0, str(Rate(link["rate_bps"]))
    for step in link["schedule"]:
        yield step["at_ns"] / 1e9, str(Rate(step["rate_bps"]))


def is_wide(values: Iterable[float]) -> bool:
    """An axis with these values is logarithmic."""
    found = [value for value in values if value > 0]
    return bool(found) and max(found) > WIDE_RANGE * min(found)


def seeds(measured: Measured, cases: Iterable[Case]) -> str:
    """How a caption begins."""
    counts = sorted({len(measured.by_case[case]) for case in cases})
    return "One seed" if counts == [1] else f"Mean over {' or '.join(map(str, counts))} seeds"


def together(measured: Measured, cases: Iterable[Case]) -> str:
    """Whose packets are in a distribution."""
    counts = sorted({len(measured.by_case[case]) for case in cases})
    return "one seed" if counts == [1] else f"{' or '.join(map(str, counts))} seeds together"


def raw(run: Run, queue: str, column: str) -> tuple[Any, Any]:
    """Time (the ends of the steps) and values of a series."""
    return rows(run.series(), {"queue": queue}, column)


def rows(table: Any, where: Mapping[str, str], column: str) -> tuple[Any, Any]:
    """Time and values of the rows that have these words."""
    chosen = np.ones(len(table), bool)
    for key, word in where.items():
        chosen &= np.array(table[key].to_pylist(), str) == word
    return table["t_s"].to_numpy()[chosen], table[column].to_numpy()[chosen]


def averaged(time: Any, values: Any, average_s: float) -> tuple[Any, Any]:
    """Time and mean over bins of `average_s`; empty cells do not count."""
    if not len(time):
        return np.empty(0), np.empty(0)
    bins = np.ceil(time / average_s - 1e-9).astype(int) - 1
    bins = np.clip(bins, 0, None)
    good = ~np.isnan(values)
    count = np.bincount(bins[good], minlength=bins.max() + 1)
    total = np.bincount(bins[good], weights=values[good], minlength=bins.max() + 1)
    with np.errstate(invalid="ignore"):
        return (np.arange(len(count)) + 0.5) * average_s, total / count
