# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`sojourn advise`: the line that is simulated, the choice, and the commands."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.linux import typed
from sojourn.runs import advise
from sojourn.runs.advise import NUMBERS, Advice, Line, Tried
from sojourn.scenario import load

from tests.linux import plugin

LINE = Line.read("5mbit", "50mbit", "40ms", 2)


def tried(aqm: str, wait_ms: float, page_s: float, mbps: float = 45) -> Tried:
    """Make the numbers of three seeds that differ little."""
    means = (wait_ms, wait_ms, page_s, mbps, mbps / 10)
    values = {
        number: [mean, mean * 1.01, mean * 0.99]
        for number, mean in zip(NUMBERS, means, strict=True)
    }
    return Tried(aqm, values)


def chosen(*all_: Tried) -> tuple[str, list[str]]:
    best, as_good = advise.choose(all_, LINE)
    return best.aqm, [one.aqm for one in as_good]


def test_the_least_waiting_of_calls_decides() -> None:
    assert chosen(tried("slow", 60, 0.1), tried("quick", 22, 0.9)) == ("quick", [])


def test_pages_decide_where_calls_wait_alike_and_then_the_order() -> None:
    assert chosen(tried("a", 22, 0.9), tried("b", 22.3, 0.5)) == ("b", [])
    assert chosen(tried("a", 22, 0.5), tried("b", 22, 0.5)) == ("a", ["b"])


def test_an_algorithm_that_leaves_much_of_the_line_idle_is_not_chosen() -> None:
    assert chosen(tried("idle", 20, 0.5, 20), tried("busy", 30, 0.5)) == ("busy", [])


def test_a_page_that_never_came_is_worse_than_any_that_did() -> None:
    assert chosen(tried("none", 22, float("nan")), tried("some", 22, 9))[0] == "some"


def test_the_reason_names_the_lines_own_delay_the_gain_and_equals() -> None:
    best, equal, bare = tried("a", 22, 0.5), tried("b", 22, 0.5), tried("-", 440, 9)
    assert Advice(LINE, (best, equal), bare, best, (equal,)).reason == (
        "a: a call waits 22 ms, of which the line itself takes 20, in place of 440 ms without a "
        "shaper; b cannot be told from it."
    )


def test_a_choice_without_a_gain_is_told_as_one() -> None:
    best, bare = tried("a", 22, 0.5), tried("-", 21, 0.5)
    reason = Advice(LINE, (best,), bare, best, ()).reason
    assert "in place of" not in reason
    assert "no less than the 21 ms without a shaper" in reason


WORDS = ["advise", "--up", "5mbit", "--down", "50mbit"]


def printed(capsys: pytest.CaptureFixture[str]) -> tuple[str, dict[str, Any]]:
    """What the command prints of the line, and its JSON."""
    assert status([*WORDS, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert status(WORDS) == 0
    return capsys.readouterr().out, data


def stand_in(monkeypatch: pytest.MonkeyPatch, bare: Tried, *all_: Tried) -> None:
    """The command gets these numbers in place of runs."""
    best, as_good = advise.choose(all_, LINE)
    advice = Advice(LINE, all_, bare, best, as_good)
    monkeypatch.setattr(advise, "advise", lambda *_, **__: advice)


def test_a_line_that_no_algorithm_helps_gets_a_sentence_and_no_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, tried("-", 21, 0.5), tried("fq_codel", 22, 0.5))
    text, data = printed(capsys)
    assert "no algorithm helps on this line. The best of them is fq_codel: " in text
    assert "tc qdisc" not in text
    assert (data["best"], data["as_good"], data["commands"]) == (None, [], [])
    assert data["reason"] in text


def test_who_was_left_out_is_marked_with_the_number_that_decided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of = {"pie": 20, "codel": 34.2, "fq_codel": 40}
    candidates = (tried(aqm, 30, 0.5, mbps) for aqm, mbps in of.items())
    stand_in(monkeypatch, tried("-", 440, 9, 10), *candidates)
    text, data = printed(capsys)
    assert text.count(", left out") == 1 and "50.0, left out" in text
    assert [row["left_out"] for row in data["tried"]] == [
        None,
        "throughput is 50.0 % of the most, below 85",
        None,
        None,
    ]
    shares = [row["throughput_pct_of_most"] for row in data["tried"]]
    assert shares == pytest.approx([25, 50, 85.5, 100])


def test_the_number_of_the_sentence_is_in_the_table_and_odd_cells_are_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The slower direction is not the same in each seed.
    ways = {NUMBERS[0]: [600.0, 100.0, 100.0], NUMBERS[1]: [100.0, 600.0, 600.0]}
    for page_s, told in (
        (7.5, "without ±: measured in one seed alone"),
        (math.nan, "–: none came, in no seed"),
    ):
        values = tried("-", 440, 9).values
        pages = {NUMBERS[2]: [page_s, math.nan, math.nan]}
        stand_in(monkeypatch, Tried("-", {**values, **ways, **pages}), tried("fq_codel", 22, 0.5))
        text, data = printed(capsys)
        assert "in place of 600 ms" in text and "600.00 ± 0.00" in text
        assert data["tried"][0]["slower_way_ms"]["mean"] == 600
        assert told in text and ("without ±" in text) + ("none came" in text) == 1


def test_a_file_of_another_content_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(monkeypatch, tried("-", 440, 9), tried("fq_codel", 22, 0.5))
    file = tmp_path / "line.toml"
    words = [*WORDS, "--out", str(file)]
    assert status(words) == status(words) == 0
    file.write_text(f"{file.read_text()}# mine\n")
    capsys.readouterr()
    assert status(words) == 2 and file.read_text().endswith("# mine\n")
    said = capsys.readouterr()
    assert not said.out and "line.toml: is there with other content; nothing was" in said.err


def test_calls_that_the_slower_shaper_cannot_carry_are_refused_and_those_it_can_are_not() -> None:
    # A datagram of 160 + 28 + 14 B each 20 ms: 80.8 kbit/s.
    assert Line.read("100kbit", "1mbit", "40ms", 1).calls == 1
    assert Line.read("1mbit", "4300kbit", "40ms", 11).calls == 11
    with pytest.raises(InputError, match="the line up has 950 kbit/s: at most 11"):
        Line.read("1mbit", "4300kbit", "40ms", 12)
    with pytest.raises(InputError, match="the line down has 950 kbit/s: at most 11"):
        Line.read("4300kbit", "1mbit", "40ms", 12)


def test_the_shaper_is_below_the_modem_and_the_path_has_the_round_trip() -> None:
    links = {link["name"]: link for link in advise.scenario_of(LINE).to_engine()["links"]}
    rates = {
        name: min(c["rate"] for c in link["end"][0]["classes"])
        for name, link in links.items()
        if link.get("end")
    }
    assert rates == {"egress": 4_750_000, "ingress": 47_500_000}
    assert [links[f"modem {way}"]["rate"] for way in ("up", "down")] == [5_000_000, 50_000_000]
    assert sum(link["delay"] for link in links.values()) == 40_000_000


def test_a_fast_line_is_simulated_for_a_shorter_time() -> None:
    fast = Line.read("100mbit", "1gbit", "10ms", 1)
    assert advise.scenario_of(fast).duration < advise.scenario_of(LINE).duration


def test_the_plugin_reads_the_words_of_every_candidate() -> None:
    for aqm in advise.CANDIDATES:
        told = typed.router(aqm, LINE.up, LINE.down)
        (kind, *words), other = (
            line.split()[9:] for line in told.splitlines() if "handle 10:" in line
        )
        assert kind == "sojourn" and plugin.read(words) and other == [kind, *words]
        assert aqm in ("fifo", "fq_codel", "cobalt:flows=1024") or words[-1] == "ecn"


def test_the_command_prints_both_directions_and_writes_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["advise", "--up", "500kbit", "--down", "1mbit", "--seeds", "2"]
    file = tmp_path / "line.toml"
    assert status([*words, "--out", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "dev WAN parent 1: classid 1:10 htb rate 475kbit" in printed
    assert "dev ifb-WAN parent 1: classid 1:10 htb rate 950kbit" in printed
    assert load(file) == advise.scenario_of(Line.read("500kbit", "1mbit", "40ms", 1))
    assert status([*words, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["reason"] in printed and all(line in printed for line in data["commands"])
    assert [row["aqm"] for row in data["tried"]] == [advise.UNSHAPED, *advise.CANDIDATES]
