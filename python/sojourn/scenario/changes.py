# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Changes to a scenario from outside: `--set key=value`, `--aqm NAME`, an experiment's variants.

They edit the data a TOML file holds, before it is validated. A key is a path: 'duration',
'links.bottleneck.rate' (an entry of a list by its name or number), 'dumbbell.rtt'. 'queue.KEY'
means the queues under test, and a parameter's bare name means the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn import algorithms
from sojourn.errors import InputError, nearest


def read_assignment(text: str) -> tuple[str, object]:
    """'key=value' as the command line has it; a value that is not TOML is text."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set {text}: write it as key=value")
    try:
        return key.strip(), tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def assign(data: dict[str, Any], key: str, value: object) -> None:
    """Set one key in the data."""
    path = key.split(".")
    if path[0] not in data and path[0] not in _TOP and _is_row(data, path):
        path = ["queue", *path]
    if path[0] == "queue":
        for queue in queues_under_test(data):
            queue[".".join(path[1:])] = value
        return
    if path[0] == "flows" and "dumbbell" in data:
        path = ["dumbbell", *path]
        data["dumbbell"].setdefault("flows", [{"name": "flow"}])
    for table in _descend(data, path[:-1], key):
        table[path[-1]] = value


_TOP = (
    "format",
    "name",
    "description",
    "duration",
    "nodes",
    "links",
    "flows",
    "record",
    "queue",
    "dumbbell",
)


def _is_row(data: dict[str, Any], path: list[str]) -> bool:
    if len(path) != 1:
        return False
    known = {
        row for queue in queues_under_test(data) for row in algorithms.rows_of(queue["algorithm"])
    }
    if path[0] in known:
        return True
    raise InputError(f"--set {path[0]}: no such key.{nearest(path[0], {*known, *_TOP})}")


def _descend(at: Any, path: list[str], key: str) -> Iterator[dict[str, Any]]:
    """The table at the end of the path; '*' stands for every entry of a list."""
    if not path:
        if not isinstance(at, dict):
            raise InputError(f"--set {key}: there is nothing to set in {at!r}")
        yield at
        return
    word, rest = path[0], path[1:]
    if isinstance(at, list):
        if word == "*":
            for entry in at:
                yield from _descend(entry, rest, key)
            return
        names = [str(entry.get("name", "flow")) for entry in at]
        if word in names:
            yield from _descend(at[names.index(word)], rest, key)
        elif word.isdigit() and int(word) < len(at):
            yield from _descend(at[int(word)], rest, key)
        else:
            raise InputError(f"--set {key}: there is no '{word}'.{nearest(word, names)}")
    elif isinstance(at, dict):
        if isinstance(at.get(word), str) and rest == [] and word in ("transport", "app"):
            at[word] = {"kind": at[word]}
        yield from _descend(at.setdefault(word, {}), rest, key)
    else:
        raise InputError(f"--set {key}: '{word}' is inside a value, {at!r}")


def queues_under_test(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The tables of the recorded queues (all of them where none is named)."""
    if isinstance(data.get("dumbbell"), dict):
        return [_as_table(data["dumbbell"], "aqm")]
    links = [link for link in data.get("links", []) if isinstance(link, dict)]
    recorded = data.get("record", {}).get("queues", [])
    chosen = [
        link for link in links if (link.get("name") in recorded if recorded else "rate" in link)
    ]
    return [_as_table(link, "queue") for link in chosen]


def _as_table(holder: dict[str, Any], key: str) -> dict[str, Any]:
    queue = holder.get(key, {})
    queue = {"algorithm": queue} if isinstance(queue, str) else dict(queue)
    holder[key] = {"algorithm": "fifo", **queue}
    table: dict[str, Any] = holder[key]
    return table


def use_algorithm(data: dict[str, Any], name: str, values: Mapping[str, object] = {}) -> None:
    """Put this algorithm into the queues under test; rows it does not have are taken out."""
    known = algorithms.rows_of(name)
    for queue in queues_under_test(data):
        kept = algorithms.queue_rows() if queue["algorithm"] != name else known
        rows = {key: value for key, value in queue.items() if key in kept}
        queue.clear()
        queue.update({"algorithm": name} | rows | dict(values))
