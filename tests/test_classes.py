# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What results say of the classes and rings at a link's end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sojourn
from sojourn.cli import status
from sojourn.core.errors import StoreError
from sojourn.result import columns

ENDS = Path(__file__).parent / "data/ends"


@pytest.fixture(scope="module")
def home() -> sojourn.Result:
    return sojourn.run(sojourn.load(ENDS / "home.toml"), seeds=2)


def test_a_row_has_the_columns_of_the_page(home: sojourn.Result) -> None:
    names = home.classes().column_names
    assert names == [column.name for column in columns.CLASSES]
    assert set(home.classes()["class"].to_pylist()) == {
        f"home up/sqm/{name}" for name in ("line", "voice", "rest", "backup")
    }


def test_what_leaves_of_htb_send_is_lent_by_one_class_and_sent_by_their_parents_too(
    home: sojourn.Result,
) -> None:
    for run in home:
        rows = {row["class"].split("/")[-1]: row for row in columns.class_rows([run])}
        parent, *leaves = rows.values()
        assert parent["sent_pkts"] == sum(leaf["sent_pkts"] for leaf in leaves) > 0
        assert parent["sent_pkts"] == sum(row["lent_pkts"] for row in rows.values())
        assert rows["rest"]["borrowed_pkts"] > 0
        for leaf in leaves:
            assert leaf["sent_pkts"] == leaf["lent_pkts"] + leaf["borrowed_pkts"]
        for row in rows.values():
            shares = [row[f"{mode}_pct"] for mode in ("can_send", "may_borrow", "cannot_send")]
            assert sum(shares) == pytest.approx(100)
        # The queue of a leaf has a row of its own, with the same packets.
        queues = {queue["name"]: queue["windows"][0] for queue in run.report["queues"]}
        assert queues["home up/sqm/rest"]["departed_pkts"] == rows["rest"]["sent_pkts"]


def test_bands_turns_and_a_ring_have_no_tokens() -> None:
    result = sojourn.run(sojourn.load(ENDS / "diffserv.toml"))
    rows = list(columns.class_rows(result))
    kinds = {row["class"]: row["kind"] for row in rows}
    assert kinds["core/ef"] == "prio"
    assert kinds["core/be"] == "drr"
    assert kinds["core/line"] == "ring"
    assert all(row["lent_pkts"] is None and row["can_send_pct"] is None for row in rows)
    sent = {row["class"]: row["sent_pkts"] for row in rows}
    ring = sent.pop("core/line")
    # What is in the ring, and what was sent from queues into it before the window's end.
    assert 0 <= sent["core/ef"] + sent["core/assured"] - ring <= 65


def test_a_damaged_table_of_classes_makes_the_folder_unfinished(
    home: sojourn.Result, tmp_path: Path
) -> None:
    home.save(tmp_path / "out")
    table = tmp_path / "out/classes.parquet"
    assert sojourn.Result.load(tmp_path / "out").classes() == home.classes()
    table.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(StoreError, match="out"):
        sojourn.Result.load(tmp_path / "out")


def test_the_command_prints_a_table_of_classes(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(ENDS / "home.toml")]) == 0
    out = capsys.readouterr().out
    assert "classes (fq_codel), whole run: 1 seed" in out
    assert re.search(r"borrowed\b[^\n]*(\n[^\n]*)?\(packets\)", out), "a heading may be folded"
