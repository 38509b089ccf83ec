# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""How algorithms differ from the first one, seed by seed: what varies from seed to seed in both
alike does not hide a difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.metrics import METRICS, SUMMARY, Metric
from sojourn.result import Result, Run

if TYPE_CHECKING:
    from sojourn.stats import Estimate


@dataclass(frozen=True)
class Difference:
    """A metric of one algorithm less that of the first, over the seeds that both have."""

    aqm: str
    to: str
    host: str
    queue: str
    window: str
    metric: Metric
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
            "queue": self.queue,
            "window": self.window,
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "pairs": self.pairs,
            "difference": self.found.mean,
            "ci95": [self.found.low, self.found.high],
            "shown": self.is_shown,
        }


def differences(result: Result) -> list[Difference]:
    """Of every algorithm, host, queue, window and metric of a table; none with a single seed."""
    by_case: dict[tuple[str, str], list[Run]] = {}
    for run in result:
        by_case.setdefault((str(run.labels["host"]), str(run.labels["aqm"])), []).append(run)
    found: list[Difference] = []
    first: dict[str, str] = {}
    for (host, aqm), runs in by_case.items():
        to = first.setdefault(host, aqm)
        if aqm != to:
            found += _differences(aqm, to, host, runs, by_case[host, to])
    return found


def _differences(
    aqm: str, to: str, host: str, runs: Sequence[Run], others: Sequence[Run]
) -> Iterator[Difference]:
    from sojourn.stats import estimate  # a single algorithm does without

    by_seed = {run.seed: run.report for run in others}
    pairs = [(run.report, by_seed[run.seed]) for run in runs if run.seed in by_seed]
    if len(pairs) < 2:
        return
    for queue in pairs[0][0]["queues"]:
        for window in queue["windows"]:
            at = queue["name"], window["name"]
            for metric in map(METRICS.__getitem__, SUMMARY):
                both = [(metric.of(a, *at), metric.of(b, *at)) for a, b in pairs]
                values = [a - b for a, b in both if a == a and b == b]
                if len(values) > 1:
                    found = estimate(values)
                    yield Difference(aqm, to, host, *at, metric, len(values), found)
