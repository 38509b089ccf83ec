# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The same network in the packet engine; its queue is compared with the model's.

Flows are NewReno with an acknowledgement for each packet, as in the model; signals are marks. A
packet has the size that the link counts: an IP packet without a header of the link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.core.errors import InputError
from sojourn.core.units import Duration, Rate, Size
from sojourn.theory.network import Network
from sojourn.theory.noise import peak_hz
from sojourn.theory.rows import Chosen

if TYPE_CHECKING:
    from sojourn.result.result import Result, Run

# The headers of IP and TCP, without timestamps.
_HEADERS_BYTES = 40
_LEAST_DATA_BYTES = 88
# Steps of the series in a round trip.
_STEPS = 20
_LEAST_STEP_S, _MOST_STEP_S = 0.001, 0.1
# The first part of a run: slow start, and the law's way to its equilibrium.
SETTLING = 1 / 3
_BOTTLENECK = "bottleneck"


@dataclass(frozen=True)
class Simulated:
    """The queue of an algorithm, over time and by frequency."""

    name: str
    time_s: Any  # of the first seed
    queue_pkts: Any
    mean_pkts: float  # over all seeds, after settling
    deviation_pkts: float
    frequency_hz: Any
    density_pkts2_per_hz: Any  # mean over the seeds
    peak_hz: float  # where the density times the frequency is largest
    signal: float
    utilisation_pct: float
    drop_pct: float
    seeds: int
    settling_s: float

    def to_json(self) -> dict[str, float | int]:
        """Return the keys of `sojourn stability --json`."""
        return {
            "queue_pkts": self.mean_pkts,
            "queue_sd_pkts": self.deviation_pkts,
            "peak_hz": self.peak_hz,
            "signal": self.signal,
            "utilisation_pct": self.utilisation_pct,
            "drop_pct": self.drop_pct,
            "seeds": self.seeds,
        }


def scenario(network: Network, duration_s: float) -> str:
    """Write the network as a scenario file."""
    step_s = min(max(network.rtt_s / _STEPS, _LEAST_STEP_S), _MOST_STEP_S)
    payload = network.packet_bytes - _HEADERS_BYTES
    rate = Rate(round(network.capacity_pkts_s * network.packet_bytes * 8))
    settled_s = duration_s * SETTLING
    return f"""\
format = 2
name = "stability"
duration = "{_time(duration_s)}"

[dumbbell]
rate = "{rate}"
rtt = "{_time(network.rtt_s)}"
header = "{Size(0)}"

[[dumbbell.flows]]
name = "flows"
count = {int(network.flows)}
start_spread = "{_time(min(5.0, duration_s / 10))}"

[dumbbell.flows.transport]
kind = "tcp"
tcp = "ns2_newreno"
ecn = true
options = {{ mss_bytes = {payload} }}

[record]
series = "{_time(step_s)}"
windows = [{{ name = "settled", from = "{_time(settled_s)}", to = "{_time(duration_s)}" }}]
"""


def _time(seconds: float) -> str:
    return str(Duration(max(round(seconds * 1e6), 1) * 1000))


def simulate(
    chosen: Sequence[Chosen],
    network: Network,
    duration_s: float,
    seeds: int,
    workers: int | None = None,
) -> tuple[list[Simulated], Result]:
    """Run each algorithm in the packet engine, and summarise its queue.

    InputError: the packet is too small, or the duration too short.
    """
    from sojourn.runs.run import run
    from sojourn.scenario import loads

    least = _HEADERS_BYTES + _LEAST_DATA_BYTES
    if network.packet_bytes < least:
        raise InputError(
            f"--packet '{network.packet_bytes} B': --simulate takes {least} B and more, "
            f"{_HEADERS_BYTES} of headers and {_LEAST_DATA_BYTES} of data"
        )
    if duration_s < 30 * network.rtt_s:
        raise InputError(
            f"--duration {duration_s:g} s: too short to see the queue swing; at least 30 round "
            f"trips, {_time(30 * network.rtt_s)}"
        )
    result = run(
        loads(scenario(network, duration_s)),
        aqms=[algorithm.spec for algorithm in chosen],
        seeds=seeds,
        workers=workers,
    )
    by_label: dict[str, list[Run]] = {}
    for outcome in result:
        by_label.setdefault(str(outcome.labels["aqm"]), []).append(outcome)
    names = [algorithm.label for algorithm in chosen]
    return [
        _simulated(name, runs, duration_s * SETTLING)
        for name, runs in zip(names, by_label.values(), strict=True)
    ], result


def _simulated(name: str, runs: Sequence[Run], settled_s: float) -> Simulated:
    from scipy.signal import welch

    series = [_queue(run) for run in runs]
    time, queue = series[0]
    step_s = float(time[1] - time[0])
    settled = [values[times > settled_s] for times, values in series]
    # Pieces long enough for the slowest swing, and enough of them for a mean.
    piece = max(min(len(settled[0]) // 4, 4096), 8)
    spectra = [welch(values, 1 / step_s, nperseg=piece) for values in settled]
    frequency = spectra[0][0][1:]
    density = np.mean([spectrum[1][1:] for spectrum in spectra], axis=0)
    window = [_window(run) for run in runs]
    return Simulated(
        name,
        time,
        queue,
        float(np.mean([w["queue_pkts"]["mean"] for w in window])),
        math.sqrt(float(np.mean([w["queue_pkts"]["sd"] ** 2 for w in window]))),
        frequency,
        density,
        peak_hz(frequency, density),
        float(np.mean([w["mark_pct"] + w["drop_pct"] for w in window])) / 100,
        float(np.mean([w["utilisation_pct"] for w in window])),
        float(np.mean([w["drop_pct"] for w in window])),
        len(runs),
        settled_s,
    )


def _queue(run: Run) -> tuple[Any, Any]:
    table = run.series()
    mine = np.array(table["queue"].to_pylist(), str) == _BOTTLENECK
    return table["t_s"].to_numpy()[mine], table["queue_pkts"].to_numpy()[mine]


def _window(run: Run) -> dict[str, Any]:
    (queue,) = (q for q in run.report["queues"] if q["name"] == _BOTTLENECK)
    window: dict[str, Any] = queue["windows"][0]
    return window
