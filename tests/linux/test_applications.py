# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Applications that decide as they go, on both hosts: a stream's viewer and a video call."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from sojourn import _native
from sojourn.linux.run import run
from sojourn.scenario import loads

# The first case may have to build a kernel.
pytestmark = [pytest.mark.timeout(1800), pytest.mark.usefixtures("kernel")]

Groups = dict[str, dict[str, Any]]


def on_linux(text: str) -> list[Groups]:
    """Give the groups by name, of each window."""
    found = run(json.dumps(loads(text).to_engine("linux")), 1, lambda share: True)
    assert found
    return by_name(found[0])


def on_both_hosts(text: str) -> list[list[Groups]]:
    """Give the groups by name, of each window, on Linux and in the simulator."""
    done = _native.run(json.dumps(loads(text).to_engine()), 1)
    assert done
    return [on_linux(text), by_name(json.loads(done[0]))]


def by_name(report: dict[str, Any]) -> list[Groups]:
    return [{group["name"]: group for group in window["groups"]} for window in report["transport"]]


STREAM = """
format = 2
name = "a stream on a link that fails it for a while"
duration = "100 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "40 ms"
aqm = "codel"
schedule = [{ at = "30 s", rate = "500 kbit/s" }, { at = "70 s", rate = "3 Mbit/s" }]

[[dumbbell.flows]]
name = "stream"
app.kind = "video"
app.ladder = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s"]
app.segment = "1 s"
app.buffer = "20 s"

[[dumbbell.flows]]
name = "stopped"
app = { kind = "video", ladder = ["300 kbit/s"], segment = "1 s", buffer = "5 s" }
stop = "20 s"

[record]
windows = [
    { name = "fast", from = "0 s", to = "30 s" },
    { name = "slow", from = "50 s", to = "70 s" },
    { name = "middle", from = "75 s", to = "100 s" },
]
"""


def test_a_viewer_sees_the_same_on_both_hosts() -> None:
    linux, sim = on_both_hosts(STREAM)
    for here, there in zip(linux, sim, strict=True):
        ours, theirs = here["stream"], there["stream"]
        assert ours.keys() == theirs.keys()
        # A round trip decides whether a segment is on one side of an edge or the other.
        for key in ("segments", "switches", "stalls", "stalled_s"):
            assert ours[key] == pytest.approx(theirs[key], rel=0.25, abs=1), key
        for key in ("bitrate_mbps", "rung"):
            assert ours[key] == pytest.approx(theirs[key], rel=0.1), key
        assert ours["fct_s"]["n"] == ours["segments"]
        assert ours["fct_s"]["p50"] == pytest.approx(theirs["fct_s"]["p50"], rel=0.1)
        assert ours["delivered_bytes"] == pytest.approx(theirs["delivered_bytes"], rel=0.05)
        assert ours["answered_bytes"] % 300 == 0
    fast, slow, middle = (groups["stream"] for groups in linux)
    # The buffer fills without a stop. Then there is less than the least rate, and the picture
    # stands still. Then the rate is between two rungs.
    assert fast["stalls"] == 0 and fast["switches"] >= 2
    assert slow["stalls"] > 3 and slow["stalled_s"] > 3
    assert middle["stalls"] == 0 and 1 < middle["bitrate_mbps"] < 4
    # Nobody looks at what was stopped, and nothing stalls there.
    stopped = [groups["stopped"] for groups in linux]
    assert [group["stalls"] for group in stopped] == [0, 0, 0]
    assert stopped[0]["segments"] == sim[0]["stopped"]["segments"] > 20
    assert stopped[1]["segments"] == 0


# The link nearly stands still for longer than this server waits.
BROKEN = """
format = 2
name = "a stream whose server gives up in the middle of a segment"
duration = "60 s"

[dumbbell]
rate = "8 Mbit/s"
rtt = "40 ms"
aqm = { algorithm = "fifo", limit = 2 }
schedule = [{ at = "10 s", rate = "1 kbit/s" }, { at = "25 s", rate = "8 Mbit/s" }]

[[dumbbell.flows]]
name = "stream"
app = { kind = "video", ladder = ["1 Mbit/s"], segment = "1 s", buffer = "5 s" }
linux = { sysctls = { tcp_retries2 = 1 } }

[record]
windows = [
    { name = "before", from = "0 s", to = "10 s" },
    { name = "broken", from = "10 s", to = "25 s" },
    { name = "after", from = "40 s", to = "60 s" },
]
"""


def test_a_stream_whose_connection_breaks_off_in_a_segment_begins_anew() -> None:
    before, broken, after = (groups["stream"] for groups in on_linux(BROKEN))
    assert before["opened"] == 1 and before["segments"] >= 10
    # The viewer keeps the five seconds that it has, and its picture stands still after them.
    assert broken["opened"] == 1
    assert (broken["stalls"], broken["stalled_s"]) == (1, pytest.approx(10, abs=2.5))
    assert after["segments"] == pytest.approx(20, abs=2)
    assert after["stalls"] == 0


@pytest.mark.parametrize("gives_up", ["tcp_syn_retries", "tcp_retries2"])
def test_a_page_whose_connection_breaks_off_is_none_and_the_next_one_comes(gives_up: str) -> None:
    web = 'app = { kind = "web", think = "1 s" }\ncount = 20'
    text = re.sub(r"app = \{ kind = .*", web, BROKEN).replace("tcp_retries2", gives_up)
    before, broken, after = (groups["stream"] for groups in on_linux(text))
    # Of twice as many seconds. With handshakes that are soon given up some pages come to nothing.
    assert after["page_s"]["n"] > 1.2 * before["page_s"]["n"]
    assert broken["page_s"]["n"] < 5


def test_a_transfer_whose_sender_gives_up_begins_anew() -> None:
    text = re.sub(r"app = \{ kind = .*", 'app = { kind = "bulk" }', BROKEN)
    before, broken, after = (groups["stream"] for groups in on_linux(text))
    assert before["goodput_mbps"] > 4
    assert broken["goodput_mbps"] < 0.1
    assert after["goodput_mbps"] > 4


CALL = """
format = 2
name = "calls on a link whose rate changes"
duration = "90 s"

[dumbbell]
rate = "2 Mbit/s"
rtt = "80 ms"
aqm = { algorithm = "fifo", limit = 40 }
schedule = [{ at = "30 s", rate = "600 kbit/s" }]

[[dumbbell.flows]]
name = "call"
transport = "udp"
app = "nada"

[[dumbbell.flows]]
name = "transfer"
start = "60 s"

[record]
windows = [
    { name = "free", from = "10 s", to = "30 s" },
    { name = "narrow", from = "40 s", to = "60 s" },
    { name = "beside a transfer", from = "65 s", to = "90 s" },
]
"""


def test_a_call_keeps_the_same_rate_and_delay_on_both_hosts() -> None:
    linux, sim = on_both_hosts(CALL)
    for here, there in zip(linux, sim, strict=True):
        ours, theirs = here["call"], there["call"]
        assert ours.keys() == theirs.keys()
        assert ours["delay_ms"] == pytest.approx(theirs["delay_ms"], rel=0.1)
        assert ours["goodput_mbps"] == pytest.approx(theirs["goodput_mbps"], rel=0.1)
        assert ours["answered_bytes"] == pytest.approx(theirs["answered_bytes"], rel=0.02, abs=80)
    free, narrow, beside = (groups["call"] for groups in linux)
    # The whole of 1.5 Mbit/s, and no queue; then what the link has, with the queue of the balance
    # (RFC 8698, equation 5): 10 ms * 1.5 / 0.6.
    assert free["goodput_mbps"] == pytest.approx(1.5, rel=0.01)
    assert free["delay_ms"] < 50
    assert 0.5 < narrow["goodput_mbps"] < 0.6
    assert 45 < narrow["delay_ms"] < 40 + 2 * 25
    assert (free["lost_pkts"], narrow["lost_pkts"]) == (0, 0)
    # A queue that TCP keeps full loses datagrams, and does not silence the call.
    assert beside["lost_pkts"] > 0 and beside["goodput_mbps"] > 0.1
