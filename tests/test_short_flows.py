# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Short transfers with ECN through CoDel: the simulator beside what a Linux kernel recorded."""

from __future__ import annotations

from typing import Any

import pytest

from validation import short_flows


@pytest.fixture(scope="module")
def simulated() -> dict[str, Any]:
    """Both scenarios, each seed of the recording."""
    return short_flows.of_host(linux=False)


def test_a_syn_follows_the_packet_before_it_within_a_microsecond_on_both_hosts(
    simulated: dict[str, Any],
) -> None:
    for found in (short_flows.recorded(), simulated):
        assert len(found["before_syns_us"]) > 10
        assert max(found["before_syns_us"]) < 1


def test_codel_drops_and_marks_as_many_as_on_linux(simulated: dict[str, Any]) -> None:
    linux, sim = (
        short_flows.total(found["crowd"]) for found in (short_flows.recorded(), simulated)
    )
    assert sim.dropped_pct == pytest.approx(linux.dropped_pct, abs=0.1)
    assert sim.marked_pct == pytest.approx(linux.marked_pct, abs=1)
    assert sim.syns_dropped_pct == pytest.approx(linux.syns_dropped_pct, abs=0.5)
    assert sim.acks_dropped / sim.acks == pytest.approx(linux.acks_dropped / linux.acks, abs=0.03)
    shares = [100 * of.connections_without_ecn / of.connections for of in (linux, sim)]
    assert shares[0] == pytest.approx(shares[1], abs=0.6)
