# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Trees at a link's end under datagrams, and the rates that Linux gave their classes.

A group of flows for each class sends at a steady rate; a class without a group is idle. The rates
are those of frames of 1,514 bytes in the window. data/trees.toml holds what
`python -m tests.linux.record_trees` printed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.scenario import Scenario
from sojourn.scenario.toml import validate

RECORDED = Path(__file__).with_name("data") / "trees.toml"
FRAME_BYTES, PAYLOAD_BYTES = 1514, 1472

Table = dict[str, Any]
# A group that sends nothing in the run would be measured too. So idle classes ask for a mark that
# no packet has.
_IDLE = {"dscp": "cs7"}


@dataclass(frozen=True)
class Case:
    """A tree, and the Mbit/s that each class is offered."""

    end: Sequence[Table]
    offered: Mapping[str, float]
    windows: Sequence[tuple[float, float]] = ((2, 10),)

    def scenario(self) -> Scenario:
        """Make the scenario: all groups come by one fast link, not in step with each other."""
        end_s = self.windows[-1][1]
        links = [
            {"name": "access", "from": "a", "to": "r", "rate": "1 Gbit/s"},
            {"name": "tree", "from": "r", "to": "b", "end": list(self.end)},
            {"name": "back", "from": "b", "to": "a", "delay": "10 ms"},
        ]
        data = {
            "format": 2,
            "name": "tree",
            "duration": f"{end_s} s",
            "nodes": ["a", "r", "b"],
            "links": links,
            "flows": [_group(name, mbps) for name, mbps in self.offered.items()],
            "record": {
                "queues": ["tree"],
                "windows": [
                    {"name": f"w{i}", "from": f"{first} s", "to": f"{last} s"}
                    for i, (first, last) in enumerate(self.windows)
                ],
            },
        }
        return validate(data, source="a tree")


def _group(name: str, mbps: float) -> Table:
    rate = round(mbps * 1e3 * PAYLOAD_BYTES / FRAME_BYTES)
    return {
        "name": name,
        "from": "a",
        "to": "b",
        "transport": "udp",
        "app": {"kind": "cbr", "rate": f"{rate} kbit/s", "payload": f"{PAYLOAD_BYTES} B"},
        "start_spread": "10 ms",
    }


def frames_mbps(report: Mapping[str, Any]) -> dict[str, list[float]]:
    """Read what each group's class has sent: Mbit/s in each window."""
    rates: dict[str, list[float]] = {}
    for window in report["transport"]:
        for group in window["groups"]:
            mbps = group["goodput_mbps"] * FRAME_BYTES / PAYLOAD_BYTES
            rates.setdefault(group["name"], []).append(round(mbps, 3))
    return rates


def fifo(limit: int = 200) -> Table:
    return {"algorithm": "fifo", "limit": limit}


def parent(name: str, rate: float, above: str | None = None, **keys: Any) -> Table:
    table = {"name": name, "rate": f"{rate} Mbit/s", "quantum": "1514 B", **keys}
    return table | {"parent": above} if above else table


def leaf(name: str, rate: float, above: str | None = None, **keys: Any) -> Table:
    table = {"match": [{"flows": name}], "queue": fifo(), **keys}
    return parent(name, rate, above, **table)


def htb(*classes: Table) -> Table:
    return {"name": "tree", "kind": "htb", "classes": list(classes)}


def ring(rate: float, packets: int = 1, bql: bool | str = False) -> Table:
    rates = {"rate": f"{rate} Mbit/s", "packets": packets, "bql": bql}
    return {"name": "line", "kind": "ring", **rates}


def two_groups(
    offered: Mapping[str, float], root: float = 24, ceil: float | None = 24, **of: Table
) -> Table:
    """A of 16 over A1 and A2 of 10 and 6; B of 8 over B1 and B2 of 5 and 3. A quantum of 0 is none,
    and `of` has keys of single classes."""
    above: Table = {"ceil": f"{ceil} Mbit/s"} if ceil else {}

    def one(name: str, rate: float, parent_name: str) -> Table:
        keys = {**above, **of.get("each", {}), **of.get(name, {})}
        if name not in offered:
            keys["match"] = [_IDLE]
        return _plain(leaf(name, rate, parent_name, **keys))

    every = of.get("each", {})
    return htb(
        _plain(parent("root", root, **every)),
        _plain(parent("A", 16, "root", **above, **every)),
        _plain(parent("B", 8, "root", **above, **every)),
        one("A1", 10, "A"),
        one("A2", 6, "A"),
        one("B1", 5, "B"),
        one("B2", 3, "B"),
    )


def _plain(table: Table) -> Table:
    return {key: value for key, value in table.items() if value is not None}


def flat(root: float | None, offered: Mapping[str, float]) -> Table:
    """Three classes of 8 up to 16 below a root, or one of them alone."""
    above, names = (None, ["m1"]) if root is None else ("root", ["m1", "m2", "m3"])
    match = {name: [{"flows": name} if name in offered else _IDLE] for name in names}
    keys = {"ceil": "16 Mbit/s", "queue": fifo(1000)}
    leaves = [leaf(name, 8, above, match=match[name], **keys) for name in names]
    return htb(*([parent("root", root)] if root else []), *leaves)


def _in_two(offered: Mapping[str, float], **keys: Any) -> Case:
    return Case([two_groups(offered, **keys)], offered)


def _in_flat(root: float | None, *names: str) -> Case:
    offered = dict.fromkeys(names, 20.0)
    return Case([flat(root, offered)], offered)


FULL = dict.fromkeys(("A1", "A2", "B1", "B2"), 36.0)
# 150 % of each class's own rate.
MORE = {"A1": 15.0, "A2": 9.0, "B1": 7.5, "B2": 4.5}
DEFAULT = {"quantum": None}


def only(*names: str, of: Mapping[str, float] = FULL) -> dict[str, float]:
    return {name: of[name] for name in names}


def _stage_below() -> Case:
    # In turns: which of several steady groups gets into a full queue is chance.
    queue = fifo(100) | {"flows": 1024}
    below = {"name": "modem", "kind": "queue", "rate": "12 Mbit/s", "queue": queue}
    return Case([two_groups(MORE), below], MORE)


def _later_rates() -> Case:
    steps = [{"at": "6 s", "rate": "4 Mbit/s"}, {"at": "10 s", "rate": "10 Mbit/s"}]
    tree = two_groups(MORE, ceil=None, A1={"schedule": steps, "ceil": None})
    return Case([tree], MORE, ((2, 6), (6.5, 10), (10.5, 14)))


def _bands() -> Case:
    bands = [{"name": n, "match": [{"flows": n}], "queue": fifo(100)} for n in ("a", "b", "c")]
    stage = {"name": "bands", "kind": "prio", "bands": bands}
    return Case([stage, ring(15)], dict.fromkeys(("a", "b", "c"), 10.0))


def _turns() -> Case:
    classes = [
        {"name": "a", "quantum": "3028 B", "match": [{"flows": "a"}], "queue": fifo(100)},
        {"name": "b", "quantum": "1514 B", "match": [{"flows": "b"}], "queue": fifo(100)},
        {"name": "c", "queue": fifo(100)},
    ]
    stage = {"name": "turns", "kind": "drr", "default": "c", "classes": classes}
    return Case([stage, ring(15)], {"a": 20.0, "b": 20.0, "c": 2.0})


def _inside() -> Case:
    bands = [
        {"name": "first", "match": [{"flows": "first"}], "queue": fifo(50)},
        {"name": "last", "queue": fifo(50)},
    ]
    y = parent("y", 12, "root", ceil="20 Mbit/s", match=[{"flows": ["first", "last"]}])
    y["inner"] = {"kind": "prio", "default": "last", "bands": bands}
    tree = htb(parent("root", 20), leaf("x", 8, "root", ceil="20 Mbit/s"), y)
    return Case([tree], {"x": 12.0, "first": 8.0, "last": 8.0})


CASES: dict[str, Case] = {
    "all classes full": _in_two(FULL),
    "A1 idle": _in_two(only("A2", "B1", "B2")),
    "B idle": _in_two(only("A1", "A2")),
    "B idle, default quantum": _in_two(only("A1", "A2"), each=DEFAULT),
    "B idle, A1 of lower priority": _in_two(only("A1", "A2"), A1={"prio": 1}),
    "all full, B1 of lower priority": _in_two(FULL, B1={"prio": 1}),
    "children above their parent": _in_flat(21, "m1", "m2", "m3"),
    "a parent above its children": _in_flat(48, "m1", "m2", "m3"),
    "one of three idle": _in_flat(24, "m1", "m2"),
    "a class without a parent": _in_flat(None, "m1"),
    "150 %, no borrowing": _in_two(MORE, ceil=None),
    "150 %, a root of 30": _in_two(MORE, root=30, ceil=30),
    "150 %, a root of 30, default quantum": _in_two(MORE, root=30, ceil=30, each=DEFAULT),
    "150 %, a root of 18": _in_two(MORE, root=18, ceil=18),
    "150 %, four priorities": _in_two(
        MORE, root=30, ceil=30, A1={"prio": 3}, A2={"prio": 2}, B1={"prio": 1}, B2={"prio": 0}
    ),
    "150 %, A1 and B1 idle": _in_two(only("A2", "B2", of=MORE)),
    "150 %, bursts of 10 packets": _in_two(MORE, each={"burst": "15140 B", "cburst": "15140 B"}),
    "a rate that changes": _later_rates(),
    "a slower stage below": _stage_below(),
    "bands above a ring": _bands(),
    "turns above a ring": _turns(),
    "bands in a class": _inside(),
}


def recorded() -> dict[str, dict[str, list[float]]]:
    """Read the rates that Linux gave: by case and class, in each window."""
    cases: dict[str, dict[str, list[float]]] = tomllib.loads(RECORDED.read_text())["mbps"]
    return cases
