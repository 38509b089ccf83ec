# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The examples of the documents run, page by page and in their order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from sojourn import _native
from sojourn.algorithms import algorithms
from sojourn.cli import status
from sojourn.scenario.flows import KINDS
from sojourn.scenario.networks.dumbbell import Dumbbell
from sojourn.sweeps import file as sweep_file
from sojourn.sweeps.model import SweepTable

from tests import tutorial

DOCS = Path(__file__).parent.parent / "docs"
ROOT = DOCS.parent
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Languages of which nothing runs.
TEXT = {"text"}


@dataclass(frozen=True)
class Exempt:
    """Blocks, or lines of a console, that no test of a page runs, and why."""

    page: str
    matches: str
    reason: str


# By page: the language of a block, or the beginning of a line of a console or of a block.
NOT_RUN = (
    Exempt("start/first-run.md", "sh", "builds a checkout"),
    Exempt("start/your-aqm.md", "$ ", "test_every_command_of_the_tutorial... follows this page"),
    Exempt("start/your-aqm.md", "yaml", "test_workflow.py runs its steps"),
    Exempt("start/your-aqm.md", "format = 2", "needs the C file that the page writes"),
    Exempt("guide/router.md", "sh", "root, and a router"),
    Exempt("guide/router.md", "yaml", "rules of Prometheus"),
    Exempt("reference/linux.md", "sh", "root, and a router"),
    Exempt("reference/linux.md", "tc", "root; tests/linux/cases_tc.py runs it in a guest"),
    Exempt("reference/linux.md", "$ sojourn", "a kernel, or clang-format; tests/linux runs such"),
    Exempt("guide/papers.md", "$ sojourn reproduce", "minutes of runs"),
    Exempt(
        "guide/papers.md", "searched = ", "a part of search.toml; tests/test_search.py has such"
    ),
    Exempt(
        "start/your-paper.md", "answer = ", "a part of paper.toml; tests/test_answers.py has such"
    ),
    Exempt("reference/algorithms/lqd.md", "sh", "two simulated hours"),
    Exempt("guide/papers.md", "python", "minutes of runs; tests/test_demo.py has the call"),
    Exempt("guide/scenarios.md", "$ sojourn run video.toml --host", "a kernel in virtual time"),
    Exempt("guide/stability.md", "sh", "minutes of runs"),
    Exempt("evidence/parity.md", "sh", "a kernel"),
    Exempt("reference/linux-host.md", "transport = ", "a line of a scenario"),
    Exempt("reference/linux-host.md", "$ pytest", "a kernel"),
    Exempt("reference/qdisc.md", "sh", "root; tests/linux runs such in a guest"),
    Exempt("reference/algorithms/avq.md", "[[dumbbell.flows]]", "a part of a scenario"),
    Exempt("reference/algorithms/avq.md", "schedule = ", "a part of a scenario"),
    Exempt("reference/algorithms/asqm.md", "sh", "minutes of runs, a kernel"),
    Exempt("reference/algorithms/duk.md", "sh", "minutes of runs"),
    Exempt("reference/algorithms/pie_2013.md", "sh", "minutes of runs"),
    Exempt("README.md", "$ make", "builds a checkout"),
    Exempt("README.md", "$ source", "the environment of a checkout"),
    Exempt("README.md", "$ sojourn reproduce", "minutes of runs"),
    Exempt("README.md", "$ sojourn bench", "minutes of runs"),
    Exempt("README.md", "$ sojourn run home.toml --host", "a kernel in virtual time"),
)


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT))


def excepted(page: Path, language: str, line: str) -> bool:
    """Say whether a block, or a line of a console, is in the list of those that do not run."""
    return any(
        rule.page == name_of(page) and (rule.matches == language or line.startswith(rule.matches))
        for rule in NOT_RUN
    )


def runs(page: Path) -> list[tuple[str, str]]:
    """Find the blocks of a page that run, a console's without the lines that do not."""
    found = []
    for language, text in BLOCK.findall(page.read_text()):
        # Of a console the lines are looked at, one by one.
        if language in TEXT or excepted(page, language, "" if language == "console" else text):
            continue
        if language == "console":
            lines = [line for line in text.splitlines() if line.startswith("$ ")]
            text = "\n".join(line for line in lines if not excepted(page, "", line))
        if text:
            found.append((language, text))
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=name_of)
def test_every_example_of_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for language, text in runs(page):
        if language == "toml" and text.startswith("# sweep.toml"):
            Path("sweep.toml").write_text(text)
            assert sweep_file.load("sweep.toml").cells
        elif language == "toml":
            Path("scenario.toml").write_text(text)
            assert status(["show", "--expand", "scenario.toml"]) == 0
        elif language == "console":
            for line in text.splitlines():
                # Two seeds show what ten do.
                line = line.replace("--seeds 10", "--seeds 2")
                words = shlex.split(line.removeprefix("$ "), comments=True)
                if words[0] == "sojourn":
                    assert status(words[1:]) == 0, line
                else:
                    subprocess.run(words, check=True)
        elif language == "python":
            exec(compile(text, str(page), "exec"), {})
        else:
            pytest.fail(f"{name_of(page)}: no test runs a block of {language or 'no language'}")
    if page.parent.name == "gallery":
        compare_pictures(page)


def compare_pictures(page: Path) -> None:
    """Compare the drawn numbers of each picture of a page with those of its commands."""
    pictures = re.findall(r"\]\((\w+\.svg)\)", page.read_text())
    assert len(pictures) > 3
    for picture in pictures:
        if os.environ.get("RENEW"):
            (page.parent / picture).write_bytes(Path(picture).read_bytes())
        kept, drawn = (
            re.search(r'aria-label="([^"]*)"', (folder / picture).read_text())
            for folder in (page.parent, Path())
        )
        assert kept and drawn and kept[1] == drawn[1], f"draw {picture} anew with RENEW=1"


@pytest.mark.parametrize("rule", NOT_RUN, ids=lambda rule: f"{rule.page}: {rule.matches}")
def test_every_exception_is_of_something_on_its_page(rule: Exempt) -> None:
    page = (DOCS if (DOCS / rule.page).exists() else ROOT) / rule.page
    blocks = BLOCK.findall(page.read_text())
    languages = {language for language, _ in blocks}
    lines = [line for _, text in blocks for line in text.splitlines()]
    assert rule.matches in languages or any(line.startswith(rule.matches) for line in lines)
    assert rule.reason


def anchors(page: Path) -> set[str]:
    """Make the anchors of a page's headings, as the site and other readers of Markdown do."""
    text = BLOCK.sub("", page.read_text())
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    "page",
    [*PAGES, *(ROOT / name for name in ("CHANGELOG.md", "bench/README.md", "models/README.md"))],
    ids=name_of,
)
def test_every_link_of_the_page_leads_to_a_file_and_a_heading(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text()))
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


# Other words say these plainly.
WORDS = re.compile(r"\bso that\b|\bstands?\b(?! for\b|-in)", re.IGNORECASE)
GENERATED = re.compile(r"^<!-- Made (?:by|from) ", re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if page.parent.name != "algorithms" and not GENERATED.search(page.read_text())
    ],
    ids=name_of,
)
def test_the_page_is_in_plain_words(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text()))
    assert not WORDS.findall(text)


def test_every_command_of_the_tutorial_runs_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "start/your-aqm.md").read_text()
    assert tutorial.follow(page, linux=False) == len(re.findall(r"^\$ ", page, re.MULTILINE)) - 1


def test_the_page_of_results_has_every_reason_of_a_drop() -> None:
    page = " ".join((DOCS / "guide/results.md").read_text().split())
    for number, reason in list(enumerate(_native.reason_names()))[1:]:
        assert f"{number} {reason}" in page


def test_the_page_of_keys_has_every_key_of_the_dumbbell_with_a_sentence() -> None:
    page = (DOCS / "reference/keys.md").read_text().split("## `[dumbbell]`")[1].split("\n## ")[0]
    for key, field in Dumbbell.model_fields.items():
        assert re.search(rf"^\| `{key}` \|.*\| \S.* \|$", page, re.MULTILINE), key
        assert field.description, key


def test_the_page_of_sweeps_has_every_key_of_one() -> None:
    page = (DOCS / "guide/sweeps.md").read_text()
    for name, field in SweepTable.model_fields.items():
        key = field.alias or name
        assert re.search(rf"^\| .*`{key}`.* \| \S", page, re.MULTILINE), key


def test_the_page_of_traffic_has_every_kind_and_where_it_goes() -> None:
    page = (DOCS / "guide/scenarios.md").read_text()
    for name, kind in KINDS.items():
        over = ", ".join(kind.table["transports"])
        assert f"| `{name}` | {over} |" in page


def test_the_readme_links_each_algorithm_to_its_page() -> None:
    readme = (DOCS.parent / "README.md").read_text()
    for name in algorithms():
        page = f"docs/reference/algorithms/{name}.md"
        assert f"| [`{name}`]({page}) |" in readme and (DOCS.parent / page).exists()
    assert readme.count("](docs/reference/algorithms/") == len(algorithms())
    assert f"{len(algorithms())} AQMs are here" in readme


def test_the_page_of_keys_has_a_default_in_words_where_defaults_stand() -> None:
    page = (DOCS / "reference/keys.md").read_text()
    assert len(re.findall(r"^\| `responder` \|.*\| the far end \|", page, re.MULTILINE)) == 2
    assert not re.findall(r"^.*\| none \|.*unless given.*$", page, re.MULTILINE)
