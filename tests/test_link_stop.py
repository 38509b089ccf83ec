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


STOP_OF_A_CLASS = """
format = 2
name = "a class that stops for a minute"
duration = "100 s"
nodes = ["a", "b"]
[[links]]
name = "line"
from = "a"
to = "b"
end = [{ name = "tree", kind = "htb", default = "rest", classes = [
    { name = "root", rate = "10 Mbit/s" },
    { name = "stops", parent = "root", rate = "4 Mbit/s", match = [{ flows = "stops" }], \
queue = "fifo", \
schedule = [{ at = "30 s", rate = "200 bit/s" }, { at = "90 s", rate = "4 Mbit/s" }] },
    { name = "rest", parent = "root", rate = "2 Mbit/s", ceil = "10 Mbit/s", queue = "fifo" },
] }]
[[flows]]
name = "stops"
from = "a"
to = "b"
transport = "udp"
app = { kind = "cbr", rate = "6 Mbit/s", payload = "1472 B" }
[[flows]]
name = "rest"
from = "a"
to = "b"
transport = "udp"
app = { kind = "cbr", rate = "20 Mbit/s", payload = "1472 B" }
[record]
queues = ["line"]
windows = [{ name = "before", from = "5 s", to = "30 s" },
           { name = "stop", from = "31 s", to = "90 s" },
           { name = "after", from = "92 s", to = "100 s" }]
"""


def test_a_class_that_stands_for_a_minute_leaves_its_rate_to_others_and_comes_back() -> None:
    [found] = run(loads(STOP_OF_A_CLASS), seeds=1)
    rows = {row["name"]: row["windows"] for row in found.report["classes"]}
    mbps = {
        name: [w["sent_bytes"] * 8e-6 / (w["to_s"] - w["from_s"]) for w in rows[f"line/{name}"]]
        for name in ("stops", "rest")
    }
    assert mbps["stops"] == pytest.approx([4, 0, 4], rel=0.01, abs=0.001)
    assert mbps["rest"] == pytest.approx([6, 10, 6], rel=0.01)


SHORT_STOP = STOP_OF_A_CLASS.replace('at = "90 s"', 'at = "30100 ms"')


def test_a_class_that_is_in_debt_pays_it_before_it_has_its_later_rate() -> None:
    """As in Linux, where tokens are times: a packet of the slow rate costs a minute."""
    [found] = run(loads(SHORT_STOP), seeds=1)
    [row] = [row for row in found.report["classes"] if row["name"] == "line/stops"]
    assert [w["sent_pkts"] > 0 for w in row["windows"]] == [True, False, True]
