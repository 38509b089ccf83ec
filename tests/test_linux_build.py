# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Building for the Linux host, without building: steps, their log, and what is shown of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from sojourn import progress
from sojourn.linux import kernel

from linux.uml import build as uml


def test_a_step_is_logged_and_its_lines_are_counted(tmp_path: Path) -> None:
    log, seen = tmp_path / "build.log", list[int]()
    uml.run(["sh", "-c", "echo one; echo two >&2"], log, note=seen.append)
    uml.run(["echo", "three"], log, note=seen.append)
    assert seen == [1, 2, 1]
    assert log.read_text() == "one\ntwo\nthree\n"


def test_a_step_that_fails_shows_the_end_of_its_log(tmp_path: Path) -> None:
    with pytest.raises(uml.BuildError, match=r"sh ended with status 3; .*:\n6\n7\n"):
        uml.run(["sh", "-c", "seq 20; exit 3"], tmp_path / "build.log")


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_of_the_kernel_is_for_terminals(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(source: Any, note: uml.Note) -> None:
        for lines in (1, uml.LINES, 2 * uml.LINES):
            note(lines)

    monkeypatch.setattr("linux.uml.build.build", build)
    monkeypatch.setattr("linux.qdisc.build.module", lambda built, trace: Path())
    monkeypatch.setattr(progress, "_QUIET_S", 0)
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    kernel.ready.__wrapped__()
    said = capsys.readouterr().err
    assert ("compiling the kernel" in said) == terminal
    assert ("100%" in said) == terminal
