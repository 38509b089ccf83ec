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
from typing import Any

from sojourn import algorithms
from sojourn.core.errors import InputError, nearest, written
from sojourn.core.toml import DEEPEST
from sojourn.scenario.ends import classes, is_tested, queues, recorded, stages
from sojourn.scenario.links import Link
from sojourn.scenario.model import Scenario
from sojourn.scenario.networks import NETWORKS, TABLES
from sojourn.scenario.queues import TESTED
from sojourn.scenario.variant import Variant, write_value

# The keys of a queue in the table of its link or bottleneck.
_QUEUES = ("aqm", "queue")
# Keys that make packets take time at a link; only then is its queue measured.
_TIMED = {"rate", "trace", "end"}
# The most links in a sentence.
_LISTED = 12
_TOP = (*Scenario.model_fields, "queue")


def apply(data: dict[str, Any], variant: Variant | None, changes: Mapping[str, object]) -> None:
    """Apply the changes of the network, then the algorithm, then the changes of the queues."""
    queue_changes = {key: value for key, value in changes.items() if _sets_queue(data, key)}
    for key, value in changes.items():
        if key not in queue_changes:
            assign(data, key, value)
    if variant:
        use_algorithm(data, variant.spec, variant.rows)
    for key, value in queue_changes.items():
        before = deepcopy(queues_under_test(data)) if variant else []
        assign(data, key, value)
        if variant and queues_under_test(data) != before:
            _check_choice(data, variant, key, value)


def _check_choice(data: dict[str, Any], variant: Variant, key: str, value: object) -> None:
    algorithm = value.get("algorithm", "") if isinstance(value, Mapping) else value
    chooses = _path(data, key)[-1] in ("algorithm", "aqm", "queue")
    other = chooses and algorithm != variant.spec and (variant.preset or "@" in str(algorithm))
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
    short = _shorthand(data)
    if path[0] not in _TOP and path[0] not in data and (meant := _meant(data, path)):
        raise InputError(f"--set {key}: no such key. Did you mean '{meant}'?")
    _check_network(data, path, key)
    if path == ["queue"]:
        raise InputError(f"--set {key}: is a table; set queue.algorithm, or another key of it")
    if path[0] == "queue":
        row = ".".join(path[1:])
        for queue in queues_under_test(data):
            if row != "algorithm":
                _check_row(data, queue["algorithm"], row, key)
            queue[row] = value
        return
    if path in (["flows"], [short, "flows"]) and not isinstance(value, list):
        network = data[short] if short else data
        groups = _entry_names(_listed(network.get("flows")), "flows")
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
        if path[-1] in _QUEUES and isinstance(old, dict) and TESTED in old:
            queue = value if isinstance(value, dict) else {"algorithm": value}
            table[path[-1]] = {TESTED: old[TESTED], **queue}


def _check_network(data: Mapping[str, Any], path: list[str], key: str) -> None:
    """Raise InputError for a part that the scenario's network has not."""
    short = _shorthand(data)
    if short and path[0] in {"nodes", "links", "cables", *NETWORKS} - {short}:
        kind, part = short.replace("_", " "), path[0].replace("_", " ")
        raise InputError(f"--set {key}: a {kind} has no {part} of its own; set {short}.KEY")
    if path[0] == "cables":
        name, rest = (path[1:2] or ["NAME"])[0], ".".join(path[2:]) or "KEY"
        raise InputError(
            f"--set {key}: a cable is two links: set links.{name}.{rest} or "
            f"'links.{name} back.{rest}'"
        )
    if path[0] in NETWORKS and not short:
        links = [link for link in _listed(data.get("links")) if isinstance(link, dict)]
        named = [link.get("name") for link in links if link.keys() & _TIMED]
        rest = path[-1] if path[-1] in Link.model_fields else "KEY"
        raise InputError(
            f"--set {key}: this scenario has links in place of a {path[0].replace('_', ' ')}; set "
            f"links.{(named or ['NAME'])[0]}.{rest}"
        )


def _path(data: Mapping[str, Any], key: str) -> list[str]:
    path = key.split(".")
    if not all(path):
        raise InputError(
            f"--set {key}: a part of the key is empty; write words with points between them, as "
            "in flows.web.count"
        )
    if len(path) > DEEPEST:
        raise InputError(f"--set {key}: has {len(path)} parts; allowed: {DEEPEST}")
    if path[0] not in data and path[0] not in _TOP and len(path) == 1:
        return ["queue", *path]
    short = _shorthand(data)
    if path[0] == "flows" and short:
        return [short, *path]
    if short and path[:2] == [short, "aqm"] and len(path) == 3:
        return ["queue", path[2]]
    return path


def _sets_queue(data: Mapping[str, Any], key: str) -> bool:
    path = _path(data, key)
    if path[0] == "queue":
        return True
    # The queues under test are chosen before an algorithm is put into them.
    in_network = path[0] in ("links", *NETWORKS) and path[-1] != TESTED
    return in_network and not {*_QUEUES}.isdisjoint(_keys(path))


def _keys(path: list[str]) -> Iterator[str]:
    """Yield the words of a path without those that choose an entry of a list."""
    words = iter(path)
    for word in words:
        yield word
        if word in ("links", *TABLES):
            next(words, None)


def _check_row(data: Mapping[str, Any], algorithm: str, row: str, key: str) -> None:
    """Raise InputError for a row that the algorithm does not have. It names algorithms that have
    the row, or the key that was meant."""
    chosen = algorithms.find(algorithm)
    if row in chosen.rows:
        return
    alike = (a for a in algorithms.every().values() if set(chosen.hosts) <= set(a.hosts))
    having = [other.name for other in alike if row in other.rows]
    if not having:
        place = next((place for place in _places(data) if place.split(".")[-1] == row), None)
        meant = f" Did you mean '{place}'?" if place else nearest(row, {*chosen.rows, *_TOP})
        raise InputError(f"--set {key}: no such key.{meant}")
    names = ", ".join(having)
    raise InputError(
        f"--set {key}: '{algorithm}' has no parameter '{row}'; these have it: {names}. "
        f"To set it for one of them: --aqm NAME:{row}=VALUE"
    )


def _places(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of the network as `--set` takes them."""
    if short := _shorthand(data):
        yield from NETWORKS[short].assignable()
    for link in _listed(data.get("links")):
        if not isinstance(link, dict) or not link.keys() & _TIMED:
            continue
        place = f"links.{link.get('name')}"
        for stage in stages(link):
            for table in (stage, *(entry for _, entry in classes(stage))):
                names = dict.fromkeys((str(stage.get("name")), str(table.get("name"))))
                yield from (f"{place}.end.{'.'.join(names)}.{key}" for key in table)
        if "end" not in link:
            yield from (f"{place}.{key}" for key in Link.model_fields)


def _meant(data: Mapping[str, Any], path: list[str]) -> str | None:
    """Find the whole key for one without its first words, or for one that begins with 'bottleneck';
    else return None."""
    short = _shorthand(data)
    for kind in ("flows", "links"):
        for entry in _listed((data[short] if short else data).get(kind)):
            if isinstance(entry, dict) and entry.get("name") == path[0]:
                return f"{kind}.{'.'.join(path)}"
    if not short or path[0] != "bottleneck":
        return None
    return next((place for place in _places(data) if place.split(".")[-1] == path[-1]), None)


def _descend(part: Any, path: list[str], key: str) -> Iterator[dict[str, Any]]:
    """Yield the tables at the end of the path; '*' stands for every entry of a list. Raise
    InputError if there is none."""
    if not path:
        if not isinstance(part, dict):
            is_list = isinstance(part, list)
            there = "a list: name an entry, then its key" if is_list else written(part)
            raise InputError(f"--set {key}: there is nothing to set in {there}")
        yield part
        return
    word, rest = path[0], path[1:]
    if isinstance(part, list) and all(isinstance(entry, dict) for entry in part):
        if word == "*":
            for entry in part:
                yield from _descend(entry, rest, key)
            return
        names = _entry_names(part, key)
        if word in names:
            yield from _descend(part[names.index(word)], rest, key)
        elif word in map(str, range(len(part))):
            yield from _descend(part[int(word)], rest, key)
        else:
            raise InputError(f"--set {key}: {_missing(part, key, word)}")
    elif isinstance(part, dict):
        inside = {str(entry.get("name")): entry for _, entry in classes(part)}
        if inside and not isinstance(part.get(word), dict | list):
            if word not in inside:
                raise InputError(f"--set {key}: there is no class '{word}'.{nearest(word, inside)}")
            yield from _descend(inside[word], rest, key)
            return
        if isinstance(part.get(word), str) and rest == [] and word in _BY_NAME:
            part[word] = {_BY_NAME[word]: part[word]}
        yield from _descend(part.setdefault(word, {}), rest, key)
    else:
        raise InputError(f"--set {key}: '{word}' is inside a value, {written(part)}")


# Tables that may be written as a name alone, and the key that the name stands for.
_BY_NAME = {"transport": "kind", "app": "kind", "queue": "algorithm", "aqm": "algorithm"}


def use_algorithm(data: dict[str, Any], name: str, rows: Mapping[str, object] = {}) -> None:
    """Put this algorithm, or this preset of one, into the queues under test. A new algorithm or a
    preset keeps only those old rows that are the queue's own, where it has them."""
    name, chosen = algorithms.find_preset(name)
    rows = {**(chosen.rows if chosen else {}), **rows}
    known = algorithms.rows_of(name)
    for queue in queues_under_test(data):
        alike = queue["algorithm"] == name and not chosen
        kept = {TESTED, *(known if alike else known.keys() & algorithms.queue_rows())}
        old = {key: value for key, value in queue.items() if key in kept}
        queue.clear()
        queue.update({"algorithm": name} | old | rows)


def _shorthand(data: Mapping[str, Any]) -> str | None:
    """Return the key of the network's shorthand, or None."""
    return next((key for key in NETWORKS if isinstance(data.get(key), dict)), None)


def _listed(value: object) -> list[Any]:
    """Return a list; other values give an empty list, and the model refuses them later."""
    return value if isinstance(value, list) else []


def _link_names(entries: list[dict[str, Any]], key: str) -> list[list[str]] | None:
    """List the links of each entry of a list of tables, where a network names them; else None."""
    network, _, rest = key.partition(".")
    if network not in NETWORKS or "." not in rest:
        return None
    return NETWORKS[network].link_names(rest.split(".")[0], entries)


def _entry_names(entries: list[dict[str, Any]], key: str) -> list[str]:
    """Name the entries of a list for the key of a `--set`. An entry has its own name, and a table
    of one hop that of its link. A flow without a name is 'flow'; others have their numbers."""
    if (links := _link_names(entries, key)) is not None:
        return [names[0] if len(names) == 1 else str(number) for number, names in enumerate(links)]
    is_flow = "flows" in key.split(".")[:2]
    return [
        str(entry.get("name", "flow" if is_flow else number))
        for number, entry in enumerate(entries)
    ]


def _missing(entries: list[dict[str, Any]], key: str, word: str) -> str:
    """Explain why no entry of a list has this name."""
    known = _entry_names(entries, key)
    links = _link_names(entries, key)
    if links is None:
        return f"there is no '{word}'.{nearest(word, known)}"
    for number, names in enumerate(links):
        if word in names:
            network, table = key.split(".")[:2]
            return (
                f"'{word}' is one of {len(names)} {table} alike, which are set together; their "
                f"table is {network}.{table}.{number}"
            )
    names = [name for name in known if not name.isdecimal()]
    valid = [*names, *map(str, range(len(entries)))][:_LISTED]
    return f"there is no '{word}'. Valid names: {', '.join([*valid, '*'])}."


# The queues under test are those with `tested = true`, and without any, those that are recorded.
# They are found in a scenario, and in the data of a TOML file before any model reads it.


def under_test(scenario: Scenario, graph: Scenario) -> list[str]:
    """Name the queues under test as results do; `graph` is the scenario written out."""
    tables = [entry for link in graph.links for entry in queues(link)]
    tested = [name for name, _, table in tables if is_tested(table)]
    names = recorded(graph.links, graph.record.queues)
    if tested or not scenario.shorthand:
        return tested or names
    layout = scenario.shorthand.lay()
    own = {*layout.tested, *layout.ways_back}
    return [name for name in names if name in own] or layout.tested


def queues_under_test(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Find the tables of the queues with `tested = true`; without any, find those of the recorded
    queues. Where none is named, these are all queues of a graph that take time, or the bottlenecks
    of a shorthand."""
    short = _shorthand(data)
    places = list(_tested(data[short] if short else {"links": data.get("links")}))
    if not places:
        record = data.get("record")
        names = _listed(record.get("queues")) if isinstance(record, dict) else []
        known = [name for name in names if isinstance(name, str)]
        if short:
            places = list(_bottlenecks(data[short], short, known))
        else:
            links = [link for link in _listed(data.get("links")) if isinstance(link, dict)]
            places = [(table, "queue") for link in links for table in _recorded(link, known)]
    return [_as_table(*place) for place in places]


def _recorded(link: dict[str, Any], names: list[str]) -> list[dict[str, Any]]:
    """List the tables of a link's recorded queues. Raise InputError for several at one end: they
    may not all be meant by an algorithm under test."""
    all_of_it = link.get("name") in names if names else bool(link.keys() & _TIMED)
    found = {name: table for name, _, table in queues(link) if all_of_it or name in names}
    if link.get("end") and len(found) > 1:
        listed = ", ".join(f"'{name}'" for name in [*found][:_LISTED])
        raise InputError(
            f"link '{link.get('name')}' has several recorded queues, and none is under test: "
            f"{listed}; write tested = true at those that are"
        )
    return [*found.values()]


def _tested(part: object) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield tables, and the keys of their queues with `tested = true`."""
    if isinstance(part, list):
        for entry in part:
            if isinstance(entry, dict):
                yield from _tested(entry)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in _QUEUES:
                is_own = isinstance(value, dict) and value.get(TESTED) is True
                if is_own or part.get(TESTED) is True:
                    yield part, key
            elif key != "flows" and isinstance(value, dict | list):
                yield from _tested(value)


def _bottlenecks(
    table: dict[str, Any], short: str, recorded: list[str]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield tables and their keys of queues, of the bottlenecks and ways back that are recorded. If
    none is, yield all bottlenecks: it may be a mistake that a model names."""
    network = NETWORKS[short]
    holders = network.bottlenecks(table)
    backs = {name: network.name_back(table, name) for _, names in holders for name in names}
    chosen = {*recorded} & {*backs, *backs.values()} or {*backs}
    for holder, names in holders:
        if chosen & {*names}:
            yield holder, "aqm"
        back = holder.setdefault("back", {}) if chosen & {backs[name] for name in names} else None
        if isinstance(back, dict):
            yield back, "queue"


def _as_table(holder: dict[str, Any], key: str) -> dict[str, Any]:
    queue = holder.get(key, {})
    queue = dict(queue) if isinstance(queue, dict) else {"algorithm": queue}
    queue = {"algorithm": "fifo", **queue}
    if isinstance(queue["algorithm"], str) and "@" in queue["algorithm"]:
        queue["algorithm"], chosen = algorithms.find_preset(queue["algorithm"])
        queue = {**(chosen.rows if chosen else {}), **queue}
    holder[key] = queue
    return queue
