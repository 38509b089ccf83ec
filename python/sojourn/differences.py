# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How algorithms differ from the first one, Linux from the simulator, and traces as rates from
traces packet by packet, seed by seed: what varies from seed to seed in both alike does not hide a
difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.metrics import GROUP_METRICS, GroupMetric, Metric, summary_of
from sojourn.result import Result, Run
from sojourn.runs import BINNED

if TYPE_CHECKING:
    from sojourn.stats import Estimate


# Host and algorithm.
_Case = tuple[str, str]


@dataclass(frozen=True)
class Difference:
    """A metric of one algorithm less that of the first on the same host, or on one host less that
    on another, over the seeds that both have."""

    aqm: str
    to: str
    host: str
    to_host: str
    of: str  # a queue, or with `of_group` the flows of one name
    of_group: bool
    window: str
    metric: Metric | GroupMetric
    pairs: int
    found: Estimate

    @property
    def is_shown(self) -> bool:
        """The 95 % interval is wholly on one side of zero."""
        return self.found.low > 0 or self.found.high < 0

    def to_json(self) -> dict[str, Any]:
        """Keys of `sojourn run --json`."""
        return {
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
    by_case: dict[_Case, list[Run]] = {}
    for run in result:
        by_case.setdefault((str(run.labels["host"]), str(run.labels["aqm"])), []).append(run)
    found: list[Difference] = []
    first: dict[str, str] = {}
    for (host, aqm), runs in by_case.items():
        to = host, first.setdefault(host, aqm)
        if aqm != to[1]:
            found += _differences((host, aqm), to, runs, by_case[to], at_least=2)
        for other in _beside(host):
            if (other, aqm) in by_case:
                to = other, aqm
                found += _differences((host, aqm), to, runs, by_case[to], at_least=1)
    return found


def _beside(host: str) -> list[str]:
    """What a host is set beside: Linux beside the simulator, rates beside single packets."""
    sim = host.replace("linux", "sim")
    return [other for other in (sim, host.removesuffix(BINNED)) if other != host]


def _differences(
    case: _Case, to: _Case, runs: Sequence[Run], others: Sequence[Run], *, at_least: int
) -> Iterator[Difference]:
    from sojourn.stats import estimate  # a single algorithm does without

    by_seed = {run.seed: run.report for run in others}
    pairs = [(run.report, by_seed[run.seed]) for run in runs if run.seed in by_seed]
    if len(pairs) < at_least:
        return
    (host, aqm), (to_host, to_aqm) = case, to
    for of_group, name, window, metric in _measured(pairs[0][0]):
        both = [(metric.of(a, name, window), metric.of(b, name, window)) for a, b in pairs]
        values = [a - b for a, b in both if a == a and b == b]
        if len(values) >= at_least:
            cases = aqm, to_aqm, host, to_host
            yield Difference(*cases, name, of_group, window, metric, len(values), estimate(values))


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
