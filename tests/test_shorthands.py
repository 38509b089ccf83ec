# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Shorthands: what graphs they stand for, and where their mistakes are named."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sojourn import _native
from sojourn.core.errors import InputError
from sojourn.runs.run import cases_of
from sojourn.scenario import (
    Back,
    Between,
    Dumbbell,
    Duration,
    Edge,
    Hop,
    ParkingLot,
    Queue,
    Rate,
    Scenario,
    Side,
    Traffic,
    load,
    loads,
    reference,
)
from sojourn.scenario.networks.dumbbell import pairs

PAGE = (Path(__file__).parent.parent / "docs/guide/scenarios.md").read_text()
BLOCKS = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def example(name: str) -> str:
    (found,) = (block for block in BLOCKS if f'name = "{name}"' in block)
    return str(found)


OCEAN = example("trans-oceanic")
LOT = example("three bottlenecks")
ALL = pytest.mark.parametrize("text", [OCEAN, LOT], ids=["dumbbell", "lot"])


def ways(engine: dict[str, Any]) -> dict[str, tuple[list[str], list[str], list[int], list[int]]]:
    """Of each group: names of links there and back, starts, and what round trips add."""
    names = [link["name"] for link in engine["links"]]
    found = _native.Scenario(json.dumps(engine)).ways(1)
    return {
        flow["name"]: ([names[i] for i in there], [names[i] for i in back], starts, added)
        for flow, (there, back, starts, added) in zip(engine["flows"], found, strict=True)
    }


def round_trips_ms(text: str) -> dict[str, float]:
    engine = loads(text).to_engine()
    delays_ms = {link["name"]: link["delay"] / 1e6 for link in engine["links"]}
    return {
        name: sum(delays_ms[link] for link in (*there, *back))
        for name, (there, back, _, _) in ways(engine).items()
    }


@ALL
def test_a_shorthand_is_written_out_to_a_graph_that_runs_the_same(text: str) -> None:
    scenario = loads(text)
    assert loads(scenario.to_toml()) == scenario
    graph = scenario.expand()
    assert graph.shorthand is None
    assert loads(graph.to_toml()).to_engine() == scenario.to_engine()
    jsonschema.validate(tomllib.loads(text), json.loads(reference.schema_text()))
    jsonschema.validate(tomllib.loads(graph.to_toml()), json.loads(reference.schema_text()))
    runs = [_native.run(json.dumps(s.to_engine()), 1) for s in (scenario, loads(graph.to_toml()))]
    assert runs[0] and runs[0] == runs[1]


def test_the_trans_oceanic_link_has_the_papers_nine_round_trips() -> None:
    found = round_trips_ms(OCEAN)
    there = {name: ms for name, ms in found.items() if name.startswith("ftp")}
    # Mrozowski and Chydzinski, section II: one-way delays 0, 12, 25; 65; 2, 37, 75 ms.
    published = {
        f"ftp N {i}-M {k}": 2 * (a + 65 + b)
        for (i, a), (k, b) in product(enumerate((0, 12, 25), 1), enumerate((2, 37, 75), 1))
    }
    assert there == published
    assert min(there.values()) == 134
    assert max(there.values()) == 330
    back = {name: ms for name, ms in found.items() if name.startswith("reverse")}
    assert sorted(back.values()) == sorted(there.values())


def test_later_round_trips_are_delays_of_both_ways() -> None:
    later = 'rtt = "130 ms"\nrtts = [{ at = "2 s", rtt = "51 ns" }]'
    for network in (OCEAN, "\n".join(OCEAN.split("\n\n")[i] for i in (0, 1))):
        links = loads(network.replace('rtt = "130 ms"', later)).to_engine()["links"]
        delays = [link["delays"] for link in links if link["delays"]]
        assert delays == [[{"at": 2 * 10**9, "delay": ns}] for ns in (25, 26)]


def test_later_delays_of_a_hop_are_those_of_both_its_ways() -> None:
    later = 'delay = "20 ms"\ndelays = [{ at = "2 s", delay = "5 ms" }]'
    links = loads(LOT.replace('delay = "20 ms"', later)).to_engine()["links"]
    changing = [link["name"] for link in links if link["delays"]]
    assert changing == [f"hop {n}{way}" for n in (1, 2, 3) for way in ("", " back")]


def test_flows_are_spread_evenly_over_pairs_and_nodes() -> None:
    counts = Counter(
        {f["name"]: f["count"] for f in loads(OCEAN).to_engine()["flows"]}  # 90 and 10 flows
    )
    assert {count for name, count in counts.items() if name.startswith("ftp")} == {10}
    assert sorted(count for name, count in counts.items() if name.startswith("rev")) == [1] * 8 + [
        2
    ]
    for m, n in product(range(1, 7), repeat=2):
        first, second = [f"a{i}" for i in range(m)], [f"b{i}" for i in range(n)]
        assert len(set(pairs(first, second, 10_000))) == m * n
        for count in range(1, m * n + 1):
            found = pairs(first, second, count)
            assert len(set(found)) == count
            for side, nodes in enumerate((first, second)):
                of_node = Counter(pair[side] for pair in found)
                each = [of_node[node] for node in nodes]
                assert max(each) - min(each) <= 1, (m, n, count)


def test_a_group_goes_on_where_another_ended() -> None:
    both = pairs("ab", "xyz", 6)
    assert pairs("ab", "xyz", 4) + pairs("ab", "xyz", 2, begin=5) == both
    assert pairs("ab", "xyz", 3, begin=6) == [both[5], both[0], both[1]]
    ftp = 'name = "ftp"\ncount = 90'
    assert ftp in OCEAN
    scenario = OCEAN.replace(ftp, 'name = "ftp"\ncount = 1\nfirst_pair = 3')
    flows = loads(scenario).to_engine()["flows"]
    assert [flow["name"] for flow in flows if flow["name"].startswith("ftp")] == ["ftp"]
    assert (flows[0]["from"], flows[0]["to"]) == ("N 3", "M 3")


SPREAD = """\
format = 2
name = "spread"
duration = "9 s"

[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"

[[dumbbell.senders]]
name = "s"
count = COUNT

[[dumbbell.receivers]]
name = "r"
count = COUNT

[[dumbbell.flows]]
count = 50
start = START
rtt = { distribution = "even", from = "20 ms", to = "30 ms" }
"""


def spread(count: int, start: str) -> tuple[list[int], list[int]]:
    text = SPREAD.replace("COUNT", str(count)).replace("START", start)
    found = ways(loads(text).to_engine()).values()
    return tuple(sorted(ns for way in found for ns in way[k]) for k in (2, 3))  # type: ignore[return-value]


@pytest.mark.parametrize(
    "start",
    ['["1 s", "2 s", "3 s"]', '{ distribution = "even", from = "1 s", to = "4 s" }'],
)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_times_of_a_group_are_the_same_over_any_number_of_nodes(count: int, start: str) -> None:
    assert spread(count, start) == spread(1, start)


def test_a_poisson_process_over_pairs_has_the_same_rate() -> None:
    poisson = '{ distribution = "poisson", from = "1 s", gap = "20 ms" }'
    last_s = max(spread(3, poisson)[0]) / 1e9
    # 50 gaps of 20 ms; each of nine processes has a standard deviation of its own sum.
    assert 1.5 < last_s < 3


def test_a_parking_lot_has_a_queue_under_test_at_each_hop() -> None:
    text = LOT + '\n[[parking_lot.flows]]\nname = "two"\nover = [2, 3]\n'
    text += '\n[[parking_lot.flows]]\nname = "against"\nover = [2, 1]\n'
    engine = loads(text).to_engine()
    assert engine["record"]["queues"] == ["hop 1", "hop 2", "hop 3"]
    queues = [
        link["queue"] for link in engine["links"] if link["name"] in engine["record"]["queues"]
    ]
    assert queues == [{"algorithm": "cfd", "limit": 100}] * 3
    found = ways(engine)
    assert found["short"][0] == ["sender 1", "hop 1", "hop 2", "hop 3", "receiver 3"]
    assert found["short"][1] == [
        "receiver 3 back",
        "hop 3 back",
        "hop 2 back",
        "hop 1 back",
        "sender 1 back",
    ]
    for hop in (1, 2, 3):
        assert found[f"cross {hop}"][0] == [f"sender {hop}", f"hop {hop}", f"receiver {hop}"]
    assert found["two"][0] == ["sender 2", "hop 2", "hop 3", "receiver 3"]
    assert found["against"][0] == ["receiver 2 back", "hop 2 back", "hop 1 back", "sender 1 back"]
    assert found["against"][1] == ["sender 1", "hop 1", "hop 2", "receiver 2"]
    assert round_trips_ms(text)["short"] == 2 * (2 + 3 * 20 + 2)


@ALL
def test_changes_reach_every_queue_under_test(text: str) -> None:
    (pie,) = cases_of(loads(text), ["pie"], {"limit": 77, "duration": "1 s"})
    engine = pie.scenario.to_engine()
    tested = [link for link in engine["links"] if link["name"] in engine["record"]["queues"]]
    assert len(tested) == (3 if text is LOT else 1)
    for link in tested:
        assert link["queue"]["algorithm"] == "pie"
        assert link["queue"]["limit"] == 77
    key = loads(text).shorthand.key  # type: ignore[union-attr]
    name = {"dumbbell": "ftp", "parking_lot": "short"}[key]
    (more,) = cases_of(loads(text), [], {f"flows.{name}.count": 7})
    flows = more.scenario.to_engine()["flows"]
    assert sum(flow["count"] for flow in flows if flow["name"].startswith(name)) == 7
    with pytest.raises(InputError, match=rf"has no links of its own; set {key}\.KEY"):
        cases_of(loads(text), [], {"links.bottleneck.rate": "1 Mbit/s"})


def test_a_hop_is_changed_by_its_number_or_all_at_once() -> None:
    text = LOT.replace("count = 3\n", "").replace(
        "[[parking_lot.flows]]",
        '[[parking_lot.hops]]\nrate = "2 Mbit/s"\n\n[[parking_lot.flows]]',
        1,
    )
    changes: dict[str, object] = {
        "parking_lot.hops.1.aqm.limit": 9,
        "parking_lot.hops.*.rate": "3 Mbit/s",
    }
    (case,) = cases_of(loads(text), [], changes)
    links = {link["name"]: link for link in case.scenario.to_engine()["links"]}
    assert [links[f"hop {i}"]["rate"] for i in (1, 2)] == [3_000_000] * 2
    assert [links[f"hop {i}"]["queue"]["limit"] for i in (1, 2)] == [100, 9]


def test_shorthands_of_python_objects_are_those_of_a_file() -> None:
    made = Scenario(
        name="objects",
        duration=Duration("1 s"),
        dumbbell=Dumbbell(
            rate=Rate("1 Mbit/s"),
            rtt=Duration("10 ms"),
            back=Back(rate=Rate("2 Mbit/s")),
            senders=(Side(name="a", count=2, delay=(Duration("1 ms"), Duration("2 ms"))),),
            flows=(Traffic(name="plain", count=2), Between(name="own", to="receivers")),
        ),
    )
    assert loads(made.to_toml()) == made
    assert [flow.name for flow in made.expand().flows] == [
        "plain a 1-receiver",
        "plain a 2-receiver",
        "own",
    ]
    lot = Scenario(
        name="objects",
        duration=Duration("1 s"),
        parking_lot=ParkingLot(
            hops=(Hop(rate=Rate("1 Mbit/s"), aqm=Queue(algorithm="pie")),),
            edges=Edge(delay=Duration("1 ms")),
            flows=(Traffic(),),
        ),
    )
    assert loads(lot.to_toml()) == lot


def test_a_file_of_ones_own_stands_in_every_table_of_a_network(tmp_path: Path) -> None:
    (tmp_path / "rates.down").write_text("1\n2\n3\n")
    text = OCEAN.replace('rate = "100 Mbit/s"\nrtt', 'trace = "rates.down"\nrtt')
    (tmp_path / "s.toml").write_text(text)
    dumbbell = load(tmp_path / "s.toml").dumbbell
    assert dumbbell
    assert dumbbell.trace == (1, 2, 3)


def test_flows_of_whole_sides_take_as_many_pairs_as_they_say_and_each_node_in_turn() -> None:
    text = """
format = 2
name = "pairs"
duration = "1 s"
[dumbbell]
rate = "10 Mbit/s"
rtt = "20 ms"
back = { rate = "10 Mbit/s", sim = { ring = 7 } }
senders = [{ name = "A", count = 3 }]
receivers = [{ name = "B", count = 3 }]
[[dumbbell.flows]]
name = "web"
count = 10
pairs = 3
"""
    graph = loads(text).expand()
    assert [(f.from_, f.to, f.count) for f in graph.flows] == [
        ("A 1", "B 1", 4),
        ("A 2", "B 2", 3),
        ("A 3", "B 3", 3),
    ]
    (back,) = (link for link in graph.links if link.name == "bottleneck back")
    assert back.sim.ring == 7
