# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""figures.py: what is compared of a window, how near it should be, and how near it is.

Linux's own spread is its mean ± 3 standard deviations over the seeds. A figure that misses its aim
may lie inside the spread; where the spread is wider than three times the aim, that says nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Verdict(IntEnum):
    """Of one figure, or the worst of several."""

    AIM = 0
    SPREAD = 1
    UNDECIDABLE = 2
    OUTSIDE = 3


@dataclass(frozen=True)
class Figure:
    """A number of a window. Aim: how far the engine may be from Linux's mean; none: it is shown."""

    key: str
    title: str
    of: Callable[[Mapping[str, Any]], float]
    aim: Callable[[float], float] | None = None


def loss_pct(window: Mapping[str, Any]) -> float:
    return 100 * float(window["dropped_pkts"]) / float(max(window["arrived_pkts"], 1))


def least_share(window: Mapping[str, Any]) -> float:
    """The least flow's goodput over the fair share; where nothing arrived, all have the same."""
    share = window["least_share"]
    return 1.0 if share is None else float(share)


# The aims. Nothing widens them; what lies outside is listed.
AIMED = (
    Figure("utilisation_pct", "utilisation %", lambda w: w["utilisation_pct"], lambda _: 2.0),
    Figure(
        "mean_ms",
        "mean delay ms",
        lambda w: w["queue_delay_ms"]["mean"],
        lambda linux: max(0.1 * linux, 1.0),
    ),
    Figure("loss_pct", "loss %", loss_pct, lambda linux: 0.2 * linux),
)
FAIR = (
    Figure("jain", "Jain's index", lambda w: w["jain"], lambda _: 0.03),
    Figure("least_share", "least flow / fair share", least_share, lambda _: 0.1),
)
SHOWN = (
    Figure("p95_ms", "p95 delay ms", lambda w: w["queue_delay_ms"]["p95"]),
    Figure("retransmitted_pkts", "retransmissions", lambda w: w["retransmitted_pkts"]),
    Figure("timeouts", "timeouts", lambda w: w["timeouts"]),
)


def spread(values: Sequence[float]) -> float:
    """Three standard deviations; 0 for a single value."""
    return 3 * statistics.stdev(values) if len(values) > 1 else 0.0


def judge(figure: Figure, linux: Sequence[float], engine: Sequence[float]) -> Verdict:
    """How near the engine's mean is to Linux's."""
    assert figure.aim is not None
    mean = statistics.fmean(linux)
    apart, aim, wide = abs(statistics.fmean(engine) - mean), figure.aim(mean), spread(linux)
    if apart <= aim:
        return Verdict.AIM
    if apart > wide:
        return Verdict.OUTSIDE
    return Verdict.UNDECIDABLE if wide > 3 * aim else Verdict.SPREAD
