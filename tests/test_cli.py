# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The commands: keys that scripts rely on, sentences, and exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sojourn.cli import status

DELAY = {"mean", "sd", "iqr", "p50", "p95", "p99", "max"}
WINDOW = {"from_s", "to_s", "utilisation_pct", "drop_pct", "mark_pct"}


def output(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert status([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_list_has_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    lists = output(capsys, "list")
    assert lists.keys() == {"algorithms", "experiments", "traffic"}
    for entry in lists["algorithms"]:
        assert {"name", "brief", "source", "ecn", "acts"} <= entry.keys()
    assert {"fifo", "codel", "duk"} <= {entry["name"] for entry in lists["algorithms"]}
    assert output(capsys, "list", "experiments").keys() == {"experiments"}


def test_show_has_every_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    codel = output(capsys, "show", "codel")
    rows = {row["name"]: row for row in codel["parameters"]}
    assert rows["target"]["default"] == "5 ms"
    assert "limit" in {row["name"] for row in codel["queue"]}


def test_the_kernels_own_queues_are_listed_with_what_they_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosts = {entry["name"]: entry["hosts"] for entry in output(capsys, "list")["algorithms"]}
    assert hosts["kernel:codel"] == ["linux"] and hosts["codel"] == ["sim", "linux"]
    codel = output(capsys, "show", "kernel:codel")
    names = {row["name"] for part in ("parameters", "queue", "statistics") for row in codel[part]}
    assert names == {"limit", "target", "interval", "ecn"}


def test_show_expand_prints_a_graph_that_runs_the_same(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["show", "--expand", str(small)]) == 0
    graph = tmp_path / "graph.toml"
    graph.write_text(capsys.readouterr().out)
    prints = [output(capsys, "run", str(path))["runs"][0]["fingerprint"] for path in (small, graph)]
    assert prints[0] == prints[1]


def test_run_has_its_keys(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        str(small),
        "--aqm",
        "codel",
        "--aqm",
        "duk",
        "--seeds",
        "2",
        "--set",
        "ecn=true",
    ]
    runs = output(capsys, *words)["runs"]
    assert [(run["aqm"], run["seed"]) for run in runs] == [
        ("codel", 1),
        ("codel", 2),
        ("duk", 1),
        ("duk", 2),
    ]
    for run in runs:
        assert run["host"] == "sim"
        assert run.keys() >= {"goodput_mbps", "jain", "fct_s", "flows"}
        assert run["fct_s"].keys() >= {"p25", "p50", "p75", "p95"}
        window = run["queues"][0]["windows"][0]
        assert window.keys() >= WINDOW
        assert window["queue_delay_ms"].keys() >= DELAY
        assert window["system_delay_ms"].keys() >= DELAY
        assert window["queue_pkts"].keys() >= {"mean", "sd"}


def test_run_prints_a_table(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(small)]) == 0
    assert "utilisation" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "no-such.toml"], "no-such.toml: cannot be read: No such file"),
        (
            ["run", "{small}", "--aqm", "coddel"],
            "unknown algorithm 'coddel'. Did you mean 'codel'?",
        ),
        (["run", "{small}", "--set", "duration=5"], "duration: 5 has no unit"),
        (["run", "{small}", "--set", "target=1 week"], "unknown unit 'week'"),
        (["run", "{small}", "--seeds", "0"], "0 seeds; allowed: 1 and more"),
        (
            ["run", "{small}", "--host", "linux", "--set", "dumbbell.ring=1"],
            "links[1].ring_pkts: a virtual link has no driver ring",
        ),
        (["run", "{small}", "--host", "moon"], "no such host. Valid names: linux, sim"),
        (["run", "{small}", "--sedes", "1"], "No such option"),
        (["rnu"], "No such command 'rnu'"),
        (["show", "coddel"], "Did you mean 'codel'?"),
        (["show"], "an algorithm, or --expand"),
        (["list", "algoritms"], "Did you mean 'algorithms'?"),
        (["reproduce", "duk/11"], "Did you mean 'duk/1'?"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    words: list[str], sentence: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status([word.replace("{small}", str(small)) for word in words]) == 2
    message = capsys.readouterr().err
    assert sentence in message.replace("\n", " ")
    assert "Traceback" not in message


def test_a_result_that_cannot_be_written_is_status_3(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert status(["run", str(small), "--out", str(tmp_path / "file")]) == 3
    assert "cannot be written" in capsys.readouterr().err


def test_doctor_finds_what_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    checks = output(capsys, "doctor")["checks"]
    assert all(check["ok"] for check in checks if check["needed"])


@pytest.mark.parametrize(
    ("imported", "unneeded"),
    [
        # What only reports need.
        ("sojourn.cli, sojourn.runs", "matplotlib scipy pandas polars jinja2 pyarrow"),
        # What a worker process imports.
        ("sojourn.cli, sojourn.executor", "pydantic sojourn.scenario multiprocessing"),
    ],
)
def test_the_command_and_its_workers_start_without_what_they_do_not_need(
    imported: str, unneeded: str
) -> None:
    """is timed from outside: its start must stay small."""
    code = f"import sys, {imported}; print(*sorted(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not set(unneeded.split()) & set(loaded)


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        ([], "numpy pyarrow scipy pandas tomlkit multiprocessing"),
        (["--json"], "numpy pyarrow scipy pandas tomlkit multiprocessing rich"),
    ],
)
def test_a_run_does_without_what_only_results_need(
    small: Path, words: list[str], unneeded: str
) -> None:
    run = ["run", str(small), *words]
    code = f"import sys, sojourn.cli; sojourn.cli.status({run}); print(*sys.modules)"
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert not set(unneeded.split()) & set(said.splitlines()[-1].split())


def test_a_run_and_its_result_do_without_pandas(small: Path, tmp_path: Path) -> None:
    """pyarrow imports it on many ways, and that takes longer than a short run."""
    words = ["run", str(small), "--out", str(tmp_path / "result")]
    code = f"import sys, sojourn.cli; sojourn.cli.status({words}); print('pandas' in sys.modules)"
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.splitlines()[-1] == "False"


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = f"{sys.executable} -m sojourn list | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == ""
