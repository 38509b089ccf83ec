# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The numbers that tables and claims speak of, by name, and where a report holds them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn import _native
from sojourn.core.errors import InputError, nearest

if TYPE_CHECKING:
    from sojourn.result.result import Run
    from sojourn.result.stats import Estimate


@dataclass(frozen=True)
class _Number:
    """How a number is called, and where it stands in its table of a report."""

    name: str
    label: str
    unit: str
    path: tuple[str, ...]

    @property
    def heading(self) -> str:
        """The label and the unit, a part on each line."""
        unit = [f"({self.unit})"] if self.unit else []
        return "\n".join([*self.label.split(", "), *unit])

    @property
    def most(self) -> float:
        """No value is above it; and none is below 0."""
        if self.name.startswith("jain"):
            return 1.0
        return 100.0 if self.unit == "%" else math.inf

    def interval(self, found: Estimate) -> tuple[float, float]:
        """The ends of its interval, as far as there can be values; of one seed it has none. A mean
        that rounding brings above the most stays within."""
        if not math.isfinite(found.half):
            return found.low, found.high
        return max(found.low, 0.0), min(found.high, max(self.most, found.mean))

    def value(self, at: Any) -> float:
        """NaN where nothing was measured."""
        for key in self.path:
            at = at.get(key) if isinstance(at, Mapping) else None
        return float("nan") if at is None else float(at)


@dataclass(frozen=True)
class Metric(_Number):
    """One number of one run in one window: of a queue, or of all flows."""

    of_queue: bool = True

    def of(self, report: Mapping[str, Any], queue: str, window: str) -> float:
        """The value in a run's report; NaN where nothing was measured."""
        return self.value(
            _window(report, queue, window) if self.of_queue else _flows(report, window)
        )

    def of_run(self, run: Run, queue: str, window: str) -> float:
        """The same of a run, of which some metrics read more than the report."""
        return self.of(run.report, queue, window)


@dataclass(frozen=True)
class RunMetric(Metric):
    """One number of a run's series, or of the algorithm that ran."""

    of_queue: bool = False

    def of_run(self, run: Run, queue: str, window: str) -> float:
        """The value; NaN where nothing was measured."""
        from sojourn.result import metrics_of_runs

        span = _window(run.report, queue, window)
        return metrics_of_runs.VALUES[self.name](run, queue, span)


@dataclass(frozen=True)
class VariationMetric(Metric):
    """A standard deviation as a percentage of its mean."""

    @property
    def most(self) -> float:
        """It may be larger than the mean."""
        return math.inf

    def value(self, at: Any) -> float:
        """NaN where the mean is 0: of nothing there is no share."""
        found = at.get(self.path[0], {})
        return 100 * found["sd"] / found["mean"] if found.get("mean") else float("nan")


@dataclass(frozen=True)
class StepMetric(Metric):
    """One number of the responses to the changes within a window: its mean over those in which it
    was measured, or the share of these."""

    share: bool = False

    def of(self, report: Mapping[str, Any], queue: str, window: str) -> float:
        """The value in a run's report; NaN where nothing changed or nothing was measured."""
        span = _window(report, queue, window)
        steps = [
            step
            for entry in report["queues"]
            if entry["name"] == queue
            for step in entry.get("steps", ())
            if span["from_s"] <= step["at_s"] < span["to_s"]
        ]
        values = [value for step in steps if (value := self.value(step)) == value]
        if self.share:
            return 100 * len(values) / len(steps) if steps else float("nan")
        return sum(values) / len(values) if values else float("nan")


@dataclass(frozen=True)
class GroupMetric(_Number):
    """One number of the flows of one name in one window."""

    def of(self, report: Mapping[str, Any], group: str, window: str) -> float:
        """The value in a run's report; NaN where nothing was measured."""
        groups = _flows(report, window)["groups"]
        return self.value(next(found for found in groups if found["name"] == group))

    def of_run(self, run: Run, group: str, window: str) -> float:
        """The same of a run."""
        return self.of(run.report, group, window)


@dataclass(frozen=True)
class TransportMetric(Metric):
    """One number of the flows of one transport in one window, of all groups together."""

    of_queue: bool = False
    of_udp: bool = False

    def of(self, report: Mapping[str, Any], queue: str, window: str) -> float:
        """The value in a run's report; NaN where no flow is of this transport."""
        # Datagrams are lost, TCP sends again.
        groups = [
            group
            for group in _flows(report, window)["groups"]
            if (group["lost_pkts"] is not None) == self.of_udp
        ]
        if not groups:
            return self.value({})
        names = {group["name"] for group in groups}
        index = [entry["name"] for entry in report["transport"]].index(window)
        shares = [
            flow["goodput_mbps_of_windows"][index]
            for flow in report["flows"]
            if flow["name"] in names
        ]
        jain, _ = _native.fairness(shares)
        goodput_mbps = sum(group["goodput_mbps"] for group in groups)
        return self.value({"goodput_mbps": goodput_mbps, "jain": jain})


def _window(report: Mapping[str, Any], queue: str, window: str) -> Any:
    for entry in report["queues"]:
        if entry["name"] == queue:
            for candidate in entry["windows"]:
                if candidate["name"] == window:
                    return candidate
    raise InputError(f"the result has no window '{window}' of a queue '{queue}'")


def _flows(report: Mapping[str, Any], window: str) -> Any:
    for entry in report["transport"]:
        if entry["name"] == window:
            return entry
    raise InputError(f"the result has no window '{window}'")


def _delays() -> list[Metric]:
    shapes = (("mean", "mean"), ("sd", "sd"), ("iqr", "IQR"), ("p95", "95th percentile"))
    kinds = (
        ("system_delay", "system delay"),
        ("queue_delay", "queue delay"),
        ("queue_delay_whole", "queue delay in whole ms"),
    )
    return [
        Metric(f"{kind}_{shape}_ms", f"{label}, {word}", "ms", (f"{kind}_ms", shape))
        for kind, label in kinds
        for shape, word in shapes
    ]


# Of the response to a change, in this order.
STEP_METRICS = (
    StepMetric("step_peak_delay_ms", "peak delay", "ms", ("peak_delay_ms",)),
    StepMetric("step_later_delay_ms", "later delay, mean", "ms", ("later_delay_ms",)),
    StepMetric("step_settling_s", "settling time", "s", ("settling_s",)),
    StepMetric("step_utilised_s", "utilisation, time to 90 %", "s", ("utilised_s",)),
)

# These read more of a run than its report; metrics_of_runs has how.
OF_RUNS = (
    RunMetric("prob_mean_pct", "probability, mean", "%", ()),
    RunMetric("evaluations_per_s", "evaluations", "1/s", ()),
    RunMetric("evaluations_per_pkt", "evaluations for each packet", "", ()),
    RunMetric("square_law", "signals, of the square-root law's", "", ()),
    RunMetric("law_million_per_s", "evaluations this machine can do", "million/s", ()),
    RunMetric("law_divisions", "divisions of an evaluation", "", ()),
    RunMetric("law_multiplications", "multiplications of an evaluation", "", ()),
)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        *_delays(),
        Metric("queue_pkts_mean", "queue length, mean", "packets", ("queue_pkts", "mean")),
        Metric("queue_pkts_sd", "queue length, sd", "packets", ("queue_pkts", "sd")),
        VariationMetric(
            "queue_pkts_cov_pct", "queue length, coefficient of variation", "%", ("queue_pkts",)
        ),
        Metric("utilisation_pct", "utilisation", "%", ("utilisation_pct",)),
        Metric("drop_pct", "drops", "%", ("drop_pct",)),
        Metric("mark_pct", "marks", "%", ("mark_pct",)),
        Metric("fct_mean_s", "completion time, mean", "s", ("fct_s", "mean"), False),
        Metric("fct_p75_s", "completion time, third quartile", "s", ("fct_s", "p75"), False),
        Metric("fct_n", "transfers complete", "", ("fct_s", "n"), False),
        Metric("goodput_mbps", "goodput", "Mbit/s", ("goodput_mbps",), False),
        TransportMetric("goodput_tcp_mbps", "goodput of TCP", "Mbit/s", ("goodput_mbps",)),
        TransportMetric(
            "goodput_udp_mbps", "goodput of datagrams", "Mbit/s", ("goodput_mbps",), of_udp=True
        ),
        Metric("jain", "Jain's index", "", ("jain",), False),
        TransportMetric("jain_tcp", "Jain's index of TCP", "", ("jain",)),
        *OF_RUNS,
        *STEP_METRICS,
        StepMetric("step_settled_pct", "changes settled", "%", ("settling_s",), share=True),
        StepMetric(
            "step_utilised_pct", "changes with 90 % utilisation", "%", ("utilised_s",), share=True
        ),
    ]
}


# What a table of groups of flows shows, in this order.
GROUP_METRICS = (
    GroupMetric("goodput_mbps", "goodput", "Mbit/s", ("goodput_mbps",)),
    GroupMetric("jain", "Jain's index", "", ("jain",)),
    GroupMetric("least_share", "least flow, of the mean", "", ("least_share",)),
    GroupMetric("data_pkts_sent", "packets sent", "", ("data_pkts_sent",)),
    GroupMetric("retransmitted_pkts", "sent again", "", ("retransmitted_pkts",)),
    GroupMetric("lost_pkts", "lost", "", ("lost_pkts",)),
    GroupMetric("delay_ms", "delay of datagrams", "ms", ("delay_ms",)),
    GroupMetric("jitter_ms", "jitter of datagrams", "ms", ("jitter_ms",)),
    GroupMetric("fct_p75_s", "completion time, third quartile", "s", ("fct_s", "p75")),
    # Of scripts alone.
    GroupMetric("page_p75_s", "page load time, third quartile", "s", ("page_s", "p75")),
    GroupMetric("opened", "connections opened", "", ("opened",)),
)

# What a table of runs shows, in this order.
SUMMARY = (
    "system_delay_mean_ms",
    "queue_delay_mean_ms",
    "queue_delay_p95_ms",
    "utilisation_pct",
    "drop_pct",
    "mark_pct",
    "goodput_mbps",
    "jain",
    "fct_p75_s",
)


# Among flows of unlike kinds fairness and completion times say nothing.
_AMONG_EQUALS = ("jain", "fct_p75_s")


def summary_of(report: Mapping[str, Any]) -> list[Metric]:
    """What a table of runs shows of a queue; flows of several names have tables of their own."""
    several = any(len(window["groups"]) > 1 for window in report["transport"])
    return [METRICS[name] for name in SUMMARY if not (several and name in _AMONG_EQUALS)]


def find(name: str) -> Metric:
    """The metric of this name."""
    if name not in METRICS:
        raise InputError(f"unknown metric '{name}'.{nearest(name, METRICS)}")
    return METRICS[name]
