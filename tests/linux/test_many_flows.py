# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Thousands of flows in a guest: there is memory for all of their sockets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sojourn import _native
from sojourn.linux.run import run
from sojourn.scenario import loads

# The first case may have to build a kernel.
pytestmark = [pytest.mark.timeout(1800), pytest.mark.usefixtures("kernel")]

MANY = """
format = 2
name = "two thousand flows"
duration = "4 s"

[dumbbell]
rate = "100 Mbit/s"
rtt = "50 ms"
aqm = "codel"

[[dumbbell.flows]]
count = 2000
app = APP
start = { distribution = "uniform", from = "0 s", to = "1 s" }
"""
BULK = '"bulk"'
PACED = '{ kind = "paced", rate = "20 kbit/s", payload = "500 B" }'


def test_two_thousand_flows_have_round_trips_of_their_own() -> None:
    own = 'rtt = { distribution = "uniform", from = "50 ms", to = "200 ms" }\napp = '
    text = json.dumps(loads(MANY.replace("app = APP", own + PACED)).to_engine())
    found, done = run(text, 1, lambda share: True), _native.run(text, 1)
    assert found
    assert done
    here, there = (
        [flow["srtt_ms"] for flow in report["flows"]] for report in (found[0], json.loads(done[0]))
    )
    assert max(there) - min(there) > 140
    # An acknowledgement may be delayed by 40 ms on one host alone.
    assert all(-2 < more < 42 for more in np.subtract(here, there))
    assert np.corrcoef(here, there)[0, 1] > 0.95


@pytest.mark.parametrize("app", [BULK, PACED])
def test_two_thousand_flows_run_as_in_the_simulator(app: str) -> None:
    text = json.dumps(loads(MANY.replace("APP", app)).to_engine())
    found, done = run(text, 1, lambda share: True), _native.run(text, 1)
    assert found
    assert done
    here, there = found[0], json.loads(done[0])
    assert len(here["flows"]) == 2000
    # Under pressure for memory receivers would drop a tenth of the bytes that had arrived.
    assert here["goodput_mbps"] == pytest.approx(there["goodput_mbps"], rel=0.05)
    # A SYN that is lost is sent again after a second, and perhaps lost again.
    started = [sum(flow["data_pkts_sent"] > 0 for flow in host["flows"]) for host in (here, there)]
    assert started[0] == pytest.approx(started[1], rel=0.05)
    assert started[0] > 1300
