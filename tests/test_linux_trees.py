# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Trees at a link's end on Linux without a kernel: classes, filters, refusals, commands to type."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sojourn.cli.show import tc_commands
from sojourn.core.errors import InputError
from sojourn.linux import refusals
from sojourn.linux.plan import plan
from sojourn.scenario import loads
from sojourn.scenario.engine import to_engine

FILES = sorted(Path(__file__).with_name("data").joinpath("ends").iterdir())

HEAD = """
format = 2
name = "tree"
duration = "4 s"
nodes = ["a", "b", "c"]
linux = LINUX
links = [
    { name = "up", from = "a", to = "b", end = [{ name = "t", kind = "htb", DEFAULT classes = [
        { name = "root", rate = "10 Mbit/s" },
        CLASSES
    ] }] },
    { name = "on", from = "b", to = "c" },
    { name = "back", from = "c", to = "a", delay = "5 ms" },
]

[record]
queues = ["up"]
"""


def leaf(name: str, match: str, more: str = 'queue = "codel"') -> str:
    return (
        f'{{ name = "{name}", parent = "root", rate = "1 Mbit/s", match = [{match}], {more} }},\n'
    )


def scenario(classes: str, groups: list[str], default: str = "", linux: str = "{}") -> Any:
    text = HEAD.replace("CLASSES", classes).replace("LINUX", linux)
    text = text.replace("DEFAULT", f'default = "{default}",' if default else "")
    for name in groups:
        text += f'\n[[flows]]\nname = "{name}"\nfrom = "a"\nto = "c"\n'
    return to_engine(loads(text).expand(), "linux")


def filters(data: Any, link: int = 0) -> list[str]:
    lines = plan(data, 1).files[f"l{link}s0.qdiscs"].splitlines()
    return [line.split(" prio 1 ")[1] for line in lines if line.startswith("filter")]


def test_groups_that_a_match_names_have_addresses_of_their_own_and_others_share_one() -> None:
    classes = leaf("one", '{ flows = "g0" }') + leaf("rest", '{ dscp = "cs1" }')
    data = scenario(classes, ["g0", "g1", "g2"], "rest")
    assert filters(data) == [
        "u32 match ip src 10.1.0.0/32 match ip dst 10.2.0.0/32 flowid 1:2",
        "u32 match ip dsfield 0x20 0xfc flowid 1:3",
    ]
    ends = {
        tuple(line.split()[5:7])
        for line in plan(data, 1).files["flows"].splitlines()
        if line.startswith("flow ")
    }
    assert ends == {("10.1.0.0", "10.2.0.0"), ("10.1.0.1", "10.2.0.1")}


def test_many_filters_of_addresses_are_hashed_and_keep_their_place_among_others() -> None:
    groups = [f"g{n}" for n in range(40)]
    first = leaf("ef", '{ dscp = "ef" }')
    many = "".join(leaf(f"c{n}", f'{{ flows = "{name}" }}') for n, name in enumerate(groups))
    listed = filters(scenario(first + many + leaf("cs1", '{ dscp = "cs1" }'), groups, "cs1"))
    assert listed[0] == "u32 match ip dsfield 0xb8 0xfc flowid 1:2"
    assert listed[1] == "handle 2: u32 divisor 256"
    assert listed[2:42] == [
        f"u32 ht 2:{n:x}: match ip src 10.1.0.{n}/32 match ip dst 10.2.0.{n}/32 flowid 1:{n + 3:x}"
        for n in range(40)
    ]
    assert listed[42] == "u32 match u32 0 0 link 2: hashkey mask 0x000000ff at 16"
    assert listed[43] == "u32 match ip dsfield 0x20 0xfc flowid 1:2b"


def test_nodes_of_the_way_are_turned_round_for_packets_that_go_back() -> None:
    # The link has data of g0 alone; its acknowledgements go by 'back'. A probe's answer, which
    # another algorithm may ask for, comes from 'c'.
    for match, found in (
        ('{ from = "a" }', True),
        ('{ to = "c" }', True),
        ('{ via = "b" }', True),
        ('{ from = "c" }', False),
    ):
        classes = leaf("one", match) + leaf("rest", '{ dscp = "cs1" }')
        listed = filters(scenario(classes, ["g0"], "rest"))
        assert any("10.1.0.0" in line for line in listed) == found
    with pytest.raises(InputError, match="no packet of this link goes to 'a'"):
        scenario(leaf("one", '{ to = "a" }') + leaf("rest", '{ dscp = "cs1" }'), ["g0"], "rest")


def test_a_class_changes_with_all_its_values_and_its_queue_with_it() -> None:
    steps = 'queue = "pie", schedule = [{ at = "2 s", rate = "3 Mbit/s" }]'
    classes = leaf("one", '{ flows = "g0" }', steps)
    timetable = plan(scenario(classes, ["g0"]), 1).files["timetable"]
    [line] = [line for line in timetable.splitlines() if "class change" in line]
    assert line.startswith("2000000000 ")
    assert (
        "'class change dev l0h1a parent 1:1 classid 1:2 htb rate 3000000bit ceil 3000000bit "
        "burst 1600b cburst 1600b prio 0 quantum 12500'" in line
    )
    assert "parent 1:2 handle 10: sojourn pie bandwidth 3mbit" in line


def test_classes_count_the_frames_of_their_link() -> None:
    data = scenario(leaf("one", '{ flows = "g0" }'), ["g0"])
    data["links"][0] |= {"header": 40, "linklayer": "atm"}
    refusals.check(data)
    words = "handle 1: stab overhead 26 linklayer atm mtu 2047 tsize 2048 htb"
    assert words in plan(data, 1).files["l0s0.qdiscs"]


def test_a_parent_that_is_written_below_its_children_is_made_first() -> None:
    data = scenario(leaf("one", '{ flows = "g0" }'), ["g0"])
    data["links"][0]["end"][0]["classes"].reverse()
    lines = plan(data, 1).files["l0s0.qdiscs"].splitlines()
    made = [line for line in lines if line.startswith("class add")]
    assert "parent 1: classid 1:2 " in made[0]
    assert "parent 1:2 classid 1:1 " in made[1]


@pytest.mark.parametrize(
    ("more", "linux", "sentence"),
    [
        ('queue = "kernel:codel"', "{}", r"classes\[1\].queue: 'kernel:codel' logs no packets"),
        ('queue = "codel"', "{ offloads = true }", "end: its classes and rings count packets"),
    ],
)
def test_trees_that_linux_cannot_have_are_named(more: str, linux: str, sentence: str) -> None:
    data = scenario(leaf("one", '{ flows = "g0" }', more), ["g0"], linux=linux)
    with pytest.raises(InputError, match=sentence):
        refusals.check(data)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_commands_to_type_have_names_of_ones_own_for_devices(file: Path) -> None:
    text = tc_commands(str(file))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert sum(line.startswith("tc class add dev $") for line in lines) >= 2
    for line in lines:
        assert not re.search(r"\bl\d+h\d+[ar]\b", line)
        assert line.split()[0] in ("tc", "ethtool", "echo")
