# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""IPv6 and offloads on the Linux host: what changes of a run, and what does not."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from sojourn.linux.run import run
from sojourn.scenario import loads

# The first case may have to build a kernel.
pytestmark = [pytest.mark.timeout(1800), pytest.mark.usefixtures("kernel")]

TWO = """
format = 2
name = "two flows"
duration = "10 s"
HOST

[dumbbell]
rate = "50 Mbit/s"
rtt = "40 ms"
aqm = AQM
KEYS

[[dumbbell.flows]]
count = 2
FLOWS
"""
IPV6 = "linux = { ip = 6 }"
OFFLOADS = "linux = { offloads = true }"


@cache
def outcome(aqm: str, host: str = "", flows: str = "", keys: str = "") -> dict[str, Any]:
    text = TWO.replace("AQM", f'"{aqm}"').replace("HOST", host)
    text = text.replace("KEYS", keys).replace("FLOWS", flows)
    found = run(json.dumps(loads(text).to_engine("linux")), 1, lambda share: True)
    assert found
    return found[0]


def window(report: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = report["queues"][0]["windows"][0]
    return found


@pytest.mark.parametrize("aqm", ["codel", "kernel:codel"])
def test_ipv6_takes_twenty_bytes_of_each_packet(aqm: str) -> None:
    old, new = outcome(aqm), outcome(aqm, flows=IPV6)
    share = {4: 1448 / 1514, 6: 1428 / 1514}
    for report, ip in ((old, 4), (new, 6)):
        seen = window(report)
        # Of ten seconds, and what waits at the end: all packets are full ones but the first.
        assert report["goodput_mbps"] / (50 * seen["utilisation_pct"] / 100) == pytest.approx(
            share[ip], rel=0.003
        )
    assert window(new)["utilisation_pct"] == pytest.approx(window(old)["utilisation_pct"], abs=3)


def test_nothing_but_the_flows_packets_is_in_the_queue_with_ipv6() -> None:
    """Neither routers nor neighbours are looked for, and no group is joined."""
    cbr = 'app = { kind = "cbr", rate = "1 Mbit/s", payload = "1000 B" }\nstop = "9 s"'
    report = outcome("codel", flows=f'transport = "udp"\n{cbr}\n{IPV6}')
    sent = sum(flow["data_pkts_sent"] for flow in report["flows"])
    assert window(report)["arrived_pkts"] == sent
    # 1048 bytes of IPv6 and Ethernet's 14, of each.
    assert window(report)["utilisation_pct"] == pytest.approx(
        sent * 1062 * 8 / 500e6 * 100, rel=1e-6
    )


def test_scripts_and_echoes_go_by_ipv6() -> None:
    ping = 'transport = "udp"\napp = { kind = "ping", interval = "100 ms" }'
    report = outcome("codel", flows=f"{ping}\n{IPV6}")
    for echo in report["echoes"]:
        assert all(40 < rtt_ms < 42 for rtt_ms in echo["rtt_ms"][:-1])
    web = f'app = {{ kind = "web", think = "500 ms" }}\n{IPV6}'
    groups = outcome("codel", flows=web)["transport"][0]["groups"]
    assert groups[0]["page_s"]["n"] > 5


def test_round_trips_of_their_own_are_kept_with_ipv6_and_offloads() -> None:
    report = outcome("codel", OFFLOADS, f'rtt = ["40 ms", "200 ms"]\n{IPV6}')
    near, far = (flow["srtt_ms"] for flow in report["flows"])
    assert 40 <= near < 60
    assert 200 <= far < 220


def test_l4s_traffic_is_known_as_such_with_ipv6() -> None:
    """Nearly all of it is marked, which Classic traffic at these delays would not be."""
    l4s = 'transport = { cc = "dctcp", ecn = "ect1" }'
    old, new = (window(outcome("dualpi2", flows=f"{l4s}\n{ip}")) for ip in ("", IPV6))
    assert new["marked_pkts"] == pytest.approx(old["marked_pkts"], rel=0.3)
    assert new["dropped_pkts"] == 0


@pytest.mark.parametrize("probe", ["echo", "experimental"])
@pytest.mark.parametrize(("flows", "ip_bytes"), [("", 28), (IPV6, 48)])
@pytest.mark.parametrize("host", ["", OFFLOADS])
def test_probes_have_the_ip_of_the_flows_and_follow_each_fourth_packet(
    probe: str, flows: str, ip_bytes: int, host: str
) -> None:
    report = outcome("asqm", host, flows, f'probe = "{probe}"')
    probes = report["queues"][0]["probes"]
    # Also inside a large segment, which is so many packets.
    assert probes["left_pkts"] == pytest.approx(window(report)["departed_pkts"] / 4, rel=0.02)
    assert probes["left_bytes"] == probes["left_pkts"] * (ip_bytes + 14)
    assert probes["answered_pkts"] == pytest.approx(probes["left_pkts"], rel=0.02)


def test_probes_are_of_the_family_of_the_packet_that_asks() -> None:
    both = f'{IPV6}\n[[dumbbell.flows]]\nname = "four"\ncount = 2'
    report = outcome("asqm", flows=both)
    probes = report["queues"][0]["probes"]
    six = probes["left_bytes"] - 42 * probes["left_pkts"]
    assert 0.2 < six / 20 / probes["left_pkts"] < 0.8
    assert probes["answered_pkts"] == pytest.approx(probes["left_pkts"], rel=0.02)


def test_our_queue_sees_the_packets_of_the_wire_with_and_without_offloads() -> None:
    without, with_ = (window(outcome("codel", host)) for host in ("", OFFLOADS))
    for seen in (without, with_):
        full = 50e6 / 8 * 10 * seen["utilisation_pct"] / 100 / 1514
        assert seen["departed_pkts"] == pytest.approx(full, rel=0.01)
    assert with_["queue_delay_ms"]["mean"] == pytest.approx(
        without["queue_delay_ms"]["mean"], rel=0.3
    )


def test_the_kernels_own_sees_large_segments_whose_bytes_are_those_of_the_wire() -> None:
    report = outcome("kernel:codel", OFFLOADS)
    seen = window(report)
    assert seen["departed_pkts"] < 0.6 * window(outcome("kernel:codel"))["departed_pkts"]
    carried = 50 * seen["utilisation_pct"] / 100
    assert report["goodput_mbps"] / carried == pytest.approx(1448 / 1514, rel=0.003)
