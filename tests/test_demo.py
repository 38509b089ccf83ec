# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The first minute: a demo that a stranger can read, and a reproduction that ends on one screen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sojourn
from sojourn.cli import status

SCREEN_LINES = 25
# The lines that `make demo` prints beside the command's: of building, runs, and the end.
MAKE_LINES = 4


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "results" / "demo"


def test_the_demo_shows_bufferbloat_and_its_cure_on_one_screen(
    shown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["demo", "--out", str(shown)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) + MAKE_LINES <= SCREEN_LINES
    rows = {line.split()[0]: line for line in lines if line.startswith("  ") and " ms" in line}
    call_ms = {aqm: float(re.findall(r"([\d.]+) ms", row)[0]) for aqm, row in rows.items()}
    assert list(call_ms) == ["fifo", "codel", "fq_codel"]
    assert "bufferbloat" in rows["fifo"] and call_ms["fifo"] > 5 * call_ms["codel"]


def test_the_page_of_the_demo_has_two_sentences_its_network_and_one_linear_picture(
    shown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status(["demo", "--out", str(shown)])
    page = (shown / "page.html").read_text()
    lead = re.search(r"<p>(A full drop-tail queue.*?)</p>", page)
    assert lead and len(re.findall(r"\. |\.$", lead[1])) == 2
    assert page.count("<figure>") == 2 and ", log" not in page
    assert page.index(lead[1]) < page.index("<figure>") < page.index("Network of sender")


def test_the_page_of_the_demo_has_the_numbers_of_the_call(
    shown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status(["demo", "--out", str(shown)])
    page = (shown / "page.html").read_text()
    part = page.partition("<h3>flows &#39;call&#39;, load</h3>")[2].partition("</table>")[0]
    heads = re.findall(r"<th[^>]*>(.*?)</th>", part, re.DOTALL)
    words = [" ".join(re.sub(r"<[^>]*>", " ", head).split()) for head in heads]
    for head in ("median", "95th percentile", "99th percentile"):
        assert f"delay of datagrams {head} (ms)" in words
    assert "lost of those sent (%)" in words and "mean opinion score" in words
    assert "E-model of ITU-T G.107" in part
    first = part.partition("fifo")[2].partition("</tr>")[0]
    cells = [float(cell) for cell in re.findall(r">\s*([\d.]+)\s*<", first)]
    delays_ms = [
        cells[words.index(f"delay of datagrams {n}th percentile (ms)") - 1] for n in (95, 99)
    ]
    assert 200 < delays_ms[0] <= delays_ms[1] < 300


def test_the_folder_of_the_demo_is_a_result_that_takes_more_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo"
    out.mkdir()
    (out / "page.html").write_text("as an older demo left it")
    assert status(["demo", "--out", str(out)]) == 0
    first = capsys.readouterr().out
    assert len(sojourn.Result.load(out)) == 3
    home = tmp_path / "home.toml"
    assert status(["new", "--scenario", "home", str(home)]) == 0
    assert status(["run", str(home), "--aqm", "pie", "--out", str(out)]) == 0
    assert len(sojourn.Result.load(out)) == 4
    capsys.readouterr()
    assert status(["demo", "--out", str(out)]) == 0
    assert capsys.readouterr().out == first


def test_the_demo_refuses_the_folder_of_another_result(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kept"
    assert status(["run", str(small), "--out", str(out)]) == 0
    assert status(["demo", "--out", str(out)]) == 2
    assert "holds runs of another scenario" in capsys.readouterr().err
    assert not (out / "page.html").exists()


def test_the_commands_that_the_demo_proposes_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sojourn.cli.run import _NEXT

    monkeypatch.chdir(tmp_path)
    proposed = [command.split() for command, _ in _NEXT if command.startswith("sojourn")]
    short = [words[1:] for words in proposed if words[1] != "reproduce"]
    assert len(short) == 2
    for words in short:
        assert status(words) == 0
    assert (tmp_path / "page.html").exists()


def test_a_script_reproduces_an_experiment_by_its_name() -> None:
    reproduction = sojourn.reproduce("stability/an-aqm", looked_up=("sim",))
    assert reproduction.experiment.id == "stability/an-aqm"
    with pytest.raises(sojourn.InputError, match="duk: has several experiments: duk/1, "):
        sojourn.reproduce("duk")


def test_a_reproduction_ends_on_one_screen_and_has_every_table_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "stability/an-aqm", "--stored", "--out"]
    assert status([*words, str(tmp_path / "short")]) == 0
    short = capsys.readouterr().out
    assert status([*words, str(tmp_path / "full"), "--full"]) == 0
    full = capsys.readouterr().out
    assert len(short.splitlines()) <= SCREEN_LINES
    assert "--full" in short and "┃" not in short and "┃" in full
