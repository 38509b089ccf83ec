# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What a guest read at steps of the series, as the tables of a run; without a guest."""

from __future__ import annotations

import io
import struct
from typing import Any

import pyarrow.parquet as pq
import pytest
from sojourn.algorithms import find
from sojourn.linux.samples import group_series, statistics, without_samples
from sojourn.scenario import loads

from tests.conftest import SMALL
from tests.linux.rtnetlink import u32, u64


def engine(aqm: str) -> dict[str, Any]:
    return loads(SMALL.replace('aqm = "codel"', f'aqm = "{aqm}"')).to_engine()


def rows(file: bytes | None) -> list[dict[str, Any]]:
    assert file
    found: list[dict[str, Any]] = pq.ParquetFile(io.BytesIO(file)).read().to_pylist()
    return found


def read(aqm: str, *told: str) -> list[tuple[Any, ...]]:
    scenario = engine(aqm)
    queues = [
        (name, scenario["links"][1]["queue"]["algorithm"]) for name in scenario["record"]["queues"]
    ]
    found = rows(statistics(scenario, queues, "\n".join(told)))
    assert {row["queue"] for row in found} == set(scenario["record"]["queues"][:1])
    return [(row["t_s"], row["statistic"], row["unit"], row["value"]) for row in found]


def test_rows_of_our_qdisc_are_in_the_units_that_are_shown() -> None:
    numbers = {row.name: row.attr for row in find("duk").stats}
    nest = u32(numbers["prob"], 1 << 31) + u64(numbers["interval"], 2_500_000)
    nest += u64(numbers["rate"], 1_250_000)
    assert read("duk", f"read 0 3 sojourn {nest.hex()}") == [
        (pytest.approx(0.3), "prob", "", 0.5),
        (pytest.approx(0.3), "interval", "ms", 2.5),
        (pytest.approx(0.3), "rate", "Mbit/s", 10),
    ]


def test_the_kernels_pie_and_codel_tell_what_ours_call_by_the_same_names() -> None:
    pie = struct.pack("=QIIIIIIII", 1 << 62, 15_000, 0, 0, 9, 9, 9, 9, 9)
    assert read("kernel:pie", f"read 0 1 pie {pie.hex()}") == [
        (0.1, "prob", "", 0.25),
        (0.1, "delay", "ms", 15),
    ]
    codel = struct.pack("=IIIIiIIII", 1514, 7, 6, 5_000, -3, 0, 0, 1, 0)
    assert read("kernel:codel", f"read 0 1 codel {codel.hex()}") == [
        (0.1, "delay", "ms", 5),
        (0.1, "count", "", 7),
        (0.1, "dropping", "", 1),
    ]


@pytest.mark.parametrize("told", ["", "read 0 1 fq_codel 00ff", "read 0 1 sojourn -"])
def test_where_nothing_is_told_there_is_no_table(told: str) -> None:
    scenario = engine("codel")
    assert statistics(scenario, [("bottleneck", "codel")], told) is None


def test_readings_of_groups_are_kept_apart_from_what_is_counted() -> None:
    told = "count 0 0 1\nsample 0 0 0 0 1 1 0 0 0\ndone 0 1 2\n"
    assert without_samples(told) == ("count 0 0 1\ndone 0 1 2\n", ["sample 0 0 0 0 1 1 0 0 0\n"])


def test_readings_become_rates_and_means() -> None:
    scenario = engine("codel")
    lines = ["sample 0 0 0 0 3 3 0 0 0", "sample 1 0 1000 125000 3 1 2 40 90000"]
    (row,) = rows(group_series(scenario, lines))
    assert row == {
        "group": scenario["flows"][0]["name"],
        "t_s": 0.1,
        "goodput_mbps": 10,
        "answered_mbps": 0.08,
        "connections": 6,
        "cwnd_pkts": 20,
        "srtt_ms": 45,
    }
    assert group_series(scenario, []) is None
