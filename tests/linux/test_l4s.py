# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""DCTCP with ECT(1) and CUBIC through DualPI2, on both hosts: each has its queue."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from sojourn import _native
from sojourn.linux.run import run
from sojourn.scenario import loads

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)

NOT_ECT, ECT1, ECT0, CE = range(4)
FROM_NS, TO_NS = 4 * 10**9, 12 * 10**9
SCENARIO = """
format = 2
name = "a scalable flow and a classic one"
duration = "12 s"

[dumbbell]
rate = "40 Mbit/s"
rtt = "10 ms"
aqm = "dualpi2"

[[dumbbell.flows]]
name = "scalable"
transport = { kind = "tcp", cc = "dctcp", ecn = ECN }

[[dumbbell.flows]]
name = "classic"
transport = { kind = "tcp", cc = "cubic" }

[record]
events = true
"""


def packets(host: str, ecn: str) -> dict[str, NDArray[Any]]:
    """Those of the bottleneck that were sent, column by column."""
    text = json.dumps(loads(SCENARIO.replace("ECN", ecn)).to_engine())
    found = run(text, 1, lambda share: True) if host == "linux" else _native.run(text, 1)
    assert found
    report, tables = found
    [queue] = (json.loads(report) if isinstance(report, str) else report)["queues"]
    assert queue["windows"][0]["utilisation_pct"] > 90
    table = pq.read_table(io.BytesIO(tables["events.parquet"]))
    columns = {name: table[name].to_numpy() for name in ("at_ns", "enq_ns", "flow", "ecn", "why")}
    kept = (columns["why"] == 0) & (columns["at_ns"] >= FROM_NS) & (columns["at_ns"] < TO_NS)
    return {name: column[kept] for name, column in columns.items()}


def delays_ms(of: dict[str, NDArray[Any]]) -> dict[int, float]:
    """Mean delay of each flow, by the smallest ECN field that its packets left with."""
    flows = [of["flow"] == flow for flow in np.unique(of["flow"])]
    waited = (of["at_ns"] - of["enq_ns"]).astype(float) / 1e6
    return {int(of["ecn"][flow].min()): float(waited[flow].mean()) for flow in flows}


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("host", ["sim", "linux"])
def test_a_flow_of_ect1_has_the_short_queue_and_cubic_the_long_one(host: str) -> None:
    seen = packets(host, '"ect1"')
    assert set(seen["ecn"].tolist()) == {NOT_ECT, ECT1, CE}
    delays = delays_ms(seen)
    assert delays[ECT1] < 1
    assert delays[NOT_ECT] == pytest.approx(15, abs=3)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("host", ["sim", "linux"])
def test_without_it_dctcp_is_classic_traffic(host: str) -> None:
    seen = packets(host, "true")
    assert set(seen["ecn"].tolist()) == {NOT_ECT, ECT0, CE}
    assert delays_ms(seen)[ECT0] > 5
