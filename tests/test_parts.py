# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""What `make test` prints at its end: how long each part took."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAKEFILE = """\
quick:
\t@true
slow:
\t@sleep 2
broken:
\t@false
"""


def parts(folder: Path, *names: str, limit_s: int = 240) -> tuple[int, list[list[str]]]:
    """Exit status, and the words of each line of the table."""
    (folder / "Makefile").write_text(MAKEFILE)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKE", "MAKEFLAGS", "MFLAGS")}
    done = subprocess.run(
        [ROOT / "tools/parts.sh", *names],
        cwd=folder,
        env=env | {"PART_LIMIT_S": str(limit_s)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.returncode, [line.split() for line in done.stdout.strip().splitlines()]


def test_each_part_is_printed_with_its_seconds(tmp_path: Path) -> None:
    status, table = parts(tmp_path, "quick", "slow")
    assert status == 0
    assert [line[0] for line in table] == ["part", "quick", "slow", "total"]
    assert int(table[1][1]) <= 1 and 2 <= int(table[2][1]) <= int(table[3][1])
    assert all(len(line) == 2 for line in table)


def test_a_part_that_fails_is_named_and_ends_the_tests(tmp_path: Path) -> None:
    status, table = parts(tmp_path, "quick", "broken", "slow")
    assert status != 0
    assert table[2][0] == "broken" and table[2][2:] == ["FAILED"]
    assert table[3] == ["slow", "-", "not", "run"]
    assert int(table[4][1]) <= 1


def test_a_part_above_its_limit_is_seen(tmp_path: Path) -> None:
    status, table = parts(tmp_path, "quick", "slow", limit_s=1)
    assert status == 0
    assert table[1][2:] == [] and table[2][2:] == ["ABOVE", "1", "s"]


def test_make_test_times_every_part_that_has_a_name() -> None:
    text = (ROOT / "Makefile").read_text()
    (named,) = re.findall(r"tools/parts\.sh (.*)", text)
    targets = re.findall(r"^(test-[a-z]+):", text, re.MULTILINE)
    assert set(named.split()) == {"setup", "check", *targets} - {"test-deep"}
    assert "exec make test" in (ROOT / ".ci/run").read_text()
