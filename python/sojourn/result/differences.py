# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Differences between algorithms, hosts, forms of traces and results, seed by seed.

Each algorithm is compared with the first one, Linux with the simulator, and each result with the
first one. A trace as rates is compared with the trace as opportunities. Pairs of one seed share the
variation between seeds, which therefore hides no difference.
"""

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
    """The difference of a metric between two cases, over the seeds that both have.

    The cases are an algorithm and the first one on the same host, two hosts, or two results.
    """

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
        """Name the algorithm."""
        return self.case.aqm

    @property
    def to(self) -> str:
        """Name the other algorithm."""
        return self.less.aqm

    @property
    def host(self) -> str:
        """Name the host."""
        return self.case.host

    @property
    def to_host(self) -> str:
        """Name the other host."""
        return self.less.host

    @property
    def is_shown(self) -> bool:
        """Tell whether the 95 % interval is wholly on one side of zero."""
        return self.found.low > 0 or self.found.high < 0

    def to_json(self) -> dict[str, Any]:
        """Return the keys of `sojourn run --json`, and with several results of `sojourn compare
        --json`."""
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
    """List the differences for every algorithm, host, window and metric of a table.

    There is one for each queue, and one for each name of flows where there are several. Algorithms
    need at least two seeds.
    """
    return within(cases({"": result}))


def within(by_case: Cases) -> list[Difference]:
    """Compare the algorithms and hosts of one result."""
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
    """Compare each result with the first, where both have the algorithm, the host, queue and
    window."""
    found: list[Difference] = []
    first = next(iter(by_case)).result
    for case, runs in by_case.items():
        to = replace(case, result=first)
        if case != to and to in by_case:
            found += _differences(case, to, runs, by_case[to], at_least=2)
    return found


def _beside(host: str) -> list[str]:
    """List the hosts to compare this host with: the simulator for Linux, opportunities for
    rates."""
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
    """Yield whether the metric is of flows, the name of queue or flows, the window, and the
    metric."""
    for queue in report["queues"]:
        for window in queue["windows"]:
            for metric in summary_of(report):
                yield False, queue["name"], window["name"], metric
    for window in report["transport"]:
        groups = window["groups"] if len(window["groups"]) > 1 else []
        for group in groups:
            for of_flows in GROUP_METRICS:
                yield True, group["name"], window["name"], of_flows
