# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A quantile of too few values says of how many it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sojourn
from sojourn.cli import status
from sojourn.result.metrics import METRICS, OF_GROUPS, few
from sojourn.sweeps.kept import Kept

from tests.conftest import SMALL

WEB = (
    SMALL.replace('"2 s"', '"12 s"')
    + """
[[dumbbell.flows]]
name = "web"
app = "web"

[[dumbbell.flows]]
name = "call"
transport = "udp"
app = "voip"

[[dumbbell.flows]]
name = "ping"
transport = "udp"
app = "ping"
"""
)
SWEEP = """\
scenario = "web.toml"
metrics = ["web.page_p95_s", "web.page_p50_s", "queue_delay_p95_ms"]

[[axes]]
key = "dumbbell.rate"
values = ["5 Mbit/s", "20 Mbit/s"]
"""


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.toml").write_text(WEB)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


def test_a_quantile_wants_one_value_beyond_it_and_a_mean_wants_none() -> None:
    wanted = {name: METRICS[name].wanted for name in ("fct_p75_s", "fct_p95_s", "fct_p99.9_s")}
    assert wanted == {"fct_p75_s": 4, "fct_p95_s": 20, "fct_p99.9_s": 1000}
    assert METRICS["web.page_p50_s"].wanted == 2 and METRICS["rtt_p5_ms"].wanted == 20
    assert METRICS["queue_delay_mean_ms"].wanted == 0


def test_the_row_with_the_fewest_values_is_named_and_rows_with_none_or_enough_are_not() -> None:
    metric = METRICS["web.page_p95_s"]
    counts = {"fifo": 7.0, "codel": 3.0, "pie": 0.0, "red": 20.0}
    said = few((metric, row, count) for row, count in counts.items())
    assert said == f"few values: '{metric.label}' is of 3 in a seed (codel), and wants 20"
    assert few([(metric, "", 20.0), (metric, "", 0.0)]) == ""


def test_every_quantile_counts_its_values(web: Path) -> None:
    (run,) = sojourn.run(sojourn.load("web.toml"))
    groups = {group["name"]: group for group in run.report["transport"][0]["groups"]}
    queue = run.report["queues"][0]["windows"][0]
    pings = sum(rtt is not None for rtt in run.report["echoes"][0]["rtt_ms"])
    call = groups["call"]
    expected = {
        "queue_delay_p95_ms": queue["departed_pkts"],
        "fct_p75_s": sum(group["fct_s"]["n"] for group in groups.values()),
        "fct_p95_s": sum(group["fct_s"]["n"] for group in groups.values()),
        "web.fct_p75_s": groups["web"]["fct_s"]["n"],
        "web.page_p95_s": groups["web"]["page_s"]["n"],
        "web.page_p90_s": groups["web"]["page_s"]["n"],
        "call.delay_p99_ms": call["data_pkts_sent"] - call["lost_pkts"],
        "rtt_p95_ms": pings,
        "bulk.delay_p99_ms": 0,
    }
    found = {name: METRICS[name].count_run(run, "bottleneck", "whole run") for name in expected}
    assert found == expected and 0 < found["web.page_p95_s"] < 20
    for metric in (*METRICS.values(), *OF_GROUPS.values()):
        if metric.wanted:
            assert metric.count_run(run, "bottleneck", "whole run") >= 0, metric.name


def test_tables_of_runs_warn_in_each_form_and_on_the_page(
    web: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = r"few values: .*'page load time, third quartile' is of \d in a seed, and wants 4$"
    words = ["run", "web.toml", "--out", "r"]
    for form, begin in (("", ""), ("csv", "# "), ("latex", "% "), ("markdown", "")):
        assert status([*words, *(["--format", form] if form else [])]) == 0
        assert re.search(f"^{begin}{said}", capsys.readouterr().out, re.MULTILINE), form
    assert status(["plot", "r", "--out", "page.html", "--figure", "page"]) == 0
    assert re.search(r"Few pages: \d of codel, flows &#39;web&#39;", Path("page.html").read_text())
    said = r"^sojourn: Distribution of page load times: Few pages: \d of codel, flows 'web'"
    assert re.search(said, capsys.readouterr().err, re.MULTILINE)


def test_a_sweep_warns_in_its_table_and_on_its_page_and_keeps_the_counts(
    web: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["sweep", "sweep.toml", "--out", "s"]) == 0
    said = r"few values: 'page load time, 95th percentile, web' is of (\d+) in a seed \(.*codel\)"
    found = re.search(said, " ".join(capsys.readouterr().out.split()))
    counts = [row["web.page_p95_s_n"] for row in Kept.load(Path("s")).means]
    assert found and int(found[1]) == min(counts) and max(counts) < 20
    assert "_n" not in "".join(metric.name for metric in Kept.load(Path("s")).metrics)
    assert status(["plot", "s", "--out", "s.html"]) == 0
    assert f"is of {min(counts)} in a seed" in Path("s.html").read_text()
    for out in ("s.pdf", "s.csv"):
        capsys.readouterr()
        words = ["plot", "s", "--x", "rate", "--out", out]
        assert status([*words, "--y", "web.page_p95_s"]) == 0
        said = capsys.readouterr().err
        assert f"web' is of {min(counts)} in a seed" in said and said.count("\n") == 1
        assert status([*words, "--y", "queue_delay_p95_ms"]) == 0
        assert not capsys.readouterr().err


def test_a_comparison_of_sweeps_names_the_cell_of_either_with_the_fewest_values(
    web: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, start in (("s", "0 s"), ("late", "9 s")):
        words = ["sweep", "sweep.toml", "--set", f"flows.web.start={start}", "--out", name]
        assert status(words) == 0
    found = [[row["web.page_p95_s_n"] for row in Kept.load(Path(n)).means] for n in ("s", "late")]
    fewest = min(map(min, found))
    assert fewest < min(found[0])
    for order in (("s", "late"), ("late", "s")):
        capsys.readouterr()
        assert status(["compare", *order, "--format", "csv"]) == 0
        notes = re.findall("^# (few values: .*)$", capsys.readouterr().out, re.MULTILINE)
        assert [note.split("'")[1] for note in notes] == [
            "page load time, 95th percentile, web",
            "page load time, median, web",
        ]
        assert re.search(
            rf" is of {fewest} in a seed \((5|20) Mbit/s, codel\), and wants 20(;|$)", notes[0]
        )


def test_enough_values_raise_no_warning(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(small)]) == 0
    assert "few values" not in capsys.readouterr().out
