# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The overhead of an algorithm's probes, as shares of the bytes that a link sent.

Counters of probes are of the whole run. So the scenario must record a window of the whole run too,
or there is no share. A queue's own probes are in none of its numbers; answers are in those of the
links on their way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sojourn.scenario.ends import link_of, queue_rates

if TYPE_CHECKING:
    from sojourn.result.result import Run

_NONE = float("nan")
# 20 bytes of IP and 8 of a time stamp, and the Ethernet header before them.
_PROBE_IP_BYTES, _PROBE_BYTES = 28, 42


@dataclass(frozen=True)
class _Line:
    """The rate of a queue, and the bytes of a packet on its wire beside those of IP."""

    rates: Sequence[tuple[int, int]]  # each with the time in ns from which it holds
    header_bytes: float  # NaN: they depend on the packet

    def bits(self, end_s: float) -> float:
        """Integrate the rate from the begin of the run on."""
        begins_s = [min(at_ns / 1e9, end_s) for at_ns, _ in self.rates]
        spans_s = (end - begin for begin, end in pairwise([*begins_s, end_s]))
        return sum(span_s * rate for span_s, (_, rate) in zip(spans_s, self.rates, strict=True))


def probes_pct(run: Run, queue: str, _span: Mapping[str, Any]) -> float:
    """Calculate the share of a queue's own probes in the bytes that its link sent."""
    probes, others = _probes(run, queue, "left"), _sent_bytes(run, queue)
    return _share_pct(probes * _PROBE_BYTES, others)


def probes_ip_pct(run: Run, queue: str, _span: Mapping[str, Any]) -> float:
    """Calculate that share in bytes of IP."""
    probes, others = _probes(run, queue, "left"), _sent_bytes(run, queue, is_ip=True)
    return _share_pct(probes * _PROBE_IP_BYTES, others)


def answers_pct(run: Run, queue: str, _span: Mapping[str, Any]) -> float:
    """Calculate the share of the answers to all probes of the run in the bytes that a link sent.
    All answers are taken to pass it."""
    asked = [entry["name"] for entry in run.report["queues"] if entry.get("probes")]
    answers = sum(_probes(run, name, "answered") for name in asked) * _PROBE_BYTES
    return _share_pct(answers, _sent_bytes(run, queue) - answers)


def _share_pct(part: float, others: float) -> float:
    return 100 * part / (part + others) if part + others > 0 else _NONE


def _probes(run: Run, queue: str, counter: str) -> float:
    for entry in run.report["queues"]:
        if entry["name"] == queue and entry.get("probes"):
            return float(entry["probes"][f"{counter}_pkts"])
    return 0.0


def _sent_bytes(run: Run, queue: str, *, is_ip: bool = False) -> float:
    """Calculate the bytes of the packets that left a queue in the whole run, without its probes."""
    scenario = run.entry.scenario()
    duration_s = scenario["duration"] / 1e9
    line = _line(scenario, queue)
    for entry in run.report["queues"]:
        for window in entry["windows"] if entry["name"] == queue and line else ():
            if line and window["from_s"] == 0 and window["to_s"] == duration_s:
                sent: float = (window["utilisation_pct"] or 0) / 100 * line.bits(duration_s) / 8
                return sent - is_ip * line.header_bytes * float(window["departed_pkts"])
    return _NONE


def _line(scenario: Mapping[str, Any], queue: str) -> _Line | None:
    """Find the rate that a queue's utilisation is of; None where it is that of no constant."""
    link = link_of(scenario["links"], queue)
    rates = queue_rates(link, queue, scenario.get("media", ()))
    if not rates or link.get("trace"):
        return None
    is_plain = not link["mpu"] and link["linklayer"] == "ethernet"
    return _Line(rates, link["header"] if is_plain else _NONE)
