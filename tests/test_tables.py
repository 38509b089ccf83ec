# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Tables: whole at any width, one name for one number, and what differs beside what does not."""

from __future__ import annotations

import io
import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sojourn
from rich.console import Console
from sojourn import _native, algorithms
from sojourn.bench import print_measured
from sojourn.cli import status, tables
from sojourn.cli.tables import print_result
from sojourn.result.compare import differences
from sojourn.result.metrics import METRICS, OF_GROUPS
from sojourn.result.stats import estimate
from sojourn.show import page
from sojourn.show.tables import Column, Table, console, interval, print_columns, print_table

from tests.conftest import SMALL

AQMS = [
    *sorted(algorithms.algorithms()),
    *(f"codel:target={n}ms,interval={n}0ms" for n in range(1, 9)),
]
Print = Callable[[Console], None]


def printed(width: int, print_it: Print) -> str:
    sink = io.StringIO()
    print_it(Console(file=sink, width=width))
    return sink.getvalue()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> sojourn.Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        scenario = sojourn.loads(SMALL.replace('"2 s"', '"1 s"'))
        return sojourn.run(scenario, aqms=AQMS[:10], seeds=10, workers=1)


@pytest.mark.parametrize("width", [60, 80, 100, 10_000])
def test_ten_algorithms_with_ten_seeds_lose_no_number_and_no_label(
    many: sojourn.Result, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lines(width: int) -> str:
        def print_it(console: Console) -> None:
            monkeypatch.setattr(tables, "console", lambda: console)
            print_result(many, None)

        return printed(width, print_it)

    text, full = lines(width), lines(10_000)
    assert "…" not in text and "..." not in text
    assert all(len(line) <= width for line in text.splitlines() if line[0] in "┏┃┡│└")
    cells = re.compile(r"[-+]?\d+\.\d+")
    assert sorted(cells.findall(text)) == sorted(cells.findall(full))
    for aqm in AQMS[:10]:
        assert all(part in text for part in aqm.split(","))


@pytest.mark.parametrize("width", [30, 80])
def test_a_block_repeats_the_labels(width: int) -> None:
    labels = [Column("aqm", ["first", "second:with=1,many=2,words=3"])]
    columns = [Column(f"n{i}", [f"{i}.00", f"{i}.50"]) for i in range(12)]
    text = printed(width, lambda console: print_columns(console, "a title", labels, columns))
    assert text.count("a title") == 1
    assert text.count("first") == text.count("words=3") > 1
    assert all(f"{i}.50" in text for i in range(12))


def test_a_pipe_gets_all_columns_side_by_side(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert status(["run", str(small), "--seeds", "2"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│ codel")]
    assert row.count("±") == 8


@pytest.mark.parametrize(("columns", "width"), [("120", 120), ("", 132)])
def test_a_terminal_without_signs_has_its_own_width(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("LINES", raising=False)
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: os.terminal_size((132, 40)))
    made = console()
    assert made.is_dumb_terminal and made.width == width


@pytest.mark.parametrize("words", [["list"], *(["show", name] for name in algorithms.every())])
def test_names_and_numbers_of_a_list_are_whole(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines if line[0] in "┏┃┡│└")
    said = " ".join(" ".join(lines).replace("│", " ").split())
    for name in [words[1]] if words[1:] else algorithms.every():
        assert name in said
        for row in algorithms.rows_of(name).values() if words[1:] else ():
            default = row.write(row.default)
            bounds = re.split(" to | or ", row.range())
            texts = [row.name, *bounds, *([] if isinstance(default, bool) else [str(default)])]
            assert all(text in said for text in texts)


def test_a_narrow_list_labels_what_its_sentences_do_not_tell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert status(["list"]) == 0
    first, *lines = (line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert first.startswith(f"{len(algorithms.every())} algorithms, ")
    at = lines.index("codel")
    assert lines[at + 2].startswith("  source: ")
    assert lines[at + 3] == "  ecn: yes; acts: dequeue; hosts: sim, linux"
    assert status(["show", "video"]) == 0
    assert "  default: 4 s; range: 100 ms to 60 s" in capsys.readouterr().out


def test_a_number_has_one_name() -> None:
    for metric in METRICS.values():
        for kind in ("system_delay", "queue_delay"):
            if metric.name.startswith(kind):
                assert metric.label.startswith(kind.replace("_", " "))
                assert page.heading(metric.name).startswith(kind.replace("_", " "))


def test_what_was_not_measured_has_one_dash_and_no_half_width() -> None:
    assert page.spread(estimate([float("nan"), 1.0])) == "–"
    assert page.spread(estimate([2.0, 4.0])).startswith("3.00 ± ")
    assert page.spread(estimate([2.0])) == "2.00"


def test_every_name_of_a_metric_is_on_the_page_of_columns_or_on_that_of_results() -> None:
    docs = Path(__file__).parent.parent / "docs"
    columns, results = docs / "reference/columns.md", docs / "guide/results.md"
    rows = (columns.read_text() + results.read_text()).splitlines()
    for metric in METRICS.values():
        column = f"| `{metric.name}` | {metric.unit} |"
        listed = [row for row in rows if row.startswith(column)]
        assert f"| {metric.label} | `{metric.name}` | {metric.unit} |" in rows or any(
            row.endswith(f"| {metric.label} |") for row in listed
        ), metric.name


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0.0213, 0.0213], "0.0213 ± 0.0000"),
        ([2.0, 4.0], "3.00 ± 12.71"),
        ([0.165, 0.1654], "0.165 ± 0.003"),
        ([0.0], "0.00"),
        ([], "–"),
    ],
)
def test_a_mean_is_written_with_half_of_its_interval(values: list[float], text: str) -> None:
    assert interval(estimate(values)) == text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([304.0, 302.0], "303 ± 13"),
        ([12.0, 12.05], "12.0 ± 0.3"),
        ([0.0, 1.0], "0.5 ± 6.4"),
        ([7.0], "7"),
        ([1200.4], "1200"),
    ],
)
def test_a_mean_count_is_whole_unless_it_is_small(values: list[float], text: str) -> None:
    assert interval(estimate(values), is_count=True) == text
    assert OF_GROUPS["lost_pkts"].is_count and not METRICS["queue_pkts_mean"].is_count


@pytest.mark.parametrize("is_brief", [True, False])
def test_a_brief_table_is_one_block_that_names_the_columns_left_out(is_brief: bool) -> None:
    labels = [Column("aqm", ["first", "second"])]
    columns = [Column(f"number\n{i}", [f"{i}.00", f"{i}.50"]) for i in range(12)]
    table = Table("a title", labels, columns, is_brief=is_brief)
    text = printed(60, lambda console: print_table(console, table))
    assert text.count("second") == (1 if is_brief else 3)
    left_out = [i for i in range(12) if f"{i}.50" not in text]
    named = "this terminal is too narrow for: " + ", ".join(f"number {i}" for i in left_out)
    assert (named in " ".join(text.split())) == is_brief == bool(left_out)
    assert "too narrow" not in printed(200, lambda console: print_table(console, table))


def test_headings_are_folded_where_that_saves_a_block() -> None:
    columns = [Column(f"a long heading\nnumber {i}", [f"{i}.00"]) for i in range(5)]
    text = printed(60, lambda console: print_columns(console, "", [Column("aqm", [""])], columns))
    assert text.count("aqm") == 1 and text.count(" heading ") == 5
    (one,) = columns[:1]
    assert "a long heading" in printed(60, lambda console: print_columns(console, "", [], [one]))


_CALLS = (
    SMALL
    + """
[[dumbbell.flows]]
name = "call"
transport = "udp"
app = "voip"
count = {count}
"""
)


def call_table(count: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The table of calls beside a download, at 80 columns."""
    result = sojourn.run(sojourn.loads(_CALLS.format(count=count)), aqms=["fifo", "codel"])

    def print_it(console: Console) -> None:
        monkeypatch.setattr(tables, "console", lambda: console)
        print_result(result, None)

    _, _, text = printed(80, print_it).partition("flows 'call'")
    return text


def test_80_columns_have_of_a_call_its_score_its_delay_and_its_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = call_table(1, monkeypatch)
    head, _, left_out = text.partition("too narrow for:")
    words = " ".join(head.replace("┃", " ").split())
    for each in ("score", "99th", "mean", "lost", "goodput"):
        assert each in words.partition("fifo")[0], each
    assert "median" in left_out
    for silent in ("Jain", "least flow", "sent again", "connections opened"):
        assert silent not in text, silent


def test_several_calls_are_compared_with_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = call_table(2, monkeypatch)
    assert "Jain" in text and "sent again" not in text


def test_differences_are_paired_by_seed(many: sojourn.Result) -> None:
    found = {(d.case.aqm, d.metric.name): d for d in differences(many)}
    first, other = AQMS[0], AQMS[3]
    metric = METRICS["queue_delay_mean_ms"]

    def values(aqm: str) -> list[float]:
        runs = [run for run in many if run.labels["aqm"] == aqm]
        return [metric.measure(run.report, "bottleneck", "whole run") for run in runs]

    difference = found[other, metric.name]
    by_hand = estimate([a - b for a, b in zip(values(other), values(first), strict=True)])
    assert (difference.less.aqm, difference.pairs) == (first, 10)
    assert math.isclose(difference.estimate.mean, by_hand.mean)
    assert math.isclose(difference.estimate.half, by_hand.half)


def test_a_run_says_what_differs_and_what_does_not(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(small), "--seeds", "5", "--aqm", "codel", "--aqm", "fifo"]
    assert status([*words, "--aqm", "codel:limit=999"]) == 0
    text = capsys.readouterr().out
    assert "difference to codel, seed by seed" in text
    assert "+0.00" in text and "[+0.00, +0.00]" in text
    (count,) = re.findall(r"of (\d+) intervals at 95 %, \S+ miss by chance", text)
    assert count == str(len(re.findall(r"\[[+-]\S+, [+-]\S+\]", text)))
    assert status([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["differences"]
    delay = next(entry for entry in found if entry["metric"] == "queue_delay_mean_ms")
    assert delay["aqm"] == "fifo" and delay["to"] == "codel" and delay["shown"]
    assert delay["ci95"][0] < delay["difference"] < delay["ci95"][1]


@pytest.mark.parametrize(
    ("difference", "written"), [(1.5, "+1.50"), (-0.0004, "-0.0004"), (0.0, "0"), (-0.0, "0")]
)
def test_a_difference_of_one_seed_is_never_written_as_a_zero_with_a_sign(
    difference: float, written: str
) -> None:
    assert tables._interval(estimate([difference]), 1) == written


def test_one_seed_shows_no_difference(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(small), "--aqm", "codel", "--aqm", "fifo"]) == 0
    assert "difference" not in capsys.readouterr().out


@pytest.mark.parametrize("width", [60, 80])
def test_the_bench_loses_no_number(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = {
        "queue": "codel",
        "packets": 4_931_234,
        "us_per_packet": 0.719,
        "engine_us_per_packet": 0.243,
        "ns2_us_per_packet": 12.345,
        "speedup_over_ns2": 17.17,
        "engine_speedup_over_ns2": 50.8,
        "instructions_per_packet": 2345.0,
        "peak_rss_mb": 39.0,
        "command": "time sojourn",
        "ns2_command": None,
    }
    browsers = {
        "queue": "lqd:qref=24,limit=5000",
        "simulated_s": 660,
        "packets": 27_654_321,
        "cpu_seconds": 15.25,
        "times_real_time": 43.27,
        "engine_times_real_time": 45.61,
        "peak_rss_mb": 178.0,
        "command": "time sojourn run web.toml",
    }
    web = {
        "results": [browsers],
        "setup_cpu_seconds": 0.79,
        "memory": [{"simulated_s": 121, "peak_rss_mb": 171.0}],
    }
    measured = {"results": [result], "flows": [], "memory": [], "web": web}
    monkeypatch.setenv("COLUMNS", str(width))
    print_measured(measured)
    text = capsys.readouterr().out
    for number in ("4,931,234", "0.719", "0.243", "12.345", "17.17", "50.80", "2345", "39"):
        assert number in text
    for number in ("660", "27,654,321", "15.25", "43.3", "45.6", "178", "0.79 s", "171 MB"):
        assert number in text


def breaking(scenario: str, seed: int, *others: Any) -> Any:
    """A run whose algorithm marks where it must not."""
    outcome = RUN(scenario, seed, *others)
    assert outcome
    text, tables = outcome
    data = json.loads(text)
    data["queues"][0]["bad_verdicts"] = {"mark": 3}
    return json.dumps(data), tables


RUN = _native.run


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_broken_rules_are_told_at_the_end_with_status_3(
    words: list[str],
    small: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_native, "run", breaking)
    assert status(["run", str(small), "--seeds", "2", "--workers", "1", *words]) == 3
    said = capsys.readouterr()
    assert "codel broke the rule 'mark' (enum aqm_bad in aqm.h) 6 times" in said.err
    assert "the queue 'bottleneck'" in said.err
    assert "utilisation" in said.out


TWO_GROUPS = """
[[dumbbell.flows]]
name = "voice"
count = 2
transport = "udp"
app = { kind = "cbr", rate = "6 Mbit/s", payload = "1000 B" }
"""


def test_groups_of_flows_have_tables_and_rows_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = sojourn.run(sojourn.loads(SMALL + TWO_GROUPS), aqms=["codel", "fifo"], workers=1)

    def print_it(console: Console) -> None:
        monkeypatch.setattr(tables, "console", lambda: console)
        print_result(result, None)

    text = printed(200, print_it)
    titles = [line for line in text.splitlines() if line.startswith("flows '")]
    rows = result.groups().to_pylist()
    names = list(dict.fromkeys(row["group"] for row in rows))
    assert len(names) == 2 and names[1] == "voice"
    assert [title.split("'")[1] for title in titles] == names
    of_voice = [row for row in rows if row["group"] == "voice"]
    assert of_voice[0]["data_pkts_sent"] > of_voice[0]["lost_pkts"] > 0
    for row in of_voice:
        assert f" {row['lost_pkts']:.0f} " in text


def test_flows_of_each_name_have_differences_and_no_fairness_among_unlike_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = sojourn.run(sojourn.loads(SMALL + TWO_GROUPS), aqms=["codel", "fifo"], seeds=3)
    found = differences(result)
    names = {(d.place, d.metric.name) for d in found if d.of_group}
    assert {("voice", "delay_ms"), ("voice", "jitter_ms"), ("voice", "lost_pkts")} <= names
    assert "jain" not in {d.metric.name for d in found if not d.of_group}
    print_result(result, None)
    text = capsys.readouterr().out
    assert "flows 'voice', whole run: difference to codel, seed by seed" in text


def test_linux_is_set_beside_the_simulator(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sim = sojourn.run(small, aqms=["codel"], seeds=2)
    there = [replace(run, labels={**run.labels, "host": "linux"}) for run in sim]
    both = replace(sim, runs=(*sim.runs, *there))
    assert {(d.case.host, d.less.host, d.estimate.mean) for d in differences(both)} == {
        ("linux", "sim", 0)
    }
    print_result(both, None)
    assert "linux − sim: none, every value is equal" in capsys.readouterr().out
    of_pie = sojourn.run(small, aqms=["pie"], seeds=2)
    other = [
        replace(run, labels={**run.labels, "host": "linux"}, report=beside.report)
        for run, beside in zip(sim, of_pie, strict=True)
    ]
    print_result(replace(sim, runs=(*sim.runs, *other)), None)
    assert "linux − sim, seed by seed" in capsys.readouterr().out
