# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Like nodes of a network, which a picture draws once, and names with numbers in short.

Nodes are alike if they differ by the number in their names alone: `host 1` and `host 2` have links
of the same keys, to the same node or to nodes of their own numbers.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Two nodes are easier to read as two.
LEAST = 3
# Above so many boxes, nodes that differ by the delay of their links are drawn once, too.
_MOST_BOXES = 24
_NUMBERED = re.compile(r"^(.*?)(\d+)$")
# Texts of a link that are no names of parts of the network.
_WORDS = ("algorithm", "kind", "shaper", "linklayer", "probe", "opportunity", "distribution")


def number_of(name: str) -> str:
    """Return the number at the end of a name; empty where there is none."""
    match = _NUMBERED.match(name)
    return match[2] if match else ""


def spans(names: Iterable[str]) -> list[str]:
    """Write names in short: `host 1`, `host 2` and `host 3` are `host 1…3`."""
    numbers: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        number = number_of(name)
        if number and str(int(number)) == number:
            numbers.setdefault(name.removesuffix(number), []).append(number)
        else:
            numbers[name] = []
    return [base + runs(of_base) for base, of_base in numbers.items()]


def runs(numbers: Iterable[str]) -> str:
    """Write numbers in short: 1, 2, 3 and 5 are `1…3, 5`."""
    pairs: list[list[int]] = []
    for number in sorted(map(int, set(numbers))):
        if pairs and pairs[-1][1] == number - 1:
            pairs[-1][1] = number
        else:
            pairs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}{', ' if b == a + 1 else '…'}{b}" for a, b in pairs)


def renumbered(value: Any, number: str, text: str) -> Any:
    """Replace the number in all names of a table by another text."""
    if isinstance(value, str):
        return re.sub(rf"(?<!\d){number}(?!\d)", text, value) if number else value
    if isinstance(value, list | tuple):
        return [renumbered(item, number, text) for item in value]
    if isinstance(value, Mapping):
        return {k: v if k in _WORDS else renumbered(v, number, text) for k, v in value.items()}
    return value


def starred(value: Any, number: str) -> Any:
    """Replace the number by a star, which is the same for all numbers."""
    return renumbered(value, number, "*")


def fold(scenario: Mapping[str, Any]) -> dict[str, list[str]]:
    """Group the nodes that are drawn once: lists of names, each by its first."""
    exact = _fold(scenario, ())
    return exact if len(exact) <= _MOST_BOXES else _fold(scenario, ("delay",))


def _fold(scenario: Mapping[str, Any], free: Sequence[str]) -> dict[str, list[str]]:
    """Group the nodes whose links have the same keys; those named in `free` may differ."""
    nodes = scenario["nodes"]
    number = {name: number_of(name) for name in nodes}
    recorded = set(scenario["record"]["queues"])
    around: dict[str, list[tuple[bool, str, str]]] = defaultdict(list)
    for link in scenario["links"]:
        keys = {k: v for k, v in link.items() if k not in ("from", "to", *free)}
        keys["measured"] = [q for q in recorded if q == link["name"] or _is_below(q, link["name"])]
        for end, other in (("from", "to"), ("to", "from")):
            text = json.dumps(starred(keys, number[link[end]]), sort_keys=True)
            around[link[end]].append((end == "from", text, link[other]))
    alone: set[str] = set()
    while True:
        group = _refine(nodes, number, around, alone)
        odd = {
            name
            for name in nodes
            if len(group[name]) > 1
            for _, _, other in around[name]
            if len(group[other]) > 1
            and (number[other] != number[name] or len(group[other]) != len(group[name]))
        }
        odd |= {name for name in nodes if 1 < len(group[name]) < LEAST}
        if not odd:
            return {names[0]: names for names in group.values()}
        alone |= {other for name in odd for other in group[name]}


def _is_below(queue: str, link: str) -> bool:
    return queue.startswith(f"{link}/")


def _refine(
    nodes: Sequence[str],
    number: Mapping[str, str],
    around: Mapping[str, Sequence[tuple[bool, str, str]]],
    alone: set[str],
) -> dict[str, list[str]]:
    """Split groups of equal names until the links of all members lead to the same groups."""

    def first(name: str) -> str:
        is_alone = name in alone or not number[name]
        return f"one {name}" if is_alone else f"all {name.removesuffix(number[name])}"

    key: dict[str, Any] = {name: first(name) for name in nodes}
    while True:
        finer = {
            name: (
                key[name],
                tuple(sorted((is_from, text, key[other]) for is_from, text, other in around[name])),
            )
            for name in nodes
        }
        numbers = {value: i for i, value in enumerate(dict.fromkeys(finer.values()))}
        is_done = len(numbers) == len(set(key.values()))
        key = {name: f"{numbers[finer[name]]:09d}" for name in nodes}
        if is_done:
            groups: dict[str, list[str]] = defaultdict(list)
            for name in nodes:
                groups[key[name]].append(name)
            return {name: groups[key[name]] for name in nodes}
