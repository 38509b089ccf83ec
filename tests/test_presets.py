# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Presets: what their files hold, where they may stand, and what they are afterwards."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn import algorithms
from sojourn.algorithms import Preset
from sojourn.cli import show, status
from sojourn.cli.options import aqms
from sojourn.core.errors import InputError
from sojourn.linux import typed
from sojourn.runs.run import cases_of
from sojourn.scenario import Queue, Scenario, loads, variant

from tests.conftest import SMALL
from tests.linux import plugin
from tests.linux import rtnetlink as nl
from tests.linux.tables import ALGO
from tests.linux.tables import tables as rows_by_nest

PAGE = Path(__file__).parent.parent / "docs" / "reference/presets.md"
ALL = list(algorithms.presets().values())
each = pytest.mark.parametrize("of", ALL, ids=lambda of: of.spec)


def queue_of(scenario: Scenario) -> dict[str, Any]:
    (queue,) = (link["queue"] for link in scenario.to_engine()["links"] if link["rate"])
    return dict(queue)


def chosen(aqm: str, text: str = SMALL, **changes: object) -> dict[str, int]:
    """Rows of the queue under test with `--aqm` and `--set`."""
    (case,) = cases_of(loads(text), [aqm], changes)
    queue = queue_of(case.scenario)
    return {key: int(number) for key, number in queue.items() if key != "algorithm"}


@each
def test_the_rows_exist_and_each_value_can_be_read(of: Preset) -> None:
    rows = algorithms.read_rows(of.algorithm, of.rows)
    assert rows and rows.keys() == of.rows.keys()
    assert {"limit", "limit_bytes"} <= rows.keys()


@each
def test_a_file_has_a_sentence_a_source_and_a_comment_for_each_row(of: Preset) -> None:
    data = tomllib.loads(of.file.read_text())
    assert data.keys() <= {"about", "source", "differs", "rows"}
    assert all(re.fullmatch(r"\S.*[^.]", text) for text in (of.about, of.source, *of.differs))
    assert of.sources().keys() == of.rows.keys()
    assert all(of.sources().values())


@each
def test_the_words_of_tc_say_the_same_rows(of: Preset) -> None:
    sent = dict(nl.attributes(plugin.read(typed.words(of.spec).removeprefix("sojourn "))))
    numbers = {
        row.name: value
        for nest, rows in rows_by_nest(of.algorithm).items()
        for row in rows
        if (value := nl.numbers(sent[nest]).get(row.attr)) is not None
    }
    known = algorithms.rows_of(of.algorithm)
    rows = algorithms.read_rows(of.algorithm, of.rows)
    assert nl.read_text(sent[ALGO]) == of.algorithm
    assert numbers == {k: v for k, v in rows.items() if v != known[k].default}


@each
def test_a_preset_is_its_rows_wherever_it_is_named(of: Preset) -> None:
    rows = algorithms.read_rows(of.algorithm, of.rows)
    assert chosen(of.spec) == rows
    in_text = loads(SMALL.replace('"codel"', f'"{of.spec}"'))
    in_table = loads(SMALL.replace('"codel"', f'{{ algorithm = "{of.spec}" }}'))
    by_set = cases_of(loads(SMALL), [], {"dumbbell.aqm": of.spec})[0].scenario
    for scenario in (in_text, in_table, by_set, loads(in_text.to_toml())):
        assert queue_of(scenario) == {"algorithm": of.algorithm, **rows}
    assert "@" not in in_text.to_toml()


@each
def test_what_stands_in_its_place_is_the_same(of: Preset) -> None:
    text = SMALL.replace('"codel"', f'"{of.spec}"')
    defaults = {row.name: row.default for row in algorithms.algorithms()[of.algorithm].params}
    instead = variant.read(of.spec).without_preset()
    assert chosen(instead) == defaults | chosen(of.spec)
    assert chosen(instead, text) == chosen(instead)


@pytest.mark.parametrize(
    ("names", "rate_mbps", "unit_bytes"),
    [
        (("red@ns2", "red@ns2_adaptive"), 100, 500),
        (("red@ns2_10mbit",), 10, 500),
        (("red@fair", "red@fair_adaptive", "choke@fair"), 100, 1514),
        (("red@fair_10mbit", "choke@fair_10mbit"), 10, 1514),
    ],
)
def test_thresholds_and_weight_are_what_ns_2_computes_for_the_rate(
    names: tuple[str, ...], rate_mbps: int, unit_bytes: int
) -> None:
    units_per_s = rate_mbps * 1e6 / 8 / unit_bytes
    least = max(5, 0.005 * units_per_s / 2)
    weight = 1 - math.exp(-1 / (10 * 0.1 * units_per_s))
    for name in names:
        rows = algorithms.presets()[name].rows
        assert abs(int(rows["min"]) - least) <= 0.5
        assert abs(int(rows["max"]) - 3 * least) <= 0.5
        assert rows["weight"] == round(-math.log2(weight))
        assert rows["avpkt"] == f"{unit_bytes} B"


def test_rows_behind_a_preset_replace_its_own() -> None:
    rows = chosen("red@ns2")
    assert chosen("red@ns2:min=70,limit=100") == rows | {"min": 70, "limit": 100}
    assert chosen("red@ns2", min=70) == rows | {"min": 70}
    assert Queue(algorithm="red@ns2", rows={"min": 70}).rows == rows | {"min": 70}
    table = '{ algorithm = "red@ns2", min = 70 }'
    queue = {"algorithm": "red", **rows, "min": 70}
    assert queue_of(loads(SMALL.replace('"codel"', table))) == queue
    set_later = cases_of(loads(SMALL), [], {"dumbbell.aqm": "red@ns2", "min": 70})[0].scenario
    assert queue_of(set_later) == queue


def test_a_preset_takes_nothing_from_the_algorithm_that_was_there_but_the_queues_rows() -> None:
    text = SMALL.replace('"codel"', '{ algorithm = "red", tupdate = "1 s", limit = 7, ecn = true }')
    assert chosen("red@fair", text) == chosen("red@fair") | {"ecn": 1}
    assert chosen("red@ns2", text) == chosen("red@ns2")


def test_a_row_that_the_preset_leaves_no_room_for_is_refused() -> None:
    with pytest.raises(InputError, match=r"--aqm red@ns2:min=500: min must not be larger than max"):
        cases_of(loads(SMALL), ["red@ns2:min=500"])
    with pytest.raises(InputError, match=r"red@ns2:min=70 sets it too"):
        chosen("red@ns2:min=70", min=80)
    with pytest.raises(InputError, match="min must not be larger than max"):
        loads(SMALL.replace('"codel"', '{ algorithm = "red@ns2", min = 500 }'))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("red@ns", "'red' has no preset 'ns'. Did you mean 'ns"),
        ("red@nine", "'red' has no preset 'nine'. Valid names: fair, "),
        ("red@", "'red' has no preset ''. Valid names: fair, "),
        ("duk@ns2", "'duk' has no presets; these have some: avq, "),
        ("rex@ns2", "unknown algorithm 'rex'."),
    ],
)
def test_an_unknown_preset_is_answered_with_those_there_are(text: str, sentence: str) -> None:
    for name in (lambda: cases_of(loads(SMALL), [text]), lambda: show.table(text)):
        with pytest.raises(InputError, match="^" + re.escape(sentence)):
            name()
    with pytest.raises(InputError, match=r"<text>:8: dumbbell\.aqm.*" + re.escape(sentence)):
        loads(SMALL.replace('"codel"', f'"{text}"'))


def test_tables_call_a_preset_as_it_was_called(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    cases = cases_of(loads(SMALL), ["fifo@fair", "fifo@fair:ecn=false", "fifo@ns2:limit=9"])
    labels = [case.labels["aqm"] for case in cases]
    assert labels == ["fifo@fair", "fifo@fair:ecn=false", "fifo@ns2:limit=9"]
    assert status(["show", "red@ns2:min=70"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("red@ns2:min=70: RED as ns-2.35")
    assert re.search(r"min .* 70 .* 5 .* as given", said)
    assert "ns-default.tcl:134 mean_pktsize_ 500" in said


def test_the_list_has_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["list", "presets", "--json"]) == 0
    names = [entry["name"] for entry in json.loads(capsys.readouterr().out)["presets"]]
    assert names == [of.spec for of in ALL]
    assert aqms("red@n") == ["red@ns2", "red@ns2_10mbit", "red@ns2_adaptive", "red@ns3"]
    assert [of.spec for of in algorithms.presets_of("pi")] == show.algorithm("pi")["presets"]


def test_a_result_keeps_what_a_preset_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    sojourn.run(loads(SMALL), aqms=["fifo@ns2", "codel"], out=out)
    head = json.loads((out / "result.json").read_text())
    assert head["aqms"] == ["fifo@ns2", "codel"]
    assert head["presets"] == {"fifo@ns2": "fifo:limit=49,limit_bytes=4294967295 B,drop=tail"}
    sojourn.run(loads(SMALL), aqms=["fifo@ns2"], seeds=1, out=out)
    other = replace(algorithms.presets()["fifo@ns2"], rows={"limit": 48})
    monkeypatch.setitem(algorithms.presets(), "fifo@ns2", other)
    sentence = (
        r"holds runs of fifo@ns2 as it was: "
        r"aqms=\['fifo:limit=49,limit_bytes=4294967295B,drop=tail'\]; give that"
    )
    with pytest.raises(InputError, match=sentence):
        sojourn.run(loads(SMALL), aqms=["fifo@ns2"], out=out)


def test_red_and_rem_of_ns_2_are_drop_tail_on_a_link_of_100_mbit() -> None:
    scenario = loads(SMALL.replace("10 Mbit/s", "100 Mbit/s"))
    buffers = ["fifo:limit_bytes=25kB", "fifo@ns2"]
    result = sojourn.run(scenario, aqms=["red@ns2", *buffers, "rem@ns2", "rem@fair"])
    windows = [run.report["queues"][0]["windows"][0] for run in result]
    red, bytes_, packets, rem, fair = [(w["queue_delay_ms"], w["drop_pct"]) for w in windows]
    assert red == bytes_ and rem == packets != fair
    assert red[1] > 0 and rem[1] > 0


def tables() -> str:
    """What the page has of every preset."""
    lines = ["| preset | | rows that are not as by default, as `tc` words |", "|---|---|---|"]
    unlike: dict[str, list[str]] = {}
    for of in ALL:
        rows = " ".join(typed.words(of.spec).split()[2:])
        lines.append(f"| `{of.spec}` | {of.about} | `{rows}` |")
        for text in of.differs:
            unlike.setdefault(text, []).append(f"`{of.spec}`")
    lines += ["", "| what rows cannot say | of |", "|---|---|"]
    lines += [f"| {text} | {', '.join(specs)} |" for text, specs in unlike.items()]
    return "\n".join(lines)


def test_the_page_has_every_preset_as_it_is() -> None:
    begin, end = "<!-- presets: made from the data -->\n", "\n<!-- end of presets -->"
    before, _, rest = PAGE.read_text().partition(begin)
    _, _, after = rest.partition(end.strip())
    fresh = before + begin + tables() + end + after
    if os.environ.get("RENEW"):
        PAGE.write_text(fresh)
    assert PAGE.read_text() == fresh, "run: make generate"
