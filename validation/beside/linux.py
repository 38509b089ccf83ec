# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""linux.py: our qdisc and the kernel's own in the same guest, seed by seed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.runs.run import run
from sojourn.scenario import loads

HERE = Path(__file__).resolve().parent
SCENARIO = HERE / "mixed.toml"
SEEDS = 8
# Of the datagrams, as the scenario has it.
PAYLOAD = "1000 B"
# Of the bottleneck's window.
QUEUE = {
    "delay_ms": ("queue_delay_ms", "mean"),
    "delay_p95_ms": ("queue_delay_ms", "p95"),
    "utilisation_pct": ("utilisation_pct",),
    "drop_pct": ("drop_pct",),
    "mark_pct": ("mark_pct",),
}
# Goodput of the flows of a name.
FLOWS = {"plain_mbps": "plain", "marked_mbps": "marked", "deaf_mbps": "deaf"}

# A metric's values, a seed after the other.
Values = dict[str, list[float]]


@dataclass(frozen=True)
class Trial:
    """A pair with one thing changed in the kernel's queue, in ours, or in the traffic of both."""

    changed: str
    kernel: str
    ours: str
    payload: str = PAYLOAD

    @property
    def keys(self) -> tuple[str, str]:
        """Of its figures."""
        return key(self.kernel, self.payload), key(self.ours, self.payload)


def key(spec: str, payload: str) -> str:
    """Of figures."""
    return spec if payload == PAYLOAD else f"{spec}, datagrams of {payload}"


@dataclass(frozen=True)
class Pair:
    """The kernel's queue, ours, and trials."""

    name: str
    kernel: str
    ours: str
    trials: tuple[Trial, ...]
    note: str

    @property
    def specs(self) -> dict[str, list[str]]:
        """All that must be run, each once, by the datagrams' size."""
        found = {PAYLOAD: [self.kernel, self.ours]}
        for trial in self.trials:
            found.setdefault(trial.payload, []).extend((trial.kernel, trial.ours))
        return {payload: list(dict.fromkeys(specs)) for payload, specs in found.items()}


def pairs() -> Iterator[Pair]:
    """As linux.toml has them."""
    for entry in tomllib.loads((HERE / "linux.toml").read_text())["pair"]:
        name, kernel, ours = entry["name"], entry["kernel"], entry["ours"]
        both = {"kernel": kernel, "ours": ours}
        trials = tuple(Trial(**(both | trial)) for trial in entry.get("trial", ()))
        yield Pair(name, kernel, ours, trials, entry.get("note", ""))


def measure(specs: Mapping[str, Sequence[str]]) -> dict[str, Values]:
    """Run them in the guest."""
    found: dict[str, Values] = {}
    for payload, chosen in specs.items():
        scenario = loads(SCENARIO.read_text().replace(PAYLOAD, payload))
        for done in run(scenario, aqms=chosen, hosts=["linux"], seeds=SEEDS):
            values = found.setdefault(key(str(done.labels["aqm"]), payload), {})
            for name, value in figures(done.report):
                values.setdefault(name, []).append(value)
    return found


def figures(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Of one run."""
    (window,) = report["queues"][0]["windows"]
    for name, keys in QUEUE.items():
        value: Any = window
        for key in keys:
            value = value[key]
        yield name, round(value, 4)
    goodputs = {group["name"]: group["goodput_mbps"] for group in report["transport"][0]["groups"]}
    for name, group in FLOWS.items():
        yield name, round(goodputs[group], 4)
