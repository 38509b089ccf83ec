# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A script is played to its end, or the line at which it stops is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sojourn.linux.uml.boot import BootError, boot
from sojourn.linux.uml.build import Built

from tests.linux import netlink as nl
from tests.linux.parity import lay_player
from tests.linux.play import Script

# The first case may have to build a kernel.
pytestmark = pytest.mark.timeout(1800)


def play(built: Built, script: Script, folder: Path) -> None:
    lay_player(script, folder)
    (folder / "job").symlink_to("script")
    boot(built, folder, limit_s=60)


def test_steps_come_at_their_times(kernel: Built, tmp_path: Path) -> None:
    script = Script()
    script.wait(1500)
    script.add("copy", "/proc/uptime", "uptime")
    script.wait(500)
    script.add("copy", "/proc/uptime", "later")
    play(kernel, script, tmp_path)
    first, later = (float((tmp_path / name).read_text().split()[0]) for name in ("uptime", "later"))
    # From the start of the kernel, ten seconds before zero; of the clock's ticks, each 10 ms.
    assert first == pytest.approx(11.5, abs=0.011)
    assert later - first == pytest.approx(0.5, abs=0.011)


def late(script: Script) -> None:
    script.wait(2)
    script.add("at", 1)


def refused(script: Script) -> None:
    script.space("here")
    script.link(1, "d1", "dummy")
    script.qdisc(1, "root", "1:", nl.CREATE, "no_such_kind")


def failing(script: Script) -> None:
    script.add("start", "/bin/false", "script")


def unknown(script: Script) -> None:
    script.add("sing", "a song")


def incomplete(script: Script) -> None:
    script.add("write", "/proc/sys/kernel/hostname")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (late, "line 4: late"),
        (refused, "line 5: Specified qdisc kind is unknown"),
        (failing, "line 3: a program that was started has failed"),
        (unknown, "line 3: no such verb"),
        (incomplete, "line 3: words are missing"),
    ],
)
def test_a_script_that_cannot_be_played_says_where(
    wrong: Callable[[Script], None], sentence: str, kernel: Built, tmp_path: Path
) -> None:
    script = Script()
    wrong(script)
    with pytest.raises(BootError, match=f"player: {sentence}"):
        play(kernel, script, tmp_path)
