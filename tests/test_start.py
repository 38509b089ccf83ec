# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A command that was checked before starts sooner, and says the same."""

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
from pathlib import Path

import pytest
import sojourn
from sojourn import _native
from sojourn.cli import memo, status
from sojourn.store.store import default_root
from sojourn.user_aqm import template

from tests.conftest import SMALL

MODULES = """
import sys, sojourn.cli
ended = sojourn.cli.status(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(ended)
"""
LIBRARIES = {
    "jinja2",
    "matplotlib",
    "multiprocessing",
    "numpy",
    "pandas",
    "pyarrow",
    "pydantic",
    "rich",
    "scipy",
    "tomlkit",
    "typer",
}
# Of ours and of Python: slow too.
SLOW = {"sojourn.algorithms", "sojourn.runs.run", "concurrent.futures", "logging", "statistics"}

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


def answers() -> list[Path]:
    return sorted(memo.folder().glob("*"))


def loaded(*words: str) -> tuple[str, set[str]]:
    """What a command prints, and what it imports."""
    surroundings = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-c", MODULES, "run", *words],
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout, set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--json"],
        ["--again"],
        ["--aqm", "pie:target=5ms", "--set", "dumbbell.rtt=40 ms", "--host", "sim"],
    ],
)
def test_a_command_that_was_checked_before_imports_no_library(
    words: list[str], small: Path
) -> None:
    first, imported = loaded(str(small), *words)
    assert {"pydantic", "typer", "sojourn.runs.run"} <= imported
    second, imported = loaded(str(small), *words)
    assert not (LIBRARIES | SLOW) & imported
    if "--json" not in words:  # which says the seconds of CPU
        assert second == first


def test_more_algorithms_and_seeds_than_before_are_run_without_another_check(
    small: Path, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [str(small), "--aqm", "codel", "--aqm", "pie"]
    says(*words)
    monkeypatch.setattr("sojourn.runs.run.run", None)
    assert "3 seeds" in says(*words, "--seeds", "3", "--workers", "1")


def test_the_table_of_a_second_time_is_that_of_the_first(small: Path, says: Says) -> None:
    """Differences, several hosts' forms and a trace included."""
    (small.parent / "link.trace").write_text("5\n11\n30\n")
    traced = small.with_name("traced.toml")
    traced.write_text(SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"'))
    for path in (small, traced):
        words = [str(path), "--aqm", "codel", "--aqm", "pie", "--seeds", "2", "--workers", "1"]
        first = says(*words)
        assert says(*words) == first
        assert says(*words, "--again") == first


def test_signs_are_those_of_the_output(small: Path) -> None:
    """A table that was drawn for another encoding is another table."""
    words = [sys.executable, "-m", "sojourn", "run", str(small), "--seeds", "2"]

    def said(encoding: str) -> bytes:
        surroundings = {**os.environ, "PYTHONIOENCODING": encoding}
        surroundings.pop("COLUMNS", None)
        return subprocess.check_output(words, env=surroundings)

    first, second = said("utf-8"), said("ascii")
    assert "±".encode() in first and b"?" in second
    assert (said("utf-8"), said("ascii")) == (first, second)


def test_a_terminal_gets_its_own_width_and_colours(small: Path, says: Says) -> None:
    table = says(str(small)).encode()
    drawn = [on_terminal(small, columns) for columns in (60, 60, 200)]
    assert drawn[0] == drawn[1]
    # What is too wide goes on below.
    assert drawn[0].count(b"aqm") > 1 and drawn[2].count(b"aqm") == 1
    assert b"\x1b[" in drawn[2] and b"\x1b[" not in table


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


def change_scenario(folder: Path) -> None:
    path = folder / "small.toml"
    path.write_text(path.read_text().replace('name = "small"', 'name = "other"'))


def change_trace(folder: Path) -> None:
    (folder / "link.trace").write_text("7\n")


def lose_trace(folder: Path) -> None:
    (folder / "link.trace").unlink()


@pytest.mark.parametrize("change", [change_scenario, change_trace, lose_trace])
def test_what_changed_is_checked_again(
    change: Callable[[Path], None], small: Path, says: Says
) -> None:
    (small.parent / "link.trace").write_text("5\n11\n30\n")
    small.write_text(SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"'))
    says(str(small))
    change(small.parent)
    fresh = small.with_name("fresh.toml")
    fresh.write_text(small.read_text())
    ends = 2 if change is lose_trace else 0
    assert says(str(small), ends=ends) == says(str(fresh), ends=ends).replace("fresh", "small")


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


def test_a_c_file_of_yours_is_known_by_its_content(
    small: Path, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    own = Path("mine.c")
    template.write(own)
    words = [str(small), "--aqm", "./mine.c"]
    first = says(*words)
    with monkeypatch.context() as patched:
        patched.setattr("sojourn.runs.run.run", None)
        assert says(*words) == first
    own.write_text(own.read_text().replace("const struct aqm_algo", "broken"))
    assert "mine.c" in says(*words, ends=2)
    own.unlink()
    assert "no such file" in says(*words, ends=2)


def test_another_version_of_the_package_checks_again(
    small: Path, says: Says, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = says(str(small))
    before = answers()
    monkeypatch.setattr(memo, "_made_by", lambda: "another")
    assert says(str(small)) == first
    assert len(answers()) == 2 * len(before)


def test_a_file_of_the_package_that_changed_makes_another_version(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    for name in ("a.py", "sources/b.c"):
        (tmp_path / name).write_text("1")
    before = list(memo._files(str(tmp_path)))
    assert len(before) == 1
    os.utime(tmp_path / "a.py", ns=(1, 1))
    assert list(memo._files(str(tmp_path))) != before


@pytest.mark.parametrize("content", [b"", b"{}", b"\0" * 100, None])
def test_an_answer_that_was_damaged_is_worked_out_again(
    content: bytes | None, small: Path, says: Says
) -> None:
    first = says(str(small))
    kept = {path: path.read_bytes() for path in answers()}
    assert len(kept) == 3
    for path, whole in kept.items():
        # Where nothing else is asked for, a digit is changed.
        path.write_bytes(content if content is not None else whole.replace(b"1", b"2"))
    assert says(str(small)) == first
    assert {path: path.read_bytes() for path in answers()} == kept


def test_an_answer_under_another_name_is_none(small: Path, says: Says) -> None:
    says(str(small))
    first, second, *_ = answers()
    second.write_bytes(first.read_bytes())
    assert memo.recall(first.name) is not None and memo.recall(second.name) is None


def test_where_nothing_can_be_kept_all_goes_as_ever(small: Path, says: Says) -> None:
    default_root().parent.mkdir(parents=True)
    memo.folder().write_text("a file, where a folder would be")
    assert says(str(small)) == says(str(small))


def test_a_scenario_from_a_pipe_is_read_once(small: Path) -> None:
    words = [sys.executable, "-m", "sojourn", "run", "/dev/stdin", "--json"]
    for _ in range(2):
        done = subprocess.run(words, input=small.read_bytes(), capture_output=True, check=False)
        assert (done.stderr, done.returncode) == (b"", 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seeds", "0"], "0 seeds; allowed: 1 to 1000000"),
        (["--workers", "0"], "greater than or equal to 1"),
        (["--host", "mars"], "there is no such host"),
        (["--aqm", "coddel"], "Did you mean 'codel'?"),
        (["--set", "rtt"], "write it as key=value"),
        (["--plot", "picture.txt"], "picture.txt"),
    ],
)
def test_what_is_refused_is_refused_each_time(
    words: list[str], said: str, small: Path, says: Says
) -> None:
    says(str(small))
    first = says(str(small), *words, ends=2)
    assert said in first
    assert says(str(small), *words, ends=2) == first


def test_a_result_says_its_scenario_when_it_is_asked(small: Path) -> None:
    from sojourn.scenario.unread import Unread

    read = sojourn.load(small)
    assert sojourn.Result(Unread(small), ()).scenario == sojourn.Result(read, ()).scenario


def test_ctrl_c_stops_a_single_run_whether_it_was_checked_before_or_not(small: Path) -> None:
    small.write_text(SMALL.replace('"2 s"', '"100000 s"'))
    for _ in range(2):  # checked, and checked before
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
