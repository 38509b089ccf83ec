# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Each step that a page lists cites a source and names what does it in a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEPS = re.compile(r"^## Steps\n(.*?)^(?:## |<!--)", re.S | re.M)
PAGES = [
    page
    for page in (ROOT / "docs/reference/algorithms").glob("*.md")
    if STEPS.search(page.read_text())
]


def rows(page: Path) -> Iterator[list[str]]:
    """Step, source, model."""
    found = STEPS.search(page.read_text())
    assert found
    lines = [line for line in found[1].splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_pages_have_their_steps() -> None:
    assert {page.stem for page in PAGES} >= {
        "choke",
        "codel",
        "duk",
        "fifo",
        "pie",
        "pie_2013",
        "sfb",
        "asqm",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_step_has_a_source_and_a_function_that_there_is(page: Path) -> None:
    known = {
        name
        for folder in ("models", "tests/models", "tests/algorithms")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"^ *(?:def|class) (\w+)", path.read_text(), re.M)
    }
    places = {"queue.py", "red.py", "tests/models"}
    for step, source, model in rows(page):
        assert step
        assert source, step
        names = set(re.findall(r"`([^`]+)`", model)) - places
        assert names or "same names" in model, step
        parts = {part for name in names for part in name.split(".")}
        assert parts <= known, f"{step}: {parts - known}"
