# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A link that stands for a minute and resumes: CoDel comes back to its working point."""

from __future__ import annotations

import pytest
from sojourn.runs.run import run
from sojourn.scenario import loads

# At 200 bit/s a packet takes a minute: the link stands. Datagrams go on arriving.
STOP = """
format = 2
name = "a link that stops for a minute"
duration = "140 s"
[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"
schedule = [{{ at = "30 s", rate = "200 bit/s" }}, {{ at = "90 s", rate = "10 Mbit/s" }}]
aqm = {{ algorithm = "codel", ecn = {ecn}, limit = 5000 }}
[[dumbbell.flows]]
name = "bulk"
count = 10
transport = {{ kind = "tcp", ecn = {ecn} }}
[[dumbbell.flows]]
name = "datagrams"
app = {{ kind = "cbr", rate = "2 Mbit/s" }}
transport = "udp"
[record]
windows = [{{ name = "before", from = "5 s", to = "30 s" }},
           {{ name = "after", from = "110 s", to = "140 s" }}]
"""


@pytest.mark.parametrize("ecn", [False, True])
def test_behind_a_stop_codel_is_as_before_it(ecn: bool) -> None:
    text = STOP.format(ecn=str(ecn).lower())
    [found] = run(loads(text), seeds=1)
    before, after = found.report["queues"][0]["windows"]
    assert after["utilisation_pct"] > 98
    for key in ("dropped_pkts", "marked_pkts"):
        shares = [window[key] / window["arrived_pkts"] for window in (before, after)]
        assert shares[1] == pytest.approx(shares[0], rel=0.25, abs=0.002), key
    means = [window["queue_delay_ms"]["mean"] for window in (before, after)]
    assert means[1] == pytest.approx(means[0], rel=0.25)
