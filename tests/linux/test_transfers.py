# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Transfers and distributions on the Linux host, beside the simulator's and beside packets."""

from __future__ import annotations

import numpy as np
import pytest
from sojourn.result.distribution import cells_of, measured
from sojourn.runs.run import run as run_scenario
from sojourn.scenario import loads

from tests.linux.test_host import PAGES

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)

KEPT = (
    PAGES
    + """
[[dumbbell.flows]]
name = "again"
app = { kind = "respawn", size = "30 kB" }
stop = "9.95 s"

[[dumbbell.flows]]
name = "long"
app = { kind = "bulk", size = "1 GB" }
start = "11 s"

[record]
transfers = true
"""
)


@pytest.mark.usefixtures("kernel")
def test_both_hosts_tell_of_the_same_transfers() -> None:
    result = run_scenario(loads(KEPT), seeds=1, hosts=("sim", "linux"), workers=1)
    tables = [(run.transfers() or pytest.fail("none")).to_pylist() for run in result]
    key = ("group", "index", "visit", "connection", "transfer")
    sim, linux = ({tuple(row[k] for k in key): row for row in table} for table in tables)
    both = sim.keys() & linux.keys()
    # What is begun near the end of the run may not be on the other host.
    assert len(both) > 200
    assert len(sim.keys() ^ linux.keys()) < 0.05 * len(both)
    assert {k[0] for k in both} == {"near", "far", "files", "appended", "trace", "again", "long"}
    later = []
    for k in both:
        here, there = linux[k], sim[k]
        assert here["bytes"] == there["bytes"]
        assert here["opened_ns"] <= here["begun_ns"]
        if here["last_byte_ns"] and there["last_byte_ns"]:
            assert here["begun_ns"] < here["first_byte_ns"] <= here["last_byte_ns"]
            took = [row["first_byte_ns"] - row["begun_ns"] for row in (here, there)]
            later.append(took[0] / took[1])
    assert np.median(later) == pytest.approx(1, abs=0.05)
    for table in (sim, linux):
        open_ones = [row for row in table.values() if row["last_byte_ns"] is None]
        long = ("long", 0, 1, 1, 1)
        assert table[long] in open_ones and table[long]["first_byte_ns"]
        assert sum(row["group"] == "again" for row in open_ones) == 1
    for table in tables:
        ends = [row["last_byte_ns"] for row in table if row["last_byte_ns"]]
        assert ends == sorted(ends)
    # The same reckoning as in the report, from other lines.
    for run, table in zip(result, tables, strict=True):
        for group in run.report["transport"][0]["groups"]:
            done = [r for r in table if r["group"] == group["name"] and r["last_byte_ns"]]
            assert group["fct_s"]["n"] == len(done)
            took_ns = [row["last_byte_ns"] - row["begun_ns"] for row in done]
            if done:
                exact = np.quantile(took_ns, 0.75, method="inverted_cdf") / 1e9
                assert group["fct_s"]["p75"] == pytest.approx(exact, rel=1e-3)


@pytest.mark.usefixtures("kernel")
def test_distributions_are_those_of_the_packets_on_linux_too() -> None:
    text = KEPT.replace("transfers = true", "events = true")
    (run,) = run_scenario(loads(text), seeds=1, hosts=("linux",), workers=1)
    events = run.events() or pytest.fail("no events")
    sent = events["why"].to_numpy() == 0
    ns = (events["at_ns"].to_numpy() - events["enq_ns"].to_numpy())[sent]
    found = measured([run], "queue_delay", "bottleneck", "whole run")
    cells, counts = np.unique(cells_of(ns), return_counts=True)
    assert found and (found.cells == cells).all() and (found.counts == counts).all()
    pages = measured([run], "page", "near", "whole run")
    group = run.report["transport"][0]["groups"][0]
    assert pages and pages.count == group["page_s"]["n"] > 0
    assert pages.quantile_ms(0.5) / 1e3 == pytest.approx(group["page_s"]["p50"], rel=1e-3)
