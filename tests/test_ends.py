# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Stages of a link's end: how they are read, written out, and handed to the engine."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sojourn import _native
from sojourn.core.units import Duration, Rate
from sojourn.scenario import Htb, HtbClass, Link, Queue, Ring, load, loads, reference
from sojourn.scenario.ends import QueueStage, named, queue_rates, queues, recorded
from sojourn.scenario.model import Scenario

FILES = {path.stem: path for path in Path(__file__).with_name("data").joinpath("ends").iterdir()}

HOME = """\
format = 2
name = "home"
duration = "10 s"
nodes = ["home", "isp"]

[[links]]
name = "up"
from = "home"
to = "isp"
delay = "10 ms"

[[links.end]]
name = "sqm"
kind = "htb"
default = "rest"
classes = [
    { name = "line", rate = "9 Mbit/s" },
    { name = "voice", parent = "line", rate = "1 Mbit/s", ceil = "9 Mbit/s", \
match = [{ dscp = "ef" }], queue = "fifo" },
    { name = "rest", parent = "line", rate = "8 Mbit/s", queue = "codel" },
]

[[links.end]]
name = "modem"
kind = "ring"
packets = 64
rate = "10 Mbit/s"

[[links]]
name = "down"
from = "isp"
to = "home"

[[flows]]
name = "calls"
from = "home"
to = "isp"
dscp = "ef"
"""


def end_of(text: str) -> list[dict[str, Any]]:
    """Of the first link, as the engine reads it."""
    end: list[dict[str, Any]] = loads(text).to_engine()["links"][0]["end"]
    return end


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_stages_is_written_out_as_the_same_scenario(name: str) -> None:
    scenario = load(FILES[name])
    assert loads(scenario.to_toml()) == scenario
    assert loads(scenario.expand().to_toml()) == scenario.expand()


@pytest.mark.parametrize("name", FILES)
def test_the_schema_admits_a_file_of_stages(name: str) -> None:
    data = tomllib.loads(FILES[name].read_text())
    jsonschema.validate(data, json.loads(reference.schema_text()))


def test_a_link_with_stages_has_nothing_of_one_queue() -> None:
    assert {*loads(HOME).to_engine()["links"][0]} == {
        *("name", "from", "to", "header", "mpu", "linklayer", "delay", "delays", "jitter"),
        *("loss", "end", "probe"),
    }


def test_a_link_without_stages_and_a_flow_without_a_mark_are_as_before() -> None:
    data = loads(HOME).to_engine()
    assert "end" not in data["links"][1]
    assert data["flows"][0]["dscp"] == 46
    plain = loads(HOME.replace('dscp = "ef"\n', "")).to_engine()
    assert "dscp" not in plain["flows"][0]


def test_defaults_that_depend_on_other_keys_are_filled_in_for_the_engine() -> None:
    text = HOME.replace(
        'rate = "8 Mbit/s",',
        'rate = "8 Mbit/s", schedule = [{ at = "1 s", rate = "4 Mbit/s" }],',
    ).replace(
        'ceil = "9 Mbit/s",',
        'ceil = "9 Mbit/s", schedule = [{ at = "1 s", rate = "2 Mbit/s" }, '
        '{ at = "2 s", rate = "2 Mbit/s", ceil = "3 Mbit/s" }, { at = "3 s", rate = "1 Mbit/s" }],',
    )
    line, voice, rest = end_of(text)[0]["classes"]
    assert line == {
        **{"name": "line", "rate": 9_000_000, "ceil": 9_000_000, "prio": 0},
        **{"burst": 1600, "cburst": 1600, "quantum": 112_500},
    }
    assert voice["quantum"] == 12_500
    # A ceiling that was given stays; one that was not follows the rate.
    assert [step["ceil"] for step in voice["schedule"]] == [9_000_000, 3_000_000, 3_000_000]
    assert [step["ceil"] for step in rest["schedule"]] == [4_000_000]


@pytest.mark.parametrize(
    ("rate", "quantum"),
    [("8 kbit/s", 1000), ("80 kbit/s", 1000), ("8 Mbit/s", 100_000), ("1 Gbit/s", 200_000)],
)
def test_a_quantum_is_that_of_linux_unless_given(rate: str, quantum: int) -> None:
    text = HOME.replace('rate = "8 Mbit/s"', f'rate = "{rate}"')
    assert end_of(text)[0]["classes"][2]["quantum"] == quantum


def test_every_value_of_a_match_is_a_list_for_the_engine() -> None:
    entry = (
        '{ dscp = [0, "AF41"], flows = "calls", from = "home", via = ["isp"], transport = "tcp" }'
    )
    text = HOME.replace('{ dscp = "ef" }', entry)
    assert end_of(text)[0]["classes"][1]["match"] == [
        {
            **{"dscp": [0, 34], "flows": ["calls"], "from": ["home"], "via": ["isp"]},
            "transport": ["tcp"],
        }
    ]


def test_a_cable_may_have_stages_in_one_direction_alone() -> None:
    head, _, flows = HOME.partition("[[flows]]")
    stages = head[head.index("[[links.end]]") : head.index('[[links]]\nname = "down"')]
    cable = '[[cables]]\nname = "up"\nbetween = ["home", "isp"]\nback = { rate = "5 Mbit/s" }\n\n'
    text = head[: head.index("[[links]]")] + cable + stages.replace("links", "cables")
    links = loads(f"{text}[[flows]]{flows}").to_engine()["links"]
    assert [stage["name"] for stage in links[0]["end"]] == ["sqm", "modem"]
    assert (links[1]["rate"], "end" in links[1]) == (5_000_000, False)


def test_names_in_results_have_a_stage_only_where_several_have_queues() -> None:
    names = {link.name: [name for name, _, _ in named(link)] for link in load(FILES["cable"]).links}
    assert names["up 1"] == ["up 1/modem", "up 1/ef", "up 1/af"]
    assert names["cable down"][:2] == ["cable down/ip/cmts", "cable down/ip/af 1"]
    assert names["cable down"][4] == "cable down/mac/cable"
    [link, _] = load(FILES["diffserv"]).links
    classes = [f"core/{name}" for name in ("ef", "assured", "af4", "af1", "be")]
    assert [name for name, _, _ in named(link)] == [*classes, "core/line"]
    home = load(FILES["home"]).links[0]
    assert [name for name, _, _ in queues(home)] == [
        *("home up/sqm/voice", "home up/sqm/rest", "home up/sqm/backup", "home up/modem")
    ]
    alone = load(FILES["home"]).replace(_only_the_modem)
    assert [name for name, _, _ in queues(alone.links[0])] == ["home up"]


def _only_the_modem(data: dict[str, Any]) -> None:
    del data["links"][0]["end"][0]


def test_a_record_of_a_link_is_of_all_its_queues() -> None:
    links = load(FILES["home"]).links
    all_of_it = [name for name, _, _ in queues(links[0])]
    assert recorded(links, ["home up", "home down"]) == [*all_of_it, "home down"]
    assert recorded(links, ["home up/modem"]) == ["home up/modem"]


@pytest.mark.parametrize("form", ["models", "data"])
def test_utilisation_refers_to_the_ceiling_of_a_leaf_or_to_the_ring(form: str) -> None:
    def of(name: str, queue: str) -> list[tuple[int, int]]:
        scenario = load(FILES[name])
        links: Any = scenario.links if form == "models" else scenario.to_engine()["links"]
        return queue_rates(links[0], queue)

    assert of("home", "home up/sqm/voice") == [(0, 9_500_000)]
    assert of("home", "home up/modem") == [(0, 10_000_000)]
    assert of("diffserv", "core/af4") == [(0, 100_000_000)]
    assert of("diffserv", "core/line") == [(0, 100_000_000)]


def test_a_scenario_made_of_models_is_that_of_its_file() -> None:
    scenario = load(FILES["diffserv"])
    parts = {key: getattr(scenario, key) for key in scenario.model_fields_set}
    assert Scenario(**parts) == scenario


def test_stages_made_in_python_are_those_of_a_file() -> None:
    scenario = loads(HOME)
    leaf = HtbClass(name="rest", rate=Rate("8 Mbit/s"), queue=Queue(algorithm="codel"))
    ring = Ring(name="modem", packets=64, rate=Rate("10 Mbit/s"))
    link = Link(
        **{"name": "up", "from_": "home", "to": "isp", "delay": Duration("10 ms")},
        end=(Htb(name="sqm", default="rest", classes=(leaf,)), ring),
    )
    parts = {key: getattr(scenario, key) for key in scenario.model_fields_set}
    made = Scenario(**{**parts, "links": (link, *scenario.links[1:])})
    assert [stage["kind"] for stage in made.to_engine()["links"][0]["end"]] == ["htb", "ring"]
    assert loads(made.to_toml()) == made


@pytest.mark.parametrize("name", FILES)
def test_a_report_has_the_queues_and_classes_of_the_file_by_name(name: str) -> None:
    scenario = load(FILES[name]).replace(_shortened)
    graph = scenario.expand()
    packed = _native.run(json.dumps(scenario.to_engine()), 1)
    assert packed
    report = json.loads(packed[0])
    assert [q["name"] for q in report["queues"]] == recorded(graph.links, graph.record.queues)
    names = [entry for link in graph.links if link.end for entry in named(link)]
    assert {c["name"] for c in report["classes"]} == {
        full for full, _, table in names if not isinstance(table, QueueStage)
    }


def _shortened(data: dict[str, Any]) -> None:
    data["duration"] = "200 ms"


LEAF = '{ name = "x", queue = "avq" }'
PLACES = {
    "a class of HTB": f'{{ name = "h", kind = "htb", default = "x", classes = [{LEAF}] }}'.replace(
        '"x", queue', '"x", rate = "8 Mbit/s", queue'
    ),
    "a class of DRR": f'{{ name = "d", kind = "drr", default = "x", classes = [{LEAF}] }}, RING',
    "a band": f'{{ name = "p", kind = "prio", default = "x", bands = [{LEAF}] }}, RING',
    "a queue above a ring": '{ name = "q", kind = "queue", queue = "avq" }, RING',
    "a band in a class of HTB": '{ name = "h", kind = "htb", default = "y", classes = [{ '
    'name = "y", rate = "8 Mbit/s", inner = { kind = "prio", default = "x", bands = ['
    f"{LEAF}] }} }}] }}",
    "a queue on a medium": '{ name = "q", kind = "queue", medium = "m", queue = "avq" }',
}
ONE_END = """\
format = 2
name = "one"
duration = "1 s"
nodes = ["a", "b"]
media = [{ name = "m", rate = "8 Mbit/s" }]
links = [
    { name = "up", from = "a", to = "b", KEYend = [END] },
    { name = "down", from = "b", to = "a", delay = "10 ms" },
]
flows = [{ name = "bulk", from = "a", to = "b" }]
"""


def with_end(place: str, key: str = "") -> str:
    ring = '{ name = "r", kind = "ring", packets = 9, rate = "8 Mbit/s" }'
    end = PLACES[place].replace("RING", ring)
    return ONE_END.replace("END", end).replace("KEY", key)


@pytest.mark.parametrize("place", PLACES)
def test_an_algorithm_that_must_know_a_rate_knows_that_of_its_place(place: str) -> None:
    assert _native.run(json.dumps(loads(with_end(place)).to_engine()), 1)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("key", ['header = "18 B"', 'mpu = "84 B"', 'linklayer = "atm"'])
def test_stages_count_lengths_as_their_link_says(place: str, key: str) -> None:
    def goodput_mbps(text: str) -> float:
        packed = _native.run(json.dumps(loads(text).to_engine()), 1)
        assert packed
        return float(json.loads(packed[0])["goodput_mbps"])

    assert 0 < goodput_mbps(with_end(place, f"{key}, ")) <= goodput_mbps(with_end(place))
