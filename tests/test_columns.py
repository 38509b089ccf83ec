# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The page of columns has every column of a real result, and no more."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn.core.errors import StoreError
from sojourn.result import columns
from sojourn.result.metrics import GROUP_METRICS, METRICS, Metric, StepMetric, VariationMetric

PAGE = Path(__file__).parent.parent / "docs/reference/columns.md"

# Which a run has too, there without the labels.
OF_RUNS = ("series", "group_series", "statistics")

ALL = """\
format = 2
name = "all kinds of traffic"
duration = "3 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = "codel"

[[dumbbell.flows]]
name = "bulk"
count = 2

[[dumbbell.flows]]
name = "short"
app = { kind = "respawn", size = "20 kB" }

[[dumbbell.flows]]
name = "voice"
transport = "udp"
app = { kind = "cbr", rate = "64 kbit/s" }
stop = "2 s"

[[dumbbell.flows]]
name = "pages"
app = { kind = "web", think = "200 ms" }

[[dumbbell.flows]]
name = "call"
transport = "udp"
app = "voip"

[[dumbbell.flows]]
name = "echoes"
transport = "udp"
app = { kind = "ping", interval = "500 ms" }

[[dumbbell.flows]]
name = "stream"
app = { kind = "video", segment = "1 s" }

[record]
events = true
windows = [
    { name = "early", from = "0 s", to = "1 s" },
    { name = "late", from = "1 s", to = "3 s" },
]
"""


def tables(page: str) -> dict[str, list[str]]:
    """By heading, the first cells of its table."""
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)[1:]
    rows = (re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE) for part in parts[1::2])
    return dict(zip(parts[::2], rows, strict=True))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns") / "out"
    sojourn.run(sojourn.loads(ALL), aqms=["codel", "pie:target=5ms"], seeds=2, out=folder)
    return folder


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == columns.text(), "run: make generate"


@pytest.mark.parametrize(
    "table",
    [
        *("windows", "series", "group_series", "statistics", "flows", "groups", "steps"),
        "events",
        "pings",
    ],
)
def test_a_table_has_the_columns_of_the_page_in_its_order(made: Path, table: str) -> None:
    titles = {title.split("`")[1]: rows for title, rows in tables(PAGE.read_text()).items()}
    files = [*made.rglob(f"{table}.parquet")]
    if table in OF_RUNS:
        # Those of one run are without its labels.
        files = [file for file in files if "runs" not in file.parts]
    assert files
    for file in files:
        assert pq.read_schema(file).names == titles[f"{table}.parquet"]


def test_an_entry_of_a_run_has_the_keys_of_the_page(made: Path) -> None:
    found = tables(PAGE.read_text())
    run, *_ = json.loads((made / "result.json").read_text())["runs"]
    of_linux = {column.name for column in columns.RUN if "sim" not in column.hosts}
    assert of_linux == {"not_on_linux", "refused_by_machine"}
    # No link of this network has classes.
    assert run.keys() | of_linux | {"classes"} == set(found["`runs` of `result.json`"])
    # This queue has neither probes nor flows.
    assert run["queues"][0].keys() | {"probes", "flows"} == set(found["`queues` of an entry"])
    assert run["flows"][0].keys() == of_flows()


def of_flows() -> set[str]:
    """Keys of a flow, by the columns that hold them."""
    known = {"name", "index", "goodput_mbps", "goodput_mbps_of_windows"}
    return known | {column.path[0] for column in columns.FLOWS if column.path}


def nested(entry: dict[str, Any], into: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Paths to the numbers of an entry of a report; those `into` which it looks have several."""
    return {
        (key, part) if key in into else (key,)
        for key, value in entry.items()
        for part in (value if key in into else [""])
    }


def test_no_number_of_a_report_is_left_out_of_the_tables(made: Path) -> None:
    run, *_ = json.loads((made / "result.json").read_text())["runs"]
    window = run["queues"][0]["windows"][0]
    delays = ("queue_delay_ms", "queue_delay_whole_ms", "system_delay_ms", "queue_pkts")
    kept = {column.path for column in columns.WINDOWS if column.path}
    assert nested(window, delays) == kept | {("name",), ("drops",), ("marks",)}
    (step,) = run["queues"][0]["steps"]
    kept = {column.path for column in columns.STEPS if column.path}
    assert nested(step, ()) == kept | {("changes",)}
    groups = run["transport"][0]["groups"]
    found = {
        path
        for group in groups
        for path in nested(group, tuple(key for key in ("fct_s", "page_s") if group.get(key)))
    }
    kept = {column.path for column in columns.GROUPS if column.path}
    # Groups without pages have null; `speech` is in the line below a table.
    assert found - {("page_s",)} == kept | {("name",), ("speech",)}


def test_a_metric_of_a_queue_is_a_column_of_the_same_name(made: Path) -> None:
    rows = {
        (row["aqm"], row["seed"], row["queue"], row["window"]): row
        for row in pq.read_table(made / "windows.parquet").to_pylist()
    }
    for run in sojourn.Result.load(made):
        for (aqm, seed, queue, window), row in rows.items():
            if (aqm, seed) != (run.labels["aqm"], run.seed):
                continue
            for metric in METRICS.values():
                if type(metric) is Metric and metric.of_queue:
                    assert metric.measure_run(run, queue, window) == row[metric.name], metric.name


def test_a_result_of_format_1_is_read_and_has_the_names_of_now(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "older"
    shutil.copytree(made, folder)
    head = json.loads((folder / "result.json").read_text())
    assert head["format"] == 2
    for number, error in ((1, None), (3, "format 3 is of a newer Sojourn; this version reads")):
        (folder / "result.json").write_text(json.dumps({**head, "format": number}))
        if error is None:
            windows = sojourn.Result.load(folder).windows()
            assert "queue_delay_mean_ms" in windows.column_names
        else:
            with pytest.raises(StoreError, match=error):
                sojourn.Result.load(folder)


def test_the_page_says_what_tables_and_claims_call_a_column() -> None:
    page = PAGE.read_text()
    for metric in METRICS.values():
        shares = isinstance(metric, StepMetric) and metric.share
        of_two = isinstance(metric, VariationMetric)  # its columns are two
        if metric.of_queue and not shares and not of_two:
            lines = [line for line in page.splitlines() if line.startswith(f"| `{metric.name}` |")]
            # A column of a series has the same name, and is no metric.
            assert sum(line.endswith(f"| {metric.label} |") for line in lines) == 1
    for of_group in GROUP_METRICS:
        assert f"| {of_group.label} |" in page
    tables = (*(table for _, table in columns.TABLES.values()), columns.EVENTS, columns.RUN)
    for column in (*(column for table in tables for column in table), *columns.QUEUE):
        assert column.meaning, column.name
