# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`--aqm` and `--set`: which algorithm runs with which parameters."""

from __future__ import annotations

from pathlib import Path

import pytest
from sojourn.cli import status
from sojourn.errors import InputError
from sojourn.runs import cases_of
from sojourn.scenario import loads

from tests.conftest import SMALL

TWO_QUEUES = """\
format = 1
name = "two queues"
duration = "2 s"
nodes = ["a", "r", "b"]
links = [
    { name = "one", from = "a", to = "r", rate = "10 Mbit/s", queue = "codel" },
    { name = "two", from = "r", to = "b", rate = "5 Mbit/s", queue.limit = 50 },
    { name = "back", from = "b", to = "a" },
]
flows = [{ from = "a", to = "b" }]
"""


def rows(text: str, aqm: str, **changes: object) -> list[dict[str, int]]:
    """Of each queue under test, with this algorithm and these changes."""
    (case,) = cases_of(loads(text), [aqm], changes)
    links = case.scenario.to_engine()["links"]
    return [link["queue"]["rows"] for link in links if link["rate_bps"]]


def test_a_change_reaches_an_algorithm_that_the_file_does_not_name() -> None:
    assert rows(SMALL, "pie", target="1 ms") == [{"target": 1_000_000}]


def test_a_change_reaches_every_queue_under_test() -> None:
    assert rows(TWO_QUEUES, "pie", target="1 ms") == [
        {"target": 1_000_000},
        {"target": 1_000_000, "limit": 50},
    ]


def test_a_change_of_one_queue_by_its_path_comes_after_the_algorithm() -> None:
    changes: dict[str, object] = {"links.two.queue.target": "1 ms"}
    assert rows(TWO_QUEUES, "pie", **changes) == [{}, {"target": 1_000_000, "limit": 50}]


def test_a_change_decides_which_queues_are_under_test() -> None:
    cases = cases_of(loads(TWO_QUEUES), ["pie"], {"record.queues": ["two"]})
    links = cases[0].scenario.to_engine()["links"]
    assert [link["queue"]["algorithm"] for link in links] == ["codel", "pie", "fifo"]


def test_a_parameter_that_one_of_the_algorithms_lacks_is_refused_with_those_that_have_it() -> None:
    with pytest.raises(InputError, match=r"'fifo' has no parameter 'target'.*codel.*pie.*--aqm"):
        cases_of(loads(SMALL), ["pie", "fifo"], {"target": "1 ms"})


def test_a_variant_sets_the_parameters_of_one_algorithm() -> None:
    cases = cases_of(loads(SMALL), ["pie:target=5ms,tupdate=30ms", "codel"])
    assert [case.labels["aqm"] for case in cases] == ["pie:target=5ms,tupdate=30ms", "codel"]
    assert rows(SMALL, "pie: target = 5 ms") == [{"target": 5_000_000}]


def test_a_negative_power_of_two_is_written_as_the_pages_have_it() -> None:
    assert rows(SMALL, "red:weight=2^-7") == rows(SMALL, "red:weight=7") == [{"weight": 7}]


def test_the_kernels_own_queues_take_parameters_too() -> None:
    assert rows(SMALL, "kernel:codel:target=7ms", ecn=True) == [{"target": 7_000_000, "ecn": 1}]


def test_what_is_given_twice_runs_once() -> None:
    words = ["codel", "pie:target=5ms", "codel", "pie:target=5000us", "pie"]
    labels = [case.labels["aqm"] for case in cases_of(loads(SMALL), words)]
    assert labels == ["codel", "pie:target=5ms", "pie"]


def test_a_key_that_is_set_twice_is_refused(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["run", str(small), "--set", "target=1ms", "--set", "target=2ms"]) == 2
    assert "'target' is set twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target": "6 ms"}, "--aqm pie:target=5ms sets it too"),
        ({"dumbbell.aqm": "codel"}, "--aqm pie:target=5ms chooses the algorithm"),
        ({"queue.algorithm": "codel"}, "--aqm pie:target=5ms chooses the algorithm"),
    ],
)
def test_what_contradicts_a_variant_is_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        cases_of(loads(SMALL), ["pie:target=5ms"], changes)


def test_the_table_names_each_variant(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["run", str(small), "--aqm", "pie:target=5ms", "--aqm", "pie"]) == 0
    assert "pie:target=5ms" in capsys.readouterr().out
