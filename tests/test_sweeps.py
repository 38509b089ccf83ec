# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Sweeps: which cells there are, what becomes of them, and that no run is made twice."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sojourn
from sojourn import _native
from sojourn.cli import status
from sojourn.core.errors import InputError, RunError
from sojourn.result.stats import estimate
from sojourn.store.store import Store
from sojourn.sweeps import file
from sojourn.sweeps.axes import Cell
from sojourn.sweeps.quantity import Span, column
from sojourn.user_aqm import library

from tests.conftest import SMALL

SHORT = SMALL.replace("2 s", "500 ms") + 'start_spread = "100 ms"\n'
RATES = '[[axes]]\nkey = "dumbbell.rate"\nvalues = ["1 Mbit/s", "20 Mbit/s"]\n'
RTTS = '[[axes]]\nkey = "dumbbell.rtt"\nfrom = "10 ms"\nto = "1 s"\nsteps = 3\nscale = "log"\n'


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scenario.toml").write_text(SHORT)


def write(text: str, head: str = "") -> Path:
    path = Path("sweep.toml")
    path.write_text(f'scenario = "scenario.toml"\n{head}\n{text}')
    return path


def cells(text: str, head: str = "") -> list[Cell]:
    return list(file.load(write(text, head)).cells)


def run_keys(out: Path) -> dict[str, int]:
    """Each finished run, and the file that it is in."""
    return {path.parent.name: path.stat().st_ino for path in out.glob("runs/??/*/run.json")}


def test_a_grid_has_every_value_with_every_other() -> None:
    found = cells(RATES + RTTS)
    assert [cell.label for cell in found] == [
        f"{rate}, {rtt}" for rate in ("1 Mbit/s", "20 Mbit/s") for rtt in ("10 ms", "100 ms", "1 s")
    ]
    assert found[1].columns == {"rate_mbps": 1.0, "rtt_ms": 100.0}
    assert found[1].changes == {"dumbbell.rate": "1 Mbit/s", "dumbbell.rtt": "100 ms"}


@pytest.mark.parametrize(
    ("low", "high", "steps", "scale", "values"),
    [
        ("10 ms", "50 ms", 5, "even", ["10 ms", "20 ms", "30 ms", "40 ms", "50 ms"]),
        ("100 us", "1 ms", 3, "even", ["100 us", "550 us", "1 ms"]),
        ("1 Mbit/s", "10 Mbit/s", 3, "log", ["1 Mbit/s", "3.16 Mbit/s", "10 Mbit/s"]),
        ("10 Mbit/s", "1 Mbit/s", 3, "log", ["10 Mbit/s", "3.16 Mbit/s", "1 Mbit/s"]),
        ("1 kB", "2 kB", 4, "even", ["1 kB", "1.333 kB", "1.667 kB", "2 kB"]),
        ("1 KiB", "2 KiB", 4, "even", ["1 KiB", "1.365 kB", "1.707 kB", "2 KiB"]),
        ("1 packet", "100 packets", 3, "log", ["1 packet", "10 packets", "100 packets"]),
        ("1 %", "2 %", 3, "even", ["1 %", "1.5 %", "2 %"]),
        (1, 100, 3, "log", [1, 10, 100]),
        (1, 4, 3, "even", [1, 2, 4]),
        (0.5, 1, 3, "even", [0.5, 0.75, 1.0]),
    ],
)
def test_values_between_two_ends_read_as_people_write_them(
    low: Any, high: Any, steps: int, scale: Any, values: list[object]
) -> None:
    span = Span.read(low, high, scale)
    assert [span.value(i / (steps - 1), steps - 1) for i in range(steps)] == values


@pytest.mark.parametrize(
    ("key", "values", "suffix", "numbers"),
    [
        ("dumbbell.rtt", ["500 us", "1 s", 0], "_ms", [0.5, 1000.0, 0.0]),
        ("dumbbell.rate", ["100 kbit/s", "1 MB/s", "100mbit"], "_mbps", [0.1, 8.0, 100.0]),
        ("flows.f.app.size", ["1 kB", "1 KiB"], "_bytes", [1000, 1024]),
        ("queue.limit", [10, "20 packets"], "_pkts", [10, 20]),
        ("limit", [10], "_pkts", [10]),
        ("loss", ["1 %", "0.5 %"], "_pct", [1.0, 0.5]),
        ("flows.f.count", [1, 2], "", [1, 2]),
        ("flows.f.count", [1, 2.5], "", [1.0, 2.5]),
        ("queue.ecn", [True, False], "", [True, False]),
        ("flows.f.transport.cc", ["reno", "cubic"], "", ["reno", "cubic"]),
        ("flows.f.app", [{"kind": "bulk"}, "cbr"], "", ['{kind = "bulk"}', "cbr"]),
        ("mixed", ["1 s", "1 kB"], "", ["1 s", "1 kB"]),
    ],
)
def test_a_column_has_one_unit_and_says_which(
    key: str, values: list[object], suffix: str, numbers: list[object]
) -> None:
    found = column(key, values)
    assert (found.suffix, list(found.values)) == (suffix, numbers)


def test_several_keys_move_together() -> None:
    pairs = '[[axes]]\nkeys = ["flows.bulk.count", "queue.limit"]\nvalues = [[1, 100], [9, 900]]\n'
    first, second = cells(pairs)
    assert first.changes == {"flows.bulk.count": 1, "queue.limit": 100}
    assert second.columns == {"flows_bulk_count": 9, "limit_pkts": 900}
    one = '[[axes]]\nname = "rtt"\nkeys = ["a.delay", "b.delay"]\nvalues = ["1 ms", "2 ms"]\n'
    assert [cell.changes for cell in cells(one)][1] == {"a.delay": "2 ms", "b.delay": "2 ms"}
    assert cells(one)[1].columns == {"rtt_ms": 2.0}


def test_named_values_say_what_they_set() -> None:
    (off, on) = cells(
        '[[axes]]\nname = "signal"\nvalues = [{ name = "drop", set = { "queue.ecn" = false } }, '
        '{ name = "ecn", set = { "queue.ecn" = true, "flows.bulk.transport.ecn" = true } }]\n'
    )
    assert (off.texts, on.columns) == ({"signal": "drop"}, {"signal": "ecn"})
    assert on.changes == {"queue.ecn": True, "flows.bulk.transport.ecn": True}


def test_a_list_has_the_cells_that_it_names() -> None:
    rows = '[[plan.cells]]\n"dumbbell.rate" = "1 Mbit/s"\n"dumbbell.rtt" = "1 ms"\n'
    found = cells(rows + rows.replace("1 ms", "2 ms"), '[plan]\nkind = "list"\n')
    assert [cell.label for cell in found] == ["1 Mbit/s, 1 ms", "1 Mbit/s, 2 ms"]


def test_a_latin_hypercube_has_each_stratum_of_each_axis_once() -> None:
    axes = (
        '[[axes]]\nkey = "dumbbell.rtt"\nfrom = "10 ms"\nto = "110 ms"\n'
        '[[axes]]\nkey = "dumbbell.rate"\nfrom = "1 Mbit/s"\nto = "100 Mbit/s"\nscale = "log"\n'
        '[[axes]]\nkey = "flows.bulk.transport.cc"\nvalues = ["reno", "cubic"]\n'
    )

    def drawn(seed: int) -> list[Cell]:
        return cells(axes, f'plan = {{ kind = "latin_hypercube", cells = 50, seed = {seed} }}\n')

    found = drawn(1)
    rtts = sorted(float(cell.columns["rtt_ms"]) for cell in found)
    assert all(10 + 2 * n <= rtt <= 12 + 2 * n for n, rtt in enumerate(rtts))
    rates = sorted(float(cell.columns["rate_mbps"]) for cell in found)
    assert sum(rate < 10 for rate in rates) == 25
    kinds = [cell.columns["flows_bulk_transport_cc"] for cell in found]
    assert kinds.count("reno") == kinds.count("cubic") == 25
    assert [cell.label for cell in drawn(1)] == [cell.label for cell in found]
    assert [cell.label for cell in drawn(2)] != [cell.label for cell in found]


def test_rounding_moves_no_draw_of_a_latin_hypercube_into_another_stratum() -> None:
    axes = (
        '[[axes]]\nkey = "dumbbell.rtt"\nfrom = "10 ms"\nto = "110 ms"\n'
        '[[axes]]\nkey = "dumbbell.rate"\nfrom = "100 Mbit/s"\nto = "1 Mbit/s"\nscale = "log"\n'
    )
    count = 1000
    found = cells(axes, f'plan = {{ kind = "latin_hypercube", cells = {count}, seed = 3 }}\n')
    rtts = {math.floor((float(c.columns["rtt_ms"]) - 10) / 100 * count + 1e-6) for c in found}
    logs = [math.log(float(c.columns["rate_mbps"])) / math.log(100) for c in found]
    rates = {math.floor((1 - log) * count + 1e-6) for log in logs}
    assert rtts == rates == set(range(count))


def test_a_sweep_is_a_tidy_table_and_a_folder_that_explains_itself() -> None:
    head = 'aqms = ["codel", "pie"]\nseeds = 2\nmetrics = ["queue_delay_mean_ms", "jain"]\n'
    out = Path("out")
    swept = sojourn.sweep(write(RATES, head), out=out)
    table = pd.read_parquet(out / "cells.parquet")
    labels = ["cell", "rate_mbps", "aqm", "host", "tested", "queue", "window", "seed"]
    labels += ["fingerprint"]
    assert list(table.columns) == [*labels, "queue_delay_mean_ms", "jain"]
    assert list(table["rate_mbps"]) == [1.0] * 4 + [20.0] * 4
    assert list(table["aqm"]) == ["codel", "codel", "pie", "pie"] * 2
    assert list(table["seed"]) == [1, 2] * 4
    alone = sojourn.run(
        "scenario.toml", aqms=["pie"], changes={"dumbbell.rate": "20 Mbit/s"}, seeds=2
    )
    values = [run.report["queues"][0]["windows"][0]["queue_delay_ms"]["mean"] for run in alone]
    assert list(table["queue_delay_mean_ms"])[-2:] == values
    means = pd.read_parquet(out / "means.parquet").iloc[-1]
    found = estimate(values)
    assert (means["seeds"], means["queue_delay_mean_ms"]) == (2, found.mean)
    assert means["queue_delay_mean_ms_ci95"] == found.half
    assert means["queue_delay_mean_ms_seeds"] == 2
    head_of = json.loads((out / "result.json").read_text())
    assert set(head_of["files"]) == {
        "cells.parquet",
        "means.parquet",
        "groups.parquet",
        "flows.parquet",
        "sweep.toml",
        "scenario.toml",
        "README.md",
    }
    assert "sojourn sweep sweep.toml" in (out / "README.md").read_text()
    os.chdir(out)
    assert sojourn.sweep("sweep.toml", out=".").made == 0
    assert repr(swept) == "<Swept: small, 2 cells, 8 runs>"


GROUPS = (
    SHORT.replace("500 ms", "3 s")
    + """
[[dumbbell.flows]]
name = "web"
count = 9
app = { kind = "web", think = "50 ms" }

[[dumbbell.flows]]
name = "call"
transport = "udp"
app = "voip"
"""
)


def test_a_metric_of_a_group_is_the_number_that_a_run_files() -> None:
    """So are metrics that need more of a run than its report."""
    Path("scenario.toml").write_text(GROUPS)
    names = ["web.page_p95_s", "call.delay_ms", "bulk.jain", "goodput_mbps of bulk", "probability"]
    head = f"aqms = ['pie']\nmetrics = {json.dumps(names)}\n"
    (row, _) = sojourn.sweep(write(RATES, head)).cells_table().to_pylist()
    result = sojourn.run("scenario.toml", aqms=["pie"], changes={"dumbbell.rate": "1 Mbit/s"})
    groups = {group["group"]: group for group in result.groups().to_pylist()}
    assert row["web.page_p95_s"] == pytest.approx(groups["web"]["page_p95_s"], rel=1e-3)
    assert row["call.delay_ms"] == groups["call"]["delay_ms"] > 0
    assert row["bulk.jain"] == groups["bulk"]["jain"]
    assert row["goodput_mbps of bulk"] == groups["bulk"]["goodput_mbps"] > 0
    assert 0 < row["probability"] < 1


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("delay_ms", "is of a group of flows; name one: 'GROUP.delay_ms'"),
        ("cal.delay_ms", "the scenario has no such flows. Did you mean 'call'?"),
        ("bulk.jian", "unknown metric 'bulk.jian'. Did you mean 'bulk.jain'?"),
        ("bulk.jain_tcp", "unknown metric 'bulk.jain_tcp'. Did you mean 'jain_tcp'?"),
        ("lan.drop_pct", "no such queues. Valid names: bottleneck."),
        ("bulk.jain', 'jain of bulk", "'jain of bulk' is there twice"),
    ],
)
def test_a_metric_without_its_place_is_refused_with_the_places(metric: str, said: str) -> None:
    Path("scenario.toml").write_text(GROUPS)
    with pytest.raises(InputError) as error:
        file.load(write(RATES, f"metrics = ['{metric}']"))
    assert str(error.value).startswith("sweep.toml:2: metrics[") and said in str(error.value)


def test_a_sweep_keeps_its_groups_and_flows_whatever_traffic_a_cell_has() -> None:
    """Voice and web have columns that the first cell has no number for."""
    Path("scenario.toml").write_text(GROUPS)
    kinds = (
        '[[axes]]\nkey = "flows.web.app"\nvalues = ["bulk", { kind = "web", think = "50 ms" }]\n'
    )
    sojourn.sweep(write(kinds, "seeds = '2..3'"), out="out")
    groups = pd.read_parquet("out/groups.parquet")
    assert list(groups.columns)[:6] == ["cell", "flows_web_app", "aqm", "seed", "host", "group"]
    assert list(groups["seed"].unique()) == [2, 3]
    pages = groups[groups["group"] == "web"].groupby("cell")["page_n"].sum()
    assert pages[1] == 0 < pages[2]
    assert groups[groups["group"] == "call"]["delay_ms"].notna().all()
    flows = pd.read_parquet("out/flows.parquet")
    assert list(flows.groupby("flow")["index"].max()) == [1, 0, 8]
    assert len(flows) == 2 * 2 * 12
    with pytest.raises(InputError, match="there is a column 'group' already"):
        file.load(write('[[axes]]\nname = "group"\nkey = "flows.bulk.count"\nvalues = [1, 2]\n'))


def test_a_command_goes_before_the_keys_of_the_file_and_its_folder_repeats_it() -> None:
    path = write(RATES, "aqms = ['codel']\nseeds = 9\nset = { 'dumbbell.rtt' = '30 ms' }")
    options = ["--aqm", "pie", "--aqm", "fifo", "--seeds", "3..4", "--set", "queue.limit=50"]
    assert status(["sweep", str(path), *options, "--out", "out"]) == 0
    table = pd.read_parquet("out/cells.parquet")
    assert list(table["seed"]) == [3, 4] * 4
    assert list(table["aqm"].unique()) == ["pie", "fifo"]
    os.chdir("out")
    again = sojourn.sweep("sweep.toml", out=".")
    assert again.made == 0
    assert again.spec.changes == {"dumbbell.rtt": "30 ms", "queue.limit": 50}


def test_a_folder_takes_more_seeds_and_refuses_to_lose_some() -> None:
    path = write(RATES)
    sojourn.sweep(path, seeds="3..4", out="out")
    with pytest.raises(InputError, match=r"has seeds 3 to 4, .* ask for all of them: seeds="):
        sojourn.sweep(path, seeds="4..9", out="out")
    assert sojourn.sweep(path, seeds=range(2, 6), out="out").made == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seeds", "1-5"], "seeds 1-5: a number N is wanted"),
        (["--seeds", "5..1"], "seeds 5..1: a number N is wanted"),
        (["--set", "dumbbell.rate=1Mbit/s"], "'dumbbell.rate' is varied by an axis or a seed"),
        (["--aqm", "coddel"], "Did you mean 'codel'?"),
    ],
)
def test_an_option_that_a_sweep_cannot_take_is_one_sentence(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["sweep", str(write(RATES)), *options]) == 2
    assert said in (err := capsys.readouterr().err) and err.count("\n") == 1


def test_python_names_seeds_one_by_one_and_one_algorithm_without_a_list() -> None:
    path = write(RATES)
    swept = sojourn.sweep(path, aqms="pie", seeds=[2, 3])
    assert {(row.aqm, row.seed) for row in swept.rows} == {("pie", 2), ("pie", 3)}
    with pytest.raises(InputError, match=r"seeds: \[1, 3\]: they have gaps; '1..3' has all"):
        sojourn.sweep(path, seeds=[1, 3])


def test_seeds_that_set_values_are_as_many_as_they_are() -> None:
    with pytest.raises(InputError, match=r"^sweep: seeds: the sweep has"):
        sojourn.sweep(write(RATES + seeds_of("flows.bulk.stop", '"10 ms"')), seeds=3)


def test_a_mean_says_over_how_many_seeds_the_metric_was_measured() -> None:
    # Nothing changes while it runs: there is no response to a change.
    swept = sojourn.sweep(write(RATES, 'seeds = 2\nmetrics = ["jain", "step_utilised_s"]\n'))
    for row in swept.means_table().to_pylist():
        assert (row["seeds"], row["jain_seeds"], row["step_utilised_s_seeds"]) == (2, 2, 0)
        assert row["step_utilised_s"] is None


def test_the_json_has_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["sweep", str(write(RATES, "seeds = 2")), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["runs"] == {"all": 4, "made": 4, "damaged": 0}
    assert data["axes"] == [{"name": "rate", "keys": ["dumbbell.rate"], "columns": ["rate_mbps"]}]
    (first, _) = data["cells"]
    labels = {"cell": 1, "rate_mbps": 1.0, "aqm": "codel", "host": "sim", "seeds": 2}
    assert labels.items() <= first.items()
    metric = first["metrics"]["utilisation_pct"]
    assert metric["ci95"][0] <= metric["mean"] <= metric["ci95"][1] and len(metric["values"]) == 2
    assert first["metrics"]["fct_p75_s"]["mean"] is None


@pytest.mark.parametrize("width", [50, 80, 300])
def test_the_table_has_values_as_people_write_them_at_any_width(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert status(["sweep", str(write(RATES + RTTS))]) == 0
    said = capsys.readouterr()
    assert max(map(len, said.out.splitlines())) <= width
    assert "20 Mbit/s" in said.out and "100 ms" in said.out and "…" not in said.out
    assert "6 cells, 6 runs: 0 were there, 6 made" in said.err


def test_what_is_there_is_not_made_again_whatever_the_sweep_is_called() -> None:
    assert sojourn.sweep(write(RATES)).made == 2
    more = RATES.replace('"1 Mbit/s"', '"1 Mbit/s", "5 Mbit/s"')
    assert sojourn.sweep(write(more, "seeds = 2")).made == 4
    assert sojourn.sweep(write(more, "seeds = 2"), again=True).made == 6


def test_a_killed_sweep_goes_on_where_it_was_and_makes_no_run_twice() -> None:
    Path("scenario.toml").write_text(SMALL.replace("2 s", "20 s"))
    path = write('[[axes]]\nkey = "dumbbell.rtt"\nfrom = "10 ms"\nto = "49 ms"\nsteps = 40\n')
    out = Path("out")
    words = [sys.executable, "-m", "sojourn", "sweep", str(path), "--out", "out", "--workers", "2"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        deadline = time.monotonic() + 60
        while len(run_keys(out)) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        command.send_signal(signal.SIGKILL)
        command.wait()
    before = run_keys(out)
    assert 5 <= len(before) < 40 and not (out / "result.json").exists()
    swept = sojourn.sweep(path, out=out)
    after = run_keys(out)
    assert len(after) == 40 and before.items() <= after.items()
    assert swept.made == 40 - len(before)


def test_a_damaged_run_is_made_again_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    path, out = write(RATES), Path("out")
    sojourn.sweep(path, out=out)
    run = next(out.glob("runs/??/*/run.json"))
    run.write_bytes(run.read_bytes()[:-9])
    assert status(["sweep", str(path), "--out", "out"]) == 0
    said = capsys.readouterr().err
    assert "2 runs: 1 were there, 1 made" in said
    assert "1 of them were damaged: moved to out/runs/damaged, and made again" in said


def test_more_seeds_come_until_the_interval_is_narrow() -> None:
    Path("scenario.toml").write_text(SMALL)
    axes = '[[axes]]\nkey = "dumbbell.rate"\nvalues = ["1 Mbit/s", "50 Mbit/s"]\n'
    until = "{ until = 'queue_delay_mean_ms', half_width = '2 ms', at_least = 3, at_most = 30 }"
    head = f'seeds = {until}\nmetrics = ["jain"]\n'
    swept = sojourn.sweep(write(axes, head))
    slow, fast = swept.means()
    metric = swept.spec.measured[1]
    assert metric.name == "queue_delay_mean_ms"
    assert slow.seeds > fast.seeds == 3
    assert fast.estimate(metric).half <= 2
    assert slow.estimate(metric).half <= 2 or slow.seeds == 30
    fewer = estimate(slow.values[metric][:3])
    assert fewer.half > 2, "three seeds would not have been enough"
    seeds = [row.seed for row in swept.rows if row.cell == 1]
    assert seeds == list(range(1, slow.seeds + 1))
    both = sojourn.sweep(write(axes, head + 'aqms = ["codel", "pie"]\n'))
    slowest = [(row.aqm, row.seed) for row in both.rows if row.cell == 1]
    most = len(slowest) // 2
    assert slowest == [(aqm, n + 1) for aqm in ("codel", "pie") for n in range(most)]
    assert sojourn.sweep(write(axes, head)).made == 0


def test_cells_whose_interval_stays_wide_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("scenario.toml").write_text(SMALL)
    axes = '[[axes]]\nkey = "dumbbell.rate"\nvalues = ["1 Mbit/s", "50 Mbit/s"]\n'
    until = "until = 'queue_delay_mean_ms', at_least = 3, at_most = 3"
    for half_width, cells in (("2 ms", "1 of 2 cells"), ("1 us", "2 of 2 cells"), ("1 s", "")):
        write(axes, f"seeds = {{ {until}, half_width = '{half_width}' }}\n")
        assert status(["sweep", "sweep.toml", "--out", "out"]) == 0
        said = capsys.readouterr().err
        assert ("wider than ± " in said) == bool(cells)
        assert cells in said
    assert "wider" not in said


def test_a_window_of_a_queue_may_be_chosen() -> None:
    windows = '\n[record]\nwindows = [{ name = "begin", from = "0 s", to = "400 ms" }, '
    Path("scenario.toml").write_text(
        SHORT + windows + '{ name = "end", from = "400 ms", to = "500 ms" }]\n'
    )
    every = sojourn.sweep(write(RATES))
    assert [mean.window for mean in every.means()] == ["begin", "end"] * 2
    end = sojourn.sweep(write(RATES, 'window = "end"'))
    assert [mean.window for mean in end.means()] == ["end"] * 2
    assert end.made == 0


def test_the_algorithm_may_be_an_axis_and_a_c_file_is_named_from_the_sweep() -> None:
    axes = '[[axes]]\nname = "discipline"\nkey = "dumbbell.aqm"\nvalues = ["codel", "pie"]\n'
    swept = sojourn.sweep(write(axes))
    assert [row.aqm for row in swept.rows] == ["codel", "pie"]
    Path("below").mkdir()
    library.write_template(Path("below/mine.c"))
    Path("below/sweep.toml").write_text(
        f'scenario = "../scenario.toml"\naqms = ["./mine.c"]\n{RATES}'
    )
    own = sojourn.sweep("below/sweep.toml", out="out")
    assert {row.aqm for row in own.rows} == {"mine"}
    assert list(Path("out/own").glob("mine.c@*/mine.c"))
    os.chdir("out")
    assert sojourn.sweep("sweep.toml", out=".").made == 0
    os.chdir("..")
    Path("below/sweep.toml").write_text(
        'scenario = "../scenario.toml"\n'
        '[[axes]]\nname = "discipline"\nkey = "dumbbell.aqm"\nvalues = ["./mine.c", "codel"]\n'
    )
    assert [row.aqm for row in sojourn.sweep("below/sweep.toml").rows] == ["mine", "codel"]


def test_a_scenario_may_stand_in_the_sweep_and_its_result_repeats() -> None:
    inline = SHORT.replace("[dumbbell]", "[scenario.dumbbell]")
    inline = inline.replace("[[dumbbell.flows]]", "[[scenario.dumbbell.flows]]")
    Path("sweep.toml").write_text(f"seeds = 2\n{RATES}[scenario]\n{inline}")
    inside = sojourn.sweep("sweep.toml", out="out")
    assert (inside.made, len(inside.rows)) == (4, 4)
    os.chdir("out")
    assert sojourn.sweep("sweep.toml", out=".").made == 0


def test_a_run_that_fails_is_named_by_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def submit(self, work: Any, job: Any) -> Future[bytes]:
            future: Future[bytes] = Future()
            future.set_exception(ValueError("no luck"))
            return future

    with pytest.raises(RunError, match=r"small, cell 2, codel, seed 1: no luck"):
        sojourn.sweep(write(RATES), client=Failing())


def test_a_table_for_a_script_has_each_mean_and_its_interval_as_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sojourn.cli.sweep._MOST_ROWS", 1)
    path = write(RATES, "seeds = 3\nmetrics = ['queue_delay_mean_ms', 'fct_p75_s']")
    assert status(["sweep", str(path), "--format", "csv", "--out", "out"]) == 0
    title, head, *rows, _ = capsys.readouterr().out.splitlines()
    assert title == "# small: mean ± half of the 95 % interval, 3 seeds"
    of_mean = "queue delay mean (ms)"
    assert head == f'rate,aqm,{of_mean},"{of_mean}, half of the 95 % interval"'
    means = pd.read_parquet("out/means.parquet")
    for row, (_, mean) in zip(rows, means.iterrows(), strict=True):
        numbers = [mean["queue_delay_mean_ms"], mean["queue_delay_mean_ms_ci95"]]
        assert [*map(float, row.split(",")[2:])] == pytest.approx(numbers, rel=1e-11)
        assert numbers[1] == pytest.approx(mean["queue_delay_mean_ms_sd"] * 4.302653 / 3**0.5)
    assert status(["sweep", str(path), "--format", "latex"]) == 0
    assert r"\begin{tabular}{llr}" in capsys.readouterr().out
    assert status(["run", "scenario.toml", "--format", "cvs"]) == 2
    assert "--format cvs: there is no such format. Did you mean 'csv'?" in capsys.readouterr().err


def test_a_long_table_says_how_much_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sojourn.cli.sweep._MOST_ROWS", 2)
    assert status(["sweep", str(write(RATES, "aqms = ['codel', 'pie']"))]) == 0
    assert "2 more rows are in means.parquet of --out, and in --json" in capsys.readouterr().out


def test_a_folder_of_something_else_or_of_more_is_left_alone() -> None:
    sojourn.run("scenario.toml", out="run")
    path = write(RATES, "seeds = 2")
    with pytest.raises(InputError, match="run: holds what another command made; name another"):
        sojourn.sweep(path, out="run")
    sojourn.sweep(path, out="out")
    with pytest.raises(InputError, match=r"holds a sweep that has cells, .* ask for those too"):
        sojourn.sweep(write(RATES.replace("20", "30"), "seeds = 2"), out="out")
    with pytest.raises(InputError, match=r"has seeds 1 to 2, .* ask for all of them: seeds=2,"):
        sojourn.sweep(write(RATES), out="out")
    with pytest.raises(InputError, match="holds what another command made"):
        sojourn.run("scenario.toml", out="out")
    assert status(["reproduce", "duk/1", "--quick", "--out", "out"]) == 2
    with pytest.raises(InputError, match="holds a sweep"):
        sojourn.Result.load("out")
    assert sojourn.sweep(write(RATES + RTTS, "seeds = 2"), out="other").made == 12


def test_a_sweep_without_out_names_the_folder_that_has_its_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["sweep", str(write(RATES))]
    assert status([*words, "--out", "grid"]) == 0
    assert "such runs too" not in capsys.readouterr().err
    assert status(words) == 0
    said = capsys.readouterr().err
    assert "2 made" in said and "grid has such runs too: --out grid takes them" in said
    assert status([*words, "--out", "grid"]) == status(words) == 0
    assert "such runs too" not in capsys.readouterr().err


def test_a_verb_of_results_names_the_command_for_one_cell_of_a_sweep(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status(["sweep", str(write(RATES)), "--out", "grid"]) == 0
    words = ["--format", "flent", "--out", "files"]
    assert status(["export", "grid", *words]) == 2
    said = capsys.readouterr().err
    found = re.search(r"one cell: sojourn (run grid/scenario.toml .*) --out cell", said)
    assert found and found[1].endswith("--set dumbbell.rate=VALUE")
    values = {"AQM": "pie", "N": "2", "VALUE": "1Mbit/s"}
    command = re.sub(r"\b(AQM|N|VALUE)\b", lambda word: values[word[0]], found[1]).split()
    assert status([*command, "--out", "cell"]) == 0
    assert status(["export", "cell", *words]) == 0
    assert len([path for path in Path("files").iterdir() if "pie" in path.name]) == 2


def test_a_thousand_cells_that_are_there_take_seconds() -> None:
    Path("scenario.toml").write_text(SMALL.replace("2 s", "1 ms"))
    rtts = '[[axes]]\nkey = "dumbbell.rtt"\nfrom = "1 ms"\nto = "1000 ms"\nsteps = 1000\n'
    path = write(rtts)
    assert sojourn.sweep(path).made == 1000
    begun = time.process_time()
    assert sojourn.sweep(path).made == 0
    assert time.process_time() - begun < 5


class Scheduler(ThreadPoolExecutor):
    """What a client of Dask has, without Dask."""

    version = _native.core_version()
    workers = 2

    def __init__(self, address: str, **_: Any) -> None:
        super().__init__(2)
        if address == "tcp://127.0.0.1:9":
            raise OSError(address)

    @staticmethod
    def no_host(*_: object) -> None:
        raise OSError("Name or service not known")

    def ncores(self) -> dict[str, int]:
        return dict.fromkeys(map(str, range(self.workers)), 1)

    def run(self, _: Any) -> dict[str, str]:
        return dict.fromkeys(self.ncores(), self.version)

    def submit(self, *words: Any, **named: Any) -> Future[Any]:
        return super().submit(*words, **named)


@pytest.fixture
def dask(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Scheduler]]:
    module = types.ModuleType("distributed")
    client = type("Client", (Scheduler,), {})
    module.Client = client  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "distributed", module)
    yield client


def test_a_cluster_makes_the_runs_and_they_are_filed_here(dask: type[Scheduler]) -> None:
    path = write(RATES)
    assert status(["sweep", str(path), "--dask", "tcp://127.0.0.1:8786", "--out", "out"]) == 0
    assert all(Store(Path("out/runs")).load(key) for key in run_keys(Path("out")))
    assert sojourn.sweep(path, out="out").made == 0


@pytest.mark.parametrize(
    ("address", "changes", "said"),
    [
        ("tcp://127.0.0.1:9", {}, "no scheduler answers there"),
        ("foo", {}, "write tcp://HOST:PORT, as the scheduler prints it"),
        ("foo:8786", {}, "'foo' is no host that is known"),
        ("tcp://a..b:80", {}, "'a..b' is no host that is known"),
        ("http://127.0.0.1:80", {}, "write tcp://HOST:PORT, as the scheduler prints it"),
        ("tcp://127.0.0.1:8786", {"workers": 0}, "has no workers"),
        ("tcp://127.0.0.1:8786", {"version": "0"}, "worker 0 has Sojourn 0, this is"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_one_sentence(
    dask: type[Scheduler],
    address: str,
    changes: dict[str, Any],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in changes.items():
        monkeypatch.setattr(dask, name, value)
    if "foo" in address:  # no name server is asked
        monkeypatch.setattr("socket.getaddrinfo", dask.no_host)
    assert status(["sweep", str(write(RATES)), "--dask", address]) == 2
    assert f"--dask {address}: " in (err := capsys.readouterr().err) and said in err


def test_without_dask_there_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert status(["sweep", str(write(RATES)), "--dask", "tcp://127.0.0.1:8786"]) == 2
    assert "`pip install distributed` installs it" in capsys.readouterr().err


def seeds_of(key: str, *values: str) -> str:
    return "".join(f'[[seeds]]\n"{key}" = {value}\n' for value in values)


def test_a_seed_sets_what_it_says_in_every_cell_and_on_every_algorithm() -> None:
    path = write(
        RATES + seeds_of("flows.bulk.stop", '"10 ms"', '"400 ms"'), 'aqms = ["fifo", "pie"]'
    )
    swept = sojourn.sweep(path, workers=1)
    table = swept.cells_table().to_pandas()
    assert list(table["seed"]) == [1, 2] * 4
    sent = table.groupby("seed")["goodput_mbps"].mean()
    assert sent[1] < sent[2] / 2
    assert {mean.seeds for mean in swept.means()} == {2}


def test_a_result_takes_more_seeds_and_refuses_others() -> None:
    text = RATES + seeds_of("flows.bulk.stop", '"10 ms"')
    sojourn.sweep(write(text), out="out", workers=1)
    grown = text + seeds_of("flows.bulk.stop", '"20 ms"')
    assert sojourn.sweep(write(grown), out="out", workers=1).made == 2
    with pytest.raises(
        InputError, match="holds a sweep that has cells, algorithms, hosts or seeds"
    ):
        sojourn.sweep(write(grown.replace("10 ms", "30 ms")), out="out", workers=1)
    again = file.load(Path("out/sweep.toml"))
    assert [dict(values) for values in again.by_seed] == [
        {"flows.bulk.stop": "10 ms"},
        {"flows.bulk.stop": "20 ms"},
    ]


def test_what_a_seed_sets_is_refused_with_the_seed() -> None:
    text = RATES + seeds_of("flows.bulk.stop", '"10 ms"', '"10 mss"')
    with pytest.raises(InputError, match=r"cell 1 \(1 Mbit/s\), seed 2: .*'10 mss'"):
        sojourn.sweep(write(text), workers=1)


TMIX = SHORT + 'app = { kind = "tmix", vectors = "a.cv" }\n'
ONE_ANSWER = "SEQ 100000 1 1 1\n> 200\nt 100\n< {}\n"


@pytest.mark.parametrize(
    "axis",
    [
        'key = "flows.bulk.app.vectors"\nvalues = ["a.cv", "b.cv"]',
        'keys = ["dumbbell.rtt", "flows.bulk.app.vectors"]\n'
        'values = [["10 ms", "a.cv"], ["10 ms", "b.cv"]]',
        'name = "files"\nvalues = [\n'
        '    { name = "a", set = { "flows.bulk.app.vectors" = "a.cv" } },\n'
        '    { name = "b", set = { "flows.bulk.app" = { kind = "tmix", vectors = "b.cv" } } },\n]',
        None,
    ],
    ids=["key", "keys", "named", "list"],
)
def test_files_of_an_axis_are_named_from_the_sweep_and_found_from_its_result(
    axis: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("in").mkdir()
    Path("in/scenario.toml").write_text(TMIX)
    for name, size in (("a", 2_000), ("b", 20_000)):
        Path(f"in/{name}.cv").write_text(ONE_ANSWER.format(size))
    cells = "".join(
        f'[[plan.cells]]\n"flows.bulk.app.vectors" = "{name}.cv"\n' for name in ("a", "b")
    )
    what = f"[[axes]]\n{axis}\n" if axis else f'plan.kind = "list"\n{cells}'
    text = f'scenario = "scenario.toml"\nmetrics = ["goodput_mbps"]\n{what}'
    Path("in/sweep.toml").write_text(text)
    first = sojourn.sweep("in/sweep.toml", out="out")
    goodput = [mean.estimate(first.spec.metrics[0]).mean for mean in first.means()]
    assert goodput[1] == pytest.approx(10 * goodput[0])
    # Here and from the result's own folder it is the same sweep.
    assert sojourn.sweep("in/sweep.toml", out="out").made == 0
    monkeypatch.chdir("out")
    assert sojourn.sweep("sweep.toml", out=".").made == 0


def test_files_that_a_seed_sets_are_named_from_the_sweep_and_found_from_its_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("in").mkdir()
    Path("in/scenario.toml").write_text(TMIX)
    for name, size in (("a", 2_000), ("b", 20_000)):
        Path(f"in/{name}.cv").write_text(ONE_ANSWER.format(size))
    seeds = seeds_of("flows.bulk.app.vectors", '"a.cv"', '"b.cv"')
    axis = '[[axes]]\nkey = "dumbbell.rtt"\nvalues = ["10 ms"]\n'
    Path("in/sweep.toml").write_text(
        f'scenario = "scenario.toml"\nmetrics = ["goodput_mbps"]\n{axis}{seeds}'
    )
    table = sojourn.sweep("in/sweep.toml", out="out").cells_table().to_pandas()
    small, large = table.sort_values("seed")["goodput_mbps"]
    assert large == pytest.approx(10 * small)
    assert sojourn.sweep("in/sweep.toml", out="out").made == 0
    monkeypatch.chdir("out")
    assert sojourn.sweep("sweep.toml", out=".").made == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_sweep_from_an_editor_that_marks_utf_8_is_kept_and_repeated(end: str) -> None:
    path = write(RATES, 'metrics = ["jain"]')
    path.write_bytes(b"\xef\xbb\xbf" + path.read_text().replace("\n", end).encode())
    assert sojourn.sweep(path, out="out").made == 2
    assert sojourn.sweep("out/sweep.toml", out="out").made == 0
