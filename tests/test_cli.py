# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The commands: keys that scripts rely on, sentences, and exit statuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sojourn.cli import line, status
from typer.main import get_command

from tests.conftest import SMALL
from tests.toy_paper import toy

__all__ = ["toy"]

DELAY = {"mean", "sd", "iqr", "p50", "p95", "p99", "max"}
WINDOW = {"from_s", "to_s", "utilisation_pct", "drop_pct", "mark_pct"}


def output(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert status([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_page_of_commands_names_every_verb() -> None:
    verbs = get_command(line.app()).commands  # type: ignore[attr-defined]
    names = set(verbs) - {"linux"} | {f"linux {name}" for name in verbs["linux"].commands}
    assert {"run", "linux tc"} < names
    page = Path(__file__).parent.parent / "docs/reference/commands.md"
    cells = re.findall(r"^\| (`.*?`) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"`([a-z ]+)`", " ".join(cells))) == names


def test_each_verb_is_in_the_file_that_is_imported_for_it() -> None:
    """A verb that is missing there would start all the others too."""

    def verbs(word: str = "") -> tuple[str, ...]:
        return tuple(get_command(line.app(word)).commands)  # type: ignore[attr-defined]

    assert verbs() == tuple(verb for file in line.VERBS.values() for verb in file)
    for file in line.VERBS.values():
        assert verbs(file[-1]) == file


# Words that lead each verb with --json to its end. {small} and {calls} are scenarios, {sweep} is a
# sweep, and {result} came of a run.
JSON_VERBS = {
    "list": "",
    "show": "codel",
    "check": "fifo",
    "run": "{small}",
    "advise": "--up 500kbit --down 1mbit --seeds 2",
    "sweep": "{sweep}",
    "calibrate": "{calls} bulk 1Mbit/s --seeds 1",
    "reproduce": "toy/a --quick",
    "stability": "pi --flows 60 --capacity 15Mbit/s --rtt 200ms",
    "bench": "--quick",
    "cache": "",
    "doctor": "",
    "plot": "{result} --out {result}.svg",
    "compare": "{result}",
    "verify": "{result}",
    "export": "{result} --format flent --out {result}-flent",
    "linux build": "",
}


def json_verbs(command: Any, path: str = "") -> Iterator[str]:
    for name, verb in getattr(command, "commands", {}).items():
        yield from json_verbs(verb, f"{path} {name}".strip())
    if any("--json" in option.opts for option in command.params):
        yield path


def test_every_verb_with_json_has_its_words_here_and_its_keys_on_the_page() -> None:
    assert [*json_verbs(get_command(line.app()))] == [*JSON_VERBS]
    page = (Path(__file__).parent.parent / "docs/reference/commands.md").read_text()
    named = re.findall(r"^([a-z]+(?: [a-z]+)?) +(?:\{|without)", page, re.MULTILINE)
    assert {*named} == {*JSON_VERBS}


def test_a_form_beside_json_is_refused_by_every_verb_that_has_both(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verbs = get_command(line.app()).commands  # type: ignore[attr-defined]
    both = [
        name
        for name, verb in verbs.items()
        if {"--format", "--json"} <= {o for p in verb.params for o in p.opts} and name != "export"
    ]
    assert len(both) >= 3
    for verb in both:
        assert status([verb, str(small), "--format", "csv", "--json"]) == 2
        assert "--format and --json" in capsys.readouterr().err


def test_a_table_for_a_program_has_no_name_of_a_picture_below_it(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", str(small), "--plot", str(tmp_path / "page.html")]
    assert status([*words, "--format", "csv"]) == 0
    said = capsys.readouterr()
    assert "plot: " in said.err and "plot: " not in said.out
    assert status(words) == 0
    assert "plot: " in capsys.readouterr().out


@pytest.mark.parametrize("verb", JSON_VERBS)
def test_a_verb_with_json_prints_json_and_nothing_else(
    verb: str,
    small: Path,
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # These take minutes.
    monkeypatch.setattr("sojourn.bench.measure", lambda quick: {"results": []})
    monkeypatch.setattr("sojourn.runs.advise.CANDIDATES", ("codel",))
    parts = SimpleNamespace(built=SimpleNamespace(release="", kernel="", programs=""), module="")
    monkeypatch.setattr("sojourn.linux.kernel.ready", lambda *_: parts)
    places = {name: tmp_path / name for name in ("calls", "sweep", "result")} | {"small": small}
    places["calls"].write_text(
        f'{SMALL}transport = "udp"\napp = {{ kind = "cbr", rate = "64 kbit/s" }}\n'
    )
    places["sweep"].write_text(
        f'scenario = "{small}"\n[[axes]]\nkey = "dumbbell.rate"\nvalues = ["9 Mbit/s"]\n'
    )
    if "{result}" in JSON_VERBS[verb]:
        assert status(["run", str(small), "--out", str(places["result"])]) == 0
    capsys.readouterr()
    assert status([*f"{verb} {JSON_VERBS[verb]}".format_map(places).split(), "--json"]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def test_list_has_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    lists = output(capsys, "list")
    every = {"algorithms", "presets", "tcp", "experiments", "scenarios", "traffic"}
    assert lists.keys() == every
    for entry in lists["algorithms"]:
        assert {"name", "brief", "source", "ecn", "acts"} <= entry.keys()
    assert {"fifo", "codel", "duk"} <= {entry["name"] for entry in lists["algorithms"]}
    assert output(capsys, "list", "experiments").keys() == {"experiments"}


def test_show_has_every_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    codel = output(capsys, "show", "codel")
    rows = {row["name"]: row for row in codel["parameters"]}
    assert rows["target"]["default"] == "5 ms"
    assert "limit" in {row["name"] for row in codel["queue"]}
    law = ["aqm/law/codel_rows.h", "aqm/law/codel.h"]
    assert codel["files"] == ["aqm/algorithms/codel.c", *law]
    assert output(capsys, "show", "fq_codel")["files"][1:] == law
    assert output(capsys, "show", "kernel:codel")["files"] == []


def test_the_words_of_tc_are_a_whole_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["show", "codel:target=7ms", "--tc"]) == 0
    command = "tc qdisc replace dev DEV root sojourn codel target 7ms\n"
    assert capsys.readouterr().out == command


def test_no_colour_wins_over_a_forced_one_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    for no_colour, has_escapes in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", no_colour)
        assert status(["list", "traffic"]) == 0
        assert ("\x1b[" in capsys.readouterr().out) == has_escapes


def test_a_number_of_a_sentence_has_no_colour_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert status(["show", "codel"]) == 0
    shown = capsys.readouterr().out
    assert "\nRFC 8289\n" in shown and "\x1b[" in shown


def test_the_kernels_own_queues_are_listed_with_what_they_have(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosts = {entry["name"]: entry["hosts"] for entry in output(capsys, "list")["algorithms"]}
    assert hosts["kernel:codel"] == ["linux"] and hosts["codel"] == ["sim", "linux"]
    codel = output(capsys, "show", "kernel:codel")
    names = {row["name"] for part in ("parameters", "queue", "statistics") for row in codel[part]}
    assert names == {"limit", "target", "interval", "ecn"}


def test_show_expand_prints_a_graph_that_runs_the_same(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["show", "--expand", str(small)]) == 0
    graph = tmp_path / "graph.toml"
    graph.write_text(capsys.readouterr().out)
    prints = [output(capsys, "run", str(path))["runs"][0]["fingerprint"] for path in (small, graph)]
    assert prints[0] == prints[1]


def test_run_has_its_keys(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        str(small),
        "--aqm",
        "codel",
        "--aqm",
        "duk",
        "--seeds",
        "2",
        "--set",
        "ecn=true",
    ]
    runs = output(capsys, *words)["runs"]
    assert [(run["aqm"], run["seed"]) for run in runs] == [
        ("codel", 1),
        ("codel", 2),
        ("duk", 1),
        ("duk", 2),
    ]
    for run in runs:
        assert run["host"] == "sim"
        assert run.keys() >= {"goodput_mbps", "jain", "fct_s", "flows"}
        assert run["fct_s"].keys() >= {"p25", "p50", "p75", "p95"}
        window = run["queues"][0]["windows"][0]
        assert window.keys() >= WINDOW
        assert window["queue_delay_ms"].keys() >= DELAY
        assert window["system_delay_ms"].keys() >= DELAY
        assert window["queue_pkts"].keys() >= {"mean", "sd"}


def test_run_prints_a_table(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(small)]) == 0
    assert "utilisation" in capsys.readouterr().out


def test_a_result_that_cannot_be_written_is_status_3(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["run", str(small), "--out", "/proc/no"]) == 3
    assert "/proc/no: cannot be written" in capsys.readouterr().err
    assert status(["run", str(small), "--out", str(small)]) == 3
    assert "small.toml: is a file; name a folder" in capsys.readouterr().err


def test_doctor_finds_what_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    checks = output(capsys, "doctor")["checks"]
    assert all(check["ok"] for check in checks if check["needed"])


def test_doctor_looks_at_what_linux_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {check["name"] for check in output(capsys, "doctor")["checks"]}
    assert {"linux: machine", "linux: programs", "linux: source", "linux: kernel"} <= names
    monkeypatch.setenv("SOJOURN_KERNEL_SOURCE", str(tmp_path / "nowhere"))
    checks = {check["name"]: check for check in output(capsys, "doctor")["checks"]}
    assert not checks["linux: source"]["ok"] and not checks["linux: kernel"]["ok"]
    assert "`sojourn linux build`" in checks["linux: kernel"]["found"]


@pytest.mark.parametrize(
    ("imported", "unneeded"),
    [
        # What only reports need.
        ("sojourn.cli, sojourn.runs.run", "matplotlib scipy pandas polars jinja2 pyarrow"),
        # Guests of the kernel's tests have the standard library and the engine.
        ("sojourn, sojourn._native", "pydantic_core pydantic numpy"),
        # What the server imports that forks a process for each run with a user's C file.
        ("sojourn.runs.processes, sojourn.algorithms", "pydantic sojourn.scenario typer"),
    ],
)
def test_the_command_and_its_workers_start_without_what_they_do_not_need(
    imported: str, unneeded: str
) -> None:
    """is timed from outside: its start must stay small."""
    code = f"import sys, {imported}; print(*sorted(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert not set(unneeded.split()) & set(loaded)


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        ([], "numpy pyarrow scipy pandas tomlkit multiprocessing"),
        (["--json"], "numpy pyarrow scipy pandas tomlkit multiprocessing rich"),
    ],
)
def test_a_run_does_without_what_only_results_need(
    small: Path, words: list[str], unneeded: str
) -> None:
    run = ["run", str(small), *words]
    code = f"import sys, sojourn.cli; sojourn.cli.status({run}); print(*sys.modules)"
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert not set(unneeded.split()) & set(said.splitlines()[-1].split())


def test_a_run_and_its_result_do_without_pandas(small: Path, tmp_path: Path) -> None:
    """pyarrow imports it on many ways, and that takes longer than a short run."""
    words = ["run", str(small), "--out", str(tmp_path / "result")]
    code = f"import sys, sojourn.cli; sojourn.cli.status({words}); print('pandas' in sys.modules)"
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.splitlines()[-1] == "False"


@pytest.mark.parametrize("words", ["list", "show codel", "list --json"])
def test_a_reader_that_has_seen_enough_is_no_error(words: str) -> None:
    command = f"{sys.executable} -m sojourn {words} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("words", ["list", "list --json"])
def test_output_that_cannot_be_written_is_one_sentence(words: str) -> None:
    command = f"{sys.executable} -m sojourn {words} > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60
    )
    said = "sojourn: the output cannot be written: No space left on device\n"
    assert (done.stderr, done.returncode) == (said, 3)


def in_bash(words: str, **surroundings: str) -> subprocess.CompletedProcess[str]:
    """Run words behind `sojourn`, with what they redirect."""
    return subprocess.run(
        ["bash", "-c", f"{sys.executable} -m sojourn {words}"],
        env=os.environ | surroundings,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_messages_that_have_no_place_are_dropped(stderr: str, small: Path) -> None:
    done = in_bash(f"run {small} --json {stderr}", XDG_CACHE_HOME="/dev/null")
    assert done.returncode == 0 and json.loads(done.stdout)["runs"]
    for words, ends in (("run nothing.toml", 2), ("run", 2), ("verify nothing", 2)):
        done = in_bash(f"{words} {stderr}")
        assert (done.stdout, done.stderr, done.returncode) == ("", "", ends)


def test_a_fault_of_ours_has_a_status_of_its_own_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fault(*_: object) -> None:
        raise KeyError("a key that should be there")

    monkeypatch.setattr("sojourn.cli.show.listing", fault)
    assert status(["list"]) == 70
    *_, error, last = capsys.readouterr().err.splitlines()
    assert error == "KeyError: 'a key that should be there'"
    assert last.startswith("sojourn: this is a fault of Sojourn's")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_signal_that_stops_a_command_keeps_what_was_finished(
    stop: signal.Signals, small: Path, tmp_path: Path
) -> None:
    small.write_text(SMALL.replace('"2 s"', '"9000 s"').replace('"10 Mbit/s"', '"1 Gbit/s"'))
    # The tests may run below nohup, which has SIGHUP ignored.
    words = ["env", f"--default-signal={stop.name}", sys.executable, "-m", "sojourn"]
    words += ["run", str(small), "--out", str(tmp_path / "out")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        deadline_s = time.monotonic() + 60
        while not (tmp_path / "out/runs").exists() and time.monotonic() < deadline_s:
            time.sleep(0.05)
        time.sleep(0.5)
        command.send_signal(stop)
        out, said = command.communicate(timeout=60)
    assert (out, command.returncode) == (b"", 128 + stop)
    assert said.startswith(b"sojourn: interrupted: 0 of 1 runs are finished")


def test_a_signal_that_a_caller_ignores_stops_nothing() -> None:
    code = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from sojourn.core import stops
stops.hear()
os.kill(os.getpid(), signal.SIGHUP)
print("goes on")
"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "goes on\n"


def test_an_output_without_the_signs_gets_question_marks(small: Path) -> None:
    surroundings = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = [sys.executable, "-m", "sojourn", "run", str(small), "--seeds", "2"]
    done = subprocess.run(words, env=surroundings, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    assert " ? " in done.stdout


def test_the_version_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["--version"]) == 0
    assert capsys.readouterr().out.startswith("sojourn 0.")


@pytest.mark.parametrize(
    "words", [["-h"], ["run", "-h"], ["linux", "-h"], ["linux", "build", "-h"]]
)
def test_help_has_a_short_option(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert status(words) == 0
    assert "Usage: sojourn" in capsys.readouterr().out


@pytest.mark.parametrize("verb", [verb for verbs in line.VERBS.values() for verb in verbs])
def test_an_option_names_its_value_and_no_type_of_python(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status([verb, "-h"]) == 0
    assert not re.search(r"--\S+ +<(list|\w+ range)", capsys.readouterr().out)


def test_help_says_how_to_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["-h"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "To begin: `sojourn demo`, then `sojourn new --scenario home`" in said
    assert "docs/reference/commands.md has the exit statuses" in said


def test_a_shell_completes_names() -> None:
    surroundings = {
        **os.environ,
        "_SOJOURN_COMPLETE": "complete_bash",
        "COMP_WORDS": "sojourn run x.toml --aqm cod",
        "COMP_CWORD": "4",
    }
    words = [sys.executable, "-c", "from sojourn.cli import main; main()"]
    said = subprocess.run(
        words, env=surroundings, capture_output=True, text=True, check=False, timeout=60
    )
    assert said.stdout.split() == ["codel"]


def test_ctrl_c_is_one_sentence_wherever_it_comes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sojourn.cli.show.listing", interrupted)
    assert status(["list"]) == 130
    assert capsys.readouterr().err == "sojourn: interrupted\n"


def test_ctrl_c_while_the_command_is_read_is_one_sentence() -> None:
    code = """
import sys, sojourn.__main__
class Interrupt:
    def find_spec(self, name, *rest):
        if name == "sojourn.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
sojourn.__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "sojourn: interrupted\n")


@pytest.mark.parametrize(("words", "ends"), [("['--version']", 0), ("['list', 'nothing']", 2)])
def test_a_program_goes_on_after_a_command_that_it_calls(words: str, ends: int) -> None:
    code = f"""
from sojourn.cli import main
try:
    main({words})
except SystemExit as end:
    print("goes on after", end.code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"goes on after {ends}\n")


def test_a_profiler_prints_the_table_of_a_command() -> None:
    words = [sys.executable, "-m", "cProfile", "-m", "sojourn", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "function calls" in done.stdout
