# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The metrics of tables and claims, by name.

`sojourn.result.columns` describes the metrics that are columns of a result's tables. A name may end
in a place: `utilisation_pct of access` is of that queue, `rtt_p95_ms of ping *` of these pings,
`bandwidth_sd_mbps of user *` of these nodes, `fct_p80_s of users` of these groups of flows, and
`jain of bulk` of that group. `drop_pct of up + down` is the mean of two queues. Without a place a
metric is of the queue that an experiment names, of all pings, or of all flows. `bulk.jain` is short
for `jain of bulk`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from sojourn import _native
from sojourn.core.errors import InputError, nearest
from sojourn.result import calculated, columns, overhead
from sojourn.result.columns import Column
from sojourn.result.samples import SAMPLES, Sample, fitting, nodes_of
from sojourn.scenario.ends import recorded

if TYPE_CHECKING:
    from sojourn.result.distribution import Distribution
    from sojourn.result.result import Run
    from sojourn.result.stats import Estimate
    from sojourn.scenario.model import Scenario


_NONE = float("nan")
# Between a metric and its place.
_OF = " of "
# Between two queues, of which a metric has the mean.
AND = " + "
Span = Mapping[str, Any]  # a window in a report
_COUNTS = {"opened", "segments", "stalls", "switches", "timeouts", "fct_n"}
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_QUANTILE = re.compile(rf"_p({_NUMBER})_")


@dataclass(frozen=True)
class Metric(Column):
    """One number of one run in one window: of a queue, or of flows.

    Tables of runs, claims and sweeps have it as a column.
    """

    of_queue: bool = True
    place: str = ""  # in place of the queue that it is asked for

    @property
    def heading(self) -> str:
        """Return the label and the unit, with each part on its own line."""
        unit = [f"({self.unit})"] if self.unit else []
        return "\n".join([*self.label.split(", "), *unit])

    @property
    def most(self) -> float:
        """Return the upper bound of its values; the lower bound is 0."""
        if self.kind.startswith(("jain", "probability")):
            return 1.0
        return 100.0 if self.unit == "%" else math.inf

    def interval(self, estimate: Estimate) -> tuple[float, float]:
        """Return the ends of its interval, within the bounds of its values.

        A single seed gives an infinite interval, which is left as it is. Rounding may bring a mean
        above the upper bound; the interval then ends at the mean.
        """
        if not math.isfinite(estimate.half):
            return estimate.low, estimate.high
        return max(estimate.low, 0.0), min(estimate.high, max(self.most, estimate.mean))

    def value(self, at: Any) -> float:
        """Read the value from an entry of the report; NaN where nothing was measured."""
        for key in self.path:
            at = at.get(key) if isinstance(at, Mapping) else None
        return _NONE if at is None else float(at)

    @property
    def places(self) -> str:
        """Name the kind of its places, a key of `places_of`; empty where it has none."""
        return "queues" if self.of_queue else ""

    @property
    def kind(self) -> str:
        """Return its name without the place."""
        return split(self.name)[0]

    def at(self, place: str, name: str) -> Self:
        """Return the metric at a place, under a name that has the place."""
        return replace(self, name=name, label=f"{self.label}, {place}", place=place)

    @property
    def averages(self) -> bool:
        """Tell whether it can be the mean of several queues: a report has it of each."""
        return self.of_queue

    @property
    def queues(self) -> list[str]:
        """List the queues of its place."""
        return self.place.split(AND)

    def measure(self, report: Mapping[str, Any], queue: str, window: str) -> float:
        """Return the value in a run's report; NaN where nothing was measured."""
        if not self.of_queue:
            return self.value(_flows(report, window))
        queues = self.queues if self.place else [queue]
        values = [self.value(_window(report, name, window)) for name in queues]
        return sum(values) / len(values)

    def measure_run(self, run: Run, queue: str, window: str) -> float:
        """Return the value of a run; some metrics read more of it than the report."""
        return self.measure(run.report, queue, window)

    @property
    def is_count(self) -> bool:
        """Tell whether it counts something, and is whole in each run."""
        of_packets = self.unit == "packets" and not self.kind.startswith("queue_pkts")
        return of_packets or self.kind in _COUNTS

    @property
    def wanted(self) -> int:
        """Return how many values its quantile q wants, 1/(1-q), or 1/q of a low one; 0 if it is
        no quantile. With fewer it is the largest value, or the least one."""
        found = _QUANTILE.search(self.kind)
        if not found:
            return 0
        share = Fraction(found[1]) / 100
        return math.ceil(1 / min(share, 1 - share))

    def count_run(self, run: Run, queue: str, window: str) -> int:
        """Count the values of a run that its quantile rests on."""
        if not self.of_queue:
            return _count(_flows(run.report, window), self.path)
        queues = self.queues if self.place else [queue]
        return min(int(_window(run.report, name, window)["departed_pkts"]) for name in queues)


@dataclass(frozen=True)
class RunMetric(Metric):
    """One number of a run's series, or of the algorithm that ran."""

    of_queue: bool = False
    calculate: Callable[[Run, str, Span], float] = lambda run, queue, span: _NONE

    @property
    def places(self) -> str:
        """Return queues: an algorithm is that of one."""
        return "queues"

    def measure_run(self, run: Run, queue: str, window: str) -> float:
        """Calculate the value of a run; NaN where nothing was measured."""
        queue = self.place or queue
        return self.calculate(run, queue, _window(run.report, queue, window))


@dataclass(frozen=True)
class SampleMetric(Metric):
    """The shape of a distribution in one window, such as the 95th percentile of round trips."""

    of_queue: bool = False
    sample: Sample = SAMPLES["rtt"]
    shape: str = "mean"

    @property
    def places(self) -> str:
        """Return the kind of the places of its quantity."""
        return self.sample.places

    def measure_run(self, run: Run, queue: str, window: str) -> float:
        """Calculate the shape from the values of a run; NaN where there are none."""
        values = self.values(run, queue, window)
        return _SHAPES[self.shape](values) if len(values) else _NONE

    def count_run(self, run: Run, queue: str, window: str) -> int:
        """Count the values of a run in the window."""
        return len(self.values(run, queue, window))

    def values(self, run: Run, queue: str, window: str) -> Any:
        """Read the values of a run in the window of this queue."""
        return self.sample.read(run, self.place, _window(run.report, queue, window))


@dataclass(frozen=True)
class VariationMetric(Metric):
    """A standard deviation as a percentage of its mean."""

    @property
    def most(self) -> float:
        """Return infinity: the deviation may be larger than the mean."""
        return math.inf

    def value(self, at: Any) -> float:
        """Calculate the percentage; NaN where the mean is 0."""
        moments = at.get(self.path[0], {})
        return 100 * moments["sd"] / moments["mean"] if moments.get("mean") else _NONE


@dataclass(frozen=True)
class TimesMetric(Metric):
    """One number of the times of transfers or pages that ended in a window: of all flows, or of
    those whose groups' names fit the place."""

    of_queue: bool = False
    quantity: str = "fct"  # as `sojourn.result.distribution` calls it
    calculate: Callable[[Distribution], float] = lambda times: _NONE

    @property
    def places(self) -> str:
        """Return groups: those of a scenario's file."""
        return "groups"

    def measure_run(self, run: Run, queue: str, window: str) -> float:
        """Calculate the value of a run; NaN where no transfer ended."""
        if self.path and not self.place:
            return self.measure(run.report, queue, window)
        times = self.times(run, window)
        return self.calculate(times) if times.count else _NONE

    def count_run(self, run: Run, queue: str, window: str) -> int:
        """Count the transfers or pages of a run that ended in the window."""
        if self.path and not self.place:
            return super().count_run(run, queue, window)
        return self.times(run, window).count

    def times(self, run: Run, window: str) -> Distribution:
        """Read the times of a run in the window."""
        from sojourn.result import distribution

        return distribution.of_groups(run, self.quantity, self.place or "*", window)


@dataclass(frozen=True)
class StepMetric(Metric):
    """One number of the responses to the changes within a window.

    It is the mean over the changes for which it was measured, or their share of all changes.
    """

    share: bool = False

    @property
    def averages(self) -> bool:
        """Return False: its responses are those of one queue."""
        return False

    def measure(self, report: Mapping[str, Any], queue: str, window: str) -> float:
        """Calculate the value from a run's report; NaN where nothing changed or nothing was
        measured."""
        queue = self.place or queue
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
            return 100 * len(values) / len(steps) if steps else _NONE
        return sum(values) / len(values) if values else _NONE


@dataclass(frozen=True)
class GroupMetric(Metric):
    """One number of the flows of one name in one window: of its place, or of the asked group."""

    of_queue: bool = False

    @property
    def places(self) -> str:
        """Return flows: the names of a report, one of which it takes."""
        return "flows"

    def measure(self, report: Mapping[str, Any], queue: str, window: str) -> float:
        """Return the value in a run's report; NaN where nothing was measured."""
        return self.value(self._entry(report, queue, window))

    def count_run(self, run: Run, queue: str, window: str) -> int:
        """Count the transfers, pages or datagrams of a run that its quantile rests on."""
        return _count(self._entry(run.report, queue, window), self.path)

    def _entry(self, report: Mapping[str, Any], queue: str, window: str) -> Any:
        group = self.place or queue
        groups = _flows(report, window)["groups"]
        return next((entry for entry in groups if entry["name"] == group), {})


@dataclass(frozen=True)
class TransportMetric(Metric):
    """One number of the flows of one transport in one window, of all groups together."""

    of_queue: bool = False
    of_udp: bool = False

    def measure(self, report: Mapping[str, Any], queue: str, window: str) -> float:
        """Calculate the value from a run's report; NaN where no flow is of this transport."""
        groups = [
            group for group in _flows(report, window)["groups"] if _is_tcp(group) != self.of_udp
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


@dataclass(frozen=True)
class CountMetric(Metric):
    """How many values of a run the quantile of another metric rests on."""

    calculate: Callable[[Run, str, str], int] = lambda run, queue, window: 0

    @classmethod
    def behind(cls, metric: Metric) -> Self:
        """Make the count behind a metric."""
        name, label = f"{metric.name}_n", f"{metric.label}, values"
        return cls(name, "", "the fewest", label=label, calculate=metric.count_run)

    def measure_run(self, run: Run, queue: str, window: str) -> float:
        """Count the values of a run."""
        return float(self.calculate(run, queue, window))


def few(counts: Iterable[tuple[Metric, str, float]]) -> str:
    """Say which quantiles rest on too few values in one seed; empty where none does.

    Each count has its metric and the name of its row, which is empty where there is one row.
    """
    least: dict[Metric, tuple[float, str]] = {}
    for metric, row, count in counts:
        if 0 < count < metric.wanted:
            least[metric] = min(least.get(metric, (math.inf, "")), (count, row))
    words = [
        f"'{metric.label}' is of {count:g} in a seed{f' ({row})' if row else ''}, and wants "
        f"{metric.wanted}"
        for metric, (count, row) in least.items()
    ]
    return f"few values: {'; '.join(words)}" if words else ""


def _is_tcp(entry: Mapping[str, Any]) -> bool:
    """Tell whether a group sends by TCP: datagrams are lost, TCP sends again."""
    return entry["lost_pkts"] is None


def _count(entry: Mapping[str, Any], path: Sequence[str]) -> int:
    """Count the values behind a shape in a report: times have their number, datagrams are those
    that came."""
    of = entry.get(path[0])
    if isinstance(of, Mapping):
        return int(of["n"])
    return 0 if of is None else int(entry["data_pkts_sent"] - (entry["lost_pkts"] or 0))


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


def _flows_metric(name: str, unit: str, path: tuple[str, ...], label: str) -> Metric:
    return Metric(name, unit, "of all flows together", path, label=label, of_queue=False)


def _transport_metric(name: str, unit: str, key: str, label: str, *, udp: bool = False) -> Metric:
    meaning = f"of all flows of {'UDP' if udp else 'TCP'} together"
    return TransportMetric(name, unit, meaning, (key,), label=label, of_udp=udp)


# The metrics of the response to a change, in this order.
STEP_METRICS = tuple(StepMetric(**vars(column)) for column in columns.STEPS if column.label)
_SETTLING, _UTILISED = STEP_METRICS[2:]

# These read more of a run than its report.
_OF_ALGORITHM = "the algorithm's own"
_OF_DUK = "of DUK's law"
_OF_LAW = "share of signals by that law's"
_OF_EPISODE = "R² of a line through the senders' windows in the longest episode"
_OF_SENSE = "mean difference of `srtt` and the delay of all recorded queues"
_OF_PROBES = "in a window of the whole run"
RUN_METRICS = tuple(
    RunMetric(name, unit, meaning, label=label, calculate=calculate)
    for name, unit, label, meaning, calculate in (
        ("probability", "", "probability", _OF_ALGORITHM, calculated.probability),
        ("prob_mean_pct", "%", "probability, mean", _OF_ALGORITHM, calculated.prob_mean_pct),
        ("cached_flows", "", "flows held, most", _OF_ALGORITHM, calculated.cached_flows),
        ("evaluations_per_s", "1/s", "evaluations", _OF_DUK, calculated.evaluations_per_s),
        (
            "evaluations_per_pkt",
            "",
            "evaluations for each packet",
            _OF_DUK,
            calculated.evaluations_per_pkt,
        ),
        ("square_law", "", "signals, of the square-root law's", _OF_LAW, calculated.square_law),
        (
            "transfers_per_s",
            "1/s",
            "transfers complete in a second",
            "of all flows together",
            calculated.transfers_per_s,
        ),
        (
            "goodput_per_flow_kbps",
            "kbit/s",
            "goodput of a flow, mean",
            "of all flows",
            calculated.goodput_per_flow_kbps,
        ),
        (
            "slowdown_r2",
            "",
            "straightness of the senders' slowdown",
            _OF_EPISODE,
            calculated.slowdown_r2,
        ),
        (
            "sense_error_ms",
            "ms",
            "error of the probes' round trip",
            _OF_SENSE,
            calculated.sense_error_ms,
        ),
        ("probes_pct", "%", "probes, of the link's bytes", _OF_PROBES, overhead.probes_pct),
        ("probes_ip_pct", "%", "probes, of its bytes of IP", _OF_PROBES, overhead.probes_ip_pct),
        ("answers_pct", "%", "answers, of the link's bytes", _OF_PROBES, overhead.answers_pct),
        (
            "law_million_per_s",
            "million/s",
            "evaluations this machine can do",
            "of a law",
            calculated.law_million_per_s,
        ),
        *(
            (
                f"handover_delay_{shape}_ms",
                "ms",
                f"handover delay, {columns.shape_label(shape)}",
                "until the packet is handed to the driver",
                calculated.handover_delay(shape),
            )
            for shape in ("mean", "sd", "iqr")
        ),
    )
)


def _quantile(share: float) -> Callable[[Any], float]:
    """Return the least value with at least this share at or below it."""

    def of(values: Any) -> float:
        import numpy as np

        return float(np.quantile(values, share, method="inverted_cdf"))

    return of


# Numbers of a distribution, by the words that names have.
_SHAPES: dict[str, Callable[[Any], float]] = {
    "mean": calculated.mean,
    "sd": lambda values: float(values.std()),
    **{f"p{percent}": _quantile(percent / 100) for percent in (5, 50, 90, 95)},
    "max": lambda values: float(values.max()),
}
SAMPLE_METRICS = tuple(
    SampleMetric(
        sample.metric(shape),
        sample.unit,
        f"{sample.meaning}: {columns.SHAPES[shape]}",
        label=f"{sample.label}, {columns.shape_label(shape)}",
        sample=sample,
        shape=shape,
    )
    for sample in SAMPLES.values()
    for shape in _SHAPES
)


_STEP_WITHIN = re.compile(rf"step_within_(?P<limit_ms>{_NUMBER})ms_s")


def _of_steps(name: str) -> RunMetric | None:
    """Make the time until the delay stays within a bound: `step_within_40ms_s`."""
    found = _STEP_WITHIN.fullmatch(name)
    if not found:
        return None
    within = calculated.step_within(float(found["limit_ms"]))
    label = f"time until delay stays within {found['limit_ms']} ms"
    return RunMetric(name, "s", "after a change", label=label, calculate=within)


# The quantities of transfers and pages, by the words that names of metrics begin with.
_TIMES = {"fct": "completion time", "page": "page load time"}
_OF_TIMES = re.compile(
    rf"(?P<of>{'|'.join(_TIMES)})_(?:p(?P<percent>{_NUMBER})_s|above_(?P<limit_s>{_NUMBER})s_pct)"
)


def _times_metric(
    quantity: str,
    name: str,
    unit: str,
    label: str,
    calculate: Callable[[Distribution], float],
    path: tuple[str, ...] = (),
) -> TimesMetric:
    meaning = "of the transfers or pages that ended in the window"
    return TimesMetric(
        name, unit, meaning, path, label=label, quantity=quantity, calculate=calculate
    )


def _of_times(name: str) -> TimesMetric | None:
    """Make a quantile of times, or their share above one: `fct_p99.9_s`, `fct_above_1000s_pct`."""
    found = _OF_TIMES.fullmatch(name)
    if not found:
        return None
    quantity, label = found["of"], _TIMES[found["of"]]
    if found["percent"] is None:
        limit_s = float(found["limit_s"])
        return _times_metric(
            quantity,
            name,
            "%",
            f"{label} above {found['limit_s']} s",
            lambda times: 100 * times.share_above(limit_s * 1e9),
        )
    percent = float(found["percent"])
    if not 0 < percent < 100:
        return None
    shape = columns.SHAPES.get(f"p{found['percent']}", f"{found['percent']}th percentile")
    return _times_metric(
        quantity,
        name,
        "s",
        f"{label}, {shape}",
        lambda times: times.quantile_ms(percent / 100) / 1e3,
    )


class _Metrics(dict[str, Metric]):
    """The metrics by name; of those with a place the name without it is a key. Those with a number
    in their name are made as they are asked for."""

    def __missing__(self, name: str) -> Metric:
        kind, place = split(name)
        metric = _placed(kind) if place else _with_number(name)
        if metric is None:
            raise KeyError(name)
        return metric.at(place, name) if place else metric

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True


def _with_number(name: str) -> Metric | None:
    return _of_times(name) or _of_steps(name)


def _placed(kind: str) -> Metric | None:
    """Find a metric that takes a place; those of all flows are also of one group."""
    metric = METRICS.get(kind) or _with_number(kind)
    return metric if metric and metric.places else OF_GROUPS.get(kind)


def split(name: str) -> tuple[str, str]:
    """Split a name into the metric and its place, which is empty where there is none."""
    kind, of, place = name.partition(_OF)
    if of:
        return kind, place
    # Names of groups and percentages may have dots too.
    words = name.split(".")
    for n in range(1, len(words)):
        place, kind = ".".join(words[:n]), ".".join(words[n:])
        if place and _placed(kind):
            return kind, place
    return name, ""


METRICS = _Metrics(
    (metric.name, metric)
    for metric in [
        *(Metric(**vars(column)) for column in columns.WINDOWS if column.label),
        VariationMetric(
            "queue_pkts_cov_pct",
            "%",
            "in the queue, over time: standard deviation, of the mean",
            ("queue_pkts",),
            label="queue length, coefficient of variation",
        ),
        *(
            _times_metric("fct", f"fct_{key}{unit and f'_{unit}'}", unit, label, of, ("fct_s", key))
            for key, unit, label, of in (
                ("mean", "s", "completion time, mean", lambda times: times.mean_ms() / 1e3),
                (
                    "p75",
                    "s",
                    "completion time, third quartile",
                    lambda times: times.quantile_ms(0.75) / 1e3,
                ),
                ("n", "", "transfers complete", lambda times: float(times.count)),
            )
        ),
        _flows_metric("goodput_mbps", "Mbit/s", ("goodput_mbps",), "goodput"),
        _transport_metric("goodput_tcp_mbps", "Mbit/s", "goodput_mbps", "goodput of TCP"),
        _transport_metric(
            "goodput_udp_mbps", "Mbit/s", "goodput_mbps", "goodput of datagrams", udp=True
        ),
        _flows_metric("jain", "", ("jain",), "Jain's index"),
        _transport_metric("jain_tcp", "", "jain", "Jain's index of TCP"),
        *RUN_METRICS,
        *SAMPLE_METRICS,
        *STEP_METRICS,
        replace(
            _SETTLING,
            name="step_settled_pct",
            unit="%",
            meaning="changes with a settling time",
            label="changes settled",
            share=True,
        ),
        replace(
            _UTILISED,
            name="step_utilised_pct",
            unit="%",
            meaning="changes after which utilisation is 90 %",
            label="changes with 90 % utilisation",
            share=True,
        ),
    ]
)


# The metrics that a group of flows has, by name.
OF_GROUPS = {column.name: GroupMetric(**vars(column)) for column in columns.GROUPS if column.label}
# The metrics in a table of groups of flows, what people ask for first, as a narrow terminal shows
# only the first ones. Each kind of traffic has some of them: delay comes before goodput, as flows
# of TCP have no delay, and a call has a goodput that nobody asks for.
GROUP_METRICS = tuple(
    OF_GROUPS[name]
    for name in (
        "page_p75_s",
        "fct_p75_s",
        "mos",
        "bitrate_mbps",
        "stalled_s",
        "rtt_p50_ms",
        "rtt_p95_ms",
        "rtt_p99_ms",
        "delay_ms",
        "delay_p99_ms",
        "lost_pct",
        "goodput_mbps",
        "jain",
        "least_share",
        "retransmitted_pkts",
        "jitter_ms",
        "delay_p50_ms",
        "delay_p95_ms",
        "lost_pkts",
        "rung",
        "switches",
        "stalls",
        "data_pkts_sent",
        "opened",
    )
)
# A single flow is equal to itself; datagrams open no connection, and none is sent again.
_OF_SEVERAL = ("jain", "least_share")
_OF_TCP = ("retransmitted_pkts", "opened")


def telling(reports: Iterable[Mapping[str, Any]], group: str, window: str) -> list[Metric]:
    """Choose the metrics of a table of a group: those that can differ for its kind of traffic."""
    entries = [
        entry
        for report in reports
        for entry in _flows(report, window)["groups"]
        if entry["name"] == group
    ]
    several = any(entry["flows"] > 1 for entry in entries)
    of_tcp = any(_is_tcp(entry) for entry in entries)
    silent = (*(() if several else _OF_SEVERAL), *(() if of_tcp else _OF_TCP))
    return [metric for metric in GROUP_METRICS if metric.name not in silent]


# The metrics in a table of runs, in this order.
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
    """Choose the metrics of a queue for a table of runs.

    If the flows have several names, metrics among equals are left out; these flows have tables of
    their own.
    """
    several = any(len(window["groups"]) > 1 for window in report["transport"])
    return [METRICS[name] for name in SUMMARY if not (several and name in _AMONG_EQUALS)]


def places_of(graph: Scenario) -> dict[str, list[str]]:
    """List the places that a written-out scenario has, by their kind."""
    flows = graph.flows
    return {
        "queues": recorded(graph.links, graph.record.queues),
        "pings": [flow.name for flow in flows if flow.app.kind == "ping"],
        "flows": [flow.name for flow in flows],
        "groups": [flow.part_of or flow.name for flow in flows],
        "nodes": nodes_of([{"from": flow.from_, "to": flow.to} for flow in flows]),
    }


def misplaced(metric: Metric, places: Mapping[str, Sequence[str]]) -> str:
    """Say why none of these places is that of the metric; empty where one is."""
    if metric.places == "nodes" and not metric.place:
        nodes = ", ".join(dict.fromkeys(places["nodes"]))
        return f"'{metric.name}' needs nodes, as in '{metric.name} of NODE'; there are {nodes}"
    names = places.get(metric.places, ())
    one_by_one = metric.places in ("queues", "flows")
    is_there = all(place in names for place in metric.queues) or (
        not one_by_one and fitting(names, metric.place)
    )
    if not metric.place or is_there:
        return ""
    near = nearest(metric.place, names)
    return f"'{metric.name}': the scenario has no such {metric.places}.{near}"


def find(name: str) -> Metric:
    """Find the metric of this name. InputError: there is none."""
    if name in METRICS:
        metric = METRICS[name]
        if metric.places == "queues" and len(metric.queues) > 1 and not metric.averages:
            said = f"metric '{metric.kind}' is of one queue; name one of '{metric.place}'"
            raise InputError(said)
        return metric
    kind, _ = split(name)
    if kind in METRICS:
        place = name.replace(kind, "", 1)
        raise InputError(f"metric '{kind}' has no place; leave out '{place}'")
    if kind in OF_GROUPS:
        raise InputError(f"metric '{kind}' is of a group of flows; name one: 'GROUP.{kind}'")
    raise InputError(f"unknown metric '{kind}'.{_meant(kind)}")


# What a name may lack: the shape, and the unit.
_LACKING = ("_mean", "")
_UNITS = ("", "_s", "_ms", "_pct", "_mbps", "_pkts")


def _meant(name: str) -> str:
    """Suggest a metric that there is, with the place of the name: of a metric whose shape or unit
    is missing that one, otherwise the nearest."""
    place, dot, kind = name.rpartition(".")
    stem, _, last = kind.rpartition("_")
    parts = [(kind, "")] + ([(stem, f"_{last}")] if f"_{last}" in _UNITS and stem else [])
    for begin, end in parts:
        for shape in _LACKING:
            for unit in (end,) if end else _UNITS:
                whole = f"{place}{dot}{begin}{shape}{unit}"
                if whole in METRICS:
                    return f" Did you mean '{whole}'?"
    known = [*METRICS, *OF_GROUPS]
    if not place or kind in METRICS:  # of the latter none has this place
        return nearest(kind, known)
    of_groups = [*OF_GROUPS, *(name for name, metric in METRICS.items() if metric.places)]
    meant = nearest(kind, of_groups)
    return meant.replace("mean '", f"mean '{place}{dot}", 1)
