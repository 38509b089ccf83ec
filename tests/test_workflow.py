# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The workflow of docs/start/your-aqm.md, whose steps run in a repository with a change."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import SMALL
from tests.test_docs import DOCS

PAGE = DOCS / "start" / "your-aqm.md"


def git(*words: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


def test_the_workflow_compares_a_changed_file_with_that_of_the_main_branch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = re.search(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert block
    steps = yaml.safe_load(block[1])["jobs"]["compare"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    # The first installs the wheel; `check` of a file has tests of its own.
    assert [command.split()[:2] for command in commands[:2]] == [
        ["pip", "install"],
        ["sojourn", "check"],
    ]

    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch=main")
    subprocess.run(["sojourn", "new", "my_aqm.c"], check=True, capture_output=True)
    Path("scenario.toml").write_text(SMALL)
    git("add", ".")
    git("commit", "--quiet", "--message=main")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    source = Path("my_aqm.c")
    source.write_text(source.read_text().replace("5 * NS_PER_MS", "1 * NS_PER_MS", 1))

    summary = tmp_path / "summary"
    run = {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary)}
    for command in commands[2:]:
        script = command.replace("--seeds 10", "--seeds 2")
        subprocess.run(
            ["bash", "-e", "-c", script], check=True, env=os.environ | run, capture_output=True
        )
    table = summary.read_text()
    assert "main/my_aqm.c" in table and "| ./my_aqm.c" in table
