# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn compare`: results side by side, their numbers and what differs in their scenarios."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
import sojourn
from rich.console import Console
from sojourn.cli import status, tables
from sojourn.core.text import FORMATS, Cell, Column, Table
from sojourn.papers.reproduce import Reproduction
from sojourn.result.compare import (
    Case,
    across,
    cases,
    named,
    names,
    scenario_differences,
    within,
)
from sojourn.result.metrics import METRICS
from sojourn.result.stats import estimate

from tests.conftest import SMALL

SHORT = SMALL.replace('"2 s"', '"1 s"')
FARTHER = SHORT.replace('"20 ms"', '"60 ms"').replace("count = 2", "count = 3")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two results of one network with two round trips, and one with another algorithm."""
    near, far, other = tmp_path / "near", tmp_path / "far", tmp_path / "other"
    sojourn.run(sojourn.loads(SHORT), aqms=["codel", "pie"], seeds=3, out=near)
    changes = {"flows.bulk.count": 3, "limit": 50}
    far_scenario = sojourn.loads(FARTHER.replace("count = 3", "count = 2"))
    sojourn.run(far_scenario, aqms=["codel", "pie"], changes=changes, seeds=3, out=far)
    sojourn.run(sojourn.loads(SHORT), aqms=["fifo"], out=other)
    return [near, far, other]


def test_a_row_stands_for_each_algorithm_of_each_result(
    folders: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert status(["compare", *map(str, folders)]) == 0
    text = capsys.readouterr().out
    for result in ("near", "far"):
        for aqm in ("codel", "pie"):
            assert len(re.findall(rf"│ {result} +│ {aqm} +│", text)) == 1
    assert len(re.findall(r"│ other +│ fifo +│", text)) == 1
    assert "mean ± half of the 95 % interval, 1 or 3 seeds" in text
    assert "far − near, seed by seed" in text


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert status(["compare", *words]) == 0
    return capsys.readouterr().out


def test_a_csv_has_every_table_below_its_title(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    text = compared(capsys, *map(str, folders), "--format", "csv")
    titles = [line for line in text.splitlines() if line.startswith("# ")]
    assert titles[0].startswith("# bottleneck, whole run: ")
    assert titles[-1] == "# what differs in the scenarios"
    blocks = [
        "\n".join(line for line in block.split("\n") if not line.startswith("# "))
        for block in text.strip().split("\n\n")
    ]
    assert len(blocks) == len([title for title in titles if "miss by chance" not in title])
    first, *_, last = (list(csv.DictReader(io.StringIO(block))) for block in blocks)
    assert [(row["result"], row["aqm"]) for row in first] == [
        *((name, aqm) for name in ("near", "far") for aqm in ("codel", "pie")),
        ("other", "fifo"),
    ]
    assert all(float(row["utilisation (%)"].split()[0]) > 50 for row in first)
    (rtt,) = [row for row in last if row["key"] == "dumbbell.rtt"]
    assert (rtt["near"], rtt["far"]) == ("20 ms", "60 ms")


def test_markdown_and_latex_have_the_cells_of_the_csv(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(folders[0]), "--format"]
    titled, *rows = list(csv.reader(io.StringIO(compared(capsys, *words, "csv"))))[:4]
    assert titled[0].startswith("# ")
    markdown = compared(capsys, *words, "markdown").splitlines()
    assert markdown[0] == f"**{', '.join(titled).removeprefix('# ').replace(',  ', ', ')}**"
    assert markdown[3].startswith("|---|") and markdown[3].endswith("---:|")
    # In the CSV half of an interval has a column of its own.
    whole = [at for at, title in enumerate(rows[0]) if "half of" not in title]
    rows = [[cells[at] for at in whole] for cells in rows]
    in_markdown = [line.strip("| ").split(" | ") for line in (markdown[2], *markdown[4:6])]
    rounded = [[cell.partition(" ± ")[0] for cell in cells] for cells in in_markdown]
    assert rounded[0] == rows[0]
    for cells, full in zip(rounded[1:], rows[1:], strict=True):
        assert cells[0] == full[0]
        for cell, number in zip(cells[1:], full[1:], strict=True):
            assert float(cell) == pytest.approx(float(number), rel=0.005, abs=0.005)
    latex = compared(capsys, *words, "latex").splitlines()
    assert latex[1] == r"% needs \usepackage{booktabs}"
    assert latex[2] == r"\begin{tabular}{lrrrrrrrr}" and latex[3] == r"\toprule"
    # Each line of a heading is a row.
    head = [line.removesuffix(r" \\").split(" & ") for line in latex[4:7]]
    assert [" ".join(filter(None, column)) for column in zip(*head, strict=True)] == [
        title.replace("%", r"\%") for title in rows[0]
    ]
    assert latex[7] == r"\midrule"
    cells = latex[8].removesuffix(r" \\").replace(r"$\pm$", "±").split(" & ")
    assert [cell.partition(" ± ")[0] for cell in cells] == rounded[1]


@pytest.mark.parametrize(
    ("form", "cell"),
    [
        ("markdown", r"| a\|b & c_1 <5 % |".replace("<", "&lt;")),
        ("latex", r"a|b \& c\_1 <5 \% \\"),
        ("csv", "a|b & c_1 <5 %"),
    ],
)
def test_signs_of_a_form_are_escaped_in_it(form: str, cell: str) -> None:
    table = Table.of_rows("t", ["name"], [["a|b & c_1 <5 %"]])
    assert cell in FORMATS[form](table).splitlines()


def test_a_csv_has_columns_for_a_difference_its_interval_and_whether_it_is_shown() -> None:
    """A script reads each number as it was measured, and people as they read."""
    cells = [
        Cell("+3.28\n[+2.82, +3.73]", 3.27654321, 2.8212345678, 3.731),
        Cell("-0.10\n[-0.30, +0.10]", -0.1, -0.3, 0.1),
        "–",
        Cell("+0.01", 1 / 128),
    ]
    table = Table("", [Column("aqm", list("abcd"))], [Column("delay\n(ms)", cells)])
    assert table.csv().splitlines() == [
        'aqm,delay (ms),"delay (ms), low","delay (ms), high","delay (ms), shown"',
        "a,3.27654321,2.8212345678,3.731,true",
        "b,-0.1,-0.3,0.1,false",
        "c,,,,",
        "d,0.0078125,,,",
    ]
    assert "| a | +3.28 [+2.82, +3.73] |" in table.markdown()


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1234567890123.0, "1234567890123"),
        (0.1 + 0.2, "0.30000000000000004"),
        (3, "3"),
        (-0.5, "-0.5"),
    ],
)
def test_a_csv_has_the_shortest_number_that_reads_back_to_the_same(
    number: float, text: str
) -> None:
    table = Table("", [Column("aqm", ["a"])], [Column("x", [Cell("rounded", number)])])
    assert table.csv() == f"aqm,x\na,{text}\n"
    assert float(text) == number


def test_a_csv_has_every_digit_of_a_mean_its_interval_and_the_seeds_without_it() -> None:
    cells = [Cell("0.17 ± 0.00", 0.1666666667, 0.0012), Cell("0.50", 0.5, remark="never in 2 of 3")]
    table = Table("", [Column("aqm", ["a", "b"])], [Column("x", cells)])
    assert [*csv.reader(io.StringIO(table.csv()))] == [
        ["aqm", "x", "x, half of the 95 % interval", "x, remark"],
        ["a", "0.1666666667", "0.0012", ""],
        ["b", "0.5", "", "never in 2 of 3"],
    ]


def test_a_csv_of_results_has_the_numbers_of_the_json(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(folder) for folder in folders[:2]]
    found = json.loads(compared(capsys, *words, "--json"))["differences"]
    (wanted,) = [
        entry for entry in found if (entry["metric"], entry["aqm"]) == ("utilisation_pct", "pie")
    ]
    text = compared(capsys, *words, "--format", "csv").split("# bottleneck, whole run: far − near")
    table = text[1].split("miss by chance, on average\n")[1].split("\n\n")[0]
    (row,) = [row for row in csv.DictReader(io.StringIO(table)) if row["aqm"] == "pie"]
    heads = ("utilisation (%)", "utilisation (%), low", "utilisation (%), high")
    for head, number in zip(heads, (wanted["difference"], *wanted["ci95"]), strict=True):
        assert float(row[head]) == pytest.approx(number, rel=1e-11)


def test_a_format_that_is_not_there_is_named_with_the_nearest(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["compare", str(folders[0]), "--format", "latx"]) == 2
    assert (
        "--format latx: there is no such format. Did you mean 'latex'?" in capsys.readouterr().err
    )


def test_numbers_of_a_result_differ_from_the_first_one_seed_by_seed(folders: list[Path]) -> None:
    results = named(folders)
    found = across(cases(results))
    assert {(d.case.result, d.less.result) for d in found} == {("far", "near")}
    metric = METRICS["queue_delay_mean_ms"]
    (delay,) = [d for d in found if d.metric == metric and d.case.aqm == "pie"]

    def values(name: str) -> list[float]:
        runs = [run for run in results[name] if run.labels["aqm"] == "pie"]
        return [metric.measure(run.report, "bottleneck", "whole run") for run in runs]

    pairs = zip(values("far"), values("near"), strict=True)
    assert delay.estimate == estimate([a - b for a, b in pairs])


def test_each_key_that_is_not_the_same_has_its_value_in_each(folders: list[Path]) -> None:
    found = scenario_differences(named(folders))
    assert found == {
        "dumbbell.rtt": ["20 ms", "60 ms", "20 ms"],
        "dumbbell.flows.bulk.count": ["2", "3", "2"],
        "dumbbell.aqm.limit": ["–", "50", "–"],
        "(seeds)": ["3", "3", "1"],
    }


def test_versions_and_machines_that_differ_are_named(folders: list[Path]) -> None:
    path = folders[1] / "result.json"
    head = json.loads(path.read_text())
    head["core"], head["host"]["cores"] = "0.0.9", 1000
    path.write_text(json.dumps(head))
    found = scenario_differences(named(folders[:2]))
    assert found["(version)"][1] == "0.0.9"
    assert found["(machine: cores)"][1] == "1000"


def test_a_change_that_only_the_commands_algorithm_has_is_named_as_it_was_given(
    tmp_path: Path,
) -> None:
    scenario = sojourn.loads(SHORT.replace('aqm = "codel"', 'aqm = "fifo"'))
    sojourn.run(scenario, aqms=["codel"], changes={"target": "2 ms"}, out=tmp_path / "a")
    sojourn.run(scenario, aqms=["codel"], out=tmp_path / "b")
    found = scenario_differences(named([tmp_path / "a", tmp_path / "b"]))
    assert found == {"--set target": ["2 ms", "–"]}


def test_a_long_value_is_told_by_its_length(tmp_path: Path) -> None:
    for name, step in (("a", 1), ("b", 2)):
        times = [step * n for n in range(1, 500)]
        text = SHORT.replace('rate = "10 Mbit/s"', f"trace = {times}")
        sojourn.run(sojourn.loads(text), out=tmp_path / name)
    found = scenario_differences(named([tmp_path / "a", tmp_path / "b"]))
    first, second = found["dumbbell.trace"]
    assert first != second and re.fullmatch(r"\d+ characters, digest \w{8}", first)


def test_results_of_one_scenario_are_said_not_to_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        sojourn.run(sojourn.loads(SHORT), out=tmp_path / name)
    assert status(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "scenarios: they do not differ" in capsys.readouterr().out


@pytest.mark.parametrize("width", [40, 60, 10_000])
def test_no_number_is_lost_at_any_width(
    width: int, folders: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = named(folders)

    def text(width: int) -> str:
        sink = io.StringIO()
        monkeypatch.setattr(tables, "console", lambda: Console(file=sink, width=width))
        tables.print_parts(tables.result_parts(results), None)
        return sink.getvalue()

    cells = re.compile(r"[-+]?\d+\.\d+")
    assert sorted(cells.findall(text(width))) == sorted(cells.findall(text(1_000)))
    assert all(len(line) <= width for line in text(width).splitlines() if line[0] in "┏┃┡│└")


def test_the_json_has_runs_differences_and_scenarios(
    folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["compare", *map(str, folders), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {run["result"] for run in data["runs"]} == {"near", "far", "other"}
    assert data["scenarios"]["dumbbell.aqm.limit"] == {"near": None, "far": "50", "other": None}
    assert {(d["result"], d["to_result"]) for d in data["differences"]} == {("far", "near")}


def test_one_result_alone_prints_the_tables_of_its_run(
    tmp_path: Path, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(small), "--aqm", "codel", "--aqm", "pie", "--seeds", "2"]
    assert status([*words, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert status(["compare", str(tmp_path / "out")]) == 0
    assert printed == capsys.readouterr().out + f"result: {tmp_path / 'out'}\n"


def test_results_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    places = [tmp_path / "x" / "result", tmp_path / "y" / "result"]
    for place in places:
        sojourn.run(sojourn.loads(SHORT), out=place)
    assert list(named(places)) == [str(place) for place in places]


def test_an_experiments_algorithms_stand_apart_by_signal_and_host(beside: Reproduction) -> None:
    by_case = cases({"": beside.result})
    assert len(by_case) == len(set(names(by_case).values()))
    assert all(len(runs) == len(beside.seeds) for runs in by_case.values())
    assert Case("DUK", "linux", "ecn") in by_case
    assert {(d.case.signal, d.less.signal) for d in within(by_case) if d.case.aqm != d.less.aqm}
    assert all(d.case.signal == d.less.signal for d in within(by_case))
