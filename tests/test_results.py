# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Folders of results: what they keep, how they are repeated, and what they never touch."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
import sojourn
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.papers import report
from sojourn.papers.experiment import find
from sojourn.scenario.variant import read_value, write_value
from sojourn.store.folder import claim

from tests.conftest import SMALL

VARIANTS = ["--aqm", "pie:target=5ms", "--aqm", "codel"]
CHANGES = ["--set", "dumbbell.rtt=30 ms", "--set", "limit=200", "--set", "flows.bulk.count=3"]


def command_of(readme: Path) -> list[str]:
    (line,) = [line for line in readme.read_text().splitlines() if "sojourn run" in line]
    return shlex.split(line)[1:]


def test_the_command_in_the_readme_repeats_the_result(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert status(["run", str(small), *VARIANTS, *CHANGES, "--seeds", "2", "--out", str(out)]) == 0
    monkeypatch.chdir(out)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another cache"))
    capsys.readouterr()
    assert status([*command_of(out / "README.md"), "--json"]) == 0

    def prints(text: str) -> list[tuple[str, int, str]]:
        return [(run["aqm"], run["seed"], run["fingerprint"]) for run in json.loads(text)["runs"]]

    kept = prints((out / "result.json").read_text())
    assert prints(capsys.readouterr().out) == kept
    assert len(set(kept)) == 4


def test_a_result_keeps_its_command_and_its_changes(tmp_path: Path) -> None:
    changes = {"target": "2 ms", "ecn": True, "record.queues": ["bottleneck"]}
    sojourn.run(sojourn.loads(SMALL), aqms=["codel"], changes=changes, out=tmp_path / "out")
    head = json.loads((tmp_path / "out" / "result.json").read_text())
    assert head["aqms"] == ["codel"]
    assert head["changes"] == {"target": "2 ms", "ecn": "true", "record.queues": '["bottleneck"]'}
    assert "--set ecn=true" in head["command"]
    assert sojourn.Result.load(tmp_path / "out").meta["command"] == head["command"]


@pytest.mark.parametrize(
    "value", ["2 ms", True, 5, 1.5, [1, "a"], [{"a": "1 s", "b": [True]}], {"x": {"y": 1}}, "true"]
)
def test_a_change_is_written_as_it_is_read(value: object) -> None:
    assert read_value(write_value(value)) == value


@pytest.mark.parametrize("name", ["scenario.toml", "README.md", "notes.txt"])
def test_a_folder_with_anything_else_in_it_is_refused_untouched(
    small: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small.rename(small.with_name(name))
    monkeypatch.chdir(small.parent)
    for words in (["run", name], ["reproduce", "duk/1", "--quick"]):
        assert status([*words, "--out", "."]) == 2
        message = capsys.readouterr().err
        assert name in message and "--out result" in message
    assert [path.name for path in Path().iterdir()] == [name]
    assert Path(name).read_text() == SMALL


@pytest.mark.parametrize(
    "words",
    [
        ["run", "small.toml", "--set", "record.windows=[{name='late', from='3 s', to='4 s'}]"],
        ["run", "small.toml", "--set", "flows.bulk.transport.cc=bbr"],
        ["run", "small.toml", "--set", "flows.bulk.transport.cc=unheard"],
        ["sweep", "sweep.toml"],
        ["stability", "pi"],
    ],
)
def test_a_command_that_is_refused_makes_no_folder_and_writes_into_none(
    words: list[str], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    Path("sweep.toml").write_text(
        'scenario = "small.toml"\n[[axes]]\nkey = "flows.bulk.transport.cc"\n'
        'values = ["cubic", "bbr"]\n'
    )
    Path("empty").mkdir()
    for out in ("new/one", "empty"):
        assert status([*words, "--out", out]) == 2
    assert not Path("new").exists() and not [*Path("empty").iterdir()]


def test_without_a_free_worker_no_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers: 0 is too small"):
        sojourn.run(sojourn.loads(SMALL), out=tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()


def test_what_someone_changed_in_a_result_is_moved_aside(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sojourn.run(sojourn.loads(SMALL), out=out)
    (out / "README.md").write_text("my notes")
    (out / "plot.py").write_text("my plot")
    sojourn.run(sojourn.loads(SMALL), out=out)
    assert (out / "aside" / "README.md-0").read_text() == "my notes"
    assert (out / "plot.py").read_text() == "my plot"
    assert "repeats it" in (out / "README.md").read_text()


def test_a_result_that_was_copied_without_its_mark_is_known(tmp_path: Path) -> None:
    out = tmp_path / "out"
    sojourn.run(sojourn.loads(SMALL), out=out)
    (out / ".sojourn.json").unlink()
    sojourn.run(sojourn.loads(SMALL), seeds=2, out=out)
    assert len(sojourn.Result.load(out)) == 2
    assert not (out / "aside").exists()


def test_a_command_names_the_earlier_runs_that_it_shows_too(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kept"

    def said(*words: str) -> str:
        assert status(["run", str(small), "--out", str(out), *words]) == 0
        return capsys.readouterr().err

    assert said("--aqm", "fifo", "--aqm", "codel") == ""
    assert said("--aqm", "pie") == (
        f"sojourn: {out}: also holds earlier runs, which are shown too: fifo, codel\n"
    )
    assert said("--aqm", "pie", "--aqm", "fifo", "--aqm", "codel", "--seeds", "2..2") == (
        f"sojourn: {out}: also holds earlier runs, which are shown too: seeds 1 to 2\n"
    )


def test_a_second_command_adds_its_runs(tmp_path: Path) -> None:
    out, scenario = tmp_path / "out", sojourn.loads(SMALL)
    sojourn.run(scenario, aqms=["codel"], seeds=2, out=out)
    sojourn.run(scenario, aqms=["pie:target=5ms"], seeds=2, out=out)
    sojourn.run(scenario, aqms=["codel"], seeds=1, out=out)
    runs = [(run.labels["aqm"], run.seed) for run in sojourn.Result.load(out)]
    assert runs == [(aqm, seed) for aqm in ("codel", "pie:target=5ms") for seed in (1, 2)]


@pytest.mark.parametrize(
    ("aqms", "changes", "seeds", "sentence"),
    [
        (["pie"], {}, 3, r"ask for aqms=\['codel', 'pie'\], seeds=3, hosts=\['sim'\], or"),
        (["codel"], {"limit": 99}, 2, "with other changes"),
        ([], {}, 2, "holds runs with 'aqms'; give it, or name another folder: out='"),
    ],
)
def test_a_second_command_that_cannot_be_added_is_refused_with_the_remedy(
    aqms: list[str], changes: dict[str, object], seeds: int, sentence: str, tmp_path: Path
) -> None:
    out, scenario = tmp_path / "out", sojourn.loads(SMALL)
    sojourn.run(scenario, aqms=["codel"], seeds=2, out=out)
    before = (out / "result.json").read_bytes()
    with pytest.raises(InputError, match=sentence):
        sojourn.run(scenario, aqms=aqms, changes=changes, seeds=seeds, out=out)
    assert (out / "result.json").read_bytes() == before


@pytest.mark.parametrize(
    ("place", "beside"), [(".", "../out-2"), ("inner/..", "inner/../../out-2")]
)
def test_the_other_folder_is_named_beside_the_result(
    place: str, beside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = sojourn.loads(SMALL)
    sojourn.run(scenario, out=tmp_path / "out")
    (tmp_path / "out" / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    with pytest.raises(InputError) as refusal:
        sojourn.run(scenario, aqms=["codel"], out=place)
    assert str(refusal.value).endswith(f"or name another folder: out='{beside}'")


def test_a_result_that_was_made_elsewhere_is_saved_with_its_runs(tmp_path: Path) -> None:
    result = sojourn.run(sojourn.loads(SMALL), seeds=2)
    result.save(tmp_path / "out")
    assert len(sojourn.Result.load(tmp_path / "out")) == 2


def test_a_repository_takes_no_notice_of_a_result_inside(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    sojourn.run(sojourn.loads(SMALL), out=tmp_path / "any name")
    words = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.check_output(words) == b""


def test_a_report_is_not_replaced_by_one_that_has_less(tmp_path: Path) -> None:
    experiments = find(["duk/1"])
    parts = {"paper": "duk", "experiment": "1", "quick": False, "hosts": ["sim", "linux"]}
    claim(tmp_path).write("reproduction.json", json.dumps({"experiments": [parts]}).encode())
    report.check_folder(tmp_path, experiments, False, ["linux", "sim"])
    for quick, hosts in ((False, ["sim"]), (True, ["sim", "linux"])):
        with pytest.raises(InputError, match=r"holds a report that has more.*--out"):
            report.check_folder(tmp_path, experiments, quick, hosts)


def test_a_report_does_not_replace_a_result(tmp_path: Path) -> None:
    sojourn.run(sojourn.loads(SMALL), out=tmp_path / "out")
    with pytest.raises(InputError, match="holds what `sojourn run` made"):
        report.check_folder(tmp_path / "out", find(["duk/1"]), True, ["sim"])


def test_a_file_that_a_killed_command_was_writing_is_not_in_the_way(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "..sojourn.json.partial-999999").write_text("")
    assert claim(out).is_new


def test_a_scenario_may_be_named_by_its_file(small: Path) -> None:
    (one,) = sojourn.run(small, aqms="codel", workers=1)
    (other,) = sojourn.run(str(small), aqms=["codel"], workers=1)
    assert one.report["fingerprint"] == other.report["fingerprint"]
    with pytest.raises(InputError, match="a number N is wanted"):
        sojourn.run(small, seeds="three")
