# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Every statistic of `tc -s -j qdisc show` as metrics of Prometheus.

The kernel's own counters of drops, overlimits and requeues have 32 bits, and begin anew after 2^32.
Prometheus takes that for a restart. Those of our queue have 64.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    UnknownMetricFamily,
)
from prometheus_client.registry import Collector

from sojourn.linux.device import QDISCS, Reading

_LABELS = ("device", "kind", "handle", "parent")
# Of every queue: tc's key, the metric, and its sentence.
_COUNTERS = (
    ("bytes", "sent_bytes", "Bytes that left the queue."),
    ("packets", "sent_packets", "Packets that left the queue, segments counted one by one."),
    ("drops", "drops", "Packets dropped, a counter of 32 bits."),
    ("overlimits", "overlimits", "How often the queue had to wait for its rate, 32 bits."),
    ("requeues", "requeues", "Packets that the driver gave back, 32 bits."),
)
_GAUGES = (
    ("backlog", "held_bytes", "Bytes in the queue."),
    ("qlen", "held_packets", "Packets in the queue."),
)
# Of a queue of the kind sojourn: the key, the metric, its label, and its sentence.
_OF_SOJOURN = (
    ("counts", "counts", "count", "Packets and bytes in and out, and of drops; 64 bits."),
    ("drops", "drops_by_reason", "reason", "Packets dropped, by reason; 64 bits."),
    ("marks", "marks", "reason", "Packets marked, by reason; 64 bits."),
    ("bad", "broken_rules", "rule", "Verdicts of the algorithm that broke a rule; 64 bits."),
)
_PLAIN_KEYS = {key for key, *_ in (*_COUNTERS, *_GAUGES)} | {"refcnt"}


class _Queues(Collector):
    """The families of all queues, one after the other."""

    def __init__(self, qdiscs: Sequence[Mapping[str, Any]]) -> None:
        self._qdiscs = qdiscs

    def collect(self) -> Iterator[Metric]:
        """Yield each family with a sample for each queue that has it."""
        for key, name, sentence in _COUNTERS:
            yield self._family(
                CounterMetricFamily(f"sojourn_qdisc_{name}", sentence, labels=_LABELS), key
            )
        for key, name, sentence in _GAUGES:
            yield self._family(
                GaugeMetricFamily(f"sojourn_qdisc_{name}", sentence, labels=_LABELS), key
            )
        yield self._named("statistic", "name", "Any other number, in the unit of tc -j.", _others)
        for key, name, label, sentence in _OF_SOJOURN:
            family = CounterMetricFamily(
                f"sojourn_queue_{name}", sentence, labels=(*_LABELS, label)
            )
            for qdisc in self._qdiscs:
                for what, value in _numbers(_table(_table(qdisc, "sojourn"), key)):
                    family.add_metric([*_labels(qdisc), what], value)
            yield family
        yield self._named(
            "queue_statistic", "name", "Of probes, flows, algorithm and memory.", _of_queue
        )

    def _family(self, family: Metric, key: str) -> Metric:
        for qdisc in self._qdiscs:
            if isinstance(qdisc.get(key), int):
                family.add_metric(_labels(qdisc), qdisc[key])  # type: ignore[attr-defined]
        return family

    def _named(
        self,
        name: str,
        label: str,
        sentence: str,
        numbers: Callable[[Mapping[str, Any]], Iterator[tuple[str, float]]],
    ) -> Metric:
        family = UnknownMetricFamily(f"sojourn_{name}", sentence, labels=(*_LABELS, label))
        for qdisc in self._qdiscs:
            for what, value in numbers(qdisc):
                family.add_metric([*_labels(qdisc), what], value)
        return family


def _labels(qdisc: Mapping[str, Any]) -> list[str]:
    kind = str(qdisc["kind"])
    if kind == "sojourn":
        kind = f"sojourn {_table(qdisc, 'options').get('algorithm', '')}".rstrip()
    # Prometheus reads UTF-8; other bytes of a device's name are written as \xff.
    device = os.fsencode(str(qdisc.get("dev", ""))).decode(errors="backslashreplace")
    return [device, kind, str(qdisc["handle"]), str(qdisc.get("parent", "root"))]


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Give the table of this name within another; an empty one where there is none."""
    found = table.get(key)
    return found if isinstance(found, Mapping) else {}


def _numbers(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers at any depth, by the path of their keys."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{before}{key}_")
        elif isinstance(value, list):
            entries = {str(n): entry for n, entry in enumerate(value)}
            yield from _numbers(entries, f"{before}{key}_")
        elif isinstance(value, int | float):
            yield f"{before}{key}", float(value)


def _others(qdisc: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the numbers that only this kind of queue has."""
    left_out = {*_PLAIN_KEYS, "options", "sojourn", "root"}
    yield from _numbers({key: value for key, value in qdisc.items() if key not in left_out})
    # HTB counts packets without a class among its options.
    direct = _table(qdisc, "options").get("direct_packets_stat")
    if isinstance(direct, int):
        yield "direct_packets", float(direct)


def _of_queue(qdisc: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    counted = {key for key, *_ in _OF_SOJOURN}
    own = _table(qdisc, "sojourn")
    yield from _numbers({key: value for key, value in own.items() if key not in counted})


def registry(reading: Reading) -> CollectorRegistry:
    """Hold the metrics of all queues of a reading, for `text`."""
    made = CollectorRegistry()
    made.register(_Queues([q for q in reading.table(QDISCS) if q.keys() >= {"kind", "handle"}]))
    return made


def text(reading: Reading) -> str:
    """Write the metrics in the text form of Prometheus."""
    return generate_latest(registry(reading)).decode()
