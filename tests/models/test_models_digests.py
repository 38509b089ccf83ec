# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Long tests are not run here, but their results must belong to what stands here.

A change of a header that every file includes makes all mutants stale, and to try them again takes
hours. So only `make test-deep`, which tries the stale ones first, asks for that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import fuzz.run
import tests.models.mutants_run
from tests.models.digest import program


@pytest.mark.deep
def test_mutants_were_tried_on_this_core() -> None:
    assert not tests.models.mutants_run.stale(), f"run `{tests.models.mutants_run.MADE_BY}`"


def test_this_core_was_fuzzed() -> None:
    assert fuzz.run.DIGEST.fresh(fuzz.run.covers()), f"run `{fuzz.run.DIGEST.made_by}`"


def test_comments_do_not_make_a_digest_stale(tmp_path: Path) -> None:
    one, other = tmp_path / "one.c", tmp_path / "other.c"
    one.write_text("int x = 1; /* one */\n")
    other.write_text("int  x = 1;\n// another\n")
    assert program(one) == program(other)
    other.write_text("int x = 2;\n")
    assert program(one) != program(other)
