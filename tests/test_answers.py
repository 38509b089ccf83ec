# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The answer of a paper: three sentences whose numbers are measured, and one picture."""

from __future__ import annotations

import copy
import re
from html import escape, unescape
from pathlib import Path

import pytest
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.papers import answer, ledger, papers_page
from sojourn.papers.experiment import PaperFiles, find, papers

from tests.pages import parse
from tests.toy_paper import toy

__all__ = ["toy"]

SPACE = "\N{NO-BREAK SPACE}"
ANSWER = """answer = [
    "It claims that CoDel's delay is shorter.",
    "We find {toy/a: drop: CoDel: system_delay_mean_ms} beside \
{toy/a: drop: Tail <drop>: system_delay_mean_ms}.",
    "Of {claims} claims {claims: holds} holds.",
]
picture = "a/drop"
"""


def answered(toy: Path, text: str = ANSWER) -> None:
    path = toy / "paper.toml"
    path.write_text(text + path.read_text())


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_every_paper_that_is_shipped_has_an_answer_of_three_sentences(paper: PaperFiles) -> None:
    answer.check(paper)
    assert len(paper.shared["answer"]) == answer.SENTENCES
    assert paper.shared["picture"].partition("/")[2]


def test_the_first_screen_is_the_answer_with_measured_numbers_and_a_picture(
    toy: Path, tmp_path: Path
) -> None:
    before = ledger.definition(find(["toy/a"])[0])
    answered(toy)
    assert ledger.definition(find(["toy/a"])[0]) == before, "its words are no part of a run"
    out = tmp_path / "out"
    assert status(["reproduce", "--quick", "--out", str(out), "--workers", "1"]) == 0
    data = ledger.read(out / "ledger.json")
    (paper,) = data["papers"]
    means = {
        cell["algorithm"]: cell["sim"][0]
        for cell in paper["experiments"][0]["cells"]
        if cell["metric"] == "system_delay_mean_ms"
    }
    numbers = [f"{means[name]:.3g}{SPACE}ms" for name in ("CoDel", "Tail <drop>")]
    said = f"We find {' beside '.join(numbers)}."
    holds = paper["verdicts"]["sim"]["holds"]
    third = f"Of 3 claims {holds} holds."
    assert paper["answer"] == ["It claims that CoDel's delay is shorter.", said, third]
    text = (out / "toy.html").read_text()
    first = text[: text.index('id="verdicts"')]
    assert said in first and third in first and first.count("<figure>") == 1
    parse(text)
    assert said in (out / "index.html").read_text()
    page = papers_page.text(out / "ledger.json")
    assert (
        f"- {said.replace(SPACE, ' ')}" in page
        and "- Picture: “drop” of `sojourn reproduce toy/a`." in page
    )
    picture = (out / "toy.svg").read_text()
    (words,) = re.findall(r"!\[(.+)\]\(toy\.svg\)", page)
    assert "CoDel" in words and f'aria-label="{escape(unescape(words))}"' in picture
    # Without one of the experiments there is no answer to the paper.
    assert status(["reproduce", "toy/a", "--quick", "--stored", "--out", str(tmp_path / "a")]) == 0
    assert 'class="answer"' not in (tmp_path / "a" / "report.html").read_text()


def test_several_experiments_have_folders_of_their_own_in_one(toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["reproduce", "toy/a", "toy/b", "--quick", "--out", str(out), "--workers", "1"]
    for _ in range(2):
        assert status(words) == 0
        assert (out / "report.html").is_file()
        assert all((out / "toy" / name / "result.json").is_file() for name in "ab")


def test_two_ledgers_in_one_have_the_answer_of_both(toy: Path, tmp_path: Path) -> None:
    answered(toy)
    out = tmp_path / "out"
    assert status(["reproduce", "--quick", "--out", str(out), "--workers", "1"]) == 0
    whole = ledger.read(out / "ledger.json")
    part = copy.deepcopy(whole)
    first = part["papers"][0]["experiments"][0]
    first["hosts"]["sim"]["seeds"] = [0, 0]
    for cell in first["cells"]:
        cell["sim"] = "not run"
    part["papers"][0]["answer"] = ["It claims.", "A finding is missing here.", "Of 3 claims 0."]
    both = ledger.joined(whole, part)
    assert both["papers"][0]["answer"] == whole["papers"][0]["answer"]


def test_the_page_has_the_words_of_today_and_no_number_of_a_changed_experiment(
    toy: Path, tmp_path: Path
) -> None:
    answered(toy)
    out = tmp_path / "out"
    assert status(["reproduce", "--quick", "--out", str(out), "--workers", "1"]) == 0
    words = toy / "paper.toml"
    words.write_text(words.read_text().replace("It claims", "The paper claims"))
    page = papers_page.text(out / "ledger.json")
    assert "- The paper claims that CoDel's delay" in page and "- We find " in page
    scenario = toy / "a" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("20 ms", "30 ms"))
    page = papers_page.text(out / "ledger.json")
    assert (
        "- A finding is missing here: it needs runs of toy/a in the simulator." in page
        and "We find" not in page
    )
    assert (out / "toy.svg").is_file() and "toy.svg" not in page


def test_the_page_takes_the_pictures_that_were_drawn_with_a_ledger(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(toy)
    out, kept = tmp_path / "out", tmp_path / "kept"
    assert status(["reproduce", "--quick", "--out", str(out), "--workers", "1"]) == 0
    kept.mkdir()
    (kept / "ledger.json").write_bytes((out / "ledger.json").read_bytes())
    monkeypatch.setattr(papers_page, "LEDGER", kept / "ledger.json")
    words = ["--take", str(out / "ledger.json"), str(kept / "page.md")]
    assert papers_page.main(words) == 0
    assert (kept / "toy.svg").read_bytes() == (out / "toy.svg").read_bytes()


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("CoDel: system", "Codel: system", r"there is no \{toy/a: drop: Codel: .*Did you mean"),
        ("claims: holds", "claims: hold", r"there is no \{claims: hold\}. Did you mean"),
        (
            '"a/drop"',
            '"c/drop"',
            r"paper.toml:6: picture: there is no experiment 'c'\. Valid .*: a, b",
        ),
        (
            '"a/drop"',
            '"a/drops"',
            r"paper.toml:6: picture: .* 'a' has no figure 'drops'. Did you mean",
        ),
        ('"a/drop"', '"a/x"', r"no figure 'x'\. Valid names: drop, drop-five-flows"),
        ('    "Of {claims} claims {claims: holds} holds.",\n', "", "it has 2 sentences; 3 are"),
    ],
)
def test_an_answer_that_names_what_is_not_there_is_refused(
    toy: Path, was: str, now: str, said: str
) -> None:
    assert was in ANSWER
    answered(toy, ANSWER.replace(was, now))
    with pytest.raises(InputError, match=said):
        answer.check(find(["toy/a"])[0].home)


def test_numbers_have_three_digits_and_a_sentence_without_its_numbers_gives_way(toy: Path) -> None:
    answered(toy)
    home = find(["toy/a"])[0].home
    found = answer.sentences(home, lambda *cell: 1753.8 if "CoDel" in cell else 0.4567, {})
    assert found[1] == f"We find 1,750{SPACE}ms beside 0.457{SPACE}ms."
    missing = answer.sentences(home, lambda *cell: 1.0 if "CoDel" in cell else None, {})
    assert missing[1] == "A finding is missing here: it needs runs of toy/a in the simulator."


def test_a_name_may_have_a_colon_and_an_id_stands_once_in_a_paper(toy: Path) -> None:
    claims = toy / "a" / "claims.toml"
    claims.write_text(claims.read_text().replace("toy/a/less", "delay: less"))
    answered(toy, ANSWER.replace("delay is shorter.", "delay is shorter{delay: less: holds}."))
    home = find(["toy/a"])[0].home
    answer.check(home)
    assert answer.sentences(home, lambda *cell: 1.0, {"delay: less": "undecided"})[0].endswith(
        "(here: undecided)."
    )
    claims.write_text(claims.read_text().replace("delay: less", "toy/b/less"))
    with pytest.raises(InputError, match="claim toy/b/less: give each claim of the paper an id"):
        answer.check(find(["toy/a"])[0].home)


def test_counts_say_how_many_claims_did_not_run(toy: Path) -> None:
    answered(toy)
    home = find(["toy/a"])[0].home
    verdicts = {"a": "holds", "b": "undecided"}
    whole = answer.sentences(home, lambda *cell: 1.0, verdicts)
    assert whole[2] == "Of 2 claims 1 holds."
    part = answer.sentences(home, lambda *cell: 1.0, verdicts | dict.fromkeys("cde", "not run"))
    assert part == [*whole[:2], "Of 5 claims 1 holds (3 claims not run)."]


def test_a_finding_in_words_is_followed_by_the_verdict_that_it_does_not_have(toy: Path) -> None:
    answered(toy, ANSWER.replace("delay is shorter.", "delay is shorter{toy/a/less: holds}."))
    home = find(["toy/a"])[0].home
    answer.check(home)

    def said(verdicts: dict[str, str]) -> str:
        return answer.sentences(home, lambda *cell: 1.0, verdicts)[0]

    assert said({"toy/a/less": "holds"}) == "It claims that CoDel's delay is shorter."
    assert said({"toy/a/less": "undecided"}).endswith("is shorter (here: undecided).")
    assert (
        said({}) == "A finding is missing here: it needs runs of claim toy/a/less in the simulator."
    )


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.name)
def test_the_findings_of_a_shipped_answer_are_the_verdicts_of_the_ledger(paper: PaperFiles) -> None:
    first, *findings = paper.shared["answer"]
    assert "{" not in first, "the first sentence is what the paper claims"
    assert re.search(r"\{[^:{}]+/[^:{}]+: [^:{}]+\}", " ".join(findings)), "nothing holds the words"
    page = papers_page.LEDGER.with_suffix(".md").read_text()
    assert "(here: " not in page
