# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The comparison with Linux: its cells, its verdicts, and the two files that it reads."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sojourn._native import fairness
from sojourn.scenario.engine import to_engine
from sojourn.sweeps.run import scenario_of

from validation import cells, compare, harnesses, recorded
from validation.cell import WINDOWS
from validation.compare import Compared
from validation.experiment import Planned, each, jobs_of, planned, variant_of
from validation.figures import AIMED, FAIR, Verdict, judge
from validation.record import rounded

UTILISATION, DELAY, LOSS = AIMED
JAIN, LEAST = FAIR


def cell(name: str) -> Planned:
    return next(one for one in planned() if one.cell.name == name)


def test_the_sweeps_have_the_cells_that_were_recorded_in_their_order() -> None:
    names = [one.cell.name for one in planned()]
    lines = json.loads((recorded.folder() / "windows.json").read_text())["records"]
    assert names == list(dict.fromkeys(record["cell"] for record in lines))
    assert len(set(names)) == len(names) == 144


def test_a_line_of_the_data_counts_for_its_own_window_only() -> None:
    text = "cell,window,figure,linux\na,start,mean_ms,1\na,steady,mean_ms,2\n"
    assert cells.parts(text) == {"a start": ["mean_ms,1"], "a steady": ["mean_ms,2"]}


def test_a_window_with_another_figure_than_the_kept_data_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compare, "DATA", tmp_path / "validation.csv")
    text = "cell,window,figure,linux\na,start,mean_ms,1\na,steady,mean_ms,2\n"
    (tmp_path / "validation.csv").write_text(text)
    assert compare.check_lines(text) == 0
    assert compare.check_lines(text.replace("mean_ms,2", "mean_ms,3")) == 1
    assert "not in validation.csv: a steady: mean_ms,3" in capsys.readouterr().out


def test_the_kept_data_has_every_cell_and_the_counts_of_the_page() -> None:
    with compare.DATA.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["cell"] for line in lines} == {one.cell.name for one in planned()}
    worst: dict[tuple[str, str], set[str]] = {}
    for line in lines:
        worst.setdefault((line["cell"], line["window"]), set()).add(line["verdict"])
        assert bool(line["cause"]) == (line["verdict"] not in {"", "aim"})
    outside = sum("outside" in verdicts for verdicts in worst.values())
    text = compare.PAGE.read_text()
    assert f"**Does not agree.** {outside} windows are outside" in text
    listed = re.findall(r"^\| `(.*?) (start|steady)` \|", text, re.MULTILINE)
    assert set(listed) == {key for key, verdicts in worst.items() if "outside" in verdicts}


def test_the_further_cells_change_one_thing_each_and_six_have_flows_back() -> None:
    further = [one.cell for one in planned() if one.cell.further]
    names = [cell.name for cell in further]
    for word in ("together", "rcvbuf16M", "20+50+100ms"):
        assert sum(word in name for name in names) == 12
    assert sum(cell.back == 4 for cell in further) == 6


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
    jain, least_share = fairness([1.0, 1.0, 2.0, 4.0])
    window = {"jain": jain, "least_share": least_share}
    assert JAIN.of(window) == pytest.approx(64 / (4 * 22))
    assert LEAST.of(window) == pytest.approx(0.5)
    assert fairness([0.0, 0.0]) == (1.0, None)
    assert LEAST.of({"least_share": None}) == 1
    assert LOSS.of({"dropped_pkts": 3, "arrived_pkts": 60}) == pytest.approx(5)


def test_each_side_has_its_own_queue_in_both_directions() -> None:
    one = cell("10M-20+50+100ms-10xreno-pie-back4")
    found = {}
    for side in one.sides:
        variant = variant_of(one.sweep, "pie", side)
        links = to_engine(scenario_of(one.sweep, one.number, variant).expand())["links"]
        queues = [link["queue"] for link in links if link["name"].startswith("bottleneck")]
        assert len(queues) == 2 and queues[0] == queues[1]
        found[side] = queues[0]
    assert found == {
        "linux": {"algorithm": "kernel:pie"},
        "engine": {"algorithm": "pie", "form": 1, "tupdate": 16_000_000},
        "ours": {"algorithm": "pie"},
    }


def test_a_seed_starts_the_flows_when_the_recorded_ones_started() -> None:
    one = cell("10M-20ms-10xcubic-codel")
    jobs = dict(jobs_of(each([one], "engine")))
    starts = {
        seed: json.loads(job.scenario)["flows"][0]["start"][:2]
        for (_, _, seed), job in jobs.items()
    }
    assert starts[1] == [2_000_729_000, 2_025_648_000]
    assert starts[5] == [2_000_645_000, 2_025_564_000]


Line = dict[str, Any]


def record(name: str, seed: int, loss: int = 0) -> Line:
    """A run as validation/record.py files it."""
    delay = {"mean": 5.0 + seed, "p95": 9.0}
    window = {"arrived_pkts": 100, "dropped_pkts": loss, "queue_delay_ms": delay}
    window |= {"utilisation_pct": 99.0, "retransmitted_pkts": 0, "timeouts": 0}
    window |= {"jain": 1.0, "least_share": None}
    return {"cell": name, "seed": seed, "windows": dict.fromkeys(WINDOWS, window)}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recordings, with the first two runs of the first one."""
    kept = recorded.folder()
    monkeypatch.setattr(recorded, "LINUX", tmp_path)
    folder = recorded.folder()
    folder.mkdir()
    lines = json.loads((kept / "windows.json").read_text())["records"]
    two = [line for line in lines if line["cell"] == FIRST][:2]
    (folder / "windows.json").write_text(json.dumps({"records": two}))
    cells = pq.read_table(kept / "flows.parquet", filters=[("cell", "==", FIRST)])
    pq.write_table(cells.slice(0, 2 * 10 * 120), folder / "flows.parquet")
    return folder


FIRST, OTHER = "10M-20ms-10xreno-pie", "10M-20ms-1xcubic-codel"
ORDER = {OTHER: 0, FIRST: 1}


def test_runs_join_what_the_file_holds_and_replace_their_like(files: Path) -> None:
    recorded.add([record(FIRST, 1)], ORDER)
    recorded.add([record(OTHER, 2), record(OTHER, 1)], ORDER)
    recorded.add([record(FIRST, 1, loss=7), record("gone", 1)], ORDER)
    assert list(recorded.held()) == [(OTHER, 1), (OTHER, 2), (FIRST, 1)]
    found = recorded.read()
    assert found.host[FIRST][0]["start"]["dropped_pkts"] == 7


def test_the_first_recording_is_the_reference_and_the_hosts_runs_where_it_has_no_cell(
    files: Path,
) -> None:
    recorded.add([record(FIRST, 1), record(OTHER, 1)], ORDER)
    found = recorded.read()
    assert found.reference(FIRST) == found.first[FIRST] and len(found.first[FIRST]) == 2
    assert found.reference(OTHER) == found.host[OTHER]
    assert len(found.both(FIRST)) == 1 and not found.both(OTHER)
    # 10 flows of a PIE that has just begun.
    assert 0.6 < found.first[FIRST][0]["start"]["jain"] < 0.8
    assert not found.reference("no such cell")


def test_the_page_says_what_each_harness_recorded_and_how_far_they_are_apart(files: Path) -> None:
    recorded.add([record(FIRST, 1, loss=60), record(FIRST, 2, loss=60)], ORDER)
    found = recorded.read()
    rows = [
        Compared(
            cell(FIRST).cell,
            window,
            [run[window] for run in found.reference(FIRST)],
            (),
            None,
            [run[window] for run in found.both(FIRST)],
        )
        for window in WINDOWS
    ]
    text = harnesses.section(rows, found)
    assert "1 cells in `windows.json`" in text and "so far 1 cells" in text
    assert "| loss % | **0** of 2 | 0 | 0 | 2 |" in text
    assert not harnesses.section([], found)


@pytest.mark.parametrize("windows", ["", "[]", "{}", '{"records": [{}]}', None])
@pytest.mark.parametrize("name", ["windows.json", "host.json"])
def test_a_damaged_list_of_runs_is_one_sentence(
    files: Path, name: str, windows: str | None
) -> None:
    recorded.add([record(FIRST, 1)], ORDER)
    text = (files / name).read_text()
    (files / name).write_text(text[:-9] if windows is None else windows)
    with pytest.raises(SystemExit, match="not a whole recording"):
        recorded.read()


def test_a_seed_that_is_missing_is_one_sentence(files: Path) -> None:
    recorded.add([record(FIRST, 2)], ORDER)
    with pytest.raises(SystemExit, match=f"seed 2 of {FIRST}, and not 1"):
        recorded.read()


@pytest.mark.parametrize("damage", ["cut", "gone", "half", "other column", "other order", "longer"])
def test_damaged_flows_are_one_sentence(files: Path, damage: str) -> None:
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


def test_what_is_filed_has_a_tenth_of_a_microsecond() -> None:
    found = {
        "core": "x",
        "windows": {"start": {"arrived_pkts": 7, "mean": 1.23456789, "jain": 1.0}},
    }
    assert rounded(found) == {
        "core": "x",
        "windows": {"start": {"arrived_pkts": 7, "mean": 1.2346, "jain": 1.0}},
    }
