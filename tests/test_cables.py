# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Cables: two links, declared once."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from sojourn.core.errors import InputError
from sojourn.runs.run import cases_of
from sojourn.scenario import Cable, Duration, Flow, Link, Rate, Scenario, load, loads, reference

CABLES = """\
format = 2
name = "a modem"
duration = "2 s"
nodes = ["home", "isp", "server"]

[[links]]
name = "lonely"
from = "home"
to = "server"

[[cables]]
name = "access"
between = ["home", "isp"]
rate = "5 Mbit/s"
delay = "5 ms"
queue = { algorithm = "asqm", limit = 100 }
responder = "server"
back = { rate = "50 Mbit/s", queue = "codel" }

[[cables]]
name = "core"
between = ["isp", "server"]
delay = "10 ms"

[[flows]]
name = "download"
from = "server"
to = "home"
path = ["core back", "access back"]
reverse_path = ["access", "core"]
"""


def test_a_cable_is_two_links_alike_but_for_what_the_way_back_says() -> None:
    graph = loads(CABLES)
    there, back = graph.links[1:3]
    assert [link.name for link in graph.links] == [
        "lonely",
        "access",
        "access back",
        "core",
        "core back",
    ]
    assert (there.from_, there.to, back.from_, back.to) == ("home", "isp", "isp", "home")
    assert there.delay == back.delay == Duration("5 ms")
    assert (there.rate, back.rate) == (Rate("5 Mbit/s"), Rate("50 Mbit/s"))
    assert (there.queue.algorithm, back.queue.algorithm) == ("asqm", "codel")
    assert (there.responder, back.responder) == ("server", None)
    assert loads(graph.to_toml()) == graph
    jsonschema.validate(tomllib.loads(CABLES), json.loads(reference.schema_text()))


def test_probes_are_of_one_kind_both_ways_and_their_responder_is_not_one_node() -> None:
    both = loads(CABLES.replace("responder =", 'probe = "experimental"\nresponder ='))
    assert [link.probe for link in both.links[1:3]] == ["experimental", "experimental"]
    assert [link.responder for link in both.links[1:3]] == ["server", None]
    unlike = loads(CABLES.replace("back = {", 'back = { probe = "experimental",'))
    assert [link.probe for link in unlike.links[1:3]] == ["echo", "experimental"]


def test_links_written_one_by_one_give_the_same_run() -> None:
    graph = loads(CABLES)
    one_by_one = graph.to_toml()
    assert "cables" not in one_by_one
    assert loads(one_by_one).to_engine() == graph.to_engine()


def test_cables_of_python_objects_are_laid_alike() -> None:
    scenario = Scenario(
        name="objects",
        duration=Duration("1 s"),
        nodes=("a", "b"),
        cables=(Cable(name="c", between=("a", "b"), rate=Rate("1 Mbit/s")),),
        flows=(Flow(from_="a", to="b"),),
    )
    assert [(link.name, link.rate) for link in scenario.links] == [
        ("c", Rate("1 Mbit/s")),
        ("c back", Rate("1 Mbit/s")),
    ]
    assert not scenario.cables
    assert isinstance(scenario.links[1], Link)


def test_a_change_sets_one_direction_by_its_link() -> None:
    changes = {"links.access.rate": "1 Mbit/s", "record.queues": ["access back"]}
    (case,) = cases_of(loads(CABLES), ["pie"], changes)
    links = {link["name"]: link for link in case.scenario.to_engine()["links"]}
    assert links["access"]["rate"] == 1_000_000
    assert links["access back"]["rate"] == 50_000_000
    assert [links[name]["queue"]["algorithm"] for name in ("access", "access back")] == [
        "asqm",
        "pie",
    ]
    with pytest.raises(InputError, match=r"a cable is two links: set links\.access\.rate"):
        cases_of(loads(CABLES), [], {"cables.access.rate": "1 Mbit/s"})


def test_a_file_of_ones_own_is_named_from_the_scenarios_folder(tmp_path: Path) -> None:
    (tmp_path / "rates.down").write_text("1\n2\n3\n")
    text = CABLES.replace('rate = "50 Mbit/s"', 'trace = "rates.down"').replace(
        'rate = "5 Mbit/s"\n', 'trace = "rates.down"\n'
    )
    (tmp_path / "s.toml").write_text(text)
    assert [link.trace for link in load(tmp_path / "s.toml").links[1:3]] == [(1, 2, 3)] * 2


def test_cables_beside_links_that_are_no_list_are_a_sentence() -> None:
    text = 'format = 2\nname = "x"\nduration = "1 s"\nlinks = 5\n'
    cable = '[[cables]]\nname = "c"\nbetween = ["a", "b"]\n'
    with pytest.raises(InputError, match=r":4: links: is not a list"):
        loads(text + cable)


@pytest.mark.parametrize(
    ("wrong", "right", "sentence"),
    [
        ('["home", "isp"]', '["home"]', r':13: cables\[0\].between: name two nodes: \["a", "b"\]'),
        ('rate = "5 M', 'rat = "5 M', r":14: cables\[0\].rat: unknown key"),
        ('"50 Mbit/s"', '"50"', r":18: cables\[0\].back.rate: '50' has no unit"),
        (
            '["home", "isp"]',
            '["home", "ips"]',
            r":13: cables\[0\].between\[1\]: there is no node 'ips'",
        ),
        ('"isp", "server"', '"ips", "server"', r":22: cables\[1\].between\[0\]: there is no node"),
        ("back = { ", 'back = { name = "x", ', r":18: cables\[0\].back.name: is given by"),
        ('"10 ms"', '"34560000 s"', r":23: cables\[1\].delay: 34560000 s is more than"),
        ('"core"\n', '"access"\n', r":21: cables\[1\].name: 'access' is there twice"),
        ('name = "core"\n', "", r":20: cables\[1\].name: is missing"),
        ("between = [", "from = [", r"cables\[0\].between: is missing"),
        ('back = { rate = "50 Mbit/s", queue = "codel" }', "back = 5", r"back: 5 is not a table"),
    ],
)
def test_a_mistake_is_named_where_the_cable_has_it(wrong: str, right: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        loads(CABLES.replace(wrong, right, 1))
