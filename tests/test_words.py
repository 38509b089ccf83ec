# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The package reads as plain English: a docstring of a function begins with a verb."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sojourn

PACKAGE = Path(sojourn.__file__).parent
ROOMS = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
# Words that no imperative is: articles, pronouns, prepositions, conjunctions, counts.
NO_VERBS = (
    " a an the of what those these this that whether how where when as one every all so it they "
    "from in on with without for by at into to each some any no none its their whose which who "
    "whom if unless until while because and or but not also only such here there both under over "
    "after before behind beside beyond again then once other another same many most more less few "
    "several nothing anything something everything everyone nobody whoever "
)
MOST_WORDS = 25


def docstrings(room: Path) -> Iterator[tuple[str, str]]:
    """Yield the place and the docstring of each function and method of a room."""
    for path in sorted(room.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                if text:
                    yield f"{path.relative_to(PACKAGE)}:{node.lineno}", text


def begins_with_a_verb(text: str) -> bool:
    first = re.match(r"\W*([A-Za-z']+)", text)
    word = first[1] if first else "the"
    return f" {word.lower()} " not in NO_VERBS and not word.endswith("'s")


def sentences(text: str) -> list[str]:
    """Split a docstring; an example, a table or an equation is indented and counts for none."""
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("  "))
    return re.split(r"(?<=[.!?;:])\s+|\n\n", plain)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_docstring_of_a_function_begins_with_a_verb(room: Path) -> None:
    assert [place for place, text in docstrings(room) if not begins_with_a_verb(text)] == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_sentence_of_a_docstring_has_at_most_25_words(room: Path) -> None:
    long = [
        f"{place}: {sentence}"
        for place, text in docstrings(room)
        for sentence in sentences(text)
        if len(sentence.split()) > MOST_WORDS
    ]
    assert long == []


def test_a_noun_phrase_and_a_question_word_are_no_verbs() -> None:
    assert begins_with_a_verb("Return the sum.")
    assert not begins_with_a_verb("The sum.")
    assert not begins_with_a_verb("What the sum is.")
