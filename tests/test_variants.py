# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""`--aqm` and `--set`: which algorithm runs with which parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.runs.run import cases_of
from sojourn.scenario import loads

from tests.conftest import SMALL

TWO_QUEUES = """\
format = 2
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
    queues = [link["queue"] for link in links if link["rate"]]
    return [{key: queue[key] for key in queue if key != "algorithm"} for queue in queues]


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


BOTH_WAYS = """
format = 2
name = "both ways"
duration = "1 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
back = { rate = "2 Mbit/s", queue = { algorithm = "fifo", limit = 50 } }
"""
SIDES = 'senders = [{ name = "sender" }]\n'


def queues(text: str, *aqms: str, **changes: object) -> dict[str, dict[str, Any]]:
    """Those of bottlenecks, by link; without the links of ends."""
    [case] = cases_of(loads(text), aqms, changes)
    graph = case.scenario.to_engine()
    return {
        link["name"]: link["queue"]
        for link in graph["links"]
        if link["rate"] or link["name"] == "back"
    }


@pytest.mark.parametrize(("sides", "name"), [("", "back"), (SIDES, "bottleneck back")])
def test_the_way_back_is_under_test_where_it_is_recorded(sides: str, name: str) -> None:
    plain = {"algorithm": "fifo", "limit": 50}
    tested = {"algorithm": "pie", "limit": 50, "target": 2_000_000}
    one = queues(BOTH_WAYS + sides, "pie:target=2ms")
    assert one["bottleneck"]["algorithm"] == "pie"
    assert one[name] == plain
    both = f'{BOTH_WAYS}{sides}[record]\nqueues = ["bottleneck", "{name}"]'
    assert queues(both, "pie:target=2ms")[name] == tested
    assert queues(both, "pie", target="2 ms")[name] == tested
    only: dict[str, object] = {"record.queues": [name], "target": "2 ms"}
    found = queues(BOTH_WAYS + sides, "pie", **only)
    assert found[name] == tested
    assert found["bottleneck"] == {"algorithm": "fifo"}
    # By its path it comes after the algorithm, as every queue under test does.
    changed = queues(both, "pie", **{"dumbbell.back.queue.target": "3 ms"})
    assert changed["bottleneck"] == {"algorithm": "pie"}
    assert changed[name] == {"algorithm": "pie", "limit": 50, "target": 3_000_000}


LOT = """
format = 2
name = "three hops"
duration = "1 s"

[parking_lot]

[[parking_lot.hops]]
rate = "10 Mbit/s"

[[parking_lot.hops]]
count = 2
rate = "8 Mbit/s"
back = { rate = "5 Mbit/s" }
"""


def test_hops_are_under_test_where_they_are_recorded() -> None:
    def algorithms(text: str, **changes: object) -> dict[str, str]:
        return {
            name: queue["algorithm"]
            for name, queue in queues(text, "pie", **changes).items()
            if name.startswith("hop")
        }

    backs = {"hop 2 back": "fifo", "hop 3 back": "fifo"}
    assert algorithms(LOT) == {"hop 1": "pie", "hop 2": "pie", "hop 3": "pie", **backs}
    one = algorithms(LOT + '[record]\nqueues = ["hop 1"]')
    assert one == {"hop 1": "pie", "hop 2": "fifo", "hop 3": "fifo", **backs}
    # Hops of one table are alike.
    back = algorithms(LOT + '[record]\nqueues = ["hop 3 back"]')
    assert back == {**dict.fromkeys(one, "fifo"), **dict.fromkeys(backs, "pie")}


def test_a_hop_goes_by_the_name_of_its_link() -> None:
    assert queues(LOT, **{"parking_lot.hops.hop 1.aqm": "pie"})["hop 1"]["algorithm"] == "pie"
    assert queues(LOT, **{"parking_lot.hops.1.aqm": "pie"})["hop 3"]["algorithm"] == "pie"
    with pytest.raises(InputError, match=r"'hop 2' is one of 2 hops alike.*parking_lot\.hops\.1$"):
        queues(LOT, **{"parking_lot.hops.hop 2.aqm": "pie"})
    with pytest.raises(InputError, match=r"there is no 'hop 4'\. Valid names: hop 1, 0, 1, \*\.$"):
        queues(LOT, **{"parking_lot.hops.hop 4.aqm": "pie"})


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
