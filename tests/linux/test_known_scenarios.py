# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Every scenario known by name runs on Linux too, beside the simulator: its first seconds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sojourn import _native
from sojourn.cli import status
from sojourn.linux import refusals
from sojourn.linux.run import run
from sojourn.scenario import load
from sojourn.scenario.engine import without_opportunities
from sojourn.scenario.known import known_scenarios

# The first case may have to build a kernel.
pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800), pytest.mark.usefixtures("kernel")]

LENGTH_NS = 12_000_000_000
# So long a link's second rate is seen.
BEHIND_NS = 4_000_000_000


def shortened(form: dict[str, Any]) -> dict[str, Any]:
    """With what begins later left out, or brought into the middle."""
    steps = [link["schedule"][0]["at"] for link in form["links"] if link["schedule"]]
    end = min(form["duration"], max([LENGTH_NS, *(at + BEHIND_NS for at in steps)]))
    form["duration"] = end
    form["record"]["windows"] = [{"name": "shortened", "from": end // 3, "to": end}]
    for link in form["links"]:
        link["schedule"] = [step for step in link["schedule"] if step["at"] < end]
    for flow in form["flows"]:
        if isinstance(flow["start"], int) and flow["start"] >= end:
            flow["start"] = end // 2
        if flow["stop"] and flow["stop"] >= end:
            flow["stop"] = None
    return form


@pytest.mark.parametrize("name", list(known_scenarios()))
def test_a_known_scenario_runs_alike_on_both_hosts(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(["new", "--scenario", name]) == 0
    scenario = load(f"{name}.toml")
    # Of its whole length, not of the shortened one.
    refusals.check(scenario.to_engine("linux"))
    found = run(json.dumps(shortened(scenario.to_engine("linux"))), 1, lambda share: True)
    # Linux has the rates of a trace.
    form = without_opportunities(scenario.to_engine())
    done = _native.run(json.dumps(shortened(form)), 1)
    assert found
    assert done
    here, there = found[0], json.loads(done[0])
    assert here["goodput_mbps"] == pytest.approx(there["goodput_mbps"], rel=0.1)
    for ours, theirs in zip(here["queues"], there["queues"], strict=True):
        [linux], [sim] = ours["windows"], theirs["windows"]
        assert linux["utilisation_pct"] == pytest.approx(sim["utilisation_pct"], abs=5)
        # One seed each, in the first seconds of flows with windows of their own.
        assert linux["queue_delay_ms"]["mean"] == pytest.approx(
            sim["queue_delay_ms"]["mean"], rel=0.5
        )
    assert all(flow["delivered_bytes"] > 0 for flow in here["flows"])
