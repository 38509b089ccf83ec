# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The start of a command, and its end by Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
import sojourn
from sojourn import _native
from sojourn.cli import status

from tests.conftest import SMALL

MODULES = """
import sys, sojourn.cli
ended = sojourn.cli.status(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(ended)
"""
# What a single run can do without. Each is slow to import.
UNNEEDED = {
    "concurrent.futures",
    "jinja2",
    "logging",
    "matplotlib",
    "multiprocessing",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sojourn.cli.show",
    "sojourn.cli.results",
    "tomlkit",
}

Says = Callable[..., str]


@pytest.fixture
def says(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Says:
    """What a command prints into a pipe."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*words: str, ends: int = 0) -> str:
        capsys.readouterr()
        assert status(["run", *words]) == ends
        said = capsys.readouterr()
        return said.err if ends else said.out

    return run


def imported(*words: str) -> set[str]:
    """Name the modules that a command imports."""
    done = subprocess.run(
        [sys.executable, "-c", MODULES, *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return set(done.stderr.splitlines()[-1].split())


def test_a_run_imports_what_it_needs_and_no_more(small: Path) -> None:
    assert all(map(find_spec, UNNEEDED)), "none has another name today"
    assert not UNNEEDED & imported("run", str(small))
    assert not ({"rich"} | UNNEEDED) & imported("run", str(small), "--json")


def test_signs_are_those_of_the_output(small: Path) -> None:
    words = [sys.executable, "-m", "sojourn", "run", str(small), "--seeds", "2"]

    def said(encoding: str) -> bytes:
        surroundings = {**os.environ, "PYTHONIOENCODING": encoding}
        surroundings.pop("COLUMNS", None)
        return subprocess.check_output(words, env=surroundings)

    assert "±".encode() in said("utf-8") and b"?" in said("ascii")


def test_a_terminal_gets_its_own_width_and_colours(small: Path, says: Says) -> None:
    table = says(str(small)).encode()
    narrow, wide = (on_terminal(small, columns) for columns in (60, 200))
    # What is too wide goes on below.
    assert narrow.count(b"aqm") > 1 and wide.count(b"aqm") == 1
    assert b"\x1b[" in wide and b"\x1b[" not in table


def on_terminal(small: Path, columns: int) -> bytes:
    """What a run prints there."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    surroundings = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    words = [sys.executable, "-m", "sojourn", "run", str(small)]
    drawn = b""
    with (
        os.fdopen(ours, "rb", buffering=0) as reader,
        subprocess.Popen(
            words,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**surroundings, "TERM": "xterm"},
        ) as process,
    ):
        os.close(theirs)
        # A terminal that nobody writes to any more cannot be read.
        with suppress(OSError):
            while part := reader.read(4096):
                drawn += part
    assert process.returncode == 0
    return drawn


def test_a_trace_is_the_one_that_is_named_from_here(
    small: Path, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = []
    for name, times in (("a", "5\n"), ("b", "50\n")):
        folder = small.parent / name
        folder.mkdir()
        (folder / "link.trace").write_text(times)
        (folder / "small.toml").write_text(
            SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"')
        )
        monkeypatch.chdir(folder)
        tables.append(says("small.toml"))
    assert tables[0] != tables[1]


def test_a_scenario_may_come_from_a_pipe(small: Path) -> None:
    words = [sys.executable, "-m", "sojourn", "run", "/dev/stdin", "--json"]
    done = subprocess.run(words, input=small.read_bytes(), capture_output=True, check=False)
    assert (done.stderr, done.returncode) == (b"", 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seeds", "0"], "seeds 0: a number N is wanted"),
        (["--workers", "0"], "greater than or equal to 1"),
        (["--host", "mars"], "there is no such host"),
        (["--aqm", "coddel"], "Did you mean 'codel'?"),
        (["--set", "rtt"], "write it as key=value"),
        (["--plot", "picture.txt"], "picture.txt"),
    ],
)
def test_a_run_that_cannot_be_is_refused_by_a_sentence(
    words: list[str], said: str, small: Path, says: Says
) -> None:
    assert said in says(str(small), *words, ends=2)


def test_ctrl_c_stops_a_single_run(small: Path) -> None:
    small.write_text(SMALL.replace('"2 s"', '"100000 s"'))
    with subprocess.Popen(
        [sys.executable, "-m", "sojourn", "run", str(small)],
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what it puts into the background with Ctrl-C switched off.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        # By then it runs, however busy the machine is.
        time.sleep(4)
        cpu_s = cpu(process.pid)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=30)
    assert cpu_s > 0.5
    assert process.returncode == 130
    assert message.endswith("the same command goes on from there\n")
    assert "interrupted: 0 of 1 runs are finished and kept" in message


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_reaches_the_engine_in_the_commands_own_thread() -> None:
    # What a shell runs in the background ignores it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    text = sojourn.loads(SMALL.replace('"2 s"', '"100000 s"')).to_engine()
    stop_at: list[float] = []

    def watch(_: float) -> bool:
        if not stop_at:
            stop_at.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)
        return True

    try:
        with pytest.raises(KeyboardInterrupt):
            _native.run(json.dumps(text), 1, watch)
        assert time.monotonic() - stop_at[0] < 2
    finally:
        signal.signal(signal.SIGINT, before)
