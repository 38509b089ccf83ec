# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Queues that are under test, and others that are only recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sojourn
from sojourn.cli import status
from sojourn.core.errors import InputError
from sojourn.result.result import Result
from sojourn.runs.run import algorithms_of, cases_of
from sojourn.scenario import loads
from sojourn.scenario.changes import under_test

TWO_STAGES = """\
format = 2
name = "a home and its modem"
duration = "2 s"
nodes = ["server", "router", "home"]

[[links]]
name = "lan"
from = "server"
to = "router"
rate = "6 Mbit/s"
queue = { algorithm = "pie", tested = true }

[[links]]
name = "wan"
from = "router"
to = "home"
rate = "8 Mbit/s"
queue = { algorithm = "codel", limit = 60 }

[[links]]
name = "back"
from = "home"
to = "server"
delay = "20 ms"

[[flows]]
name = "down"
count = 2
from = "server"
to = "home"
"""


def queues(text: str, *aqms: str, **changes: object) -> dict[str, dict[str, Any]]:
    """By link."""
    [case] = cases_of(loads(text), aqms, changes)
    return {link["name"]: link["queue"] for link in case.scenario.to_engine()["links"]}


def names_under_test(text: str) -> list[str]:
    scenario = loads(text)
    return under_test(scenario, scenario.expand())


WAN = {"algorithm": "codel", "limit": 60}


def test_algorithms_and_parameters_reach_only_what_says_that_it_is_tested() -> None:
    found = queues(TWO_STAGES, "fq_codel", target="2 ms")
    assert found["lan"] == {"algorithm": "fq_codel", "target": 2_000_000}
    assert found["wan"] == WAN
    assert queues(TWO_STAGES, "red@ns2")["lan"]["algorithm"] == "red"
    assert queues(TWO_STAGES, limit=70) == {
        **queues(TWO_STAGES),
        "lan": {"algorithm": "pie", "limit": 70},
    }


def test_where_no_queue_says_so_all_that_are_recorded_are_tested() -> None:
    none = TWO_STAGES.replace(", tested = true", "")
    assert names_under_test(none) == ["lan", "wan"]
    assert [queues(none, "pie")[name]["algorithm"] for name in ("lan", "wan")] == ["pie", "pie"]
    assert names_under_test(f'{none}[record]\nqueues = ["wan"]') == ["wan"]
    assert names_under_test(none.replace('"codel",', '"codel", tested = false,')) == ["lan", "wan"]


def test_a_queue_that_is_not_tested_is_set_by_its_path_beside_any_algorithm() -> None:
    changes: dict[str, object] = {"links.wan.queue": "red@ns2", "links.wan.queue.limit": 90}
    found = queues(TWO_STAGES, "pie:target=5ms", **changes)
    assert (found["wan"]["algorithm"], found["wan"]["limit"]) == ("red", 90)
    assert found["lan"] == {"algorithm": "pie", "target": 5_000_000}
    with pytest.raises(InputError, match="--aqm pie:target=5ms chooses the algorithm"):
        queues(TWO_STAGES, "pie:target=5ms", **{"links.lan.queue": "red@ns2"})


def test_another_algorithm_leaves_a_queue_under_test() -> None:
    for value in ("codel", {"algorithm": "codel"}):
        [case] = cases_of(loads(TWO_STAGES), [], {"links.lan.queue": value})
        assert under_test(case.scenario, case.scenario.expand()) == ["lan"]
    given = {"algorithm": "codel", "tested": False}
    [case] = cases_of(loads(TWO_STAGES), [], {"links.lan.queue": given})
    assert under_test(case.scenario, case.scenario.expand()) == ["lan", "wan"]


@pytest.mark.parametrize("keys", [("lan", "wan"), ("wan", "lan")])
def test_what_is_tested_may_be_set_too_and_is_settled_before_the_algorithm(
    keys: tuple[str, str],
) -> None:
    changes: dict[str, object] = {f"links.{name}.queue.tested": name == "wan" for name in keys}
    found = queues(TWO_STAGES, "fq_codel", **changes, target="5 ms")
    assert found["lan"] == {"algorithm": "pie"}
    assert found["wan"] == {"algorithm": "fq_codel", "limit": 60, "target": 5_000_000}


BOTTLENECKS = """\
format = 2
name = "shorthand"
duration = "1 s"
"""
DUMBBELL = """
[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
aqm = {AQM}
back = {{ rate = "2 Mbit/s", queue = {BACK} }}
senders = [{{ name = "s", rate = "20 Mbit/s", queue = {SENDER} }}]
"""
LOT = """
[parking_lot]
edges = {{ rate = "30 Mbit/s", queue = {SENDER} }}

[[parking_lot.hops]]
rate = "10 Mbit/s"
aqm = {AQM}

[[parking_lot.hops]]
rate = "8 Mbit/s"
back = {{ rate = "5 Mbit/s", queue = {BACK} }}
"""


@pytest.mark.parametrize(
    ("network", "links"),
    [
        (DUMBBELL, {"AQM": ["bottleneck"], "BACK": ["bottleneck back"], "SENDER": ["s", "s back"]}),
        (LOT, {"AQM": ["hop 1"], "BACK": ["hop 2 back"], "SENDER": None}),
    ],
)
def test_any_queue_of_a_shorthand_may_be_tested(
    network: str, links: dict[str, list[str] | None]
) -> None:
    plain = dict.fromkeys(links, '"fifo"')
    usual = [name for name in ("bottleneck", "hop 1", "hop 2") if name in queues_of(network, plain)]
    assert names_under_test(BOTTLENECKS + network.format(**plain)) == usual
    for place, names in links.items():
        text = BOTTLENECKS + network.format(**{**plain, place: "{ tested = true }"})
        found = names_under_test(text)
        assert found == names if names else len(found) > 1
        changed = {name for name, of in queues(text, "pie").items() if of["algorithm"] == "pie"}
        assert changed == {*found}
        # It is measured beside the bottlenecks.
        assert {*usual, *found} == {*loads(text).expand().record.queues}
        assert loads(loads(text).to_toml()) == loads(text)


def queues_of(network: str, plain: dict[str, str]) -> dict[str, dict[str, Any]]:
    return queues(BOTTLENECKS + network.format(**plain))


def test_both_directions_of_a_cable_are_tested_unless_one_says_otherwise() -> None:
    text = """
        format = 2
        name = "cable"
        duration = "1 s"
        nodes = ["a", "b"]
        cables = [
            { name = "c", between = ["a", "b"], rate = "1 Mbit/s", queue.tested = true, BACK }
        ]
        flows = [{ from = "a", to = "b" }]
    """
    assert names_under_test(text.replace(", BACK", "")) == ["c", "c back"]
    assert names_under_test(text.replace("BACK", 'back = { queue = "pie" }')) == ["c"]


def labels(result: Result) -> list[tuple[str, str, str]]:
    """Of each row of a queue: the queue, its algorithm, and what is tested."""
    return [(r["queue"], r["aqm"], r["tested"]) for r in result.windows().to_pylist()]


def test_the_rows_of_a_queue_have_its_own_algorithm(tmp_path: Path) -> None:
    result = sojourn.run(loads(TWO_STAGES), aqms=["fifo", "pie:target=5ms"], out=tmp_path)
    both = [
        *[("lan", "fifo", "fifo"), ("wan", "codel", "fifo")],
        *[("lan", "pie:target=5ms", "pie:target=5ms"), ("wan", "codel", "pie:target=5ms")],
    ]
    assert labels(result) == both
    assert labels(Result.load(tmp_path)) == both
    for name in ("windows", "series", "statistics"):
        rows = pq.read_table(tmp_path / f"{name}.parquet").to_pylist()
        assert {(r["queue"], r["aqm"], r["tested"]) for r in rows} <= {*both}
        assert {r["aqm"] for r in rows if r["queue"] == "wan"} == {"codel"}
    cells = pq.read_table(tmp_path / "distributions.parquet").to_pylist()
    assert {(r["of"], r["aqm"], r["tested"]) for r in cells if r["of"] != "down"} == {*both}
    runs = json.loads((tmp_path / "result.json").read_text())["runs"]
    assert [(q["name"], q["aqm"], q["tested"]) for run in runs for q in run["queues"]] == both


def test_queues_that_are_not_alike_have_a_name_each() -> None:
    none = TWO_STAGES.replace(", tested = true", "")
    assert algorithms_of(loads(none)) == "pie+codel"
    assert labels(sojourn.run(loads(none))) == [
        ("lan", "pie", "pie+codel"),
        ("wan", "codel", "pie+codel"),
    ]
    assert algorithms_of(loads(TWO_STAGES)) == "pie"
    assert labels(sojourn.run(loads(none), aqms=["red"])) == [
        ("lan", "red", "red"),
        ("wan", "red", "red"),
    ]


@pytest.mark.parametrize("again", [False, True])
def test_tables_say_what_is_tested_where_it_tells_rows_apart(
    again: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "two.toml"
    path.write_text(TWO_STAGES)
    words = ["run", str(path), "--aqm", "fifo", "--aqm", "pie", "--seeds", "2"]
    for _ in range(2 if again else 1):
        capsys.readouterr()
        assert status(words) == 0
    lan, wan = capsys.readouterr().out.split("wan, whole run: mean", 1)
    wan = wan.split("flows '", 1)[0]
    assert "tested" not in lan and "codel" not in lan
    rows = [line.replace("│", " ").split() for line in wan.splitlines() if "│ codel" in line]
    assert [row[:2] for row in rows] == [["codel", "fifo"], ["codel", "pie"], ["codel", "pie"]]
    assert status(["run", str(path)]) == 0
    assert "tested" not in capsys.readouterr().out


def test_a_sweep_keeps_the_lower_queue_and_its_name(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO_STAGES)
    path = tmp_path / "sweep.toml"
    path.write_text(
        'scenario = "two.toml"\naqms = ["fifo", "pie"]\nseeds = 2\n'
        'metrics = ["queue_delay_mean_ms"]\n'
        '[[axes]]\nkey = "queue.limit"\nvalues = [20, 40]\n'
    )
    swept = sojourn.sweep(path, workers=1)
    for rows in (swept.cells_table().to_pylist(), swept.means_table().to_pylist()):
        found = {(r["queue"], r["aqm"], r["tested"]) for r in rows}
        assert found == {
            *[("lan", "fifo", "fifo"), ("lan", "pie", "pie")],
            *[("wan", "codel", "fifo"), ("wan", "codel", "pie")],
        }
    assert len(swept.means()) == 8
    assert {(cell["queue"], cell["aqm"]) for cell in swept.to_json()["cells"]} == {
        *[("lan", "fifo"), ("lan", "pie"), ("wan", "codel")]
    }


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("tested = true", 'tested = "yes"', "links\\[0\\]\\.queue\\.tested: 'yes' is not true"),
        (
            'delay = "20 ms"',
            "queue = { tested = true }",
            "links\\[2\\]\\.queue\\.tested: nothing waits before a link that sends at once",
        ),
    ],
)
def test_what_cannot_be_tested_is_refused(old: str, new: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        loads(TWO_STAGES.replace(old, new))


@pytest.mark.parametrize(
    ("network", "places"),
    [
        (
            "[dumbbell]\nrate = '1 Mbit/s'\nrtt = '1 ms'\nback = { queue = { tested = true } }\n"
            "senders = [{ name = 's', count = 3, queue = { tested = true } }]",
            ["dumbbell.back", "dumbbell.senders[0]"],
        ),
        (
            "[parking_lot]\nedges = { queue = { tested = true } }\n"
            "hops = [{ count = 2, rate = '1 Mbit/s', back = { queue = { tested = true } } }]",
            ["parking_lot.edges", "parking_lot.hops[0].back"],
        ),
    ],
)
def test_a_tested_queue_of_a_shorthand_that_takes_no_time_is_one_mistake(
    network: str, places: list[str]
) -> None:
    with pytest.raises(InputError) as refusal:
        loads(BOTTLENECKS + network)
    lines = str(refusal.value).splitlines()
    assert len(lines) == len(places)
    for line, place in zip(lines, places, strict=True):
        assert f"{place}.queue.tested: nothing waits before a link" in line
