# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Groups of flows and algorithms' statistics over time, in a guest and beside the simulator."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from sojourn import _native
from sojourn.linux.run import run
from sojourn.scenario import loads

# The first case may have to build a kernel.
pytestmark = [pytest.mark.timeout(1800), pytest.mark.usefixtures("kernel")]

SCENARIO = """
format = 2
name = "over time"
duration = "10 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "40 ms"
aqm = "AQM"

[[dumbbell.flows]]
name = "bulk"
count = 5

[[dumbbell.flows]]
name = "late"
count = 5
start = "4 s"
stop = "8 s"

[[dumbbell.flows]]
name = "pages"
count = 3
app = { kind = "web", think = "200 ms", response = "900 B", response_sigma = 1.5, tail = 0.005 }

[[dumbbell.flows]]
name = "voice"
transport = "udp"
app = { kind = "cbr", rate = "64 kbit/s" }

[record]
windows = [{ name = "a", from = "1 s", to = "4 s" }, { name = "b", from = "5 s", to = "8 s" }]
"""


Outcome = tuple[dict[str, Any], dict[str, pl.DataFrame]]


def both(aqm: str, seed: int = 1) -> list[Outcome]:
    """Report and tables, of the simulator and of Linux."""
    text = json.dumps(loads(SCENARIO.replace("AQM", aqm)).to_engine())
    found = []
    simulated = _native.run(text, seed)
    assert simulated
    played = run(text, seed, lambda share: True)
    assert played
    for report, files in ((json.loads(simulated[0]), simulated[1]), played):
        found.append((report, {k: pl.read_parquet(io.BytesIO(v)) for k, v in files.items()}))
    return found


@pytest.fixture(scope="module")
def hosts() -> list[Outcome]:
    return both("pie")


def values(tables: dict[str, pl.DataFrame], name: str) -> Any:
    table = tables["statistics.parquet"].filter(pl.col("statistic") == name)
    assert table["t_s"].to_numpy() == pytest.approx(np.arange(1, 101) * 0.1)
    return table["value"].to_numpy()


def of(tables: dict[str, pl.DataFrame], group: str) -> pl.DataFrame:
    return tables["group_series.parquet"].filter(pl.col("group") == group)


def test_the_same_statistics_are_read_on_both_hosts(hosts: list[Outcome]) -> None:
    keys = [
        tables["statistics.parquet"].select("queue", "statistic", "unit").unique().sort("statistic")
        for _, tables in hosts
    ]
    assert keys[0].rows() == keys[1].rows()
    assert keys[0]["statistic"].to_list() == ["burst", "delay", "drain_time", "prob"]
    # One seed's mean of five seconds may be half as much again as another's.
    of_seeds = list(zip(hosts, both("pie", 2), both("pie", 3), strict=True))
    sim, linux = (np.mean([values(tables, "prob") for _, tables in of], axis=0) for of in of_seeds)
    assert sim[0] < 1e-3 and linux[0] < 1e-3
    for half in (slice(0, 50), slice(50, 100)):
        assert linux[half].mean() == pytest.approx(sim[half].mean(), rel=0.3)
    sim, linux = (np.mean([values(tables, "delay") for _, tables in of], axis=0) for of in of_seeds)
    assert linux[50:].mean() == pytest.approx(sim[50:].mean(), rel=0.3)


def test_rates_of_groups_are_those_of_the_windows_and_of_the_simulator(
    hosts: list[Outcome],
) -> None:
    for report, tables in hosts:
        for number, (begin, end) in enumerate(((1, 4), (5, 8))):
            for group in report["transport"][number]["groups"]:
                series = of(tables, group["name"])
                within = series.filter(pl.col("t_s").is_between(begin + 0.05, end + 0.05))
                assert len(within) == 10 * (end - begin)
                mean = within["goodput_mbps"].mean()
                assert mean == pytest.approx(group["goodput_mbps"], rel=0.05, abs=0.02)
                if "answered_bytes" in group:
                    bits = float(within["answered_mbps"].sum()) * 1e5
                    assert bits == pytest.approx(group["answered_bytes"] * 8, rel=0.1, abs=8e4)


def test_windows_and_round_trips_are_those_of_the_simulator(hosts: list[Outcome]) -> None:
    (_, sim), (_, linux) = hosts
    for group in ("bulk", "late"):
        pair = [
            of(tables, group).filter(pl.col("t_s").is_between(5.05, 7.95))
            for tables in (sim, linux)
        ]
        for column in ("cwnd_pkts", "srtt_ms"):
            means = [found[column].mean() for found in pair]
            assert means[1] == pytest.approx(means[0], rel=0.25), column
        # One of those that begin in a full queue may lose its first packet.
        assert all(set(found["connections"]) <= {4, 5} for found in pair)


def test_what_is_not_open_has_no_window(hosts: list[Outcome]) -> None:
    for _, tables in hosts:
        late = of(tables, "late")
        before = late.filter(pl.col("t_s") < 3.95)
        after = late.filter(pl.col("t_s") > 8.15)
        for idle in (before, after, of(tables, "voice")):
            assert idle["connections"].sum() == 0
            assert idle["cwnd_pkts"].is_nan().all() and idle["srtt_ms"].is_nan().all()
        assert before["goodput_mbps"].sum() == after["goodput_mbps"].sum() == 0


def test_the_kernels_own_pie_tells_its_probability_and_fq_codel_nothing() -> None:
    text = SCENARIO.replace("10 s", "8 s")
    found = []
    for aqm in ("kernel:pie", "kernel:fq_codel"):
        outcome = run(
            json.dumps(loads(text.replace("AQM", aqm)).to_engine()), 1, lambda share: True
        )
        assert outcome
        found.append(outcome)
    (_, pie), (_, fq_codel) = found
    read = pl.read_parquet(io.BytesIO(pie["statistics.parquet"]))
    assert set(read["statistic"]) == {"prob", "delay"}
    prob = read.filter(pl.col("statistic") == "prob")["value"]
    assert len(prob) == 80 and 0 < prob.mean() < 0.5  # type: ignore[operator]
    delay = read.filter(pl.col("statistic") == "delay")["value"]
    # Of the packets that were seen, in ms too.
    seen = pl.read_parquet(io.BytesIO(pie["series.parquet"]))["queue_delay_ms"].fill_nan(0)
    assert delay.mean() == pytest.approx(seen.mean(), rel=0.2)
    assert "group_series.parquet" in fq_codel and "statistics.parquet" not in fq_codel


def test_reading_changes_no_packet(hosts: list[Outcome]) -> None:
    text = SCENARIO.replace("AQM", "pie").replace("[record]", '[record]\nseries = "1 h"')
    outcome = run(json.dumps(loads(text).to_engine()), 1, lambda share: True)
    assert outcome
    report, tables = outcome
    assert tables.keys() == {"series.parquet", "distributions.parquet"}
    counts = ("arrived_pkts", "departed_pkts", "dropped_pkts")
    quiet, read = (
        [[window[key] for key in counts] for window in found["queues"][0]["windows"]]
        for found in (report, hosts[1][0])
    )
    assert quiet == read
