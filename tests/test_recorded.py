# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The Parquet files that the engine writes hold what its report sums up."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn import _native

from tests.conftest import SMALL

SERIES = {
    "queue": pa.string(),
    "t_s": pa.float64(),
    "queue_delay_ms": pa.float64(),
    "system_delay_ms": pa.float64(),
    "queue_pkts": pa.float64(),
    "utilisation_pct": pa.float64(),
    "drop_pct": pa.float64(),
    "mark_pct": pa.float64(),
}
EVENTS = {
    "queue": pa.string(),
    "at_ns": pa.uint64(),
    "enq_ns": pa.uint64(),
    "flow": pa.uint32(),
    "len_bytes": pa.uint32(),
    "ecn": pa.uint8(),
    "why": pa.uint8(),
}

STATISTICS = {
    "queue": pa.string(),
    "t_s": pa.float64(),
    "statistic": pa.string(),
    "unit": pa.string(),
    "value": pa.float64(),
}
GROUPS = {
    "group": pa.string(),
    "t_s": pa.float64(),
    "goodput_mbps": pa.float64(),
    "answered_mbps": pa.float64(),
    "connections": pa.float64(),
    "cwnd_pkts": pa.float64(),
    "srtt_ms": pa.float64(),
}

# Two queues, one behind the other; nothing is sent before a second has passed. Each window is a
# step of the series, so the report says what the series must hold.
TWO_QUEUES = """\
format = 2
name = "two queues"
duration = "4 s"
nodes = ["sender", "router", "receiver"]
links = [
    { name = "in", from = "sender", to = "router", rate = "12 Mbit/s" },
    { name = "out", from = "router", to = "receiver", rate = "10 Mbit/s", queue = "codel" },
    { name = "back", from = "receiver", to = "sender", delay = "20 ms" },
]
flows = [
    { count = 2, from = "sender", to = "receiver", start = "1 s", start_spread = 0 },
]

[record]
series = "1 s"
events = true
windows = [
    { name = "1", from = "0 s", to = "1 s" },
    { name = "2", from = "1 s", to = "2 s" },
    { name = "3", from = "2 s", to = "3 s" },
    { name = "4", from = "3 s", to = "4 s" },
]
"""


def run(text: str) -> tuple[dict[str, Any], bytes, bytes | None]:
    outcome = _native.run(json.dumps(sojourn.loads(text).to_engine()), 1)
    assert outcome
    report, tables = outcome
    return json.loads(report), tables["series.parquet"], tables.get("events.parquet")


def tables(text: str) -> dict[str, bytes]:
    outcome = _native.run(json.dumps(sojourn.loads(text).to_engine()), 1)
    assert outcome
    return outcome[1]


def rows(file: bytes, types: dict[str, pa.DataType]) -> list[dict[str, Any]]:
    table = pq.ParquetFile(io.BytesIO(file)).read()
    assert dict(zip(table.column_names, table.schema.types, strict=True)) == types
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def test_a_row_of_the_series_is_a_window_of_the_report() -> None:
    report, series, _ = run(TWO_QUEUES)
    found = rows(series, SERIES)
    windows = [(q["name"], window) for q in report["queues"] for window in q["windows"]]
    assert [name for name, _ in windows] == ["in"] * 4 + ["out"] * 4
    for row, (name, window) in zip(found, windows, strict=True):
        assert row["queue"] == name
        assert row["t_s"] == window["to_s"]
        assert row["queue_pkts"] == window["queue_pkts"]["mean"]
        assert row["utilisation_pct"] == window["utilisation_pct"]
        assert row["drop_pct"] == (window["drop_pct"] or 0)
        assert row["mark_pct"] == (window["mark_pct"] or 0)
        for delay in ("queue_delay_ms", "system_delay_ms"):
            mean = window[delay]["mean"]
            if mean is None:  # no packet: NaN, as in the engine
                assert math.isnan(row[delay])
            else:
                assert row[delay] == pytest.approx(mean, rel=1e-12)
    assert [math.isnan(row["queue_delay_ms"]) for row in found] == [True, False, False, False] * 2


def test_the_events_are_the_packets_that_the_report_counts() -> None:
    report, _, events = run(TWO_QUEUES)
    assert events
    found = rows(events, EVENTS)
    assert [row["queue"] for row in found] == sorted(row["queue"] for row in found)
    for queue in report["queues"]:
        packets = [row for row in found if row["queue"] == queue["name"]]
        for window in queue["windows"]:
            begin, end = window["from_s"] * 1e9, window["to_s"] * 1e9
            seen = [row for row in packets if begin <= row["at_ns"] < end]
            sent = [row["at_ns"] - row["enq_ns"] for row in seen if row["why"] == 0]
            assert len(sent) == window["departed_pkts"]
            assert len(seen) - len(sent) == window["dropped_pkts"]
            if sent:
                mean_ms = sum(sent) / len(sent) / 1e6
                assert mean_ms == pytest.approx(window["queue_delay_ms"]["mean"], rel=1e-12)
        assert max(row["len_bytes"] for row in packets) == 1514
        # The hash that stands for a flow's addresses uses all of its 32 bits.
        assert max(row["flow"] for row in packets) < 2**32
    assert any(row["flow"] >= 2**31 for row in found)


def test_polars_reads_the_same() -> None:
    _, series, events = run(TWO_QUEUES)
    assert events
    for file in (series, events):
        ours = pl.from_arrow(pq.ParquetFile(io.BytesIO(file)).read())
        theirs = pl.read_parquet(io.BytesIO(file), use_pyarrow=False)
        assert isinstance(ours, pl.DataFrame)
        assert theirs.equals(ours)


def test_duckdb_reads_unsigned_numbers(tmp_path: Path) -> None:
    _, _, events = run(TWO_QUEUES)
    assert events
    path = tmp_path / "events.parquet"
    path.write_bytes(events)
    found = duckdb.execute(f"select max(at_ns), max(flow) from '{path}'").fetchall()
    held = rows(events, EVENTS)
    assert found == [(max(row["at_ns"] for row in held), max(row["flow"] for row in held))]


def test_without_a_whole_step_the_series_has_columns_and_no_rows() -> None:
    _, series, events = run(SMALL + '\n[record]\nseries = "1 h"\n')
    assert rows(series, SERIES) == []
    assert events is None


def test_without_a_queue_there_are_columns_and_no_rows() -> None:
    scenario = sojourn.loads(SMALL).to_engine()
    scenario["record"] |= {"queues": [], "windows": [], "events": True}
    outcome = _native.run(json.dumps(scenario), 1)
    assert outcome
    assert rows(outcome[1]["series.parquet"], SERIES) == []
    assert "events.parquet" not in outcome[1]


def test_statistics_are_those_of_the_queues_that_have_any() -> None:
    found = rows(tables(TWO_QUEUES)["statistics.parquet"], STATISTICS)
    # A fifo has none; those of codel are its rows.
    units = {(row["queue"], row["statistic"]): row["unit"] for row in found}
    assert units == {("out", "delay"): "ms", ("out", "count"): "", ("out", "dropping"): ""}
    delays = [row for row in found if row["statistic"] == "delay"]
    assert [row["t_s"] for row in delays] == [1, 2, 3, 4]
    assert delays[0]["value"] == 0
    assert all(0 < row["value"] < 1000 for row in delays[1:])


def test_rates_of_groups_are_those_of_the_windows() -> None:
    report, _, _ = run(TWO_QUEUES)
    found = rows(tables(TWO_QUEUES)["group_series.parquet"], GROUPS)
    windows = report["transport"]
    assert [row["t_s"] for row in found] == [1, 2, 3, 4]
    for row, window in zip(found, windows, strict=True):
        assert row["group"] == window["groups"][0]["name"]
        assert row["goodput_mbps"] == pytest.approx(window["groups"][0]["goodput_mbps"])
    assert [row["connections"] for row in found] == [0, 2, 2, 2]
    assert [math.isnan(row["srtt_ms"]) for row in found] == [True, False, False, False]
    assert all(row["srtt_ms"] > 20 and row["cwnd_pkts"] >= 1 for row in found[1:])


def test_without_a_step_there_are_no_files_of_groups_and_statistics() -> None:
    found = tables(SMALL + '\n[record]\nseries = "1 h"\n')
    assert found.keys() == {"series.parquet", "distributions.parquet"}


def test_a_result_has_both_with_the_labels_of_its_runs(tmp_path: Path) -> None:
    sojourn.run(sojourn.loads(TWO_QUEUES), aqms=["pie", "fifo"], seeds=2, out=tmp_path / "out")
    read = sojourn.Result.load(tmp_path / "out")
    statistics, groups = (
        pl.read_parquet(tmp_path / "out" / f"{name}.parquet")
        for name in ("statistics", "group_series")
    )
    assert statistics.columns == ["aqm", "seed", "host", "tested", *STATISTICS]
    assert groups.columns == ["aqm", "seed", "host", *GROUPS]
    # A fifo has no statistics.
    assert set(statistics.select("aqm", "seed").rows()) == {("pie", 1), ("pie", 2)}
    assert len(groups) == 4 * 4
    assert read.statistics().num_rows == len(statistics)
    assert read.group_series().num_rows == len(groups)
