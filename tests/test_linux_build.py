# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Building for the Linux host, without building: steps, their log, what is shown of them, and
what is said when something is missing."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from sojourn.core import progress
from sojourn.linux import kernel
from sojourn.linux.uml import build as uml


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
    def build(source: Any, hz: int, note: uml.Note) -> None:
        for lines in (1, uml.LINES, 2 * uml.LINES):
            note(lines)

    monkeypatch.setattr("sojourn.linux.uml.build.build", build)
    monkeypatch.setattr("sojourn.linux.uml.module.module", lambda built, trace: Path())
    monkeypatch.setattr(progress, "_QUIET_S", 0)
    monkeypatch.setattr(progress, "_LINE_EVERY_S", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    kernel.ready.__wrapped__()
    said = capsys.readouterr().err
    assert ("compiling the kernel" in said) == terminal
    assert ("100%" in said) == terminal


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with what a build calls and nothing else; no source package is installed."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for tool in uml.NEEDED:
        (folder / tool).symlink_to(shutil.which(tool) or "missing")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(uml, "INSTALLED", tmp_path / "none")
    return folder


def add(tools: Path, name: str, script: str) -> None:
    path = tools / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_missing_compiler_is_named_with_its_package(tools: Path) -> None:
    for tool in ("gcc", "flex"):
        (tools / tool).unlink()
    with pytest.raises(uml.BuildError, match=r"apt install gcc flex$"):
        uml.build()


def test_a_missing_source_package_is_named(tools: Path) -> None:
    with pytest.raises(uml.BuildError, match=r"no apt-get.*apt install linux-source-6\.12, or"):
        uml.build()


@pytest.mark.parametrize("script", ["echo no network; exit 100", "exit 0"])
def test_a_source_that_cannot_be_fetched_is_named(tools: Path, script: str) -> None:
    add(tools, "apt-get", script)
    add(tools, "dpkg-deb", "exit 0")
    with pytest.raises(uml.BuildError, match=r"cannot be fetched; apt install linux-source-6\.12"):
        uml.build()


def test_a_folder_that_is_no_kernel_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    with pytest.raises(uml.BuildError, match="this is no source of a kernel"):
        uml.build(tmp_path)
    assert not list(uml.cache_root().glob("kernel-*"))


@pytest.mark.parametrize("kind", ["tar", "text"])
def test_an_archive_that_is_no_kernel_is_refused(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "some.tar"
    if kind == "tar":
        (tmp_path / "some").mkdir()
        (tmp_path / "some" / "file").touch()
        shutil.make_archive(str(archive.with_suffix("")), "tar", tmp_path, "some")
    else:
        archive.write_text("no archive")
    with pytest.raises(uml.BuildError, match=r"no source of a kernel|not look like a tar archive"):
        uml.build(archive)
    # Off a terminal too: what follows takes minutes.
    assert "building the virtual-time kernel; log: " in capsys.readouterr().err


def test_an_option_of_the_sanitizers_that_a_kernel_does_not_have_is_missed(tmp_path: Path) -> None:
    def configured(*lines: str) -> None:
        (tmp_path / ".config").write_text("\n".join(["CONFIG_HZ=1000", *lines]))
        uml.check_config(tmp_path, [uml.CONFIG, uml.SANITIZERS])

    fragment = [w for w in uml.SANITIZERS.read_text().splitlines() if w.endswith("=y")]
    configured(*fragment)
    with pytest.raises(uml.BuildError, match=r"lost: CONFIG_UBSAN_SHIFT=y$"):
        configured(*(line for line in fragment if line != "CONFIG_UBSAN_SHIFT=y"))


def test_a_kernel_of_another_hz_is_another_kernel_of_the_same_configuration(
    tmp_path: Path,
) -> None:
    archive = tmp_path / "some.tar"
    archive.write_text("content")
    folders = {uml.kernel_folder(archive, hz=hz) for hz in (250, 1000)}
    assert len(folders) == 2 and uml.kernel_folder(archive) in folders
    usual, other = uml.wanted_config([uml.CONFIG]), uml.wanted_config([uml.CONFIG], 250)
    assert usual == uml.CONFIG.read_text()
    differ = [
        pair
        for pair in zip(usual.splitlines(), other.splitlines(), strict=True)
        if len(set(pair)) > 1
    ]
    assert differ == [("CONFIG_HZ=1000", "CONFIG_HZ=250")]
    (tmp_path / ".config").write_text("CONFIG_HZ=1000\n")
    with pytest.raises(uml.BuildError, match=r"lost: CONFIG_HZ=250$"):
        uml.check_config(tmp_path, [], 250)
