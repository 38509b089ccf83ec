# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The table of transfers: every one is in it, it grows on the disk, and is there whole or not."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn import _native
from sojourn.cli import status
from sojourn.core.errors import RunError, StoreError
from sojourn.result import columns
from sojourn.result.metrics import METRICS
from sojourn.runs.job import Job, Stopped, unpack, work
from sojourn.show.figures import FIGURES
from sojourn.show.measured import Measured
from sojourn.store.store import Store

SCENARIO = """\
format = 2
name = "transfers"
duration = "6 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = "codel"

[[dumbbell.flows]]
name = "pages"
count = 5
app = { kind = "web", think = "200 ms" }

[[dumbbell.flows]]
name = "again"
app = { kind = "respawn", size = "50 kB" }

[[dumbbell.flows]]
name = "long"
app = { kind = "bulk", size = "1 GB" }
stop = "4 s"

[[dumbbell.flows]]
name = "endless"
app = { kind = "bulk" }

[record]
transfers = true
windows = [
    { name = "early", from = "0 s", to = "3 s" },
    { name = "late", from = "3 s", to = "6 s" },
]
"""
ENGINE = json.dumps(sojourn.loads(SCENARIO).to_engine())
JOB = Job(ENGINE, 1, "transfers")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("kept") / "out"
    sojourn.run(sojourn.loads(SCENARIO), aqms=["codel", "fifo"], seeds=2, out=out)
    return out


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.ParquetFile(path).read().to_pylist()
    return found


def test_the_table_has_the_columns_of_its_page(kept: Path) -> None:
    found = pq.ParquetFile(kept / "transfers.parquet").schema_arrow.names
    assert found == [column.name for column in columns.TRANSFERS]
    found = pq.ParquetFile(kept / "distributions.parquet").schema_arrow.names
    assert found == [column.name for column in columns.DISTRIBUTIONS]


def test_the_table_of_a_result_has_the_transfers_of_each_run(kept: Path) -> None:
    every = rows(kept / "transfers.parquet")
    for run in sojourn.Result.load(kept):
        mine = [row for row in every if row.items() >= run.labels.items()]
        table = run.transfers()
        assert table is not None and len(mine) == len(table) > 100
        own = [{key: row[key] for key in table.column_names} for row in mine]
        assert own == table.to_pylist()


def test_completion_times_of_the_table_are_those_of_the_report(kept: Path) -> None:
    for run in sojourn.Result.load(kept):
        every = (run.transfers() or pytest.fail("none")).to_pylist()
        for window in run.report["transport"]:
            early = window["name"] == "early"
            for group in window["groups"]:
                took_ns = [
                    row["last_byte_ns"] - row["begun_ns"]
                    for row in every
                    if row["group"] == group["name"]
                    and row["last_byte_ns"] is not None
                    and (row["last_byte_ns"] < 3_000_000_000) == early
                ]
                reported = group["fct_s"]
                assert reported["n"] == len(took_ns)
                assert (reported["mean"] is None) == (not took_ns)
                if took_ns:
                    assert reported["mean"] == pytest.approx(np.mean(took_ns) / 1e9)
                for share in (25, 50, 75, 95) if took_ns else ():
                    exact = np.quantile(took_ns, share / 100, method="inverted_cdf") / 1e9
                    assert reported[f"p{share}"] == pytest.approx(exact, rel=1e-3)


def test_cells_of_the_times_of_groups_hold_what_the_table_has(kept: Path) -> None:
    """Each in its cell, whose edges are within a thousandth."""
    every = rows(kept / "transfers.parquet")
    cells = [row for row in rows(kept / "distributions.parquet") if row["quantity"] == "fct"]
    assert {row["of"] for row in cells} == {"pages", "again"}
    for of in ("pages", "again"):
        ends = np.array(
            [[row["begun_ns"], row["last_byte_ns"]] for row in every if row["group"] == of], float
        )
        took = np.sort((ends[:, 1] - ends[:, 0])[~np.isnan(ends[:, 1])])
        mine = [row for row in cells if row["of"] == of]
        assert sum(row["count"] for row in mine) == len(took)
        for low, high in {(row["from_ns"], row["below_ns"]) for row in mine}:
            counted = sum(row["count"] for row in mine if row["from_ns"] == low)
            assert counted == np.searchsorted(took, high) - np.searchsorted(took, low)
            assert high - low <= max(low / 1_000, 1)


PAIRS = (
    SCENARIO.split("[[dumbbell.flows]]")[0]
    + """\
[[dumbbell.senders]]
name = "s"
count = 2

[[dumbbell.receivers]]
name = "r"
count = 2

[[dumbbell.flows]]
name = "users"
count = 6
app = { kind = "web", think = "200 ms" }

[record]
transfers = true
"""
)


def test_pairs_of_one_group_have_its_completion_times_together() -> None:
    """Histograms of hundreds of pairs would take gigabytes."""
    (run,) = sojourn.run(sojourn.loads(PAIRS))
    (window,) = run.report["transport"]
    parts = [group["fct_s"] for group in window["groups"]]
    assert len(parts) == 4 and all(part["n"] and part["p50"] is None for part in parts)
    assert sum(part["n"] for part in parts) == window["fct_s"]["n"] > 100
    table = (run.transfers() or pytest.fail("none")).to_pylist()
    for group in window["groups"]:
        took_s = [
            (row["last_byte_ns"] - row["begun_ns"]) / 1e9
            for row in table
            if row["group"] == group["name"] and row["last_byte_ns"] is not None
        ]
        assert group["fct_s"]["n"] == len(took_s)
        assert group["fct_s"]["mean"] == pytest.approx(np.mean(took_s))
    assert all(group["page_s"]["n"] and group["page_s"]["mean"] for group in window["groups"])
    cells = (run.entry.distributions() or pytest.fail("none")).to_pylist()
    times = [row for row in cells if row["quantity"] == "fct"]
    assert {row["of"] for row in times} == {"users"}
    assert sum(row["count"] for row in times) == window["fct_s"]["n"]
    for metric in ("fct_p50_s", "fct_p50_s of users", "fct_p50_s of u*"):
        assert METRICS[metric].measure_run(run, "bottleneck", "whole run") == pytest.approx(
            window["fct_s"]["p50"]
        )


def test_a_picture_of_completion_times_has_a_panel_for_the_whole_group() -> None:
    measured = Measured({"": sojourn.run(sojourn.loads(PAIRS))})
    panels = FIGURES["fct"](measured, list(measured.by_case)).panels
    assert [panel.title.split(",")[0] for panel in panels] == ["flows 'users'"]


def test_what_did_not_end_has_no_last_byte(kept: Path) -> None:
    for run in sojourn.Result.load(kept):
        every = (run.transfers() or pytest.fail("none")).to_pylist()
        ended = [row["last_byte_ns"] is not None for row in every]
        long = next(row for row in every if row["group"] == "long")
        assert long["last_byte_ns"] is None and long["bytes"] == 1_000_000_000
        assert 0 < long["first_byte_ns"] < 1_500_000_000
        # It stopped; all behind the last that ended were under way at the end of the run.
        under_way = every[len(ended) - ended[::-1].index(True) :]
        assert all(row["group"] in ("pages", "again") for row in under_way)
        assert not [row for row in every if row["group"] == "endless"]


def test_a_run_that_keeps_none_is_as_before(tmp_path: Path) -> None:
    plain = sojourn.loads(SCENARIO.replace("transfers = true\n", ""))
    assert plain.to_engine()["record"]["transfers"] is False
    result = sojourn.run(plain, workers=1, out=tmp_path / "out")
    assert result.runs[0].transfers() is None
    assert not list((tmp_path / "out").rglob("transfers.parquet"))
    assert "transfers.parquet" not in (tmp_path / "out" / "README.md").read_text()
    (kept,) = sojourn.run(sojourn.loads(SCENARIO), workers=1)
    assert kept.report["fingerprint"] == result.runs[0].report["fingerprint"]
    assert kept.report["transport"] == result.runs[0].report["transport"]


def test_a_table_without_rows_is_a_table(tmp_path: Path) -> None:
    scenario = sojourn.loads(
        SCENARIO[: SCENARIO.index("[[dumbbell")] + "[record]\ntransfers = true"
    )
    sojourn.run(scenario, workers=1, out=tmp_path / "out")
    path = tmp_path / "out" / "transfers.parquet"
    assert rows(path) == []
    assert len(pq.ParquetFile(path).schema_arrow.names) == len(columns.TRANSFERS)


def test_the_table_grows_while_the_run_goes_on(tmp_path: Path) -> None:
    """Rows of a group wait in memory, so it takes many transfers to see it."""
    text = SCENARIO.replace("6 s", "60 s").replace("50 kB", "1 kB").replace("20 ms", "1 ms")
    text = text.replace('10 Mbit/s"', '100 Mbit/s"').replace(
        'name = "again"', 'name = "again"\ncount = 60'
    )
    path = tmp_path / "transfers"
    sizes = []

    def watch(share: float) -> bool:
        sizes.append(path.stat().st_size)
        return len(set(sizes)) < 4

    outcome = _native.run(json.dumps(sojourn.loads(text).to_engine()), 1, watch, path)
    assert outcome is None
    assert len(set(sizes)) == 4


def test_here_the_answer_names_the_file_and_elsewhere_it_holds_it(tmp_path: Path) -> None:
    elsewhere, here = unpack(work(JOB)), unpack(work(JOB, scratch=tmp_path))
    place, content = here["transfers.parquet"], elsewhere["transfers.parquet"]
    assert isinstance(place, Path) and isinstance(content, bytes)
    assert place.read_bytes() == content
    store = Store(tmp_path / "store")
    store.save(JOB.key, here)
    entry = store.load(JOB.key)
    assert entry and (entry.folder / "transfers.parquet").read_bytes() == content
    assert not place.exists()


@pytest.mark.parametrize("how", ["threads", "client"])
def test_every_pool_leaves_the_runs_and_nothing_else(how: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with ThreadPoolExecutor(2) as client:
        options: dict[str, Any] = {"client": client} if how == "client" else {}
        sojourn.run(sojourn.loads(SCENARIO), seeds=2, out=out, workers=2, **options)
    assert len(list(out.glob("runs/*/*/transfers.parquet"))) == 2
    assert not list(out.rglob(".*partial*"))


def test_a_run_that_is_stopped_leaves_no_file(tmp_path: Path) -> None:
    scenario = json.dumps(sojourn.loads(SCENARIO.replace('"6 s"', '"600 s"')).to_engine())
    with pytest.raises(Stopped):
        work(Job(scenario, 1, "long"), lambda share: share < 1e-6, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_table_that_was_cut_off_is_said_to_be(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sojourn.run(sojourn.loads(SCENARIO), workers=1, out=out)
    (of_run,) = out.glob("runs/*/*/transfers.parquet")
    for path in (of_run, out / "transfers.parquet"):
        content = path.read_bytes()
        path.write_bytes(content[:-100])
        with pytest.raises(StoreError, match=r"out: this result is not whole .*Run the same comm"):
            sojourn.Result.load(out)
        sojourn.run(sojourn.loads(SCENARIO), workers=1, out=out)
        assert path.read_bytes() == content


def test_a_full_disk_is_said_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="No space left"):
        _native.run(ENGINE, 1, None, Path("/dev/full"))
    monkeypatch.setattr("sojourn.runs.job.partial_of", lambda root, key: Path("/dev/full"))
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    with pytest.raises(RunError, match=r"the disk is full; what was finished is kept"):
        sojourn.run(sojourn.loads(SCENARIO), workers=1, out=tmp_path / "out")


def test_a_page_stands_beside_itself(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["compare", str(kept), "--transfers", "pages", "--visit", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    every = [
        row
        for row in rows(kept / "transfers.parquet")
        if (row["group"], row["index"], row["visit"], row["seed"]) == ("pages", 0, 2, 1)
    ]
    assert len(every) == sum(len(row["cases"]) for row in found["transfers"]) > 2
    assert {case["aqm"] for row in found["transfers"] for case in row["cases"]} == {"codel", "fifo"}
    first = found["transfers"][0]
    of_codel = next(row for row in every if (row["aqm"], row["connection"]) == ("codel", 1))
    assert first["bytes"] == of_codel["bytes"]
    times = {key: first["cases"][0][key] for key in ("opened_ms", "last_byte_ms")}
    took_ms = (of_codel["last_byte_ns"] - of_codel["opened_ns"]) / 1e6
    assert times == {"opened_ms": 0, "last_byte_ms": pytest.approx(took_ms)}
    assert status(["compare", str(kept), "--transfers", "pages", "--visit", "2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("flows 'pages', flow 0, visit 2: seed 1")
    assert f" {took_ms:.2f} " in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--transfers", "page"], "no result has such flows. Did you mean 'pages'?"),
        (["--transfers", "pages", "--visit", "999"], "flow 0 has no transfer in visit 999"),
        (["--transfers", "endless"], "flow 0 has no transfer in visit 1"),
        (["--flow", "1"], "they choose of --transfers"),
    ],
)
def test_a_page_that_is_not_there_is_said(
    words: list[str], sentence: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["compare", str(kept), *words]) == 2
    assert sentence in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_transfers_that_were_not_kept_name_the_key(
    tmp_path: Path, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["run", str(small), "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert status(["compare", str(tmp_path / "out"), "--transfers", "bulk"]) == 2
    assert "--set record.transfers=true" in capsys.readouterr().err
