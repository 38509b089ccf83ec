# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A result goes to somebody else, who repeats it; and two commands write one result at once."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
import sojourn
from sojourn.cli import status
from sojourn.core.errors import InputError, SojournError
from sojourn.core.hosts import made_by
from sojourn.runs.verify import Fingerprint
from sojourn.store.folder import claim
from sojourn.sweeps.result import Swept, save
from sojourn.user_aqm import library

from tests.conftest import SMALL

SHORT = SMALL.replace("2 s", "300 ms") + 'start_spread = "0 s"\n'
TRACED = """\
format = 2
name = "traced"
duration = "300 ms"
nodes = ["a", "b"]

[[cables]]
name = "first"
between = ["a", "b"]
delay = "5 ms"
trace = "slow.trace"

[[flows]]
name = "bulk"
from = "a"
to = "b"
start_spread = "0 s"
"""
SWEEP = """\
scenario = "traced.toml"
aqms = ["./mine.c", "codel"]
[[axes]]
key = "links.first.trace"
values = ["slow.trace", "fast.trace"]
"""


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A file is compiled once in each."""
    return [tmp_path_factory.mktemp(name) for name in ("ours", "theirs")]


@pytest.fixture(autouse=True)
def at_ours(
    own_store: None, homes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(homes[0]))
    (tmp_path / "ours").mkdir()
    monkeypatch.chdir(tmp_path / "ours")
    Path("s.toml").write_text(SHORT)
    Path("traced.toml").write_text(TRACED)
    Path("mine.c").write_text(library.template_text("mine"))
    Path("slow.trace").write_text("1\n2\n3\n")
    Path("fast.trace").write_text("1\n1\n2\n2\n3\n3\n")


def sent(result: str, homes: list[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder at a colleague's, in an archive, without its runs; nothing of ours is left."""
    shutil.rmtree(f"{result}/runs")
    archive = shutil.make_archive("sent", "gztar", ".", result)
    theirs = Path.cwd().parent / "theirs"
    shutil.unpack_archive(archive, theirs)
    shutil.rmtree(Path.cwd())
    monkeypatch.setenv("XDG_CACHE_HOME", str(homes[1]))
    monkeypatch.chdir(theirs)
    return theirs / result


def names_of(folder: Path) -> str:
    """The text of all that names the files of the result."""
    kept = [folder / name for name in ("README.md", "result.json", "scenario.toml", "sweep.toml")]
    return "".join(path.read_text() for path in kept if path.exists())


def test_a_run_with_a_file_of_ones_own_repeats_at_a_colleagues(
    homes: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "traced.toml", "--aqm", "./mine.c", "--aqm", "codel", "--seeds", "2"]
    assert status([*words, "--set", "links.first.trace=fast.trace", "--out", "out"]) == 0
    runs = json.loads(Path("out/result.json").read_text())["runs"]
    assert runs[0]["fingerprint"] != runs[2]["fingerprint"]
    here = str(Path.cwd())
    folder = sent("out", homes, monkeypatch)
    assert here not in names_of(folder)
    assert status(["verify", "out"]) == 0
    assert "all 4 fingerprints are the same" in capsys.readouterr().out


def test_a_sweep_with_files_of_ones_own_repeats_at_a_colleagues(
    homes: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["sweep", "sweep.toml", "--out", "out"]) == 2
    Path("sweep.toml").write_text(SWEEP)
    assert status(["sweep", "sweep.toml", "--out", "out"]) == 0
    here = str(Path.cwd())
    folder = sent("out", homes, monkeypatch)
    assert here not in names_of(folder)
    assert status(["verify", "out"]) == 0
    assert "all 4 fingerprints are the same" in capsys.readouterr().out


GRAPH = """\
format = 2
name = "two"
duration = "300 ms"
nodes = ["a", "b", "c"]
flows = [{ name = "bulk", from = "a", to = "c" }]

[[links]]
name = "one"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "5 ms"
queue = "./one/same.c"

[[links]]
name = "two"
from = "b"
to = "c"
rate = "9 Mbit/s"
delay = "5 ms"
queue = "./two/same.c"

[[links]]
name = "back"
from = "c"
to = "a"
delay = "5 ms"

[record]
queues = ["one", "two"]
"""
AXIS = '[[axes]]\nkey = "{}"\nvalues = ["10 ms", "30 ms"]\n'


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["run", "s.toml", "--aqm", "one/same.c", "--aqm", "two/same.c"], 2),
        (["run", "s.toml", "--aqm", "one/codel.c", "--aqm", "codel"], 2),
        (["run", "graph.toml", "--seeds", "2"], 2),
        (["sweep", "sweep.toml"], 4),
        (["sweep", "graphs.toml"], 2),
    ],
)
def test_a_result_of_two_files_of_one_name_is_the_same_when_repeated(
    capsys: pytest.CaptureFixture[str], words: list[str], count: int
) -> None:
    for folder, name in (("one", "same"), ("two", "same"), ("one", "codel")):
        Path(folder).mkdir(exist_ok=True)
        text = f"{library.template_text(name)}// {folder}\n"
        Path(folder, f"{name}.c").write_text(text)
    Path("graph.toml").write_text(GRAPH)
    both = 'aqms = ["./one/same.c", "./two/same.c"]\n'
    Path("sweep.toml").write_text(f'scenario = "s.toml"\n{both}{AXIS.format("dumbbell.rtt")}')
    Path("graphs.toml").write_text(f'scenario = "graph.toml"\n{AXIS.format("links.one.delay")}')
    assert status([*words, "--out", "out"]) == 0
    assert status(["verify", "out", "--workers", "1"]) == 0
    assert f"all {count} fingerprints are the same\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ("./one/same.c:target=2ms", "./own/same.c@0a/same.c:target=2ms", True),
        ("/a+b/same.c+codel+./c/x.c", "./own/same.c@0a/same.c+codel+./own/x.c@1b/x.c", True),
        ("./one/same.c+./two/same.c", "same", True),
        ("./one/same.c:target=2ms", "./own/same.c@0a/same.c:target=3ms", False),
        ("./one/same.c", "./own/other.c@0a/other.c", False),
        ("codel", "pie", False),
    ],
)
def test_labels_are_compared_without_the_places_of_files(
    before: str, after: str, is_same: bool
) -> None:
    one, two = (Fingerprint({"aqm": aqm, "seed": 1}, "f") for aqm in (before, after))
    assert one.is_same(two) is is_same
    assert not one.is_same(Fingerprint({"aqm": before, "seed": 2}, "f"))
    assert not one.is_same(Fingerprint(one.labels, "another"))


@pytest.mark.parametrize(
    "odd", [5, "text", [5], {"a": 5}, None, [["b", "c"]], ["n" * 300], {"own/" + "n" * 300: 5}]
)
@pytest.mark.parametrize(
    "key", ["keys", "labels", "runs", "files", "core", "commit", "command", "sweep", "seeds"]
)
def test_a_result_of_odd_shape_is_answered_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, key: str, odd: object
) -> None:
    sojourn.run("s.toml", out="out")
    file = Path("out/result.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), key: odd}))
    done: subprocess.CompletedProcess[str] = subprocess.CompletedProcess(["sojourn"], 1)
    monkeypatch.setattr("sojourn.runs.verify.subprocess.run", lambda *_, **__: done)
    with pytest.raises(SojournError, match=r"^out: "):
        sojourn.verify("out")


@pytest.mark.parametrize("files", [5, ["run.json"], [[5, 6]], {"n" * 300: 5}])
def test_a_run_whose_list_of_files_is_odd_is_named(
    capsys: pytest.CaptureFixture[str], files: object
) -> None:
    sojourn.run("s.toml", out="out")
    (file,) = Path("out").glob("runs/*/*/complete.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "files": files}))
    assert status(["verify", "out", "--workers", "1"]) == 1
    assert str(file.parent.relative_to("out")) in capsys.readouterr().out


def test_a_result_that_names_no_version_is_verified(capsys: pytest.CaptureFixture[str]) -> None:
    sojourn.run("s.toml", out="out")
    file = Path("out/result.json")
    head = json.loads(file.read_text())
    file.write_text(json.dumps({key: head[key] for key in ("command", "labels", "runs")}))
    assert status(["verify", "out", "--workers", "1"]) == 1
    assert "out was made by an unknown version" in capsys.readouterr().err


def test_a_paper_of_ones_own_goes_with_its_result(
    homes: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["new", "--paper", "mypaper"]) == 0
    experiment = next(Path("mypaper").glob("*/experiment.toml")).parent.name
    words = ["reproduce", f"./mypaper/{experiment}", "--seeds", "1", "--out", "out"]
    assert status(words) == 0
    folder = sent("out", homes, monkeypatch)
    command = json.loads((folder / "result.json").read_text())["command"]
    assert f"./own/mypaper/{experiment}" in command
    capsys.readouterr()
    assert status(["verify", "out"]) == 0
    assert "the same" in capsys.readouterr().out


def test_a_fingerprint_that_differs_is_named_with_status_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sojourn.run("s.toml", aqms=["pie", "codel"], seeds=2, out="out")
    file = Path("out/result.json")
    head = json.loads(file.read_text())
    head["runs"][2]["fingerprint"] = "0" * 16
    head["core"] = "0.0.1+old"
    file.write_text(json.dumps(head))
    assert status(["verify", "out", "--workers", "1"]) == 1
    said = capsys.readouterr()
    assert "1 of 4 fingerprints differ:\n  aqm codel, seed 1, host sim\n" in said.out
    assert "out was made by 0.0.1+old" in said.err


def test_a_number_that_was_changed_by_hand_is_named_with_its_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sojourn.run("s.toml", out="out")
    Path("out/windows.parquet").write_bytes(b"another one")
    assert status(["verify", "out", "--workers", "1"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("not as the result was written: windows.parquet\n")
    assert said.endswith(" the same, but not all files\n")


@pytest.mark.parametrize("name", ["run.json", "complete.json"])
def test_a_run_that_was_cut_off_is_named_though_its_repetition_is_the_same(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    sojourn.run("s.toml", out="out")
    (file,) = Path("out").glob(f"runs/*/*/{name}")
    file.write_bytes(file.read_bytes()[:50])
    assert status(["verify", "out", "--workers", "1"]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"not as the result was written: {file.relative_to('out')}\n")


@pytest.mark.parametrize("name", ["run.json", "complete.json", "series.parquet"])
def test_a_file_that_a_run_lacks_is_named_also_when_a_reader_has_moved_the_run_aside(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    sojourn.run("s.toml", out="out")
    (file,) = Path("out").glob(f"runs/*/*/{name}")
    file.unlink()
    assert status(["verify", "out", "--workers", "1"]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"missing: {file.relative_to('out')}\n")
    assert status(["compare", "out"]) == 3
    assert status(["verify", "out", "--workers", "1"]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"missing: {file.parent.relative_to('out')}\n")
    sojourn.run("s.toml", out="out")
    assert status(["verify", "out", "--workers", "1"]) == 0


@pytest.mark.parametrize("name", ["windows.parquet", "result.json", "runs"])
def test_what_was_deleted_or_changed_in_a_result_is_named(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    sojourn.run("s.toml", out="out")
    (run,) = Path("out").glob("runs/*/*")
    if name == "result.json":
        file = Path("out", name)
        file.write_text(file.read_text().replace('"seeds": [', '"seeds": [7, '))
    elif name == "runs":
        shutil.rmtree(run)
        name = str(run.relative_to("out"))
    else:
        Path("out", name).unlink()
    assert status(["verify", "out", "--workers", "1"]) == 1
    said = "missing" if not Path("out", name).exists() else "not as the result was written"
    assert capsys.readouterr().out.startswith(f"{said}: {name}\n")


def test_a_sweep_without_its_table_of_runs_says_that_the_table_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("sweep.toml").write_text(SWEEP.replace('"./mine.c", ', ""))
    sojourn.sweep("sweep.toml", out="out")
    Path("out/cells.parquet").unlink()
    assert status(["verify", "out", "--workers", "1"]) == 1
    said = "sojourn: out: missing: cells.parquet; no fingerprint can be read\n"
    assert capsys.readouterr().err.endswith(said)


@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_a_result_keeps_a_file_of_its_scenario_that_no_run_uses(
    homes: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: str,
) -> None:
    Path("traced.toml").write_text(TRACED.replace("trace = ", 'queue = "./mine.c"\ntrace = '))
    Path("sweep.toml").write_text(SWEEP.replace('"./mine.c"', '"pie"'))
    file = "traced.toml" if verb == "run" else "sweep.toml"
    assert status([verb, file, "--aqm", "codel", "--aqm", "pie", "--out", "out"]) == 0
    sent("out", homes, monkeypatch)
    assert status(["verify", "out"]) == 0
    assert "fingerprints are the same\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cells.parquet", "no fingerprint can be read"),
        ("sweep.toml", "its command ended with status 2"),
    ],
)
def test_a_changed_file_without_which_nothing_is_compared_is_named_with_status_1(
    capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    Path("sweep.toml").write_text(SWEEP.replace('"./mine.c", ', ""))
    sojourn.sweep("sweep.toml", out="out")
    Path("out", name).write_text("junk")
    assert status(["verify", "out", "--workers", "1"]) == 1
    told = f"sojourn: out: not as the result was written: {name}; {said}\n"
    assert capsys.readouterr().err.endswith(told)


def test_a_command_that_is_stopped_while_it_copies_runs_leaves_no_part_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sojourn.run("s.toml")

    def stopped(source: Path, target: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sojourn.store.store.shutil.copy2", stopped)
    with pytest.raises(KeyboardInterrupt):
        sojourn.run("s.toml", out="out")
    assert not list(Path("out").rglob("*partial*"))


def test_a_file_that_the_command_reads_and_the_folder_lacks_is_named_with_status_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sojourn.run("s.toml", aqms=["./mine.c"], out="out")
    (file,) = Path("out").glob("own/*/mine.c")
    file.unlink()
    assert status(["verify", "out", "--workers", "1"]) == 1
    name = file.relative_to("out")
    assert capsys.readouterr().err == (
        f"sojourn: out: lacks {name}; ask its sender for the whole folder\n"
    )


def test_no_python_of_a_result_runs_when_it_is_verified(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sojourn.run("s.toml", out="out")
    Path("out/sojourn").mkdir()
    for name in ("json.py", "sojourn/__init__.py", "sojourn/__main__.py"):
        Path("out", name).write_text("open('ran', 'w')\n")
    monkeypatch.setenv("PYTHONPATH", f":{os.environ.get('PYTHONPATH', '')}")
    assert status(["verify", "out", "--workers", "1"]) == 0
    assert capsys.readouterr().out == "the fingerprint is the same\n"
    assert not Path("out/ran").exists()


@pytest.mark.parametrize(
    "command",
    [
        "sojourn run scenario.toml --plot page.html",
        "sojourn run scenario.toml --dask tcp://127.0.0.1:9",
        "sojourn run /etc/hosts",
        "sojourn run ../s.toml",
        "sojourn run scenario.toml --set dumbbell.trace=/etc/hosts",
        'sojourn run "scenario.toml',
        "sojourn run scenario.toml\0",
        "rm scenario.toml",
        "",
    ],
)
def test_a_command_of_a_result_makes_runs_from_its_own_files_and_does_no_more(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    head = {"command": command, "labels": [], "runs": []}
    Path("out/result.json").write_text(json.dumps(head))
    assert status(["verify", "out"]) == 2
    assert "names no command of Sojourn that repeats it" in capsys.readouterr().err


def test_a_folder_that_names_no_command_is_refused() -> None:
    assert status(["verify", "."]) == 2
    result = sojourn.run("s.toml")
    result.save("out")
    assert status(["verify", "out"]) == 2


def test_a_result_knows_the_commit_of_its_checkout() -> None:
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        pytest.skip("this is no checkout")
    assert re.search(r"[0-9a-f]{7}", str(made_by()["commit"]))


def test_a_changed_file_takes_the_place_of_its_earlier_version() -> None:
    sojourn.run("s.toml", aqms=["./mine.c", "codel"], out="out")
    Path("mine.c").write_text(library.template_text("mine") + "// changed\n")
    result = sojourn.run("s.toml", aqms=["./mine.c"], out="out")
    assert [run.labels["aqm"] for run in result] == ["codel", "mine"]


def test_a_sweep_says_that_a_changed_file_takes_the_place_of_its_earlier_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    axis = "[[axes]]\nkey = 'dumbbell.rtt'\nvalues = ['10 ms', '30 ms']\n"
    Path("sweep.toml").write_text(f"scenario = 's.toml'\naqms = ['./mine.c', 'codel']\n{axis}")
    for text, is_told in (("", False), ("", False), ("// changed\n", True), ("", True)):
        Path("mine.c").write_text(library.template_text("mine") + text)
        assert status(["sweep", "sweep.toml", "--out", "out"]) == 0
        said = "mine.c: changed since out was written, and the rows of the earlier version are gone"
        assert (said in capsys.readouterr().err) == is_told


def test_a_folder_takes_the_runs_that_the_users_store_has() -> None:
    swept = "[[axes]]\nkey = 'dumbbell.rtt'\nvalues = ['10 ms', '30 ms']\n"
    Path("sweep.toml").write_text(f"scenario = 's.toml'\n{swept}")
    before = sojourn.sweep("sweep.toml")
    assert before.made == 2
    kept = sojourn.sweep("sweep.toml", out="out")
    assert kept.made == 0
    assert kept.cells_table().equals(before.cells_table())
    assert len(list(Path("out/runs").glob("??/*/run.json"))) == 2
    assert sojourn.sweep("sweep.toml", out="out", again=True).made == 2


def test_two_commands_at_once_into_one_folder_lose_nothing() -> None:
    words = [sys.executable, "-m", "sojourn", "run", "s.toml", "--seeds", "2", "--out", "out"]
    with claim("out").held():
        both = [subprocess.Popen([*words, "--aqm", aqm]) for aqm in ("pie", "red")]
        # Both have read the empty folder, and now wait to write it.
        until = time.monotonic() + 240
        while len(list(Path("out/runs").glob("??/*/complete.json"))) < 4:
            assert time.monotonic() < until
            time.sleep(0.1)
    assert [process.wait() for process in both] == [0, 0]
    head = json.loads(Path("out/result.json").read_text())
    assert set(head["aqms"]) == {"pie", "red"} and len(head["runs"]) == 4
    assert set(pd.read_parquet("out/windows.parquet")["aqm"]) == {"pie", "red"}
    assert not Path("out/aside").exists()
    assert len(sojourn.Result.load("out")) == 4


def test_ctrl_c_while_tables_of_a_sweep_are_written_leaves_no_part_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stopped(path: Path, pieces: object) -> bool:
        path.write_bytes(b"a part")
        raise KeyboardInterrupt

    Path("sweep.toml").write_text(SWEEP.replace('"./mine.c", ', ""))
    monkeypatch.setattr("sojourn.store.arrow.write_all", stopped)
    with pytest.raises(KeyboardInterrupt):
        sojourn.sweep("sweep.toml", out="out")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        *(".gitignore", ".sojourn.json", ".sojourn.lock", "runs")
    ]


def test_a_sweep_into_a_folder_that_grew_meanwhile_leaves_it_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    axis = "scenario = 's.toml'\n[[axes]]\nkey = 'dumbbell.rtt'\nvalues = ['10 ms'{}]\n"
    Path("less.toml").write_text(axis.format(""))
    Path("more.toml").write_text(axis.format(", '30 ms'"))

    def late(swept: Swept, folder: Path) -> None:
        monkeypatch.setattr("sojourn.sweeps.run.save", save)
        sojourn.sweep("more.toml", out=folder)
        save(swept, folder)

    monkeypatch.setattr("sojourn.sweeps.run.save", late)
    with pytest.raises(InputError, match="out: holds a sweep that has cells"):
        sojourn.sweep("less.toml", out="out")
    assert len(pd.read_parquet("out/cells.parquet")) == 2
