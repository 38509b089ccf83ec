# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Probes of a queue, as `sojourn run` and the pages tell of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sojourn.cli import status

from tests.linux.tables import PROBE_NAMES

DOCS = Path(__file__).parent.parent / "docs"
WITHOUT = "links.lan.responder=modem"


@pytest.fixture
def modem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the scenario of the page of asqm, shortened, into the current folder."""
    page = (DOCS / "reference/algorithms/asqm.md").read_text()
    (text,) = re.findall(r"^```toml\n(# modem\.toml\n.*?)^```$", page, re.M | re.S)
    text = re.sub(r"windows = .*", 'windows = [{ name = "all", from = "0 s", to = "2 s" }]', text)
    monkeypatch.chdir(tmp_path)
    Path("modem.toml").write_text(text.replace('"40 s"', '"2 s"'))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    capsys.readouterr()
    assert status(["run", "modem.toml", "--workers", "1", *words]) == 0
    said = capsys.readouterr()
    return said.out, said.err


@pytest.mark.usefixtures("modem")
def test_a_run_warns_of_probes_that_turn_back_before_a_slower_link(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wanted = (
        "sojourn: link 'lan': the probes of 'asqm' turn back at 'modem' and measure nothing of "
        "the slower link 'line': name a responder behind that\n"
    )
    assert told(capsys, "--set", WITHOUT)[1] == wanted
    # A command that was checked before is not checked again, and warns all the same.
    assert told(capsys, "--set", WITHOUT)[1] == wanted
    # Each queue once, whatever else is run.
    algorithms = ("--aqm", "asqm", "--aqm", "asqm:base=least")
    record = ("--set", 'record.queues=["lan"]')
    assert told(capsys, *algorithms, *record, "--set", WITHOUT, "--seeds", "2")[1] == wanted


@pytest.mark.usefixtures("modem")
@pytest.mark.parametrize(
    "changes",
    [
        (),
        (WITHOUT, "links.lan.queue=codel"),
        (WITHOUT, "links.line.rate=20 Mbit/s"),
        (WITHOUT, "links.lan.rate=5 Mbit/s"),
    ],
)
def test_a_run_warns_of_no_probes_that_pass_the_slowest_link(
    changes: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(capsys, *(word for change in changes for word in ("--set", change)))[1] == ""


@pytest.mark.usefixtures("modem")
def test_a_link_that_slows_down_later_is_a_slower_link(
    capsys: pytest.CaptureFixture[str],
) -> None:
    later = 'links.line.schedule=[{at = "1 s", rate = "5 Mbit/s"}]'
    changes = ("--set", "links.line.rate=20 Mbit/s", "--set", later)
    assert "turn back at 'modem'" in told(capsys, "--set", WITHOUT, *changes)[1]


@pytest.mark.usefixtures("modem")
def test_a_line_has_the_probes_of_all_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    table, _ = told(capsys, "--seeds", "2")
    runs = json.loads(told(capsys, "--seeds", "2", "--json")[0])["runs"]
    of_runs = [run["queues"][0]["probes"] for run in runs]
    sums = {key: sum(probes[key] for probes in of_runs) for key in of_runs[0]}
    words = ", ".join(
        f"{count:,} {key.removesuffix('_pkts')}"
        for key, count in sums.items()
        if count and not key.endswith("_bytes")
    )
    assert sums["left_pkts"] > 200
    assert f"probes of lan (asqm+fifo, all 2 seeds): {words}\n" in table
    # The other queue has none.
    assert table.count("probes of") == 1


def of_page(page: str, head: str) -> str:
    return (DOCS / page).read_text().partition(f"{head}\n")[2].partition("\n#")[0]


@pytest.mark.usefixtures("modem")
def test_the_simulator_has_those_counters_that_the_page_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (run,) = json.loads(told(capsys, "--json")[0])["runs"]
    found: Mapping[str, Any] = run["queues"][0]["probes"]
    part = of_page("guide/results.md", "## Of its probes")
    (said,) = re.findall(r"The simulator has only(.*?):", part, re.S)
    assert re.findall(r"`(\w+)`", said) == list(found)
    assert found["joined_pkts"] >= found["left_pkts"] + found["freed_pkts"] > 0
    assert {key.removesuffix("_pkts") for key in found} < set(PROBE_NAMES)


def test_the_page_of_the_qdisc_says_what_each_counter_of_probes_is() -> None:
    rows = re.findall(
        r"^\| (`.*?`) \|", of_page("reference/qdisc.md", "### Counters of probes"), re.M
    )
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(PROBE_NAMES)


LOT = """
format = 2
name = "two hops"
duration = "1 s"

[parking_lot]
hops = [{ rate = "20 Mbit/s", aqm = "asqm" }, { rate = "5 Mbit/s" }]
"""


@pytest.mark.parametrize("again", [False, True])
def test_a_warning_of_a_shorthand_tells_how_to_write_its_links_out(
    again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("modem.toml").write_text(LOT)
    said = [told(capsys)[1] for _ in range(2 if again else 1)][-1]
    assert "'hop 2': name a responder behind that; `sojourn show --expand FILE` writes" in said
    assert status(["show", "--expand", "modem.toml"]) == 0
    Path("modem.toml").write_text(capsys.readouterr().out)
    assert told(capsys)[1].endswith("name a responder behind that\n")
    assert told(capsys, "--set", "links.hop 1.responder=receiver 2")[1] == ""
