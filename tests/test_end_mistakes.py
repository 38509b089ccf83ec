# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Mistakes in the stages of a link's end: each is answered by its line, its place and a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from sojourn.core.errors import InputError
from sojourn.scenario import loads

TEXT = """\
format = 2
name = "mistakes"
duration = "9 s"
nodes = ["home", "isp", "spur"]
[[links]]
name = "up"
from = "home"
to = "isp"
[[links.end]]
name = "sqm"
kind = "htb"
default = "rest"
classes = [
    { name = "line", rate = "9 Mbit/s" },
    { name = "voice", parent = "line", rate = "1 Mbit/s", match = [{ dscp = "ef" }], \
queue = "pie" },
    { name = "rest", parent = "line", rate = "8 Mbit/s", inner = { kind = "drr", \
default = "b", classes = [
        { name = "a", match = [{ flows = "calls" }], queue = "fifo" },
        { name = "b", quantum = "3 kB", queue = "codel" },
    ] } },
]
[[links.end]]
name = "turns"
kind = "prio"
default = "low"
bands = [
    { name = "high", match = [{ via = "isp" }], queue = "fifo" },
    { name = "low", queue = "fifo" },
]
[[links.end]]
name = "line"
kind = "ring"
packets = 9
rate = "9 Mbit/s"
[[links]]
name = "down"
from = "isp"
to = "home"
[[flows]]
name = "calls"
from = "home"
to = "isp"
[[links]]
name = "side"
from = "isp"
to = "spur"
delay = "1 ms"
[[flows]]
name = "others"
from = "isp"
to = "spur"
transport = "udp"
app = { kind = "cbr", rate = "9 kbit/s", payload = "100 B" }
[record]
queues = ["up"]
"""

# What is written, what is written in its place, and the answer.
MISTAKES = {
    "a rate beside stages": (
        'to = "isp"\n[[',
        'to = "isp"\nrate = "1 Mbit/s"\n[[',
        r":9: links\[0\].rate: a link with `end` has this in its stages: leave it out here",
    ),
    "a queue beside stages": (
        'to = "isp"\n[[',
        'to = "isp"\nqueue = "fifo"\n[[',
        r":9: links\[0\].queue: a link with `end` has this in its stages",
    ),
    "two stages of one name": (
        'name = "turns"',
        'name = "sqm"',
        r":22: links\[0\].end\[1\].name: two stages are called 'sqm': rename one",
    ),
    "an unknown kind": (
        'kind = "prio"',
        'kind = "pro"',
        r"end\[1\]: write a table whose kind is one of 'queue', 'htb', 'prio', 'drr', 'ring'",
    ),
    "an unknown key of a class": (
        'quantum = "3 kB"',
        'quantm = "3 kB"',
        r":18: .*inner.classes\[1\].quantm: unknown key .*Did you mean 'quantum'\?",
    ),
    "a stage below a ring": (
        '[[links]]\nname = "down"',
        '[[links.end]]\nname = "more"\nkind = "queue"\nrate = "1 Mbit/s"\nqueue = "fifo"\n'
        '[[links]]\nname = "down"',
        r":29: links\[0\].end\[2\]: a ring is at the wire: make it the last stage",
    ),
    "a ring above all": (
        '[[links.end]]\nname = "sqm"',
        '[[links.end]]\nname = "r"\nkind = "ring"\npackets = 1\nrate = "1 Mbit/s"\n'
        '[[links.end]]\nname = "sqm"',
        r":9: links\[0\].end\[0\]: a ring takes packets from the stage above: put one before it",
    ),
    "priorities without a ring": (
        '[[links.end]]\nname = "line"\nkind = "ring"\npackets = 9\nrate = "9 Mbit/s"\n',
        "",
        r":21: .*end\[1\]: 'prio' has no pace of its own: put a ring directly below it",
    ),
    "two stages without a pace": (
        '[[links.end]]\nname = "line"',
        '[[links.end]]\nname = "t2"\nkind = "drr"\ndefault = "x"\nclasses = [{ name = "x", '
        'queue = "fifo" }]\n[[links.end]]\nname = "line"',
        r":21: .*end\[1\]: 'prio' has no pace of its own: put a ring directly below it",
    ),
    "a queue without a rate": (
        '[[links.end]]\nname = "turns"',
        '[[links.end]]\nname = "q"\nkind = "queue"\nqueue = "fifo"\n[[links.end]]\nname = "turns"',
        r":21: .*end\[1\].rate: is missing: give a rate or a medium, or put a ring directly below",
    ),
    "a queue with a rate above a ring": (
        '[[links.end]]\nname = "line"',
        '[[links.end]]\nname = "q"\nkind = "queue"\nqueue = "fifo"\nrate = "1 Mbit/s"\n'
        '[[links.end]]\nname = "line"',
        r":33: .*end\[2\].rate: the ring below has the rate: leave this out, or use 'htb'",
    ),
    "an unknown parent": (
        'name = "voice", parent = "line"',
        'name = "voice", parent = "lime"',
        r":15: .*classes\[1\].parent: there is no class 'lime'. Did you mean 'line'\?",
    ),
    "a circle of parents": (
        '{ name = "line", rate',
        '{ name = "line", parent = "voice", rate',
        r":14: .*classes\[0\].parent: a circle: 'line' in 'voice' in 'line': leave one parent out",
    ),
    "a parent with a queue": (
        'rate = "9 Mbit/s" },',
        'rate = "9 Mbit/s", queue = "fifo" },',
        r":14: .*classes\[0\].queue: 'line' has children, and holds no packets: leave this out",
    ),
    "a parent with a match": (
        'rate = "9 Mbit/s" },',
        'rate = "9 Mbit/s", match = [{ dscp = 3 }] },',
        r":14: .*classes\[0\].match: 'line' has children, and holds no packets",
    ),
    "a leaf without a queue": (
        ', queue = "pie"',
        "",
        r":15: .*classes\[1\]: 'voice' has no children: give it a `queue` or an `inner`",
    ),
    "a queue and an inner": (
        "inner = {",
        'queue = "pie", inner = {',
        r":16: .*classes\[2\].inner: a class has a `queue` or an `inner`: leave one out",
    ),
    "a test of an inner": (
        "inner = {",
        "tested = true, inner = {",
        r":16: .*classes\[2\].tested: goes with a `queue`: give it to a class inside",
    ),
    "a class that is its own parent": (
        'name = "voice", parent = "line"',
        'name = "voice", parent = "voice"',
        r":15: .*classes\[1\].parent: a circle: 'voice' in 'voice': leave one parent out",
    ),
    "a burst of no bytes": (
        'rate = "1 Mbit/s", match',
        'rate = "1 Mbit/s", cburst = "0 B", match',
        r":15: .*classes\[1\].cburst: tc takes no bytes for its own default: give at least 1 B",
    ),
    "a bucket that lets no full packet through": (
        '[[links.end]]\nname = "turns"',
        '[[links.end]]\nname = "q"\nkind = "queue"\nqueue = "fifo"\nrate = "1 Mbit/s"\n'
        'shaper = "tbf"\nburst = "1500 B"\n[[links.end]]\nname = "turns"',
        r":27: .*end\[1\].burst: 1500 is less than a full packet: give 1514 bytes or more",
    ),
    "a node off the way": (
        'match = [{ flows = "calls" }]',
        'match = [{ via = "spur" }]',
        r":17: .*match\[0\].via: no packet of this link passes 'spur': leave it out",
    ),
    "an end of another way": (
        'match = [{ flows = "calls" }]',
        'match = [{ from = "isp" }]',
        r":17: .*match\[0\].from: no packet of this link comes from 'isp': leave it out",
    ),
    "a group that goes elsewhere": (
        'match = [{ flows = "calls" }]',
        'match = [{ flows = "others" }]',
        r":17: .*match\[0\].flows: no packet of this link belongs to 'others': leave it out",
    ),
    "a responder behind no route": (
        'queue = "pie"',
        'queue = "asqm", responder = "spur"',
        r":15: .*classes\[1\].responder: no way leads from 'spur' to 'home', but this queue's "
        r"algorithm probes: name another responder",
    ),
    "a ceiling below the rate": (
        'rate = "1 Mbit/s", match',
        'rate = "1 Mbit/s", ceil = "1 kbit/s", match',
        r":15: .*classes\[1\].ceil: 1 kbit/s is below the rate, 1 Mbit/s: raise it",
    ),
    "a later ceiling below the rate": (
        'rate = "1 Mbit/s", match',
        'rate = "1 Mbit/s", ceil = "2 Mbit/s", schedule = [{ at = "1 s", rate = "3 Mbit/s" }], '
        "match",
        r":15: .*schedule\[0\]: the ceiling, 2 Mbit/s, is below the rate, 3 Mbit/s: give a `ceil`",
    ),
    "a schedule out of order": (
        'rate = "1 Mbit/s", match',
        'rate = "1 Mbit/s", schedule = [{ at = "2 s", rate = "3 Mbit/s" }, '
        '{ at = "1 s", rate = "3 Mbit/s" }], match',
        r":15: .*schedule\[1\].at: 1 s is not later than the step before: put the steps in order",
    ),
    "a turn of no bytes": (
        'quantum = "3 kB"',
        'quantum = "0 B"',
        r":18: .*classes\[1\].quantum: a turn of no bytes never sends: give at least 1 B",
    ),
    "two classes of one name": (
        'name = "b"',
        'name = "voice"',
        r":18: .*inner.classes\[1\].name: two classes of 'sqm' are called 'voice': rename one",
    ),
    "an unknown default": (
        'default = "low"',
        'default = "lo"',
        r":24: .*end\[1\].default: there is no class 'lo'. Did you mean 'low'\?",
    ),
    "a default that is no leaf": (
        'default = "rest"',
        'default = "line"',
        r":12: .*end\[0\].default: 'line' has children, and holds no packets.",
    ),
    "a class that nothing reaches": (
        'default = "low"\n',
        "",
        r"bands\[1\]: no packet comes to 'low': give it a `match`, or make it the `default`",
    ),
    "an entry without a key": (
        '{ via = "isp" }',
        "{}",
        r":26: .*match\[0\]: fits no packet: give it a key, such as dscp or flows",
    ),
    "an entry of nothing": (
        'via = "isp"',
        "via = []",
        r":26: .*match\[0\].via: an empty list fits no packet: leave it out",
    ),
    "an unknown node": (
        'via = "isp"',
        'via = "ips"',
        r":26: .*match\[0\].via: there is no node 'ips'. Did you mean 'isp'\?",
    ),
    "an unknown group": (
        'flows = "calls"',
        'flows = "call"',
        r":17: .*match\[0\].flows: there is no group of flows 'call'. Did you mean 'calls'\?",
    ),
    "an unknown mark": (
        'dscp = "ef"',
        'dscp = "af5"',
        r":15: .*match\[0\].dscp: there is no DSCP 'af5'.",
    ),
    "a mark out of range": (
        'dscp = "ef"',
        "dscp = [64]",
        r":15: .*match\[0\].dscp\[0\]: 64 is no DSCP: write a name such as 'ef', or a number",
    ),
    "an unknown transport": (
        'dscp = "ef"',
        'transport = "sctp"',
        r":15: .*match\[0\].transport: 'sctp' is not a choice; allowed: 'tcp', 'udp' or 'probe'",
    ),
    "an unknown responder": (
        'queue = "pie"',
        'queue = "pie", responder = "isb"',
        r":15: .*classes\[1\].responder: there is no node 'isb'. Did you mean 'isp'\?",
    ),
    "a limit that is a word": (
        "packets = 9",
        'packets = 9\nbql = "yes"',
        r":33: .*end\[2\].bql: 'yes' is neither true, a limit that adapts, nor false, nor a size",
    ),
    "a limit without a unit": (
        "packets = 9",
        "packets = 9\nbql = 9000",
        r":33: .*end\[2\].bql: 9000 is neither true, a limit that adapts, nor false, nor a size",
    ),
    "a limit that is too large": (
        "packets = 9",
        'packets = 9\nbql = "5 GB"',
        r":33: .*end\[2\].bql: 5 GB is outside 0 B to 4.294967295 GB",
    ),
    "a limit in the wrong unit": (
        "packets = 9",
        'packets = 9\nbql = "5 ms"',
        r":33: .*end\[2\].bql: '5 ms'",
    ),
    "a limit of nothing": (
        "packets = 9",
        'packets = 9\nbql = "0 B"',
        r":33: .*end\[2\].bql: a limit of no bytes: write false for none, or true for one that",
    ),
    "a ring without a rate": (
        'packets = 9\nrate = "9 Mbit/s"',
        "packets = 9",
        r":29: links\[0\].end\[2\].rate: is missing",
    ),
    "a record twice": (
        'queues = ["up"]',
        'queues = ["up", "up"]',
        r":54: record.queues\[1\]: 'up' is there twice",
    ),
    "an unknown record": (
        'queues = ["up"]',
        'queues = ["up/sqm/voic"]',
        r":54: record.queues\[0\]: there is no link, stage or class 'up/sqm/voic'. Did you mean "
        r"'up/sqm/voice'\?",
    ),
    "a name of two things": (
        'name = "down"',
        'name = "up/sqm/voice"',
        r":15: .*classes\[1\].name: results would have two 'up/sqm/voice': rename one",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_stages_has_its_line_and_a_remedy(name: str) -> None:
    right, wrong, sentence = MISTAKES[name]
    assert right in TEXT
    with pytest.raises(InputError) as caught:
        loads(TEXT.replace(right, wrong, 1))
    lines = str(caught.value).splitlines()
    assert any(re.search(sentence, line) for line in lines), lines


def test_the_text_without_a_mistake_is_a_scenario() -> None:
    assert loads(TEXT).links[0].end


def chain(levels: int) -> str:
    """Write classes below each other."""
    names = ["line", *(f"c{i}" for i in range(levels - 2)), "voice"]
    lines = [
        f'    {{ name = "{name}", parent = "{parent}", rate = "1 Mbit/s" }},\n'
        for parent, name in pairwise(names[:-1])
    ]
    classes = 'rate = "9 Mbit/s" },\n'
    text = TEXT.replace(classes, classes + "".join(lines))
    return text.replace(
        'name = "voice", parent = "line"', f'name = "voice", parent = "{names[-2]}"'
    )


def test_eight_classes_are_below_each_other_and_no_more() -> None:
    assert loads(chain(8))
    with pytest.raises(InputError, match="9 classes below each other; allowed: up to 8"):
        loads(chain(9))
    # The deepest may come first.
    leaf, rest = re.search(r".*voice.*\n", chain(12)), chain(12)
    assert leaf
    first = 'classes = [\n    { name = "line"'
    moved = rest.replace(leaf[0], "").replace(first, first.replace("[\n", f"[\n{leaf[0]}"))
    with pytest.raises(InputError, match="12 classes below each other; allowed: up to 8"):
        loads(moved)


def many_stages() -> str:
    more = "".join(
        f'[[links.end]]\nname = "s{i}"\nkind = "queue"\nrate = "1 Mbit/s"\nqueue = "fifo"\n'
        for i in range(6)
    )
    return TEXT.replace("[[links.end]]\n", f"{more}[[links.end]]\n", 1)


def many(bands: int) -> str:
    band = '    { name = "low", queue = "fifo" },\n'
    more = '    { name = "NAME", match = [{ dscp = 1 }], queue = "fifo" },\n'
    others = [more.replace("NAME", str(i)) for i in range(bands)]
    return TEXT.replace(band, "".join([*others, band]))


def nested(depths: int = 9) -> str:
    inner = '{ name = "low", queue = "fifo" }'
    for depth in range(depths):
        inner = (
            f'{{ name = "n{depth}", match = [{{ dscp = 1 }}], '
            f'inner = {{ kind = "drr", classes = [{inner}] }} }}'
        )
    return TEXT.replace(
        '{ name = "low", queue = "fifo" },', f'{inner},\n{{ name = "low", queue = "fifo" }},'
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (many_stages, "links[0].end: 9 stages; allowed: up to 8"),
        (lambda: many(4096), "links[0].end: 4103 classes; allowed: up to 4096 at an end"),
        (lambda: many(15), "bands: 17 bands; allowed: up to 16"),
        (nested, "a discipline inside more than 8 others: leave the last out"),
    ],
)
def test_an_end_has_bounds(text: Callable[[], str], sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        loads(text())


def test_disciplines_too_deep_inside_each_other_are_one_mistake() -> None:
    with pytest.raises(InputError) as caught:
        loads(nested(12))
    assert str(caught.value).count("a discipline inside more than 8 others") == 1


def test_a_mistake_in_one_stage_hides_none_in_a_route() -> None:
    text = TEXT.replace('name = "turns"', 'name = "sqm"').replace('queues = ["up"]', "")
    text = text.replace('name = "calls"', 'name = "calls"\npath = ["down"]')
    with pytest.raises(InputError) as caught:
        loads(text)
    places = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert places == ["links[0].end[1].name", "flows[0].path", "flows[0].path[0]"]


def test_packets_that_no_class_takes_are_refused_at_the_line_of_the_stage() -> None:
    text = TEXT.replace('default = "low"\n', "").replace(
        '{ name = "low",', '{ name = "low", match = [{ dscp = 9 }],'
    )
    text = text.replace("match = [{ via", "match = [{ dscp = 8, via")
    with pytest.raises(
        InputError, match=r":21: links\[0\].end\[1\]: no class takes the packets of"
    ):
        loads(text)
