# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""A mistake in a shorthand is named where the file has it, though the engine sees a graph."""

from __future__ import annotations

import pytest
from sojourn.core.errors import InputError
from sojourn.scenario import loads

from tests.test_shorthands import LOT, OCEAN

_LATER = '{ at = "1 s", rtt = "9 ms" }'
# What is changed, what to, and the answer behind "dumbbell.", with its line.
OF_DUMBBELL = [
    ('"M"', '"N"', "18: receivers[0].name: the name 'N' is taken"),
    ('"M"', '"N 2"', "18: receivers[0].name: the name 'N 2' is taken"),
    ('"M"', '"router"', "18: receivers[0].name: the name 'router' is taken"),
    ('"M"', '"N 1 back"', "18: receivers[0].name: the name 'N 1 back' is taken"),
    ("count = 3", "count = 0", "13: senders[0].count: 0 is too small"),
    (
        "count = 3",
        "count = 30000",
        "13: senders[0].count: 30000 is too large; allowed",
    ),
    ('["0 ms", "12 ms", "25 ms"]', "[]", "15: senders[0].delay: a list of no times"),
    ('["0 ms", "12 ms", "25 ms"]', "5", "15: senders[0].delay: 5 has no unit"),
    (
        '"12 ms"',
        '"12 m"',
        "15: senders[0].delay[1]: '12 m': 'm' is a prefix without a unit; write ms or min",
    ),
    ('"12 ms"', '"34560000 s"', "15: senders[0].delay: 34560000 s is more than"),
    ("count = 90", "count = 90\nfirst_pair = 10", "26: flows[0].first_pair: 10; allowed: 1 to 9"),
    ("count = 90", "count = 90\nstart = []", "26: flows[0].start: a list of no times"),
    ("count = 90", "count = 90\nfirst_pair = 0", "26: flows[0].first_pair: 0 is too small"),
    ('"receivers"', '"recievers"', "30: flows[1].from: there is no node 'recievers'. Did you"),
    ('"receivers"', '"N 2"\nto = "N 3"', "31: flows[1].to: 'N 2' and 'N 3' are at one side"),
    (
        'rate = "100 Mbit/s", queue = { limit = 90 }',
        'queue = "pie"',
        "9: back.queue: nothing",
    ),
    (
        '= { rate = "100 Mbit/s"',
        '= { rate = "1 bit/s"',
        "9: back.rate: 1 bit/s is outside 8 bit/s to",
    ),
    ('"ftp"', f'"{"f" * 76}"', "24: flows[0].name: '"),
    (
        "count = 90",
        'count = 90\nrtt = "140 ms"',
        "26: flows[0].rtt: 140 ms is less than",
    ),
    (
        'rtt = "130 ms"',
        f'rtt = "130 ms"\nrtts = [{_LATER}, {_LATER}]',
        "8: rtts[1].at: '1 s' is not",
    ),
    ('rtt = "130 ms"', 'rtt = "130 ms"\nrtts = [{ at = "1 s" }]', "8: rtts[0].rtt: is missing"),
    (
        'rtt = "130 ms"',
        'rtt = "130 ms"\nrtts = [{ at = "1 s", rtt = "345600000 s" }]',
        "8: rtts[0].rtt: 172800000 s is more than",
    ),
    ("count = 90", 'count = 90\nrtt = ["1 s", "1 ms"]', "26: flows[0].rtt: 1 ms is less than"),
]
OF_LOT = [
    ('"each"', '"every"', "21: flows[1].over: 'every' is neither 'all', 'each' nor the numbers"),
    ('"each"', "[1, 4]", "21: flows[1].over: [1, 4] is outside the hops 1 to 3"),
    ('"each"', "[0]", "21: flows[1].over: [0] is neither"),
    ("count = 3", "count = 3000", "9: hops[0].count: 3000 is too large; allowed: up to 1000"),
    ('"1 Mbit/s"', '"1 Mb"', "10: hops[0].rate: '1 Mb': 'Mb' may be bits or bytes"),
    ('"20 ms"', '"34560000 s"', "11: hops[0].delay: 34560000 s is more than"),
    (
        'delay = "20 ms"',
        f'delay = "20 ms"\ndelays = [{_LATER}, {_LATER}]'.replace("rtt", "delay"),
        "12: hops[0].delays[1].at: '1 s' is not later",
    ),
    ("limit = 100", "limit = 0", "12: hops[0].aqm.limit: 0 is out of range"),
    ('rate = "10 Mbit/s"', 'queue = "red"', "6: edges.queue: nothing waits before a link"),
    ("parking_lot.hops", "parking_lot.hop", "8: hop: unknown key"),
    ('over = "each"', 'from = "sender 1"', "21: flows[1].from: unknown key"),
]
CASES = [
    *((OCEAN, "dumbbell", *case) for case in OF_DUMBBELL),
    *((LOT, "parking_lot", *case) for case in OF_LOT),
]


@pytest.mark.parametrize(("text", "key", "wrong", "right", "answer"), CASES)
def test_a_mistake_is_named_where_the_shorthand_has_it(
    text: str, key: str, wrong: str, right: str, answer: str
) -> None:
    assert wrong in text
    line, sentence = answer.split(": ", 1)
    with pytest.raises(InputError) as caught:
        loads(text.replace(wrong, right, 1))
    assert f"<text>:{line}: {key}.{sentence}" in str(caught.value)


def test_a_scenario_has_one_network() -> None:
    lot = '[parking_lot]\nhops = [{ rate = "1 Mbit/s" }]\n'
    with pytest.raises(InputError, match=r":33: parking_lot: a scenario has one network, and"):
        loads(OCEAN + lot)
    with pytest.raises(InputError, match=r":3: nodes: a scenario is either a \[parking_lot\] or a"):
        loads(LOT.replace("duration", 'nodes = ["a"]\nduration', 1))


def test_more_pairs_than_a_graph_can_hold_are_refused() -> None:
    crowd = OCEAN.replace("count = 3", "count = 3000").replace("count = 90", "count = 100000")
    with pytest.raises(InputError, match=r":25: .*flows\[0\]\.count: 100000 pairs of nodes"):
        loads(crowd)


def test_a_misspelt_table_is_the_only_fault_where_it_has_the_missing_keys() -> None:
    text = OCEAN.replace("[dumbbell]", "[dumbell]")
    line = text.split("\n").index("[dumbell]") + 1
    with pytest.raises(InputError, match=rf"^<text>:{line}: dumbell: .* mean 'dumbbell'\?$"):
        loads(text)
    text = text.replace('rtt = "130 ms"\n', "")
    with pytest.raises(InputError, match=rf"^<text>:{line}: dumbell: (?s:.*)dumbbell.rtt: is mis"):
        loads(text)


def test_flows_outside_their_shorthand_have_one_reason() -> None:
    text = OCEAN.replace("[[dumbbell.flows]]", "[[flows]]")
    line = text.split("\n").index("[[flows]]") + 1
    with pytest.raises(InputError) as caught:
        loads(text)
    (sentence,) = [s for s in str(caught.value).split("\n") if ": flows" in s]
    assert sentence.startswith(f"<text>:{line}: flows: a scenario is either")
    assert sentence.endswith("flows of a [dumbbell] are [[dumbbell.flows]]")
