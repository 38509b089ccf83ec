# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Changes to a scenario from outside: `--set key=value`, `--aqm NAME`, an experiment's signals.

They edit the data that a TOML file holds. A key is a path: 'duration', 'links.bottleneck.rate' (an
entry of a list by its name or number), 'dumbbell.rtt'. 'queue.KEY' means the queues under test, and
a parameter's bare name means the same. Parameters are set after the algorithm is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest
from sojourn.scenario.assignments import write_value
from sojourn.scenario.links import TESTED
from sojourn.scenario.shorthand import RECEIVERS, SENDERS, SHORTHANDS, Hop
from sojourn.scenario.tested import (
    QUEUES,
    TIMED,
    called,
    listed,
    missing,
    queues_under_test,
    shorthand_of,
)

if TYPE_CHECKING:
    from sojourn.scenario.variant import Variant


def apply(data: dict[str, Any], variant: Variant | None, changes: Mapping[str, object]) -> None:
    """Apply the changes of the network, then the algorithm, then the changes of the queues."""
    of_queues = {key: value for key, value in changes.items() if _is_of_queue(data, key)}
    for key, value in changes.items():
        if key not in of_queues:
            assign(data, key, value)
    if variant:
        use_algorithm(data, variant.spec, variant.rows)
    for key, value in of_queues.items():
        before = deepcopy(queues_under_test(data))
        assign(data, key, value)
        if variant and queues_under_test(data) != before:
            _check_choice(data, variant, key, value)


def _check_choice(data: dict[str, Any], variant: Variant, key: str, value: object) -> None:
    named = value.get("algorithm", "") if isinstance(value, Mapping) else value
    chooses = _path(data, key)[-1] in ("algorithm", "aqm", "queue")
    other = chooses and named != variant.spec and (variant.preset or "@" in str(named))
    for queue in queues_under_test(data):
        if other or queue["algorithm"] != variant.algorithm:
            raise InputError(
                f"--set {key}={write_value(value)}: --aqm {variant} chooses the algorithm"
            )
        for row, chosen in variant.rows.items():
            if queue[row] != chosen:
                raise InputError(
                    f"--set {key}={write_value(value)}: --aqm {variant} sets it too; leave one out"
                )


def assign(data: dict[str, Any], key: str, value: object) -> None:
    """Set one key in the data."""
    path = _path(data, key)
    short = shorthand_of(data)
    if path[0] not in _TOP and path[0] not in data and (meant := _meant(data, path)):
        raise InputError(f"--set {key}: no such key. Did you mean '{meant}'?")
    if path[0] in ("links", "nodes") and path[1:] and short:
        kind = short.replace("_", " ")
        raise InputError(f"--set {key}: a {kind} has no {path[0]} of its own; set {short}.KEY")
    if path[0] == "cables":
        name, rest = (path[1:2] or ["NAME"])[0], ".".join(path[2:]) or "KEY"
        raise InputError(
            f"--set {key}: a cable is two links: set links.{name}.{rest} or "
            f"'links.{name} back.{rest}'"
        )
    if path[0] == "queue":
        row = ".".join(path[1:])
        for queue in queues_under_test(data):
            if row != "algorithm":
                _check_row(data, queue["algorithm"], row, key)
            queue[row] = value
        return
    if path in (["flows"], [short, "flows"]) and not isinstance(value, list):
        network = data[short] if short else data
        groups = called(listed(network.get("flows")), "flows")
        raise InputError(
            f"--set {key}={write_value(value)}: flows are the groups of flows: set "
            f"flows.{groups[0] if groups else 'flow'}.count to have more of them, or queue.flows "
            "to have an algorithm in each of many"
        )
    if short and path[:2] == [short, "flows"]:
        data[short].setdefault("flows", [{"name": "flow"}])
    for table in _descend(data, path[:-1], key):
        old = table.get(path[-1])
        table[path[-1]] = value
        if path[-1] in QUEUES and isinstance(old, dict) and TESTED in old:
            named = value if isinstance(value, dict) else {"algorithm": value}
            table[path[-1]] = {TESTED: old[TESTED], **named}


def _path(data: Mapping[str, Any], key: str) -> list[str]:
    path = key.split(".")
    if path[0] not in data and path[0] not in _TOP and len(path) == 1:
        return ["queue", *path]
    short = shorthand_of(data)
    if path[0] == "flows" and short:
        return [short, *path]
    if short and path[:2] == [short, "aqm"] and len(path) == 3:
        return ["queue", path[2]]
    return path


def _is_of_queue(data: Mapping[str, Any], key: str) -> bool:
    path = _path(data, key)
    if path[0] == "queue":
        return True
    # The queues under test are chosen before an algorithm is put into them.
    in_network = path[0] in ("links", *SHORTHANDS) and path[-1] != TESTED
    return in_network and not {*QUEUES}.isdisjoint(_keys(path))


def _keys(path: list[str]) -> Iterator[str]:
    """Yield the words of a path without those that choose an entry of a list."""
    words = iter(path)
    for word in words:
        yield word
        if word in ("links", "hops", SENDERS, RECEIVERS):
            next(words, None)


_TOP = (
    "format",
    "name",
    "description",
    "duration",
    "nodes",
    "links",
    "cables",
    "flows",
    "record",
    "linux",
    "queue",
    *SHORTHANDS,
)


def _check_row(data: Mapping[str, Any], algorithm: str, row: str, key: str) -> None:
    """Raise InputError for a row that the algorithm does not have. It names algorithms that have
    the row, or the key that was meant."""
    own = algorithms.find(algorithm)
    known = own.rows
    if row in known:
        return
    alike = (a for a in algorithms.every().values() if set(own.hosts) <= set(a.hosts))
    having = [other.name for other in alike if row in other.rows]
    if not having:
        place = next((place for place in _places(data) if place.split(".")[-1] == row), None)
        meant = f" Did you mean '{place}'?" if place else nearest(row, {*known, *_TOP})
        raise InputError(f"--set {key}: no such key.{meant}")
    names = ", ".join(having)
    raise InputError(
        f"--set {key}: '{algorithm}' has no parameter '{row}'; these have it: {names}. "
        f"To set it for one of them: --aqm {having[0]}:{row}=..."
    )


def _places(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of the network as `--set` takes them."""
    from sojourn.scenario.links import Link
    from sojourn.scenario.networks import Dumbbell, ParkingLot

    if short := shorthand_of(data):
        of = next(m for m in (Dumbbell, ParkingLot) if m.key == short)
        yield from (f"{short}.{key}" for key in of.model_fields)
    if short == "parking_lot":
        yield from (f"parking_lot.hops.*.{key}" for key in Hop.model_fields)
    for link in listed(data.get("links")):
        if isinstance(link, dict) and link.keys() & TIMED:
            yield from (f"links.{link.get('name')}.{key}" for key in Link.model_fields)


def _meant(data: Mapping[str, Any], path: list[str]) -> str | None:
    """Find the whole key for one without its first words, or for one that begins with 'bottleneck';
    else return None."""
    key = ".".join(path)
    network = data[short] if (short := shorthand_of(data)) else data
    for kind in ("flows", "links"):
        for entry in listed(network.get(kind)):
            if isinstance(entry, dict) and entry.get("name") == path[0]:
                return f"{kind}.{key}"
    of_short = (place for place in _places(data) if short and place.split(".")[-1] == path[-1])
    return next(of_short, None) if path[0] == "bottleneck" else None


def _descend(at: Any, path: list[str], key: str) -> Iterator[dict[str, Any]]:
    """Yield the tables at the end of the path; '*' stands for every entry of a list. Raise
    InputError if there is none."""
    if not path:
        if not isinstance(at, dict):
            raise InputError(f"--set {key}: there is nothing to set in {at!r}")
        yield at
        return
    word, rest = path[0], path[1:]
    if isinstance(at, list) and all(isinstance(entry, dict) for entry in at):
        if word == "*":
            for entry in at:
                yield from _descend(entry, rest, key)
            return
        names = called(at, key)
        if word in names:
            yield from _descend(at[names.index(word)], rest, key)
        elif word.isdecimal() and int(word) < len(at):
            yield from _descend(at[int(word)], rest, key)
        else:
            raise InputError(f"--set {key}: {missing(at, key, word)}")
    elif isinstance(at, dict):
        if isinstance(at.get(word), str) and rest == [] and word in _BY_NAME:
            at[word] = {_BY_NAME[word]: at[word]}
        yield from _descend(at.setdefault(word, {}), rest, key)
    else:
        raise InputError(f"--set {key}: '{word}' is inside a value, {at!r}")


# Tables that may be written as a name alone, and the key that the name stands for.
_BY_NAME = {"transport": "kind", "app": "kind", "queue": "algorithm", "aqm": "algorithm"}


def use_algorithm(data: dict[str, Any], name: str, values: Mapping[str, object] = {}) -> None:
    """Put this algorithm, or this preset of one, into the queues under test. A new algorithm or a
    preset keeps only those old rows that are the queue's own, where it has them."""
    name, chosen = algorithms.find_preset(name)
    values = {**(chosen.rows if chosen else {}), **values}
    known = algorithms.rows_of(name)
    for queue in queues_under_test(data):
        alike = queue["algorithm"] == name and not chosen
        kept = {TESTED, *(known if alike else known.keys() & algorithms.queue_rows())}
        rows = {key: value for key, value in queue.items() if key in kept}
        queue.clear()
        queue.update({"algorithm": name} | rows | values)
