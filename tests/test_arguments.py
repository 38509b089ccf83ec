# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Arguments of functions in Python: wrong ones are named; those of numpy and pathlib work."""

from __future__ import annotations

import inspect
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sojourn
from sojourn.cli import status
from sojourn.core.arguments import _READERS, checked
from sojourn.core.errors import InputError

from tests.conftest import SMALL


def test_an_argument_that_a_verb_has_not_is_answered_with_the_one_that_was_meant() -> None:
    with pytest.raises(InputError, match=r"^run: there is no argument 'aqm'. Did you mean 'aqms'"):
        sojourn.run("home.toml", aqm="codel")  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"^loads: there is no argument 'path'. Valid names: "):
        sojourn.loads(path="home.toml")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"changes": ["dumbbell.rtt=3ms"]}, "changes: ['dumbbell.rtt=3ms'] is no dict, such as"),
        ({"changes": {3: 4}}, "changes: 3 is not text"),
        ({"changes": {"dumbbell.rtt": None}}, "changes: dumbbell.rtt = None: give text, a number"),
        ({"changes": {"dumbbell": {"rtt": [b"1"]}}}, "changes: dumbbell.rtt = b'1': give text"),
        ({"workers": 1.5}, "workers: 1.5 is not a whole number, such as 2"),
        ({"workers": True}, "workers: true is not a whole number"),
        ({"seeds": 2.0}, "seeds: 2.0 is not a whole number"),
        ({"seeds": [1, 1]}, "run: seeds: [1, 1]: one of them is there twice"),
        ({"seeds": []}, "run: seeds: []: a number N is wanted, for seeds 1 to N, or two"),
        ({"seeds": [-1]}, "run: seeds: [-1]: a number N is wanted, for seeds 1 to N, or two"),
        (
            {"seeds": range(0)},
            "run: seeds: range(0, 0): a number N is wanted, for seeds 1 to N, or two",
        ),
        ({"seeds": None}, "seeds: None is no number N, for seeds 1 to N, and no range or list"),
        ({"changes": {"a\0b": 1}}, "run: changes: a\\x00b: no such key"),
        ({"changes": {"a..b": 1}}, "run: changes: a..b: a part of the key is empty"),
        (
            {"aqms": "codel,pie"},
            "name each algorithm by itself: aqms=['codel', 'pie']",
        ),
        ({"aqms": "kernel:pie"}, "runs only on Linux: add hosts=['linux']"),
        ({"changes": {"interval": "1 ms"}, "aqms": "pie"}, "one of them: aqms=['NAME:interval=V"),
        ({"out": 3}, "out: 3 is no path"),
        ({"out": ""}, "out: '' names nothing; the folder itself is '.'"),
        ({"out": "a\0b"}, "run: out: 'a\\x00b': a name of a file has no zero byte"),
        ({"again": "no"}, "again: 'no' is neither True nor False"),
        ({"changes": {"dumbbell.rtt": np.arange(2)}}, "dumbbell.rtt: [0, 1] has no unit"),
        ({"changes": {"dumbbell.rate": np.float64(1e7)}}, "write it as '10000000.0 bit/s'"),
        ({"aqms": [None]}, "aqms: None is not text"),
        ({"aqms": 3}, "aqms: 3 is no list of texts"),
        ({"hosts": ["Linux"]}, "there is no such host. Did you mean 'linux'?"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named_with_what_it_should_be(
    named: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        sojourn.run(sojourn.loads(SMALL), **named)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("verb", "value", "said"),
    [
        ("loads", b"format = 2", "loads: text: b'format = 2' is not text"),
        ("verify", 3, "verify: result: 3 is no path"),
        ("sweep", {}, "sweep: path: {} is no path"),
        ("reproduce", 3, "reproduce: experiment: 3 is no name and no folder"),
        ("reproduce", Path("none"), "there is no experiment 'none'"),
        ("sweep", sojourn.loads(SMALL), "sweep: path: Scenario.*… is no path"),
    ],
)
def test_each_verb_names_itself_and_its_argument(verb: str, value: Any, said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}"):
        getattr(sojourn, verb)(value)


STUDY = {"algorithms": ["pi"], "flows": 60, "capacity": "15 Mbit/s", "rtt": "100 ms"}
PLOT = {"results": "none", "out": "none.svg"}
LOAD = {"scenario": sojourn.loads(SMALL), "group": "bulk", "load": "1 Mbit/s"}
RUN = {"scenario": sojourn.loads(SMALL)}
HELD: dict[str, Any] = {}
HELD["dumbbell"] = HELD


@pytest.mark.parametrize(
    ("verb", "given", "said"),
    [
        ("stability", {**STUDY, "algorithms": None}, "algorithms: None is no list of texts"),
        ("stability", {**STUDY, "algorithms": []}, "no algorithm is given"),
        ("stability", {**STUDY, "flows": 1.5}, "flows: 1.5 is not a whole number"),
        ("stability", {**STUDY, "flows": True}, "flows: true is not a whole number"),
        ("stability", {**STUDY, "capacity": None}, "capacity: None has no unit"),
        ("stability", {**STUDY, "rtt": 5}, "rtt: 5 has no unit; write it as '5 s' or '5 ms'"),
        ("stability", {**STUDY, "simulated_s": math.nan}, "simulated_s: nan is not a finite"),
        ("stability", {**STUDY, "simulated_s": "3"}, "simulated_s: '3' is not a number"),
        ("calibrate", {**LOAD, "scenario": ""}, "scenario: '' names nothing"),
        ("calibrate", {**LOAD, "group": 3}, "group: 3 is not text"),
        ("calibrate", {**LOAD, "load": 5}, "load: 5 has no unit; write it as '5 Mbit/s'"),
        ("plot", {**PLOT, "queue": 5}, "queue: 5 is not text"),
        ("plot", {**PLOT, "log": 1}, "log: 1 is neither True nor False"),
        ("reproduce", {"experiment": "duk", "seeds": 5}, "seeds: 5 is no dict, such as"),
        ("reproduce", {"experiment": "duk", "seeds": {"sim": 0}}, "seeds: 0 is too small"),
        ("run", {**RUN, "client": 1}, "client: 1 has no submit"),
        ("run", {**RUN, "tell": 3}, "tell: 3 is no function"),
        ("run", {**RUN, "workers": 0}, "workers: 0 is too small; allowed: 1 and more"),
        ("run", {**RUN, "workers": np.array([1, 2])}, "workers: [1, 2] is not a whole number"),
        ("run", {**RUN, "workers": -(10**5000)}, "workers: this int is too small"),
        ("run", {**RUN, "aqms": b""}, "aqms: b'' is no list of texts"),
        ("run", {**RUN, "aqms": {"fifo": 1}}, "aqms: {fifo = 1} is no list of texts"),
        ("run", {**RUN, "aqms": io.StringIO("fifo")}, "aqms: <_io.StringIO"),
        ("run", {**RUN, "out": "x" * 300}, "out: 'xxx"),
        ("run", {**RUN, "out": "\ud800"}, "out: '\\ud800' cannot be read"),
        ("run", {**RUN, "changes": HELD}, "changes: this dict cannot be read"),
        ("stability", {**STUDY, "simulated_s": 10**400}, "simulated_s: 1000"),
        ("verify", {"result": "none", "workers": -1}, "workers: -1 is too small"),
        ("compare", {"results": None}, "results: None is no result"),
        ("compare", {"results": ""}, "results: '' names nothing"),
    ],
)
def test_every_argument_of_every_verb_is_read_by_its_kind(
    verb: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        getattr(sojourn, verb)(**given)
    assert str(refused.value).startswith(f"{verb}: {said}")


METHODS = [sojourn.Result.load, sojourn.Result.save, sojourn.Scenario.replace]


def test_no_kind_of_argument_is_left_unread() -> None:
    verbs = [getattr(sojourn, verb) for verb in sojourn.__all__]
    kinds = {
        parameter.annotation.removesuffix(" | None")
        for verb in [*METHODS, *(verb for verb in verbs if not isinstance(verb, type))]
        for parameter in inspect.signature(verb).parameters.values()
        if parameter.name != "self"
    }
    assert kinds <= _READERS.keys()


@pytest.mark.parametrize(
    ("verb", "given", "said"),
    [
        (sojourn.run, (), "run: missing a required argument: 'scenario'"),
        (sojourn.verify, ("a", "b"), "verify: too many positional arguments"),
        (sojourn.Result.load, (), "Result.load: missing a required argument: 'folder'"),
        (sojourn.Result.load, ("",), "Result.load: folder: '' names nothing; the folder itself is"),
        (sojourn.Result.load, (3,), "Result.load: folder: 3 is no path"),
        (sojourn.Result.load, (__file__,), f"{__file__}: is a file; name the folder of a result"),
        (sojourn.Result.save, (None, 3), "Result.save: folder: 3 is no path"),
    ],
)
def test_arguments_that_are_missing_or_too_many_or_of_a_method_are_named(
    verb: Any, given: tuple[Any, ...], said: str
) -> None:
    with pytest.raises(InputError) as refused:
        verb(*given)
    assert str(refused.value).startswith(said)


def _refusal(message: str, given: Any = "") -> str:
    """Return what Python's user reads of a message about this argument."""

    def refuse(
        out: object, *, changes: str = "", hosts: str = "", aqms: str = "", seeds: str = ""
    ) -> None:
        raise InputError(message)

    refuse.__qualname__ = "run"
    with pytest.raises(InputError) as refused:
        checked(refuse)(given)
    return str(refused.value)


@pytest.mark.parametrize(
    ("of_the_command", "of_python"),
    [
        ("--set a=1: --aqm pie sets it too", "run: changes: a=1: aqms=['pie'] sets it too"),
        ("name another folder with --out, and", "name another folder with 'out', and"),
        ("ask for --aqm a --aqm b --host sim.", "ask for aqms=['a', 'b'], hosts=['sim']."),
        ("--set: it\n--out x: is\n--x y: z", "run: changes: it\nrun: out: x: is\n--x y: z"),
        ("'sojourn run S.toml --out X' makes one", "'sojourn run S.toml --out X' makes one"),
        ("Run sojourn sweep x --out X: it --out", "Run sojourn sweep x --out X: it 'out'"),
    ],
)
def test_options_in_a_message_are_arguments_in_python_but_commands_stay(
    of_the_command: str, of_python: str
) -> None:
    assert _refusal(of_the_command) == of_python


@pytest.mark.parametrize(
    ("of_the_command", "of_python"),
    [
        ("r: holds --aqm a --seeds 3 --host sim.", "r: holds aqms=['a'], seeds=3, hosts=['sim']."),
        ("ask for all: --seeds 3..5, or", "ask for all: seeds='3..5', or"),
        ("name another folder: --out r-2", "name another folder: out='r-2'"),
        ("a folder of its own: --out a/b.c; or", "a folder of its own: out='a/b.c'; or"),
        (
            "It is a key: --set links.N.rate=5Mbit/s",
            'It is a key: changes={"links.N.rate": "5Mbit/s"}',
        ),
        ("with --set a.b=true and another --out", "with changes={\"a.b\": True} and another 'out'"),
        ("fewer, or --set a=2.5, or more", 'fewer, or changes={"a": 2.5}, or more'),
    ],
)
def test_an_option_with_its_value_is_an_argument_that_python_reads(
    of_the_command: str, of_python: str
) -> None:
    assert _refusal(of_the_command) == of_python


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("x--out.toml", "x--out.toml: there is no such file"),
        ("x --out y", "x --out y: there is no such file"),
        ("./--out", "--out: there is no such file"),
        (Path("x --out"), "x --out: there is no such file"),
        ("x\n--out y", "x\n--out y: there is no such file"),
        (["--aqm a"], "name it otherwise: --aqm a"),
        ({"--set a": {"b": ["--aqm c"]}}, "--set a: is --aqm c"),
        ("", "unknown algorithm '--aqm codel'"),
        ("", "s.toml:12: --aqm codel: unknown key"),
        ("", """unknown key (its value: 'aqms=["--aqm codel", "a --out"]')"""),
        ("", "a/--out b.--out a=--out"),
        ("", "--out/a --outer.toml --out.toml: is there"),
    ],
)
def test_texts_that_a_user_gave_or_wrote_in_a_file_stay_as_they_are(
    given: Any, message: str
) -> None:
    assert _refusal(message, given).replace("\\n", "\n") == message


def test_an_option_before_a_text_of_the_user_is_still_an_argument() -> None:
    assert _refusal("--set --set: no such key", {"--set": 1}) == "run: changes: --set: no such key"
    assert _refusal("another folder: --out a --out b-2", "a --out b") == (
        "another folder: out='a --out b-2'"
    )
    assert _refusal("ask for --aqm ./my a.c --aqm b", ["./my a.c"]) == (
        "ask for aqms=['./my a.c', 'b']"
    )


def test_a_file_whose_name_holds_an_option_is_named_as_it_is() -> None:
    with pytest.raises(InputError, match=r"^x--out\.toml: there is no such file"):
        sojourn.run("x--out.toml")
    with pytest.raises(InputError, match=r"^x--figure cdf\.docx: its name ends in"):
        sojourn.plot("none", "x--figure cdf.docx")
    with pytest.raises(InputError, match=r"^unknown algorithm '--aqm codel'"):
        sojourn.run(sojourn.loads(SMALL), aqms=["--aqm codel"])


def test_a_result_in_place_of_its_folder_is_answered_with_what_to_give() -> None:
    result: Any = sojourn.run(sojourn.loads(SMALL))
    with pytest.raises(InputError, match=r"is no path; give the folder that it was saved in$"):
        sojourn.verify(result)


def test_a_path_is_an_algorithm_and_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    scenario = sojourn.loads(SMALL)
    own: Any = [tmp_path / "none.c"]
    with pytest.raises(InputError, match=r"none\.c"):
        sojourn.run(scenario, aqms=own)
    changes = {"dumbbell.flows.bulk.count": np.int64(3), "dumbbell.rtt": "40 ms"}
    seeds: Any = np.int64(1)
    result = sojourn.run(scenario, changes=changes, seeds=seeds, hosts="sim")
    assert result.scenario == scenario.to_toml()
    assert result.groups().to_pylist()[0]["flows"] == 3
    several: Any = np.arange(1, 3)
    two = sojourn.run(scenario, seeds=several)
    assert len(two) == 2
    assert len(sojourn.run(scenario, seeds=np.array(2), aqms=np.array("fifo"))) == 2  # type: ignore[arg-type]
    beside: Any = iter((result, two))
    assert sojourn.compare(beside)


def test_a_wrong_quantity_is_an_error_of_sojourns() -> None:
    with pytest.raises(InputError, match=r"^stability: .*'zz'"):
        sojourn.stability(["pi"], flows=60, capacity="zz", rtt="100 ms")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", ""], "sojourn: run: '' names nothing"),
        (["run", "--", ""], "sojourn: run: '' names nothing"),
        (["run", "s.toml", "--out="], "sojourn: --out: '' names nothing"),
        (["run", "s.toml", "--plot", ""], "sojourn: --plot: '' names nothing"),
        (["linux", "export", "codel", "--out", ""], "sojourn: --out: '' names nothing"),
        (["run", "s.toml", "--set", "--out="], "sojourn: s.toml: there is no such file"),
    ],
)
def test_an_empty_word_of_the_command_is_refused_where_a_path_is_wanted_and_only_there(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert status(words) == 2
    assert capsys.readouterr().err.startswith(said)


def test_help_before_an_empty_word_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["--help", "run", ""]) == 0
    assert capsys.readouterr().out.lstrip().startswith("Usage:")
