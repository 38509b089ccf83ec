# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How algorithms differ from the first one, Linux from the simulator, traces as rates from traces
as opportunities, and results from the first one, seed by seed: what varies from seed to seed in
both alike does not hide a difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sojourn.core.hosts import BINNED
from sojourn.result.cases import Case, Cases, cases
from sojourn.result.metrics import GROUP_METRICS, GroupMetric, Metric, summary_of
from sojourn.result.result import Result, Run

if TYPE_CHECKING:
    from sojourn.result.stats import Estimate


@dataclass(frozen=True)
class Difference:
    """A metric of one algorithm less that of the first on the same host, on one host less that on
    another, or in one result less that in another, over the seeds that both have."""

    case: Case
    less: Case
    of: str  # a queue, or with `of_group` the flows of one name
    of_group: bool
    window: str
    metric: Metric | GroupMetric
    pairs: int
    found: Estimate

    @property
    def aqm(self) -> str:
        """The algorithm."""
        return self.case.aqm

    @property
    def to(self) -> str:
        """The other algorithm."""
        return self.less.aqm

    @property
    def host(self) -> str:
        """The host."""
        return self.case.host

    @property
    def to_host(self) -> str:
        """The other host."""
        return self.less.host

    @property
    def is_shown(self) -> bool:
        """The 95 % interval is wholly on one side of zero."""
        return self.found.low > 0 or self.found.high < 0

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn run --json`, and with several results of `sojourn compare --json`."""
        results = {"result": self.case.result, "to_result": self.less.result}
        return {
            **(results if self.case.result else {}),
            **({"signal": self.case.signal} if self.case.signal else {}),
            "aqm": self.aqm,
            "to": self.to,
            "host": self.host,
            "to_host": self.to_host,
            "group" if self.of_group else "queue": self.of,
            "window": self.window,
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "pairs": self.pairs,
            "difference": self.found.mean,
            "ci95": [self.found.low, self.found.high],
            "shown": self.is_shown,
        }


def differences(result: Result) -> list[Difference]:
    """Of every algorithm, host, window and metric of a table, for each queue, and for the flows of
    each name where there are several; of algorithms none with a single seed."""
    return within(cases({"": result}))


def within(by_case: Cases) -> list[Difference]:
    """Algorithms and hosts of one result."""
    found: list[Difference] = []
    first: dict[Case, Case] = {}
    for case, runs in by_case.items():
        to = first.setdefault(replace(case, aqm=""), case)
        if case != to:
            found += _differences(case, to, runs, by_case[to], at_least=2)
        for host in _beside(case.host):
            to = replace(case, host=host)
            if to in by_case:
                found += _differences(case, to, runs, by_case[to], at_least=1)
    return found


def across(by_case: Cases) -> list[Difference]:
    """Each result and the first one, where both have the algorithm, the host, queue and window."""
    found: list[Difference] = []
    first = next(iter(by_case)).result
    for case, runs in by_case.items():
        to = replace(case, result=first)
        if case != to and to in by_case:
            found += _differences(case, to, runs, by_case[to], at_least=2)
    return found


def _beside(host: str) -> list[str]:
    """What a host is set beside: Linux beside the simulator, rates beside opportunities."""
    sim = host.replace("linux", "sim")
    return [other for other in (sim, host.removesuffix(BINNED)) if other != host]


def _differences(
    case: Case, to: Case, runs: Sequence[Run], others: Sequence[Run], *, at_least: int
) -> Iterator[Difference]:
    from sojourn.result.stats import estimate  # a single algorithm does without

    by_seed = {run.seed: run.report for run in others}
    pairs = [(run.report, by_seed[run.seed]) for run in runs if run.seed in by_seed]
    if len(pairs) < at_least:
        return
    known = set(_measured(pairs[0][1]))
    for measured in _measured(pairs[0][0]):
        if measured not in known:
            continue
        of_group, name, window, metric = measured
        both = [(metric.of(a, name, window), metric.of(b, name, window)) for a, b in pairs]
        values = [a - b for a, b in both if a == a and b == b]
        if len(values) >= at_least:
            yield Difference(
                case, to, name, of_group, window, metric, len(values), estimate(values)
            )


def _measured(
    report: Mapping[str, Any],
) -> Iterator[tuple[bool, str, str, Metric | GroupMetric]]:
    """Whether it is of flows, the name of queue or flows, the window, the metric."""
    for queue in report["queues"]:
        for window in queue["windows"]:
            for metric in summary_of(report):
                yield False, queue["name"], window["name"], metric
    for window in report["transport"]:
        groups = window["groups"] if len(window["groups"]) > 1 else []
        for group in groups:
            for of_flows in GROUP_METRICS:
                yield True, group["name"], window["name"], of_flows
