# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""The queues under test: those with `tested = true`, and without any, those that are recorded. They
are found in a scenario, and in the data of a TOML file before any model reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sojourn import algorithms
from sojourn.core.errors import nearest
from sojourn.scenario.links import TESTED
from sojourn.scenario.shorthand import SHORTHANDS

if TYPE_CHECKING:
    from sojourn.scenario.model import Scenario

# Keys that make packets take time at a link; only then is its queue measured.
TIMED = {"rate", "trace"}
# The keys of a queue in the table of its link or bottleneck.
QUEUES = ("aqm", "queue")
_BACK = " back"


def shorthand_of(data: Mapping[str, Any]) -> str | None:
    """Return the key of the network's shorthand, or None."""
    return next((key for key in SHORTHANDS if isinstance(data.get(key), dict)), None)


def queues_under_test(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Find the tables of the queues with `tested = true`; without any, find those of the recorded
    queues. Where none is named, these are all queues of a graph that take time, or the bottlenecks
    of a shorthand."""
    short = shorthand_of(data)
    said = list(_saying_so(data[short] if short else {"links": data.get("links")}))
    if said:
        return [_as_table(*place) for place in said]
    recorded = _recorded(data)
    if short:
        return [_as_table(*place) for place in _of_shorthand(data[short], short, recorded)]
    links = [link for link in listed(data.get("links")) if isinstance(link, dict)]
    if recorded:
        chosen = [link for link in links if link.get("name") in recorded]
    else:
        chosen = [link for link in links if link.keys() & TIMED]
    return [_as_table(link, "queue") for link in chosen]


def under_test(scenario: Scenario, graph: Scenario) -> list[str]:
    """Name the links whose queues are under test; `graph` is the scenario written out."""
    said = [link.name for link in graph.links if link.queue.tested]
    recorded = list(graph.record.queues)
    if said or not scenario.shorthand:
        return said or recorded
    from sojourn.scenario.lay import lay

    laid = lay(scenario.shorthand)
    return [name for name in recorded if name in {*laid.tested, *laid.ways_back}] or laid.tested


def _saying_so(at: object) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield tables, and the keys of their queues with `tested = true`."""
    if isinstance(at, list):
        for entry in at:
            if isinstance(entry, dict):
                yield from _saying_so(entry)
    elif isinstance(at, dict):
        for key, value in at.items():
            if key in QUEUES:
                if isinstance(value, dict) and value.get(TESTED) is True:
                    yield at, key
            elif key != "flows" and isinstance(value, dict | list):
                yield from _saying_so(value)


def called(entries: list[dict[str, Any]], key: str) -> list[str]:
    """Name the entries of a list for the key of a `--set`. An entry has its own name, and a table
    of one hop that of its link. A flow without a name is 'flow'; others have their numbers."""
    if _is_of_hop(key):
        return [
            names[0] if len(names) == 1 else str(number)
            for number, names in enumerate(_hops(entries))
        ]
    of_flows = "flows" in key.split(".")[:2]
    return [
        str(entry.get("name", "flow" if of_flows else number))
        for number, entry in enumerate(entries)
    ]


def missing(entries: list[dict[str, Any]], key: str, word: str) -> str:
    """Explain why no entry of a list has this name."""
    if not _is_of_hop(key):
        return f"there is no '{word}'.{nearest(word, called(entries, key))}"
    for number, names in enumerate(_hops(entries)):
        if word in names:
            return (
                f"'{word}' is one of {len(names)} hops alike, which are set together; their table "
                f"is parking_lot.hops.{number}"
            )
    names = [name for name in called(entries, key) if not name.isdecimal()]
    known = [*names, *map(str, range(len(entries)))][:_LISTED]
    return f"there is no '{word}'. Valid names: {', '.join([*known, '*'])}."


def _is_of_hop(key: str) -> bool:
    return key.startswith("parking_lot.hops.")


def listed(value: object) -> list[Any]:
    """Return a list; other values give an empty list, and the model refuses them later."""
    return value if isinstance(value, list) else []


def _recorded(data: Mapping[str, Any]) -> list[str]:
    record = data.get("record")
    named = listed(record.get("queues")) if isinstance(record, dict) else []
    return [name for name in named if isinstance(name, str)]


def _of_shorthand(
    table: dict[str, Any], short: str, recorded: list[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield tables and their keys of queues, of the bottlenecks and ways back that are recorded. If
    none is, yield all bottlenecks: it may be a mistake that a model names."""
    if short == "parking_lot":
        hops = [hop for hop in listed(table.get("hops")) if isinstance(hop, dict)]
        holders = list(zip(hops, _hops(hops), strict=True))
        backs = {name: f"{name}{_BACK}" for _, names in holders for name in names}
    else:
        holders = [(table, ["bottleneck"])]
        simple = short == "dumbbell" and not (table.get("senders") or table.get("receivers"))
        backs = {"bottleneck": "back" if simple else f"bottleneck{_BACK}"}
    known = {*backs, *backs.values()}
    chosen = {*recorded} & known or {*backs}
    for holder, names in holders:
        if chosen & {*names}:
            yield holder, "aqm"
        back = holder.setdefault("back", {}) if chosen & {backs[name] for name in names} else None
        if isinstance(back, dict):
            yield back, "queue"


def _hops(hops: list[dict[str, Any]]) -> list[list[str]]:
    """List the names of the links of each table."""
    found: list[list[str]] = []
    first = 1
    for hop in hops:
        count = hop.get("count", 1)
        count = count if type(count) is int and 0 < count <= _MOST_HOPS else 1
        found.append([f"hop {first + k}" for k in range(count)])
        first += count
    return found


# The most hops in a sentence.
_LISTED = 12
# The most hops of one table; the model refuses more.
_MOST_HOPS = 1000


def _as_table(holder: dict[str, Any], key: str) -> dict[str, Any]:
    queue = holder.get(key, {})
    queue = dict(queue) if isinstance(queue, dict) else {"algorithm": queue}
    queue = {"algorithm": "fifo", **queue}
    if isinstance(queue["algorithm"], str) and "@" in queue["algorithm"]:
        queue["algorithm"], chosen = algorithms.find_preset(queue["algorithm"])
        queue = {**(chosen.rows if chosen else {}), **queue}
    holder[key] = queue
    table: dict[str, Any] = holder[key]
    return table
