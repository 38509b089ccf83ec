# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""aqm/all.sh lists every algorithm, however its definition is laid out, or says which it cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def listed(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run all.sh beside one file of an author."""
    shutil.copy(ROOT / "aqm/all.sh", folder)
    (folder / "algorithms").mkdir()
    (folder / "algorithms/mine.c").write_text(source)
    words = ["sh", str(folder / "all.sh")]
    return subprocess.run(words, capture_output=True, text=True, check=False)


BODY = '.name = "mine", .abi = AQM_ABI };'


@pytest.mark.parametrize(
    "head",
    [
        "const struct aqm_algo aqm_mine = {",
        "const struct aqm_algo\naqm_mine =\n{",
        "const  struct\taqm_algo aqm_mine={",
        'const struct aqm_algo aqm_mine __attribute__((visibility("default"))) = {',
        "/* const struct aqm_algo aqm_no = { */ // const struct aqm_algo aqm_neither = {\n"
        "const struct aqm_algo aqm_mine = {",
        "static const struct aqm_algo *const other = 0;\nconst struct aqm_algo aqm_mine = {",
    ],
)
def test_a_definition_is_found_in_any_layout(head: str, tmp_path: Path) -> None:
    done = listed(tmp_path, f'#include "aqm.h"\n{head} {BODY}\n')
    assert done.returncode == 0, done.stderr
    entries = [w for w in (tmp_path / "all.c").read_text().split() if w.startswith("&aqm_")]
    assert entries == ["&aqm_mine,"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (f"static const struct aqm_algo aqm_mine = {{ {BODY}", "static"),
        (f"struct aqm_algo aqm_mine = {{ {BODY}", "cannot be read"),
        (f"const struct aqm_algo mine = {{ {BODY}", "cannot be read"),
        (f"const struct aqm_algo aqm_Mine = {{ {BODY}", "cannot be read"),
        (f"ALGORITHM(mine) = {{ {BODY}", "no definition"),
    ],
)
def test_a_definition_that_cannot_be_listed_is_an_error(
    source: str, reason: str, tmp_path: Path
) -> None:
    done = listed(tmp_path, source)
    assert done.returncode == 1
    assert "algorithms/mine.c: " in done.stderr and reason in done.stderr
    assert "const struct aqm_algo aqm_NAME = {" in done.stderr
    assert not (tmp_path / "all.c").exists()
