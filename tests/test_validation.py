# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The comparison with Linux: its cells, its verdicts, and the two files that it reads."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from validation import page, recorded
from validation.cells import Cell, cells, further
from validation.engine import LINUX_ROWS, scenario
from validation.figures import AIMED, FAIR, Verdict, judge

UTILISATION, DELAY, LOSS = AIMED
JAIN, LEAST = FAIR


def test_each_cell_has_a_name_of_its_own() -> None:
    assert len({cell.name for cell in cells()}) == len(cells())


def test_a_line_of_a_cell_counts_under_its_own_heading_only() -> None:
    tables = "### 10 Mbit/s, start\n\n| 20 | 1 |\n\n### 10 Mbit/s, steady\n\n| 20 | 2 |\n\n"
    kept = tables + "# End\n| 3 |\n"
    assert page.headed(kept) == {
        ("### 10 Mbit/s, start", "| 20 | 1 |"),
        ("### 10 Mbit/s, steady", "| 20 | 2 |"),
    }


def test_the_further_cells_change_one_thing_each_and_six_have_flows_back() -> None:
    names = [cell.name for cell in further()]
    for word in ("together", "rcvbuf16M", "20+50+100ms"):
        assert sum(word in name for name in names) == 12
    assert sum(cell.back == 4 for cell in further()) == 6


@pytest.mark.parametrize(
    ("linux", "engine", "verdict"),
    [
        ([90.0, 90.1, 89.9], [91.9], Verdict.AIM),
        ([90.0, 91.0, 89.0], [92.5], Verdict.SPREAD),
        ([90.0, 94.0, 86.0], [95.0], Verdict.UNDECIDABLE),
        ([90.0, 90.1, 89.9], [92.1], Verdict.OUTSIDE),
        ([90.0, 94.0, 86.0], [103.0], Verdict.OUTSIDE),
        ([90.0], [92.1], Verdict.OUTSIDE),
    ],
)
def test_a_wide_spread_decides_nothing(
    linux: list[float], engine: list[float], verdict: Verdict
) -> None:
    assert judge(UTILISATION, linux, engine) == verdict


def test_short_delays_may_differ_by_a_millisecond_and_long_ones_by_a_tenth() -> None:
    assert judge(DELAY, [2.0], [2.9]) == Verdict.AIM
    assert judge(DELAY, [200.0], [219.0]) == Verdict.AIM
    assert judge(DELAY, [200.0], [221.0]) == Verdict.OUTSIDE


def test_fairness_is_jain_s_index_and_the_least_flow_over_the_fair_share() -> None:
    window = {"goodputs_mbps": [1.0, 1.0, 2.0, 4.0]}
    assert JAIN.of(window) == pytest.approx(64 / (4 * 22))
    assert LEAST.of(window) == pytest.approx(0.5)
    assert LOSS.of({"dropped_pkts": 3, "arrived_pkts": 60}) == pytest.approx(5)


def test_both_forms_of_a_queue_run_beside_linux() -> None:
    cell = next(cell for cell in further() if cell.back and cell.queue == "pie")
    ours, linux = (scenario(cell, 1, form) for form in ("ours", "linux"))
    for name in ("bottleneck", "bottleneck-back"):
        rows = [
            next(link for link in s["links"] if link["name"] == name)["queue"]["rows"]
            for s in (ours, linux)
        ]
        assert rows[1] == rows[0] | LINUX_ROWS["pie"]


def record(cell: Cell, seed: int, bytes_each_second: int) -> dict[str, Any]:
    """A run as validation/record.py gives it."""
    seconds = cell.edges_ms[-1] // 1000
    flows = {
        way: {str(i): [bytes_each_second * (i + 1)] * seconds for i in range(n)}
        for way, n in (("forth", cell.flows), ("back", cell.back))
        if n
    }
    windows: dict[str, Any] = {"start": {}, "steady": {}}
    head = {"cell": cell.name, "seed": seed, **asdict(cell)}
    return {**head, "windows": windows, "bytes_each_second": flows}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(recorded, "LINUX", tmp_path)
    return tmp_path / recorded.RELEASE


def test_runs_join_what_the_files_hold_and_replace_their_like(files: Path) -> None:
    first, second = (cell for cell in further()[:30:29])
    recorded.add([record(second, 1, 1000)])
    recorded.add([record(first, 2, 500), record(first, 1, 250)])
    recorded.add([record(second, 1, 125)])
    assert recorded.runs() == {(first.name, 1), (first.name, 2), (second.name, 1)}
    _, found = recorded.read()
    assert [len(found[cell.name]) for cell in (first, second)] == [2, 1]
    goodputs = [window["start"]["goodputs_mbps"][:2] for window in found[first.name]]
    assert goodputs == [[0.002, 0.004], [0.004, 0.008]]
    assert found[second.name][0]["steady"]["goodputs_mbps"][0] == pytest.approx(0.001)


@pytest.mark.parametrize("windows", ["", "[]", "{}", '{"records": [{}]}', None])
def test_a_damaged_list_of_runs_is_one_sentence(files: Path, windows: str | None) -> None:
    recorded.add([record(further()[0], 1, 1000)])
    text = (files / "windows.json").read_text()
    (files / "windows.json").write_text(text[:-9] if windows is None else windows)
    with pytest.raises(SystemExit, match="not a whole recording"):
        recorded.read()


@pytest.mark.parametrize("damage", ["cut", "gone", "half", "other column", "other order", "longer"])
def test_damaged_flows_are_one_sentence(files: Path, damage: str) -> None:
    recorded.add([record(further()[0], 1, 1000)])
    path = files / "flows.parquet"
    table = pq.read_table(path)
    damaged = {
        "half": table.slice(table.num_rows // 2),
        "other column": table.rename_columns(["cell", "run", *table.column_names[2:]]),
        "other order": table.take(list(range(table.num_rows))[::-1]),
        "longer": pa.concat_tables([table, table]),
    }
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    else:
        pq.write_table(damaged[damage], path)
    with pytest.raises(SystemExit, match="not a whole recording"):
        recorded.read()
