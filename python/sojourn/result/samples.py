# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Quantities of which a window has many values: round trips of pings, and a node's bandwidth in
each second.

Metrics are shapes of their distributions (sojourn.result.metrics), and figures draw these
(sojourn.papers.cdf_figure). A place is the name of groups or nodes, or a pattern such as `user *`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.result.result import Run

Span = Mapping[str, Any]  # a window in a report

# The length of a step of bandwidth.
_STEP_S = 1.0


@dataclass(frozen=True)
class Sample:
    """A quantity: its unit and words, the kind of its places, and its values in a window."""

    key: str  # the name and the unit of its metrics
    unit: str
    label: str
    meaning: str
    places: str  # pings, nodes
    read: Callable[[Run, str, Span], Any]

    @property
    def name(self) -> str:
        """Return the name without the unit."""
        return self.key.rpartition("_")[0]

    def metric(self, shape: str) -> str:
        """Name the metric of a shape: rtt_p95_ms."""
        return f"{self.name}_{shape}_{self.key.rpartition('_')[2]}"


def fitting(names: Iterable[str], place: str) -> list[str]:
    """List the names that a place means: the one of this name, or else all that fit the pattern."""
    known = list(names)
    return [place] if place in known else [name for name in known if fnmatchcase(name, place)]


def _round_trips_ms(run: Run, place: str, span: Span) -> Any:
    """Read the round trips of the pings sent in the window; those that were lost have none."""
    import numpy as np

    echoes = run.report.get("echoes") or ()
    meant = fitting({entry["name"] for entry in echoes}, place or "*")
    return np.array(
        [
            rtt_ms
            for entry in echoes
            if entry["name"] in meant
            for sent_s, rtt_ms in zip(entry["sent_s"], entry["rtt_ms"], strict=True)
            if rtt_ms is not None and span["from_s"] <= sent_s < span["to_s"]
        ],
        float,
    )


def _bandwidth_mbps(run: Run, place: str, span: Span) -> Any:
    """Add the goodput of all groups that begin or end at a node, in each step of a second. The
    steps of all nodes that the place means are together."""
    import numpy as np

    table = run.group_series()
    if table is None:
        return np.empty(0)
    flows = run.entry.scenario()["flows"]
    at = table["t_s"].to_numpy()
    # A step of the series has its end as its time, and steps of a second have whole ones.
    first, last = np.ceil(span["from_s"]), np.floor(span["to_s"])
    steps = np.ceil(at - 1e-9) - 1
    inside = (steps >= first) & (steps < last)
    names = np.array(table["group"].to_pylist(), str)
    goodput = table["goodput_mbps"].to_numpy()
    length_s = float(np.min(np.diff(np.unique(at)), initial=np.inf))
    if length_s > _STEP_S + 1e-9 or last <= first:
        return np.empty(0)
    values = []
    for node in fitting(dict.fromkeys(nodes_of(flows)), place):
        own = {flow["name"] for flow in flows if node in (flow["from"], flow["to"])}
        chosen = inside & np.isin(names, list(own))
        bins = (steps[chosen] - first).astype(int)
        total = np.bincount(bins, weights=goodput[chosen], minlength=int(last - first))
        values.append(total * length_s / _STEP_S)
    return np.concatenate(values) if values else np.empty(0)


def nodes_of(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the ends of flows."""
    return [flow[end] for flow in flows for end in ("from", "to")]


SAMPLES = {
    sample.name: sample
    for sample in (
        Sample(
            "rtt_ms", "ms", "round trip", "of pings sent in the window", "pings", _round_trips_ms
        ),
        Sample(
            "bandwidth_mbps",
            "Mbit/s",
            "bandwidth in a second",
            "goodput of the groups that begin or end at a node, in each second",
            "nodes",
            _bandwidth_mbps,
        ),
    )
}
