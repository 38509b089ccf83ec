# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The examples of the documents run, in the order in which they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn import _native
from sojourn.algorithms import algorithms
from sojourn.cli import status
from sojourn.scenario.apps import KINDS
from sojourn.scenario.networks import Dumbbell
from sojourn.sweeps import file as sweep_file
from sojourn.sweeps.model import SweepTable

from tests import tutorial
from tests.conftest import SMALL

DOCS = Path(__file__).parent.parent / "docs"
NAMES = (
    "guide/scenarios.md",
    "guide/traffic.md",
    "guide/results.md",
    "reference/commands.md",
    "reference/presets.md",
    "guide/sweeps.md",
    "guide/stability.md",
)
PAGES = [DOCS / name for name in NAMES]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_of_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for language, text in BLOCK.findall(page.read_text()):
        if language == "toml" and text.startswith("# sweep.toml"):
            Path("sweep.toml").write_text(text)
            assert sweep_file.load("sweep.toml").cells
        elif language == "toml":
            Path("scenario.toml").write_text(text)
            assert status(["show", "--expand", "scenario.toml"]) == 0
        elif language == "console":
            for line in text.splitlines():
                words = shlex.split(line.removeprefix("$ "))
                assert words[0] == "sojourn"
                assert status(words[1:]) == 0, line
        elif language == "python":
            exec(compile(text, str(page), "exec"), {})
        else:
            continue
        ran += 1
    assert ran > 0


def test_the_commands_of_the_readme_run_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((DOCS.parent / "README.md").read_text())
    scenario = next(text for language, text in blocks if language == "toml")
    assert 'duration = "30 s"' in scenario
    Path("scenario.toml").write_text(scenario.replace('"30 s"', '"1 s"'))
    commands = next(text for _, text in blocks if "$ sojourn" in text).splitlines()
    # What takes minutes, a kernel, or a file of another page is tried elsewhere.
    elsewhere = ("sweep", "reproduce", "bench", "--host")
    for line in commands:
        line = line.replace("--seeds 10", "--seeds 2")
        words = shlex.split(line.removeprefix("$ "), comments=True)
        assert words[0] == "sojourn"
        if not set(elsewhere) & set(words):
            assert status(words[1:]) == 0, line


def test_every_command_of_the_tutorial_runs_in_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "start/your-aqm.md").read_text()
    assert tutorial.follow(page, linux=False) == len(re.findall(r"^\$ ", page, re.MULTILINE)) - 1


@pytest.mark.parametrize("page", [*PAGES, DOCS / "start/your-aqm.md"], ids=lambda page: page.name)
def test_every_key_that_the_page_names_in_a_link_exists(page: Path) -> None:
    for target in re.findall(r"\]\(([\w./-]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_page_of_results_has_every_column_and_reason_of_the_events(tmp_path: Path) -> None:
    page = (DOCS / "guide/results.md").read_text()
    for number, reason in list(enumerate(_native.reason_names()))[1:]:
        assert f"{number} {reason}" in page
    scenario = sojourn.loads(SMALL + "\n[record]\nevents = true\n")
    sojourn.run(scenario, out=tmp_path / "out", workers=1)
    (file,) = (tmp_path / "out").rglob("events.parquet")
    for column in pq.read_schema(file).names:
        assert f"| `{column}` |" in page


def test_the_page_of_scenarios_has_every_key_of_the_dumbbell_with_a_sentence() -> None:
    page = (DOCS / "guide/scenarios.md").read_text()
    for key, field in Dumbbell.model_fields.items():
        assert re.search(rf"^\| `{key}` \|.*\| \S.* \|$", page, re.MULTILINE), key
        assert field.description, key


def test_the_page_of_sweeps_has_every_key_of_one() -> None:
    page = (DOCS / "guide/sweeps.md").read_text()
    for key in SweepTable.model_fields:
        assert re.search(rf"^\| .*`{key}`.* \| \S", page, re.MULTILINE), key


def test_the_page_of_traffic_has_every_kind_and_where_it_goes() -> None:
    page = (DOCS / "guide/traffic.md").read_text()
    for name, kind in KINDS.items():
        over = ", ".join(kind.table["transports"])
        assert f"| `{name}` | {over} |" in page


def test_the_readme_links_each_algorithm_to_its_page() -> None:
    readme = (DOCS.parent / "README.md").read_text()
    for name in algorithms():
        page = f"docs/reference/algorithms/{name}.md"
        assert f"| [`{name}`]({page}) |" in readme and (DOCS.parent / page).exists()


def test_the_page_of_keys_has_a_default_in_words_where_defaults_stand() -> None:
    page = (DOCS / "reference/keys.md").read_text()
    assert len(re.findall(r"^\| `responder` \|.*\| the far end \|", page, re.MULTILINE)) == 2
    assert not re.findall(r"^.*\| none \|.*unless given.*$", page, re.MULTILINE)
