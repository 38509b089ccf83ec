# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The queue's length in packets: the metrics against what each packet's times say."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sojourn
from sojourn.result.metrics import METRICS
from sojourn.scenario import loads

# Packets of 1000 bytes, 8 ms each: what comes at once is not what leaves.
BURSTS = """
format = 2
name = "bursts"
duration = "4 s"

[dumbbell]
rate = "1 Mbit/s"
rtt = "20 ms"
header = "0 B"
aqm = { algorithm = "fifo", limit = 20 }

[[dumbbell.flows]]
name = "bursts"
count = 3
transport = "udp"
app = { kind = "onoff", rate = "2 Mbit/s", payload = "972 B", on = "100 ms", off = "300 ms" }

[record]
events = true
windows = [{ name = "late", from = "1 s", to = "4 s" }]
"""


def by_hand(events: Any, from_ns: int, to_ns: int) -> tuple[float, float]:
    """Mean and deviation over time of how many packets were there, from when each came and left."""
    came = np.array(events["enq_ns"].to_pylist(), float)
    left = np.array(events["at_ns"].to_pylist(), float)
    # Who was dropped on arrival came and left at once, and moves nothing.
    times = np.concatenate([came, left, [from_ns, to_ns]])
    moves = np.concatenate([np.ones(len(came)), -np.ones(len(left)), [0, 0]])
    order = np.argsort(times, kind="stable")
    times, length = times[order], np.cumsum(moves[order])
    spans = np.diff(times) * ((times[:-1] >= from_ns) & (times[:-1] < to_ns))
    mean = (spans * length[:-1]).sum() / spans.sum()
    square = (spans * length[:-1] ** 2).sum() / spans.sum()
    return mean, math.sqrt(square - mean**2)


def test_the_length_of_a_queue_is_in_packets_and_over_time(tmp_path: Path) -> None:
    result = sojourn.run(loads(BURSTS), seeds=1, workers=1, out=tmp_path / "bursts")
    (run,) = result
    mean, sd = by_hand(run.events(), 10**9, 4 * 10**9)
    assert 1 < mean < 20 and sd > 1
    found = {
        name: METRICS[f"queue_pkts_{name}"].measure(run.report, "bottleneck", "late")
        for name in ("mean", "sd", "cov_pct")
    }
    assert math.isclose(found["mean"], mean, rel_tol=1e-9)
    assert math.isclose(found["sd"], sd, rel_tol=1e-9)
    assert math.isclose(found["cov_pct"], 100 * sd / mean, rel_tol=1e-9)
    units = [METRICS[f"queue_pkts_{name}"].unit for name in found]
    assert units == ["packets", "packets", "%"]


@pytest.mark.parametrize("backlog", [{"mean": 0.0, "sd": 0.0}, {}])
def test_a_queue_that_was_always_empty_has_no_variation(backlog: dict[str, float]) -> None:
    window = {"name": "late", "queue_pkts": backlog}
    report = {"queues": [{"name": "bottleneck", "windows": [window]}]}
    assert math.isnan(METRICS["queue_pkts_cov_pct"].measure(report, "bottleneck", "late"))
