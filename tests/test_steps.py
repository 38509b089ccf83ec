# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Responses to the changes of a scenario: in tables, files and metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn.cli import status
from sojourn.cli.tables import print_result, responses
from sojourn.core.text import Table
from sojourn.result.compare import cases
from sojourn.result.metrics import find
from sojourn.result.result import Result, Run
from sojourn.store.store import Entry

STEP = """\
format = 2
name = "a step down and up"
duration = "6 s"

[dumbbell]
rate = "20 Mbit/s"
rtt = "20 ms"
aqm = "codel"
schedule = [{ at = "2 s", rate = "2 Mbit/s" }, { at = "4 s", rate = "20 Mbit/s" }]

[[dumbbell.flows]]
name = "bulk"
count = 4

[[dumbbell.flows]]
name = "late"
start = "4 s"
start_spread = "0 s"
"""


def step(at_s: float, peak_ms: float | None, settling_s: float | None) -> dict[str, Any]:
    return {
        "at_s": at_s,
        "to_s": at_s + 1,
        "changes": [{"kind": "rate", "of": "bottleneck", "rate_mbps": 5.0}],
        "peak_delay_ms": peak_ms,
        "later_delay_ms": 5.0,
        "settling_s": settling_s,
        "utilised_s": None,
    }


def report(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    windows = [
        {"name": name, "from_s": from_s, "to_s": to_s, "departed_pkts": 1000}
        for name, from_s, to_s in (("all", 0.0, 9.0), ("late", 2.0, 4.0), ("quiet", 8.0, 9.0))
    ]
    queue = {"name": "bottleneck", "windows": windows, "steps": list(steps), "bad_verdicts": {}}
    return {"queues": [queue], "transport": [{"name": w["name"], "groups": []} for w in windows]}


def of(name: str, window: str, steps: Sequence[dict[str, Any]]) -> float:
    return find(name).measure(report(steps), "bottleneck", window)


def printed(*runs: Sequence[dict[str, Any]]) -> str:
    """The table of runs with these responses, one seed each."""
    found = [
        Run({"aqm": "codel", "seed": seed, "host": "sim"}, report(steps), Entry("", Path(), {}))
        for seed, steps in enumerate(runs, 1)
    ]
    text = StringIO()
    with redirect_stdout(text):
        print_result(Result("", tuple(found)), None)
    return text.getvalue()


def test_a_metric_is_the_mean_over_the_changes_within_a_window() -> None:
    steps = [step(1.0, 99.0, 0.5), step(2.0, 10.0, 0.2), step(3.9, 30.0, 0.6), step(4.0, 99.0, 0.5)]
    assert of("step_peak_delay_ms", "late", steps) == 20.0
    assert of("step_settling_s", "late", steps) == pytest.approx(0.4)
    assert of("step_peak_delay_ms", "all", steps) == pytest.approx(59.5)


def test_what_never_settles_is_in_no_mean_but_in_the_share() -> None:
    steps = [step(2.0, 10.0, None), step(2.5, 10.0, 0.3), step(3.0, 10.0, None), step(3.5, 1.0, 0)]
    assert of("step_settling_s", "late", steps) == pytest.approx(0.15)
    assert of("step_settled_pct", "late", steps) == 50.0
    assert of("step_utilised_pct", "late", steps) == 0.0
    assert math.isnan(of("step_utilised_s", "late", steps))


@pytest.mark.parametrize("steps", [[], [step(1.0, 10.0, 0.1)]])
def test_where_nothing_changes_in_a_window_nothing_is_measured(steps: list[Any]) -> None:
    for name in ("step_peak_delay_ms", "step_settled_pct", "step_utilised_s"):
        assert math.isnan(of(name, "quiet", steps))


def test_a_report_of_an_earlier_version_has_no_steps() -> None:
    old = report([])
    del old["queues"][0]["steps"]
    assert math.isnan(find("step_settling_s").measure(old, "bottleneck", "all"))


def test_a_table_says_in_how_many_seeds_a_time_never_came() -> None:
    text = printed([step(2, 10.0, None)], [step(2, 20.0, 0.3)], [step(2, None, 0.5)])
    assert "never in 1 of 3" in text
    assert "– in 1 of 3" in text
    assert "0.40 ± 1.27" in text  # t with one degree of freedom: 12.706 x 0.1
    assert "never │" in text  # utilisation, in all three


def test_where_no_packet_left_a_table_has_no_times() -> None:
    text = printed([step(2, None, None) | {"later_delay_ms": None}])
    assert "never" not in text
    assert text.count("–") == 4


def test_a_table_of_many_changes_shows_the_first_and_says_how_many_there_are() -> None:
    text = printed([step(float(at), at * 1.5, 0.1) for at in range(1, 26)])
    assert "30.00" in text
    assert "31.50" not in text
    assert "5 more changes are in steps.parquet of --out, and in --json" in text


def test_without_changes_there_is_no_table() -> None:
    assert "change" not in printed([])


@pytest.mark.parametrize("width", ["40", "80", "300"])
def test_a_table_is_whole_at_any_width(
    width: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    text = printed([step(2, 12345.67, 1.5)], [step(2, 12345.67, 1.5)])
    assert "12345.67 ± 0.00" in text
    assert "1.50 ± 0.00" in text


def test_both_changes_of_one_time_are_one_row_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "step.toml").write_text(STEP)
    words = ["run", str(tmp_path / "step.toml"), "--aqm", "codel", "--aqm", "pie", "--seeds", "2"]
    assert status([*words, "--out", str(tmp_path / "out")]) == 0
    rows = pq.read_table(tmp_path / "out/steps.parquet").to_pylist()
    assert len(rows) == 2 * 2 * 2
    assert {row["change"] for row in rows} == {
        "bottleneck 2 Mbit/s",
        "bottleneck 20 Mbit/s, 1 flow late starts",
    }
    for row in rows:
        slow = row["at_s"] == 2
        # A queue of 20 Mbit/s at 2 Mbit/s: what is there and a round trip's packets, ten times as
        # long; the link is full at once.
        assert (row["step_peak_delay_ms"] > 50) == slow
        assert row["step_later_delay_ms"] < row["step_peak_delay_ms"]
        assert (row["step_utilised_s"] == 0) == slow
    assert "bottleneck, after each change: mean ± half of the 95 % interval, 2 seeds" in (
        capsys.readouterr().out
    )


def test_a_result_without_changes_has_no_such_file(small: Path, tmp_path: Path) -> None:
    result = sojourn.run(small, out=tmp_path / "out")
    assert len(result.steps()) == 0
    assert not (tmp_path / "out/steps.parquet").exists()


def test_results_with_other_changes_stand_side_by_side(tmp_path: Path) -> None:
    one = sojourn.run(sojourn.loads(STEP))
    other = sojourn.run(sojourn.loads(STEP.replace('at = "4 s"', 'at = "5 s"')))
    (table,) = responses(cases({"one": one, "other": other}), lambda _, __: [])
    assert isinstance(table, Table)
    assert {"2", "4", "5"} <= {row[0] for row in table.rows}


def test_a_sweep_has_the_response_as_columns(tmp_path: Path) -> None:
    (tmp_path / "step.toml").write_text(STEP)
    path = tmp_path / "sweep.toml"
    path.write_text(
        'scenario = "step.toml"\n'
        'metrics = ["step_peak_delay_ms", "step_settled_pct"]\n'
        '[[axes]]\nkey = "dumbbell.rtt"\nvalues = ["10 ms", "40 ms"]\n'
    )
    near, far = sojourn.sweep(path).means_table().to_pylist()
    assert far["step_peak_delay_ms"] > near["step_peak_delay_ms"] > 0
    assert 0 <= near["step_settled_pct"] <= 100
